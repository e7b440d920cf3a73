# SPDX-License-Identifier: Apache-2.0
"""The loss of networks for a look: what people see of a picture rather than its error.

Of the pictures made and their originals: the distance of features; the energy of fine detail around each place, which
shall be the original's; what reaches beyond the original's values nearby, as halos do; the error, mostly of what is
coarse; and a small adversary that tells patches of made pictures from those of originals.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

import nets

WEIGHTS = {"feature": 0.2, "energy": 0.02, "beyond": 4.0, "coarse": 2.0, "error": 0.5, "adversary": 0.002}
LEAST = 0.004  # distance of features that is near enough
NEAR = 9  # side of the windows that energy is measured in
QUIET = 1.5 / 255  # detail below that is nothing
EXCESS = 2.5  # how much worse too much energy is than too little
LEEWAY = 2 / 255  # beyond the original's values


class Adversary(nn.Module):
    """Whether it takes each place's surroundings for those of an original. It sees their finer part, too."""

    def __init__(self):
        super().__init__()
        sizes = (2, 16, 1), (16, 32, 2), (32, 32, 2)
        self.layers = nn.ModuleList(nn.utils.spectral_norm(nn.Conv2d(i, o, 3, s, 1)) for i, o, s in sizes)
        self.last = nn.Conv2d(sizes[-1][1], 1, 3, 1, 1)

    def forward(self, x):
        x = torch.cat([x - 0.45, 4 * fine(x)[0]], 1)
        for layer in self.layers:
            x = F.leaky_relu(layer(x), 0.2)
        return self.last(x)


def spread(x, taps):
    kernel = torch.tensor(taps) / sum(taps)
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


def beyond(made, original):
    """What is brighter or darker than anything within two samples of the original."""
    most, least = F.max_pool2d(original, 5, 1, 2), -F.max_pool2d(-original, 5, 1, 2)
    return (F.relu(made - most - LEEWAY) + F.relu(least - LEEWAY - made)).mean()


class Look:
    """Loss and adversary of a run."""

    def __init__(self, seen, weights, rate):
        self.seen, self.weights = seen, {**WEIGHTS, **weights}
        self.adversary = Adversary()
        self.optimiser = torch.optim.Adam(self.adversary.parameters(), rate, (0.5, 0.9))

    def state(self):
        return {"adversary": self.adversary.state_dict(), "optimiser": self.optimiser.state_dict()}

    def restore(self, state):
        self.adversary.load_state_dict(state["adversary"])
        self.optimiser.load_state_dict(state["optimiser"])

    def learn(self, made, original):
        """One step of the adversary; relativistic: each kind is told from the other's mean."""
        self.optimiser.zero_grad()
        m, o = self.adversary(made), self.adversary(original)
        loss = F.softplus(-(o - m.mean())).mean() + F.softplus(m - o.mean()).mean()
        loss.backward()
        self.optimiser.step()

    def apart(self, made, original):
        """The logarithm: an easy patch counts as much as one full of what cannot be known."""
        return (self.seen.distance(made, original) + LEAST).log().mean()

    def loss(self, net, low, high, quantised, peak_cost):
        """Of patches in code values (numpy)."""
        made, original = (F.pixel_shuffle(t, int(net.outputs**0.5)) for t in
                          (net(nets.to_tensor(low), quantised), nets.to_tensor(high)))
        peaks = net.peaks
        if self.weights["adversary"]:
            self.learn(made.detach(), original)
        found = {"feature": self.apart(made, original), "energy": energy_error(made, original),
                 "beyond": beyond(made, original), "error": (made - original).abs().mean(),
                 "coarse": (F.avg_pool2d(made, 2) - F.avg_pool2d(original, 2)).abs().mean()}
        if self.weights["adversary"]:
            m = self.adversary(made)
            with torch.no_grad():
                o = self.adversary(original)
            found["adversary"] = F.softplus(-(m - o.mean())).mean() + F.softplus(o - m.mean()).mean()
        return sum(self.weights[k] * v for k, v in found.items()) + peak_cost * sum(peaks)
