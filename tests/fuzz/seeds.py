#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the seeds in corpus/onnx: one small model for each operator, with its attributes.

    /usr/bin/python3 tests/fuzz/seeds.py
"""
import os

import numpy as np
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus", "onnx")
F, I, U = TensorProto.FLOAT, TensorProto.INT64, TensorProto.UINT8
ONES = {n: np.ones(s, np.float32) for n, s in
        {"w": (4, 2, 3, 3), "t": (2, 2, 2, 2), "c": (2, 1, 1), "v": (2,), "m": (12, 5), "s": ()}.items()}


def seed(name, op, extra=(), kind=F, sides=(1, 2, 6, 6), outputs=1, opset=18, numbers=None, **attributes):
    """numbers: {input: array} beside the constants of ONES that `extra` names."""
    constants = {**ONES, **(numbers or {})}
    names = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, ["x", *extra], names, **attributes)
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info("x", kind, sides)],
        [helper.make_tensor_value_info(n, F, None) for n in names],
        [numpy_helper.from_array(np.asarray(constants[k]), k) for k in dict.fromkeys(extra) if k in constants])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], producer_name="")
    with open(os.path.join(HERE, name), "wb") as file:
        file.write(model.SerializeToString())


def ints(*values):
    return np.array(values, np.int64)


for op in ("Abs", "Neg", "Relu", "Sigmoid", "Elu", "Selu", "HardSigmoid", "Softmax", "LogSoftmax", "Mish", "Sqrt",
           "Softplus", "GlobalAveragePool", "GlobalMaxPool", "Identity", "Flatten", "Shape", "Transpose", "LeakyRelu"):
    seed(op, op)
for op in ("Add", "Sub", "Mul", "Div", "Pow", "PRelu", "Max", "Min"):
    seed(op, op, ["c"])
seed("Conv", "Conv", ["w", "b"], numbers={"b": np.ones(4, np.float32)}, pads=[1, 1, 1, 1], strides=[2, 1], dilations=[1, 2])
seed("ConvAuto", "Conv", ["w"], auto_pad="SAME_LOWER", strides=[2, 2])
seed("ConvTranspose", "ConvTranspose", ["t"], strides=[2, 2], output_padding=[1, 0], pads=[1, 0, 0, 1])
seed("ConvTransposeSize", "ConvTranspose", ["t"], strides=[2, 2], output_shape=[11, 12])
seed("MaxPool", "MaxPool", outputs=2, kernel_shape=[3, 2], strides=[2, 2], ceil_mode=1, storage_order=1)
seed("AveragePool", "AveragePool", kernel_shape=[3, 2], pads=[1, 1, 1, 0], count_include_pad=1)
seed("Gemm", "Gemm", ["m", "v5"], sides=(2, 12), numbers={"v5": np.ones(5, np.float32)}, alpha=0.5, beta=2.0)
seed("MatMul", "MatMul", ["m"], sides=(2, 12))
seed("BatchNormalization", "BatchNormalization", ["v", "v", "v", "v"])
seed("BatchNormalization6", "BatchNormalization", ["v", "v", "v", "v"], opset=6, is_test=1, spatial=1)
seed("InstanceNormalization", "InstanceNormalization", ["v", "v"])
seed("LayerNormalization", "LayerNormalization", ["v6"], outputs=3, axis=-1, numbers={"v6": np.ones(6, np.float32)})
seed("Concat", "Concat", ["x"], axis=1)
seed("Split", "Split", outputs=2, axis=1, num_outputs=2)
seed("Slice", "Slice", ["a", "b", "d", "e"], numbers={"a": ints(1), "b": ints(-1), "d": ints(2), "e": ints(2)})
seed("Slice9", "Slice", opset=9, starts=[1], ends=[100], axes=[3])
seed("Pad", "Pad", ["p", "s"], numbers={"p": ints(0, 0, 1, 2, 0, 0, -1, 1)}, mode="constant")
seed("PadReflect", "Pad", ["p"], numbers={"p": ints(0, 0, 1, 2, 0, 0, 3, 1)}, mode="reflect")
seed("Reshape", "Reshape", ["r"], numbers={"r": ints(0, -1, 3)})
seed("Squeeze", "Squeeze", ["r"], numbers={"r": ints(0)})
seed("Unsqueeze", "Unsqueeze", ["r"], numbers={"r": ints(0, -1)})
seed("Expand", "Expand", ["r"], numbers={"r": ints(2, 2, 6, 6)})
seed("Tile", "Tile", ["r"], numbers={"r": ints(1, 2, 1, 1)})
seed("Gather", "Gather", ["r"], axis=2, numbers={"r": ints(0, -1)})
seed("ReduceMean", "ReduceMean", ["r"], numbers={"r": ints(2, 3)}, keepdims=0)
seed("ReduceMax", "ReduceMax", opset=13, axes=[1])
seed("ArgMax", "ArgMax", axis=1)
seed("Clip", "Clip", ["lo", "hi"], numbers={"lo": np.float32(-1), "hi": np.float32(1)})
seed("Clip6", "Clip", opset=6, min=-1.0, max=1.0)
seed("Cast", "Cast", to=I)
seed("Where", "Where", ["x2", "x3"], kind=TensorProto.BOOL, numbers={"x2": np.ones(6, np.float32), "x3": np.zeros((6, 1), np.float32)})
seed("DepthToSpace", "DepthToSpace", sides=(1, 8, 2, 3), blocksize=2, mode="CRD")
seed("SpaceToDepth", "SpaceToDepth", blocksize=2)
seed("Resize", "Resize", ["roi", "scales"], mode="cubic", antialias=1, exclude_outside=1,
     numbers={"roi": np.zeros(0, np.float32), "scales": np.array([1, 1, 0.6, 1.5], np.float32)})
seed("ResizeSizes", "Resize", ["roi", "scales", "sizes"], mode="linear", coordinate_transformation_mode="align_corners",
     numbers={"roi": np.zeros(0, np.float32), "scales": np.zeros(0, np.float32), "sizes": ints(1, 2, 9, 4)})
seed("Upsample", "Upsample", ["scales"], opset=9, mode="linear", numbers={"scales": np.array([1, 1, 2, 2], np.float32)})
seed("QuantizeLinear", "QuantizeLinear", ["s", "z"], numbers={"z": np.uint8(3)})
seed("DequantizeLinear", "DequantizeLinear", ["c2"], kind=U, axis=1, numbers={"c2": np.ones(2, np.float32)})
seed("QLinearConv", "QLinearConv", ["s", "z", "q", "s", "z", "s", "z"], kind=U,
     numbers={"z": np.uint8(3), "q": np.ones((2, 2, 3, 3), np.uint8)})
seed("ConvInteger", "ConvInteger", ["q"], kind=U, numbers={"q": np.ones((2, 2, 3, 3), np.uint8)})
seed("ConstantOfShape", "ConstantOfShape", kind=I, sides=(2,), value=helper.make_tensor("v", F, [1], [2.0]))
seed("Range", "Range", ["a", "b"], kind=I, sides=(), numbers={"a": np.int64(9), "b": np.int64(2)})
for op in ("Celu", "Erf", "Gelu", "HardSwish", "Sign", "Swish", "ThresholdedRelu"):
    seed(op, op, opset=24 if op == "Swish" else 20)
for op in ("And", "Or", "Xor"):
    seed(op, op, ["o"], kind=TensorProto.BOOL, numbers={"o": np.ones(6, bool)})
for op in ("Equal", "Less", "GreaterOrEqual", "Mod", "Sum", "Mean"):
    seed(op, op, ["c"], **({"fmod": 1} if op == "Mod" else {}))
seed("Add6", "Add", ["v"], opset=6, axis=1, broadcast=1)
seed("Conv3d", "Conv", ["w3"], sides=(1, 2, 3, 6, 6), numbers={"w3": np.ones((4, 1, 1, 3, 3), np.float32)}, group=2, kernel_shape=[1, 3, 3])
seed("MaxPool1d", "MaxPool", sides=(1, 2, 9), kernel_shape=[3], dilations=[2], ceil_mode=1)
seed("GroupNormalization", "GroupNormalization", ["v", "v"], opset=21, num_groups=2)
seed("MatMulInteger", "MatMulInteger", ["q", "z"], kind=U, sides=(2, 12), numbers={"q": np.ones((12, 5), np.uint8), "z": np.uint8(3)})
seed("QLinearMatMul", "QLinearMatMul", ["s", "z", "q", "s", "z", "s", "z"], kind=U, sides=(2, 12),
     numbers={"z": np.uint8(3), "q": np.ones((12, 5), np.uint8)})
seed("DynamicQuantizeLinear", "DynamicQuantizeLinear", outputs=3)
seed("ReduceSum", "ReduceSum", ["r"], numbers={"r": ints(-1)}, noop_with_empty_axes=1)
seed("ReduceLogSumExp", "ReduceLogSumExp", opset=13, axes=[1, 2], keepdims=0)
seed("ArgMin", "ArgMin", axis=-1, select_last_index=1)
seed("Dropout", "Dropout", outputs=2)
seed("CastLike", "CastLike", ["l"], numbers={"l": np.int8(0)}, opset=19, saturate=0)
seed("Size", "Size")
seed("QuantizeBlocks", "QuantizeLinear", ["b"], opset=21, axis=3, block_size=3, numbers={"b": np.ones((1, 2, 6, 2), np.float32)})
seed("PadAxes", "Pad", ["p", "", "a"], numbers={"p": ints(2, -1), "a": ints(-1)}, mode="wrap")

# Inputs that once crashed, hung or were wrongly accepted: numbers hidden by a dimension of 0, a constant
# without a name, and indices that are not integers.
HUGE = 1 << 62


def empty(name, *sides):
    return helper.make_tensor(name, F, sides, b"", raw=True)


def found(name, nodes, constants):
    graph = helper.make_graph(nodes, "g", [], [helper.make_tensor_value_info("y", F, None)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], producer_name="")
    with open(os.path.join(HERE, name), "wb") as file:
        file.write(model.SerializeToString())


found("found_softmax_behind_0", [helper.make_node("Softmax", ["x"], ["y"])], [empty("x", 0, HUGE)])
found("found_flatten_behind_0", [helper.make_node("Flatten", ["x"], ["y"])], [empty("x", 0, HUGE, HUGE)])
found("found_groups_of_none", [helper.make_node("GroupNormalization", ["x", "s", "s"], ["y"], num_groups=HUGE)],
      [empty("x", 1, 0, 4), empty("s", 0)])
found("found_unnamed_constant", [helper.make_node("Constant", [], [""], value_float=1.0)], [])
found("found_float_indices", [helper.make_node("Gather", ["x", "i"], ["y"])],
      [numpy_helper.from_array(ONES["w"], "x"), numpy_helper.from_array(ONES["v"], "i")])
# Batches, whose images the compiler takes apart where it can.
THREE = (3, 2, 6, 6)
seed("BatchConv", "Conv", ["w"], sides=THREE, pads=[1, 1, 1, 1])
seed("BatchReshape", "Reshape", ["r"], sides=THREE, numbers={"r": ints(3, -1, 3)})
seed("BatchMixed", "Reshape", ["r"], sides=THREE, numbers={"r": ints(2, -1)})
seed("BatchSplit", "Split", sides=THREE, outputs=2, axis=-3, num_outputs=2)
seed("BatchSlice", "Slice", ["a", "b", "d"], sides=THREE, numbers={"a": ints(0, 1), "b": ints(3, 5), "d": ints(0, 2)})
seed("BatchSums", "MatMul", ["m"], sides=(3, 2, 6, 12))
seed("BatchResize", "Resize", ["roi", "scales", "sizes"], sides=THREE, mode="nearest",
     numbers={"roi": np.zeros(0, np.float32), "scales": np.zeros(0, np.float32), "sizes": ints(3, 2, 12, 12)})


def called(name, kinds, sides, node, functions=()):
    """A node of another domain: a kernel of tests/user_kernels.h, or a function."""
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info(n, k, s) for n, k, s in zip(node.input, kinds, sides)],
        [helper.make_tensor_value_info(n, F, None) for n in node.output])
    sets = [helper.make_opsetid("", 18), helper.make_opsetid("test", 1)]
    model = helper.make_model(graph, opset_imports=sets, producer_name="", functions=functions)
    with open(os.path.join(HERE, name), "wb") as file:
        file.write(model.SerializeToString())


called("Kernel", (U, TensorProto.UINT16, TensorProto.INT32), ((3, 4), (2, 6, 8), (5,)),
       helper.make_node("Sum", ["x", "b", "t"], ["y", "z"], domain="test"))
LEAKY = helper.make_node("LeakyRelu", ["n"], ["r"])
LEAKY.attribute.add(name="alpha", ref_attr_name="slope", type=1)
CALL = helper.make_node("Turn", ["x"], ["y"], domain="test", slope=0.5)
called("Function", (F,), ((1, 2, 6, 6),), CALL, [
    helper.make_function("test", "Turn", ["a"], ["r"], [helper.make_node("Neg", ["a"], ["n"]), LEAKY], [helper.make_opsetid("", 18)], ["slope"])])
