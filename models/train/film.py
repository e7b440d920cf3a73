#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Whether `mona enhance`, with its default settings, is ever worse than plain filters.

  film.py ../../build/mona ../../../shared/data [--codec x264] [--crf 18 --crf 23 --crf 28] [--frames 8]

Six real clips and six made ones (a camera that moves over held-out photographs full of texture, over text and
over a drawing) are halved by bicubic interpolation, compressed, and doubled: by Lanczos interpolation alone, after
hqdn3d and after nlmeans, each with the settings that are best for this very clip, and by mona. Printed are PSNR and
SSIM of luma, as FFmpeg's filters measure them, and flicker where the original stands still (`mona compare`) beside
that of bicubic interpolation; then what mona gains on the best of the others in each.
"""
import argparse
import json
import os
import subprocess
import tempfile

import numpy as np

import clips
import compressed
import data
import rendered

MOVING = ("ubuntu_grass-by-jeremy-hill_0", "buildings_stone-facades-01_0", "buildings_brick-buildings-05_0",
          "ubuntu_macro-shot-of-black-animal-by-gene-taylor_0", "solus_red-cherry-leaves_0")
LARGEST = 640, 352  # of what is measured of a frame, from its middle
# Coarser than clips.py's: few settings are ever the best.
FILTERS = {
    "hqdn3d": ("hqdn3d={0}:{0}:{1}:{1}", ((0, 1, 2, 4), (0, 2, 4, 8))),
    "nlmeans": ("nlmeans=s={0}:p=5:r=7", ((1, 1.5, 2, 3),)),
}


def write_raw(frames, path):
    """Planes of frames as a lossless clip."""
    height, width = frames[0][0].shape
    subprocess.run(["ffmpeg", "-y", "-v", "error", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{width}x{height}",
                    "-i", "-", "-c:v", "ffv1", path], check=True, input=b"".join(p.tobytes() for f in frames for p in f))


def made(folder, a):
    """Yields (name, path) of the made clips."""
    pictures = [(name[:-2], data.read(os.path.join(data.photos(a.data), name + ".webp"))[..., :3].astype(float))
                for name in MOVING]
    for n, (name, rgb) in enumerate(pictures + [("drawn", rendered.picture(np.random.default_rng(99)))]):
        path = os.path.join(folder, name + ".mkv")
        frames = compressed.window(rgb, np.random.default_rng(100 + n), (0.5, 0.5))
        write_raw([compressed.planes(f) for f in frames[:a.frames]], path)
        yield name, path


def real(folder, a):
    for clip in clips.CLIPS:
        path = os.path.join(folder, clip.split(".")[0] + ".mkv")
        clips.ffmpeg("-i", os.path.join(a.data, "clips", clip), "-frames:v", a.frames, "-map", "0:v:0", "-vf",
                     f"crop=min(iw\\,{LARGEST[0]}):min(ih\\,{LARGEST[1]}),crop=trunc(iw/4)*4:trunc(ih/4)*4,"
                     "format=yuv420p", "-c:v", "ffv1", path)
        yield clip.split(".")[0], path


def flicker(mona, original, path):
    rows = json.loads(subprocess.run([mona, "compare", original, path, "--json"], check=True,
                                     stdout=subprocess.PIPE).stdout)["planes"]
    return rows[0].get("flicker") or 0.0


def measured(case, folder, a):
    """{name: (PSNR, SSIM, flicker)}"""
    def through(filters, by):
        path = os.path.join(folder, "through.mkv")
        clips.ffmpeg("-i", case.damaged, "-vf", filters + case.enlarged.replace("lanczos", by), "-c:v", "ffv1", path)
        return path

    out = {"bicubic": through("null", "bicubic")}
    out = {"bicubic": (*case.compare(out["bicubic"], "null"), flicker(a.mona, case.original, out["bicubic"]))}
    for name, (form, values) in {"lanczos": ("null", ((),)), **FILTERS}.items():
        best = case.search(form, values) if name != "lanczos" else "null"
        out[name] = *case.compare(case.damaged, best + case.enlarged), 0.0
    path = os.path.join(folder, "mona.mkv")
    clips.run((a.mona, "enhance", case.damaged, "-o", path, "-y", "-c", "ffv1", "--quiet", *a.options.split()))
    out["mona"] = *case.compare(path, "null"), flicker(a.mona, case.original, path)
    return out


def gains(rows):
    """mona's PSNR, SSIM over the best of the others; flicker over bicubic's."""
    others = [rows[name] for name in ("lanczos", *FILTERS)]
    return [rows["mona"][i] - max(o[i] for o in others) for i in (0, 1)] + [rows["mona"][2] - rows["bicubic"][2]]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("mona"), p.add_argument("data")
    p.add_argument("--codec", action="append", choices=("x264", "x265"))
    p.add_argument("--crf", action="append", type=int)
    p.add_argument("--frames", type=int, default=8)
    p.add_argument("--options", default="", help="of mona enhance")
    p.add_argument("--json", help="file for all figures")
    a = p.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, original in [*real(folder, a), *made(folder, a)]:
            for codec in a.codec or ["x264"]:
                for crf in a.crf or [18, 23, 28]:
                    small = os.path.join(folder, "small.mkv")
                    clips.ffmpeg("-i", original, "-vf", "scale=iw/2:ih/2:flags=bicubic+accurate_rnd", "-c:v",
                                 "lib" + codec, "-crf", crf,
                                 *(("-x265-params", "log-level=none") if codec == "x265" else ()), small)
                    rows = measured(clips.Case(name, small, original, 2, a.frames, "lanczos"), folder, a)
                    found[f"{name} {codec} {crf}"] = rows
                    text = " ".join(f"{way} {v[0]:.2f} {v[1]:.4f}" for way, v in rows.items())
                    print(f"{name:44.44s} {codec} {crf} {text} | {gains(rows)[0]:+.2f} dB {gains(rows)[1]:+.4f} "
                          f"flicker {rows['mona'][2]:.2f} of {rows['bicubic'][2]:.2f}", flush=True)
    for crf in a.crf or [18, 23, 28]:
        all_gains = np.array([gains(rows) for name, rows in found.items() if name.endswith(f" {crf}")])
        print(f"CRF {crf}: mean {all_gains[:, 0].mean():+.3f} dB {all_gains[:, 1].mean():+.4f}, worst "
              f"{all_gains[:, 0].min():+.3f} dB {all_gains[:, 1].min():+.4f}, flicker at most "
              f"{all_gains[:, 2].max():+.2f} above bicubic's, above it on {(all_gains[:, 2] > 0).sum()} of "
              f"{len(all_gains)}")
    if a.json:
        with open(a.json, "w") as f:
            json.dump(found, f, indent=1)


if __name__ == "__main__":
    main()
