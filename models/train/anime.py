# SPDX-License-Identifier: Apache-2.0
"""Training pairs of drawn film: scenes of cartoons.py, halved as pictures, or halved and compressed by x264.

As studios deliver it and shops cut it down, it is a little soft and has a little grain: some of it is reduced by
softer filters, and has noise before it is compressed. What is to come out is what was drawn.
"""
import multiprocessing

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

import cartoons
import compressed
import data
import noise

WIDTH, HEIGHT = 448, 320  # of the originals; anime_like.py takes other seeds
STILLS, CLIPS, HELD_OUT = 205, 160, 40  # pictures, clips, and held-out ones of each
QUALITIES = 16, 18, 20, 22, 24, 26, 28, 30  # CRF


def halved(rgb, way):
    """way: None: bicubic; 0: bilinear; else the sigma of a blur before bicubic."""
    if way == 0:
        small = [Image.fromarray(rgb[..., c].astype(np.float32)).resize((WIDTH // 2, HEIGHT // 2), Image.BILINEAR)
                 for c in range(3)]
        return np.stack([np.asarray(plane, np.float64) for plane in small], 2)
    return data.imresize(gaussian_filter(rgb, (way, way, 0)) if way else rgb, 0.5)


def drawn(seed, count):
    """The first frames of a scene, as (low, high) RGB."""
    scene, rng = cartoons.Scene(seed, WIDTH, HEIGHT), np.random.default_rng(seed + 3)
    way = rng.choice([None, None, None, 0, rng.uniform(0.3, 1.0)])
    grain = rng.uniform(0, 2) if rng.random() < 0.3 else 0
    kind = noise.any_grain(rng)
    for time in range(count):
        high = scene.frame(time if count > 1 else int(rng.integers(20)))
        low = halved(high, way)
        if grain:
            low = low + grain * noise.plane(low.shape[:2], kind, rng)[..., None]
        yield low, high


def packed(low, high):
    return data.to8(low)[None], data.to8(data.space_to_depth(high, 2))


def still(seed):
    return [packed(data.luma(low), data.luma(high)) for low, high in drawn(seed, 1)]


def clip(seed):
    """Two frames that differ."""
    rng = np.random.default_rng(seed + 4)
    lows, highs = zip(*drawn(seed, compressed.FRAMES))
    quality = QUALITIES[seed % len(QUALITIES)]
    done = list(compressed.through_x264([compressed.planes(low) for low in lows], quality))
    kept = rng.choice(compressed.FRAMES, 2, replace=False)
    if np.array_equal(*(highs[k] for k in kept)):
        kept = kept[:1]
    return [packed(done[k][0][0], data.luma(highs[k])) for k in kept]


def pairs(every=1):
    """Yields (part, kind, input, target), of every so many-th scene."""
    with multiprocessing.Pool() as pool:
        for kind, make, count, first in (("drawn", still, STILLS, 10000), ("drawn film", clip, CLIPS, 20000)):
            seeds = range(first, first + HELD_OUT + count, every)
            for n, found in enumerate(pool.imap(make, seeds)):
                kept = n * every < HELD_OUT
                for low, high in found[:1] if kept else found:
                    if kept:  # their middle
                        low, high = (a[:, 32:-32, 64:-64] for a in (low, high))
                    yield "held_out" if kept else "train", kind, low, high
