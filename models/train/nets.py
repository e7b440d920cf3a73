# SPDX-License-Identifier: Apache-2.0
"""The networks, for training: float, with simulated quantisation, and the exact INT8 rule.

Both nets have one shape: a head convolution to C channels, `body` convolutions C -> C, the head's
features added before a tail convolution, and the input added to the tail's output. All kernels are
3x3, all but the tail are followed by ReLU. Rearranging pixels (space-to-depth, depth-to-space)
stays outside `Net`, so training sees only packed planes and never has to move pixels.
"""
from typing import NamedTuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Spec(NamedTuple):
    """One row of NETS. Everything that differs between the nets is here."""
    task: str  # "sr": luma, enlarged; "denoise": Y, U, V and the noise level, 4:2:0
    scale: int  # of a super-resolution net; 1 for a denoiser
    channels: int
    body: int  # convolutions between head and tail
    video: bool = False  # for compressed film rather than clean pictures
    anime: bool = False  # for drawn film, clean or compressed
    jpeg: bool = False  # for pictures that were JPEG
    sharp: bool = False  # for a look rather than the least error

    @property
    def camera(self):
        """Trained on pictures as camera.py leaves them, too."""
        return self.sharp and not (self.video or self.anime)

    @property
    def block(self):
        """Luma is packed or unpacked in blocks of so many pixels a side."""
        return self.scale if self.task == "sr" else 2

    @property
    def inputs(self):
        return 1 if self.task == "sr" else 7

    @property
    def outputs(self):
        return self.scale**2 if self.task == "sr" else 6

    @property
    def macs(self):
        """Per pixel of the input's luma."""
        packed = 9 * self.channels * (self.inputs + self.body * self.channels + self.outputs)
        return packed if self.task == "sr" else packed // 4


# Channels in lots of 16, as the targets want them, but for tiny, which microcontrollers run. MAC per
# pixel in comments: tiny has about 1,500, fast at most 8,000 (super-resolution) or 3,000 (denoising),
# balanced 30,000, best 120,000.
NETS = {
    "sr_x2_tiny": Spec("sr", 2, 8, 2),  # 1,512
    "sr_x2_fast": Spec("sr", 2, 16, 3),  # 7,632
    "sr_x2_fast_video": Spec("sr", 2, 16, 3, True),
    "sr_x2_fast_jpeg": Spec("sr", 2, 16, 3, jpeg=True),
    "sr_x2_fast_anime": Spec("sr", 2, 16, 3, anime=True),
    "sr_x2_fast_sharp": Spec("sr", 2, 16, 3, sharp=True),
    "sr_x2_fast_video_sharp": Spec("sr", 2, 16, 3, True, sharp=True),
    "sr_x2_fast_anime_sharp": Spec("sr", 2, 16, 3, anime=True, sharp=True),
    "sr_x2_balanced": Spec("sr", 2, 16, 11),  # 26,064
    "sr_x2_balanced_video": Spec("sr", 2, 16, 11, True),
    "sr_x2_balanced_jpeg": Spec("sr", 2, 16, 11, jpeg=True),
    "sr_x2_balanced_anime": Spec("sr", 2, 16, 11, anime=True),
    "sr_x2_best": Spec("sr", 2, 32, 11),  # 102,816
    "sr_x2_best_jpeg": Spec("sr", 2, 32, 11, jpeg=True),
    "sr_x2_best_video": Spec("sr", 2, 32, 11, True),
    "sr_x3_fast": Spec("sr", 3, 16, 2),  # 6,048
    "sr_x3_balanced": Spec("sr", 3, 16, 11),  # 26,784
    "sr_x3_balanced_video": Spec("sr", 3, 16, 11, True),
    "sr_x3_best": Spec("sr", 3, 32, 11),  # 104,256
    "sr_x3_best_video": Spec("sr", 3, 32, 11, True),
    "sr_x4_fast": Spec("sr", 4, 16, 2),  # 7,056
    "sr_x4_balanced": Spec("sr", 4, 16, 11),  # 27,792
    "sr_x4_balanced_video": Spec("sr", 4, 16, 11, True),
    "sr_x4_best": Spec("sr", 4, 32, 11),  # 106,272
    "sr_x4_best_video": Spec("sr", 4, 32, 11, True),
    "denoise_fast": Spec("denoise", 1, 16, 4),  # 2,772
    "denoise_fast_video": Spec("denoise", 1, 16, 4, True),
    "denoise_balanced": Spec("denoise", 1, 32, 12),  # 28,584
    "denoise_balanced_video": Spec("denoise", 1, 32, 4, True),  # 10,152
}


