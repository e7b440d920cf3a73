#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a network of a published architecture as ONNX with random weights, to compare engines.

  make_networks.py NAME OUT.onnx [--qdq QDQ.onnx]      make_networks.py --list

Layers are as torchvision and the authors' code export them, with batch normalisation folded; network.py tells how their
weights are made. QDQ.onnx has QuantizeLinear / DequantizeLinear around every operator: u8 activations, s8 weights per
output channel, s32 biases. Needs Debian's python3-onnx and python3-numpy.
"""
import argparse
import sys

import numpy as np

from network import Net, picture

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


def simple_gate(net, x):
    return net.mul(*net.split(x, [x.channels // 2] * 2))


def naf_block(net, x):
    c, one = x.channels, (1, x.channels, 1, 1)
    y = net.conv(net.layer_norm(x, 1, one), 2 * c)
    y = simple_gate(net, net.conv(y, 2 * c, 3, groups=2 * c))
    y = net.add(x, net.conv(net.mul(y, net.conv(net.mean(y), c)), c, gain=0.3))
    z = simple_gate(net, net.conv(net.layer_norm(y, 1, one), 2 * c))
    return net.add(y, net.conv(z, c, gain=0.3))


def nafnet_16(net):
    """Deblurring, as trained on GoPro, with a width of 16."""
    def blocks(x, count):
        for _ in range(count):
            x = naf_block(net, x)
        return x

    x, skipped = net.conv(net.x, 16, 3), []
    for count in (1, 1, 1, 28):
        skipped.append(blocks(x, count))
        x = net.conv(skipped[-1], 2 * skipped[-1].channels, 2, 2, pad=0)
    x = blocks(x, 1)
    for skip in reversed(skipped):
        x = net.depth_to_space(net.conv(x, 2 * x.channels), 2)
        x = blocks(net.add(x, skip), 1)
    net.output(net.add(net.conv(x, 3, 3, gain=0.1), net.x))


# ---- segmentation ----------------------------------------------------------------------------------------------------

def gather_and_expand(net, x, co, stride):
    """The layers of BiSeNetV2's semantic branch."""
    c = x.channels
    y = net.conv(x, c, 3, act="relu")
    y = net.conv(y, 6 * c, 3, stride, c, act=None if stride == 2 else "relu")
    if stride == 2:
        y = net.conv(y, 6 * c, 3, groups=6 * c, act="relu")
        x = net.conv(net.conv(x, c, 3, 2, c), co)
    return net.add(net.conv(y, co), x, "relu")


def bisenet_v2(net):
    detail = net.x
    for co, repeats in ((64, 1), (64, 2), (128, 2)):
        detail = net.conv(detail, co, 3, 2, act="relu")
        for _ in range(repeats):
            detail = net.conv(detail, co, 3, act="relu")
    x = net.conv(net.x, 16, 3, 2, act="relu")
    x = net.concat([net.conv(net.conv(x, 8, act="relu"), 16, 3, 2, act="relu"), net.pool(x, 3, 2)])
    x = net.conv(x, 16, 3, act="relu")
    for co, repeats in ((32, 1), (64, 1), (128, 3)):
        x = gather_and_expand(net, x, co, 2)
        for _ in range(repeats):
            x = gather_and_expand(net, x, co, 1)
    x = net.conv(net.add(x, net.conv(net.mean(x), 128, act="relu")), 128, 3)
    left = net.conv(net.conv(detail, 128, 3, groups=128), 128)
    down = net.pool(net.conv(detail, 128, 3, 2), 3, 2, "AveragePool")
    gate = net.act(net.resize(net.conv(x, 128, 3), 4, "linear"), "sigmoid")
    right = net.mul(down, net.act(net.conv(net.conv(x, 128, 3, groups=128), 128), "sigmoid"))
    x = net.conv(net.add(net.mul(left, gate), net.resize(right, 4, "linear")), 128, 3, act="relu")
    net.output(net.resize(net.conv(net.conv(x, 1024, 3, act="relu"), 19), 8, "linear"))


# ---- transformers ----------------------------------------------------------------------------------------------------

