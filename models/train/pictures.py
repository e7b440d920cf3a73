#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures for a card: where a network gains most on what it is to beat, and where least.

  pictures.py ../../build/mona sr_x2_balanced ../../../shared/data/test/set14/x2 ../curves

Asks `mona eval` which image of the folder gains most and which least (on bicubic, or at sigma 25 on
the noisy input), and writes NAME-good.png and NAME-bad.png: the part of it where the difference is
largest, as the original, as what was to be beaten, and as mona makes it, side by side, twice as
large as it is.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
from skimage import io

import data
import nets

SIGMA = 25
WIDTH, HEIGHT = 112, 88


def model_file(name):
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", name + ".mona")


def evaluated(mona, name, folder, protocol):
    """Rows of the images by their gain, least first."""
    text = subprocess.run([mona, "eval", name, "--set", folder, "--protocol", protocol, "--json"]
                          + ["--sigma", str(SIGMA)] * (protocol == "denoise"), check=True,
                          stdout=subprocess.PIPE).stdout
    base = "noisy_psnr" if protocol == "denoise" else "bicubic_psnr"
    return sorted(json.loads(text)["images"], key=lambda row: row["psnr"] - row[base])


def grey_planes(path, spec):
    """(original, what mona gets, what is to be beaten)"""
    image = io.imread(path)
    if spec.task == "denoise":
        original = data.grey(image)
        noise = SIGMA * np.random.default_rng(SIGMA).standard_normal(original.shape)
        noisy = data.to8(original + noise)
        return data.to8(original), noisy, noisy
    original = data.to8(data.luma(image)) if image.ndim == 3 else image
    n = spec.scale
    original = original[:original.shape[0] // n * n, :original.shape[1] // n * n]
    low = data.imresize(original.astype(np.float64), 1 / n)
    return original, data.to8(low), data.to8(data.imresize(low, n))


def through_mona(mona, name, plane, protocol):
    options = ["--stages", "denoise", "--strength", str(SIGMA / 50), "--denoise"] \
        if protocol == "denoise" else ["--stages", "sr", "--sr"]
    with tempfile.TemporaryDirectory() as folder:
        before, after = folder + "/in.png", folder + "/out.png"
        io.imsave(before, plane, check_contrast=False)
        subprocess.run([mona, "enhance", before, "-o", after, "--quiet"] + options + [model_file(name)],
                       check=True)
        return io.imread(after)


def most_different(a, b):
    """The window where two planes differ most."""
    square = np.pad((a.astype(float) - b) ** 2, ((1, 0), (1, 0))).cumsum(0).cumsum(1)
    total = square[HEIGHT:, WIDTH:] - square[:-HEIGHT, WIDTH:] - square[HEIGHT:, :-WIDTH] \
        + square[:-HEIGHT, :-WIDTH]
    y, x = np.unravel_index(total.argmax(), total.shape)
    return slice(y, y + HEIGHT), slice(x, x + WIDTH)


def write(mona, name, folder, out):
    spec = nets.NETS[name]
    rows = evaluated(mona, model_file(name), folder, spec.task)
    for row, kind in ((rows[-1], "good"), (rows[0], "bad")):
        original, low, beaten = grey_planes(os.path.join(folder, row["image"]), spec)
        made = through_mona(mona, name, low, spec.task)
        window = most_different(beaten, made)
        strip = np.hstack([plane[window] for plane in (original, beaten, made)])
        io.imsave(f"{out}/{name}-{kind}.png", strip.repeat(2, 0).repeat(2, 1), check_contrast=False)
        print(kind, json.dumps(row))


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    write(*sys.argv[1:])
