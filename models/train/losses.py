#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The loss of a net and its gradient: by torch, or by avx512/ on processors that have AVX-512 BF16.

  losses.py [NAME]    compares the two and cuda.py, which runs without a GPU here: loss, time, gradients; float and quantised
"""
import argparse
import ctypes
import functools
import hashlib
import os
import subprocess
import time

import numpy as np
import torch
import torch.nn.functional as F

import data
import nets

SOURCES = [os.path.join(data.HERE, "avx512", name) for name in
           ("chain.c", "products.c", "chain.h", "products.h")]
FLAGS = ("-O3", "-march=native", "-mamx-tile", "-mamx-bf16", "-fopenmp-simd", "-I", data.ROOT, "-shared", "-fPIC")
COMPILER = os.environ.get("CC", "cc")
LOT = 24  # a patch's sides are multiples of it
LANES = 16  # narrower networks are trained as wide as this, what is new being nothing


class Chain(ctypes.Structure):
    """`struct chain` of chain.c."""
    _fields_ = [(name, ctypes.c_int) for name in
                ("inputs", "channels", "body", "outputs", "count", "height", "width", "squared",
                 "by_tiles")] + \
               [(name, ctypes.c_void_p) for name in
                ("kernels", "biases", "grids", "steps", "input", "target", "units", "weights")] + \
               [(name, ctypes.c_float) for name in ("peak_cost", "least")] + \
               [(name, ctypes.c_void_p) for name in ("d_kernels", "d_biases", "peaks")]


def has_avx512():
    try:
        with open("/proc/cpuinfo") as f:
            return "avx512_bf16" in f.read()
    except OSError:
        return False


@functools.cache
def library():
    """avx512/ compiled."""
    if not has_avx512():
        raise SystemExit("expected a processor with AVX-512 BF16; others train with --trainer torch")
    text = b"".join(open(path, "rb").read() for path in SOURCES) + repr(FLAGS).encode()
    path = os.path.join(data.ROOT, "build", f"chain-{hashlib.sha256(text).hexdigest()[:16]}.so")
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        part = f"{path}.{os.getpid()}"
        subprocess.run([COMPILER, *FLAGS, *SOURCES[:2], "-o", part, "-lm"], check=True)
        os.replace(part, path)
    out = ctypes.CDLL(path)
    out.learn.restype = ctypes.c_double
    return out


def version():
    compiler = subprocess.run([COMPILER, "-dumpfullversion"], stdout=subprocess.PIPE, text=True).stdout.strip()
    return f"avx512 {'with' if library().has_tiles() else 'without'} tiles by {COMPILER} {compiler}"


def check(spec, patch):
    """That avx512/ can train such a net with such patches."""
    if not (spec.channels <= LANES or spec.channels == 2 * LANES) or spec.body == 0 or \
            max(spec.inputs, spec.outputs) > LANES or patch % LOT:
        raise SystemExit(f"avx512: expected at most 16 channels, or 32, a body and patches in multiples of {LOT}; "
                         "others train with --trainer torch")
    library()


def flat(tensors):
    return torch.cat([t.reshape(-1) for t in tensors]).float().contiguous()


class Learn(torch.autograd.Function):
    """Loss of flat kernels and biases, with what chain.c fills beside it."""

    @staticmethod
    def forward(ctx, chain, kernels, biases):
        gradients = torch.empty_like(kernels), torch.empty_like(biases)
        chain.kernels, chain.biases = kernels.data_ptr(), biases.data_ptr()
        chain.d_kernels, chain.d_biases = (g.data_ptr() for g in gradients)
        loss = library().learn(ctypes.byref(chain))
        ctx.save_for_backward(*gradients)
        return kernels.new_tensor(loss)

    @staticmethod
    def backward(ctx, slope):
        return None, *(slope * g for g in ctx.saved_tensors)


def by_torch(net, low, high, unit, weights, squared, quantised, peak_cost, least):
    """Loss of patches in code values (numpy): the mean of each one's L1 or, if `squared`, of the
    logarithm of each one's L2 and `least`. unit: what the error in [0, 1] of each patch is multiplied by;
    weights: of each plane. The cost of feature maps' peaks is in the gradient alone."""
    error = net(nets.to_tensor(low), quantised) - nets.to_tensor(high)
    cost = peak_cost * sum(net.peaks)
    return mean_of(error, *(torch.from_numpy(a).float() for a in (unit, weights)), squared, least) + cost - cost.detach()


