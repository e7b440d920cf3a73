# SPDX-License-Identifier: Apache-2.0
"""Training pairs of pictures as cameras and shops leave them: blurred by lens and motion, reduced in one of several
ways, sharpened, a little noisy, and up to twice JPEG."""
import io

import numpy as np
from PIL import Image

import data
import noise

COUNT, SIDE = 2, 240  # windows of each photograph, their side
REDUCED = (Image.BILINEAR, Image.HAMMING, Image.LANCZOS, Image.BOX)


def along(a, kernel, axis):
    side = len(kernel) // 2
    padded = np.pad(a, [(side * (n == axis),) * 2 for n in range(a.ndim)], "edge")
    return sum(w * padded.take(range(k, k + a.shape[axis]), axis) for k, w in enumerate(kernel))


def soft(a, sigma):
    t = np.arange(-4, 5)
    kernel = np.exp(-t**2 / (2 * sigma**2))
    return along(along(a, kernel / kernel.sum(), 0), kernel / kernel.sum(), 1)


def moved(a, length, axis):
    """As while the shutter was open: a line's part in each pixel."""
    kernel = np.clip(length / 2 + 0.5 - np.abs(np.arange(-2, 3)), 0, 1)
    return along(a, kernel / kernel.sum(), axis)


def through_jpeg(a, quality):
    file = io.BytesIO()
    Image.fromarray(data.to8(a)).save(file, "JPEG", quality=int(quality), subsampling=int(2 * (quality <= 90)))
    return np.asarray(Image.open(file).convert("RGB")).astype(np.float64)


def taken(rgb, rng):
    """Half as large."""
    if rng.random() < 0.6:
        rgb = soft(rgb, rng.uniform(0.3, 1.0))
    if rng.random() < 0.2:
        rgb = moved(rgb, rng.uniform(1, 3), int(rng.integers(2)))
    if rng.random() < 0.4:
        small = data.imresize(rgb, 0.5)
    else:
        size = rgb.shape[1] // 2, rgb.shape[0] // 2
        way = REDUCED[rng.integers(len(REDUCED))]
        small = np.stack([np.asarray(Image.fromarray(rgb[..., c].astype(np.float32)).resize(size, way), np.float64)
                          for c in range(3)], 2)
    if rng.random() < 0.3:
        small = small + rng.uniform(0.1, 0.7) * (small - soft(small, 1.0))
    if rng.random() < 0.4:
        kind = noise.any_grain(rng)
        small = small + rng.uniform(0.3, 1.5) * noise.plane(small.shape[:2], kind, rng)[..., None]
    for _ in range(int(rng.integers(3))):
        small = through_jpeg(small, rng.integers(80, 98))
    return small


def pairs(rgb, seed):
    """[(low, high)] of windows of a picture: studio luma, and its packed original."""
    rng, out = np.random.default_rng(seed), []
    for _ in range(COUNT):
        y, x = (rng.integers(max(n - SIDE, 0) // 2 + 1) * 2 for n in rgb.shape[:2])
        window = rgb[y:y + SIDE, x:x + SIDE]
        window = window[:window.shape[0] // 2 * 2, :window.shape[1] // 2 * 2]
        out.append((data.to8(data.luma(taken(window, rng)))[None], data.to8(data.space_to_depth(data.luma(window), 2))))
    return out
