#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes zeros.onnx, a network whose values have zero points in INT8: make_zeros.py zeros.onnx

Hard swish, read by a padded depthwise filter, a mean, a product and a sum. Needs Debian's python3-onnx and python3-numpy.
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def main():
    rng = np.random.default_rng(1)
    numbers = {n: (rng.standard_normal(s) * 3 / np.sqrt(s[1] * s[2] * s[3])).astype(np.float32)
               for n, s in {"w": (12, 3, 3, 3), "deep": (12, 1, 5, 5), "gain": (12, 12, 1, 1), "last": (3, 12, 1, 1)}.items()}
    pads = {1: [1] * 4, 2: [2] * 4}
    nodes = [helper.make_node("Conv", ["x", "w"], ["a"], pads=pads[1], name="first"),
             helper.make_node("HardSwish", ["a"], ["b"], name="swish"),
             helper.make_node("Conv", ["b", "deep"], ["c"], pads=pads[2], group=12, name="deep"),
             helper.make_node("HardSwish", ["c"], ["d"], name="deep_swish"),
             helper.make_node("GlobalAveragePool", ["d"], ["m"], name="mean"),
             helper.make_node("Conv", ["m", "gain"], ["g"], name="gain"),
             helper.make_node("Sigmoid", ["g"], ["s"], name="gate"),
             helper.make_node("Mul", ["d", "s"], ["e"], name="product"),
             helper.make_node("Add", ["e", "b"], ["f"], name="sum"),
             helper.make_node("Conv", ["f", "last"], ["y"], name="last")]
    io = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 3, "height", "width"]) for n in ("x", "y")]
    model = helper.make_model(helper.make_graph(nodes, "zeros", io[:1], io[1:],
                                                [numpy_helper.from_array(w, n) for n, w in numbers.items()]),
                              opset_imports=[helper.make_opsetid("", 14)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    onnx.save(model, sys.argv[1])


main()
