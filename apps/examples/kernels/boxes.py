# SPDX-License-Identifier: Apache-2.0
"""Boxes of a YOLO head: where they are in the picture, the class that is likeliest, and how sure that is."""
from mona.kernel import f32, kernel, rows, s32, table

CLASSES = 20
STEPS = 16  # entries of `sigmoid` for 1


@kernel('com.example::DecodeBoxes')
def decode(head: rows(f32, planes=5 + CLASSES), anchor: table(f32, 2), stride: table(f32, 1), sigmoid: table(f32, 16 * STEPS + 1),
           *, box: rows(f32, planes=5), label: rows(s32)):
    """head: of one anchor, x, y, width, height, whether there is something, and classes, each before its sigmoid. anchor: its
    width and height. stride: pixels of the picture to a cell. sigmoid: of numbers from -8 to 8. box: left, top, right, bottom,
    and the score."""
    likely = head[5, 0, 0]
    which = 0
    for c in range(1, CLASSES):
        better = head[5 + c, 0, 0] > likely
        likely = head[5 + c, 0, 0] if better else likely
        which = c if better else which
    label[0, 0] = which
    x = (sigmoid[s32((head[0, 0, 0] + 8.0) * STEPS)] * 2.0 - 0.5 + f32(column)) * stride[0]
    y = (sigmoid[s32((head[1, 0, 0] + 8.0) * STEPS)] * 2.0 - 0.5 + f32(row)) * stride[0]
    wide = sigmoid[s32((head[2, 0, 0] + 8.0) * STEPS)] * 2.0
    high = sigmoid[s32((head[3, 0, 0] + 8.0) * STEPS)] * 2.0
    half_width = wide * wide * anchor[0] * 0.5
    half_height = high * high * anchor[1] * 0.5
    box[0, 0, 0] = x - half_width
    box[1, 0, 0] = y - half_height
    box[2, 0, 0] = x + half_width
    box[3, 0, 0] = y + half_height
    box[4, 0, 0] = sigmoid[s32((head[4, 0, 0] + 8.0) * STEPS)] * sigmoid[s32((likely + 8.0) * STEPS)]
