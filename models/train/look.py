# SPDX-License-Identifier: Apache-2.0
"""The loss of networks for a look: what people see of a picture rather than its error.

Of the pictures made and their originals: the distance of what random filters see; the energy of fine detail around
each place, which shall be the original's; the error; and a small adversary that tells patches of made pictures from
those of originals.

Random filters, drawn anew every few steps, so that nothing can learn to please them: of sharpened and softened results
they find those nearer that the judges of judges.py do (correlation of the logarithms 0.87 and 0.86), more often than
those of a network of the same size that was taught to tell blur, noise and JPEG (0.72 and 0.65).
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

import nets

WEIGHTS = {"feature": 3.0, "energy": 0.01, "error": 1.0, "adversary": 0.01}
DRAWN_FOR = 5  # steps that filters are kept
RAMP = 400  # steps until the adversary counts fully
NEAR = 9  # side of the windows that energy is measured in
QUIET = 1.5 / 255  # detail below that is nothing
EXCESS = 2.5  # how much worse too much energy is than too little


def channels_last(x):
    """What convolutions of few channels on CPUs need to be fast."""
    return x.contiguous(memory_format=torch.channels_last)


class Random(nn.Module):
    """Three layers of filters, of pictures at full, half and quarter size."""
    SHAPES = (1, 32, 5), (32, 48, 3), (48, 64, 3)  # inputs, outputs, side

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv2d(i, o, side, 1, side // 2) for i, o, side in self.SHAPES)
        self.requires_grad_(False).to(memory_format=torch.channels_last)

    def draw(self):
        for layer in self.layers:
            nn.init.kaiming_normal_(layer.weight)
            layer.weight -= layer.weight.mean((1, 2, 3), keepdim=True) / 2  # edges count more than brightness

    def distance(self, made, original):
        """The mean over layers of that of vectors which are all about as long."""
        total, m, o = 0, *((channels_last(x) - 0.45) * 4 for x in (made, original))
        for layer in self.layers:
            m, o = (F.relu(layer(x)) for x in (m, o))
            usual = 0.09 * o.square().sum(1).mean()
            one, other = (x * (x.square().sum(1, keepdim=True) + usual).rsqrt() for x in (m, o))
            total = total + (one - other).square().sum(1).mean()
            m, o = (F.avg_pool2d(x, 2) for x in (m, o))
        return total / len(self.layers)


class Adversary(nn.Module):
    """Whether it takes each place's surroundings for those of an original. It sees their finer part, too."""
    SHAPES = (8, 32, 1), (32, 48, 2), (48, 48, 1)  # inputs, outputs, stride

    def __init__(self):
        super().__init__()
        spectral_norm = nn.utils.spectral_norm
        self.layers = nn.ModuleList(spectral_norm(nn.Conv2d(i, o, 3, s, 1)) for i, o, s in self.SHAPES)
        self.last = spectral_norm(nn.Conv2d(self.SHAPES[-1][1], 1, 3, 1, 1))
        self.to(memory_format=torch.channels_last)

    def forward(self, x):
        x = channels_last(torch.cat([F.pixel_unshuffle(part, 2) for part in (x - 0.45, 4 * fine(x)[0])], 1))
        for layer in self.layers:
            x = F.leaky_relu(layer(x), 0.2)
        return self.last(x)


def spread(x, taps):
    kernel = torch.tensor(taps, device=x.device) / sum(taps)
    side = len(taps) // 2
    x = F.conv2d(F.pad(x, (0, 0, side, side), "replicate"), kernel.view(1, 1, -1, 1))
    return F.conv2d(F.pad(x, (side, side, 0, 0), "replicate"), kernel.view(1, 1, 1, -1))


def fine(x):
    """The finest detail, and the next coarser one."""
    one = spread(x, (1.0, 2.0, 1.0))
    return x - one, one - spread(one, (1.0, 0.0, 2.0, 0.0, 1.0))


def energies(x):
    return [F.avg_pool2d(band.square(), NEAR, 2, NEAR // 2) for band in fine(x)]


def energy_error(made, original):
    """How many times too much or too little energy there is, as a logarithm; what is quiet counts less and less."""
    total = 0
    for m, o in zip(energies(made), energies(original)):
        off = ((m + QUIET**2) / (o + QUIET**2)).log()
        total = total + torch.where(off > 0, EXCESS * off, -off).mean()
    return total


def told_apart(one, other):
    """What it costs an adversary that these are not told apart; each kind is judged beside the other's mean."""
    return F.softplus(other.mean() - one).mean() + F.softplus(other - one.mean()).mean()


class Look:
    """Loss and adversary of a run."""

    def __init__(self, weights, rate, device):
        self.seen, self.adversary = Random().to(device), Adversary().to(device)
        self.weights, self.device = {**WEIGHTS, **weights}, device
        self.optimiser = torch.optim.Adam(self.adversary.parameters(), rate, (0.5, 0.99))

    def state(self):
        return {"adversary": self.adversary.state_dict(), "optimiser": self.optimiser.state_dict()}

    def restore(self, state):
        self.adversary.load_state_dict(state["adversary"])
        self.optimiser.load_state_dict(state["optimiser"])

    def learn(self, made, original):
        """One step of the adversary."""
        self.optimiser.zero_grad()
        told_apart(self.adversary(original), self.adversary(made)).backward()
        self.optimiser.step()

    def loss(self, net, low, high, quantised, peak_cost, step):
        """Of patches in code values (numpy). The adversary counts fully after RAMP steps."""
        low, high = (nets.to_tensor(planes).to(self.device) for planes in (low, high))
        made, original = (F.pixel_shuffle(t, int(net.outputs**0.5)) for t in (net(low, quantised), high))
        peaks = net.peaks
        if step % DRAWN_FOR == 0:
            self.seen.draw()
        found = {"feature": self.seen.distance(made, original), "energy": energy_error(made, original),
                 "error": (made - original).abs().mean()}
        if self.weights["adversary"]:
            self.learn(made.detach(), original)
            with torch.no_grad():
                other = self.adversary(original)
            self.adversary.requires_grad_(False)
            found["adversary"] = min(1, step / RAMP) * told_apart(self.adversary(made), other)
            self.adversary.requires_grad_(True)
        return sum(self.weights[k] * v for k, v in found.items()) + peak_cost * sum(peaks)
