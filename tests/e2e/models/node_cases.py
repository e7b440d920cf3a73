# SPDX-License-Identifier: Apache-2.0
"""Writes the cases of single operators that ONNX's own package computes by numpy, one folder each, as mona verify reads them.

    node_cases.py FOLDER"""
import os
import sys
import warnings

import numpy as np

warnings.filterwarnings('ignore')
for name, kind in (('bool', bool), ('float', float), ('int', int), ('object', object)):
    if name not in np.__dict__:  # numpy 1.24 dropped these names, which the cases of onnx 1.12 use
        setattr(np, name, kind)

import onnx  # noqa: E402
from onnx.backend.test.case import node  # noqa: E402


def tensor(value, info):
    """numpy has no bfloat16: the cases hold its bits as uint16."""
    kind = info.type.tensor_type.elem_type
    if kind == onnx.TensorProto.BFLOAT16 and value.dtype == np.uint16:
        return onnx.TensorProto(name=info.name, data_type=kind, dims=value.shape, raw_data=value.tobytes())
    return onnx.numpy_helper.from_array(value, info.name)


def main():
    arguments = [None] if node.collect_testcases.__code__.co_argcount else []
    for case in node.collect_testcases(*arguments):
        folder = os.path.join(sys.argv[1], case.name)
        inputs, outputs = case.data_sets[0]
        if not all(isinstance(value, (np.ndarray, np.generic)) for value in [*inputs, *outputs]):
            continue  # sequences and optionals
        os.makedirs(os.path.join(folder, 'test_data_set_0'), exist_ok=True)
        onnx.save(case.model, os.path.join(folder, 'model.onnx'))
        for kind, values, infos in (('input', inputs, case.model.graph.input), ('output', outputs, case.model.graph.output)):
            for i, (value, info) in enumerate(zip(values, infos)):
                with open(os.path.join(folder, 'test_data_set_0', f'{kind}_{i}.pb'), 'wb') as file:
                    file.write(tensor(np.asarray(value), info).SerializeToString())


main()
