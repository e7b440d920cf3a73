#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Film with grain and camera noise: what `mona enhance --stages denoise` gives back, beside hqdn3d and nlmeans at their best.

  film_grain.py ../../build/mona ../../../shared/data/clips [--clip NAME] [--frames 6] [--kind half ...]

Each clip is spoilt in every frame anew: by noise made at a half and at a quarter of the size and enlarged, by grain
of an autoregressive model as AV1 has it, by the grain that SVT-AV1 finds in such film and its decoder adds, and by
a camera's noise, which grows with brightness, compressed by x264 and x265 at CRF 18, 23 and 28. The original is the
clip before that. (AV1 decoded without its grain is none: it still holds three quarters of the noise.) Printed are
the standard deviation of what was added, in steps of 255, the one that mona reports, PSNR and SSIM of luma of each,
and what mona gains on the better of the two filters, with the settings that are best for this very clip.
"""
import argparse
import os
import re
import tempfile

import numpy as np

import clips
import film
import noise

SIGMAS = (5, 10)
LARGEST = 640, 352


def grey_noise(times):
    def frames(shape, rng):
        while True:
            out = noise.enlarged(rng.standard_normal(shape, np.float32), times)
            yield out / noise.rms(out)
    return frames


def autoregressive(shape, rng):
    """Grain that depends on its neighbours above and to the left, as in AV1's film grain with a lag of 2."""
    taps = {(0, 1): .35, (1, 0): .35, (1, 1): -.1, (0, 2): -.05, (2, 0): -.05}
    height, width = shape
    while True:
        # The recursion in the domain of frequencies, where a grain that wraps around is a product.
        response = np.zeros(shape)
        response[0, 0] = 1
        for (y, x), tap in taps.items():
            response[y, x] -= tap
        grain = np.fft.irfft2(np.fft.rfft2(rng.standard_normal(shape)) / np.fft.rfft2(response), s=(height, width))
        yield grain / noise.rms(grain)


def white(shape, rng):
    while True:
        yield rng.standard_normal(shape, np.float32)


def flat(luma):
    return np.ones(luma.shape)


def film_scale(luma):
    """Film's grain is strongest in the middle greys."""
    return 0.4 + 0.6 * np.sin(np.pi * luma / 255)


def camera_scale(luma):
    """Photons' noise: its variance grows with brightness."""
    return np.sqrt(0.1 + 0.9 * luma / 255)


GRAINS = {"half": (grey_noise(2), flat), "quarter": (grey_noise(4), flat), "film": (autoregressive, film_scale),
          "camera": (white, camera_scale)}


def raw(path, shape):
    done = clips.subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"],
                                check=True, stdout=clips.subprocess.PIPE, stdin=clips.subprocess.DEVNULL).stdout
    return np.frombuffer(done, np.uint8).reshape(-1, shape[0] * shape[1] * 3 // 2)


def size(path):
    done = clips.subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "stream=width,height",
                                 "-of", "csv=p=0", path], check=True, stdout=clips.subprocess.PIPE, text=True).stdout
    width, height = map(int, done.strip().strip(",").split(",")[:2])
    return height, width


