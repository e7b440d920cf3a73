#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the speed of two builds of mona, and fails where the second is slower.

  gate.py BASE BUILD [--rounds 5] [--limit 3] [--rows TEXT,...]

BASE and BUILD are build folders. Each round runs every row with one build right after the other, in an order that
alternates. A row has two ratios of BUILD's time to BASE's: that of the quickest runs of all rounds, and the median
over rounds of the ratio of a pair. It is slower if both are above the limit, in per cent, by more than the noise: the
ratio of the quickest runs of BASE alone, in every second round and in the others. A row that looks slower is run up to
three times as often before that is said, and one whose noise is above the limit is marked.

Of rows with AVX2, valgrind counts the instructions of a frame, where it is installed: no other program disturbs
that. A row with more of them beyond the limit fails, too, unless it takes less time.

Networks have random weights (make_networks.py, make_resnet.py), and each build compiles them for itself. Needs Debian's
python3-onnx and python3-numpy for those. Exit status: 0, or 1 if a row is slower.
"""
import argparse
import collections
import json
import os
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = {"resnet50": ["make_resnet.py"]}  # of other networks: make_networks.py NAME

# model, size: of a network, whose quickest frame is timed; command: another one, which is timed as a whole. {name} in
# either is a file.
Row = collections.namedtuple("Row", "name command model size cpu")


def network(model, size, cpu="best"):
    return Row(f"{model.strip('{}')} {size} {cpu}", None, model, size, cpu)


def command(name, *arguments):
    return Row(name, arguments, None, None, None)


ROWS = [
    network("sr_x2_fast", "960x540"),
    network("sr_x2_fast", "960x540", "avx512"),
    network("sr_x2_fast", "320x180", "avx2"),
    network("sr_x2_balanced", "640x360"),
    network("denoise_fast", "960x540"),
    network("{resnet50_int8}", "224x224"),
    network("{resnet50_int8}", "224x224", "avx512"),
    network("{resnet50_int8}", "224x224", "avx2"),
    network("{resnet50_fp16}", "224x224"),
    network("{mobilenet_v2_int8}", "224x224", "avx512"),
    network("{mobilenet_v2_int8}", "224x224", "avx2"),
    command("PNG to PNG", "enhance", "{still0001.png}", "-o", "{out}.png", "-y"),
    command("JPEG to JPEG", "enhance", "{still0001.jpg}", "-o", "{out}.jpg", "-y"),
    command("film", "enhance", "{scene.y4m}", "-o", "{out}.mkv", "-y", "--preset", "ultrafast"),
    command("start-up", "--version"),
]


class Build:
    """A build folder, and a folder of its own for what it compiles and writes. common: files that both builds read."""

    def __init__(self, folder, common, own):
        self.mona, self.common, self.own = os.path.join(folder, "mona"), common, own
        os.mkdir(own)

    def run(self, *arguments):
        return run([self.mona, *arguments])

    def file(self, name):
        """What {name} stands for; networks are compiled when they are asked for."""
        if name == "out" or name.endswith("npy"):
            return os.path.join(self.own, name)
        if "." in name:
            return os.path.join(self.common, name)
        compiled, (stem, precision) = os.path.join(self.own, name + ".mona"), name.rsplit("_", 1)
        if not os.path.exists(compiled):
            how = ["--calibrate", self.file("scene.y4m"), "--images", "1"] if precision == "int8" else []
            self.run("compile", onnx_file(stem, self.common), "-o", compiled, "--input-type=u8", "--precision", precision, *how)
        return compiled

    def filled(self, text):
        return re.sub(r"{([\w.]+)}", lambda m: self.file(m[1]), text)

    def seconds(self, row):
        """Of a network's quickest frame, or of a whole run."""
        if row.model:
            cpu = ["--cpu", row.cpu] if row.cpu != "best" else []
            out = json.loads(self.run("bench", self.filled(row.model), "--size", row.size, "-j", "1", "--iterations", "20", "--json", *cpu))
            return min(out["samples_ms"]) / 1e3
        began = time.monotonic()
        self.run(*map(self.filled, row.command))
        return time.monotonic() - began

    def instructions(self, row):
        """Of a frame: what a run of three takes more than a run of one, halved."""
        width, height = map(int, row.size.split("x"))
        counts = []
        for frames in 1, 3:
            write_noise(self.file("in.npy"), frames, 1 if row.model == "sr_x2_fast" else 3, height, width)
            done = run(["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", self.mona, "run",
                        self.filled(row.model), "-i", self.file("in.npy"), "-o", self.file("out.npy"), "--cpu", row.cpu, "-j", "1"])
            counts.append(int(re.search(r"I +refs: +([\d,]+)", done.stderr)[1].replace(",", "")))
        return (counts[1] - counts[0]) / 2