class Collapsible(nn.Module):
    """A 3x3 convolution whose kernel is the product of a wide 3x3 and a 1x1 plus a fixed base.

    The product is formed in weight space at every step, so the forward pass costs no more than the
    plain convolution, yet the extra degrees of freedom make training faster and better. The base is
    the identity where the channel counts allow it, or the weights a run starts from.
    """

    def __init__(self, inputs, outputs, width=128, gain=1.0, centre=None, constant=0):
        super().__init__()
        self.constant = constant  # how many of the last inputs are the same all over the picture
        self.wide = nn.Parameter(torch.randn(width, inputs, 3, 3) / (9 * inputs) ** 0.5)
        self.point = nn.Parameter(torch.randn(outputs, width) * 1.2 * gain / width ** 0.5)
        self.bias = nn.Parameter(torch.zeros(outputs))
        base = torch.zeros(outputs, inputs, 3, 3)
        if inputs == outputs:
            base[range(outputs), range(outputs), 1, 1] = 1
        self.register_buffer("base", base)
        self.register_buffer("centre", torch.zeros(inputs) if centre is None else centre)

    def kernel(self):
        # The product as a 1x1 convolution: three times as fast as an einsum on a core.
        product = F.conv2d(self.wide.transpose(0, 1), self.point[:, :, None, None])
        kernel = product.transpose(0, 1) + self.base
        if not self.constant:
            return kernel
        # Nine equal taps do what any nine do, and the largest of them, which sets the step of the
        # whole kernel in INT8, is as small as can be.
        varying, constant = kernel.split((kernel.shape[1] - self.constant, self.constant), 1)
        return torch.cat([varying, constant.mean((2, 3), keepdim=True).expand_as(constant)], 1)

    def reach(self, kernel):
        """What the kernel answers where every input is at its centre."""
        return kernel.sum((2, 3)) @ self.centre

    def plain(self):
        """(kernel, bias) of the plain convolution. Trained is the bias of centred inputs."""
        kernel = self.kernel()
        return kernel, self.bias - self.reach(kernel)

    def stored(self, quantised):
        """(kernel, bias, scale of each output's codes); rounded as INT8 stores it, if `quantised`."""
        kernel, bias = self.plain()
        if not quantised:
            return kernel, bias, torch.ones_like(bias)
        scale = weight_scale(kernel)
        return on_grid(kernel, scale, -127, 127), bias, scale.detach().flatten()

    def start_from(self, weight, bias):
        """The first outputs as they were in a net that may be narrower: they see none of the inputs
        that are new. Outputs that are new stay as they are."""
        outputs, inputs = weight.shape[:2]
        self.base[:outputs].zero_()
        self.base[:outputs, :inputs].copy_(torch.from_numpy(weight))
        self.bias.data[:outputs].copy_(torch.from_numpy(bias) + self.reach(self.base)[:outputs])
        self.point.data[:outputs].zero_()  # the product starts at nothing and grows from there

    def pass_on(self, channels):
        """The first channels as they come: nothing but the identity in the base."""
        self.point.data[:channels].zero_()


def on_grid(value, scale, low, high):
    """Multiples of scale in the forward pass, the gradient of `value` in the backward pass.

    A scale that depends on the weights gets its gradient too, from the rounding error: that is what
    makes a lone large weight shrink when it coarsens the grid for all others.
    """
    with torch.no_grad():
        steps = value / scale
        change = steps.round().clamp_(low, high).sub_(steps)
    return value + scale * change


