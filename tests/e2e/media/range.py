# SPDX-License-Identifier: Apache-2.0
"""Luma of pictures and films, by the protocol of mona eval: range.sh.

    reduce IN WIDTH HEIGHT SCALE OUT          raw RGB, made smaller as eval does it
    psnr IN KIND MADE KIND WIDTH HEIGHT SCALE decibels, without a border of SCALE; MADE has whole blocks of SCALE only

KIND: rgb, with luma of BT.601 in studio range; rgb8, the same rounded, as eval does it; grey; or luma alone, of
studio range, tv, or of full range, pc.
"""
import math
import sys

OF_LUMA = {'grey': lambda v: v, 'tv': lambda v: v, 'pc': lambda v: 16 + v * 219 / 255}


def cubic(x):
    x = abs(x)
    return 1.5 * x**3 - 2.5 * x**2 + 1 if x <= 1 else max(2 - x, 0) * (0.5 * x**2 - 1.5 * x + 1)


def reduced(row, scale):
    """Of values; output i stands at scale i + centre, and the row is mirrored beyond its ends."""
    centre = (scale - 1) / 2
    first = math.floor(centre - 2 * scale) + 1
    taps = [cubic((first + k - centre) / scale) for k in range(4 * scale)]
    taps = [t / sum(taps) for t in taps]
    long = row[:2 * scale][::-1] + row + row[-2 * scale:][::-1]
    starts = range(first + 2 * scale, first + 2 * scale + len(row) // scale * scale, scale)
    return [sum(t * v for t, v in zip(taps, long[at:at + 4 * scale])) for at in starts]


def reduce(path, width, height, scale, out):
    data, width, height, scale = open(path, 'rb').read(), int(width), int(height), int(scale)
    planes = []
    for c in range(3):
        rows = [reduced(list(data[c + 3 * width * y:3 * width * (y + 1):3]), scale) for y in range(height)]
        columns = [reduced(list(column), scale) for column in zip(*rows)]
        planes.append([min(max(round(v), 0), 255) for row in zip(*columns) for v in row])
    open(out, 'wb').write(bytes(v for pixel in zip(*planes) for v in pixel))


def luma(path, kind, width):
    data = open(path, 'rb').read()
    if kind in ('rgb', 'rgb8'):
        values = [16 + (65.481 * r + 128.553 * g + 24.966 * b) / 255
                  for r, g, b in zip(data[0::3], data[1::3], data[2::3])]
        values = [round(v) for v in values] if kind == 'rgb8' else values
    else:
        values = [OF_LUMA[kind](v) for v in data]
    return [values[i:i + width] for i in range(0, len(values), width)]


def psnr(original, kind, made, made_kind, width, height, scale):
    width, height, s = int(width), int(height), int(scale)
    wide, high = width // s * s, height // s * s
    a, b = luma(original, kind, width), luma(made, made_kind, wide)
    assert len(a) == height and len(b) >= high, (len(a), len(b))
    error = sum((p - q)**2 for x, y in zip(a[s:high - s], b[s:high - s]) for p, q in zip(x[s:wide - s], y[s:wide - s]))
    print('%.4f' % (10 * math.log10(255**2 * (wide - 2 * s) * (high - 2 * s) / error)))


{'reduce': reduce, 'psnr': psnr}[sys.argv[1]](*sys.argv[2:])
