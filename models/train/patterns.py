# SPDX-License-Identifier: Apache-2.0
"""Pictures whose finest detail is no noise although it looks like it: dithered, printed, shown on a screen, or drawn of
small things. A photograph lends its light and shade."""
import numpy as np
from PIL import Image, ImageDraw


def clipped(a):
    return np.clip(np.rint(a), 0, 255).astype(np.uint8)


def in_a_palette(a, rng):
    """Floyd and Steinberg's dithering in few colours, or in black and white."""
    image = Image.fromarray(a)
    if rng.random() < .5:
        return np.asarray(image.convert("L").convert("1").convert("RGB"))
    return np.asarray(image.quantize(int(rng.integers(2, 65)), dither=Image.FLOYDSTEINBERG).convert("RGB"))


def ordered(a, rng):
    """Bayer's dithering, or that by random thresholds, in a few steps."""
    matrix = np.zeros((1, 1))
    for _ in range(rng.integers(1, 4)):
        matrix = np.block([[4 * matrix, 4 * matrix + 2], [4 * matrix + 3, 4 * matrix + 1]])
    matrix = matrix / matrix.size
    if rng.random() < .3:
        matrix = rng.random((32, 32))
    step = 255 / rng.integers(1, 8)
    tiles = [-(-n // len(matrix)) for n in a.shape[:2]]
    threshold = np.tile(matrix, tiles)[:a.shape[0], :a.shape[1], None]
    light = a @ np.full((3, 1), 1 / 3) * [1, 1, 1] if rng.random() < .5 else a
    return clipped(np.floor(light / step + threshold) * step)


def printed(a, rng):
    """Dots or lines as large as it is dark, sharp or not."""
    y, x = np.mgrid[0:a.shape[0], 0:a.shape[1]]
    out, pitch, soft = np.empty(a.shape), rng.uniform(2.2, 8), rng.uniform(1, 6)
    grey = rng.random() < .5
    for c, turn in enumerate(rng.uniform(0, np.pi, 3)):
        turn, light = (.8, a.mean(-1)) if grey else (turn, a[..., c])
        u, v = x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn)
        dots = np.cos(2 * np.pi * u / pitch) + np.cos(2 * np.pi * v / pitch)
        out[..., c] = 255 / (1 + np.exp(-soft * (dots / 2 + (light / 255 - .5) * 2)))
    return clipped(out)


def screen(a, rng):
    """A monitor's coloured stripes and rows, seen by a camera of another pitch."""
    y, x = np.mgrid[0:a.shape[0], 0:a.shape[1]]
    turn, pitch, across, down = rng.uniform(-.1, .1), rng.uniform(2, 5), rng.uniform(.1, .8), rng.uniform(.1, .5)
    u, v = x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn)
    stripes = [1 + across * np.cos(2 * np.pi * (u / pitch - c / 3)) for c in range(3)]
    return clipped(a * .7 * np.stack(stripes, -1) * (1 + down * np.cos(2 * np.pi * v / pitch))[..., None])


def strewn(a, rng):
    """Leaves, blades, flakes, or stones, drawn twice as large, in one colour's shades or in the photograph's."""
    height, width = a.shape[:2]
    image = Image.fromarray(a).resize((2 * width, 2 * height))
    draw, length, thin = ImageDraw.Draw(image), rng.uniform(3, 20), rng.uniform(.1, 1)
    own, colour = rng.random() < .3, rng.uniform(40, 255, 3)
    for _ in range(int(min(20000, rng.uniform(.5, 4) * 4 * width * height / (length * length * thin + 4)))):
        x, y, turn, size = rng.random() * 2 * width, rng.random() * 2 * height, rng.random() * np.pi, length * rng.uniform(.3, 1)
        across, along = size * np.cos(turn), size * np.sin(turn)
        shade = a[int(y) // 2, int(x) // 2] * rng.uniform(.6, 1.4) if own else colour * rng.uniform(.2, 1)
        draw.polygon([(x - across, y - along), (x + along * thin, y - across * thin), (x + across, y + along),
                      (x - along * thin, y + across * thin)], fill=tuple(int(min(c, 255)) for c in shade))
    return np.asarray(image.resize((width, height), rng.choice([Image.LANCZOS, Image.BOX, Image.BICUBIC])))


def blocks(a, rng):
    """Sprites: large pixels of few colours, and flat colours between."""
    side = int(rng.integers(2, 9))
    colours = rng.integers(0, 256, (int(rng.integers(2, 16)), 3))
    which = rng.integers(0, len(colours), [-(-n // side) for n in a.shape[:2]])
    return np.kron(colours[which], np.ones((side, side, 1)))[:a.shape[0], :a.shape[1]].astype(np.uint8)


KINDS = (in_a_palette, in_a_palette, ordered, ordered, printed, screen, strewn, strewn, strewn, blocks)


def pattern(a, rng):
    return np.ascontiguousarray(KINDS[rng.integers(len(KINDS))](a, rng))
