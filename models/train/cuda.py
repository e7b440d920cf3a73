# SPDX-License-Identifier: Apache-2.0
"""Training on a GPU, 30 to 100 times as fast as on a core.

A step of a small network is some hundred short kernels, so each kind of step is captured once as a graph and
replayed. Batches are made by other processes, several steps at a time; each depends on the recipe's seed and the
number of its step alone, so that it does not matter who makes it. Features are bfloat16; where they are quantised,
TF32, which holds what INT8 stores exactly.
"""
import functools
import os

import numpy as np
import torch
import torch.nn.functional as F

import losses
import nets

LOT = 16  # steps whose batches travel together
PEAKED = 4  # of so many steps one looks for peaks, at that many times their cost: it takes a sixth of a step's time
OUTER, INNER = 8, 16  # channels come in multiples of these: fewer are slower
# Around convolutions of pixels alone: products of kernels stay in fp32.
tf32 = functools.partial(torch.backends.cudnn.flags, enabled=True, benchmark=True, deterministic=False, allow_tf32=True)


def widened(tensor, *axes):
    """With as many more, of zeros, along each (axis, lot) as make it a multiple of the lot."""
    for axis, lot in axes:
        tensor = F.pad(tensor, (0, 0) * (tensor.dim() - 1 - axis) + (0, -tensor.shape[axis] % lot))
    return tensor


class Layer(torch.autograd.Function):
    """(what is stored, each patch's peak) of ReLU of a convolution, and `first` added to it if there is one.
    step: of what is stored; None: it is not quantised, which has no gradient of its own. The cost of peaks is in
    the gradient alone; None: they are not looked for, and are 0."""

    @staticmethod
    def forward(ctx, x, weight, bias, first, step, peak_cost):
        with tf32():
            relu = torch.cudnn_convolution_relu(x, weight, bias, (1, 1), (1, 1), (1, 1), 1) if x.is_cuda else \
                F.conv2d(x, weight, bias, padding=1).relu_()
        out = relu if first is None else relu + first
        if peak_cost is None:
            peaks, places = out.new_zeros(1), None
        else:
            peaks, places = out.permute(0, 2, 3, 1).flatten(1).max(1)
        if step is not None:
            relu = relu * (out < 255.5 * step)  # what is cut gives no gradient
            out = (out / step).round_().clamp_(max=255).mul_(step)
        ctx.save_for_backward(x, weight, relu, places)
        ctx.adds, ctx.cost = first is not None, (peak_cost or 0) / len(x)
        ctx.mark_non_differentiable(peaks)
        return out, peaks

    @staticmethod
    def backward(ctx, slope, _):
        x, weight, relu, places = ctx.saved_tensors
        slope = slope.contiguous(memory_format=torch.channels_last)
        if ctx.cost:
            flat = slope.permute(0, 2, 3, 1).flatten(1)
            flat.scatter_add_(1, places[:, None], torch.full_like(flat[:, :1], ctx.cost))
        below = torch.ops.aten.threshold_backward(slope, relu, 0)
        with tf32():
            dx, dw, db = torch.ops.aten.convolution_backward(
                below, x, weight, [len(weight)], [1, 1], [1, 1], [1, 1], False, [0, 0], 1,
                [ctx.needs_input_grad[0], True, True])
        return dx, dw, db, slope if ctx.adds else None, None, None


def body_of(net, quantised, kind):
    """Kernels and biases of all body layers, in one piece each: a few large kernels instead of many small ones."""
    wide, point, bias, base = (torch.stack([getattr(m, part) for m in net.body])
                               for part in ("wide", "point", "bias", "base"))
    kernels = torch.bmm(point, wide.flatten(2)).view_as(base) + base
    if quantised:
        kernels = nets.on_grid(kernels, nets.weight_scale(kernels), -127, 127)
    kernels = widened(kernels, (1, INNER), (2, INNER)).permute(0, 1, 3, 4, 2).to(kind).contiguous()
    return kernels.permute(0, 1, 4, 2, 3).unbind(), widened(bias, (1, INNER)).to(kind).unbind()


