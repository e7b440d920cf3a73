# SPDX-License-Identifier: Apache-2.0
"""Judges of pictures that nobody here made: how far apart two are in what networks see that were trained on
photographs by others. They are Keras networks of the npm package nsfwjs, unpacked (`npm pack nsfwjs`); node reads it."""
import base64
import json
import os
import subprocess

import numpy as np
import torch
import torch.nn.functional as F

# Layers whose maps count: from half the picture's size to a sixteenth.
MAPS = {"mobilenet_v2": ("Conv1_relu", *(f"block_{n}_expand_relu" for n in (1, 3, 6, 13))),
        "inception_v3": ("activation_3", "activation_5", "mixed0", "mixed2", "mixed5")}
DUMP = """
const folder = process.argv[1], load = (name) => { const m = require(folder + "/" + name); return m.default || m; };
const model = load("model.min.js");
const parts = model.weightsManifest.flatMap((g) => g.paths).map((p) => load(p.replace(/\\.bin$/, "") + ".min.js"));
process.stdout.write(JSON.stringify([model, parts]));
"""


class Judge:
    """Of RGB in [0, 1], N x 3 x h x w."""

    def __init__(self, package, kind):
        self.kind, self.weights = kind, {}
        folder = os.path.abspath(os.path.join(package, "dist", "models", kind))
        model, parts = json.loads(subprocess.run(["node", "-e", DUMP, folder], check=True, stdout=subprocess.PIPE).stdout)
        codes = np.frombuffer(b"".join(base64.b64decode(part) for part in parts), np.uint8)
        for entry in (entry for group in model["weightsManifest"] for entry in group["weights"]):
            now, codes = np.split(codes, [int(np.prod(entry["shape"]))])
            scale, least = (np.float32(entry["quantization"][word]) for word in ("scale", "min"))
            self.weights[entry["name"]] = torch.from_numpy((now * scale + least).reshape(entry["shape"]))
        self.layers = model["modelTopology"]["model_config"]["config"]["layers"]

    def filter(self, x, layer, kernel, groups=1):
        """A convolution; kernel: outputs x inputs x height x width."""
        return F.conv2d(padded(x, layer["config"], kernel.shape[2:]), kernel, self.weights.get(layer["name"] + "/bias"),
                        layer["config"]["strides"], groups=groups)

    def run(self, layer, inputs):
        x, c, weight = inputs[0], layer["config"], lambda part: self.weights.get(f"{layer['name']}/{part}")
        kind = layer["class_name"]
        if kind == "InputLayer":
            return x
        if kind == "ZeroPadding2D":
            (top, bottom), (left, right) = c["padding"]
            return F.pad(x, (left, right, top, bottom))
        if kind == "Conv2D":
            return self.filter(x, layer, weight("kernel").permute(3, 2, 0, 1))
        if kind == "DepthwiseConv2D":
            kernel = weight("depthwise_kernel").permute(2, 3, 0, 1).flatten(0, 1)[:, None]
            return self.filter(x, layer, kernel, len(kernel))
        if kind == "BatchNormalization":
            return F.batch_norm(x, weight("moving_mean"), weight("moving_variance"), weight("gamma"), weight("beta"),
                                eps=c["epsilon"])
        if kind == "ReLU":
            return x.clamp(0, c["max_value"])
        if kind == "Activation" and c["activation"] == "relu":
            return F.relu(x)
        if kind == "MaxPooling2D":
            return F.max_pool2d(padded(x, c, c["pool_size"], -torch.inf), c["pool_size"], c["strides"])
        if kind == "AveragePooling2D":
            total, count = (F.avg_pool2d(padded(v, c, c["pool_size"]), c["pool_size"], c["strides"])
                            for v in (x, torch.ones_like(x[:, :1])))
            return total / count
        if kind == "Concatenate":
            return torch.cat(inputs, 1)
        if kind == "Add":
            return sum(inputs)
        raise SystemExit(f"{self.kind}: expected layers as in nsfwjs 4, found {kind} ({layer['name']})")

    def maps(self, x):
        made = {}
        for layer in self.layers:
            inputs = [made[source] for source, *_ in layer["inbound_nodes"][0]] if layer["inbound_nodes"] else [x]
            made[layer["name"]] = self.run(layer, inputs)
            if layer["name"] == MAPS[self.kind][-1]:
                return [made[name] for name in MAPS[self.kind]]

    @torch.no_grad()
    def distance(self, made, original):
        """The mean over maps of that of vectors of the length 1: LPIPS without learnt weights."""
        total = 0
        for maps in zip(self.maps(made), self.maps(original)):
            m, o = (F.normalize(v, eps=1e-5) for v in maps)
            total += (m - o).square().sum(1).mean().item()
        return total / len(MAPS[self.kind])


def padded(x, config, sides, value=0.0):
    if config["padding"] != "same":
        return x
    (top, bottom), (left, right) = (
        (missing // 2, missing - missing // 2) for missing in
        (max(side - (n % step or step), 0) for n, side, step in zip(x.shape[2:], sides, config["strides"])))
    return F.pad(x, (left, right, top, bottom), value=value)


def load(package):
    return [Judge(package, kind) for kind in MAPS]
