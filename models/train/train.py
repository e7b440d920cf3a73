#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Train one of mona's nets on one core.

  train.py sr_x2_fast --init start.npz --steps 60000 --rate 3e-4 --quant-from 0.5
  train.py denoise_fast --steps 200000

Writes to --out: NAME.pt (checkpoint; the same command continues from it), NAME.npz (averaged,
collapsed weights and feature ranges; the input of export.py and evaluate.py), NAME.log and NAME.png
(curves). The schedule counts steps, not time, so a run is repeatable and may be stopped at will;
continuing with another --steps stretches or shortens what is left.

L1 loss, then the logarithm of each patch's L2 from --l2-from of the way on; weights and features are
quantised as the INT8 engine does from --quant-from on, with straight-through gradients.
"""
import argparse
import os
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # before numpy is loaded
    os.environ.setdefault(variable, "1")

import numpy as np
import torch

import data
import fast
import nets
import training


WARM_UP = 500  # steps over which the rate rises
COMPRESSED = 0.65  # share of a batch of a denoiser for video


def arguments():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("name", choices=sorted(nets.NETS))
    p.add_argument("--data", default=data.DEFAULT_DATA)
    p.add_argument("--out", default=os.path.join(data.ROOT, "build", "train"))
    p.add_argument("--init", help="weights (.npz or .onnx) to start from, "
                   "of this net or of a narrower, shallower or other scale's")
    p.add_argument("--steps", type=int, default=200000)
    p.add_argument("--rate", type=float, default=1e-3)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--patch", type=int, default=48,
                   help="side of a patch, in packed pixels; multiples of 24 can go by chain.c")
    p.add_argument("--l2-from", type=float, default=0.5)
    p.add_argument("--quant-from", type=float, default=0.7)
    p.add_argument("--chroma", type=float, default=0.2,
                   help="weight of chroma in the loss, beside one of luma")
    p.add_argument("--peak-cost", type=float, default=0.003)
    p.add_argument("--seed", type=int, default=0)
    return p.parse_args()


def expected_error(level):
    """About the RMS error (code values) a small net leaves: evens out the levels in the loss."""
    return 1 + level**0.65


def sr_batch(spec, sets, count, size, rng):
    low, high = data.patches(sets, spec, count, size, rng)
    return low, high, np.full(len(low), 4.0)


def denoise_batch(spec, sets, count, size, rng):
    """Of a network for video the first are compressed (sets beyond those of pictures), and carry
    their level; the others have noise like those of any denoiser, whose work it does too."""
    compressed = round(COMPRESSED * count) if spec.video else 0
    _, clean = data.patches(sets, spec, count - compressed, size, rng)
    noisy, level, clean = data.add_noise(clean, rng)
    plane = np.broadcast_to(level[:, None, None, None], noisy[:, :1].shape)
    noisy, unit = np.concatenate([noisy, plane], 1), expected_error(level)
    if not compressed:
        return noisy, clean, unit
    low, high = data.patches(sets[len(data.SETS):], spec, compressed, size, rng)
    error = np.sqrt(((low[:, :4] - high[:, :4]) ** 2).mean((1, 2, 3)))
    return tuple(np.concatenate(both) for both in
                 ((low, noisy), (high, clean), (expected_error(error), unit)))


def batch(spec, sets, count, size, rng):
    """Input and target in code values, and what each patch's error in [0, 1] is multiplied by."""
    make = sr_batch if spec.task == "sr" else denoise_batch
    low, high, unit = make(spec, sets, count, size, rng)
    return low, high, 255 / unit


def fixed_inputs(spec, sets):
    """Always the same 256 patches of the sets, for calibration."""
    rng = np.random.default_rng(12345)
    return [nets.to_tensor(batch(spec, sets, 16, 32, rng)[0]) for _ in range(16)]


def strengths(spec):
    """Sigmas of the noise that held-out patches have to be freed from; 0: they are as they are."""
    return (0,) * (spec.video or spec.task == "sr") + (15, 25, 50) * (spec.task == "denoise")


