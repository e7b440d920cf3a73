# SPDX-License-Identifier: Apache-2.0
"""Writes a detector whose boxes are known, and a picture: every bright cell of 8x8 pixels is an object of class 1, every
bright square of 2x2 cells one of class 2; a box reaches two strides to each side of its anchor.

  make_detector.py OUT.onnx OUT.ppm
"""
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

BINS, CLASSES, SIDE = 16, 3, 64
nodes, constants, outputs = [], [], []
for stride in (8, 16):
    kind = 1 if stride == 8 else 2
    weights, bias = np.zeros((4 * BINS + CLASSES, 3, stride, stride), np.float32), np.full(4 * BINS + CLASSES, -20, np.float32)
    weights[4 * BINS + kind] = 40 / (3 * stride * stride)
    bias[2:4 * BINS:BINS] = 20  # the bin of a distance of two strides
    bias[4 * BINS + kind] = -35
    constants += [numpy_helper.from_array(weights, f"w{stride}"), numpy_helper.from_array(bias, f"b{stride}")]
    nodes.append(helper.make_node("Conv", ["image", f"w{stride}", f"b{stride}"], [f"head{stride}"], strides=[stride] * 2))
    outputs.append(helper.make_tensor_value_info(f"head{stride}", TensorProto.FLOAT, [1, 4 * BINS + CLASSES, SIDE // stride, SIDE // stride]))
image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, SIDE, SIDE])
model = helper.make_model(helper.make_graph(nodes, "detector", [image], outputs, constants), opset_imports=[helper.make_opsetid("", 13)])
model.ir_version = 8
save(model, sys.argv[1])

picture = np.full((2 * SIDE, 2 * SIDE, 3), 20, np.uint8)
picture[2 * 24:2 * 32, 2 * 40:2 * 48] = 255
picture[2 * 32:2 * 48, 2 * 16:2 * 32] = 255
with open(sys.argv[2], "wb") as out:
    out.write(b"P6\n%d %d\n255\n" % (2 * SIDE, 2 * SIDE) + picture.tobytes())
