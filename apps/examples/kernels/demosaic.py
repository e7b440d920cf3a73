# SPDX-License-Identifier: Apache-2.0
"""A Bayer mosaic of 12 bits to RGB of 8, with white balance."""
from mona.kernel import f32, kernel, rows, table, u8, u16

QUARTER = 255 / 4095 / 4  # sums of four samples of 12 bits, as one of 8


@kernel('com.example::Demosaic')
def demosaic(raw: rows(u16, cell=(2, 2)), gains: table(f32, 3), *, rgb: rows(u8, planes=3, cell=(2, 2))):
    """Bilinear, of red and green in even rows, green and blue in odd ones. gains: of red, green and blue."""
    for dy in range(2):
        for dx in range(2):
            here = raw[dy, dx] * 4
            beside = raw[dy, dx - 1] + raw[dy, dx + 1]
            above = raw[dy - 1, dx] + raw[dy + 1, dx]
            corners = raw[dy - 1, dx - 1] + raw[dy - 1, dx + 1] + raw[dy + 1, dx - 1] + raw[dy + 1, dx + 1]
            red = here if dy + dx == 0 else beside * 2 if dy == 0 else above * 2 if dx == 0 else corners
            green = here if dy != dx else beside + above
            blue = here if dy + dx == 2 else corners if dy == dx else above * 2 if dy == 0 else beside * 2
            rgb[0, dy, dx] = f32(red) * (gains[0] * QUARTER)
            rgb[1, dy, dx] = f32(green) * (gains[1] * QUARTER)
            rgb[2, dy, dx] = f32(blue) * (gains[2] * QUARTER)
