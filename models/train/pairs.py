#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A page of 20 pairs to look at: Lanczos interpolation and FFmpeg's unsharp beside `mona enhance` by default.

  pairs.py ../../build/mona ../../../shared/data PAGE.html [--options "--tier balanced"]

The twelve clips of film.py, halved and compressed by x264 at CRF 23, and eight held-out photographs, halved, are
doubled. Shown are the original, Lanczos and mona in the window where the two differ most, twice as large as they are;
the pair in which mona gains least on Lanczos comes first. PSNR is of RGB, of the whole picture.
"""
import argparse
import base64
import html
import io
import os
import tempfile

import numpy as np
from PIL import Image

import clips
import data
import film
import pictures

CRF, FRAME, PHOTOGRAPHS = 23, 7, 8
LARGEST = 512
DOUBLED = "scale=2*iw:2*ih:flags=lanczos+accurate_rnd+full_chroma_int,unsharp"
PAGE = """<!doctype html><meta charset="utf-8"><title>mona beside Lanczos and unsharp</title>
<style>body {{ font: 15px sans-serif; margin: 24px; max-width: 760px }} img {{ width: 100% }}</style>
<h1>Original, Lanczos and unsharp, mona</h1>
{}
"""


def rgb(path, frame=0):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "frame.png")
        clips.ffmpeg("-i", path, "-vf", f"select=eq(n\\,{frame}),scale=flags=accurate_rnd+full_chroma_int,format=rgb24",
                     "-frames:v", 1, out)
        return data.read(out)


def filmed(folder, a):
    """Yields (name, original, file to double, its kind, frame to show)."""
    a.frames = FRAME + 1
    for name, original in [*film.real(folder, a), *film.made(folder, a)]:
        small = os.path.join(folder, name + "-small.mkv")
        clips.ffmpeg("-i", original, "-vf", "scale=iw/2:ih/2:flags=bicubic+accurate_rnd", "-c:v", "libx264", "-crf",
                     CRF, small)
        yield name + f", x264 CRF {CRF}", original, small, ".mkv", FRAME


def photographed(folder, a):
    for path in data.held_out(a.data)[::4][:PHOTOGRAPHS]:
        name = os.path.splitext(os.path.basename(path))[0]
        image = data.read(path)[..., :3].astype(float)
        y, x = (max(n - LARGEST, 0) // 2 for n in image.shape[:2])
        image = image[y:y + LARGEST, x:x + LARGEST]
        image = image[:image.shape[0] // 2 * 2, :image.shape[1] // 2 * 2]
        original, small = (os.path.join(folder, name + suffix) for suffix in (".png", "-small.png"))
        Image.fromarray(data.to8(image)).save(original)
        Image.fromarray(data.to8(data.imresize(image, 0.5))).save(small)
        yield name + ", photograph", original, small, ".png", 0


def psnr(a, b):
    return 10 * np.log10(255**2 / np.mean((a - b.astype(float)) ** 2))


def pair(case, folder, a):
    """(mona's gain, HTML)"""
    name, original, small, kind, frame = case
    plain, made = (os.path.join(folder, way + kind) for way in ("plain", "made"))
    lossless = ("-c:v", "ffv1") if kind == ".mkv" else ()
    clips.ffmpeg("-i", small, "-vf", DOUBLED, *lossless, plain)
    clips.run((a.mona, "enhance", small, "-o", made, "-y", "--quiet", *(("-c", "ffv1") if lossless else ()),
               *a.options.split()))
    shown = [rgb(path, frame) for path in (original, plain, made)]
    window = pictures.most_different(shown[1].mean(2), shown[2].mean(2))
    strip = np.hstack([image[window] for image in shown]).repeat(2, 0).repeat(2, 1)
    file = io.BytesIO()
    Image.fromarray(strip).save(file, "PNG")
    one, other = (psnr(shown[0], image) for image in shown[1:])
    text = f"{html.escape(name)}: {one:.2f} dB, {other:.2f} dB"
    print(text, flush=True)
    return other - one, f'<p>{text}<br><img alt="" src="data:image/png;base64,' \
        f'{base64.b64encode(file.getvalue()).decode()}"></p>'


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("mona"), p.add_argument("data"), p.add_argument("page")
    p.add_argument("--options", default="", help="of mona enhance")
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [pair(case, folder, a) for cases in (filmed, photographed) for case in cases(folder, a)]
    with open(a.page, "w") as f:
        f.write(PAGE.format("\n".join(text for _, text in sorted(rows))))


if __name__ == "__main__":
    main()
