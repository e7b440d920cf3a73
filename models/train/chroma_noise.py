#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far chroma of noisy film is from the original, for the constants of pipeline/stages/chroma_noise.c.

    chroma_noise.py PHOTOGRAPHS MONA [MONA]

Photographs that move, with noise in R, G and B, as they are and through x264: the PSNR of U and V, and of a second mona the
mean and least of what it is better by.
"""
import glob
import os
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

WIDTH, HEIGHT, FRAMES, FIRST = 320, 256, 8, 2
CASES = [(sigma, codec) for sigma in (4, 10) for codec in (["ffv1"], ["libx264", "-crf", "23"])]


def write(frames, path, codec):
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-s", f"{WIDTH}x{HEIGHT}", "-pix_fmt", "rgb24", "-r", "25", "-i", "-", "-vf",
                    "scale=flags=bicubic+accurate_rnd+full_chroma_int", "-pix_fmt", "yuv420p", "-c:v", *codec, path],
                   input=b"".join(f.tobytes() for f in frames), check=True)


def chroma(path):
    raw = subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"], stdout=subprocess.PIPE, check=True).stdout
    frames = np.frombuffer(raw, np.uint8).reshape(FRAMES, -1)[FIRST:, WIDTH * HEIGHT:]
    return frames.reshape(FRAMES - FIRST, 2, -1).astype(float)


def main():
    photographs, monas = sys.argv[1], sys.argv[2:]
    for sigma, codec in CASES:
        found = []
        for n, path in enumerate(sorted(glob.glob(os.path.join(photographs, "*.webp")))[7::28][:14]):
            picture = np.asarray(Image.open(path).convert("RGB"))
            noise = np.random.default_rng(n)
            clean = [picture[20 + k:20 + k + HEIGHT, 20 + 2 * k:20 + 2 * k + WIDTH] for k in range(FRAMES)]
            noisy = [np.clip(np.rint(f + sigma * noise.standard_normal(f.shape)), 0, 255).astype(np.uint8) for f in clean]
            with tempfile.TemporaryDirectory() as folder:
                at = lambda name: os.path.join(folder, name)
                write(clean, at("clean.mkv"), ["ffv1"])
                write(noisy, at("noisy.mkv"), codec)
                row = []
                for mona in monas:
                    subprocess.run([mona, "enhance", at("noisy.mkv"), "-o", at("out.mkv"), "-y", "-c", "ffv1", "--stages", "denoise", "--quiet"],
                                   stdin=subprocess.DEVNULL, check=True)
                    error = ((chroma(at("out.mkv")) - chroma(at("clean.mkv")))**2).mean((0, 2))
                    row.append(10 * np.log10(255**2 / error))
            found.append(row)
        found = np.array(found)
        better = found[:, -1] - found[:, 0]
        print(f"noise of {sigma}, {' '.join(codec)}: {found.mean((0, 2)).round(2)} dB, better by {better.mean():.2f}, at least by {better.min():.2f}", flush=True)


main()
