# SPDX-License-Identifier: Apache-2.0
"""Builds an ONNX network with random weights, operator by operator; make_networks.py has the architectures.

Weights are scaled, layer by layer, so that on a picture the results of a convolution have a deviation of about 1: time,
memory and the agreement of engines are realistic, but results have no meaning. The statistics are those of a smaller
picture. Needs Debian's python3-onnx and python3-numpy.
"""
import math

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SMALL = 64  # side of the picture that weights are scaled on


def picture(channels, side):
    """Smooth and noisy parts, in [0, 1]."""
    rng = np.random.default_rng(1)
    y, x = np.mgrid[0:side, 0:side] / side
    waves = [np.sin(2 * np.pi * (k * x + (4 - k) * y + k / 3)) for k in range(1, channels + 1)]
    return np.clip(np.stack(waves) * 0.35 + 0.5 + rng.standard_normal((channels, side, side)) * 0.08, 0, 1).astype(np.float32)


class Value:
    """A tensor: its name, its shape in the network, and what it is for the small picture."""

    def __init__(self, name, dims, data):
        self.name, self.dims, self.data = name, dims, data

    @property
    def channels(self):
        return self.dims[0]


class Net:
    def __init__(self, name, channels, height, width, qdq):
        self.name, self.qdq, self.rng = name, qdq, np.random.default_rng(0)
        self.nodes, self.constants, self.outputs, self.scales, self.count = [], [], [], {}, 0
        self.input = Value("image", (channels, height, width), picture(channels, SMALL))
        self.x = self.quantised(self.input)

    # ---- writing ----

    def constant(self, value):
        self.count += 1
        name = f"c{self.count}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def emit(self, kind, inputs, outputs=1, **attributes):
        self.count += 1
        names = [f"v{self.count}" + (f".{i}" if outputs > 1 else "") for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, name=f"{kind}_{self.count}", **attributes))
        return names if outputs > 1 else names[0]

    def quantised(self, v, like=None):
        """v through QuantizeLinear and DequantizeLinear; with the step of value `like`, or its own."""
        if not self.qdq:
            return v
        if like is not None:
            scale, zero = self.scales[like.name]
        else:
            low, high = min(float(v.data.min()), 0.0), max(float(v.data.max()), 1e-3)
            scale = np.float32((high - low) / 255)
            zero = np.uint8(np.clip(np.rint(-low / scale), 0, 255))
        step = [self.constant(scale), self.constant(zero)]
        name = self.emit("DequantizeLinear", [self.emit("QuantizeLinear", [v.name] + step)] + step)
        self.scales[name] = scale, zero
        return Value(name, v.dims, v.data)

    def made(self, kind, inputs, dims, data, like=None, more=(), **attributes):
        name = self.emit(kind, [v.name for v in inputs] + list(more), **attributes)
        return self.quantised(Value(name, dims, data), like)

    def parameters(self, source, weights, bias):
        if not self.qdq:
            return [self.constant(weights), self.constant(bias)]
        scale = (np.maximum(np.abs(weights).reshape(len(bias), -1).max(axis=1), 1e-6) / 127).astype(np.float32)
        q = np.rint(weights / scale.reshape(-1, *[1] * (weights.ndim - 1))).astype(np.int8)
        sums = scale * self.scales[source.name][0]
        made = []
        for numbers, steps in ((q, scale), (np.rint(bias / sums).astype(np.int32), sums)):
            parts = [self.constant(numbers), self.constant(steps), self.constant(np.zeros(len(bias), numbers.dtype))]
            made.append(self.emit("DequantizeLinear", parts, axis=0))
        return made

    # ---- operators ----

    def conv(self, x, co, kernel=1, stride=1, groups=1, act=None, gain=1.0, dilation=1, pad=None):
        kh, kw = (kernel, kernel) if isinstance(kernel, int) else kernel
        per, pads = x.channels // groups, [(k - 1) * dilation // 2 if pad is None else pad for k in (kh, kw)]
        w = self.rng.standard_normal((co, per, kh, kw)).astype(np.float32)
        y = convolve(x.data, w, stride, groups, pads, dilation)
        w *= np.float32(gain / max(y.std(), 1e-3))
        b = (self.rng.standard_normal(co) * 0.2).astype(np.float32)
        y = convolve(x.data, w, stride, groups, pads, dilation) + b[:, None, None]
        dims = (co,) + tuple((n + 2 * p - (k - 1) * dilation - 1) // stride + 1 for n, p, k in zip(x.dims[1:], pads, (kh, kw)))
        out = self.made("Conv", [x], dims, y, more=self.parameters(x, w, b), kernel_shape=[kh, kw], strides=[stride] * 2,
                        pads=pads * 2, group=groups, dilations=[dilation] * 2)
        return self.act(out, act)

    def act(self, x, kind):
        if kind is None:
            return x
        if kind == "silu":
            return self.mul(x, self.act(x, "sigmoid"))
        if kind == "hswish":
            return self.made("HardSwish", [x], x.dims, x.data * np.clip(x.data / 6 + 0.5, 0, 1)) if not self.qdq else \
                self.mul(x, self.act(x, "hsigmoid"))
        data = {"relu": lambda v: np.maximum(v, 0), "relu6": lambda v: np.clip(v, 0, 6), "sigmoid": lambda v: 1 / (1 + np.exp(-v)),
                "hsigmoid": lambda v: np.clip(v / 6 + 0.5, 0, 1), "tanh": np.tanh,
                "lrelu": lambda v: np.where(v > 0, v, 0.05 * v)}[kind](x.data)
        name = {"relu": "Relu", "relu6": "Clip", "sigmoid": "Sigmoid", "hsigmoid": "HardSigmoid", "tanh": "Tanh", "lrelu": "LeakyRelu"}[kind]
        more = [self.constant(np.float32(0)), self.constant(np.float32(6))] if kind == "relu6" else []
        attributes = {"hsigmoid": {"alpha": 1 / 6, "beta": 0.5}, "lrelu": {"alpha": 0.05}}.get(kind, {})
        return self.made(name, [x], x.dims, data, more=more, **attributes)

    def add(self, a, b, act=None):
        return self.act(self.made("Add", [a, b], a.dims, a.data + b.data), act)

    def mul(self, a, b):
        return self.made("Mul", [a, b], a.dims, a.data * b.data)

    def concat(self, parts):
        dims = (sum(p.channels for p in parts),) + parts[0].dims[1:]
        return self.made("Concat", parts, dims, np.concatenate([p.data for p in parts]), axis=1)

    def split(self, x, sizes):
        names = self.emit("Split", [x.name, self.constant(np.array(sizes, np.int64))], len(sizes), axis=1)
        ends = np.cumsum(sizes)
        return [self.quantised(Value(n, (s,) + x.dims[1:], x.data[e - s:e]), x) for n, s, e in zip(names, sizes, ends)]

    def pool(self, x, kernel, stride, kind="MaxPool", pad=None, ceil=0):
        pad = kernel // 2 if pad is None else pad
        fill = -np.inf if kind == "MaxPool" else 0
        w = windows(np.pad(x.data, ((0, 0), (pad, pad + ceil), (pad, pad + ceil)), constant_values=fill), kernel, kernel, stride, 1)
        data = w.max(axis=(1, 2)) if kind == "MaxPool" else w.mean(axis=(1, 2))
        side = lambda n: (n + 2 * pad - kernel + (stride - 1) * ceil) // stride + 1
        more = {"count_include_pad": 1} if kind == "AveragePool" else {}
        return self.made(kind, [x], (x.channels, side(x.dims[1]), side(x.dims[2])), np.nan_to_num(data, neginf=0), like=x if kind == "MaxPool" else None,
                         kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, ceil_mode=ceil, **more)

    def mean(self, x):
        return self.made("GlobalAveragePool", [x], (x.channels, 1, 1), x.data.mean(axis=(1, 2), keepdims=True))

    def resize(self, x, factor=2, mode="nearest"):
        scales = self.constant(np.array([1, 1, factor, factor], np.float32))
        extra = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"} if mode == "nearest" else \
            {"coordinate_transformation_mode": "half_pixel"}
        return self.made("Resize", [x], (x.channels, x.dims[1] * factor, x.dims[2] * factor), x.data.repeat(factor, 1).repeat(factor, 2), like=x,
                         more=["", scales], mode=mode, **extra)

    def depth_to_space(self, x, block):
        c, h, w = x.data.shape
        data = x.data.reshape(c // block**2, block, block, h, w).transpose(0, 3, 1, 4, 2).reshape(c // block**2, h * block, w * block)
        return self.made("DepthToSpace", [x], (c // block**2, x.dims[1] * block, x.dims[2] * block), data, like=x, blocksize=block, mode="CRD")

    def shuffle(self, x, groups):
        c, h, w = x.dims
        data = x.data.reshape(groups, c // groups, *x.data.shape[1:]).swapaxes(0, 1).reshape(x.data.shape)
        y = self.emit("Reshape", [x.name, self.constant(np.array([1, groups, c // groups, h, w], np.int64))])
        y = self.emit("Transpose", [y], perm=[0, 2, 1, 3, 4])
        y = self.emit("Reshape", [y, self.constant(np.array([1, c, h, w], np.int64))])
        return self.quantised(Value(y, x.dims, data), x)

    def layer_norm(self, x, axis, like_parameters):
        """As PyTorch exports it before operator set 17. like_parameters: the shape of scale and shift."""
        mean = self.emit("ReduceMean", [x.name], axes=[axis], keepdims=1)
        centred = self.emit("Sub", [x.name, mean])
        square = self.emit("Pow", [centred, self.constant(np.float32(2))])
        variance = self.emit("Add", [self.emit("ReduceMean", [square], axes=[axis], keepdims=1), self.constant(np.float32(1e-6))])
        y = self.emit("Div", [centred, self.emit("Sqrt", [variance])])
        scale, shift = (self.rng.standard_normal(like_parameters).astype(np.float32) * 0.1 + n for n in (1, 0))
        y = self.emit("Mul", [y, self.constant(scale)])
        y = self.emit("Add", [y, self.constant(shift)])
        at = axis if axis < 0 else axis - 1
        d = x.data - x.data.mean(axis=at, keepdims=True)
        d = d / np.sqrt((d * d).mean(axis=at, keepdims=True) + 1e-6)
        return self.quantised(Value(y, x.dims, (d * scale.reshape(scale.shape[-d.ndim:]) + shift.reshape(shift.shape[-d.ndim:])).astype(np.float32)))

    def dense(self, x, count, gain=1.0):
        """x [..., inputs] times constants, as MatMul and Add."""
        w = (self.rng.standard_normal((x.dims[-1], count)) * (gain / math.sqrt(x.dims[-1]))).astype(np.float32)
        b = (self.rng.standard_normal(count) * 0.1).astype(np.float32)
        if self.qdq:
            scale = (np.abs(w).max(axis=0) / 127).astype(np.float32)
            parts = [np.rint(w / scale).astype(np.int8), scale, np.zeros(count, np.int8)]
            names = [self.emit("DequantizeLinear", [self.constant(p) for p in parts], axis=1)]
        else:
            names = [self.constant(w)]
        y = self.emit("MatMul", [x.name] + names)
        return Value(self.emit("Add", [self.constant(b), y]), x.dims[:-1] + (count,), x.data @ w + b)

    def classes(self, x, count=1000):
        x = self.mean(x) if x.dims[1] > 1 else x
        flat = self.quantised(Value(self.emit("Flatten", [x.name]), (x.channels,), x.data.reshape(-1)), x)
        w = (self.rng.standard_normal((count, x.channels)) / math.sqrt(x.channels)).astype(np.float32)
        b = np.zeros(count, np.float32)
        self.output(self.made("Gemm", [flat], (count,), w @ flat.data, more=self.parameters(flat, w, b), transB=1))

    def output(self, v):
        self.outputs.append(v)

    def save(self, path):
        names = [f"output{i}" for i in range(len(self.outputs))]
        for name, v in zip(names, self.outputs):
            self.nodes.append(helper.make_node("Identity", [v.name], [name], name=name))
        io = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1] + list(v.dims)) for n, v in
              [("image", self.input)] + list(zip(names, self.outputs))]
        graph = helper.make_graph(self.nodes, self.name, io[:1], io[1:], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)])
        model.ir_version = 8
        onnx.checker.check_model(model)
        onnx.save(model, path)


def windows(x, kh, kw, stride, dilation):
    """[channels, kh, kw, rows, columns] of a padded map."""
    rows = (x.shape[1] - (kh - 1) * dilation - 1) // stride + 1
    columns = (x.shape[2] - (kw - 1) * dilation - 1) // stride + 1
    return np.stack([[x[:, i * dilation:i * dilation + (rows - 1) * stride + 1:stride, j * dilation:j * dilation + (columns - 1) * stride + 1:stride]
                      for j in range(kw)] for i in range(kh)]).transpose(2, 0, 1, 3, 4)


def convolve(x, w, stride, groups, pads, dilation):
    kh, kw = w.shape[2:]
    seen = windows(np.pad(x, ((0, 0), (pads[0],) * 2, (pads[1],) * 2)), kh, kw, stride, dilation)
    rows, columns = seen.shape[3:]
    seen = seen.reshape(groups, -1, rows * columns)
    return (w.reshape(groups, w.shape[0] // groups, -1) @ seen).reshape(w.shape[0], rows, columns)