def spoil(original, kind, sigma, path):
    """Writes the clip with grain; returns the standard deviation of what was added to luma, in steps of 255."""
    shape = size(original)
    height, width = shape
    make, scale = GRAINS[kind]
    rng = np.random.default_rng(1)
    luma_grain, chroma_grain = make(shape, rng), make((height // 2, width // 2), rng)
    out, added = [], []
    for frame in raw(original, shape):
        luma = frame[:height * width].reshape(shape).astype(np.float32)
        chroma = frame[height * width:].reshape(2, height // 2, width // 2).astype(np.float32)
        noisy = np.clip(np.rint(luma + sigma * scale(luma) * next(luma_grain)), 0, 255)
        colours = [np.clip(np.rint(c + sigma / 2 * next(chroma_grain)), 0, 255) for c in chroma]
        added.append(noise.rms(noisy - luma))
        out.append([p.astype(np.uint8) for p in (noisy, *colours)])
    film.write_raw(out, path)
    return float(np.mean(added))


def difference(a, b):
    shape = size(a)
    count = shape[0] * shape[1]
    x, y = raw(a, shape), raw(b, shape)
    return noise.rms(x[:, :count].astype(float) - y[:, :count])


def cases(original, folder, a):
    """Yields (name, spoilt, standard deviation added)."""
    noisy, coded = (os.path.join(folder, n) for n in ("noisy.mkv", "coded.mkv"))
    for kind in a.kind or (*GRAINS, "svt-av1"):
        for sigma in a.sigma or SIGMAS:
            added = spoil(original, "film" if kind == "svt-av1" else kind, sigma, noisy)
            if kind == "svt-av1":
                clips.ffmpeg("-i", noisy, "-c:v", "libsvtav1", "-preset", "6", "-crf", "25", "-svtav1-params",
                             f"film-grain={min(50, 4 * sigma)}", coded)
                clips.ffmpeg("-c:v", "libdav1d", "-filmgrain", "1", "-i", coded, "-c:v", "ffv1", noisy)
                yield f"{kind} {sigma}", noisy, difference(noisy, original)
            elif kind == "camera":
                for codec in ("libx264", "libx265"):
                    for crf in (18, 23, 28):
                        clips.ffmpeg("-i", noisy, "-c:v", codec, "-crf", crf, coded)
                        yield f"{kind} {sigma}, {codec[3:]} CRF {crf}", coded, added
            else:
                yield f"{kind} {sigma}", noisy, added


def reported(mona, clip, folder):
    """The standard deviation that mona found."""
    text, _ = clips.run((mona, "enhance", clip, "-o", os.path.join(folder, "made.mkv"), "-y", "-c", "ffv1", "--stages", "denoise"))
    found = re.search(r"noise ([\d.]+) steps", text)
    return float(found[1]) if found else 0.0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("mona"), p.add_argument("clips")
    p.add_argument("--clip", action="append", choices=clips.CLIPS)
    p.add_argument("--kind", action="append", choices=(*GRAINS, "svt-av1"), help="of grain (default: all)")
    p.add_argument("--sigma", type=int, action="append")
    p.add_argument("--frames", type=int, default=6)
    a = p.parse_args()
    gains = []
    print(f"{'':58s}{'added':>6s}{'found':>6s}   {'spoilt':>15s}   {'better filter':>15s}   {'mona':>15s}   gain")
    for clip in a.clip or clips.CLIPS:
        with tempfile.TemporaryDirectory() as folder:
            original = os.path.join(folder, "original.mkv")
            clips.ffmpeg("-i", os.path.join(a.clips, clip), "-frames:v", a.frames, "-map", "0:v:0", "-vf",
                         f"crop=min(iw\\,{LARGEST[0]}):min(ih\\,{LARGEST[1]}),crop=trunc(iw/4)*4:trunc(ih/4)*4,format=yuv420p",
                         "-c:v", "ffv1", original)
            for name, spoilt, added in cases(original, folder, a):
                case = clips.Case(name, spoilt, original, 1, a.frames)
                before = case.compare(spoilt, "null")
                best = max((case.compare(spoilt, case.search(form, values)) for form, values in film.FILTERS.values()))
                found = reported(a.mona, spoilt, folder)
                after = case.compare(os.path.join(folder, "made.mkv"), "null")
                gains.append(after[0] - best[0])
                print(f"{clip.split('.')[0] + ', ' + name:58s}{added:6.1f}{found:6.1f}   "
                      + "   ".join(f"{psnr:6.2f} dB {ssim:.3f}" for psnr, ssim in (before, best, after)) + f"   {gains[-1]:+.2f}", flush=True)
    print(f"mona gains {np.mean(gains):+.2f} dB in the mean, {min(gains):+.2f} at worst; better in {sum(g > 0 for g in gains)} of {len(gains)}")


if __name__ == "__main__":
    main()