def mean_of(error, unit, weights, squared, least):
    """The loss of errors in [0, 1]."""
    error = error * unit.view(-1, 1, 1, 1)
    error = error**2 if squared else error.abs()
    mean = (error * weights.view(-1, 1, 1)).mean((1, 2, 3))
    return ((mean + least).log() if squared else mean).mean()


def widened(convolutions, missing):
    """(kernel, bias, grid) of each with so many channels more between head and tail, which are nothing."""
    last = len(convolutions) - 1
    for n, (kernel, bias, grid) in enumerate(convolutions):
        inputs, outputs = missing * (n > 0), missing * (n < last)
        yield (F.pad(kernel, (0, 0, 0, 0, 0, inputs, 0, outputs)), F.pad(bias, (0, outputs)),
               F.pad(grid, (0, outputs), value=1))


def by_avx512(net, low, high, unit, weights, squared, quantised, peak_cost, least):
    """The same but for rounding: features are bfloat16 here. Quantised ones are the same whole
    numbers, by the ranges of the batches before. Peaks cost the mean over patches of each one's."""
    convolutions = [m.stored(quantised) for _, m in net.convolutions()]
    kernels, biases, grids = zip(*widened(convolutions, max(LANES - len(convolutions[0][1]), 0)))
    grids = flat(grids)
    steps = (net.ranges / 255 if quantised else torch.zeros_like(net.ranges)).contiguous()
    peaks = torch.zeros_like(net.ranges)
    low, high, unit, weights = (np.ascontiguousarray(a, np.float32) for a in (low, high, unit, weights))
    chain = Chain(inputs=low.shape[1], channels=len(biases[0]), body=len(net.body), outputs=high.shape[1],
                  count=len(low), height=low.shape[2], width=low.shape[3], squared=squared,
                  by_tiles=library().has_tiles(),
                  grids=grids.data_ptr(), steps=steps.data_ptr(), input=low.ctypes.data,
                  target=high.ctypes.data, units=unit.ctypes.data, weights=weights.ctypes.data,
                  peak_cost=peak_cost, least=least, peaks=peaks.data_ptr())
    out = Learn.apply(chain, flat(kernels), flat(biases))
    net.widen(slice(None), peaks)
    return out


TRAINERS = {"torch": by_torch, "avx512": by_avx512}


def compare(name):
    """Of random weights and samples; prints how it goes, returns whether all agree."""
    check(nets.NETS[name], 48)
    agree = True
    torch.manual_seed(1)
    torch.set_num_threads(1)
    spec, rng = nets.NETS[name], np.random.default_rng(1)
    net = nets.Net(spec)
    count, side = 8, 48
    high = rng.integers(0, 256, (count, net.outputs, side, side)).astype(np.float32)
    low = rng.integers(0, 256, (count, spec.inputs, side, side)).astype(np.float32)
    unit = np.full(count, 255 / 4.0)
    weights = np.linspace(1, 0.5, net.outputs)
    net.calibrate([nets.to_tensor(low)])
    net.train()

    import cuda

    def by_cuda(net, *arrays_and_kind):
        arrays, kind = arrays_and_kind[:4], arrays_and_kind[4:]
        return cuda.loss_of(net, *(torch.from_numpy(a).float() for a in arrays), *kind)

    for quantised in (False, True):
        found = []
        for by in (by_torch, by_avx512, by_cuda):
            seconds = []
            for _ in range(5):
                net.zero_grad()
                began = time.time()
                value = by(net, low, high, unit, weights, True, quantised, 0.0, 0.1)
                value.backward()
                seconds.append(time.time() - began)
            found.append((value.item(), sorted(seconds)[2], [p.grad.clone() for p in net.parameters()]))
        (wanted, slow, right), *others = found
        print(f"{name} {'quantised' if quantised else 'float'}: torch: loss {wanted:.5f}, {1000 * slow:.1f} ms")
        for by, (value, seconds, got) in zip(("avx512", "cuda"), others):
            off = [((r - g).norm() / r.norm()).item() for r, g in zip(right, got)]
            print(f"  {by}: loss {value:.5f}, {1000 * seconds:.1f} ms, gradients off by {min(off):.4f} to {max(off):.4f}")
            agree = agree and max(off) <= 0.04
    return agree


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("name", nargs="?", choices=sorted(nets.NETS), default="sr_x2_fast")
    raise SystemExit(not compare(p.parse_args().name))
