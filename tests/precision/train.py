#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the classifier model.onnx, whose decisions have a meaning: python3 train.py model.onnx

Ten classes of 32 x 32 x 3 images: gratings of five directions and two frequencies, of random phase, colours and
contrast, with noise strong enough that some cannot be recognised. tests/unit/formats/test_textures.c draws such images again, by
the same formula from random numbers of its own. The net is a small ResNet: 19,000 weights, minutes on one core. Needs
Debian's python3-torch and python3-onnx.
"""
import sys

import numpy as np
import onnx
import torch
from torch import nn

SIDE, CLASSES, STEPS, BATCH = 32, 10, 1500, 64


def images(rng, count):
    """[count, 3, SIDE, SIDE] of 8 bits / 255, and their classes."""
    label = rng.integers(0, CLASSES, count)
    angle = (label % 5 + rng.uniform(-0.35, 0.35, count)) * np.pi / 5
    cycles = np.where(label < 5, 0.09, 0.14) + rng.uniform(-0.015, 0.015, count)
    phase = rng.uniform(0, 2 * np.pi, count)
    contrast = rng.uniform(-0.16, 0.16, (count, 3, 1, 1))
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    along = x * np.cos(angle)[:, None, None] + y * np.sin(angle)[:, None, None]
    wave = np.sin(2 * np.pi * cycles[:, None, None] * along + phase[:, None, None])
    noise = rng.uniform(-0.5, 0.5, (count, 3, SIDE, SIDE))
    value = np.clip(0.5 + contrast * wave[:, None] + noise, 0, 1)
    return torch.from_numpy((np.rint(value * 255) / 255).astype(np.float32)), torch.from_numpy(label)


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs))
        self.skip = nn.Identity() if inputs == outputs else nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return torch.relu(self.body(x) + self.skip(x))


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    net = nn.Sequential(nn.Conv2d(3, 8, 3, 1, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), Block(8, 8, 1),
                        Block(8, 16, 2), Block(16, 32, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                        nn.Linear(32, CLASSES))
    optimiser = torch.optim.Adam(net.parameters(), 3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, STEPS)
    for step in range(STEPS):
        x, label = images(rng, BATCH)
        loss = nn.functional.cross_entropy(net(x), label)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        if step % 100 == 99:
            print(step + 1, f"{loss.item():.3f}", flush=True)
    net.eval()
    x, label = images(np.random.default_rng(1), 2000)
    with torch.no_grad():
        print("right:", (net(x).argmax(1) == label).float().mean().item())
    torch.onnx.export(net, x[:1], sys.argv[1], opset_version=13, input_names=["image"], output_names=["scores"],
                      training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)
    model = onnx.load(sys.argv[1])
    onnx.checker.check_model(model)
    onnx.save(model, sys.argv[1])


if __name__ == "__main__":
    main()
