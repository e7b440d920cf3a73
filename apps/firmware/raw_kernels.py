# SPDX-License-Identifier: Apache-2.0
"""Kernels of raw.c, beside apps/examples/kernels/demosaic.py."""
from mona.kernel import kernel, rows, u8


@kernel('firmware::ToPlanes')
def to_planes(rgb: rows(u8, planes=3, cell=(2, 2)), *, luma: rows(u8, cell=(2, 2)), u: rows(u8), v: rows(u8)):
    """BT.709, limited range; chroma of half the rows and columns."""
    red = 0
    green = 0
    blue = 0
    for dy in range(2):
        for dx in range(2):
            luma[dy, dx] = (rgb[0, dy, dx] * 2991 + rgb[1, dy, dx] * 10064 + rgb[2, dy, dx] * 1016 + 8192 >> 14) + 16
            red += rgb[0, dy, dx]
            green += rgb[1, dy, dx]
            blue += rgb[2, dy, dx]
    u[0, 0] = (blue * 7196 - red * 1649 - green * 5547 + 32768 >> 16) + 128
    v[0, 0] = (red * 7196 - green * 6536 - blue * 660 + 32768 >> 16) + 128


@kernel('firmware::ToNv12')
def to_nv12(u: rows(u8), v: rows(u8), *, chroma: rows(u8, cell=(2, 4))):
    """Chroma of twice the rows and columns, bilinear, U beside V."""
    for dy in range(2):
        for dx in range(2):
            above = 2 * dy - 1
            beside = 2 * dx - 1
            chroma[dy, 2 * dx] = u[0, 0] * 9 + u[above, 0] * 3 + u[0, beside] * 3 + u[above, beside] + 8 >> 4
            chroma[dy, 2 * dx + 1] = v[0, 0] * 9 + v[above, 0] * 3 + v[0, beside] * 3 + v[above, beside] + 8 >> 4
