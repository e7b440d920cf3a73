#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""PSNR of a net on the usual test sets, in float and by the engine's INT8 rule.

  evaluate.py sr_x2_fast ../sr_x2_fast.onnx
  evaluate.py denoise_fast ../denoise_fast.onnx

The weights are an .onnx file that export.py wrote or an .npz file that train.py wrote. Both carry
the feature ranges that the INT8 column needs. Every output is rounded to 8 bit before it is
compared.

The protocols are those of `mona eval` (its --help says them in full), which measures the model as
shipped. Super-resolution: Y of BT.601 (16-235) rounded to 8 bit, grey images as they are;
antialiased bicubic reduction, rounded to 8 bit for the net; as many pixels as the scale are cropped
at each border. Denoising: Gaussian noise of a fixed seed added to the 8-bit image, then clipped and
rounded; grey images run with neutral chroma (128); the colour rows are full-range 4:2:0 planes with
the same noise in all three.
"""
import argparse
import glob
import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # before numpy is loaded
    os.environ.setdefault(variable, "1")

import numpy as np
import torch

import data
import nets


def psnr(a, b):
    return 10 * np.log10(255**2 / max(np.mean((np.float64(a) - b) ** 2), 1e-10))


def run(net, planes, int8):
    """Packed planes in code values to corrected packed planes, rounded to 8 bit."""
    x = torch.from_numpy(np.ascontiguousarray(planes / 255, np.float32))[None]
    with torch.no_grad():
        out = net.forward_int8(x) if int8 else net(x)
    return data.to8(out[0].numpy() * 255).astype(np.float64)


class Noise:
    """The normal distribution of `mona eval`: SplitMix64 from a seed, two numbers a sample."""

    def __init__(self, seed):
        self.state = np.uint64(seed)

    def standard_normal(self, shape):
        with np.errstate(over="ignore"):
            steps = np.arange(1, 2 * np.prod(shape) + 1, dtype=np.uint64)
            z = self.state + steps * np.uint64(0x9e3779b97f4a7c15)
            self.state = z[-1]
            z = (z ^ z >> np.uint64(30)) * np.uint64(0xbf58476d1ce4e5b9)
            z = (z ^ z >> np.uint64(27)) * np.uint64(0x94d049bb133111eb)
        u = ((z ^ z >> np.uint64(31)) >> np.uint64(11)).astype(np.float64) + 0.5
        u /= 2**53
        return (np.sqrt(-2 * np.log(u[::2])) * np.cos(2 * np.pi * u[1::2])).reshape(shape)


def table(title, header, rows):
    print(f"{title:22s}" + "".join(f"{h:>10s}" for h in header))
    for name, values in rows:
        print(f"{name:22s}" + "".join(f"{v:10.2f}" for v in values), flush=True)


# ---- super-resolution --------------------------------------------------------------------------

def sr_sets(scale, folder):
    """(name, folder, files) of each; the last are photographs that no training sees."""
    for name, where, files in (("Set5", f"set5/x{scale}", "*HR.png"), ("Set14", f"set14/x{scale}", "*HR.png"),
                               ("B100", "bsd100", "*.jpg")):
        where = os.path.join(folder, "test", where)
        yield name, where, sorted(glob.glob(os.path.join(where, files)))
    yield "held out", data.photos(folder), data.held_out(folder)


def sr_image(net, path, scale, paths):
    """PSNR of bicubic, then of the net in each way."""
    image = data.read(path)
    high = image.astype(np.float64) if image.ndim == 2 else np.rint(data.luma(image))
    high = high[:high.shape[0] // scale * scale, :high.shape[1] // scale * scale]
    low = data.imresize(high, 1 / scale)
    outputs = [data.to8(data.imresize(low, scale)).astype(np.float64)]
    low = data.to8(low).astype(np.float64)
    outputs += [data.depth_to_space(run(net, low[None], int8), scale) for int8 in paths]
    inside = slice(scale, -scale), slice(scale, -scale)
    return [psnr(o[inside], high[inside]) for o in outputs]


def sr_rows(net, scale, folder, paths):
    for name, _, files in sr_sets(scale, folder):
        yield name, np.mean([sr_image(net, f, scale, paths) for f in files], 0)


# ---- denoising ---------------------------------------------------------------------------------

def even(plane):
    """Repeat the last row and column where a size is odd."""
    return np.pad(plane, ((0, plane.shape[0] % 2), (0, plane.shape[1] % 2)), "edge")


def noisy(plane, sigma, rng):
    return data.to8(plane + sigma * rng.standard_normal(plane.shape)).astype(np.float64)


def denoise(net, y, u, v, sigma, int8):
    level = np.full((1,) + u.shape, float(sigma))
    planes = np.concatenate([data.space_to_depth(even(y)), u[None], v[None], level])
    out = run(net, planes, int8)
    return data.depth_to_space(out[:4])[:y.shape[0], :y.shape[1]], out[4], out[5]


def grey_image(net, rgb, sigma, rng, paths):
    clean = data.grey(rgb)
    y = noisy(clean, sigma, rng)
    neutral = np.full((-(-y.shape[0] // 2), -(-y.shape[1] // 2)), 128.0)
    outputs = [y] + [denoise(net, y, neutral, neutral, sigma, int8)[0] for int8 in paths]
    return [psnr(o, clean) for o in outputs]


def colour_image(net, rgb, sigma, rng, paths):
    """PSNR of Y for each path, then of U and V together."""
    clean = [data.to8(p).astype(np.float64) for p in data.yuv420(rgb)]
    inputs = [noisy(p, sigma, rng) for p in clean]
    outputs = [inputs] + [denoise(net, *inputs, sigma, int8) for int8 in paths]
    chroma = np.stack(clean[1:])
    return [psnr(o[0], clean[0]) for o in outputs] + \
        [psnr(np.stack(o[1:]), chroma) for o in outputs]


def bsd68(tests):
    with open(os.path.join(tests, "cbsd68.txt")) as f:
        return [data.read(os.path.join(tests, "bsd100", line)) for line in sorted(f.read().split())]


def noise_rows(net, images, measure, sigmas, paths):
    for sigma in sigmas:
        rng = Noise(sigma)
        yield f"sigma {sigma}", np.mean([measure(net, i, sigma, rng, paths) for i in images], 0)


def evaluate_denoise(net, tests, paths):
    images = bsd68(tests)
    header = ["noisy", "float", "INT8"]
    table("BSD68 grey", header, noise_rows(net, images, grey_image, (5, 15, 25, 50), paths))
    table("CBSD68 4:2:0", [h + s for s in (" Y", " UV") for h in header],
          noise_rows(net, images, colour_image, (15, 25, 50), paths))
    clean = [colour_image(net, i, 0, Noise(0), paths) for i in images]
    kept = np.min(clean, 0)
    mean = np.mean(clean, 0)
    table("CBSD68 4:2:0 clean", ["float Y", "INT8 Y", "float UV", "INT8 UV"],
          [("mean", mean[[1, 2, 4, 5]]), ("worst image", kept[[1, 2, 4, 5]])])


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("name", choices=sorted(nets.NETS)), p.add_argument("weights")
    p.add_argument("--data", default=data.DEFAULT_DATA)
    a = p.parse_args()
    torch.set_num_threads(1)
    net = nets.load(a.name, a.weights)
    spec = nets.NETS[a.name]
    if spec.task == "sr":
        table(f"PSNR-Y, x{spec.scale}", ["bicubic", "float", "INT8"],
              sr_rows(net, spec.scale, a.data, (False, True)))
    else:
        evaluate_denoise(net, os.path.join(a.data, "test"), (False, True))
