# SPDX-License-Identifier: Apache-2.0
"""Finds objects in a picture with YOLOv8 or a network like it, and draws boxes around them.

    python3 detect.py yolov8n.onnx street.ppm boxes.ppm [SCORE]

The network takes [1, 3, rows, columns] in [0, 1]. Its outputs are either the maps of its heads, one for each stride,
with 16 numbers for each side of a box and then the scores of the classes before their sigmoid; or, as ultralytics
exports it, one array of centre, size and scores of all boxes. Pictures are PPM (ffmpeg -i street.jpg street.ppm).
"""
import re
import sys

import mona
import numpy as np

BINS = 16  # of a distance from an anchor to a side, in strides
OVERLAP = 0.5


def read_ppm(path):
    data = open(path, 'rb').read()
    header = re.match(rb'P6\s+(?:#.*\n\s*)*(\d+)\s+(\d+)\s+255\s', data)
    if not header:
        sys.exit(f'{path}: expected a PPM picture of 8 bits (P6)')
    columns, rows = map(int, header.groups())
    return np.frombuffer(data, np.uint8, rows * columns * 3, header.end()).reshape(rows, columns, 3).copy()


def fit(picture, rows, columns):
    """The picture at the network's size, with grey around it; and the factor between them."""
    factor = min(rows / picture.shape[0], columns / picture.shape[1])
    y = np.minimum((np.arange(int(picture.shape[0] * factor)) + 0.5) / factor, picture.shape[0] - 1).astype(int)
    x = np.minimum((np.arange(int(picture.shape[1] * factor)) + 0.5) / factor, picture.shape[1] - 1).astype(int)
    made = np.full((rows, columns, 3), 114, np.uint8)
    made[:len(y), :len(x)] = picture[y][:, x]
    return np.ascontiguousarray(made.transpose(2, 0, 1)), factor


def decode_head(head, columns):
    """Boxes [n, 4], left, top, right and bottom, and scores [n, classes] of one map."""
    stride = columns / head.shape[2]
    y, x = np.mgrid[:head.shape[1], :head.shape[2]].reshape(2, -1) + 0.5
    bins = head[:4 * BINS].reshape(4, BINS, -1)
    bins = np.exp(bins - bins.max(axis=1, keepdims=True))
    left, top, right, bottom = np.tensordot(np.arange(BINS), bins, (0, 1)) / bins.sum(axis=1)
    boxes = np.stack([x - left, y - top, x + right, y + bottom], 1) * stride
    return boxes, (1 + np.tanh(head[4 * BINS:].reshape(head.shape[0] - 4 * BINS, -1).T / 2)) / 2


def decode(outputs, columns):
    if len(outputs) > 1:
        parts = [decode_head(head, columns) for head in outputs]
        return [np.concatenate(p) for p in zip(*parts)]
    rows = outputs[0].reshape(outputs[0].shape[-2:]).T
    x, y, width, height = rows[:, :4].T / [[1], [1], [2], [2]]
    return np.stack([x - width, y - height, x + width, y + height], 1), rows[:, 4:]


def overlap(box, others):
    """The common area of a box with others over that of both together."""
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    common = np.prod(np.maximum(high - low, 0), axis=1)
    return common / (np.prod(box[2:] - box[:2]) + np.prod(others[:, 2:] - others[:, :2], axis=1) - common)


def best_boxes(boxes, scores, least):
    """Without those that a better one of the same class covers. Rows of box, score, class."""
    kinds, found = scores.argmax(axis=1), []
    order = [i for i in np.argsort(-scores.max(axis=1), kind='stable') if scores[i].max() >= least]
    while order:
        i, rest = order[0], np.array(order[1:], int)
        found.append((boxes[i], scores[i].max(), kinds[i]))
        order = list(rest[(kinds[rest] != kinds[i]) | (overlap(boxes[i], boxes[rest]) < OVERLAP)])
    return found


def draw(picture, box, kind):
    colour = np.array([(37 * kind + 80) % 256, (91 * kind + 200) % 256, 40], np.uint8)
    last = np.tile(picture.shape[1::-1], 2) - 1
    left, top, right, bottom = np.clip(np.round(box), 0, last).astype(int)
    for row in (top, bottom):
        picture[row, left:right + 1] = colour
    for column in (left, right):
        picture[top:bottom + 1, column] = colour


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    network, source, target = sys.argv[1:4]
    picture = read_ppm(source)
    model = mona.Model(network, input_type='u8')
    rows, columns = model.inputs[0].shape[-2:]
    frame, factor = fit(picture, rows, columns)
    outputs = model(frame)
    outputs = [o.astype(np.float32) for o in (outputs if isinstance(outputs, list) else [outputs])]
    for box, score, kind in best_boxes(*decode(outputs, columns), float(sys.argv[4]) if len(sys.argv) > 4 else 0.25):
        draw(picture, box / factor, int(kind))
        print(f'class {kind}: {score:.2f} at', *(f'{v:.0f}' for v in box / factor))
    with open(target, 'wb') as out:
        out.write(b'P6\n%d %d\n255\n' % picture.shape[1::-1] + picture.tobytes())


main()