def attention(net, x, heads):
    tokens, c = x.dims
    size, here = c // heads, len(x.data)
    y = net.dense(x, 3 * c)
    name = net.emit("Reshape", [y.name, net.constant(np.array([1, tokens, 3, heads, size], np.int64))])
    name = net.emit("Transpose", [name], perm=[2, 0, 3, 1, 4])
    q, k, v = (net.emit("Gather", [name, net.constant(np.array(i, np.int64))], axis=0) for i in range(3))
    scores = net.emit("MatMul", [net.emit("Mul", [q, net.constant(np.float32(size ** -0.5))]), net.emit("Transpose", [k], perm=[0, 1, 3, 2])])
    name = net.emit("MatMul", [net.emit("Softmax", [scores], axis=-1), v])
    name = net.emit("Transpose", [name], perm=[0, 2, 1, 3])
    name = net.emit("Reshape", [name, net.constant(np.array([1, tokens, c], np.int64))])
    q, k, v = y.data.reshape(here, 3, heads, size).transpose(1, 2, 0, 3)
    e = np.exp(q @ k.swapaxes(1, 2) * size ** -0.5)
    data = (e / e.sum(axis=-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(here, c)
    return net.quantised(type(x)(name, x.dims, data))


def gelu(net, x):
    erf = net.emit("Erf", [net.emit("Div", [x.name, net.constant(np.float32(2 ** 0.5))])])
    half = net.emit("Mul", [x.name, net.emit("Add", [erf, net.constant(np.float32(1))])])
    name = net.emit("Mul", [half, net.constant(np.float32(0.5))])
    return net.quantised(type(x)(name, x.dims, x.data / (1 + np.exp(-1.702 * x.data))))


def plus(net, a, b):
    return type(a)(net.emit("Add", [a.name, b.name]), a.dims, a.data + b.data)


def vit_tiny(net):
    c = 192
    x = net.conv(net.x, c, 16, 16, pad=0)
    here, tokens = x.data.reshape(c, -1).T, x.dims[1] * x.dims[2] + 1
    name = net.emit("Reshape", [x.name, net.constant(np.array([1, c, tokens - 1], np.int64))])
    name = net.emit("Transpose", [name], perm=[0, 2, 1])
    first = net.rng.standard_normal((1, 1, c)).astype(np.float32)
    place = net.rng.standard_normal((1, tokens, c)).astype(np.float32) * 0.3
    name = net.emit("Concat", [net.constant(first), name], axis=1)
    data = np.concatenate([first[0], here]) + place[0, :len(here) + 1]
    x = type(x)(net.emit("Add", [name, net.constant(place)]), (tokens, c), data)
    for _ in range(12):
        x = plus(net, x, net.dense(attention(net, net.layer_norm(x, -1, c), 3), c, 0.5))
        y = gelu(net, net.dense(net.layer_norm(x, -1, c), 4 * c))
        x = plus(net, x, net.dense(y, c, 0.5))
    x = net.layer_norm(x, -1, c)
    x = type(x)(net.emit("Gather", [x.name, net.constant(np.array(0, np.int64))], axis=1), (c,), x.data[0])
    net.output(net.dense(x, 1000))


NETS = {  # name: (what builds it, channels, height, width)
    "mobilenet_v2": (mobilenet_v2, 3, 224, 224), "mobilenet_v3_small": (mobilenet_v3_small, 3, 224, 224),
    "mobilenet_v3_large": (mobilenet_v3_large, 3, 224, 224), "efficientnet_b0": (efficientnet_b0, 3, 224, 224),
    "shufflenet_v2": (shufflenet_v2, 3, 224, 224), "mnasnet": (mnasnet, 3, 224, 224), "regnet_y_400mf": (regnet_y_400mf, 3, 224, 224),
    "googlenet": (googlenet, 3, 224, 224), "densenet_121": (densenet_121, 3, 224, 224),
    "yolov5n": (lambda net: yolo(net, False), 3, 640, 640), "yolov8n": (lambda net: yolo(net, True), 3, 640, 640),
    "espcn_x3": (espcn_x3, 1, 256, 256), "rcan_lite": (rcan_lite, 3, 256, 256), "imdn": (imdn, 3, 256, 256),
    "nafnet_16": (nafnet_16, 3, 256, 256), "bisenet_v2": (bisenet_v2, 3, 512, 1024), "vit_tiny": (vit_tiny, 3, 224, 224),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", choices=list(NETS), metavar="NAME")
    parser.add_argument("out", nargs="?")
    parser.add_argument("--qdq", help="write the quantised network as well")
    parser.add_argument("--input", help="write an array of the network's size as well")
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
    if a.input:
        np.save(a.input, picture(channels, max(height, width))[:, :height, :width])


if __name__ == "__main__":
    main()
