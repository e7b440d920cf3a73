# SPDX-License-Identifier: Apache-2.0
"""Local tone mapping: dark surroundings are lit, and what differs from its surroundings is kept."""
from mona.kernel import f32, kernel, rows, s32, table, u8, u16


@kernel('com.example::ToneMap')
def tone_map(x: rows(u16, planes=3), curve: table(f32, 257), *, y: rows(u8, planes=3)):
    """x: RGB of 12 bits. curve: what samples are multiplied by to become one of 8 bits, over the brightness around, which is
    256 at the most."""
    around = 0
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            weight = (2 - abs(dy)) * (2 - abs(dx))  # a blur of 1 2 1 both ways
            light = x[0, dy, dx] * 2 + x[1, dy, dx] * 5 + x[2, dy, dx]
            around += light * weight
    bright = min(f32(around) * (256 / 4095 / 128), 256.0)
    step = min(s32(bright - 0.5), 255)  # between two entries of the curve
    part = bright - f32(step)
    gain = curve[step] + (curve[step + 1] - curve[step]) * part
    for plane in range(3):
        y[plane, 0, 0] = f32(x[plane, 0, 0]) * gain
