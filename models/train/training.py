# SPDX-License-Identifier: Apache-2.0
"""What trainings have in common: a run that can be stopped and goes on, and the picture of its curve."""
import copy
import os

import torch


class Run:
    """Everything a checkpoint has to hold: a network, its average over the last steps, and how far it is."""

    def __init__(self, net):
        self.net = net
        self.average = copy.deepcopy(net)
        self.optimiser = torch.optim.Adam(net.parameters())
        self.step, self.seconds, self.curve = 0, 0.0, []

    def save(self, path):
        torch.save({"net": self.net.state_dict(), "average": self.average.state_dict(),
                    "optimiser": self.optimiser.state_dict(), "step": self.step,
                    "seconds": self.seconds, "curve": self.curve}, path + ".part")
        os.replace(path + ".part", path)

    def restore(self, path):
        z = torch.load(path, map_location="cpu")
        self.net.load_state_dict(z["net"])
        self.average.load_state_dict(z["average"])
        self.optimiser.load_state_dict(z["optimiser"])
        self.step, self.seconds, self.curve = z["step"], z["seconds"], z["curve"]

    def descend(self, loss, rate, steepest):
        """One step; gradients longer than `steepest` are shortened to it."""
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), steepest)
        self.optimiser.step()
        with torch.no_grad():
            for e, q in zip(self.average.parameters(), self.net.parameters()):
                e.lerp_(q, follows(self.step))
        self.step += 1


def follows(step):
    """How far the average goes to the weights that this step leaves."""
    return 1 - min(0.999, (step + 1) / (step + 11.0))


def plot(path, draw):
    """What draw(left, right) draws over steps; nothing where there is no matplotlib."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        return
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    draw(left, right)
    right.legend()
    for axis in (left, right):
        axis.set_xlabel("step"), axis.grid(alpha=0.3)
    fig.tight_layout(), fig.savefig(path, dpi=80), plt.close(fig)
