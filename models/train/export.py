#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Write a trained net as plain ONNX: Conv, Relu or Clip, Add, Concat, Slice, SpaceToDepth, DepthToSpace.

  export.py sr_x2_fast weights.npz ../sr_x2_fast.onnx
  export.py sr_x2_fast_sharp ../sr_x2_fast_sharp.onnx ../sr_x2_fast_sharp50.onnx --other ../sr_x2_fast.onnx --share 0.5

Height and width are symbolic. The graph is built by hand, node by node, so that nothing of a
framework's own export (Shape chains, Reshape / Transpose pairs) gets into it.
"""
import argparse
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import nets

OPSET = 13


class Graph:
    """Collects nodes and initialisers; every method returns the name of the tensor it makes."""

    def __init__(self, weights):
        self.weights, self.nodes, self.constants = weights, [], []

    def node(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def conv(self, x, layer, output):
        inputs = [x] + [self.constant(f"{layer}.{part}", self.weights[f"{layer}.{part}"])
                        for part in ("weight", "bias")]
        return self.node("Conv", inputs, output, kernel_shape=[3, 3], pads=[1, 1, 1, 1],
                         strides=[1, 1], dilations=[1, 1], group=1)

    def relu(self, x, output, i):
        """What is stored of feature map i."""
        if "ceilings" not in self.weights:
            return self.node("Relu", [x], output)
        limits = [self.constant(f"{output}.{part}", np.array(value, np.float32))
                  for part, value in (("least", 0), ("most", self.weights["ceilings"][i]))]
        return self.node("Clip", [x, *limits], output)

    def channels(self, x, first, last, output):
        """Slice of channels [first, last)."""
        inputs = [x] + [self.constant(f"{output}.{part}", np.array([value], np.int64))
                        for part, value in (("starts", first), ("ends", last), ("axes", 1))]
        return self.node("Slice", inputs, output)

    def trunk(self, x, base):
        """Head, body with the feature residual, tail, and the image added to the correction."""
        body = sum(k.startswith("body.") and k.endswith(".weight") for k in self.weights)
        first = t = self.relu(self.conv(x, "head", "head"), "features", 0)
        for i in range(body - 1):
            t = self.relu(self.conv(t, f"body.{i}", f"body.{i}"), f"relu.{i}", i + 1)
        last = body - 1
        t = self.node("Relu", [self.conv(t, f"body.{last}", f"body.{last}")], f"relu.{last}")
        t = self.node("Add", [t, first], "sum")
        if "ceilings" in self.weights:
            t = self.relu(t, "cut", body)
        t = self.conv(t, "tail", "correction")
        return self.node("Add", [t, base], "corrected")

    def depth_to_space(self, x, block, output):
        return self.node("DepthToSpace", [x], output, blocksize=block, mode="CRD")


def image(name, height, width):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 1, height, width])


def super_resolution(g, scale):
    output = f"luma_x{scale}"
    # One luma for every output channel: it is broadcast.
    g.depth_to_space(g.trunk("luma", "luma"), scale, output)
    return [image("luma", "h", "w")], [image(output, f"h{scale}", f"w{scale}")]


def denoiser(g):
    quarters = g.node("SpaceToDepth", ["y"], "y_quarters", blocksize=2)
    packed = g.node("Concat", [quarters, "u", "v", "noise"], "packed", axis=1)
    planes = g.channels(packed, 0, 6, "planes")
    corrected = g.trunk(packed, planes)
    g.depth_to_space(g.channels(corrected, 0, 4, "y_corrected"), 2, "y_out")
    g.channels(corrected, 4, 5, "u_out")
    g.channels(corrected, 5, 6, "v_out")
    inputs = [image("y", "h2", "w2")] + [image(name, "h", "w") for name in ("u", "v", "noise")]
    return inputs, [image("y_out", "h2", "w2"), image("u_out", "h", "w"), image("v_out", "h", "w")]


def build(name, weights):
    g = Graph(weights)
    spec = nets.NETS[name]
    inputs, outputs = super_resolution(g, spec.scale) if spec.task == "sr" else denoiser(g)
    graph = helper.make_graph(g.nodes, name, inputs, outputs, g.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)],
                              producer_name="mona")
    model.ir_version = 7
    if "ranges" in weights:  # largest value of each stored feature map; evaluate.py reads it
        text = " ".join(f"{v:.6g}" for v in weights["ranges"])
        helper.set_model_props(model, {"ranges": text})
    onnx.checker.check_model(onnx.shape_inference.infer_shapes(model, strict_mode=True))
    return model


def write(model, path):
    """Replace `path` in one step, so that a reader never meets half a file."""
    temporary = path + ".part"
    with open(temporary, "wb") as f:
        f.write(model.SerializeToString())
    os.replace(temporary, path)


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("name", choices=sorted(nets.NETS)), p.add_argument("weights"), p.add_argument("output")
    p.add_argument("--other", help="weights of another net of this shape: what is written lies between the two")
    p.add_argument("--share", type=float, help="that the first have of it")
    a = p.parse_args()
    found = nets.read_weights(a.weights)
    if a.other:
        other = nets.read_weights(a.other)
        found = {key: (a.share * value + (1 - a.share) * other[key]).astype(np.float32) for key, value in found.items()}
    write(build(a.name, found), a.output)
