#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a network of ResNet-50's shape as ONNX with random weights, to compare the speed of engines.

  make_resnet.py OUT.onnx [--qdq QDQ.onnx]

1 x 3 x 224 x 224 in, 1000 numbers out, batch normalisation folded into the convolutions. Weights are He-initialised and
the last convolution of each residual branch is damped, so that values stay between 0 and about 10 through all layers:
time, memory and the agreement of engines are realistic, but classes have no meaning. QDQ.onnx is the same net with the
QuantizeLinear / DequantizeLinear pairs ONNX Runtime looks for: u8 activations with the ranges seen on one image, s8
weights per output channel, s32 biases. Needs Debian's python3-onnx and python3-numpy.
"""
import argparse

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

STAGES = ((64, 3), (128, 4), (256, 6), (512, 3))  # channels of the 3x3 convolutions, blocks
CLASSES, SIDE, DAMPING = 1000, 224, 0.3


class Net:
    """The layers in order: (kind, inputs, output, parameters), and their weights."""

    def __init__(self):
        self.rng = np.random.default_rng(0)
        self.layers, self.weights = [], {}

    def add(self, kind, inputs, output, **parameters):
        self.layers.append((kind, inputs, output, parameters))
        return output

    def conv(self, x, output, ci, co, kernel, stride=1, gain=2.0, relu=False, kind="Conv"):
        shape = (co, ci, kernel, kernel) if kind == "Conv" else (co, ci)
        deviation = np.sqrt(gain / (ci * kernel * kernel))
        self.weights[output] = ((self.rng.standard_normal(shape) * deviation).astype(np.float32),
                                (self.rng.standard_normal(co) * 0.05).astype(np.float32))
        return self.add(kind, [x], output, stride=stride, kernel=kernel, relu=relu)

    def bottleneck(self, x, name, ci, width, stride):
        y = self.conv(x, name + ".a", ci, width, 1, relu=True)
        y = self.conv(y, name + ".b", width, width, 3, stride, relu=True)
        y = self.conv(y, name + ".c", width, 4 * width, 1, gain=DAMPING)
        if ci != 4 * width:
            x = self.conv(x, name + ".skip", ci, 4 * width, 1, stride, gain=1.0)
        return self.add("Add", [y, x], name, relu=True)


def resnet():
    net = Net()
    x = net.conv("image", "stem", 3, 64, 7, 2, relu=True)
    x, channels = net.add("MaxPool", [x], "pool"), 64
    for stage, (width, blocks) in enumerate(STAGES):
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            x = net.bottleneck(x, f"stage{stage + 1}.{block}", channels, width, stride)
            channels = 4 * width
    x = net.add("GlobalAveragePool", [x], "mean")
    x = net.add("Flatten", [x], "features")
    net.conv(x, "classes", channels, CLASSES, 1, gain=1.0, kind="Gemm")
    return net


# ---- what the layers compute, for the ranges -------------------------------------------------------------------------

def windows(x, kernel, stride, fill):
    """[channels, kernel, kernel, rows, columns] of a padded map."""
    pad = kernel // 2
    x = np.pad(x, ((0, 0), (pad, pad), (pad, pad)), constant_values=fill)
    side = (x.shape[1] - kernel) // stride + 1
    last = (side - 1) * stride + 1
    return np.stack([[x[:, i:i + last:stride, j:j + last:stride] for j in range(kernel)] for i in range(kernel)]) \
        .transpose(2, 0, 1, 3, 4)


def evaluate(net, image):
    """{tensor: value} of every layer."""
    values = {"image": image}
    for kind, inputs, output, p in net.layers:
        x = values[inputs[0]]
        if kind == "Conv":
            w, b = net.weights[output]
            columns = windows(x, p["kernel"], p["stride"], 0)
            y = w.reshape(len(b), -1) @ columns.reshape(w[0].size, -1)
            y = (y + b[:, None]).reshape(len(b), *columns.shape[3:])
        elif kind == "Gemm":
            w, b = net.weights[output]
            y = w @ x + b
        elif kind == "Add":
            y = x + values[inputs[1]]
        elif kind == "MaxPool":
            y = windows(x, 3, 2, -np.inf).max(axis=(1, 2))
        elif kind == "GlobalAveragePool":
            y = x.mean(axis=(1, 2), keepdims=True)
        else:
            y = x.reshape(-1)
        values[output] = np.maximum(y, 0) if p.get("relu") else y
    return values


def picture():
    """Smooth and noisy parts, in [0, 1]."""
    rng = np.random.default_rng(1)
    y, x = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    waves = [np.sin(2 * np.pi * (k * x + (4 - k) * y + k / 3)) for k in range(1, 4)]
    return np.clip(np.stack(waves) * 0.35 + 0.5 + rng.standard_normal((3, SIDE, SIDE)) * 0.08, 0, 1).astype(np.float32)


# ---- ONNX ------------------------------------------------------------------------------------------------------------

class Writer:
    def __init__(self, ranges=None):
        self.nodes, self.constants, self.ranges, self.scales = [], [], ranges, {}

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, kind, inputs, output, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output + "/" + kind, **attributes))
        return output

    def activation(self, x, name, like=None):
        """x through QuantizeLinear and DequantizeLinear; with the step of tensor `like`, or its own."""
        if not self.ranges:
            return x
        if like:
            scale, zero = self.scales[like]
        else:
            low, high = min(self.ranges[name][0], 0.0), max(self.ranges[name][1], 0.0)
            scale = np.float32((high - low) / 255)
            zero = np.uint8(np.clip(np.rint(-low / scale), 0, 255))
        self.scales[name] = scale, zero
        step = [self.constant(name + ".scale", scale), self.constant(name + ".zero", zero)]
        return self.node("DequantizeLinear", [self.node("QuantizeLinear", [x] + step, name + ".q")] + step, name + ".dq")

    def parameters(self, name, source, weights, bias):
        if not self.ranges:
            return [self.constant(name + ".weight", weights), self.constant(name + ".bias", bias)]
        scale = (np.abs(weights).reshape(len(bias), -1).max(axis=1) / 127).astype(np.float32)
        q = np.rint(weights / scale.reshape(-1, *[1] * (weights.ndim - 1))).astype(np.int8)
        sums = scale * self.scales[source][0]
        self.constant(name + ".weight", q), self.constant(name + ".bias", np.rint(bias / sums).astype(np.int32))
        self.constant(name + ".weight.scale", scale), self.constant(name + ".bias.scale", sums)
        self.constant(name + ".weight.zero", np.zeros(len(bias), np.int8))
        self.constant(name + ".bias.zero", np.zeros(len(bias), np.int32))
        return [self.node("DequantizeLinear", [name + part, name + part + ".scale", name + part + ".zero"],
                          name + part + ".dq", axis=0) for part in (".weight", ".bias")]

    def layer(self, net, kind, inputs, output, p, read):
        sources = [read[i] for i in inputs]
        y = output + ".raw" if p.get("relu") or self.ranges else output
        if kind == "Conv":
            pad = p["kernel"] // 2
            self.node(kind, sources + self.parameters(output, inputs[0], *net.weights[output]), y,
                      kernel_shape=[p["kernel"]] * 2, strides=[p["stride"]] * 2, pads=[pad] * 4)
        elif kind == "Gemm":
            self.node(kind, sources + self.parameters(output, inputs[0], *net.weights[output]), y, transB=1)
        elif kind == "MaxPool":
            self.node(kind, sources, y, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
        else:
            self.node(kind, sources, y)
        if p.get("relu"):
            y = self.node("Relu", [y], output + ".relu" if self.ranges else output)
        read[output] = self.activation(y, output, inputs[0] if kind in ("MaxPool", "Flatten") else None)

    def save(self, net, path):
        read = {"image": self.activation("image", "image")}
        for kind, inputs, output, p in net.layers:
            self.layer(net, kind, inputs, output, p, read)
        last = net.layers[-1][2]
        if read[last] != last:
            self.node("Identity", [read[last]], last)
        io = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
              for n, s in (("image", [1, 3, SIDE, SIDE]), (last, [1, CLASSES]))]
        graph = helper.make_graph(self.nodes, "resnet50_shape", io[:1], io[1:], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 8
        onnx.checker.check_model(model)
        onnx.save(model, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--qdq", help="write the quantised net as well")
    parser.add_argument("--ranges", action="store_true", help="print the range of every layer")
    a = parser.parse_args()
    net = resnet()
    Writer().save(net, a.out)
    if a.qdq or a.ranges:
        ranges = {k: (float(v.min()), float(v.max())) for k, v in evaluate(net, picture()).items()}
        if a.qdq:
            Writer(ranges).save(net, a.qdq)
        for name, (low, high) in ranges.items() if a.ranges else ():
            print(f"{name:14} {low:8.3f} {high:8.3f}")


if __name__ == "__main__":
    main()