def luma_psnr(spec, net, sets, quantised):
    """Mean PSNR of luma over fixed held-out patches: enlarged, or grey with each noise. Near what
    evaluate.py measures, and never the images that it measures on."""
    rng, out = np.random.default_rng(7), []
    sides = [min(pair[0].shape[1:]) for s in sets for pair in s]
    side = min(64, max(sides))  # reduced to a quarter, none is larger
    pairs = [data.crop(pair, side, rng) for s in sets for pair in s if min(pair[0].shape[1:]) >= side]
    low, high = (np.stack(planes).astype(np.float32) for planes in zip(*pairs))
    net.eval()
    for sigma in strengths(spec):
        x = low
        if sigma:
            noisy = np.clip(np.rint(high[:, :4] + sigma * rng.standard_normal(
                high[:, :4].shape, np.float32)), 0, 255)
            x = np.concatenate([noisy, np.full_like(high[:, :2], 128),
                                np.full_like(high[:, :1], sigma)], 1)
        with torch.no_grad():
            y = (net.forward_int8 if quantised else net)(nets.to_tensor(x)).numpy() * 255
        count = spec.block**2
        mse = ((y[:, :count].clip(0, 255).round() - high[:, :count]) ** 2).mean((1, 2, 3))
        mse = np.maximum(mse, 0.1)  # of what was compressed without loss: 58 dB
        out.append(float(np.mean(10 * np.log10(255**2 / mse))))
    return out


class Run(training.Run):
    def __init__(self, a):
        torch.manual_seed(a.seed)
        self.spec = nets.NETS[a.name]
        net = nets.Net(self.spec)
        if a.init:
            net.start_from(nets.read_weights(a.init))
        super().__init__(net, np.random.default_rng(a.seed), a.rate)
        self.weights = np.where(np.arange(net.outputs) < self.spec.block**2, 1, a.chroma)

    def train_step(self, a, sets):
        progress = self.step / a.steps
        rate = (a.rate * 0.5 * (1 + np.cos(np.pi * progress)) + 1e-6) * min(1, self.step / WARM_UP)
        low, high, unit = batch(self.spec, sets, a.batch, a.patch, self.rng)
        quantised, squared = progress >= a.quant_from, progress >= a.l2_from
        # one stray peak costs the whole feature map resolution, so peaks are kept low
        by = fast.by_chain if fast.fits(self.spec, a.patch) else fast.by_torch
        loss = by(self.net, low, high, unit, self.weights, squared, quantised, a.peak_cost)
        self.descend(loss, rate, 10.0)
        return loss.item()


def write_weights(net, path):
    np.savez(path + ".part.npz", ranges=net.ranges.numpy(), **net.plain_weights())
    os.replace(path + ".part.npz", path)


def plot(curve, labels, path):
    steps, loss, plain, int8 = zip(*curve)

    def draw(left, right):
        left.plot(steps, loss), left.set_ylabel("loss (L1, then log of L2)")
        for label, a, b in zip(labels, zip(*plain), zip(*int8)):
            line, = right.plot(steps, a, label=label)
            right.plot(steps, b, "--", color=line.get_color())
        right.set_ylabel("held-out luma, dB; dashed: INT8")

    training.plot(path, draw)


def main():
    a = arguments()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    os.makedirs(a.out, exist_ok=True)
    base = os.path.join(a.out, a.name)
    spec = nets.NETS[a.name]
    images = data.load_training(spec, a.data, a.out)
    if spec.task == "denoise" and spec.video:
        pictures = data.load_training(spec._replace(video=False), a.data, a.out)
        images["train"] = pictures["train"] + images["train"]
    calibration = fixed_inputs(spec, images["train"])
    sets = [[pair for pair in s if min(pair[0].shape[1:]) >= a.patch] for s in images["train"]]
    run = Run(a)
    if os.path.exists(base + ".pt"):
        run.restore(base + ".pt")
    log = open(base + ".log", "a", buffering=1)
    print(f"{a.name}: step {run.step} of {a.steps}, "
          f"{spec.macs} MAC per pixel, by {'chain.c' if fast.fits(spec, a.patch) else 'torch'}",
          file=log)
    total, began = [], time.time()
    while run.step < a.steps:
        run.net.train()
        total.append(run.train_step(a, sets))
        if run.step % 2000 == 0 or run.step == a.steps:
            run.seconds += time.time() - began
            run.average.calibrate(calibration)
            plain, int8 = (luma_psnr(spec, run.average, images["held_out"], q)
                           for q in (False, True))
            run.curve.append((run.step, float(np.mean(total)), plain, int8))
            ranges = " ".join(f"{v:.2f}" for v in run.average.ranges.tolist())
            figures = [" ".join(f"{v:.3f}" for v in values) for values in (plain, int8)]
            print(f"{run.step} loss {np.mean(total):.4f} held-out {figures[0]} "
                  f"INT8 {figures[1]} ranges {ranges} minutes {run.seconds / 60:.1f}", file=log)
            write_weights(run.average, base + ".npz")
            run.save(base + ".pt")
            plot(run.curve, strengths(spec), base + ".png")
            total, began = [], time.time()


if __name__ == "__main__":
    main()
