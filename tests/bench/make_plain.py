#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write plain 3x3 super-resolution nets as ONNX, fp32 or QDQ int8, with random weights, to time engines side by side.

Needs Debian's python3-onnx and python3-numpy (run it with /usr/bin/python3).
  make_plain.py OUT.onnx --channels 16 --body 4 [--qdq] [--in-channels 3] [--scale 2] [--height 1080] [--width 1920]
Weights are random, so only time, memory and agreement between engines mean anything, not picture quality.
"""
import argparse
import numpy as np
import onnx
from onnx import helper, numpy_helper, TensorProto


def build(a):
    rng = np.random.default_rng(0)
    nodes, init = [], []
    const = lambda name, v: init.append(numpy_helper.from_array(np.asarray(v), name))
    if a.qdq:
        const("act_s", np.float32(1 / 255)); const("act_z", np.uint8(0))

    def qdq(x, n):
        if not a.qdq:
            return x
        nodes.append(helper.make_node("QuantizeLinear", [x, "act_s", "act_z"], [n + "_q"]))
        nodes.append(helper.make_node("DequantizeLinear", [n + "_q", "act_s", "act_z"], [n + "_dq"]))
        return n + "_dq"

    def conv(x, ci, co, n, relu):
        if a.qdq:
            const(n + "_w", rng.integers(-127, 128, (co, ci, 3, 3)).astype(np.int8))
            const(n + "_s", np.full(co, 1 / (127 * np.sqrt(ci * 9)), np.float32)); const(n + "_z", np.zeros(co, np.int8))
            nodes.append(helper.make_node("DequantizeLinear", [n + "_w", n + "_s", n + "_z"], [n + "_wd"], axis=0))
        else:
            const(n + "_wd", (rng.standard_normal((co, ci, 3, 3)) * np.sqrt(2 / (ci * 9))).astype(np.float32))
        const(n + "_b", np.zeros(co, np.float32))
        nodes.append(helper.make_node("Conv", [x, n + "_wd", n + "_b"], [n], kernel_shape=[3, 3], pads=[1, 1, 1, 1], name=n))
        if relu:
            nodes.append(helper.make_node("Relu", [n], [n + "_r"]))
        return qdq(n + "_r" if relu else n, n)

    x = conv(qdq("in", "in"), a.in_channels, a.channels, "head", True)
    for i in range(a.body):
        x = conv(x, a.channels, a.channels, f"body{i}", True)
    x = conv(x, a.channels, a.in_channels * a.scale ** 2, "tail", False)
    nodes.append(helper.make_node("DepthToSpace", [x], ["out"], blocksize=a.scale, mode="CRD"))
    io = lambda n, s: helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, a.in_channels, a.height * s, a.width * s])
    g = helper.make_graph(nodes, "plain_sr", [io("in", 1)], [io("out", a.scale)], init)
    m = helper.make_model(g, opset_imports=[helper.make_opsetid("", 13)])
    m.ir_version = 8
    onnx.checker.check_model(m)
    onnx.save(m, a.out)


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out"); p.add_argument("--qdq", action="store_true")
    for k, v in dict(channels=16, body=4, in_channels=3, scale=2, height=1080, width=1920).items():
        p.add_argument("--" + k.replace("_", "-"), type=int, default=v)
    build(p.parse_args())
