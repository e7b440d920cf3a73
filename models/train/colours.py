#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What mona's colour stage gives back of pictures that lost their colours, beside FFmpeg's filters.

  colours.py ../../build/mona ../../../shared/data/test/bsd100 [--pictures ../curves] [--clip FILE]...

Each picture is spoiled once, as colour.py spoils what it trains on, by a fixed seed, and written as
PNG; mona enhances it, and so do FFmpeg's automatic filters, with the settings that a search found
best for this very set. Printed are the means over all pictures of the PSNR of R, G and B together
and of the colour difference (CIEDE2000, every third pixel), and what happens to the pictures as
they were: PSNR against themselves, mean and worst. --pictures writes those that gain most and least
as colour-good.png and colour-bad.png: original, spoiled, enhanced. --clip enhances a clip and
prints how much the mean change of luma and chroma differs between two frames, at most.
"""
import argparse
import itertools
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch
from skimage import color, io

import colour

SEED = 2024
# name: (how a setting is written, values of each parameter in the order they are tried)
FILTERS = {
    "normalize": ("normalize=smoothing=0:strength={}:independence={}", ((0.25, 0.5, 0.75, 1), (0, 0.5, 1))),
    "histeq": ("histeq=strength={}:intensity={}", ((0.05, 0.1, 0.2, 0.4), (0.05, 0.1, 0.21, 0.4))),
    "grayworld": ("grayworld", ()),
}


def run(*command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")


def psnr(a, b):
    return 10 * np.log10(255**2 / max(np.mean((np.float64(a) - b) ** 2), 1e-3))


def difference(a, b):
    a, b = (color.rgb2lab(picture[::3, ::3]) for picture in (a, b))
    return float(color.deltaE_ciede2000(a, b).mean())


class Set:
    """Pictures of one size in a folder: 000.png, 001.png, ..."""

    def __init__(self, folder, pictures):
        self.folder = folder
        os.mkdir(folder)
        for i, picture in enumerate(pictures):
            io.imsave(f"{folder}/{i:03d}.png", picture, check_contrast=False)

    def through(self, make, work):
        """What `make` makes of them, given two folders."""
        with tempfile.TemporaryDirectory(dir=work) as out:
            make(self.folder, out)
            return [io.imread(f"{out}/{name}") for name in sorted(os.listdir(out)) if name.endswith(".png")]


def filtered(text):
    return lambda before, after: run("ffmpeg", "-nostdin", "-v", "error", "-i", f"{before}/%03d.png", "-vf",
                                     text, "-pix_fmt", "rgb24", "-start_number", 0, f"{after}/%03d.png")


def by_mona(mona, strength):
    return lambda before, after: run(mona, "enhance", before, "--out-dir", after, "-y", "--stages", "colour",
                                     "--colour", strength, "--quiet")


def landscape(path):
    picture = io.imread(path)
    return picture if picture.shape[0] <= picture.shape[1] else picture.transpose(1, 0, 2)


def spoil(picture, rng):
    planes = torch.from_numpy(picture.copy()).permute(2, 0, 1).float() / 255
    return (colour.damage(planes, rng) * 255).round().byte().permute(1, 2, 0).numpy()


def best_setting(form, values, spoiled, good, work):
    def reached(setting):
        made = spoiled.through(filtered(form.format(*setting)), work)
        return np.mean([psnr(a, b) for a, b in zip(made, good)])
    return form.format(*max(itertools.product(*values), key=reached)) if values else form


def row(name, made, kept, good):
    figures = [psnr(a, b) for a, b in zip(made, good)]
    own = [psnr(a, b) for a, b in zip(kept, good)]
    print(f"{name:58s} {np.mean(figures):6.2f} dB {np.mean([difference(a, b) for a, b in zip(made, good)]):6.2f}"
          f"   {np.mean(own):6.2f} dB {min(own):6.2f} dB", flush=True)
    return figures


def write_examples(folder, before, after, good, spoiled, made):
    gains = np.where(np.array(before) < 60, np.array(after) - before, np.nan)  # some had no fault
    for i, kind in ((np.nanargmax(gains), "good"), (np.nanargmin(gains), "bad")):
        strip = np.hstack([picture[::2, ::2] for picture in (good[i], spoiled[i], made[i])])
        io.imsave(f"{folder}/colour-{kind}.png", strip, check_contrast=False)
        print(f"{kind}: picture {i}, {before[i]:.2f} dB, {after[i]:.2f} dB")


def raw_frames(path, work, name):
    """[frames, 3, height, width] of 4:4:4"""
    out = os.path.join(work, name)
    run("ffmpeg", "-nostdin", "-y", "-v", "error", "-i", path, "-fps_mode", "passthrough", "-pix_fmt", "yuv444p",
        "-f", "rawvideo", out)
    size = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries",
                           "stream=width,height", "-of", "csv=p=0", path], stdout=subprocess.PIPE, text=True)
    width, height = (int(word) for word in size.stdout.split("\n")[0].split(",")[:2])
    return np.memmap(out, np.uint8).reshape(-1, 3, height, width)


def steadiness(mona, clip, work):
    small, made = os.path.join(work, "clip.mkv"), os.path.join(work, "made.mkv")
    run("ffmpeg", "-nostdin", "-y", "-v", "error", "-i", clip, "-map", "0:v:0", "-frames:v", 60, "-fps_mode",
        "passthrough", "-pix_fmt", "yuv420p", "-c:v", "ffv1", small)
    run(mona, "enhance", small, "-o", made, "-y", "-c", "ffv1", "--stages", "colour", "--quiet")
    before, after = raw_frames(small, work, "before"), raw_frames(made, work, "after")
    change = np.array([[q.mean() - p.mean() for p, q in zip(a, b)] for a, b in zip(before, after)])
    moves = np.abs(np.diff(change, axis=0)).max(0)
    print(f"{os.path.basename(clip):32s} changed by {change.mean(0).round(1)}, from frame to frame by at most "
          f"{moves.round(3)} steps of Y, U, V", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("mona"), p.add_argument("folder")
    p.add_argument("--pictures")
    p.add_argument("--clip", action="append", default=[])
    p.add_argument("--only-mona", action="store_true", help="without FFmpeg's filters")
    a = p.parse_args()
    torch.set_num_threads(1)
    rng = np.random.default_rng(SEED)
    good = [landscape(os.path.join(a.folder, name)) for name in sorted(os.listdir(a.folder))]
    bad = [spoil(picture, rng) for picture in good]
    with tempfile.TemporaryDirectory() as work:
        untouched, spoiled = Set(work + "/good", good), Set(work + "/bad", bad)
        print(f"{'':58s} spoiled, Delta E    as they were, worst")
        before = row("input", bad, good, good)
        for form, values in () if a.only_mona else FILTERS.values():
            best = best_setting(form, values, spoiled, good, work)
            row(best, spoiled.through(filtered(best), work), untouched.through(filtered(best), work), good)
        for strength in (0.5, 1):
            made, kept = (s.through(by_mona(a.mona, strength), work) for s in (spoiled, untouched))
            after = row(f"mona --colour {strength}", made, kept, good)
        if a.pictures:
            write_examples(a.pictures, before, after, good, bad, made)
        for clip in a.clip:
            steadiness(a.mona, clip, work)


if __name__ == "__main__":
    main()
