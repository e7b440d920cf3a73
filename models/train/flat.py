#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How flat the flat parts of enlarged pictures are, and what makes them flatter.

  flat.py ../../build/mona sr_x2_tiny
  flat.py ../../build/mona sr_x2_tiny --settle

Planes of each level of luma, with noise of one step, go through the networks as shipped (../NAME.mona). Printed is the
mean error, in steps, of some levels and of each of the output samples that lie over one of the input's: where these
differ, a pattern stands in all that is flat. --settle takes each one's mean from its bias, the tail's, in ../NAME.onnx;
../compile.sh and make bring it into the binary.
"""
import argparse
import os
import subprocess
import tempfile

import numpy as np

import export
import nets

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
LEVELS = np.arange(16, 236)
BANDS = (16, 46), (46, 100), (100, 180), (180, 236)
SIDE, REACH = 64, 14  # of a plane; how far its border is seen
SIGMA = 1


def errors(mona, name):
    """[level, output sample over one of the input's]"""
    scale = nets.NETS[name].scale
    noise = np.random.default_rng(3).standard_normal((256, 1, SIDE, SIDE))[LEVELS]
    planes = np.rint(LEVELS[:, None, None, None] + SIGMA * noise).astype(np.uint8)
    with tempfile.TemporaryDirectory() as folder:
        seen, made = (os.path.join(folder, part + ".npy") for part in ("seen", "made"))
        np.save(seen, planes)
        subprocess.run([mona, "run", os.path.join(MODELS, name + ".mona"), "-i", seen, "-o", made, "--raw"], check=True)
        made = np.load(made).reshape(len(LEVELS), SIDE, scale, SIDE, scale)
    inside = slice(REACH, -REACH)
    means = made[:, inside, :, inside].mean((1, 3)).reshape(len(LEVELS), -1)
    return means - planes[:, 0, inside, inside].mean((1, 2))[:, None]


def settle(name, off):
    path = os.path.join(MODELS, name + ".onnx")
    weights = nets.read_weights(path)
    weights["tail.bias"] = np.float32(weights["tail.bias"] - np.float32(off.round(4)) / 255)
    export.write(export.build(name, weights), path)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("mona")
    p.add_argument("names", nargs="+", choices=sorted(n for n, spec in nets.NETS.items() if spec.task == "sr"))
    p.add_argument("--settle", action="store_true")
    a = p.parse_args()
    for name in a.names:
        off = errors(a.mona, name)
        bands = ", ".join(f"{first} to {end - 1} {off[(LEVELS >= first) & (LEVELS < end)].mean():.3f}"
                          for first, end in BANDS)
        print(f"{name}: levels {bands}; samples " + " ".join(f"{v:.2f}" for v in off.mean(0)))
        if a.settle:
            settle(name, off.mean(0))


if __name__ == "__main__":
    main()
