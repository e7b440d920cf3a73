"""Training a denoiser through time: its own outputs, clipped and rounded, go back into it."""
import numpy as np
import torch

import nets

FLICKER = 1.0  # what changes where nothing should counts so many times what is wrong
MEASURED, SIGMA = 8, 25  # held-out frames, their noise
LABELS = ("first frame", "still", "moving")


def to_tensor(planes):
    """Code values, frames first, to [0, 1]; channels last, which convolutions on CPUs prefer."""
    return [torch.from_numpy(frame / np.float32(255)).float()
            .contiguous(memory_format=torch.channels_last) for frame in planes]


def stored(output):
    """What the next frame sees of this one."""
    return nets.on_grid(output.clamp(0, 1), 1 / 255, 0, 255)


def run(net, frames):
    """Yields (input with the frame before, output), net being called for one frame after another."""
    previous = torch.zeros_like(frames[0][:, :6])
    for frame in frames:
        x = torch.cat([frame, previous], 1)
        output = net(x)
        yield x, output
        previous = stored(output)


def loss(net, quantised, frames, targets, before, norm):
    """Mean of norm(error) over the frames after the first `before`, plus that of the error in what
    changes since the frame before where nothing should, and the peaks of the feature maps."""
    total, peaks, last = 0, 0, None
    kernels = net.kernels(quantised)
    previous = torch.zeros_like(targets[0])
    for t, (frame, target) in enumerate(zip(frames, targets)):
        with torch.set_grad_enabled(t >= before):
            output = net(torch.cat([frame, previous], 1), quantised, kernels)
            previous = stored(output)
        if t >= before:
            total = total + norm(output - target)
            peaks = peaks + sum(net.peaks)
            if t:
                still = (target == targets[t - 1]).all(1, keepdim=True)
                total = total + FLICKER * norm((output - last) * still)
        last = output
    return total / (len(frames) - before), peaks / (len(frames) - before)


@torch.no_grad()
def calibration(net, batches):
    """Inputs as they come, one batch after another."""
    return [x for frames in batches for x, _ in run(net, frames)]


def held_out(sets):
    """{label: (frames, targets)} of fixed sequences, grey, with white noise."""
    rng, out = np.random.default_rng(7), {}
    images = [high for s in sets for _, high in s if min(high.shape[1:]) >= 96]
    for label, speed in (("still", 0), ("moving", 1)):
        clean = np.stack([[image[:, 4 + t * speed:68 + t * speed, 8 - t * speed:72 - t * speed]
                           for t in range(MEASURED)] for image in images]).swapaxes(0, 1) \
            .astype(np.float32)
        clean[:, :, 4:] = 128
        noisy = clean.copy()
        noisy[:, :, :4] += SIGMA * rng.standard_normal(noisy[:, :, :4].shape, np.float32)
        noisy = np.clip(np.rint(noisy), 0, 255)
        level = np.full_like(noisy[:, :, :1], SIGMA)
        out[label] = to_tensor(np.concatenate([noisy, level], 2)), clean
    return out


@torch.no_grad()
def luma_psnr(net, measured, quantised):
    """Mean PSNR of luma of the first frame, and of the last of those that stand still and move."""
    net.eval()

    def psnr(output, clean):
        luma = output[:, :4].numpy().clip(0, 1) * 255
        mse = ((luma.round() - clean[:, :4]) ** 2).mean((1, 2, 3))
        return float(np.mean(10 * np.log10(255**2 / mse)))

    figures = {}
    for label, (frames, clean) in measured.items():
        outputs = [y for _, y in run(net.forward_int8 if quantised else net, frames)]
        figures["first frame"] = psnr(outputs[0], clean[0])
        figures[label] = psnr(outputs[-1], clean[-1])
    return [figures[label] for label in LABELS]
