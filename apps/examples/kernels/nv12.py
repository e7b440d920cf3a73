# SPDX-License-Identifier: Apache-2.0
"""NV12, whose chroma has half the rows and columns and lies U beside V, to RGB and back; BT.709, limited range."""
from mona.kernel import kernel, rows, u8


@kernel('com.example::Nv12ToRgb')
def to_rgb(luma: rows(u8, cell=(2, 2)), chroma: rows(u8, cell=(1, 2)), *, rgb: rows(u8, planes=3, cell=(2, 2))):
    u = chroma[0, 0] - 128
    v = chroma[0, 1] - 128
    for dy in range(2):
        for dx in range(2):
            y = (luma[dy, dx] - 16) * 19077 + 8192  # in 1 / 2^14
            rgb[0, dy, dx] = y + v * 29372 >> 14
            rgb[1, dy, dx] = y - u * 3494 - v * 8731 >> 14
            rgb[2, dy, dx] = y + u * 34610 >> 14


@kernel('com.example::RgbToNv12')
def from_rgb(rgb: rows(u8, planes=3, cell=(2, 2)), *, luma: rows(u8, cell=(2, 2)), chroma: rows(u8, cell=(1, 2))):
    red = 0
    green = 0
    blue = 0
    for dy in range(2):
        for dx in range(2):
            luma[dy, dx] = (rgb[0, dy, dx] * 2991 + rgb[1, dy, dx] * 10064 + rgb[2, dy, dx] * 1016 + 8192 >> 14) + 16
            red += rgb[0, dy, dx]
            green += rgb[1, dy, dx]
            blue += rgb[2, dy, dx]
    chroma[0, 0] = (blue * 7196 - red * 1649 - green * 5547 + 32768 >> 16) + 128
    chroma[0, 1] = (red * 7196 - green * 6536 - blue * 660 + 32768 >> 16) + 128
