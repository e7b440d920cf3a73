#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Networks that see what people see of a picture, for training a look and for judging it: trained here on the
photographs alone, each by a task whose answers cost nothing.

  features.py KIND

Kinds: damage, told how a patch was blurred, sharpened, made noisy and compressed: the loss of look.py. which, told the
photograph that a patch is of, and alike, told which patches are of one photograph: judges that no training sees, of
other shapes. Kept as features-KIND.npz in --out, from which the same command takes them.
"""
import argparse
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

import data
import store

# Output channels, kernel, stride, and what follows: the pooling that halves, if any.
SHAPES = {
    "damage": ((16, 3, 1, None), (32, 3, 2, None), (32, 3, 1, None), (64, 3, 2, None), (64, 3, 1, None)),
    "which": ((32, 5, 2, None), (48, 3, 1, "max"), (64, 3, 1, None)),
    "alike": ((16, 3, 1, None), (24, 3, 1, "mean"), (32, 3, 1, "mean"), (48, 3, 1, None)),
}
RELU = {"damage": F.relu, "which": F.elu, "alike": F.relu}
STEPS = {"damage": 1000, "which": 800, "alike": 300}
BATCH, SIDE, RATE = 32, 48, 2e-3


class Features(nn.Module):
    def __init__(self, kind, answers):
        super().__init__()
        self.kind, inputs = kind, 1
        layers = []
        for outputs, kernel, stride, _ in SHAPES[kind]:
            layers.append(nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2))
            nn.init.kaiming_normal_(layers[-1].weight)
            inputs = outputs
        self.layers = nn.ModuleList(layers)
        self.answer = nn.Linear(2 * sum(outputs for outputs, *_ in SHAPES[kind]), answers)
        self.register_buffer("usual", torch.ones(len(layers)))  # length of each map's vectors

    def maps(self, x):
        """Of luma in [0, 1], N x 1 x h x w: one map of each layer."""
        x, out = (x - 0.45) * 4, []
        for layer, (*_, pool) in zip(self.layers, SHAPES[self.kind]):
            x = RELU[self.kind](layer(x))
            out.append(x)
            if pool:
                x = F.max_pool2d(x, 2) if pool == "max" else F.avg_pool2d(x, 2)
        return out

    def forward(self, x):
        maps = self.maps(x)
        return self.answer(torch.cat([part for m in maps for part in (m.mean((2, 3)), m.std((2, 3)))], 1))

    def apart(self, made, original):
        """Distance of maps, of each picture: the mean over layers of that of vectors which are all about as long."""
        total = 0
        for usual, m, o in zip(self.usual, made, original):
            m, o = (v * (v.square().sum(1, keepdim=True) + usual**2).rsqrt() for v in (m, o))
            total = total + (m - o).square().sum(1).mean((1, 2))
        return total / len(made)

    def distance(self, made, original):
        return self.apart(self.maps(made), self.maps(original))


# ---- what they are asked -----------------------------------------------------------------------

def blurred(x, sigma):
    """Each picture by a Gaussian of its own."""
    t = torch.arange(-4, 5.0)
    kernel = torch.exp(-t**2 / (2 * sigma.clamp(min=0.05)[:, None] ** 2))
    kernel = kernel / kernel.sum(1, keepdim=True)
    x = F.pad(x.transpose(0, 1), (4, 4, 4, 4), "reflect")
    x = F.conv2d(x, kernel[:, None, :, None], groups=len(kernel))
    return F.conv2d(x, kernel[:, None, None, :], groups=len(kernel)).transpose(0, 1)


def damaged(x, rng):
    """(pictures, what was done to each)"""
    much = torch.from_numpy((rng.random((4, len(x))) * (rng.random((4, len(x))) < 0.6)).astype(np.float32))
    blur, sharp, noise, jpeg = much
    x = blurred(x, 2 * blur)
    x = x + 2 * sharp.view(-1, 1, 1, 1) * (x - blurred(x, torch.ones(len(x))))
    x = x + torch.from_numpy(rng.standard_normal(x.shape, np.float32)) * noise.view(-1, 1, 1, 1) * (10 / 255)
    coded = store.jpeg((x * 255).round().clamp(0, 255), (95 - 65 * jpeg).round()) / 255
    return torch.where(jpeg.view(-1, 1, 1, 1) > 0, coded, x.clamp(0, 1)), much.T


def asked(kind, pictures, rng):
    """(patches, what is to be answered)"""
    which = rng.integers(len(pictures), size=BATCH)
    if kind == "alike":
        which[BATCH // 2:] = which[:BATCH // 2]
    x = torch.from_numpy(np.stack([cut(pictures[n], rng) for n in which]).astype(np.float32)[:, None] / 255)
    if kind == "damage":
        return damaged(x, rng)
    gain, shift = (torch.from_numpy(rng.uniform(*of, (BATCH, 1, 1, 1)).astype(np.float32))
                   for of in ((0.7, 1.3), (-0.1, 0.1)))
    return (x - 0.45) * gain + 0.45 + shift, torch.from_numpy(which)


def cut(picture, rng):
    y, x = (rng.integers(n - SIDE + 1) for n in picture.shape)
    patch = picture[y:y + SIDE, x:x + SIDE]
    return patch[:, ::-1] if rng.random() < 0.5 else patch


def told_apart(found):
    """How near each answer is to those that could be its other half."""
    one, other = F.normalize(found, dim=1).chunk(2)
    return 10 * one @ other.T


def train(kind, pictures, steps):
    torch.manual_seed(list(SHAPES).index(kind))
    net = Features(kind, {"damage": 4, "alike": 32, "which": len(pictures)}[kind])
    optimiser = torch.optim.Adam(net.parameters())
    right = 0.0
    for step in range(steps):
        x, wanted = asked(kind, pictures, np.random.default_rng([1, step]))
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1, step / 100) * 0.5 * (1 + np.cos(np.pi * step / steps)) + 1e-6
        found = net(x)
        if kind == "alike":
            found, wanted = told_apart(found), torch.arange(BATCH // 2)
        loss = F.mse_loss(found, wanted) if kind == "damage" else F.cross_entropy(found, wanted)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        told = loss.item() if kind == "damage" else (found.argmax(1) == wanted).float().mean().item()
        right += (told - right) * max(0.01, 1 / (step + 1))
        if (step + 1) % 100 == 0:
            what = "square of errors" if kind == "damage" else "right"
            print(f"{kind}: step {step + 1}, {what} {right:.4f}", flush=True)
    with torch.no_grad():
        x = torch.cat([asked("which", pictures, np.random.default_rng([2, n]))[0] for n in range(8)])
        net.usual.copy_(torch.stack([m.square().sum(1).mean().sqrt() for m in net.maps(x)]))
    return net


def load(kind, folder, pictures=None, steps=None):
    """From the folder; trained on what pictures() gives where it is not there."""
    path = os.path.join(folder, f"features-{kind}.npz")
    if not os.path.exists(path):
        net = train(kind, pictures(), steps or STEPS[kind])
        np.savez(path + ".part.npz", **{k: v.numpy() for k, v in net.state_dict().items()})
        os.replace(path + ".part.npz", path)
    with np.load(path) as z:
        state = {k: torch.from_numpy(z[k]) for k in z.files}
    net = Features(kind, len(state["answer.bias"]))
    net.load_state_dict(state)
    for p in net.parameters():
        p.requires_grad_(False)
    return net.eval()


def photographs(folder):
    """Luma of those that no test holds out."""
    kept = data.held_out(folder)
    return [data.to8(data.luma(data.read(path))) for path in data.photographs(folder, ("photos", "photos2"), 1)
            if path not in kept]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("kind", choices=SHAPES)
    p.add_argument("--data", default=data.DEFAULT_DATA)
    p.add_argument("--out", default=os.path.join(data.ROOT, "build", "train"))
    a = p.parse_args()
    torch.set_num_threads(1)
    load(a.kind, a.out, lambda: photographs(a.data))


if __name__ == "__main__":
    main()
