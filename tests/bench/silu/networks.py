# SPDX-License-Identifier: Apache-2.0
"""A narrow EfficientNetV2 that tells the shape in a picture, a narrow YOLOv8 that finds shapes, and their training."""
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from pictures import SHAPES, scene

POOL = 3000  # pictures to train with, also mirrored
MEAN, DEVIATION = np.float32([123.675, 116.28, 103.53]), np.float32([58.395, 57.12, 57.375])  # ImageNet's

def conv(inputs, outputs, kernel=1, stride=1, groups=1, act=True):
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
                         nn.BatchNorm2d(outputs, eps=1e-3, momentum=0.03), *([nn.SiLU()] if act else []))


class Squeeze(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.fc1, self.fc2 = nn.Conv2d(channels, squeezed, 1), nn.Conv2d(squeezed, channels, 1)

    def forward(self, x):
        return torch.sigmoid(self.fc2(F.silu(self.fc1(F.adaptive_avg_pool2d(x, 1))))) * x


class Inverted(nn.Module):
    """MBConv or Fused-MBConv."""

    def __init__(self, inputs, outputs, expand, kernel, stride, fused):
        super().__init__()
        wide, self.residual = inputs * expand, stride == 1 and inputs == outputs
        if fused:
            layers = [conv(inputs, wide, kernel, stride), conv(wide, outputs, act=False)] if expand > 1 else \
                [conv(inputs, outputs, kernel, stride)]
        else:
            layers = [conv(inputs, wide), conv(wide, wide, kernel, stride, wide), Squeeze(wide, inputs // 4),
                      conv(wide, outputs, act=False)]
        self.block = nn.Sequential(*layers)

    def forward(self, x):
        y = self.block(x)
        return x + y if self.residual else y


def efficientnet():
    """V2, narrow and shallow: Fused-MBConv first, which is quick to train."""
    layers, inputs = [conv(3, 16, 3, 2)], 16
    for fused, expand, kernel, stride, outputs, repeats in ((1, 1, 3, 1, 16, 1), (1, 4, 3, 2, 24, 1), (1, 4, 3, 2, 32, 1),
                                                            (0, 4, 3, 2, 48, 3), (0, 6, 3, 1, 56, 2), (0, 6, 3, 2, 80, 3)):
        for i in range(repeats):
            layers.append(Inverted(inputs, outputs, expand, kernel, 1 if i else stride, fused))
            inputs = outputs
    return nn.Sequential(*layers, conv(inputs, 320), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2),
                         nn.Linear(320, len(SHAPES)))


class Stage(nn.Module):
    """C2f."""

    def __init__(self, inputs, outputs, repeats, shortcut):
        super().__init__()
        half, self.shortcut = outputs // 2, shortcut
        self.first, self.last = conv(inputs, outputs), conv((2 + repeats) * half, outputs)
        self.blocks = nn.ModuleList(nn.Sequential(conv(half, half, 3), conv(half, half, 3)) for _ in range(repeats))

    def forward(self, x):
        parts = list(self.first(x).chunk(2, 1))
        for block in self.blocks:
            parts.append(parts[-1] + block(parts[-1]) if self.shortcut else block(parts[-1]))
        return self.last(torch.cat(parts, 1))


class Pools(nn.Module):
    """SPPF."""

    def __init__(self, channels):
        super().__init__()
        self.first, self.last = conv(channels, channels // 2), conv(channels * 2, channels)

    def forward(self, x):
        parts = [self.first(x)]
        for _ in range(3):
            parts.append(F.max_pool2d(parts[-1], 5, 1, 2))
        return self.last(torch.cat(parts, 1))


BINS = 16
STRIDES = 8, 16, 32


class Yolo(nn.Module):
    """YOLOv8n, half as wide."""

    def __init__(self, side, c=8):
        super().__init__()
        kinds = len(SHAPES)
        self.to3 = nn.Sequential(conv(3, c, 3, 2), conv(c, 2 * c, 3, 2), Stage(2 * c, 2 * c, 1, True),
                                 conv(2 * c, 4 * c, 3, 2), Stage(4 * c, 4 * c, 2, True))
        self.to4 = nn.Sequential(conv(4 * c, 8 * c, 3, 2), Stage(8 * c, 8 * c, 2, True))
        self.to5 = nn.Sequential(conv(8 * c, 16 * c, 3, 2), Stage(16 * c, 16 * c, 1, True), Pools(16 * c))
        self.up4, self.up3 = Stage(24 * c, 8 * c, 1, False), Stage(12 * c, 4 * c, 1, False)
        self.half3, self.down4 = conv(4 * c, 4 * c, 3, 2), Stage(12 * c, 8 * c, 1, False)
        self.half4, self.down5 = conv(8 * c, 8 * c, 3, 2), Stage(24 * c, 16 * c, 1, False)
        branch = lambda inputs, wide, outputs: nn.Sequential(conv(inputs, wide, 3), conv(wide, wide, 3),
                                                             nn.Conv2d(wide, outputs, 1))
        self.boxes = nn.ModuleList(branch(n * c, 32, 4 * BINS) for n in (4, 8, 16))
        self.kinds = nn.ModuleList(branch(n * c, 32, kinds) for n in (4, 8, 16))
        for box, kind in zip(self.boxes, self.kinds):
            nn.init.constant_(box[-1].bias, 1)
            nn.init.constant_(kind[-1].bias, -5)
        grids = [np.mgrid[:side // s, :side // s].reshape(2, -1)[::-1] + 0.5 for s in STRIDES]
        self.register_buffer("anchors", torch.tensor(np.concatenate(grids, 1), dtype=torch.float32))
        self.register_buffer("strides", torch.cat([torch.full((1, g.shape[1]), float(s)) for g, s in zip(grids, STRIDES)], 1))
        self.dfl = nn.Conv2d(BINS, 1, 1, bias=False).requires_grad_(False)
        self.dfl.weight.data[:] = torch.arange(BINS).view(1, BINS, 1, 1)

    def raw(self, x):
        """Logits of distances [batch, 4 * BINS, anchors], and of classes."""
        p3 = self.to3(x)
        p4 = self.to4(p3)
        p5 = self.to5(p4)
        n4 = self.up4(torch.cat([F.interpolate(p5, scale_factor=2.0), p4], 1))
        n3 = self.up3(torch.cat([F.interpolate(n4, scale_factor=2.0), p3], 1))
        m4 = self.down4(torch.cat([self.half3(n3), n4], 1))
        m5 = self.down5(torch.cat([self.half4(m4), p5], 1))
        heads = [torch.cat([box(p), kind(p)], 1) for box, kind, p in zip(self.boxes, self.kinds, (n3, m4, m5))]
        return torch.cat([h.view(h.shape[0], h.shape[1], -1) for h in heads], 2).split((4 * BINS, len(SHAPES)), 1)

    def distances(self, box):
        b, _, a = box.shape
        return self.dfl(box.view(b, 4, BINS, a).transpose(2, 1).softmax(1)).view(b, 4, a)

    def forward(self, x):
        box, kind = self.raw(x)
        low, high = self.distances(box).chunk(2, 1)
        low, high = self.anchors - low, self.anchors + high
        return torch.cat([torch.cat([(low + high) / 2, high - low], 1) * self.strides, kind.sigmoid()], 1)


# ---- training --------------------------------------------------------------------------------------------------------

def targets(net, kinds, boxes):
    """For each anchor the box that it has to find, and its class or -1: near the middle of a box, at the stride that suits."""
    boxes = torch.tensor(boxes, dtype=torch.float32)
    at, stride = (net.anchors * net.strides).T, net.strides[0]
    middle, sides = (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]
    away = ((at[:, None] - middle).abs() / torch.minimum(sides / 2, 1.6 * stride[:, None, None])).amax(-1)
    suits = torch.stack([sides.amax(1) < 24, (sides.amax(1) > 16) & (sides.amax(1) < 36), sides.amax(1) > 28])
    away[~suits[(stride.log2() - 3).long()]] = 9
    nearest = away.argmin(1)
    found = away.amin(1) < 1
    return boxes[nearest], torch.where(found, torch.tensor(kinds)[nearest], -1)


def iou_loss(a, b):
    """1 - CIoU without its term for the aspect, and the IoU."""
    common = (torch.minimum(a[:, 2:], b[:, 2:]) - torch.maximum(a[:, :2], b[:, :2])).clamp(0).prod(1)
    iou = common / ((a[:, 2:] - a[:, :2]).prod(1) + (b[:, 2:] - b[:, :2]).prod(1) - common + 1e-6)
    hull = (torch.maximum(a[:, 2:], b[:, 2:]) - torch.minimum(a[:, :2], b[:, :2])).square().sum(1)
    apart = ((a[:, :2] + a[:, 2:] - b[:, :2] - b[:, 2:]) / 2).square().sum(1)
    return 1 - iou + apart / hull, iou.detach().clamp(0)


def detector_loss(net, x, kinds, boxes):
    logits, scores = net.raw(x)
    wanted, kind = (torch.stack(t) for t in zip(*(targets(net, k, b) for k, b in zip(kinds, boxes))))
    image, anchor = torch.nonzero(kind >= 0, as_tuple=True)
    at, stride = net.anchors.T[anchor], net.strides[0][anchor, None]
    wanted, kind = wanted[image, anchor] / stride, kind[image, anchor]
    sides = torch.cat([at - wanted[:, :2], wanted[:, 2:] - at], 1).clamp(0, BINS - 1.01)
    found = net.distances(logits).transpose(1, 2)[image, anchor]
    loss, iou = iou_loss(torch.cat([at - found[:, :2], at + found[:, 2:]], 1), wanted)
    bins = logits.transpose(1, 2)[image, anchor].view(-1, BINS)
    low, part = sides.floor().long().view(-1), (sides - sides.floor()).view(-1)
    dfl = F.cross_entropy(bins, low, reduction="none") * (1 - part) + F.cross_entropy(bins, low + 1, reduction="none") * part
    truth = torch.zeros_like(scores)
    truth[image, kind, anchor] = iou
    weight = torch.where(truth > 0, truth, 0.75 * scores.detach().sigmoid().square())  # as VarifocalNet
    class_loss = (F.binary_cross_entropy_with_logits(scores, truth, reduction="none") * weight).sum() / iou.sum().clamp(1)
    return class_loss + 2 * loss.mean() + 0.4 * dfl.mean()


def classifier_loss(net, x, kinds, _):
    return F.cross_entropy(net(x), torch.tensor([k[0] for k in kinds]), label_smoothing=0.1)


class Task:
    def __init__(self, name, side, most, steps, make, loss, means=None):
        self.name, self.side, self.most, self.steps = name, side, most, steps
        self.make, self.loss, self.means = make, loss, means

    def scenes(self, seed, photos, count):
        rng = np.random.default_rng(seed)
        return tuple(zip(*(scene(rng, photos, self.side, self.most) for _ in range(count))))

    def taken(self, pictures):
        """As the network takes them."""
        mean, deviation = self.means or (np.float32(0), np.float32(255))
        x = (np.stack(pictures) - mean) / deviation
        return torch.from_numpy(np.ascontiguousarray(x.astype(np.float32).transpose(0, 3, 1, 2)))


TASKS = (Task("classifier", 64, 1, 1000, efficientnet, classifier_loss, (MEAN, DEVIATION)),
         Task("detector", 64, 4, 1000, lambda: Yolo(64), detector_loss))


def train(task, photos, path):
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    net = task.make().train().to(memory_format=torch.channels_last)  # ten times as fast
    optimiser = torch.optim.AdamW(net.parameters(), 1e-8, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, task.steps, pct_start=0.05)
    pictures, kinds, boxes = task.scenes(0, photos, POOL)
    mirrored = [np.abs(b[:, (2, 1, 0, 3)] - (task.side, 0, task.side, 0)) for b in boxes]
    for step in range(task.steps):
        chosen, turn = rng.integers(0, POOL, 32), rng.integers(2)
        x = task.taken([pictures[i][:, ::-1] if turn else pictures[i] for i in chosen])
        loss = task.loss(net, x.to(memory_format=torch.channels_last), [kinds[i] for i in chosen],
                         [(mirrored if turn else boxes)[i] for i in chosen])
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5)
        optimiser.step()
        schedule.step()
        if step % 100 == 99:
            print(f"{task.name}: step {step + 1} of {task.steps}, loss {loss.item():.3f}", flush=True)
    torch.save(net.state_dict(), path)
