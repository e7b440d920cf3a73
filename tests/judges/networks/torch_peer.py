#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs networks with PyTorch's own functions, one for each line on standard input, as onnxruntime.js does. What has no
counterpart in PyTorch is refused: resampling by rules of other frameworks, operators on integers."""
import os
import sys

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper

torch.set_num_threads(1)
TYPES = {"float32": np.float32, "float16": np.float16, "uint8": np.uint8, "int8": np.int8, "int32": np.int32, "int64": np.int64, "bool": np.bool_}
ONE = {"Relu": F.relu, "Sigmoid": torch.sigmoid, "Tanh": torch.tanh, "Abs": torch.abs, "Neg": torch.neg, "Exp": torch.exp, "Sqrt": torch.sqrt,
       "Log": torch.log, "Reciprocal": torch.reciprocal, "Erf": torch.erf, "Sin": torch.sin, "Cos": torch.cos, "Softsign": F.softsign,
       "Softplus": F.softplus, "HardSwish": F.hardswish, "Identity": lambda x: x, "Floor": torch.floor, "Ceil": torch.ceil, "Round": torch.round,
       "Sign": torch.sign, "Selu": F.selu}
TWO = {"Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Div": torch.div, "Pow": torch.pow, "Greater": torch.gt, "Less": torch.lt,
       "Max": torch.maximum, "Min": torch.minimum, "Sum": torch.add}
REDUCE = {"ReduceMean": torch.mean, "ReduceSum": torch.sum, "ReduceMax": torch.amax, "ReduceMin": torch.amin,
          "ReduceL1": lambda x, d, k: x.abs().sum(d, k), "ReduceL2": lambda x, d, k: x.square().sum(d, k).sqrt(),
          "ReduceSumSquare": lambda x, d, k: x.square().sum(d, k), "ReduceLogSumExp": torch.logsumexp}


class Refused(Exception):
    pass


def refuse(text):
    raise Refused(text)


def padded(x, pads, value=0.0):
    """x with ONNX's pads of rows and columns."""
    return F.pad(x, [pads[1], pads[3], pads[0], pads[2]], value=value) if any(pads) else x


