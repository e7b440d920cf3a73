#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the faces in two results of a detector (Ultra-Light-Fast-Generic-Face-Detector): there must be equally
many, each with an IoU of 0.95 or more with its counterpart.

    boxes.py picture PICTURE OUT.npy             the network's input for a picture, 320x240
    boxes.py same LEAST SCORES.npy BOXES.npy SCORES.npy BOXES.npy [raw]     raw: boxes are to be decoded
"""
import array
import math
import subprocess
import sys

WIDTH, HEIGHT = 320, 240


def save(path, shape, numbers):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + numbers.tobytes())


def load(path, side):
    """Rows with `side` numbers each."""
    with open(path, "rb") as file:
        data = file.read()
    start = 10 + int.from_bytes(data[8:10], "little")
    assert b"<f4" in data[:start], path
    numbers = array.array("f", data[start:])
    return [numbers[i:i + side] for i in range(0, len(numbers), side)]


def picture(path, out):
    command = ["ffmpeg", "-v", "error", "-i", path, "-vf", f"scale={WIDTH}:{HEIGHT}", "-frames:v", "1", "-f", "rawvideo",
               "-pix_fmt", "rgb24", "-"]
    pixels = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    save(out, (1, 3, HEIGHT, WIDTH), array.array("f", [(x - 127) / 128 for c in range(3) for x in pixels[c::3]]))


def priors():
    """The boxes that raw results are relative to: centre, width and height."""
    for step, sizes in ((8, (10, 16, 24)), (16, (32, 48)), (32, (64, 96)), (64, (128, 192, 256))):
        for y in range(-(-HEIGHT // step)):
            for x in range(-(-WIDTH // step)):
                for size in sizes:
                    yield [min(n, 1) for n in ((x + 0.5) * step / WIDTH, (y + 0.5) * step / HEIGHT, size / WIDTH, size / HEIGHT)]


def decode(raw, prior):
    centre = [raw[i] * 0.1 * prior[2 + i] + prior[i] for i in (0, 1)]
    half = [math.exp(raw[2 + i] * 0.2) * prior[2 + i] / 2 for i in (0, 1)]
    return [centre[0] - half[0], centre[1] - half[1], centre[0] + half[0], centre[1] + half[1]]


def overlap(a, b):
    def area(box):
        return max(box[2] - box[0], 0) * max(box[3] - box[1], 0)

    both = area([max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])])
    return both / (area(a) + area(b) - both)


def faces(scores, boxes, raw):
    scores, boxes = [s[1] for s in load(scores, 2)], load(boxes, 4)
    if raw:
        boxes = [decode(b, p) for b, p in zip(boxes, priors())]
    kept = []
    for i in sorted(range(len(scores)), key=lambda i: -scores[i]):
        if scores[i] < 0.7:
            break
        if all(overlap(boxes[i], k) < 0.5 for k in kept):
            kept.append(boxes[i])
    return kept


def same(least, first_scores, first_boxes, second_scores, second_boxes, raw=None):
    first, second = faces(first_scores, first_boxes, raw), faces(second_scores, second_boxes, raw)
    worst = min((max((overlap(a, b) for b in second), default=0) for a in first), default=0)
    print(f"{len(first)} and {len(second)} faces, the least alike overlap by {worst:.4f}")
    return 0 if len(first) == len(second) and first and worst >= float(least) else 1


if __name__ == "__main__":
    sys.exit({"picture": picture, "same": same}[sys.argv[1]](*sys.argv[2:]))
