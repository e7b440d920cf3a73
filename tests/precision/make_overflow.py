#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes overflow.onnx, a network with intermediate numbers beyond fp16: make_overflow.py overflow.onnx

1x1 convolutions by 10^4 twice and, after a ReLU, by 10^-4 twice: in fp32 the picture that came in; in FP16, which ends
at 65504, black. Needs Debian's python3-onnx and python3-numpy.
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def main():
    weights = [numpy_helper.from_array(np.full((1, 1, 1, 1), w, np.float32), n) for n, w in (("up", 1e4), ("down", 1e-4))]
    chain = [("x", "up", "large"), ("large", "up", "larger"), ("kept", "down", "less"), ("less", "down", "y")]
    nodes = [helper.make_node("Conv", [x, w], [y], name="make_" + y) for x, w, y in chain]
    nodes.insert(2, helper.make_node("Relu", ["larger"], ["kept"], name="keep"))
    io = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 1, "height", "width"]) for n in ("x", "y")]
    model = helper.make_model(helper.make_graph(nodes, "overflow", io[:1], io[1:], weights),
                              opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    onnx.save(model, sys.argv[1])


main()
