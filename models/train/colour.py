#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Train mona's colour network on one core: from a thumbnail, the curves that make its picture good.

  colour.py --steps 3000

Writes to --out: colour.pt (checkpoint; the same command continues from it), colour.onnx (averaged
weights), colour.log and colour.png (curves). The schedule counts steps, so a run is repeatable.

Targets are the training photographs, inputs the same photographs as bad exposures, faded film and
wrong white balances would show them; a quarter are left as they are. Five curves over luma are
predicted, NODES values each, straight lines between: what luma becomes, and for each chroma plane
a gain and an offset. The loss is taken on the picture after the curves. All values are full range,
0..1, chroma around 0.
"""
import argparse
import os
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # before numpy is loaded
    os.environ.setdefault(variable, "1")

import numpy as np
import onnx
import torch
import torch.nn as nn
import torch.nn.functional as F
from onnx import TensorProto, helper

import data
import export
import training

NODES, CURVES = 17, 5  # as pipeline/stages/colour_grading.h has them
THUMB = 64  # side of what the network sees, and of the pictures the loss is taken on
STORED = 80  # of which a crop is taken
STORED_OUTPUTS = 96  # of the last convolution: whole blocks, which every device stores best
UNTOUCHED = 0.25
CHROMA = 1.5  # what its errors count beside luma's
COLLAGES = 0.5  # share of pictures that get a part of another
ROUGH = 0.02  # what the curves' second differences count
WARM_UP = 300

TO_YUV = torch.tensor([[0.299, 0.587, 0.114], [-0.168736, -0.331264, 0.5], [0.5, -0.418688, -0.081312]])
TO_RGB = torch.linalg.inv(TO_YUV)


def mixed(matrix, pictures):
    return torch.einsum("ij,njhw->nihw", matrix, pictures)


def to_8_bit(rgb):
    return (rgb.clamp(0, 1) * 255).round() / 255


# ---- pictures ----------------------------------------------------------------------------------

def parts(image):
    """The picture, its quarters and its middle: each has colours of its own, as a picture would."""
    h, w = image.shape[0] // 4, image.shape[1] // 4
    yield image
    for y, x in ((0, 0), (0, 2), (2, 0), (2, 2), (1, 1)):
        yield image[y * h:(y + 2) * h, x * w:(x + 2) * w]


def load_images(folder, cache):
    """(training, held out), uint8 [n, 3, STORED, STORED]"""
    if not os.path.exists(cache):
        pictures = {"train": [], "held_out": []}
        for part, kind, image in data.train_images(folder, sizes=(1,)):
            if kind == "drawn":
                continue
            for shown in parts(image) if part == "train" else (image,):
                t = torch.from_numpy(shown).permute(2, 0, 1)[None].float()
                pictures[part].append(F.interpolate(t, (STORED, STORED), mode="area")[0].round().byte())
        np.savez(cache, **{part: torch.stack(images).numpy() for part, images in pictures.items()})
    with np.load(cache) as z:
        return torch.from_numpy(z["train"]), torch.from_numpy(z["held_out"])


def crops(pictures, count, rng):
    out = []
    for i in rng.integers(len(pictures), size=count):
        y, x = rng.integers(STORED - THUMB + 1, size=2)
        picture = pictures[i, :, y:y + THUMB, x:x + THUMB]
        out.append(picture.flip(2) if rng.random() < 0.5 else picture)
    return torch.stack(out).float() / 255


def collages(good, rng):
    """Half of the pictures get a part of another one, so that what they show says less of how bright and of which
    colours they are: there are few photographs."""
    out = good.clone()
    for n in range(len(good)):
        if rng.random() < COLLAGES:
            at, other = rng.integers(THUMB // 4, THUMB * 3 // 4), good[rng.integers(len(good))]
            if rng.random() < 0.5:
                out[n, :, at:] = other[:, at:]
            else:
                out[n, :, :, at:] = other[:, :, at:]
    return out


# ---- damage ------------------------------------------------------------------------------------

def damage(rgb, rng):
    """One picture [3, h, w] as something went wrong with it; each wrong with even chances."""
    def maybe():
        return rng.random() < 0.5

    if maybe():  # exposure, in linear light
        rgb = (rgb.clamp(min=1e-4) ** 2.2 * 2 ** rng.uniform(-1.6, 0.8)) ** (1 / 2.2)
    if maybe():
        rgb = rgb.clamp(1e-4, 1) ** np.exp(rng.uniform(-0.5, 0.5))
    if maybe():  # contrast
        rgb = (rgb - 0.5) * np.exp(rng.uniform(-0.7, 0.3)) + 0.5
    if maybe():  # saturation, and offsets of chroma
        yuv = torch.einsum("ij,jhw->ihw", TO_YUV, rgb)
        yuv[1:] *= np.exp(rng.uniform(-1, 0.4))
        if maybe():
            yuv[1:] += torch.tensor(rng.uniform(-0.06, 0.06, size=(2, 1, 1)), dtype=torch.float32)
        rgb = torch.einsum("ij,jhw->ihw", TO_RGB, yuv)
    if maybe():  # white balance
        gains = torch.tensor(np.exp(rng.normal(0, 0.13, size=(3, 1, 1))), dtype=torch.float32)
        rgb = rgb * gains / (gains[1] * 0.587 + gains[0] * 0.299 + gains[2] * 0.114)
    if maybe():  # faded: black is grey, white is dim
        black, white = rng.uniform(0, 0.22), rng.uniform(0.75, 1)
        rgb = rgb * (white - black) + black
    return to_8_bit(rgb)


def damaged(pictures, rng):
    return torch.stack([p if rng.random() < UNTOUCHED else damage(p, rng) for p in pictures])


def held_out_batch(pictures):
    """Always the same damage: (as they were, as they became)."""
    rng = np.random.default_rng(7)
    good = crops(pictures, 4 * len(pictures), rng)
    return good, torch.stack([damage(p, rng) for p in good])


# ---- network -----------------------------------------------------------------------------------

def identity():
    """The curves that change nothing: luma itself (in steps of 16 of 255), gains 1, offsets 0."""
    luma = torch.arange(NODES) * 16 / 255
    return torch.stack([luma, torch.ones(NODES), torch.ones(NODES), torch.zeros(NODES), torch.zeros(NODES)])


class Net(nn.Module):
    """Thumbnails to what is added to the identity.

    Means of features tell what a picture is about; the largest of others where its blacks and
    whites are, in any colour.
    """
    LAYERS = (("a", 3, 32, 3), ("b", 32, 32, 3), ("c", 32, 64, 3), ("ends", 3, 32, 1),
              ("d", 96, 64, 1), ("e", 64, CURVES * NODES, 1))

    def __init__(self):
        super().__init__()
        for name, inputs, outputs, side in self.LAYERS:
            layer = nn.Conv2d(inputs, outputs, side, 2 if side == 3 else 1, side // 2)
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu"), nn.init.zeros_(layer.bias)
            setattr(self, name, layer)
        nn.init.zeros_(self.e.weight)
        with torch.no_grad():  # as if pictures were seen from their middle, with a spread of 1
            for layer in (self.a, self.ends):
                layer.weight *= 4
                layer.bias -= 0.45 * layer.weight.sum((1, 2, 3))

    def forward(self, thumbs):
        """thumbs: Y, U + 0.5, V + 0.5"""
        x = F.relu(self.c(F.relu(self.b(F.relu(self.a(thumbs))))))
        ends = F.relu(self.ends(thumbs)).amax((2, 3), keepdim=True)
        x = self.e(F.relu(self.d(torch.cat([x.mean((2, 3), keepdim=True), ends], 1))))
        return x.view(-1, CURVES, NODES)


def curves_of(answer):
    """Curves that hold: luma never falls and gains are within what the kernel has."""
    curves = identity() + answer
    luma = curves[:, :1].cummax(2)[0]
    return torch.cat([luma, curves[:, 1:3].clamp(0, 3.9), curves[:, 3:]], 1)


def apply(curves, yuv):
    """The kernel, in float: yuv [n, 3, h, w]."""
    at = yuv[:, :1] * (255 / 16)
    node = at.floor().clamp(0, NODES - 2)
    index = node.long().flatten(2).expand(-1, CURVES, -1)
    low, high = curves.gather(2, index), curves.gather(2, index + 1)
    luma, gain_u, gain_v, offset_u, offset_v = \
        torch.lerp(low, high, (at - node).flatten(2)).view(len(yuv), CURVES, *yuv.shape[2:]).unbind(1)
    return torch.stack([luma, yuv[:, 1] * gain_u + offset_u, yuv[:, 2] * gain_v + offset_v], 1)


def thumbnails(yuv):
    return ((yuv + torch.tensor([0, 0.5, 0.5]).view(1, 3, 1, 1)) * 255).round() / 255


def enhanced(net, rgb):
    """(curves, Y, U, V after them)"""
    yuv = mixed(TO_YUV, rgb)
    curves = curves_of(net(thumbnails(yuv)))
    return curves, apply(curves, yuv)


def psnr(a, b):
    return float(-10 * torch.log10(((a - b) ** 2).mean((1, 2, 3)).clamp(min=1e-7)).mean())


def to_onnx(net):
    g = export.Graph({})
    thumbnail = g.node("Concat", ["y", "u", "v"], "thumbnail", axis=1)

    def conv(x, name):
        layer = getattr(net, name)
        weight, bias = (getattr(layer, part).detach().numpy() for part in ("weight", "bias"))
        if name == "e":
            more = STORED_OUTPUTS - len(bias)
            weight, bias = np.pad(weight, [(0, more)] + 3 * [(0, 0)]), np.pad(bias, (0, more))
        inputs = [x, g.constant(name + ".weight", weight), g.constant(name + ".bias", bias)]
        side = weight.shape[2]
        x = g.node("Conv", inputs, name, kernel_shape=[side, side], pads=[side // 2] * 4,
                   strides=list(layer.stride))
        return x if name == "e" else g.node("Relu", [x], name + ".relu")

    mean = g.node("GlobalAveragePool", [conv(conv(conv(thumbnail, "a"), "b"), "c")], "mean")
    most = g.node("GlobalMaxPool", [conv(thumbnail, "ends")], "most")
    g.channels(conv(conv(g.node("Concat", [mean, most], "both", axis=1), "d"), "e"), 0,
               CURVES * NODES, "curves")
    planes = [export.image(name, THUMB, THUMB) for name in "yuv"]
    answer = helper.make_tensor_value_info("curves", TensorProto.FLOAT, [1, CURVES * NODES, 1, 1])
    graph = helper.make_graph(g.nodes, "colour", planes, [answer], g.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", export.OPSET)],
                              producer_name="mona")
    model.ir_version = 7
    onnx.checker.check_model(onnx.shape_inference.infer_shapes(model, strict_mode=True))
    return model


# ---- training ----------------------------------------------------------------------------------

class Run(training.Run):
    def __init__(self, a):
        torch.manual_seed(a.seed)
        super().__init__(Net())

    def train_step(self, a, pictures):
        rate = a.rate * min(1, self.step / WARM_UP) \
            * (0.5 + 0.5 * np.cos(np.pi * self.step / a.steps)) + 1e-6
        rng = np.random.default_rng([a.seed, self.step])
        good = collages(crops(pictures, a.batch, rng), rng)
        curves, made = enhanced(self.net, damaged(good, rng))
        error = (made - mixed(TO_YUV, good)).abs() * torch.tensor([1, CHROMA, CHROMA]).view(1, 3, 1, 1)
        rough = (curves[:, :, 2:] - 2 * curves[:, :, 1:-1] + curves[:, :, :-2]).abs()
        self.descend(error.mean() + ROUGH * rough.mean(), rate, 1.0)
        return error.mean().item()


@torch.no_grad()
def held_out_psnr(net, good, bad):
    """(damaged pictures, the same enhanced, good ones enhanced)"""
    target = mixed(TO_YUV, good)
    return (psnr(mixed(TO_YUV, bad), target), psnr(enhanced(net, bad)[1], target),
            psnr(enhanced(net, good)[1], target))


def plot(curve, path):
    steps, loss, before, after, kept = zip(*curve)

    def draw(left, right):
        left.plot(steps, loss), left.set_ylabel("mean error of Y, U, V")
        for values, label in ((before, "damaged"), (after, "enhanced"), (kept, "good ones, enhanced")):
            right.plot(steps, values, label=label)
        right.set_ylabel("held-out Y, U, V together, dB")

    training.plot(path, draw)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--data", default=data.DEFAULT_DATA)
    p.add_argument("--out", default=os.path.join(data.ROOT, "build", "train"))
    p.add_argument("--steps", type=int, default=3000)
    p.add_argument("--rate", type=float, default=1e-3)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--seed", type=int, default=0)
    a = p.parse_args()
    torch.set_num_threads(1)
    os.makedirs(a.out, exist_ok=True)
    base = os.path.join(a.out, "colour")
    pictures, held = load_images(a.data, base + "_images.npz")
    good, bad = held_out_batch(held)
    run = Run(a)
    if os.path.exists(base + ".pt"):
        run.restore(base + ".pt")
    log = open(base + ".log", "a", buffering=1)
    print(f"colour: step {run.step} of {a.steps}", file=log)
    errors, began = [], time.time()
    while run.step < a.steps:
        errors.append(run.train_step(a, pictures))
        if run.step % 250 == 0 or run.step == a.steps:
            run.seconds += time.time() - began
            figures = held_out_psnr(run.average, good, bad)
            run.curve.append((run.step, float(np.mean(errors)), *figures))
            print(f"{run.step} error {np.mean(errors):.4f} damaged {figures[0]:.2f} enhanced "
                  f"{figures[1]:.2f} good {figures[2]:.2f} minutes {run.seconds / 60:.1f}", file=log)
            export.write(to_onnx(run.average), base + ".onnx")
            run.save(base + ".pt")
            plot(run.curve, base + ".png")
            errors, began = [], time.time()


if __name__ == "__main__":
    main()
