# SPDX-License-Identifier: Apache-2.0
"""Pictures of sixteen shapes over photographs: of random colours, fills, sizes, places, turns and noise."""
import glob
import math
import os

import numpy as np
from PIL import Image

HELD_OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "models", "train", "held_out.txt")

SHAPES = (  # of points (x, y) in a square from -1 to 1, and their distance from its centre
    lambda x, y, r: r < 0.9,
    lambda x, y, r: (r < 0.9) & (r > 0.5),
    lambda x, y, r: np.maximum(abs(x), abs(y)) < 0.7,
    lambda x, y, r: abs(np.maximum(abs(x), abs(y)) - 0.55) < 0.17,
    lambda x, y, r: (y < 0.5) & (abs(x) * 1.73 - y < 0.9),
    lambda x, y, r: (y < 0.5) & (abs(x) * 1.73 - y < 0.9) & ~((y < 0.25) & (abs(x) * 1.73 - y < 0.35)),
    lambda x, y, r: r < 0.62 + 0.32 * np.cos(5 * np.arctan2(y, x)),
    lambda x, y, r: r < 0.72 + 0.22 * np.cos(8 * np.arctan2(y, x)),
    lambda x, y, r: (np.minimum(abs(x), abs(y)) < 0.25) & (np.maximum(abs(x), abs(y)) < 0.9),
    lambda x, y, r: np.maximum(abs(x) * 0.866 + abs(y) / 2, abs(y)) < 0.8,
    lambda x, y, r: (r < 0.9) & (y > -0.1),
    lambda x, y, r: (r < 0.9) & (np.hypot(x - 0.45, y) > 0.65),
    lambda x, y, r: (np.maximum(abs(x), abs(y)) < 0.75) & ((x < 0) | (y < 0)),
    lambda x, y, r: (abs(x) < 0.8) & (abs(np.mod(y + 1.05, 0.7) - 0.35) < 0.2) & (abs(y) < 0.95),
    lambda x, y, r: np.hypot(x / 0.95, y / 0.45) < 1,
    lambda x, y, r: (abs(x) < 0.85) & (abs(y) < abs(x) * 0.8),
)


def backdrop(rng, photos, side):
    photo = photos[rng.integers(len(photos))]
    step = rng.integers(1, 3)
    y, x = (rng.integers(0, n - side * step + 1) for n in photo.shape[:2])
    part = photo[y:y + side * step, x:x + side * step].reshape(side, step, side, step, 3).mean((1, 3))
    return part[:, ::rng.choice((-1, 1))] * rng.uniform(0.6, 1) + rng.uniform(0, 40)


def draw(rng, picture, kind, x, y, size):
    """Draws a shape into a square, twice as fine as the picture; returns its box."""
    turn, stretch = rng.uniform(-0.5, 0.5), rng.uniform(0.85, 1.15)
    v, u = (np.mgrid[:2 * size, :2 * size] + 0.5) / size - 1
    u, v = (u * np.cos(turn) + v * np.sin(turn)) * 1.03, (v * np.cos(turn) - u * np.sin(turn)) * 1.03 * stretch
    mask = SHAPES[kind](u, v, np.hypot(u, v))
    part = picture[y:y + size, x:x + size]
    hue = 2 * np.pi * (kind / len(SHAPES) + rng.uniform(-0.1, 0.1))  # a hint: those of neighbours overlap
    colour = 128 + 120 * np.cos(hue - np.float64((0, 2.1, 4.2))) * rng.uniform(0.5, 1)
    other = rng.uniform(0, 255, 3)
    u, v = u[::2, ::2] * size / rng.uniform(1.8, 2.6), v[::2, ::2] * size / rng.uniform(1.8, 2.6)
    wave = (0, np.sin(u), np.sin(u) * np.sin(v), np.sin(np.hypot(u, v)))[kind % 4]  # a quarter of the shapes each
    paint = colour + (other - colour) * rng.uniform(0, 0.5) * np.broadcast_to(wave, u.shape)[..., None]
    cover = mask.reshape(size, 2, size, 2).mean((1, 3))[..., None] * rng.uniform(0.6, 1)
    part += cover * (paint - part)
    rows, columns = np.nonzero(mask.any(1))[0], np.nonzero(mask.any(0))[0]
    return [x + columns[0] / 2, y + rows[0] / 2, x + (columns[-1] + 1) / 2, y + (rows[-1] + 1) / 2]


def overlaps(a, b):
    """The common area of boxes [n, 1, 4] and [1, m, 4] over that of both together."""
    low, high = np.maximum(a[..., :2], b[..., :2]), np.minimum(a[..., 2:], b[..., 2:])
    common = np.prod(np.maximum(high - low, 0), -1)
    return common / (np.prod(a[..., 2:] - a[..., :2], -1) + np.prod(b[..., 2:] - b[..., :2], -1) - common + 1e-9)


def scene(rng, photos, side, most):
    """8 bits [side, side, 3], the classes of its shapes and their boxes."""
    picture, places, kinds, boxes = backdrop(rng, photos, side), [], [], []
    for _ in range(rng.integers(1, most + 1)):
        size = int(side * math.exp(rng.uniform(*np.log((0.5, 0.95) if most == 1 else (0.25, 0.65)))))
        x, y = rng.integers(0, side - size + 1, 2)
        place = np.array([[x, y, x + size, y + size]])
        if places and overlaps(place, np.concatenate(places)).max() > 0.05:
            continue
        places.append(place)
        kinds.append(int(rng.integers(len(SHAPES))))
        boxes.append(draw(rng, picture, kinds[-1], x, y, size))
    picture += rng.standard_normal(picture.shape, np.float32) * rng.uniform(0, 20)
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8), kinds, np.array(boxes)


def load(data):
    """The photographs to train and calibrate with, and those to measure on."""
    with open(HELD_OUT) as f:
        held = set(f.read().split())
    paths = sorted(glob.glob(os.path.join(data, "train", "photos", "*.webp")))
    made = [], []
    for p in paths:
        made[os.path.basename(p) in held].append(np.asarray(Image.open(p).convert("RGB")))
    return [[p for p in part if min(p.shape[:2]) >= 256] for part in made]
