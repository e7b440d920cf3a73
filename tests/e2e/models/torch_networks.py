# SPDX-License-Identifier: Apache-2.0
"""Networks as they are published in PyTorch, small and with random weights: NETWORKS, each with the inputs it is
given. Compared with what mona makes of them without any option.

    torch_networks.py FOLDER MONA    one TAP line for each network and way
"""
import os
import subprocess
import sys

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

BOUND = 3e-3


def conv(a, b, k=3, s=1, g=1, act=nn.ReLU, norm=True):
    return nn.Sequential(nn.Conv2d(a, b, k, s, k // 2, groups=g, bias=not norm),
                         nn.BatchNorm2d(b) if norm else nn.Identity(), act() if act else nn.Identity())


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = conv(3, 16), conv(16, 32), conv(32, 32)
        self.up, self.d, self.last = nn.ConvTranspose2d(32, 16, 2, 2), conv(32, 16), nn.Conv2d(16, 2, 1)

    def forward(self, x):
        a = self.a(x)
        b = self.b(F.max_pool2d(a, 2))
        c = F.interpolate(self.c(F.max_pool2d(b, 2)), scale_factor=2, mode='bilinear', align_corners=False)
        return self.last(self.d(torch.cat([a, self.up(b + c)], 1)))


class Depth(nn.Module):
    """The decoder of Monodepth2: reflected borders, ELU, disparities by a sigmoid."""
    def __init__(self):
        super().__init__()
        self.stem = conv(3, 16, 7, 2)
        self.pad = nn.ReflectionPad2d(1)
        self.a, self.b, self.out = nn.Conv2d(16, 16, 3), nn.Conv2d(16, 8, 3), nn.Conv2d(8, 1, 3)

    def forward(self, x):
        x = F.elu(self.a(self.pad(self.stem(x))))
        x = F.interpolate(x, scale_factor=2, mode='nearest')
        return torch.sigmoid(self.out(self.pad(F.elu(self.b(self.pad(x))))))


class Yolo(nn.Module):
    """Two scales, distances as the expectation of a softmax (DFL), scores by a sigmoid."""
    def __init__(self, classes=3, bins=16):
        super().__init__()
        self.bins, self.classes = bins, classes
        self.a, self.b = conv(3, 16, 3, 2, act=nn.SiLU), conv(16, 32, 3, 2, act=nn.SiLU)
        self.heads = nn.ModuleList(nn.Conv2d(c, 4 * bins + classes, 1) for c in (16, 32))

    def forward(self, x):
        a = self.a(x)
        b = self.b(a)
        found = torch.cat([head(f).flatten(2) for head, f in zip(self.heads, (a, b))], 2)
        box, scores = found.split([4 * self.bins, self.classes], 1)
        n, _, anchors = box.shape
        box = box.view(n, 4, self.bins, anchors).transpose(1, 2).softmax(1)
        steps = torch.arange(self.bins, dtype=torch.float32).view(1, self.bins, 1, 1)
        return torch.cat([(box * steps).sum(1) / self.bins, scores.sigmoid()], 1)


class MobileOne(nn.Module):
    """Before its branches are joined: depthwise and pointwise, each with a normalised identity."""
    def __init__(self):
        super().__init__()
        self.stem = conv(3, 16, 3, 2)
        self.depth, self.skip = conv(16, 16, g=16, act=None), nn.BatchNorm2d(16)
        self.point, self.skip2 = conv(16, 16, 1, act=None), nn.BatchNorm2d(16)
        self.squeeze = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(16, 4, 1), nn.ReLU(), nn.Conv2d(4, 16, 1),
                                     nn.Sigmoid())
        self.last = nn.Linear(16, 10)

    def forward(self, x):
        x = self.stem(x)
        x = F.relu(self.depth(x) + self.skip(x))
        x = x * self.squeeze(x)
        x = F.relu(self.point(x) + self.skip2(x))
        return self.last(x.mean((2, 3)))


class ConvNeXt(nn.Module):
    def __init__(self, c=32):
        super().__init__()
        self.stem, self.depth = nn.Conv2d(3, c, 4, 4), nn.Conv2d(c, c, 7, padding=3, groups=c)
        self.norm, self.up, self.down = nn.LayerNorm(c, 1e-6), nn.Linear(c, 4 * c), nn.Linear(4 * c, c)
        self.gamma = nn.Parameter(torch.rand(c))
        self.last_norm, self.last = nn.LayerNorm(c, 1e-6), nn.Linear(c, 10)

    def forward(self, x):
        x = self.stem(x)
        y = self.norm(self.depth(x).permute(0, 2, 3, 1))
        y = self.down(F.gelu(self.up(y))) * self.gamma
        return self.last(self.last_norm((x + y.permute(0, 3, 1, 2)).mean((2, 3))))


