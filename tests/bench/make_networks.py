#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a network of a published architecture as ONNX with random weights, to compare engines.

  make_networks.py NAME OUT.onnx [--qdq QDQ.onnx]      make_networks.py --list

Layers are as torchvision and the authors' code export them, with batch normalisation folded. Weights are scaled, layer
by layer, so that on a picture the results of a convolution have a deviation of about 1: time, memory and the agreement
of engines are realistic, but results have no meaning. The statistics are those of a smaller picture. QDQ.onnx has
QuantizeLinear / DequantizeLinear around every operator: u8 activations, s8 weights per output channel, s32 biases. Needs
Debian's python3-onnx and python3-numpy.
"""
import argparse
import math
import sys

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

    def conv(self, x, co, kernel=1, stride=1, groups=1, act=None, gain=1.0, dilation=1):
        kh, kw = (kernel, kernel) if isinstance(kernel, int) else kernel
        per, pads = x.channels // groups, [(kh - 1) * dilation // 2, (kw - 1) * dilation // 2]
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


# ---- classifiers -----------------------------------------------------------------------------------------------------

def rounded(v, to=8):
    n = max(to, int(v + to / 2) // to * to)
    return n + to if n < 0.9 * v else n


def squeeze(net, x, channels, act, gate):
    y = net.conv(net.mean(x), channels, act=act)
    return net.mul(x, net.conv(y, x.channels, act=gate))


def inverted(net, x, kernel, wide, co, stride, act, se=None):
    y = net.conv(x, wide, act=act) if wide != x.channels else x
    y = net.conv(y, wide, kernel, stride, wide, act)
    y = se(y, x.channels) if se else y
    y = net.conv(y, co, gain=0.5)
    return net.add(x, y) if stride == 1 and x.channels == co else y


def mobilenet_v3(net, rows, last, head):
    x = net.conv(net.x, 16, 3, 2, act="hswish")
    for kernel, wide, co, se, act, stride in rows:
        gate = (lambda y, _: squeeze(net, y, rounded(y.channels / 4), "relu", "hsigmoid")) if se else None
        x = inverted(net, x, kernel, wide, co, stride, act, gate)
    x = net.mean(net.conv(x, last, act="hswish"))
    net.classes(net.conv(x, head, act="hswish"))


def mobilenet_v3_large(net):
    r, h = "relu", "hswish"
    mobilenet_v3(net, [(3, 16, 16, 0, r, 1), (3, 64, 24, 0, r, 2), (3, 72, 24, 0, r, 1), (5, 72, 40, 1, r, 2), (5, 120, 40, 1, r, 1),
                       (5, 120, 40, 1, r, 1), (3, 240, 80, 0, h, 2), (3, 200, 80, 0, h, 1), (3, 184, 80, 0, h, 1), (3, 184, 80, 0, h, 1),
                       (3, 480, 112, 1, h, 1), (3, 672, 112, 1, h, 1), (5, 672, 160, 1, h, 2), (5, 960, 160, 1, h, 1), (5, 960, 160, 1, h, 1)],
                 960, 1280)


def mobilenet_v3_small(net):
    r, h = "relu", "hswish"
    mobilenet_v3(net, [(3, 16, 16, 1, r, 2), (3, 72, 24, 0, r, 2), (3, 88, 24, 0, r, 1), (5, 96, 40, 1, h, 2), (5, 240, 40, 1, h, 1),
                       (5, 240, 40, 1, h, 1), (5, 120, 48, 1, h, 1), (5, 144, 48, 1, h, 1), (5, 288, 96, 1, h, 2), (5, 576, 96, 1, h, 1),
                       (5, 576, 96, 1, h, 1)], 576, 1024)


def efficientnet_b0(net):
    x = net.conv(net.x, 32, 3, 2, act="silu")
    for expand, kernel, stride, co, repeats in ((1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2), (6, 3, 2, 80, 3), (6, 5, 1, 112, 3),
                                                (6, 5, 2, 192, 4), (6, 3, 1, 320, 1)):
        for i in range(repeats):
            x = inverted(net, x, kernel, x.channels * expand, co, stride if not i else 1, "silu",
                         lambda y, ci: squeeze(net, y, max(1, ci // 4), "silu", "sigmoid"))
    net.classes(net.conv(x, 1280, act="silu"))


def shufflenet_v2(net):
    x = net.pool(net.conv(net.x, 24, 3, 2, act="relu"), 3, 2)
    for co, repeats in ((116, 4), (232, 8), (464, 4)):
        half = co // 2
        for i in range(repeats):
            if not i:
                a = net.conv(net.conv(x, x.channels, 3, 2, x.channels), half, act="relu")
                b = net.conv(x, half, act="relu")
            else:
                a, b = net.split(x, [half, half])
                b = net.conv(b, half, act="relu")
            b = net.conv(net.conv(b, half, 3, 1 if i else 2, half), half, act="relu")
            x = net.shuffle(net.concat([a, b]), 2)
    net.classes(net.conv(x, 1024, act="relu"))


def mnasnet(net):
    x = net.conv(net.x, 32, 3, 2, act="relu")
    x = net.conv(net.conv(x, 32, 3, 1, 32, "relu"), 16)
    for kernel, stride, expand, co, repeats in ((3, 2, 3, 24, 3), (5, 2, 3, 40, 3), (5, 2, 6, 80, 3), (3, 1, 6, 96, 2), (5, 2, 6, 192, 4), (3, 1, 6, 320, 1)):
        for i in range(repeats):
            x = inverted(net, x, kernel, x.channels * expand, co, stride if not i else 1, "relu")
    net.classes(net.conv(x, 1280, act="relu"))


def mobilenet_v2(net):
    x = net.conv(net.x, 32, 3, 2, act="relu6")
    for expand, co, repeats, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(repeats):
            x = inverted(net, x, 3, x.channels * expand, co, stride if not i else 1, "relu6")
    net.classes(net.conv(x, 1280, act="relu6"))


def regnet_y_400mf(net):
    x = net.conv(net.x, 32, 3, 2, act="relu")
    for co, repeats in ((48, 1), (104, 3), (208, 6), (440, 6)):
        for i in range(repeats):
            ci, stride = x.channels, 1 if i else 2
            y = net.conv(net.conv(x, co, act="relu"), co, 3, stride, co // 8, "relu")
            y = net.conv(squeeze(net, y, max(1, ci // 4), "relu", "sigmoid"), co, gain=0.5)
            x = net.add(x if i else net.conv(x, co, 1, stride), y, "relu")
    net.classes(x)


def googlenet(net):
    x = net.pool(net.conv(net.x, 64, 7, 2, act="relu"), 3, 2, pad=0, ceil=1)
    x = net.pool(net.conv(net.conv(x, 64, act="relu"), 192, 3, act="relu"), 3, 2, pad=0, ceil=1)
    rows = ((64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64), 0, (192, 96, 208, 16, 48, 64), (160, 112, 224, 24, 64, 64),
            (128, 128, 256, 24, 64, 64), (112, 144, 288, 32, 64, 64), (256, 160, 320, 32, 128, 128), 0, (256, 160, 320, 32, 128, 128),
            (384, 192, 384, 48, 128, 128))
    for row in rows:
        if not row:
            x = net.pool(x, 3, 2, pad=0, ceil=1)
            continue
        a, b0, b, c0, c, d = row
        x = net.concat([net.conv(x, a, act="relu"), net.conv(net.conv(x, b0, act="relu"), b, 3, act="relu"),
                        net.conv(net.conv(x, c0, act="relu"), c, 3, act="relu"), net.conv(net.pool(x, 3, 1), d, act="relu")])
    net.classes(x)


def densenet_121(net):
    """The normalisation before a concatenation's convolution cannot be folded: it is a Mul, an Add and a Relu."""

    def normal(x):
        scale, shift = (net.rng.standard_normal((x.channels, 1, 1)).astype(np.float32) * 0.1 + n for n in (1, 0))
        names = [net.constant(v[None]) for v in (scale, shift)]
        y = net.made("Mul", [x], x.dims, x.data * scale, more=names[:1])
        return net.act(net.made("Add", [y], x.dims, y.data + shift, more=names[1:]), "relu")

    x = net.pool(net.conv(net.x, 64, 7, 2, act="relu"), 3, 2)
    for stage, repeats in enumerate((6, 12, 24, 16)):
        for _ in range(repeats):
            y = net.conv(net.conv(normal(x), 128, act="relu"), 32, 3)
            x = net.concat([x, y])
        if stage < 3:
            x = net.pool(net.conv(normal(x), x.channels // 2), 2, 2, "AveragePool", pad=0)
    net.classes(normal(x))


# ---- detectors -------------------------------------------------------------------------------------------------------

def c3(net, x, co, repeats, shortcut, both):
    """The stage of YOLOv5 (C3), or of YOLOv8 (C2f)."""
    half = co // 2
    if both:
        y = net.conv(x, co, act="silu")
        parts = net.split(y, [half, half])
        for _ in range(repeats):
            z = net.conv(net.conv(parts[-1], half, 3, act="silu"), half, 3, act="silu")
            parts.append(net.add(parts[-1], z) if shortcut else z)
        return net.conv(net.concat(parts), co, act="silu")
    y = net.conv(x, half, act="silu")
    for _ in range(repeats):
        z = net.conv(net.conv(y, half, act="silu"), half, 3, act="silu")
        y = net.add(y, z) if shortcut else z
    return net.conv(net.concat([y, net.conv(x, half, act="silu")]), co, act="silu")


def yolo(net, both):
    x = net.conv(net.x, 16, 3 if both else 6, 2, act="silu")
    x = c3(net, net.conv(x, 32, 3, 2, act="silu"), 32, 1, True, both)
    p3 = c3(net, net.conv(x, 64, 3, 2, act="silu"), 64, 2, True, both)
    p4 = c3(net, net.conv(p3, 128, 3, 2, act="silu"), 128, 2 if both else 3, True, both)
    p5 = c3(net, net.conv(p4, 256, 3, 2, act="silu"), 256, 1, True, both)
    y = [net.conv(p5, 128, act="silu")]
    for _ in range(3):
        y.append(net.pool(y[-1], 5, 1))
    p5 = net.conv(net.concat(y), 256, act="silu")
    if both:
        n4 = c3(net, net.concat([net.resize(p5), p4]), 128, 1, False, both)
        n3 = c3(net, net.concat([net.resize(n4), p3]), 64, 1, False, both)
        m4 = c3(net, net.concat([net.conv(n3, 64, 3, 2, act="silu"), n4]), 128, 1, False, both)
        m5 = c3(net, net.concat([net.conv(m4, 128, 3, 2, act="silu"), p5]), 256, 1, False, both)
        for p in (n3, m4, m5):
            box = net.conv(net.conv(net.conv(p, 64, 3, act="silu"), 64, 3, act="silu"), 64)
            kind = net.conv(net.conv(net.conv(p, 80, 3, act="silu"), 80, 3, act="silu"), 80)
            net.output(net.concat([box, kind]))
        return
    t5 = net.conv(p5, 128, act="silu")
    n4 = c3(net, net.concat([net.resize(t5), p4]), 128, 1, False, both)
    t4 = net.conv(n4, 64, act="silu")
    n3 = c3(net, net.concat([net.resize(t4), p3]), 64, 1, False, both)
    m4 = c3(net, net.concat([net.conv(n3, 64, 3, 2, act="silu"), t4]), 128, 1, False, both)
    m5 = c3(net, net.concat([net.conv(m4, 128, 3, 2, act="silu"), t5]), 256, 1, False, both)
    for p in (n3, m4, m5):
        net.output(net.conv(p, 255))


# ---- restoration -----------------------------------------------------------------------------------------------------

def espcn_x3(net):
    x = net.conv(net.conv(net.x, 64, 5, act="tanh"), 32, 3, act="tanh")
    net.output(net.depth_to_space(net.conv(x, 9, 3, gain=0.2), 3))


def rcan_lite(net):
    x = first = net.conv(net.x, 32, 3)
    for _ in range(2):
        group = x
        for _ in range(4):
            y = net.conv(net.conv(x, 32, 3, act="relu"), 32, 3, gain=0.3)
            x = net.add(x, squeeze(net, y, 4, "relu", "sigmoid"))
        x = net.add(group, net.conv(x, 32, 3, gain=0.3))
    x = net.add(first, net.conv(x, 32, 3, gain=0.3))
    net.output(net.depth_to_space(net.conv(x, 12, 3, gain=0.2), 2))


def imdn(net):
    x = first = net.conv(net.x, 64, 3)
    kept = []
    for _ in range(6):
        y, parts = x, []
        for _ in range(3):
            a, y = net.split(net.conv(y, 64, 3, act="lrelu"), [16, 48])
            parts.append(a)
        y = net.concat(parts + [net.conv(y, 16, 3)])
        x = net.add(x, net.conv(squeeze(net, y, 4, "relu", "sigmoid"), 64, gain=0.3))
        kept.append(x)
    x = net.conv(net.concat(kept), 64, act="lrelu")
    x = net.add(first, net.conv(x, 64, 3, gain=0.3))
    net.output(net.depth_to_space(net.conv(x, 12, 3, gain=0.2), 2))


NETS = {  # name: (what builds it, channels, height, width)
    "mobilenet_v2": (mobilenet_v2, 3, 224, 224), "mobilenet_v3_small": (mobilenet_v3_small, 3, 224, 224),
    "mobilenet_v3_large": (mobilenet_v3_large, 3, 224, 224), "efficientnet_b0": (efficientnet_b0, 3, 224, 224),
    "shufflenet_v2": (shufflenet_v2, 3, 224, 224), "mnasnet": (mnasnet, 3, 224, 224), "regnet_y_400mf": (regnet_y_400mf, 3, 224, 224),
    "googlenet": (googlenet, 3, 224, 224), "densenet_121": (densenet_121, 3, 224, 224),
    "yolov5n": (lambda net: yolo(net, False), 3, 640, 640), "yolov8n": (lambda net: yolo(net, True), 3, 640, 640),
    "espcn_x3": (espcn_x3, 1, 256, 256), "rcan_lite": (rcan_lite, 3, 256, 256), "imdn": (imdn, 3, 256, 256),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", choices=list(NETS), metavar="NAME")
    parser.add_argument("out", nargs="?")
    parser.add_argument("--qdq", help="write the quantised network as well")
    parser.add_argument("--list", action="store_true", help="print name and size of every network")
    a = parser.parse_args()
    if a.list:
        for name, (_, channels, height, width) in NETS.items():
            print(f"{name} {channels} {width}x{height}")
        return
    if not a.out:
        sys.exit("make_networks.py: expected NAME OUT.onnx")
    build, channels, height, width = NETS[a.name]
    for path, qdq in ((a.out, False), (a.qdq, True)):
        if path:
            net = Net(a.name, channels, height, width, qdq)
            build(net)
            net.save(path)


if __name__ == "__main__":
    main()
