#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Whether a look is one: 20 pairs, each doubled by Lanczos interpolation and unsharp, by mona, and by mona with
networks for a look, for clean pictures, film and drawn film.

  looks.py ../../build/mona ../../../shared/data PAGE.html CLEAN.mona FILM.mona DRAWN.mona --judges PACKAGE

The film of pairs.py, half of its photographs, and four scenes that cartoons.py draws, compressed as film is, beside
the default for drawn film. Printed and written beside the pictures are how far each is from the original for the two
judges of judges.py, whom no training sees, and its energy of fine detail, which the look was trained for: times the
original's; the page begins with the pairs that gain least.
"""
import argparse
import base64
import html
import io
import os
import tempfile

import numpy as np
import torch
from PIL import Image

import anime_like
import cartoons
import clips
import compressed
import data
import film
import judges
import look
import pairs
import pictures

WAYS = "unsharp", "default", "look"
DRAWN = 640, 352  # size
PAGE = """<!doctype html><meta charset="utf-8"><title>A look of mona</title>
<style>body {{ font: 15px sans-serif; margin: 24px }} img {{ width: 100%; max-width: 1100px }}</style>
<h1>Original, Lanczos and unsharp, mona, mona with the look</h1>
<p>{}</p>
{}
"""


def drawn(folder, a):
    """Yields cases as pairs.filmed does."""
    for seed in anime_like.SEEDS[::2]:
        scene = cartoons.Scene(seed, *DRAWN)
        original, small = (os.path.join(folder, f"drawn-{seed}{suffix}.mkv") for suffix in ("", "-small"))
        film.write_raw([compressed.planes(scene.frame(time)) for time in range(pairs.FRAME + 1)], original)
        clips.ffmpeg("-i", original, "-vf", "scale=iw/2:ih/2:flags=bicubic+accurate_rnd", "-c:v", "libx264", "-crf",
                     pairs.CRF, small)
        yield f"drawn {seed}, x264 CRF {pairs.CRF}", original, small, ".mkv", pairs.FRAME


def cases(folder, a):
    yield from pairs.filmed(folder, a)
    yield from list(pairs.photographed(folder, a))[::2]
    yield from drawn(folder, a)


def shown(case, folder, a):
    """[original, then each way] as RGB."""
    name, original, small, kind, frame = case
    made = {way: os.path.join(folder, way + kind) for way in WAYS}
    lossless = ("-c:v", "ffv1") if kind == ".mkv" else ()
    clips.ffmpeg("-i", small, "-vf", pairs.DOUBLED, *lossless, made["unsharp"])
    network = a.drawn if name.startswith("drawn ") else a.clean if kind == ".png" else a.film
    content = ("--content", "anime") if name.startswith("drawn ") else ()
    for way, more in (("default", ()), ("look", ("--sr", network))):
        clips.run((a.mona, "enhance", small, "-o", made[way], "-y", "--quiet", *(("-c", "ffv1") if lossless else ()),
                   *content, *more))
    return [pairs.rgb(path, frame) for path in (original, *made.values())]


def judged(images, panel):
    """{judge: [of each way]}"""
    rgb = [torch.from_numpy(image).permute(2, 0, 1)[None] / 255 for image in images]
    out = {judge.kind: [judge.distance(made, rgb[0]) for made in rgb[1:]] for judge in panel}
    luma = [torch.from_numpy(data.luma(image) / 255).float()[None, None] for image in images]
    energies = [look.energies(x) for x in luma]
    out["energy"] = [float(np.mean([(m.mean() / o.mean()).item() for m, o in zip(made, energies[0])]))
                     for made in energies[1:]]
    return out


def row(name, images, found):
    """(gain, what is printed, HTML): gain is the least of what both judges see in it, beside both others."""
    gain = min(min(one[:2]) / one[2] for judge, one in found.items() if judge != "energy")
    window = pictures.most_different(images[2].mean(2), images[3].mean(2))
    strip = np.hstack([image[window] for image in images]).repeat(2, 0).repeat(2, 1)
    file = io.BytesIO()
    Image.fromarray(strip).save(file, "PNG")
    figures = "; ".join(f"{judge} " + ", ".join(f"{v:.4f}" if judge != "energy" else f"{v:.2f}" for v in one)
                        for judge, one in found.items())
    text = f"{name}: {figures}; " + ", ".join(f"{pairs.psnr(images[0], image):.2f}" for image in images[1:]) + " dB"
    return gain, text, f'<p>{html.escape(text)}<br><img alt="" src="data:image/png;base64,' \
        f'{base64.b64encode(file.getvalue()).decode()}"></p>'


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for word in ("mona", "data", "page", "clean", "film", "drawn"):
        p.add_argument(word)
    p.add_argument("--judges", required=True, help="folder of the unpacked npm package nsfwjs")
    p.add_argument("--pictures", help="folder for a PNG of each pair, too")
    a = p.parse_args()
    torch.set_num_threads(1)
    panel = judges.load(a.judges)
    rows = []
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        for case in cases(folder, a):
            images = shown(case, folder, a)
            rows.append(row(case[0], images, judged(images, panel)))
            print(f"{rows[-1][0]:.3f} {rows[-1][1]}", flush=True)
            if a.pictures:
                for way, image in zip(("original", *WAYS), images):
                    Image.fromarray(image).save(os.path.join(a.pictures, f"{len(rows):02d}-{way}.png"))
    rows.sort()
    told = f"nearer to the original than both for both judges: {sum(gain > 1 for gain, *_ in rows)} of {len(rows)}"
    print(told)
    with open(a.page, "w") as f:
        f.write(PAGE.format(told, "\n".join(text for *_, text in rows)))


if __name__ == "__main__":
    main()
