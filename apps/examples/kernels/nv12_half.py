# SPDX-License-Identifier: Apache-2.0
"""nv12.py with numbers of f16, of which an AI Core computes twice as many at a time: results are the same or one beside."""
from mona.kernel import f16, f32, kernel, rows, table, u8


@kernel('com.example::Nv12ToRgbHalf')
def to_rgb(luma: rows(u8, cell=(2, 2)), chroma: rows(u8, cell=(1, 2)), matrix: table(f32, 6), *,
           rgb: rows(u8, planes=3, cell=(2, 2))):
    gain = f16(clamp(matrix[0], 0, 4))
    dark = f16(clamp(matrix[5], 0, 255) * clamp(matrix[0], 0, 4))
    u = f32(chroma[0, 0] - 128)
    v = f32(chroma[0, 1] - 128)
    red = f16(f16(v * f16(clamp(matrix[1], 0, 4))) - dark)
    green = f16(f16(f16(u * f16(clamp(matrix[2], 0, 4))) + f16(v * f16(clamp(matrix[3], 0, 4)))) + dark)
    blue = f16(f16(u * f16(clamp(matrix[4], 0, 4))) - dark)
    for dy in range(2):
        for dx in range(2):
            y = f16(f32(luma[dy, dx]) * gain)
            rgb[0, dy, dx] = f16(y + red)
            rgb[1, dy, dx] = f16(y - green)
            rgb[2, dy, dx] = f16(y + blue)


@kernel('com.example::RgbToNv12Half')
def from_rgb(rgb: rows(u8, planes=3, cell=(2, 2)), matrix: table(f32, 9), *, luma: rows(u8, cell=(2, 2)),
             chroma: rows(u8, cell=(1, 2))):
    red = 0
    green = 0
    blue = 0
    for dy in range(2):
        for dx in range(2):
            y = f16(clamp(matrix[8], 0, 255))
            for c in range(3):
                y = f16(y + f16(f32(rgb[c, dy, dx]) * f16(clamp(matrix[c], 0, 1))))
            luma[dy, dx] = y
            red += rgb[0, dy, dx]
            green += rgb[1, dy, dx]
            blue += rgb[2, dy, dx]
    own = f16(clamp(matrix[3], 0, 1))
    u = f16(f16(f32(blue) * own) - f16(f32(red) * f16(clamp(matrix[4], 0, 1))))
    v = f16(f16(f32(red) * own) - f16(f32(green) * f16(clamp(matrix[6], 0, 1))))
    chroma[0, 0] = f16(u - f16(f16(f32(green) * f16(clamp(matrix[5], 0, 1))) - 128.0))
    chroma[0, 1] = f16(v - f16(f16(f32(blue) * f16(clamp(matrix[7], 0, 1))) - 128.0))
