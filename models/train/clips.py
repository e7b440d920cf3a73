#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a network gives back of what compression took from film, beside FFmpeg's denoisers.

  clips.py ../../build/mona ../../../shared/data/clips [--scale 2] [--crf 32] [--frames 24]

The first frames of each clip are halved (--scale 2, bicubic) or left at their size (--scale 1),
compressed by x264 at one CRF, and restored: by mona, and by hqdn3d and nlmeans with the settings
that a search found best for this very clip (in its first few frames; the figures are of all),
enlarged by bicubic interpolation. With --scale 1 there
is also carphone_distorted, compressed by others, against carphone_pristine. Printed are the PSNR
and SSIM of luma that FFmpeg's filters measure against the original, and the processor time of a
frame, reading included, of all threads together.
"""
import argparse
import itertools
import os
import re
import resource
import subprocess
import sys
import tempfile

CLIPS = ("bedroom_540p.mp4", "bikes_272p.mp4", "bunny_720p_audio.mp4", "coffee_720p_audio.mp4",
         "park_joy_480x270.y4m", "carphone_pristine_sar.mp4")
# name: (how a setting is written, values of each parameter in the order they are tried)
FILTERS = {
    "hqdn3d": ("hqdn3d={0}:{0}:{1}:{1}", ((0, 0.5, 1, 2, 4, 7), (0, 1, 2, 4, 8, 14))),
    "nlmeans": ("nlmeans=s={0}:p={1}:r={2}", ((1, 1.5, 2, 3, 5), (3, 7), (5, 9))),
}
SEARCHED = 5  # frames that settings are searched in


def run(command):
    """(what it says, processor seconds)"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in command], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stderr, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ffmpeg(*words):
    return run(("ffmpeg", "-nostdin", "-y", "-v", "error") + words)


class Case:
    """A damaged clip and its original."""

    def __init__(self, name, damaged, original, scale, frames, by="bicubic"):
        self.name, self.damaged, self.original, self.frames = name, damaged, original, frames
        self.enlarged = f",scale=2*iw:2*ih:flags={by}+accurate_rnd" * (scale == 2)

    def compare(self, path, filters, frames=10**6):
        """(PSNR, SSIM) of luma of the first frames"""
        # Frames are paired by their numbers, in one time base: containers have their own.
        first, number = f"trim=end_frame={frames}", "settb=1/1000,setpts=N"
        graph = (f"[0:v]{first},{filters},{number},split[a][b];[1:v]{first},{number},split[c][d];"
                 "[a][c]psnr[e];[b][d]ssim[f]")
        text, _ = run(("ffmpeg", "-nostdin", "-i", path, "-i", self.original, "-filter_complex", graph,
                       "-map", "[e]", "-f", "null", "-", "-map", "[f]", "-f", "null", "-"))
        return (float(re.search(r"PSNR y:([\d.]+)", text)[1]),
                float(re.search(r"SSIM Y:([\d.]+)", text)[1]))

    def milliseconds(self, command):
        return 1000 * min(run(command)[1] for _ in range(2)) / self.frames

    def filtered(self, filters):
        chain = filters + self.enlarged
        command = ("ffmpeg", "-nostdin", "-v", "error", "-i", self.damaged, "-vf", chain, "-f", "null", "-")
        return *self.compare(self.damaged, chain), self.milliseconds(command)

    def search(self, form, values):
        """The setting with the best PSNR: each parameter in turn, until none gets better."""
        known, best = {}, [v[len(v) // 2 - 1] for v in values]

        def reached(setting):
            text = form.format(*setting)
            if text not in known:
                known[text] = self.compare(self.damaged, text + self.enlarged, SEARCHED)[0]
            return known[text]

        for i in itertools.cycle(range(len(values))):
            tried = [best[:i] + [v] + best[i + 1:] for v in values[i]]
            last, best = best, max(tried, key=reached)
            if i == len(values) - 1 and last == best:
                return form.format(*best)

    def mona(self, mona, folder, words):
        made = os.path.join(folder, "made.mkv")
        run((mona, "enhance", self.damaged, "-o", made, "-y", "-c", "ffv1", "--quiet") + words)
        command = (mona, "enhance", self.damaged, "-o", "-", "-f", "rawvideo", "--quiet") + words
        return *self.compare(made, "null"), self.milliseconds(command)


def damage(clip, folder, a):
    original, small = (os.path.join(folder, name) for name in ("original.mkv", "small.mkv"))
    ffmpeg("-i", os.path.join(a.clips, clip), "-frames:v", a.frames, "-map", "0:v:0", "-vf",
           "crop=trunc(iw/4)*4:trunc(ih/4)*4,format=yuv420p", "-c:v", "ffv1", original)
    half = ",scale=iw/2:ih/2:flags=bicubic+accurate_rnd" * (a.scale == 2)
    ffmpeg("-i", original, "-vf", "null" + half, "-c:v", "libx264", "-crf", a.crf, small)
    return Case(f"{clip.split('.')[0]}, x264 CRF {a.crf}", small, original, a.scale, a.frames)


def cases(folder, a):
    for clip in CLIPS:
        yield damage(clip, folder, a)
    if a.scale == 1:
        yield Case("carphone_distorted", os.path.join(a.clips, "carphone_distorted_sar.mp4"),
                   os.path.join(a.clips, "carphone_pristine_sar.mp4"), 1, 120)


def ways(case, folder, a):
    """Yields (name, (PSNR, SSIM, milliseconds))"""
    yield "input" + ", bicubic" * (a.scale == 2), case.filtered("null")
    for form, values in FILTERS.values():
        best = case.search(form, values)
        yield best, case.filtered(best)
    stage = "sr" if a.scale == 2 else "denoise"
    for words in a.mona_options or [""]:
        yield f"mona {words}", case.mona(a.mona, folder, ("--stages", stage, *words.split()))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("mona"), p.add_argument("clips")
    p.add_argument("--scale", type=int, choices=(1, 2), default=2)
    p.add_argument("--crf", type=int, default=32)
    p.add_argument("--frames", type=int, default=24)
    p.add_argument("--mona-options", action="append", help="options of mona enhance; may be repeated")
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(folder, a):
            print(case.name)
            for name, (psnr, ssim, ms) in ways(case, folder, a):
                print(f"  {name:42s} {psnr:7.2f} dB {ssim:7.4f} {ms:9.2f} ms", flush=True)


if __name__ == "__main__":
    main()
