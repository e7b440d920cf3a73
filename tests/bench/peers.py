#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times mona and ONNX Runtime in turns on the same networks, and prints one table.

  peers.py BUILD [--rounds 5] [--threads 2] [--nets NAME,...]

Nets have deterministic random weights: plain 3x3 nets by make_plain.py, 1080 x 1920 in, one of ResNet-50's shape by
make_resnet.py, 3 x 224 x 224 in, and published architectures by make_networks.py. mona int8 is the fp32 file,
calibrated on the rendered scene; mona qdq is the quantised file, which ONNX Runtime runs as ORT int8. Each round runs
every contender once; a figure is the median over rounds of the contender's own median, so that a disturbance of the
machine affects all alike. Needs Debian's python3-onnx and python3-numpy, and npm's onnxruntime-node in BUILD/bench
(make bench-peers sees to both).
"""
import argparse
import collections
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

# make(fp32 file, QDQ file): the commands that write them; frames: how many are timed in one round; planes: how mona's
# files take and give samples of pictures.
Net = collections.namedtuple("Net", "stem make size frames planes")
PICTURES = "espcn_x3", "rcan_lite", "imdn", "nafnet_16"


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, **options)
    if done.returncode:
        sys.exit(f"peers.py: failed: {' '.join(command)}")
    return done.stdout


def plain(channels, body, *more):
    command = [sys.executable, os.path.join(HERE, "make_plain.py")]
    size = ["--channels", str(channels), "--body", str(body), *more]
    return Net("_".join([f"c{channels}x{body}", *more]).replace("--", ""), lambda fp32, qdq: [command + [fp32] + size, command + [qdq, "--qdq"] + size],
               "1920x1080", 5, "--picture")


def resnet(fp32, qdq):
    return [[sys.executable, os.path.join(HERE, "make_resnet.py"), fp32, "--qdq", qdq]]


def published():
    """{name: net} of make_networks.py."""
    script = [sys.executable, os.path.join(HERE, "make_networks.py")]
    rows = [line.split() for line in run(script + ["--list"]).splitlines()]
    return {name: Net(name, lambda fp32, qdq, name=name: [script + [name, fp32, "--qdq", qdq]], size, 20,
                      "--picture" if name in PICTURES else "--input-type=u8") for name, _, size in rows}


# A chain of layers with as many outputs as inputs, between a first and a last one for a single plane of the
# same size.
CHAIN = ("--in-channels", "1", "--scale", "1")
NETS = {"C16x4": plain(16, 4), "C28x5": plain(28, 5), "chain 16x5": plain(16, 5, *CHAIN),
        "chain 32x5": plain(32, 5, *CHAIN), "ResNet-50": Net("resnet50", resnet, "224x224", 40, "--input-type=u8"), **published()}


def check_on_maps(name, mona, model, size):
    """In what is no transformer, no operator on arrays may come between convolutions."""
    kinds = [o["op"] for o in json.loads(run([mona, "inspect", model, "--size", size, "--json"]))["operators"]]
    last = max(i for i, kind in enumerate(kinds) if kind == "conv")
    between = [kind for kind in kinds[:last] if kind.startswith("array_")]
    if between and not name.startswith("vit"):
        sys.exit(f"peers.py: {name} has {len(between)} operators on arrays before its last convolution")


def make_nets(names, folder, mona, film):
    """Writes fp32, QDQ and .mona files; returns {net: {contender: file}}."""
    files = {}
    for name in names:
        stem = os.path.join(folder, NETS[name].stem)
        files[name] = {k: stem + end for k, end in (
            ("ORT fp32", ".onnx"), ("ORT int8", "_qdq.onnx"), ("mona int8", "_int8.mona"), ("mona qdq", "_qdq.mona"), ("mona fp16", "_fp16.mona"))}
        for command in NETS[name].make(files[name]["ORT fp32"], files[name]["ORT int8"]):
            run(command)
        compile_ = [mona, "compile", files[name]["ORT fp32"], NETS[name].planes]
        run(compile_ + ["-o", files[name]["mona int8"], "--precision", "int8", "--calibrate", film, "--images", "1"])
        run(compile_ + ["-o", files[name]["mona fp16"], "--precision", "fp16"])
        run([mona, "compile", files[name]["ORT int8"], NETS[name].planes, "-o", files[name]["mona qdq"]])
        for kind in ("mona int8", "mona qdq", "mona fp16"):
            check_on_maps(name, mona, files[name][kind], NETS[name].size)
    return files


def time_ort(folder, model, threads, net):
    script = os.path.join(HERE, "onnxruntime.js")
    out = json.loads(run(["node", script, str(threads), str(net.frames), os.path.abspath(model)], cwd=folder))
    return {"ms": out["median_ms"], "rss": out["rss_mb"]}


def time_mona(mona, model, threads, net):
    """The share of the peak is of the peak measured in the same run."""
    out = json.loads(run([mona, "bench", model, "--size", net.size, "--threads", str(threads),
                          "--iterations", str(2 * net.frames), "--json"]))
    return {"ms": out["p50_ms"], "rss": out["rss_bytes"] / 1e6, "share": out["peak_share"], "gmac": out["gmac"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--nets", type=lambda text: text.split(","), default=list(NETS), metavar="NAME,...",
                        help="only these of " + ", ".join(NETS))
    a = parser.parse_args()
    for name in a.nets:
        if name not in NETS:
            parser.error(f"no net '{name}'; there are {', '.join(NETS)}")
    mona, folder = os.path.join(a.build, "mona"), os.path.join(a.build, "bench")
    film = os.path.join(folder, "scene.y4m")
    with open(film, "wb") as f:
        subprocess.run([os.path.join(a.build, "scene"), "3"], stdout=f, check=True)
    files = make_nets(a.nets, folder, mona, film)
    print(f"{'net':20}{'engine':12}{'median ms':>10}{'GMAC/s':>9}{'of peak':>9}{'peak RSS MB':>13}{'against best ORT':>18}")
    for net, contenders in files.items():
        times = {name: [] for name in contenders}
        for _ in range(a.rounds):
            for name, model in contenders.items():
                times[name].append(time_ort(folder, model, a.threads, NETS[net]) if name.startswith("ORT") else
                                   time_mona(mona, model, a.threads, NETS[net]))
        gmac = times["mona int8"][0]["gmac"]
        median = {name: statistics.median(seen["ms"] for seen in times[name]) for name in contenders}
        best = min(median[name] for name in contenders if name.startswith("ORT"))
        for name in contenders:
            rss = max(seen["rss"] for seen in times[name])
            shares = [seen["share"] for seen in times[name] if "share" in seen]
            share = f"{100 * statistics.median(shares):.0f} %" if shares else ""
            print(f"{net:20}{name:12}{median[name]:10.1f}{gmac / median[name] * 1e3:9.0f}{share:>9}{rss:13.0f}"
                  f"{best / median[name]:17.2f}x", flush=True)


if __name__ == "__main__":
    main()
