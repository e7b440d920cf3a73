#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the test cases in this folder, in the layout of the ONNX suite; numpy computes the expected results,
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
    """inputs, outputs: {name: array}; dims: {name: sides} for sides that the model leaves open."""
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

# How exporters write "twice as large": sizes computed from the shape, which folds once the sizes are known.
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

# ---- arrays: tensors of any rank ---------------------------------------------------------------

def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def normal_along(x, axes, epsilon=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


from math import erf  # noqa: E402
erf = np.vectorize(erf)

x = normal(2, 3, 4)
d = x.astype(float)
save("array_functions", [
    node("Elu", "x", "a", alpha=0.5), node("Gelu", "x", "b"), node("Softplus", "x", "c"), node("Erf", "x", "d"),
    node("Celu", "x", "e", alpha=2.0), node("Mish", "x", "f"), node("Sin", "x", "g"), node("Tanh", "x", "h"),
    node("Sum", "a b c d e f g h", "y"), node("Floor", "x", "i"), node("Sign", "x", "j"), node("Abs", "x", "k"),
    node("Sqrt", "k", "l"), node("Add", "i j", "m"), node("Add", "m l", "z")],
    {"x": x},
    {"y": f32(np.where(d > 0, d, 0.5 * np.expm1(d)) + d / 2 * (1 + erf(d / np.sqrt(2))) + np.log1p(np.exp(d)) + erf(d)
              + np.where(d > 0, d, 2 * np.expm1(d / 2)) + d * np.tanh(np.log1p(np.exp(d))) + np.sin(d) + np.tanh(d)),
     "z": f32(np.floor(d) + np.sign(d) + np.sqrt(np.abs(d)))}, opset=20)

a, b, c = normal(2, 1, 4), normal(3, 1), normal(2, 3, 1)
s = a + b
p = np.where(s > c, s * c, np.maximum(s, 0) ** 2)
save("array_broadcast", [
    node("Add", "a b", "s"), node("Greater", "s c", "g"), node("Mul", "s c", "m"), node("Relu", "s", "r"),
    node("Pow", "r two", "q"), node("Where", "g m q", "y"), node("Not", "g", "n"), node("And", "g n", "never"),
    node("Max", "a b c", "most"), node("Clip", "most low", "z")],
    {"a": a, "b": b, "c": c},
    {"y": f32(p), "n": s <= c, "never": np.zeros((2, 3, 4), bool),
     "z": np.maximum(np.maximum(np.maximum(a, b), c), np.float32(0.1))},
    {"two": np.float32(2), "low": np.float32(0.1)}, opset=18)

x = normal(2, 3, 4)
e = x.astype(float)
save("array_reduce", [
    node("ReduceSum", "x last", "sum", keepdims=0), node("ReduceMax", "x", "most"),
    node("ReduceLogSumExp", "x first", "lse"), node("ReduceL2", "x ends", "l2", keepdims=0),
    node("ArgMax", "x", "at", axis=1, keepdims=0), node("ArgMin", "x", "low", axis=-1)],
    {"x": x},
    {"sum": x.sum(2), "most": x.max(keepdims=True), "lse": f32(np.log(np.exp(e).sum(0, keepdims=True))),
     "l2": f32(np.sqrt((e ** 2).sum((0, 2)))), "at": x.argmax(1), "low": x.argmin(2)[:, :, None]},
    {"last": np.array([2]), "first": np.array([0]), "ends": np.array([0, -1])}, opset=18)

x, scale, shift = normal(2, 4, 3, 5), normal(4), normal(4)
groups = normal_along(x.reshape(2, 2, 2, 3, 5).astype(float), (2, 3, 4)).reshape(x.shape)
instances = normal_along(x.astype(float), (2, 3))
layers = normal_along(x.astype(float), 3)
each = (slice(None), slice(None), None, None)
save("array_normalise", [
    node("GroupNormalization", "x s b", "g", num_groups=2), node("InstanceNormalization", "x s b", "i"),
    node("LayerNormalization", "x ls lb", "l mean inverse", axis=-1), node("Softmax", "l", "y", axis=1),
    node("LogSoftmax", "l", "z", axis=2)],
    {"x": x},
    {"g": f32(groups * scale[None][each] + shift[None][each]), "i": f32(instances * scale[None][each] + shift[None][each]),
     "y": f32(softmax(layers * 0.5 + 0.25, 1)), "z": f32(np.log(softmax(layers * 0.5 + 0.25, 2))),
     "inverse": f32(1 / np.sqrt(x.astype(float).var(3, keepdims=True) + 1e-5))},
    {"s": scale, "b": shift, "ls": np.full(5, 0.5, np.float32), "lb": np.full(5, 0.25, np.float32)}, opset=21)

x, at = normal(2, 3, 5), np.array([[2, -1], [0, 4]])
t = x.transpose(2, 0, 1)
cut = t[4:0:-2]
padded = np.pad(cut, ((1, 1), (0, 0), (2, 0)), mode="reflect")
joined = np.concatenate([padded, np.tile(t, (1, 1, 1))[:4, :, :2], np.full((4, 2, 2), 7, np.float32)[:, :, :2]], 2)
save("array_moves", [
    node("Transpose", "x", "t", perm=[2, 0, 1]), node("Slice", "t from to axis step", "c"),
    node("Pad", "c pads", "p", mode="reflect"), node("Slice", "t zero four axis", "f"),
    node("Split", "f", "h i", axis=2, num_outputs=2), node("Expand", "seven shape", "e"),
    node("Concat", "p h e", "j", axis=-1), node("Gather", "x known", "k", axis=2), node("Gather", "x at", "y", axis=2),
    node("Tile", "k twice", "z"), node("Reshape", "j flat", "r"), node("Unsqueeze", "r axis", "u"),
    node("Pad", "u around", "v")],
    {"x": x, "at": at},
    {"y": x[:, :, at], "z": np.tile(x[:, :, [1, 3]], (1, 2, 1)),
     "v": np.pad(joined.reshape(1, -1), ((0, 0), (1, 2)))},
    {"from": np.array([4]), "to": np.array([0]), "axis": np.array([0]), "step": np.array([-2]), "zero": np.array([0]),
     "four": np.array([4]), "pads": np.array([1, 0, 2, 1, 0, 0]), "seven": np.float32(7), "shape": np.array([4, 2, 2]),
     "known": np.array([1, 3]), "twice": np.array([1, 2, 1]), "flat": np.array([-1]),
     "around": np.array([0, 1, 0, 2])}, opset=18)

a, b, v, w = normal(2, 1, 3, 4), normal(5, 4, 2), normal(4), normal(6, 4)
save("array_products", [
    node("MatMul", "a b", "y"), node("MatMul", "a v", "z"), node("Gemm", "m w c", "g", transB=1, alpha=0.5, beta=2.0)],
    {"a": a, "b": b, "v": v, "m": a[0, 0]},
    {"y": f32(a.astype(float) @ b), "z": f32(a.astype(float) @ v), "g": f32(0.5 * a[0, 0].astype(float) @ w.T + 2 * np.arange(3)[:, None])},
    {"w": w, "c": np.arange(3, dtype=np.float32)[:, None]})

x, w = normal(2, 2, 3, 4, 5), normal(4, 1, 2, 2, 2)
y = np.zeros((2, 4, 2, 3, 2))
for o in range(4):
    for z, r, c in np.ndindex(2, 3, 2):
        window = x[:, o // 2, z:z + 2, r:r + 2, 2 * c:2 * c + 2]
        y[:, o, z, r, c] = (window.astype(float) * w[o, 0]).sum((1, 2, 3))
pool = np.zeros((2, 2, 3, 2))
index = np.zeros((2, 2, 3, 2), np.int64)
means = np.zeros((2, 2, 3, 3))
flat = x[:, :, 0]
for n, c, r, k in np.ndindex(2, 2, 3, 2):
    window = flat[n, c, r:r + 2, 2 * k:2 * k + 3]
    best = np.unravel_index(window.argmax(), window.shape)
    pool[n, c, r, k] = window.max()
    index[n, c, r, k] = ((n * 2 + c) * 4 + r + best[0]) * 5 + 2 * k + best[1]
line = x[:, 0, 0, 0]
spread = np.zeros((2, 1, 11))
for i in range(5):
    spread[:, 0, 2 * i:2 * i + 3] += line[:, i:i + 1].astype(float) * np.array([1, -2, 0.5])
save("array_windows", [
    node("Conv", "x w", "y", strides=[1, 1, 2], group=2),
    node("Slice", "x zero one two", "s"), node("Squeeze", "s two", "f"),
    node("MaxPool", "f", "p i", kernel_shape=[2, 3], strides=[1, 2]),
    node("Slice", "f zero one axis", "g"), node("Slice", "g zero one two", "h"), node("Squeeze", "h two", "l"),
    node("ConvTranspose", "l k", "t", strides=[2])],
    {"x": x, "w": w}, {"y": f32(y), "p": f32(pool), "i": index, "t": f32(spread)},
    {"zero": np.array([0]), "one": np.array([1]), "two": np.array([2]), "axis": np.array([1]),
     "k": np.array([[[1, -2, 0.5]]], np.float32)})

x = normal(1, 2, 2, 8)
half = np.zeros((8, 4))
for o in range(4):
    for i in range(-2, 10):
        half[min(max(i, 0), 7), o] += max(0, 1 - abs(i - (2 * o + 0.5)) / 2) / 2
crop = np.array([0.25 * 7 + i * 0.5 * 7 / 2 for i in range(3)])
left = np.floor(crop).astype(int)
cropped = x[..., left] * (1 - (crop - left)) + x[..., left + 1] * (crop - left)
save("array_resize", [
    helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="linear", antialias=1),
    helper.make_node("Resize", ["x", "region", "", "sizes"], ["z"], mode="linear",
                     coordinate_transformation_mode="tf_crop_and_resize")],
    {"x": x}, {"y": f32(x.astype(float) @ half), "z": f32(cropped)},
    {"scales": np.array([1, 1, 1, 0.5], np.float32), "sizes": np.array([1, 2, 2, 3]),
     "region": np.array([0, 0, 0, 0.25, 1, 1, 1, 0.75], np.float32)}, opset=19)

x, w = rng.integers(0, 256, (1, 2, 4, 4)).astype(np.uint8), rng.integers(-127, 128, (3, 2, 2, 2)).astype(np.int8)
sums = conv(x.astype(float) - 120, w.astype(float))
scale = np.float64(np.float32(0.02)) * np.array([0.01, 0.02, 0.015], np.float32).astype(float) / np.float64(np.float32(0.5))
q = np.clip(np.rint(sums * scale[:, None, None]) + 100, 0, 255).astype(np.uint8)
m = rng.integers(0, 256, (2, 3, 4)).astype(np.uint8)
n = rng.integers(-128, 128, (4, 2)).astype(np.int8)
r = normal(3, 5)
low, high = min(r.min(), 0), max(r.max(), 0)
step = np.float32(high - low) / np.float32(255)
zero = np.uint8(np.clip(np.rint(-low / step), 0, 255))
save("array_quantised", [
    node("QLinearConv", "x xs xz w ws wz ys yz", "y"), node("ConvInteger", "x w xz", "ci"),
    node("MatMulInteger", "m n mz nz", "mi"), node("DynamicQuantizeLinear", "r", "dq ds dz"),
    node("QuantizeLinear", "r qs qz", "q4", axis=0), node("Cast", "q4", "q8", to=TensorProto.INT8),
    node("DequantizeLinear", "q4 qs qz", "back", axis=0)],
    {"x": x, "m": m, "n": n, "r": r},
    {"y": q, "ci": sums.astype(np.int32), "mi": ((m.astype(int) - 3) @ (n.astype(int) + 5)).astype(np.int32),
     "dq": np.clip(np.rint(r / step) + zero, 0, 255).astype(np.uint8), "ds": step, "dz": zero,
     "q8": np.clip(np.rint(r / np.array([[0.5], [0.25], [0.125]], np.float32)) + 1, -128, 127).astype(np.int8),
     "back": f32(np.clip(np.rint(r / np.array([[0.5], [0.25], [0.125]], np.float32)), -129, 126)
                 * np.array([[0.5], [0.25], [0.125]]))},
    {"xs": np.float32(0.02), "xz": np.uint8(120), "w": w, "ws": np.array([0.01, 0.02, 0.015], np.float32),
     "wz": np.zeros(3, np.int8), "ys": np.float32(0.5), "yz": np.uint8(100), "mz": np.uint8(3), "nz": np.int8(-5),
     "qs": np.array([0.5, 0.25, 0.125], np.float32), "qz": np.ones(3, np.int8)}, opset=19)

rows, columns = np.array([3, 10, 255], np.uint8), np.array([-9, 100], np.int8)
of_each = (m.astype(int) - rows[:, None]) @ (n.astype(int) - columns)
scales = np.float32(0.02) * np.array([0.01, 0.02], np.float32) / np.float32(0.5)
save("array_zero_points", [  # of rows and columns
    node("MatMulInteger", "m n rows columns", "y"), node("QLinearMatMul", "m ms rows n ns columns ys yz", "z")],
    {"m": m, "n": n},
    {"y": of_each.astype(np.int32), "z": np.clip(np.rint(of_each * scales) + 100, 0, 255).astype(np.uint8)},
    {"rows": rows, "columns": columns, "ms": np.float32(0.02), "ns": np.array([0.01, 0.02], np.float32),
     "ys": np.float32(0.5), "yz": np.uint8(100)})

x = np.array([0.1, -3.3, 460, 1e-3, 449, 7.5, -0.4, 70000], np.float32)
i = np.array([-9, 7, 300, -300, 2 ** 33 + 5], np.int64)
save("array_casts", [  # 17: FLOAT8E4M3FN, 22: INT4
    node("Cast", "x", "e", to=17), node("Cast", "e", "y", to=TensorProto.FLOAT),
    node("Cast", "x", "h", to=TensorProto.BFLOAT16), node("Cast", "h", "z", to=TensorProto.FLOAT),
    node("Cast", "i", "b", to=TensorProto.UINT8), node("Cast", "x", "w", to=TensorProto.INT64),
    node("Cast", "i", "t", to=TensorProto.BOOL), node("Cast", "i", "n", to=22),
    node("Cast", "n", "few", to=TensorProto.INT32)],
    {"x": x, "i": i},
    {"y": np.array([0.1015625, -3.25, 448, 2 ** -9, 448, 7.5, -0.40625, 448], np.float32),
     "z": (lambda u: ((u + 0x7fff + (u >> 16 & 1)) & 0xffff0000).astype(np.uint32).view(np.float32))(x.view(np.uint32).astype(np.uint64)),
     "b": i.astype(np.uint8), "w": x.astype(np.int64), "t": i != 0,
     "few": ((i + 8) % 16 - 8).astype(np.int32)}, opset=21)

# A detector's head: maps become arrays, and one goes back to a convolution.
x, w, v = normal(1, 3, 6, 6), normal(8, 3, 3, 3), normal(4, 8, 1, 1)
first = np.maximum(conv(x, w, None, 1, (1, 1, 1, 1)), 0)
scores = conv(first, v).transpose(0, 2, 3, 1).reshape(1, -1, 2)
gate = sigmoid(first.mean((2, 3)) @ np.eye(8)[:, ::-1])
mixed = conv(np.concatenate([first * gate[:, :, None, None], first[:, 2:5]], 1), np.ones((2, 11, 1, 1)) / 11)
save("array_mixed", [
    node("Conv", "x w", "c", pads=[1, 1, 1, 1]), node("Relu", "c", "f"), node("Conv", "f v", "h"),
    node("Transpose", "h", "t", perm=[0, 2, 3, 1]), node("Reshape", "t two", "r"), node("Softmax", "r", "y", axis=2),
    node("GlobalAveragePool", "f", "p"), node("Flatten", "p", "q"), node("MatMul", "q turn", "m"),
    node("Sigmoid", "m", "g"), node("Reshape", "g four", "e"), node("Mul", "f e", "s"),
    node("Slice", "f from to axis", "n"), node("Concat", "s n", "j", axis=1), node("Conv", "j o", "z")],
    {"x": x}, {"y": f32(softmax(scores, 2)), "z": f32(mixed)},
    {"w": w, "v": v, "two": np.array([1, -1, 2]), "turn": f32(np.eye(8)[:, ::-1]), "four": np.array([1, 8, 1, 1]),
     "from": np.array([2]), "to": np.array([5]), "axis": np.array([1]), "o": np.full((2, 11, 1, 1), 1 / 11, np.float32)})

# Open sizes, and operators that need them: a score for each class at each position, as at the end of detectors.
x, w = normal(1, 3, 4, 6), normal(5, 3, 3, 3) * np.float32(0.3)
scores = np.exp(conv(x, w, pads=(1, 1, 1, 1)).transpose(0, 2, 3, 1).reshape(1, -1, 5))
save("array_scores", [
    helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
    helper.make_node("Transpose", ["c"], ["t"], perm=[0, 2, 3, 1]),
    helper.make_node("Reshape", ["t", "places"], ["r"]),
    helper.make_node("Softmax", ["r"], ["y"], axis=2)],
    {"x": x}, {"y": f32(scores / scores.sum(2, keepdims=True))}, {"w": w, "places": np.array([1, -1, 5])},
    dims={"x": [1, 3, "rows", "columns"], "y": [1, "places", 5]})

# What is easily mistaken: a backward slice that begins before the first element, samples that lie halfway between two,
# indices of several axes, an axis of two of which the second is padding, and positions counted from the first axis on.
x = np.arange(5, dtype=np.float32)[None] + 1
v = rng.permutation(60).astype(np.float32).reshape(1, 1, 3, 4, 5)
largest, places = np.zeros((1, 1, 2, 2, 2), np.float32), np.zeros((1, 1, 2, 2, 2), np.int64)
for z, r, c in np.ndindex(2, 2, 2):
    window = v[0, 0, z:z + 2, 2 * r:2 * r + 2, 2 * c:2 * c + 2]
    best = np.unravel_index(window.argmax(), window.shape)
    largest[0, 0, z, r, c] = window.max()
    places[0, 0, z, r, c] = z + best[0] + 3 * (2 * r + best[1] + 4 * (2 * c + best[2]))
at = rng.integers(-5, 5, (2, 3, 2))
save("array_edges", [
    node("Slice", "x from to axis step", "y"),
    node("Resize", "x none scales", "z", mode="nearest", nearest_mode="floor", coordinate_transformation_mode="half_pixel_symmetric"),
    node("Gather", "x at", "g", axis=1), node("Transpose", "x", "t"), node("Pad", "t pads seven", "p"),
    node("MaxPool", "v", "m i", kernel_shape=[2, 2, 2], strides=[1, 2, 2], storage_order=1)],
    {"x": x, "v": v},
    {"y": x[:, :1], "z": x[:, [0, 0, 1, 2, 2, 3, 4]], "g": x[:, at],
     "p": np.stack([x[0], np.full(5, 7, np.float32)], 1), "m": largest, "i": places},
    {"from": np.array([-9]), "to": np.array([-2 ** 40]), "axis": np.array([1]), "step": np.array([-2]),
     "none": np.zeros(0, np.float32), "scales": np.array([1, 1.5], np.float32), "at": at, "pads": np.array([0, 0, 0, 1]),
     "seven": np.float32(7)}, opset=19)

# The nearest sample of operator set 10: the next one where an axis becomes shorter, and else the one before, as in ONNX's own
# case then, test_resize_downsample_nearest.
x = normal(1, 2, 4, 5)
save("old_resize", [node("Resize", "x shorter", "y", mode="nearest"), node("Resize", "x mixed", "z", mode="nearest")],
     {"x": x}, {"y": x[:, :, [0, 2]][..., [0, 2, 4]], "z": x[:, :, [0, 2, 3]][..., [0, 0, 1, 2, 2, 3, 4]]},
     {"shorter": np.array([1, 1, .6, .6], np.float32), "mixed": np.array([1, 1, .75, 1.5], np.float32)}, opset=10)

m = np.array([[True, False, True], [False, False, True]])
save("truths", [node("Cast", "m", "y", to=TensorProto.FLOAT), node("Equal", "m yes", "e"), node("Identity", "m", "i")],
     {"m": m}, {"y": f32(m), "e": m, "i": m}, {"yes": np.array(True)})
