#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes bicubic_x2.onnx: bicubic enlargement of a plane by 2, for chroma.

  bicubic_x2.py bicubic_x2.onnx
"""
import sys

import onnx
from onnx import TensorProto, helper, numpy_helper
import numpy as np


def plane(name, height, width):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 1, height, width])


def build():
    scales = numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "scales")
    resize = helper.make_node("Resize", ["plane", "", "scales"], ["plane_x2"], name="resize",
                              mode="cubic", cubic_coeff_a=-0.5,
                              coordinate_transformation_mode="half_pixel")
    graph = helper.make_graph([resize], "bicubic_x2", [plane("plane", "h", "w")],
                              [plane("plane_x2", "h2", "w2")], [scales])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)],
                              producer_name="mona")
    model.ir_version = 7
    onnx.checker.check_model(model)
    return model


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    onnx.save(build(), sys.argv[1])
