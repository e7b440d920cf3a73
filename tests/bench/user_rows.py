# SPDX-License-Identifier: Apache-2.0
"""Kernels whose rows user_rows.c measures beside intrinsics."""
from mona.kernel import kernel, rows, u8


@kernel('bench::Add')
def add(a: rows(u8), b: rows(u8), *, y: rows(u8)):
    y[0, 0] = a[0, 0] + b[0, 0]


@kernel('bench::Clamp')
def clamped(x: rows(u8), *, y: rows(u8)):
    y[0, 0] = clamp(x[0, 0], 16, 235)


@kernel('bench::DepthToSpace')
def depth(x: rows(u8, planes=4), *, y: rows(u8, cell=(2, 2))):
    for dy in range(2):
        for dx in range(2):
            y[dy, dx] = x[dy * 2 + dx, 0, 0]


@kernel('bench::Resize')
def resize(x: rows(u8), *, y: rows(u8, cell=(2, 2))):
    for dy in range(2):
        for dx in range(2):
            beside = 2 * dx - 1
            above = 2 * dy - 1
            y[dy, dx] = x[0, 0] * 9 + x[above, 0] * 3 + x[0, beside] * 3 + x[above, beside] + 8 >> 4
