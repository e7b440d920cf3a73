#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How far `mona enhance --strength auto` stays below the best strength, for noise of several grains.

  grain.py ../../build/mona ../../../shared/data [--kind quarter] [--sigma 5 --sigma 10 --sigma 20] [--options "--tier balanced"]

Every fourth held-out photograph, grey, gets noise that is white, blurred by 0.6 or 1 pixels, made at a quarter of
the size, or white and then compressed by JPEG at quality 85, and is denoised with each of STRENGTHS and with auto.
Printed are, in dB of PSNR and for each kind of noise: the noisy pictures; the best single strength; auto; and how far
auto stays below each picture's own best strength, in the mean and at most.
"""
import argparse
import io
import os
import subprocess
import tempfile

import numpy as np
from PIL import Image

import data
import noise

STRENGTHS = (0, .03, .06, .09, .12, .16, .2, .25, .32, .4, .5, .65, .85)


def white(shape, rng):
    return rng.standard_normal(shape)


def quarter(shape, rng):
    """Noise made at a quarter of the size, enlarged by bicubic interpolation."""
    small = Image.fromarray(white([n // 4 for n in shape], rng).astype(np.float32))
    return np.asarray(small.resize(shape[::-1], Image.BICUBIC))


KINDS = {
    "white": white,
    "blurred by 0.6": lambda shape, rng: noise.blurred(white(shape, rng), 0.6),
    "blurred by 1": lambda shape, rng: noise.blurred(white(shape, rng), 1),
    "quarter": quarter,
    "JPEG 85": white,
}


def originals(folder):
    return [data.grey(data.read(path)) for path in data.held_out(folder)[::4]]


def spoil(images, kind, sigma, folder):
    """Writes the noisy pictures; returns how they read."""
    rng, out = np.random.default_rng(1), []
    for n, image in enumerate(images):
        grain = KINDS[kind](image.shape, rng)
        noisy = data.to8(image + sigma * grain / noise.rms(grain))
        if kind.startswith("JPEG"):
            file = io.BytesIO()
            Image.fromarray(noisy).save(file, "JPEG", quality=85)
            noisy = data.read(file)
        Image.fromarray(noisy).save(os.path.join(folder, f"{n:02d}.png"))
        out.append(noisy)
    return out


def psnrs(images, made):
    return [10 * np.log10(255**2 / np.mean((a - np.float64(b)) ** 2)) for a, b in zip(images, made)]


def enhanced(mona, noisy, strength, options, count):
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([mona, "enhance", noisy, "--out-dir", out, "--stages", "denoise", "--strength", str(strength),
                        "--quiet", "-y", *options.split()], check=True, stdin=subprocess.DEVNULL)
        names = sorted(name for name in os.listdir(out) if name.endswith(".png"))
        assert len(names) == count, (len(names), count)
        return [data.read(os.path.join(out, name)) for name in names]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("mona"), p.add_argument("data")
    p.add_argument("--kind", choices=KINDS, action="append", help="of noise (default: all)")
    p.add_argument("--sigma", type=int, action="append")
    p.add_argument("--options", default="", help="of mona enhance")
    a = p.parse_args()
    images = originals(a.data)
    print("noise, sigma           noisy   best strength    auto   below each picture's best: mean, most")
    for kind in a.kind or KINDS:
        for sigma in a.sigma or (5, 10, 20):
            with tempfile.TemporaryDirectory() as folder:
                noisy = np.mean(psnrs(images, spoil(images, kind, sigma, folder)))
                rows = {s: np.array(psnrs(images, enhanced(a.mona, folder, s, a.options, len(images))))
                        for s in (*STRENGTHS, "auto")}
            auto = rows.pop("auto")
            best = max(rows, key=lambda s: rows[s].mean())
            less = np.max(list(rows.values()), 0) - auto
            print(f"{kind:15s} {sigma:2d}   {noisy:8.2f}   {rows[best].mean():.2f} at {best:4}   {auto.mean():.2f}   "
                  f"{less.mean():.2f} {less.max():.2f}", flush=True)


if __name__ == "__main__":
    main()
