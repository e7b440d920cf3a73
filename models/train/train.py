#!/usr/bin/python3
"""Train one of mona's nets on one core.

  train.py sr_x2_fast --init start.npz --steps 60000 --rate 3e-4 --quant-from 0.5
  train.py denoise_fast --steps 200000

Writes to --out: NAME.pt (checkpoint; the same command continues from it), NAME.npz (averaged,
collapsed weights and feature ranges; the input of export.py and evaluate.py), NAME.log and NAME.png
(curves). The schedule counts steps, not time, so a run is repeatable and may be stopped at will;
continuing with another --steps stretches or shortens what is left.

L1 loss, then L2 from --l2-from of the way on; weights and features are quantised as the INT8
engine does from --quant-from on, with straight-through gradients.
"""
import argparse
import copy
import os
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # before numpy is loaded
    os.environ.setdefault(variable, "1")

import numpy as np
import torch

import data
import nets


WARM_UP = 500  # steps over which the rate rises


def arguments():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("name", choices=sorted(nets.SHAPES))
    p.add_argument("--data", default=data.DEFAULT_DATA)
    p.add_argument("--out", default=os.path.join(data.ROOT, "build", "train"))
    p.add_argument("--init", help="weights (.npz or .onnx) to start from")
    p.add_argument("--steps", type=int, default=200000)
    p.add_argument("--rate", type=float, default=1e-3)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--patch", type=int, default=32, help="side of a patch, in packed pixels")
    p.add_argument("--l2-from", type=float, default=0.5)
    p.add_argument("--quant-from", type=float, default=0.7)
    p.add_argument("--chroma", type=float, default=0.15,
                   help="weight of chroma in the loss, beside one of luma")
    p.add_argument("--peak-cost", type=float, default=0.003)
    p.add_argument("--seed", type=int, default=0)
    return p.parse_args()


def expected_error(level):
    """About the RMS error (code values) a small net leaves: evens out the levels in the loss."""
    return 1 + level**0.65


def sr_batch(sets, count, size, rng):
    low, high = data.patches(sets, count, size, rng)
    return low, high, np.full(len(low), 4.0)


def denoise_batch(sets, count, size, rng):
    _, clean = data.patches(sets, count, size, rng)
    noisy, level, clean = data.add_noise(clean, rng)
    plane = np.broadcast_to(level[:, None, None, None], noisy[:, :1].shape)
    return np.concatenate([noisy, plane], 1), clean, expected_error(level)


def batch(name, sets, count, size, rng):
    """Input and target in [0, 1], and the error by which each patch's loss is divided."""
    make = sr_batch if name == "sr_x2_fast" else denoise_batch
    low, high, unit = make(sets, count, size, rng)
    low, high = (torch.from_numpy(v / np.float32(255)).float()
                 .contiguous(memory_format=torch.channels_last) for v in (low, high))
    return low, high, torch.from_numpy(255 / unit).float()


def fixed_batches(name, sets):
    """Always the same 256 patches of the sets."""
    rng = np.random.default_rng(12345)
    return [batch(name, sets, 16, 32, rng) for _ in range(16)]


def score(net, samples, quantised):
    """Mean over patches of -10 log10 of the weighted squared error; 0.01 bounds exact patches."""
    values = []
    net.eval()
    with torch.no_grad():
        for x, target, unit in samples:
            out = net.forward_int8(x) if quantised else (net(x) * 255).round() / 255
            out = out - target
            values += (-10 * torch.log10(((out * unit.view(-1, 1, 1, 1)) ** 2)
                                         .mean((1, 2, 3)) + 0.01)).tolist()
    return float(np.mean(values))


def grey_psnr(net, sets, quantised):
    """PSNR of luma over fixed held-out patches with neutral chroma, at sigma 15, 25, 50."""
    rng, out = np.random.default_rng(7), []
    clean = np.stack([data.crop(pair, 64, rng)[0] for s in sets for pair in s
                      if min(pair[0].shape[1:]) >= 64]).astype(np.float32)
    clean[:, 4:] = 128
    net.eval()
    for sigma in (15, 25, 50):
        noise = rng.standard_normal(clean.shape, np.float32) * sigma
        noise[:, 4:] = 0
        level = np.full_like(clean[:, :1], sigma)
        x = np.concatenate([np.clip(np.rint(clean + noise), 0, 255), level], 1)
        with torch.no_grad():
            x = torch.from_numpy(x / 255).contiguous(memory_format=torch.channels_last)
            y = ((net.forward_int8(x) if quantised else net(x)).numpy() * 255)[:, :4]
        mse = ((y.clip(0, 255).round() - clean[:, :4]) ** 2).mean((1, 2, 3))
        out.append(float(np.mean(10 * np.log10(255**2 / mse))))
    return out


