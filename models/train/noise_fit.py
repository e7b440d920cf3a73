#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Fits what tells noise from texture in pipeline/stages/noise.c: prints its numbers.

  noise_fit.py [../../../shared/data]

Every third training photograph, at several sizes, clean, compressed by JPEG and by x264, and drawn pictures, must not
be taken for noisy; the same photographs with noise of all kinds must. The numbers are those of a logistic
regression, moved so that FALSE of the clean ones are misjudged. Held-out photographs tell what that is worth.
"""
import ctypes
import io
import sys

import numpy as np
from PIL import Image

import compressed
import data
import noise
import rendered

FALSE = 0.015
SIZES = (1, 0.6, 1.5, 0.4)
SIGMAS = (4, 7, 12, 22)
KINDS = (*(("blurred", s) for s in (0.35, 0.6, 0.75, 1.0)), ("enlarged", 2), ("enlarged", 4), ("white", None),
         ("mosaic", None), ("jpeg", 85))
NAMES = "e1/e2", "e2/e4", "e4/e8", "n1", "n2", "n4", "n8", "e4", "1"


def features(luma):
    """What noise.c judges: logarithms of ratios, normality, the level; 1."""
    noise.found(luma)
    e, n = np.frombuffer(noise.SCRATCH, np.float64, 8).reshape(2, 4)
    e = np.log(np.maximum(e, 0.05))
    return [e[0] - e[1], e[1] - e[2], e[2] - e[3], *n, e[2], 1]


def as_jpeg(luma, quality):
    file = io.BytesIO()
    Image.fromarray(luma).save(file, "JPEG", quality=quality)
    return np.asarray(Image.open(file))


def noisy(image, kind, sigma, rng):
    name, value = kind
    side = max(image.shape) // 8 * 8 + 8
    grain = noise.planes(side, ("white", None) if name == "jpeg" else kind, rng)[0][:image.shape[0], :image.shape[1]]
    out = data.to8(image + sigma * noise.gain(image, rng) * grain / noise.rms(grain))
    return as_jpeg(out, value) if name == "jpeg" else out


def filmed(images):
    """Small frames through x264."""
    frames = [[data.to8(i[:176, :320]), *np.full((2, 88, 160), 128, np.uint8)] for i in images if min(i.shape) >= 176
              and i.shape[1] >= 320]
    for quality in (18, 23):
        for (y, _, _), _ in compressed.through_x264(frames, quality):
            yield y


def samples(images, rng):
    """Yields (name, luma): photographs as they are, then with noise."""
    sized = [[data.resized(i, size) for size in SIZES] for i in images]
    for group in sized:
        for size, image in zip(SIZES, group):
            yield f"clean {size}", data.to8(image)
        for quality in (95, 85, 70):
            yield f"clean JPEG {quality}", as_jpeg(data.to8(group[rng.integers(2)]), quality)
    for frame in filmed([group[1] for group in sized] + [group[0] for group in sized]):
        yield "clean film", frame
    for group in sized:
        for kind in KINDS:
            for sigma in SIGMAS:
                yield f"{kind[0]} {kind[1] or ''} {sigma}", noisy(group[rng.integers(len(SIZES))], kind, sigma, rng)


def fit(x, noisy):
    """Weights of a logistic regression in which both classes count alike, by Newton's method."""
    count = np.where(noisy, 0.5 / noisy.sum(), 0.5 / (~noisy).sum())
    w = np.zeros(x.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        slope = x.T @ ((p - noisy) * count) + 1e-6 * w
        w -= 0.7 * np.linalg.solve((x * (count * p * (1 - p))[:, None]).T @ x + 1e-6 * np.eye(len(w)), slope)
    return w


def measured(images, drawn, seed):
    names, rows = zip(*((name, features(luma)) for name, luma in
                        [*samples(images, np.random.default_rng(seed)), *(("clean drawn", d) for d in drawn)]))
    return np.array(names), np.array(rows)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else data.DEFAULT_DATA
    photos = {part: [data.grey(rgb.round().astype(np.uint8)) for p, size, rgb in data.train_images(folder, (1,))
                     if p == part and size == 1] for part in ("train", "held_out")}
    drawn = [data.to8(data.luma(p)) for p in rendered.pictures()]
    names, x = measured(photos["train"][::3], drawn[::2], 0)
    clean = np.char.startswith(names, "clean")
    w = fit(x, ~clean)
    w[-1] -= np.quantile(x[clean] @ w, 1 - FALSE)
    print(" ".join(f"{name} {v / abs(w[0]):.3f}" for name, v in zip(NAMES, w)))
    names, x = measured(photos["held_out"], drawn[1::2], 1)
    for name in dict.fromkeys(names):
        print(f"{name:20s} judged noisy: {(x[names == name] @ w > 0).mean():.2f}")


if __name__ == "__main__":
    main()
