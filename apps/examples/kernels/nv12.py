# SPDX-License-Identifier: Apache-2.0
"""NV12, whose chroma has half the rows and columns and lies U beside V, to RGB and back, of any matrix and range."""
from mona.kernel import f32, kernel, rows, table, u8

BT601, BT709, BT2020 = (0.299, 0.114), (0.2126, 0.0722), (0.2627, 0.0593)  # what red and blue add to luma


def to_rgb_matrix(red, blue, full):
    """What luma adds to all, V to red, U and V take from green, U adds to blue; luma without light."""
    green, luma, chroma = 1 - red - blue, 1 if full else 255 / 219, 1 if full else 255 / 224
    u, v = 2 * (1 - blue) * chroma, 2 * (1 - red) * chroma
    return [luma, v, u * blue / green, v * red / green, u, 0 if full else 16]


def from_rgb_matrix(red, blue, full):
    """Red, green and blue in luma; of sums of four: blue in U and red in V; red and green in U, green and blue in V;
    luma without light."""
    green, luma, chroma = 1 - red - blue, 1 if full else 219 / 255, 1 / 8 if full else 28 / 255
    u, v = chroma / (1 - blue), chroma / (1 - red)
    return [red * luma, green * luma, blue * luma, chroma, red * u, green * u, green * v, blue * v, 0 if full else 16]


@kernel('com.example::Nv12ToRgb')
def to_rgb(luma: rows(u8, cell=(2, 2)), chroma: rows(u8, cell=(1, 2)), matrix: table(f32, 6), *,
           rgb: rows(u8, planes=3, cell=(2, 2))):
    luma_gain = clamp(matrix[0], 0, 4)
    dark = clamp(matrix[5], 0, 255) * luma_gain
    red = f32(chroma[0, 1]) * clamp(matrix[1], 0, 4) - (clamp(matrix[1], 0, 4) * 128 + dark)
    green = f32(chroma[0, 0]) * clamp(matrix[2], 0, 4) + f32(chroma[0, 1]) * clamp(matrix[3], 0, 4) \
        - ((clamp(matrix[2], 0, 4) + clamp(matrix[3], 0, 4)) * 128 - dark)
    blue = f32(chroma[0, 0]) * clamp(matrix[4], 0, 4) - (clamp(matrix[4], 0, 4) * 128 + dark)
    for dy in range(2):
        for dx in range(2):
            y = f32(luma[dy, dx]) * luma_gain
            rgb[0, dy, dx] = y + red
            rgb[1, dy, dx] = y - green
            rgb[2, dy, dx] = y + blue


@kernel('com.example::RgbToNv12')
def from_rgb(rgb: rows(u8, planes=3, cell=(2, 2)), matrix: table(f32, 9), *, luma: rows(u8, cell=(2, 2)),
             chroma: rows(u8, cell=(1, 2))):
    red = 0
    green = 0
    blue = 0
    for dy in range(2):
        for dx in range(2):
            luma[dy, dx] = f32(rgb[0, dy, dx]) * clamp(matrix[0], 0, 1) + f32(rgb[1, dy, dx]) * clamp(matrix[1], 0, 1) \
                + f32(rgb[2, dy, dx]) * clamp(matrix[2], 0, 1) + clamp(matrix[8], 0, 255)
            red += rgb[0, dy, dx]
            green += rgb[1, dy, dx]
            blue += rgb[2, dy, dx]
    own = clamp(matrix[3], 0, 1)
    chroma[0, 0] = f32(blue) * own - f32(red) * clamp(matrix[4], 0, 1) - f32(green) * clamp(matrix[5], 0, 1) + 128
    chroma[0, 1] = f32(red) * own - f32(green) * clamp(matrix[6], 0, 1) - f32(blue) * clamp(matrix[7], 0, 1) + 128