def loss_of(net, low, high, unit, weights, squared, quantised, peak_cost, least):
    """As losses.by_torch, of tensors; low and high in code values, of any type. Widens the ranges of net."""
    kind = torch.float32 if quantised else torch.bfloat16
    steps = (net.ranges.clamp(min=1e-6) / 255).unbind() if quantised else [None] * len(net.ranges)

    def end_of(m, inputs, outputs, unit):
        weight, bias, _ = m.stored(quantised)
        weight = widened(weight / unit, (1, inputs), (0, outputs)).to(kind)
        return weight.contiguous(memory_format=torch.channels_last), widened(bias, (0, outputs)).to(kind)

    # Code values are exact in bfloat16, parts of 1 are not.
    weight, bias = end_of(net.head, OUTER, INNER, 255)
    x = widened(low.to(kind), (1, OUTER)).contiguous(memory_format=torch.channels_last)
    x, peak = first, _ = Layer.apply(x, weight, bias, None, steps[0], peak_cost)
    peaks = [peak]
    for n, (weight, bias) in enumerate(zip(*body_of(net, quantised, kind))):
        x, peak = Layer.apply(x, weight, bias, first if n + 1 == len(net.body) else None, steps[n + 1], peak_cost)
        peaks.append(peak)
    weight, bias = end_of(net.tail, INNER, OUTER, 1)
    with tf32():
        out = F.conv2d(x, weight, bias, padding=1)
    out = out[:, :net.outputs].float() + net.skip(low.float() / 255)
    if peak_cost is not None:
        net.widen(slice(None), torch.stack(peaks).amax(1).float())
    return losses.mean_of(out - high.float() / 255, unit, weights, squared, least)


class Lots(torch.utils.data.Dataset):
    """Of LOT steps each, from `first` to `end`: samples of input and target (uint8), and numbers (float32): of each
    patch its unit, then the step's rate and how far the average follows."""

    def __init__(self, make, numbers, first, end):
        self.make, self.numbers, self.first, self.end = make, numbers, first, end

    def __len__(self):
        return -(-(self.end - self.first) // LOT)

    def __getitem__(self, n):
        first = self.first + n * LOT
        samples, numbers = [], []
        for step in range(first, min(first + LOT, self.end)):
            low, high, unit = self.make(step)
            samples.append(np.concatenate([low, high], 1).astype(np.uint8))
            numbers.append(np.concatenate([unit, self.numbers(step)]).astype(np.float32))
        return torch.from_numpy(np.stack(samples)), torch.from_numpy(np.stack(numbers))


def batches(make, numbers, first, end, workers=max((os.cpu_count() or 1) - 2, 1)):
    """(samples, numbers) of each step, on the GPU."""
    loader = torch.utils.data.DataLoader(Lots(make, numbers, first, end), batch_size=None, num_workers=workers,
                                         pin_memory=True, prefetch_factor=4)
    for lot in loader:
        yield from zip(*(part.cuda(non_blocking=True) for part in lot))


def prepare():
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False


def version():
    return f"cuda on {torch.cuda.get_device_name()}"


def optimiser_of(net):
    """Adam whose state is there from the beginning, as a graph's inputs must be."""
    optimiser = torch.optim.Adam(net.parameters(), lr=torch.zeros((), device="cuda"), fused=True, capturable=True)
    for p in net.parameters():
        p.grad = torch.zeros_like(p)
    optimiser.step()
    for state in optimiser.state.values():
        state["step"].zero_()
    return optimiser


class Work:
    """Steps of one kind, as graphs: one with peaks, one without. samples, numbers: those of any such step."""

    def __init__(self, run, samples, numbers, weights, steepest, kind):
        self.run, self.steepest = run, steepest
        self.samples, self.numbers = samples.clone(), numbers.clone()
        self.weights = torch.from_numpy(weights).float().cuda()
        self.graphs = [self.captured(**{**kind, "peak_cost": cost}) for cost in (kind["peak_cost"] * PEAKED, None)]

    def captured(self, **loss):
        run = self.run
        for group in run.optimiser.param_groups:
            group["lr"] = self.numbers[-2]
        kept = [(t, t.clone()) for t in self.state()]
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(2):
                self.work(loss)
        torch.cuda.current_stream().wait_stream(aside)
        run.optimiser.zero_grad(set_to_none=True)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):  # batches are pinned meanwhile
            self.work(loss)
        for t, was in kept:
            t.copy_(was)
        return graph

    def state(self):
        run = self.run
        yield from (p.detach() for p in [*run.net.parameters(), *run.average.parameters()])
        yield from (run.net.ranges, run.total)
        for state in run.optimiser.state.values():
            yield from state.values()

    def work(self, kind):
        run, planes = self.run, self.run.spec.inputs
        run.optimiser.zero_grad(set_to_none=True)
        loss = loss_of(run.net, self.samples[:, :planes], self.samples[:, planes:], self.numbers[:-2], self.weights,
                       **kind)
        loss.backward()
        parameters = list(run.net.parameters())
        torch.nn.utils.clip_grad_norm_(parameters, self.steepest)
        run.optimiser.step()
        with torch.no_grad():
            run.total += loss
            average = list(run.average.parameters())
            apart = torch._foreach_sub(parameters, average)
            torch._foreach_mul_(apart, self.numbers[-1])
            torch._foreach_add_(average, apart)

    def __call__(self, samples, numbers):
        self.samples.copy_(samples)
        self.numbers.copy_(numbers)
        self.graphs[self.run.step % PEAKED > 0].replay()
