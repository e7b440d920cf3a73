# SPDX-License-Identifier: Apache-2.0
"""Correction of a lens that is darker towards its corners."""
from mona.kernel import f32, kernel, rows, s32, table, u8


@kernel('com.example::Shading')
def shading(x: rows(u8), curve: table(f32, 257), *, y: rows(u8)):
    """curve: what samples are multiplied by, over the square of their distance from the middle, which is 256 in the
    corners."""
    dx = f32(2 * column + 1 - width)
    dy = f32(2 * row + 1 - height)
    distance = (dx * dx + dy * dy) * 256 / (f32(width) * f32(width) + f32(height) * f32(height))
    y[0, 0] = f32(x[0, 0]) * curve[s32(distance)]
