#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What is given back of drawn film that was halved, by filters, by mona and by others.

  anime_like.py ../../build/mona [--crf 18 --crf 23] [--options "--content anime"] [--clip CLIP.mkv]
      [--beside "NAME=COMMAND"]

Renders scenes of cartoons.py that no training sees (1280x720: figures over panned and still backgrounds, frames that
are held, subtitles), halves them by bicubic interpolation, as they are or compressed by x264, and doubles them again.
A COMMAND reads the small frames (yuv420p) and writes luma of the large ones. Printed are the PSNR and SSIM of luma
that FFmpeg's filters measure, of the clip and of its worst scene.
"""
import argparse
import multiprocessing
import os
import re
import subprocess
import tempfile

import numpy as np

import cartoons
import clips
import compressed
import film

WIDTH, HEIGHT = 1280, 720
SEEDS, FRAMES = (30001, 30003, 30006, 30008, 30013, 30016, 30020, 30022), 8  # frames of each scene
DOUBLED = "scale=2*iw:2*ih:flags={}+accurate_rnd"


def scene(seed):
    made = cartoons.Scene(seed, WIDTH, HEIGHT)
    return [compressed.planes(made.frame(time)) for time in range(FRAMES)]


def render(path):
    with multiprocessing.Pool() as pool:
        film.write_raw([frame for frames in pool.map(scene, SEEDS, 1) for frame in frames], path)


def luma(path, out, filters="null"):
    clips.ffmpeg("-i", path, "-vf", filters + ",format=yuv420p,extractplanes=y", "-f", "rawvideo", out)
    return out


def compare(made, original):
    """(PSNR, SSIM, PSNR of the worst scene) of files of luma."""
    raw = ("-f", "rawvideo", "-pix_fmt", "gray", "-s", f"{WIDTH}x{HEIGHT}", "-i")
    ssim, _ = clips.run(("ffmpeg", "-nostdin", *raw, made, *raw, original, "-lavfi", "ssim", "-f", "null", "-"))
    a, b = (np.fromfile(path, np.uint8).reshape(len(SEEDS), FRAMES, HEIGHT, WIDTH) for path in (made, original))
    squares = np.array([[np.mean((x.astype(float) - y)**2) for x, y in zip(*frames)] for frames in zip(a, b)])
    psnr = 10 * np.log10(255**2 / np.maximum(squares, 0.01))
    return psnr.mean(), float(re.search(r"All:([\d.]+)", ssim)[1]), psnr.mean(1).min()


def ways(small, folder, a):
    """Yields (name, file of luma)."""
    out = os.path.join(folder, "made.raw")
    for name, filters in (("bicubic", DOUBLED.format("bicubic")), ("lanczos", DOUBLED.format("lanczos")),
                          ("lanczos, unsharp", DOUBLED.format("lanczos") + ",unsharp")):
        yield name, luma(small, out, filters)
    for beside in a.beside:
        name, command = beside.split("=", 1)
        frames = subprocess.run(["ffmpeg", "-v", "error", "-i", small, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"],
                                check=True, stdout=subprocess.PIPE).stdout
        with open(out, "wb") as f:
            subprocess.run(command.split(), check=True, input=frames, stdout=f, stderr=subprocess.DEVNULL)
        yield name, out
    for options in a.options or [""]:
        made = os.path.join(folder, "made.mkv")
        clips.run((a.mona, "enhance", small, "-o", made, "-y", "-c", "ffv1", "--quiet", *options.split()))
        yield "mona " + options, luma(made, out)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("mona")
    p.add_argument("--crf", action="append", type=int, help="-1: not compressed")
    p.add_argument("--options", action="append", help="of mona enhance; may be repeated")
    p.add_argument("--beside", action="append", default=[])
    p.add_argument("--clip", help="where the clip is kept")
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        original = a.clip or os.path.join(folder, "original.mkv")
        if not os.path.exists(original):
            render(original)
        drawn = luma(original, os.path.join(folder, "original.raw"))
        for crf in a.crf or [-1, 18, 23, 28]:
            small = os.path.join(folder, "small.mkv")
            codec = ("-c:v", "libx264", "-crf", crf) if crf >= 0 else ("-c:v", "ffv1")
            clips.ffmpeg("-i", original, "-vf", "scale=iw/2:ih/2:flags=bicubic+accurate_rnd", *codec, small)
            print(f"x264 CRF {crf}" if crf >= 0 else "not compressed")
            for name, made in ways(small, folder, a):
                psnr, ssim, worst = compare(made, drawn)
                print(f"  {name:52s} {psnr:6.2f} dB {ssim:.4f}  worst scene {worst:6.2f} dB", flush=True)


if __name__ == "__main__":
    main()
