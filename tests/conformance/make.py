#!/usr/bin/python3
"""Makes the test cases in this folder, in the layout of the ONNX suite; what is expected is computed by numpy,
straight from the definitions. The cases are in the repository; run this after changing one:

    /usr/bin/python3 tests/conformance/make.py
"""
import os
import shutil

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(5)


def save(name, nodes, inputs, outputs, constants=(), opset=13, dims=None, external=False):
    """inputs, outputs: {name: array}; dims: {name: sides}, where the model leaves sides open."""
    folder = os.path.join(HERE, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "test_data_set_0"))

    def info(key, array):
        kind = helper.np_dtype_to_tensor_dtype(array.dtype) if hasattr(helper, "np_dtype_to_tensor_dtype") \
            else onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype]
        return helper.make_tensor_value_info(key, kind, (dims or {}).get(key, array.shape))

    graph = helper.make_graph(nodes, name, [info(k, v) for k, v in inputs.items()],
                              [info(k, v) for k, v in outputs.items()],
                              [numpy_helper.from_array(v, k) for k, v in dict(constants).items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], producer_name="")
    path = os.path.join(folder, "model.onnx")
    if external:
        onnx.save(model, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    else:
        onnx.save(model, path)
    for kind, arrays in (("input", inputs), ("output", outputs)):
        for i, (key, array) in enumerate(arrays.items()):
            with open(os.path.join(folder, "test_data_set_0", f"{kind}_{i}.pb"), "wb") as file:
                file.write(numpy_helper.from_array(array, key).SerializeToString())


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def conv(x, w, bias=None, stride=1, pads=(0, 0, 0, 0)):
    """pads: rows before, columns before, rows after, columns after."""
    x = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    rows, columns = (x.shape[2] - w.shape[2]) // stride + 1, (x.shape[3] - w.shape[3]) // stride + 1
    y = np.zeros((x.shape[0], w.shape[0], rows, columns))
    for i in range(rows):
        for j in range(columns):
            window = x[:, None, :, i * stride:i * stride + w.shape[2], j * stride:j * stride + w.shape[3]]
            y[:, :, i, j] = (window.astype(float) * w).sum((2, 3, 4))
    return y if bias is None else y + bias[:, None, None]


def deconv(x, w, stride):
    y = np.zeros((x.shape[0], w.shape[1], (x.shape[2] - 1) * stride + w.shape[2], (x.shape[3] - 1) * stride + w.shape[3]))
    for i in range(x.shape[2]):
        for j in range(x.shape[3]):
            part = (x[:, :, None, i:i + 1, j:j + 1] * w[None]).sum(1)
            y[:, :, i * stride:i * stride + w.shape[2], j * stride:j * stride + w.shape[3]] += part
    return y


def f32(x):
    return np.asarray(x).astype(np.float32)


x, w, b = normal(1, 3, 7, 6), normal(4, 3, 3, 3), normal(4)
save("conv", [helper.make_node("Conv", ["x", "w", "b"], ["y"], pads=[1, 0, 2, 1], strides=[2, 2])],
     {"x": x}, {"y": f32(conv(x, w, b, 2, (1, 0, 2, 1)))}, {"w": w, "b": b})

x, w = normal(1, 2, 3, 4), normal(2, 3, 3, 3)
save("conv_transpose", [helper.make_node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2])],
     {"x": x}, {"y": f32(deconv(x, w, 2))}, {"w": w})

# The exporters' way to write "twice as large": sizes from the shape, which folds once the sides are known.
x = normal(1, 2, 3, 4)
save("shape_chain", [
    helper.make_node("Shape", ["x"], ["shape"]),
    helper.make_node("Gather", ["shape", "spatial"], ["sides"]),
    helper.make_node("Mul", ["sides", "two"], ["larger"]),
    helper.make_node("Slice", ["shape", "zero", "two"], ["kept"]),
    helper.make_node("Concat", ["kept", "larger"], ["sizes"], axis=0),
    helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], mode="nearest",
                     coordinate_transformation_mode="asymmetric", nearest_mode="floor")],
    {"x": x}, {"y": x.repeat(2, 2).repeat(2, 3)},
    {"spatial": np.array([2, 3]), "zero": np.array([0]), "two": np.array([2])},
    dims={"x": [1, 2, "rows", "columns"], "y": [1, 2, "r", "c"]})