def window_pads(a, x, size):
    how = a.get("auto_pad", b"NOTSET")
    if how in (b"NOTSET", b"VALID"):
        return a.get("pads", [0] * size)
    kernel, strides, dilations = a["kernel_shape"], a.get("strides", [1, 1]), a.get("dilations", [1, 1])
    missing = [max(0, (-(-n // s) - 1) * s + d * (k - 1) + 1 - n) for n, k, s, d in zip(x.shape[2:], kernel, strides, dilations)]
    few, many = [m // 2 for m in missing], [m - m // 2 for m in missing]
    return few + many if how == b"SAME_UPPER" else many + few


def conv(x, w, b=None, a=None):
    if x.dim() != 4:
        refuse("not of two dimensions")
    return F.conv2d(padded(x, window_pads(a, x, 4)), w, b, a.get("strides", 1), 0, a.get("dilations", 1), a.get("group", 1))


def deconv(x, w, b=None, a=None):
    pads = window_pads(a, x, 4)
    if pads[:2] != pads[2:] or a.get("auto_pad", b"NOTSET") != b"NOTSET":
        refuse("uneven or automatic pads")
    return F.conv_transpose2d(x, w, b, a.get("strides", 1), pads[:2], a.get("output_padding", 0), a.get("group", 1), a.get("dilations", 1))


def pool(op, x, a):
    pads, kernel = window_pads(a, x, 4), a["kernel_shape"]
    stride, up = a.get("strides", [1, 1]), bool(a.get("ceil_mode", 0))
    if pads[:2] != pads[2:] or any(p > k // 2 for p, k in zip(pads, kernel)):
        refuse("pads that PyTorch does not have")
    if op == "MaxPool":
        return F.max_pool2d(x, kernel, stride, pads[:2], a.get("dilations", 1), up)
    return F.avg_pool2d(x, kernel, stride, pads[:2], up, bool(a.get("count_include_pad", 0)))


def resize(x, a, scales, sizes):
    mode, how = a.get("mode", b"nearest"), a.get("coordinate_transformation_mode", b"half_pixel")
    if x.dim() != 4:
        refuse("not a picture")
    if sizes is None:
        s = [float(v) for v in scales]
        if s[:2] != [1, 1] or any(v != round(v) for v in s):
            refuse("scales that are no integers")
        size = [int(x.shape[2] * s[2]), int(x.shape[3] * s[3])]
    else:
        size = [int(v) for v in sizes[2:]]
        if any(n % o for n, o in zip(size, x.shape[2:])):
            refuse("sizes that are no multiples")
    if mode == b"nearest" and how == b"asymmetric" and a.get("nearest_mode") == b"floor":
        return F.interpolate(x, size)
    if mode == b"linear" and how in (b"half_pixel", b"pytorch_half_pixel", b"align_corners"):
        return F.interpolate(x, size, mode="bilinear", align_corners=how == b"align_corners")
    if mode == b"cubic" and a.get("cubic_coeff_a", -0.75) == -0.75 and not a.get("exclude_outside") and how in (b"half_pixel", b"align_corners"):
        return F.interpolate(x, size, mode="bicubic", align_corners=how == b"align_corners")
    return refuse("resampling that PyTorch does not have")


def shuffle(op, x, a):
    n, c, h, w = x.shape
    b = a["blocksize"]
    if op == "SpaceToDepth":
        return x.reshape(n, c, h // b, b, w // b, b).permute(0, 3, 5, 1, 2, 4).reshape(n, c * b * b, h // b, w // b)
    if a.get("mode", b"DCR") == b"CRD":
        return F.pixel_shuffle(x, b)
    return x.reshape(n, b, b, c // b // b, h, w).permute(0, 3, 4, 1, 5, 2).reshape(n, c // b // b, h * b, w * b)


def sliced(x, i):
    starts, ends = [int(v) for v in i[1]], [int(v) for v in i[2]]
    axes = [int(v) for v in i[3]] if len(i) > 3 and i[3] is not None else range(len(starts))
    steps = [int(v) for v in i[4]] if len(i) > 4 and i[4] is not None else [1] * len(starts)
    index = [slice(None)] * x.dim()
    for axis, first, end, step in zip(axes, starts, ends, steps):
        if step < 0:
            side = x.shape[axis]
            x = x.flip(axis)  # then count from the other end
            first, end = side - 1 - (first + side if first < 0 else min(first, side - 1)), side - 1 - (max(end, -side - 1) + side if end < 0 else end)
            step = -step
        index[axis % x.dim()] = slice(first, end, step)
    return x[tuple(index)]


def one_node(op, i, a, opset):
    x = i[0] if i else None
    if op in ONE:
        return ONE[op](x)
    if op in TWO and len(i) == 2:
        return TWO[op](x, i[1])
    if op in REDUCE:
        axes = [int(v) for v in i[1]] if len(i) > 1 else a.get("axes", list(range(x.dim())))
        return REDUCE[op](x, axes, bool(a.get("keepdims", 1)))
    if op in ("Softmax", "LogSoftmax"):
        axis = a.get("axis", -1 if opset >= 13 else 1)
        if opset < 13 and axis % x.dim() != x.dim() - 1:
            refuse("an old form of Softmax")
        return (F.softmax if op == "Softmax" else F.log_softmax)(x, axis)
    if op in ("SpaceToDepth", "DepthToSpace"):
        return shuffle(op, x, a)
    if op in ("MaxPool", "AveragePool"):
        return pool(op, x, a)
    table = {
        "Conv": lambda: conv(*i, a=a), "ConvTranspose": lambda: deconv(*i, a=a),
        "Gemm": lambda: a.get("alpha", 1.0) * ((x.T if a.get("transA") else x) @ (i[1].T if a.get("transB") else i[1])) + (a.get("beta", 1.0) * i[2] if len(i) > 2 else 0),
        "MatMul": lambda: x @ i[1], "Concat": lambda: torch.cat(i, a["axis"]), "Transpose": lambda: x.permute(a["perm"]),
        "Reshape": lambda: x.reshape([int(v) or x.shape[k] for k, v in enumerate(i[1])]), "Flatten": lambda: x.flatten(a.get("axis", 1)),
        "GlobalAveragePool": lambda: x.mean((2, 3), True), "GlobalMaxPool": lambda: x.amax((2, 3), True),
        "LeakyRelu": lambda: F.leaky_relu(x, a.get("alpha", 0.01)), "Elu": lambda: F.elu(x, a.get("alpha", 1.0)), "Celu": lambda: F.celu(x, a.get("alpha", 1.0)),
        "HardSigmoid": lambda: (x * a.get("alpha", 0.2) + a.get("beta", 0.5)).clamp(0, 1), "ThresholdedRelu": lambda: F.threshold(x, a.get("alpha", 1.0), 0),
        "PRelu": lambda: torch.where(x < 0, x * i[1], x), "Where": lambda: torch.where(x, i[1], i[2]),
        "Clip": lambda: x.clamp(None if len(i) < 2 or i[1] is None else float(i[1]), None if len(i) < 3 or i[2] is None else float(i[2])),
        "BatchNormalization": lambda: F.batch_norm(x, i[3], i[4], i[1], i[2], False, 0, a.get("epsilon", 1e-5)),
        "InstanceNormalization": lambda: F.instance_norm(x, None, None, i[1], i[2], True, 0, a.get("epsilon", 1e-5)),
        "LayerNormalization": lambda: F.layer_norm(x, x.shape[-1:], i[1], i[2], a.get("epsilon", 1e-5)) if a.get("axis", -1) == -1 else refuse("an axis"),
        "Resize": lambda: resize(x, a, i[2] if len(i) > 2 else None, i[3] if len(i) > 3 else None), "Slice": lambda: sliced(x, i),
        "Mean": lambda: sum(i) / len(i), "Shape": lambda: torch.tensor(x.shape), "Tile": lambda: x.repeat([int(v) for v in i[1]]),
        "Expand": lambda: x * torch.ones([int(v) for v in i[1]]), "Cast": lambda: x.float() if a["to"] == 1 else refuse("a type"),
        "Gather": lambda: torch.index_select(x, a.get("axis", 0), i[1].reshape(-1) % x.shape[a.get("axis", 0)]) if i[1].dim() else x.select(a.get("axis", 0), int(i[1])),
    }
    return table[op]() if op in table else refuse(op)


def more_nodes(op, i, a, opset, outputs):
    """Operators with several results, or whose form depends on the operator set."""
    x = i[0] if i else None
    if op == "Split":
        axis = a.get("axis", 0)
        sizes = [int(v) for v in i[1]] if len(i) > 1 else a.get("split", [x.shape[axis] // outputs] * outputs)
        return list(torch.split(x, sizes, axis))
    if op in ("Squeeze", "Unsqueeze"):
        axes = [int(v) for v in i[1]] if len(i) > 1 else a["axes"]
        for axis in sorted(axes, reverse=op == "Squeeze"):
            x = x.squeeze(axis) if op == "Squeeze" else x.unsqueeze(axis)
        return [x]
    if op == "Pad":
        pads = [int(v) for v in i[1]] if len(i) > 1 else a["pads"]
        mode, rank = a.get("mode", b"constant"), x.dim()
        if rank != 4 or any(pads[k] for k in (0, 1, 4, 5)) or min(pads) < 0:
            refuse("pads that PyTorch does not have")
        value = float(i[2]) if len(i) > 2 and i[2] is not None else a.get("value", 0.0)
        sides = [pads[3], pads[7], pads[2], pads[6]]
        return [F.pad(x, sides, value=value) if mode == b"constant" else F.pad(x, sides, "reflect" if mode == b"reflect" else "replicate")]
    return [one_node(op, i, a, opset)]


def run(folder):
    model = onnx.load(os.path.join(folder, "model.onnx"))
    opset = model.opset_import[0].version
    values = {t.name: torch.from_numpy(numpy_helper.to_array(t).copy()) for t in model.graph.initializer}
    with open(os.path.join(folder, "inputs.txt")) as lines:
        for k, line in enumerate(lines):
            name, kind, *dims = line.split()
            if kind != "float32":
                refuse("inputs of " + kind)
            values[name] = torch.from_numpy(np.fromfile(os.path.join(folder, f"in_{k}.bin"), TYPES[kind]).reshape([int(d) for d in dims]))
    for node in model.graph.node:
        a = {x.name: onnx.helper.get_attribute_value(x) for x in node.attribute}
        if node.op_type == "Constant":
            made = [torch.from_numpy(numpy_helper.to_array(a["value"]).copy())]
        else:
            made = more_nodes(node.op_type, [values[x] if x else None for x in node.input], a, opset, len(node.output))
        values.update(zip(node.output, made))
    with open(os.path.join(folder, "torch.txt"), "w") as out:
        for k, o in enumerate(model.graph.output):
            result = values[o.name].double().contiguous().numpy()
            result.tofile(os.path.join(folder, f"torch_{k}.bin"))
            out.write(" ".join(str(d) for d in result.shape) + "\n")


def main():
    for line in sys.stdin:
        try:
            with torch.no_grad():
                run(line.strip())
            print("ok", flush=True)
        except Exception as e:  # whatever PyTorch says of a network that it does not take
            print("refused: " + " ".join(str(e).split())[:280], flush=True)


if __name__ == "__main__":
    main()
