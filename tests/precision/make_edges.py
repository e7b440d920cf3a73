# SPDX-License-Identifier: Apache-2.0
"""Writes edges.onnx, a network of one number whose output is padded by it, so that all are equal: make_edges.py edges.onnx"""
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper


def plane(name, height, width):
    return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 1, height, width])


constants = {'w': np.full((1, 1, 1, 1), 0.3, np.float32), 'b': np.array([0.1], np.float32), 'p': np.array([0, 0, 3, 2, 0, 0, 3, 1])}
nodes = [helper.make_node('Conv', ['x', 'w', 'b'], ['a']), helper.make_node('Pad', ['a', 'p'], ['y'], mode='edge')]
graph = helper.make_graph(nodes, 'edges', [plane('x', 1, 1)], [plane('y', 7, 4)],
                          [numpy_helper.from_array(a, name) for name, a in constants.items()])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), sys.argv[1])
