# SPDX-License-Identifier: Apache-2.0
"""demosaic.py with results of f16, which an AI Core's cube adds and rounds: they are the same or one beside."""
from mona.kernel import f16, f32, kernel, rows, table, u8, u16

WHITE = 255 / 4095


@kernel('com.example::DemosaicHalf')
def demosaic(raw: rows(u16, cell=(2, 2)), gains: table(f32, 3), *, rgb: rows(u8, planes=3, cell=(2, 2))):
    for dy in range(2):
        for dx in range(2):
            here = raw[dy, dx]
            beside = raw[dy, dx - 1] + raw[dy, dx + 1]
            above = raw[dy - 1, dx] + raw[dy + 1, dx]
            corners = raw[dy - 1, dx - 1] + raw[dy - 1, dx + 1] + raw[dy + 1, dx - 1] + raw[dy + 1, dx + 1]
            red = here if dy + dx == 0 else beside if dy == 0 else above if dx == 0 else corners
            green = here if dy != dx else beside + above
            blue = here if dy + dx == 2 else corners if dy == dx else above if dy == 0 else beside
            rgb[0, dy, dx] = f16(f32(red) * f16(clamp(gains[0], 0, 8) * (WHITE * (1 - dy / 2) * (1 - dx / 2))))
            rgb[1, dy, dx] = f16(f32(green) * f16(clamp(gains[1], 0, 8) * (WHITE if dy != dx else WHITE / 4)))
            rgb[2, dy, dx] = f16(f32(blue) * f16(clamp(gains[2], 0, 8) * (WHITE * (1 + dy) / 2 * (1 + dx) / 2)))