x, w = normal(1, 2, 5, 5), rng.integers(-127, 128, (3, 2, 3, 3)).astype(np.int8)
q = np.clip(np.rint(x / np.float32(0.02)) + 128, 0, 255)
dequantised = (q - 128) * 0.02
save("qdq", [
    helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
    helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
    helper.make_node("DequantizeLinear", ["w", "ws"], ["dw"]),
    helper.make_node("Conv", ["d", "dw"], ["y"])],
    {"x": x}, {"y": f32(conv(dequantised, w * 0.01))},
    {"s": np.float32(0.02), "z": np.uint8(128), "w": w, "ws": np.float32(0.01)})

x, w = normal(2, 5), normal(5, 3)
save("external_data", [helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": x}, {"y": x @ w}, {"w": w},
     external=True)

x = normal(1, 2, 3, 4)
scale, bias, mean, variance = normal(2), normal(2), normal(2), np.abs(normal(2)) + 0.5
y = (x - mean[:, None, None]) / np.sqrt(variance[:, None, None] + 1e-5) * scale[:, None, None] + bias[:, None, None]
y = np.pad(np.clip(y, -0.5, 0.75), ((0, 0), (0, 0), (1, 0), (0, 2)), constant_values=3)
save("old_forms", [
    helper.make_node("BatchNormalization", ["x", "s", "b", "m", "v"], ["n"], is_test=1),
    helper.make_node("Clip", ["n"], ["c"], min=-0.5, max=0.75),
    helper.make_node("Pad", ["c"], ["p"], pads=[0, 0, 1, 0, 0, 0, 0, 2], value=3.0),
    helper.make_node("Slice", ["p"], ["t"], starts=[1], ends=[4], axes=[3]),
    helper.make_node("Squeeze", ["t"], ["u"], axes=[0]),
    helper.make_node("Softmax", ["u"], ["y"], axis=1)],
    {"x": x}, {"y": f32((lambda e: e / e.sum((1, 2), keepdims=True))(np.exp(y[0, :, :, 1:4])))},
    {"s": scale, "b": bias, "m": mean, "v": variance}, opset=6)

a, b = np.array([2 ** 62 + 1, -7, 9], np.int64), np.array([2, 2, -4], np.int64)
save("integers", [
    helper.make_node("Div", ["a", "b"], ["d"]),
    helper.make_node("Mod", ["a", "b"], ["r"]),
    helper.make_node("Concat", ["d", "r"], ["y"], axis=0)],
    {"a": a, "b": b}, {"y": np.array([2 ** 61, -3, -2, 1, 1, -3], np.int64)})

x = normal(2, 3).astype(np.float16)
save("half", [helper.make_node("Exp", ["x"], ["e"]), helper.make_node("Add", ["e", "e"], ["y"])],
     {"x": x}, {"y": (np.exp(x.astype(float)).astype(np.float16) * np.float16(2))})

x = normal(1, 4, 5, 5)
first = conv(x, np.ones((4, 4, 3, 3), np.float32) / 18, None, 1, (1, 1, 1, 1))
save("residual", [
    helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
    helper.make_node("Relu", ["c"], ["r"]),
    helper.make_node("Add", ["r", "x"], ["s"]),
    helper.make_node("GlobalAveragePool", ["s"], ["p"]),
    helper.make_node("Flatten", ["p"], ["y"])],
    {"x": x}, {"y": f32((np.maximum(first, 0) + x).mean((2, 3)))}, {"w": np.ones((4, 4, 3, 3), np.float32) / 18})
