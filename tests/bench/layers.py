#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times INT8 layers of mona and of oneDNN in turns, on one thread, and prints one table.

  layers.py BUILD [--rounds 5] [--layers TEXT,...]

Both run six such layers or pairs, one after the other, each with weights of its own, as networks have them: a single layer's would
stay in the cache, where no network finds them. mona has them in a network, on a map that a first layer makes of a picture; all of its time
counts, and all of its products. oneDNN runs them alone, in the layouts that it chooses (onednn.c). A figure is that of the
quickest run of all rounds. Every column is of one instruction set on both
sides; those that this CPU does not have are left out. oneDNN's AVX2 is quicker than exact sums allow: pairs of products saturate.
Needs Debian's libdnnl-dev, python3-onnx and python3-numpy.
"""
import argparse
import collections
import json
import os
import subprocess
import sys

import network

DEPTH = 6  # times the layers of a row stand one after the other

# steps: (kernel, inputs, outputs, groups), one after the other, the last as wide as the first
Layer = collections.namedtuple("Layer", "name height width steps")


def square(channels, height, width):
    return Layer(f"3x3 {channels}, {width}x{height}", height, width, [(3, channels, channels, 1)])


def bottleneck(wide, narrow, side):
    return Layer(f"1x1 {wide} -> {narrow} -> {wide}, {side}x{side}", side, side, [(1, wide, narrow, 1), (1, narrow, wide, 1)])


LAYERS = [square(16, 540, 960), square(28, 540, 960), square(32, 540, 960), square(64, 540, 960), bottleneck(256, 64, 56), square(64, 56, 56),
          square(128, 28, 28), square(256, 14, 14), bottleneck(1024, 256, 14), square(512, 7, 7),
          Layer("depthwise 3x3 96, 56x56", 56, 56, [(3, 96, 96, 96)])]

# mona's name of an instruction set, oneDNN's, and what onednn.c prints.
ISAS = [("avx2", "AVX2", "avx2"), ("avx512", "AVX512_CORE_VNNI", "vnni"), ("amx", "AVX512_CORE_AMX", "amx")]


def has(mona, isa):
    """Whether this CPU has an instruction set of ISAS: where it does not, --cpu is refused."""
    return not subprocess.run([mona, "bench", "sr_x2_fast", "--size", "32x32", "--cpu", isa, "-j", "1", "--iterations", "1"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode


def run(command, **environment):
    done = subprocess.run(command, stdout=subprocess.PIPE, universal_newlines=True, env={**os.environ, **environment})
    if done.returncode:
        sys.exit(f"layers.py: failed: {' '.join(command)}")
    return done.stdout


def gmac(layer):
    return sum(k * k * i * o // g for k, i, o, g in layer.steps) * layer.height * layer.width / 1e9


def compiled(layer, mona, folder):
    stem = os.path.join(folder, "layer_" + "".join(c if c.isalnum() else "_" for c in layer.name))
    net = network.Net("layers", 3, layer.height, layer.width, False)
    x = net.conv(net.x, layer.steps[0][1], act="relu")
    for kernel, _, outputs, groups in layer.steps * DEPTH:
        x = net.conv(x, outputs, kernel, groups=groups, act="relu")
    net.output(net.mean(x))
    net.save(stem + ".onnx")
    run([mona, "compile", stem + ".onnx", "-o", stem + ".mona", "--input-type=u8", "--precision", "int8", "--calibrate", os.path.join(folder, "scene.y4m"),
         "--images", "1"])
    return stem + ".mona"


def of_mona(layer, model, mona, isa):
    """GMAC/s."""
    out = json.loads(run([mona, "bench", model, "--size", f"{layer.width}x{layer.height}", "--cpu", isa, "-j", "1", "--iterations", "20", "--json"]))
    return out["gmac"] / min(out["samples_ms"]) * 1e3


def of_onednn(layer, program, limit, isa):
    numbers = [str(n) for k, i, o, g in layer.steps * DEPTH for n in (k, i, o, g, layer.height, layer.width)]
    name, time = run([program, *numbers], ONEDNN_MAX_CPU_ISA=limit, OMP_NUM_THREADS="1").split()
    return DEPTH * gmac(layer) / float(time) * 1e3 if name == isa else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--layers", default="", metavar="TEXT,...", help="only layers whose names contain one of these")
    a = parser.parse_args()
    network.SMALL = 16
    mona, folder = os.path.join(a.build, "mona"), os.path.join(a.build, "bench")
    with open(os.path.join(folder, "scene.y4m"), "wb") as f:
        subprocess.run([os.path.join(a.build, "scene"), "3"], stdout=f, check=True)
    isas = [i for i in ISAS if has(mona, i[0])]
    print(f"{'GMAC/s':32}" + "".join(f"{'mona ' + ours:>13}{'oneDNN ' + theirs:>13}{'ratio':>7}" for ours, _, theirs in isas))
    for layer in LAYERS:
        if not any(t in layer.name for t in a.layers.split(",")):
            continue
        model, best = compiled(layer, mona, folder), {}
        for _ in range(a.rounds):
            for ours, limit, theirs in isas:
                for who, figure in (("mona", of_mona(layer, model, mona, ours)),
                                    ("oneDNN", of_onednn(layer, os.path.join(folder, "onednn"), limit, theirs))):
                    best[who, ours] = max(figure, best.get((who, ours), 0))
        line = ""
        for ours, _, _ in isas:
            m, o = best["mona", ours], best["oneDNN", ours]
            line += f"{m:13.0f}{o:13.0f}{m / o:7.2f}" if m and o else f"{'-':>13}{'-':>13}{'-':>7}"
        print(f"{layer.name:32}{line}", flush=True)


if __name__ == "__main__":
    main()