class Pose(nn.Module):
    """Simple Baselines: heat maps by transposed convolutions."""
    def __init__(self):
        super().__init__()
        self.a, self.b = conv(3, 16, 3, 2), conv(16, 32, 3, 2)
        self.up = nn.Sequential(nn.ConvTranspose2d(32, 16, 4, 2, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
                                nn.ConvTranspose2d(16, 16, 4, 2, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU())
        self.last = nn.Conv2d(16, 5, 1)

    def forward(self, x):
        return self.last(self.up(self.b(self.a(x))))


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.PixelUnshuffle(2), conv(4, 16, norm=False), conv(16, 16, norm=False),
                                  nn.Conv2d(16, 4, 3, padding=1), nn.PixelShuffle(2))

    def forward(self, x):
        return x + self.body(x)


class Two(nn.Module):
    """The difference of two frames, weighted by a mask that is made of both."""
    def __init__(self):
        super().__init__()
        self.frame, self.mask = conv(3, 16), nn.Conv2d(32, 1, 3, padding=1)

    def forward(self, a, b):
        x, y = self.frame(a), self.frame(b)
        return torch.sigmoid(self.mask(torch.cat([x, y], 1))) * (a - b)


class Block(nn.Module):
    def __init__(self, a, b, s):
        super().__init__()
        self.first, self.second = conv(a, b, 3, s), conv(b, b, act=None)
        self.side = conv(a, b, 1, s, act=None) if a != b else nn.Identity()

    def forward(self, x):
        return F.relu(self.second(self.first(x)) + self.side(x))


def resnet18():
    stages = [Block(a, b, s) for n, (a, b, s) in enumerate(
        [(16, 16, 1), (16, 16, 1), (16, 32, 2), (32, 32, 1), (32, 64, 2), (64, 64, 1), (64, 128, 2), (128, 128, 1)])]
    return nn.Sequential(conv(3, 16, 7, 2), nn.MaxPool2d(3, 2, 1), *stages, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(128, 10))


class Clamped(nn.Module):
    """Super-resolution of colours on top of the enlarged input, kept between 0 and 1."""
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(conv(3, 16, norm=False), conv(16, 16, act=nn.PReLU, norm=False),
                                  nn.Conv2d(16, 12, 3, padding=1), nn.PixelShuffle(2))

    def forward(self, x):
        large = F.interpolate(x, scale_factor=2, mode='bicubic', align_corners=False)
        return (large + self.body(x)).clamp(0, 1)


class Attention(nn.Module):
    """A vision transformer of one layer."""
    def __init__(self, c=32, heads=4):
        super().__init__()
        self.heads, self.patch, self.qkv, self.project = heads, nn.Conv2d(3, c, 8, 8), nn.Linear(c, 3 * c), nn.Linear(c, c)
        self.token, self.place = nn.Parameter(torch.randn(1, 1, c)), nn.Parameter(torch.randn(1, 17, c) * 0.2)
        self.norm, self.norm2, self.norm3 = nn.LayerNorm(c), nn.LayerNorm(c), nn.LayerNorm(c)
        self.mlp, self.last = nn.Sequential(nn.Linear(c, 4 * c), nn.GELU(), nn.Linear(4 * c, c)), nn.Linear(c, 10)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.place
        n, t, c = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape(n, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = ((q @ k.transpose(-2, -1)) * (c // self.heads) ** -0.5).softmax(-1) @ v
        x = x + self.project(y.transpose(1, 2).reshape(n, t, c))
        x = x + self.mlp(self.norm2(x))
        return self.last(self.norm3(x)[:, 0])


class Abpn(nn.Module):
    """Born in TensorFlow: depth to space in the order DCR, after the input's own copies were added."""
    def __init__(self, scale=3):
        super().__init__()
        self.scale = scale
        self.body = nn.Sequential(conv(3, 16, norm=False), conv(16, 16, norm=False), nn.Conv2d(16, 27, 3, padding=1))

    def forward(self, x):
        s = self.scale
        y = (self.body(x) + torch.cat([x] * (s * s), 1)).clamp(0, 1)
        n, c, h, w = y.shape
        y = y.view(n, s, s, c // (s * s), h, w).permute(0, 3, 4, 1, 5, 2)
        return y.reshape(n, c // (s * s), h * s, w * s)


def normal(*shape):
    return torch.randn(shape)


def unit(*shape):
    return torch.rand(shape)


# The name, what makes it, its inputs, the names of axes that are left open.
NETWORKS = [
    ('U-Net', UNet, lambda: normal(1, 3, 32, 48), None),
    ('depth decoder with reflected borders', Depth, lambda: normal(1, 3, 32, 48), None),
    ('YOLO head', Yolo, lambda: unit(1, 3, 32, 32), None),
    ('MobileOne', MobileOne, lambda: normal(1, 3, 32, 32), None),
    ('ConvNeXt', ConvNeXt, lambda: normal(1, 3, 32, 32), None),
    ('pose with transposed convolutions', Pose, lambda: normal(1, 3, 32, 24), None),
    ('unshuffling denoiser', Denoiser, lambda: unit(1, 1, 32, 48), None),
    ('two inputs', Two, lambda: (normal(1, 3, 24, 32), normal(1, 3, 24, 32)), None),
    ('dynamic axes', lambda: nn.Sequential(conv(1, 16), conv(16, 16), nn.Conv2d(16, 1, 3, padding=1)),
     lambda: normal(1, 1, 21, 35), {2: 'height', 3: 'width'}),
    ('normalised ResNet-18', resnet18, lambda: (unit(1, 3, 64, 64) - 0.45) / 0.226, None),
    ('super-resolution with a clamp', Clamped, lambda: unit(1, 3, 24, 32), None),
    ('attention', Attention, lambda: normal(1, 3, 32, 32), None),
    ('a batch of 4', lambda: nn.Sequential(conv(3, 16, 3, 2), Block(16, 32, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                                           nn.Linear(32, 10)), lambda: normal(4, 3, 32, 32), None),
    ('ABPN with depth to space in the order DCR', Abpn, lambda: unit(1, 3, 16, 24), None),
]


def make(number):
    """The network, its example and what PyTorch makes of it."""
    name, network, example, _ = NETWORKS[number]
    torch.manual_seed(number)
    module = network().eval()
    for part in module.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.running_mean.normal_(0, 0.2)
            part.running_var.uniform_(0.5, 1.5)
            nn.init.uniform_(part.weight, 0.5, 1.5)
            nn.init.normal_(part.bias, 0, 0.2)
    inputs = example()
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    with torch.no_grad():
        return name, module, inputs, module(*inputs).numpy()


def export(number, module, inputs, path):
    names = [f'x{i}' for i in range(len(inputs))]
    axes = NETWORKS[number][3]
    with torch.no_grad():
        torch.onnx.export(module, inputs, path, opset_version=17, input_names=names, output_names=['y'],
                          dynamic_axes=axes and {name: axes for name in names + ['y']})


tests = 0


def tell(good, what, why):
    global tests
    tests += 1
    print(f'{"ok" if good else "not ok"} {tests} - {what}' + ('' if good else f'\n#   {why}'), flush=True)


def compare(what, found, expected):
    if found.size != expected.size:
        return tell(False, what, f'expected {expected.shape}, found {found.shape}')
    worst = abs(found.reshape(expected.shape).astype(np.float64) - expected).max()
    tell(worst <= BOUND, f'{what}: {worst:.1e} from PyTorch, of {abs(expected).max():.2g}', f'at most {BOUND}')
    return None


def by_command(mona, folder, name, inputs, expected):
    at = folder + '/net'
    feed, out = [], {}
    for i, x in enumerate(inputs):
        np.save(f'{at}.{i}.npy', x.numpy())
        feed += ['-i', f'{at}.{i}.npy']
    subprocess.run([mona, 'compile', at + '.onnx', '-o', at + '.mona'], check=True, stdout=subprocess.DEVNULL)
    for kind in ('mona', 'onnx'):
        subprocess.run([mona, 'run', f'{at}.{kind}', *feed, '-o', f'{at}.{kind}.npy', '--raw'], check=True)
        out[kind] = np.load(f'{at}.{kind}.npy')
    compare(f'{name} by the command', out['mona'], expected)
    same = out['mona'].dtype == out['onnx'].dtype and out['mona'].tobytes() == out['onnx'].tobytes()
    tell(same, f'{name}: the bytes of mona run NET.onnx', 'others')


def main():
    folder, mona = sys.argv[1:]
    import mona as package
    for number in range(len(NETWORKS)):
        name, module, inputs, expected = make(number)
        try:
            export(number, module, inputs, folder + '/net.onnx')
            by_command(mona, folder, name, inputs, expected)
        except subprocess.CalledProcessError as error:
            tell(False, f'{name} by the command', error)
        try:
            arrays = [x.numpy() for x in inputs]
            module.train()
            list(module.modules())[-1].eval()
            modes = [part.training for part in module.modules()]
            compare(f'{name} in Python', package.from_torch(module, inputs)(*arrays), expected)
            tell([part.training for part in module.modules()] == modes, f'{name}: trains as before', 'other parts do')
            size = [x.shape[-2:] for x in inputs] if NETWORKS[number][3] else None
            compare(f'{name} as a file', package.Model(folder + '/net.onnx', size=size)(*arrays), expected)
        except (package.Error, ValueError, TypeError) as error:
            tell(False, f'{name} in Python', error)
    print(f'1..{tests}')


if __name__ == '__main__':
    main()