def run(arguments):
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if done.returncode:
        sys.exit(f"gate.py: failed: {' '.join(arguments)}: {done.stderr.strip()[-300:]}")
    return done if arguments[0] == "valgrind" else done.stdout


def write_noise(path, frames, channels, height, width):
    """Random bytes as a .npy file."""
    head = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({frames}, {channels}, {height}, {width}), }}".ljust(117) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + os.urandom(frames * channels * height * width))


def onnx_file(stem, folder):
    path = os.path.join(folder, stem + ".onnx")
    if not os.path.exists(path):
        script, *more = SCRIPTS.get(stem, ["make_networks.py", stem])
        run([sys.executable, os.path.join(HERE, script), *more, path])
    return path


def make_pictures(build, scene):
    """A film of 12 frames, and its first one as stills."""
    with open(build.file("scene.y4m"), "wb") as f:
        subprocess.run([scene, "12"], stdout=f, check=True)
    for end in "png", "jpg":
        build.run("enhance", build.file("scene.y4m"), "-t", "0.04", "-o", build.file("still%04d." + end))


def ratios(pairs):
    """BUILD's time to BASE's: of the quickest runs, and the median of pairs."""
    return min(b for _, b in pairs) / min(a for a, _ in pairs), statistics.median(b / a for a, b in pairs)


def noise(pairs):
    halves = [min(a for a, _ in pairs[i::2]) for i in (0, 1)]
    return max(halves) / min(halves) - 1


def measured(row, builds, rounds, limit):
    """Pairs of times; of rows that look slower up to three times as many."""
    pairs = []
    while len(pairs) < rounds or (len(pairs) < 3 * rounds and min(ratios(pairs)) > limit):
        order = (0, 1) if len(pairs) % 2 else (1, 0)
        times = {i: builds[i].seconds(row) for i in order}
        pairs.append((times[0], times[1]))
    return pairs


def judged(row, builds, rounds, limit):
    """Prints a row, and returns whether BUILD is slower."""
    pairs = measured(row, builds, rounds, limit)
    quickest, median = ratios(pairs)
    more, counted = 1, ""
    if row.cpu == "avx2" and shutil.which("valgrind"):
        before, after = (b.instructions(row) for b in builds)
        more, counted = after / before, f"{after / before:14.4f}"
    bad = min(quickest, median) > limit + noise(pairs) or (more > limit and min(quickest, median) > 1)
    verdict = "slower" if bad else "noisy" if 1 + noise(pairs) > limit else ""
    print(f"{row.name:36}{1e3 * min(a for a, _ in pairs):10.2f}{1e3 * min(b for _, b in pairs):10.2f}{quickest:10.3f}{median:9.3f}"
          f"{noise(pairs):8.3f}{len(pairs):7}  {verdict:6}{counted}", flush=True)
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", metavar="BASE")
    parser.add_argument("build", metavar="BUILD")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=3, help="per cent")
    parser.add_argument("--rows", default="", metavar="TEXT,...", help="only rows whose names contain one of these")
    a = parser.parse_args()
    if a.rounds < 2:
        parser.error("expected --rounds of at least 2")
    rows = [r for r in ROWS if any(t in r.name for t in a.rows.split(","))]
    if not rows:
        sys.exit("gate.py: no such row; there are " + ", ".join(r.name for r in ROWS))
    with tempfile.TemporaryDirectory() as folder:
        builds = [Build(f, folder, os.path.join(folder, n)) for n, f in (("base", a.base), ("build", a.build))]
        make_pictures(builds[1], os.path.join(a.build, "scene"))
        print(f"{'':36}{'BASE ms':>10}{'BUILD ms':>10}{'quickest':>10}{'median':>9}{'noise':>8}{'rounds':>7}{'instructions':>22}")
        bad = [r.name for r in rows if judged(r, builds, a.rounds, 1 + a.limit / 100)]
    if bad:
        sys.exit(f"gate.py: slower by more than {a.limit:g} %: {', '.join(bad)}")


if __name__ == "__main__":
    main()
