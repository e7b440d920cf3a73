# SPDX-License-Identifier: Apache-2.0
"""Pictures that stay on the device which trains, and batches cut from them there: thousands of patches in a few
kernels, where a core would copy one after the other. JPEG happens there, too, to the luma of each patch: blocks of
8x8 are those of the patch, and a network that is moved over a picture learns every place of the grid by that."""
import itertools
import math

import numpy as np
import torch
import torch.nn.functional as F

import data

LOT = 16  # steps whose batches are made at once


class Planes:
    """Grey pictures of any sizes, one after the other."""

    def __init__(self, planes, device):
        heights, widths = np.array([p.shape for p in planes], np.int64).T
        ends = np.cumsum(heights * widths)
        self.start, self.width = (torch.from_numpy(a).to(device) for a in (ends - heights * widths, widths))
        self.samples = torch.from_numpy(np.concatenate([p.ravel() for p in planes])).to(device)

    def cut(self, which, y, x, way, side):
        """Squares of pictures, flipped and turned as data.flip does: ... x side x side, uint8."""
        n = torch.arange(side, device=self.samples.device)
        which, y, x, way = (t[..., None, None] for t in (which, y, x, way))
        row, column = n[:, None], n[None, :]
        turned = way & 4 > 0
        r, c = torch.where(turned, column, row), torch.where(turned, row, column)
        r, c = torch.where(way & 1 > 0, side - 1 - r, r), torch.where(way & 2 > 0, side - 1 - c, c)
        return self.samples[self.start[which] + (y + r) * self.width[which] + x + c]


class Store:
    """Pairs (input, packed target) of data.load_training, each drawn as often as its kind's share says."""

    def __init__(self, pairs, block, shares, patch, device):
        found = [(kind, pair) for kind, pair in pairs if shares.get(kind) and min(pair[0].shape[1:]) >= patch]
        self.block, self.patch, self.device = block, patch, device
        self.sizes = np.array([pair[0].shape[1:] for _, pair in found])
        self.tickets = np.repeat(np.arange(len(found)), [shares[kind] for kind, _ in found])
        self.low = Planes([low[0] for _, (low, _) in found], device)
        self.high = Planes([data.depth_to_space(high, block) if block > 1 else high[0] for _, (_, high) in found],
                           device)

    def picks(self, count, rng):
        """(picture, y, x, way) of each patch, in samples of the input."""
        which = self.tickets[rng.integers(len(self.tickets), size=count)]
        y, x = (rng.integers(self.sizes[which] - self.patch + 1)).T
        return np.stack([which, y, x, rng.integers(8, size=count)])

    def pairs(self, picks):
        """(input, packed target), uint8, of picks: 4 x any sizes."""
        which, y, x, way = torch.from_numpy(picks).to(self.device)
        n = self.block
        low = self.low.cut(which, y, x, way, self.patch)
        high = self.high.cut(which, n * y, n * x, way, n * self.patch)
        return low[..., None, :, :], F.pixel_unshuffle(high[..., None, :, :].float(), n).to(torch.uint8)


# ---- JPEG --------------------------------------------------------------------------------------

QUALITIES = 30, 95
# ITU-T T.81, table K.1: luma.
STEPS = np.array([[16, 11, 10, 16, 24, 40, 51, 61], [12, 12, 14, 19, 26, 58, 60, 55], [14, 13, 16, 24, 40, 57, 69, 56],
                  [14, 17, 22, 29, 51, 87, 80, 62], [18, 22, 37, 56, 68, 109, 103, 77],
                  [24, 35, 55, 64, 81, 104, 113, 92], [49, 64, 78, 87, 103, 121, 120, 101],
                  [72, 92, 95, 98, 112, 100, 103, 99]], np.float32)


def cosines(device):
    """The 8x8 orthogonal cosine transform."""
    k, n = np.mgrid[0:8, 0:8]
    a = np.cos(np.pi * (2 * n + 1) * k / 16) / 2
    a[0] /= math.sqrt(2)
    return torch.from_numpy(a.astype(np.float32)).to(device)


def qualities(count, rng):
    return rng.integers(*QUALITIES, size=count, endpoint=True).astype(np.float32)


def jpeg(studio, quality):
    """Luma in studio range (N x 1 x h x w, sides multiples of 8) as a JPEG of that quality holds it; quality: N, as
    libjpeg counts it."""
    c = cosines(studio.device)
    scale = torch.where(quality < 50, 5000 / quality, 200 - 2 * quality)
    steps = torch.from_numpy(STEPS).to(studio.device)
    steps = ((steps * scale.view(-1, 1, 1) + 50) / 100).floor().clamp(1, 255)[:, None, None]
    full = ((studio - 16) * (255 / 219)).round().clamp(0, 255) - 128
    blocks = full[:, 0].unfold(1, 8, 8).unfold(2, 8, 8)
    found = c @ blocks @ c.T
    found = (found / steps).round() * steps
    blocks = (c.T @ found @ c + 128).round().clamp(0, 255)
    n, h, w = blocks.shape[:3]
    full = blocks.permute(0, 1, 3, 2, 4).reshape(n, 1, 8 * h, 8 * w)
    return (full * (219 / 255) + 16).round()


# ---- batches -----------------------------------------------------------------------------------

def batches(store, phase, jpegs, seed, numbers, first, unit):
    """(samples, numbers) of each step from the first on, as cuda.Work takes them. numbers(step): the rate, and how
    far the average follows; unit: what errors are multiplied by."""
    for start in itertools.count(first, LOT):
        steps = range(start, start + LOT)
        rngs = [np.random.default_rng([seed, step]) for step in steps]
        picks = np.stack([store.picks(phase["batch"], rng) for rng in rngs], 1)
        low, high = store.pairs(picks)
        if jpegs:
            quality = torch.from_numpy(np.concatenate([qualities(phase["batch"], rng) for rng in rngs]))
            low = jpeg(low.flatten(0, 1).float(), quality.to(store.device)).to(torch.uint8).view_as(low)
        samples = torch.cat([low, high], 2)
        rest = np.stack([np.r_[np.full(phase["batch"], unit), numbers(step)] for step in steps]).astype(np.float32)
        yield from zip(samples, torch.from_numpy(rest).to(store.device))
