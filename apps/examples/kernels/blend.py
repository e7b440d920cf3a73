# SPDX-License-Identifier: Apache-2.0
"""Noise that comes and goes: a frame blended with the result before it, where the picture stands still."""
from mona.kernel import kernel, rows, s32, table, u8


@kernel('com.example::Blend')
def blend(now: rows(u8), before: rows(u8), strength: table(s32, 1), *, y: rows(u8)):
    """strength: the share of the earlier frame, in 1 / 256, where both are the same."""
    moved = 0
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            moved += abs(now[dy, dx] - before[dy, dx])
    share = clamp(strength[0] - moved * 2, 0, 255)
    y[0, 0] = now[0, 0] + ((before[0, 0] - now[0, 0]) * share + 128 >> 8)