def weight_scale(weight):
    """Symmetric s8, one scale per output channel."""
    return weight.abs().amax((-3, -2, -1), keepdim=True).clamp(min=1e-8) / 127


def to_tensor(planes):
    """Code values to [0, 1], channels last, which convolutions on CPUs prefer."""
    return torch.from_numpy(planes / np.float32(255)).float() \
        .contiguous(memory_format=torch.channels_last)


def to_half(x):
    return x.half().float()


class Net(nn.Module):
    def __init__(self, spec):
        super().__init__()
        inputs, channels, outputs = spec.inputs, spec.channels, spec.outputs
        # Pixels are all positive. Seen from their middle, a change of a kernel does not move its
        # answer as a whole; otherwise features drift to where they never fire, and a feature that
        # never fires never learns.
        centre = torch.full((inputs,), 0.45)
        centre[outputs:] = 0.08  # the noise level, if there is one
        self.head = Collapsible(inputs, channels, centre=centre, constant=max(inputs - outputs, 0))
        self.body = nn.ModuleList(Collapsible(channels, channels) for _ in range(spec.body))
        self.tail = Collapsible(channels, outputs, gain=0.1)
        # largest value seen of each stored feature map: the head, then each body convolution
        self.register_buffer("ranges", torch.zeros(spec.body + 1))
        self.ceilings = None
        self.outputs = outputs

    def cut_at(self, ceilings):
        """From now on, each map is cut at its ceiling, which is its range, whatever comes; None: not cut."""
        self.ceilings = ceilings
        if ceilings is not None:
            self.ranges.copy_(torch.tensor(ceilings))

    def convolutions(self):
        """(name, module) in the order of the graph; the names are those of the weight files."""
        yield "head", self.head
        for i, m in enumerate(self.body):
            yield f"body.{i}", m
        yield "tail", self.tail

    def plain_weights(self):
        """The collapsed net: {"head.weight": array, "head.bias": array, ...}."""
        out = {} if self.ceilings is None else {"ceilings": np.float32(self.ceilings)}
        with torch.no_grad():
            for name, m in self.convolutions():
                kernel, bias = m.plain()
                out[name + ".weight"] = kernel.cpu().numpy().copy()
                out[name + ".bias"] = bias.cpu().numpy().copy()
        return out

    def start_from(self, weights):
        """Becomes the net of these weights, which may be narrower or shallower: what it answers is
        then the same at first, except where its tail is of another scale, which starts afresh."""
        channels = weights["head.weight"].shape[0]
        for name, m in self.convolutions():
            weight, bias = (weights.get(f"{name}.{part}") for part in ("weight", "bias"))
            if name == "tail" and len(bias) != self.outputs:
                continue
            if weight is None:  # features are not negative: ReLU after the identity keeps them
                m.pass_on(channels)
                continue
            if any(old > new for old, new in zip(weight.shape, m.base.shape)):
                raise SystemExit(f"weights to start from: {name} has the shape {weight.shape}, "
                                 f"expected at most {tuple(m.base.shape)}")
            m.start_from(weight, bias)

    def skip(self, x):
        """What the tail corrects: the image planes, without the noise map of `denoise_fast`."""
        return x if x.shape[1] == 1 else x[:, :self.outputs]

    def track(self, i, x):
        """Follow the largest value of feature map i."""
        # flat in the order of memory, and max along it: the cheapest form with a gradient
        peak = x.permute(0, 2, 3, 1).reshape(-1).max(0).values
        self.peaks.append(peak)  # for the loss
        self.widen(i, peak)

    @torch.no_grad()
    def widen(self, maps, peaks):
        """Ranges of maps as far as the peaks, forgetting slowly: min-max calibration."""
        if self.ceilings is None:
            self.ranges[maps] = torch.maximum(self.ranges[maps] * 0.9995, peaks)

    def store(self, i, x, quantised, first=0):
        """A feature map as it is stored, x + first: u8, zero point 0, one scale, if `quantised`. What is cut
        gives x no gradient."""
        if self.ceilings is not None:
            most = self.ceilings[i]
            x = torch.where(x + first > most, x.detach(), x) + first
            x = x - F.relu(x.detach() - most)
        else:
            x = x + first
        if self.training:
            self.track(i, x)
        if not quantised:
            return x
        return on_grid(x, self.ranges[i] / 255, 0, 255)

    def forward(self, x, quantised=False):
        def conv(m, t):
            weight, bias, _ = m.stored(quantised)
            return F.conv2d(t, weight, bias, padding=1)

        self.peaks = []
        first = features = self.store(0, F.relu(conv(self.head, x)), quantised)
        for i, m in enumerate(self.body):
            last = i + 1 == len(self.body)  # one rounding: mona adds before it stores
            features = self.store(i + 1, F.relu(conv(m, features)), quantised, first if last else 0)
        return conv(self.tail, features) + self.skip(x)

    def calibrate(self, samples):
        """Set the ranges to the largest values over `samples`, as a min-max calibration does."""
        if self.ceilings is not None:
            self.eval()
            return
        self.train()
        largest = torch.zeros_like(self.ranges)
        with torch.no_grad():
            for x in samples:
                self.ranges.zero_()
                self(x)
                largest = torch.maximum(largest, self.ranges)
        self.ranges.copy_(largest)
        self.eval()

    @torch.no_grad()
    def forward_int8(self, x):
        """The engine's arithmetic: s32 sums, fp16 scales, fp16 residual, one rounding.

        x holds multiples of 1/255. Sums of u8 x s8 products stay below 2^24, so fp32 convolutions
        are exact and this is the INT8 rule itself, not an estimate of it.
        """
        def conv(m, q, in_scale, out_scale):
            weight, bias = m.plain()
            scale = weight_scale(weight)
            bias = (bias / (in_scale * scale.flatten())).round()
            acc = F.conv2d(q, (weight / scale).round(), bias, padding=1)
            return to_half(acc * to_half(in_scale * scale / out_scale).view(1, -1, 1, 1))

        pixel = torch.tensor(1 / 255, device=x.device)
        scales = self.ranges / 255
        image = (x * 255).round()
        first = features = F.relu(conv(self.head, image, pixel, scales[0])).round().clamp(0, 255)
        for i, m in enumerate(self.body):
            features = F.relu(conv(m, features, scales[i], scales[i + 1]))
            if i + 1 == len(self.body):
                residual = to_half(first * to_half(scales[0] / scales[i + 1]))
                features = to_half(features + residual)
            features = features.round().clamp(0, 255)
        out = to_half(conv(self.tail, features, scales[-1], pixel) + self.skip(image))
        return out.round().clamp(0, 255) / 255


def read_weights(path):
    """The arrays of an .npz file, or the same from an .onnx file that export.py wrote."""
    if not path.endswith(".onnx"):
        return dict(np.load(path))
    import onnx
    from onnx import numpy_helper
    model = onnx.load(path)
    weights = {t.name: numpy_helper.to_array(t).copy() for t in model.graph.initializer}
    notes = {p.key: p.value for p in model.metadata_props}
    if "ranges" in notes:
        weights["ranges"] = np.array(notes["ranges"].split(), np.float32)
        if any(node.op_type == "Clip" for node in model.graph.node):
            weights["ceilings"] = weights["ranges"]
    return weights


def load(name, path):
    """A net of the given name with the weights, and the ranges if any, of a file."""
    net = Net(NETS[name])
    weights = read_weights(path)
    net.start_from(weights)
    if "ranges" in weights:
        net.ranges.copy_(torch.from_numpy(weights["ranges"]))
    if "ceilings" in weights:
        net.cut_at(weights["ceilings"].tolist())
    return net.eval()