class Run:
    """Everything a checkpoint has to hold."""

    def __init__(self, a):
        torch.manual_seed(a.seed)
        self.rng = np.random.default_rng(a.seed)
        self.net = nets.Net(*nets.SHAPES[a.name])
        if a.init:
            self.net.start_from(nets.read_weights(a.init))
        self.average = copy.deepcopy(self.net)
        self.optimiser = torch.optim.Adam(self.net.parameters(), a.rate)
        self.weights = torch.ones(1, self.net.outputs, 1, 1)
        self.weights[:, 4:] = a.chroma
        self.step, self.seconds, self.curve = 0, 0.0, []

    def save(self, path):
        torch.save({"net": self.net.state_dict(), "average": self.average.state_dict(),
                    "optimiser": self.optimiser.state_dict(), "step": self.step,
                    "seconds": self.seconds, "curve": self.curve,
                    "rng": self.rng.bit_generator.state}, path + ".part")
        os.replace(path + ".part", path)

    def restore(self, path):
        z = torch.load(path)
        self.net.load_state_dict(z["net"])
        self.average.load_state_dict(z["average"])
        self.optimiser.load_state_dict(z["optimiser"])
        self.rng.bit_generator.state = z["rng"]
        self.step, self.seconds, self.curve = z["step"], z["seconds"], z["curve"]

    def train_step(self, a, sets):
        progress = self.step / a.steps
        for group in self.optimiser.param_groups:
            group["lr"] = (a.rate * 0.5 * (1 + np.cos(np.pi * progress)) + 1e-6) \
                * min(1, self.step / WARM_UP)
        x, target, unit = batch(a.name, sets, a.batch, a.patch, self.rng)
        self.optimiser.zero_grad()
        quantised = progress >= a.quant_from
        error = (self.net(x, quantised) - target) * unit.view(-1, 1, 1, 1)
        error = error.abs() if progress < a.l2_from else error**2
        loss = (error * self.weights).mean()
        # one stray peak costs the whole feature map resolution, so peaks are kept low
        (loss + a.peak_cost * sum(self.net.peaks) if quantised else loss).backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 10.0)
        self.optimiser.step()
        self.step += 1
        keep = min(0.999, self.step / (self.step + 10.0))
        with torch.no_grad():
            for e, q in zip(self.average.parameters(), self.net.parameters()):
                e.mul_(keep).add_(q, alpha=1 - keep)
        return loss.item()


def write_weights(net, path):
    np.savez(path + ".part.npz", ranges=net.ranges.numpy(), **net.plain_weights())
    os.replace(path + ".part.npz", path)


def plot(curve, path):
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        return
    steps, loss, plain, int8 = zip(*curve)
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    left.plot(steps, loss), left.set_ylabel("loss (L1, then L2)"), left.set_yscale("log")
    right.plot(steps, plain, label="float"), right.plot(steps, int8, label="INT8")
    right.set_ylabel("held-out score, dB"), right.legend()
    for axis in (left, right):
        axis.set_xlabel("step"), axis.grid(alpha=0.3)
    fig.tight_layout(), fig.savefig(path, dpi=80), plt.close(fig)


def main():
    a = arguments()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    os.makedirs(a.out, exist_ok=True)
    base = os.path.join(a.out, a.name)
    images = data.load_training(a.name, a.data, a.out)
    held_out = fixed_batches(a.name, images["held_out"])
    calibration = [x for x, _, _ in fixed_batches(a.name, images["train"])]
    sets = [[pair for pair in s if min(pair[0].shape[1:]) >= a.patch] for s in images["train"]]
    run = Run(a)
    if os.path.exists(base + ".pt"):
        run.restore(base + ".pt")
    log = open(base + ".log", "a", buffering=1)
    print(f"{a.name}: step {run.step} of {a.steps}, "
          f"{nets.macs_per_packed_pixel(a.name)} MAC per packed pixel", file=log)
    total, began = [], time.time()
    while run.step < a.steps:
        run.net.train()
        total.append(run.train_step(a, sets))
        if run.step % 2000 == 0 or run.step == a.steps:
            run.seconds += time.time() - began
            run.average.calibrate(calibration)
            plain, int8 = (score(run.average, held_out, q) for q in (False, True))
            run.curve.append((run.step, float(np.mean(total)), plain, int8))
            ranges = " ".join(f"{v:.2f}" for v in run.average.ranges.tolist())
            if a.name.startswith("denoise"):
                print("grey", *(f"{v:.2f}" for q in (False, True)
                                for v in grey_psnr(run.average, images["held_out"], q)), file=log)
            print(f"{run.step} loss {np.mean(total):.4f} held-out {plain:.3f} INT8 {int8:.3f} "
                  f"ranges {ranges} minutes {run.seconds / 60:.1f}", file=log)
            write_weights(run.average, base + ".npz")
            run.save(base + ".pt")
            plot(run.curve, base + ".png")
            total, began = [], time.time()


if __name__ == "__main__":
    main()
