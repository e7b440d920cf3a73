#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains two networks with SiLU and measures what --precision auto changes in their results.

  measure.py FOLDER [--mona build/mona] [--data ../shared/data] [--only classifier|detector] [--seed N] [OPTION...]

FOLDER keeps networks and pictures; what is there is used again. OPTIONs go to mona compile. Training takes minutes on one
core; the photographs that are measured on (held_out.txt) are seen neither there nor by calibration. Boxes count from a score
of 0.25 on, as with ultralytics, and match if they are of one class and overlap by half.
Needs Debian's python3-torch, python3-onnx and python3-pil.
"""
import argparse
import json
import os
import subprocess
import tempfile

import numpy as np
import torch
from PIL import Image

from networks import TASKS, train
from pictures import SHAPES, load, overlaps

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")
CALIBRATED, MEASURED = 200, 500


def export(task, weights, path):
    net = task.make().eval()
    net.load_state_dict(torch.load(weights))
    example = torch.zeros(1, 3, task.side, task.side)
    torch.onnx.export(net, example, path, opset_version=16, input_names=["images"], output_names=["output"])
    return net


def found_boxes(output, least=0.25):
    """Boxes, classes and scores of [4 + classes, anchors], without those that a better one of the same class covers."""
    scores = output[4:].max(0)
    order = np.argsort(-scores, kind="stable")[:np.sum(scores >= least)]
    kinds, middle, half = output[4:].argmax(0)[order], output[:2].T[order], output[2:4].T[order] / 2
    boxes, kept = np.concatenate([middle - half, middle + half], 1), []
    over = overlaps(boxes[:, None], boxes[None])
    for i in range(len(order)):
        if all(kinds[i] != kinds[k] or over[i, k] < 0.5 for k in kept):
            kept.append(i)
    return boxes[kept], kinds[kept], scores[order][kept]


def matched(first, second):
    """For each box of `first` the IoU with the best of `second` of its class; 0: there is none with half of it."""
    over = overlaps(first[0][:, None], second[0][None]) * (np.array(first[1])[:, None] == np.array(second[1])[None])
    best = over.max(1, initial=0)
    return np.where(best >= 0.5, best, 0)


def run_mona(mona, model, taken):
    made = []
    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, n) for n in ("in.npy", "out.npy")]
        for x in taken:
            np.save(files[0], x[None])
            subprocess.run([mona, "run", model, "-i", files[0], "-o", files[1]], check=True, stdout=subprocess.DEVNULL)
            made.append(np.load(files[1]))
    return np.stack(made)


def compare_classes(fp32, mixed, kinds, _):
    a, b, truth = fp32.reshape(len(kinds), -1).argmax(1), mixed.reshape(len(kinds), -1).argmax(1), np.array(kinds)[:, 0]
    return (f"top-1 agrees for {np.mean(a == b):.1%} of {len(a)} pictures; right: fp32 {np.mean(a == truth):.1%}, "
            f"mona {np.mean(b == truth):.1%}")


def compare_boxes(fp32, mixed, kinds, boxes):
    a, b = ([found_boxes(o.reshape(4 + len(SHAPES), -1)) for o in each] for each in (fp32, mixed))
    truth = list(zip(boxes, kinds))
    both, back = (np.concatenate([matched(p, q) for p, q in zip(*pair)]) for pair in ((a, b), (b, a)))
    sure = np.concatenate([scores for _, _, scores in a]) >= 0.5
    found = [np.mean(np.concatenate([matched(t, p) for t, p in zip(truth, each)]) > 0) for each in (a, b)]
    right = [np.mean(np.concatenate([matched(p, t) for t, p in zip(truth, each)]) > 0) for each in (a, b)]
    return (f"mean IoU {both[both > 0].mean():.3f} of {len(both)} boxes of {len(a)} pictures, {np.sum(both == 0)} missed, "
            f"{np.sum(back == 0)} added; of the {np.sum(sure)} boxes that score 0.5 or more {np.sum(both[sure] == 0)} missed; "
            f"of the shapes found: fp32 {found[0]:.1%}, mona {found[1]:.1%}; of the boxes right: fp32 {right[0]:.1%}, "
            f"mona {right[1]:.1%}")


def measure(task, photos, a, options):
    at = lambda name: os.path.join(a.folder, f"{task.name}{name}")
    if not os.path.exists(at(".pt")):
        train(task, photos[0], at(".pt"))
    net = export(task, at(".pt"), at(".onnx"))
    if not os.path.isdir(at("")):
        os.makedirs(at(""))
        for i, picture in enumerate(task.scenes(10**6, photos[0], CALIBRATED)[0]):
            Image.fromarray(picture).save(os.path.join(at(""), f"{i:03}.png"))
    means = [f"--{name}={','.join(map(str, m))}" for name, m in zip(("mean", "deviation"), task.means or ())] or ["--input-type=u8"]
    subprocess.run([a.mona, "compile", at(".onnx"), "-o", at(".mona"), "--precision", "auto", "--calibrate", at(""),
                    "--report", at(".json")] + means + options, check=True)
    pictures, kinds, boxes = task.scenes(10**7 + a.seed, photos[1][a.seed % 2::2], MEASURED)
    taken = task.taken(pictures)
    with torch.no_grad():
        fp32 = np.concatenate([net(x).numpy() for x in taken.split(50)])
    layers = json.load(open(at(".json")))["layers"]
    compare = compare_classes if task.most == 1 else compare_boxes
    print(f"{task.name}: {sum(l['precision'] == 'int8' for l in layers)} of {len(layers)} layers INT8;",
          compare(fp32, run_mona(a.mona, at(".mona"), taken.numpy()), kinds, boxes), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--mona", default=os.path.join(ROOT, "build", "mona"))
    parser.add_argument("--data", default=os.path.join(ROOT, "..", "shared", "data"))
    parser.add_argument("--only", choices=[t.name for t in TASKS])
    parser.add_argument("--seed", type=int, default=0, help="of the pictures to measure on; odd: over other photographs")
    a, options = parser.parse_known_args()
    torch.set_num_threads(1)
    os.makedirs(a.folder, exist_ok=True)
    photos = load(a.data)
    for task in TASKS:
        if a.only in (None, task.name):
            measure(task, photos, a, options)


if __name__ == "__main__":
    main()
