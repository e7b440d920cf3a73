# SPDX-License-Identifier: Apache-2.0
"""SOAP (Vyas and others, 2024): Adam in the eigenbasis of what Shampoo gathers of gradients.

Kernels here are matrices of at most 32 x 288, so that a step's algebra costs less than a patch's gradient.
"""
import torch

MOMENTUM = 0.95
EVERY = 10  # steps from one basis to the next


class Soap(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {"lr": 0.0})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                change = self.change(p, p.grad.reshape(p.shape[0] if p.dim() > 1 else 1, -1))
                p.sub_(change.reshape(p.shape), alpha=group["lr"])

    def change(self, p, gradient):
        s, moments = self.state[p], (gradient @ gradient.T, gradient.T @ gradient)
        if not s:
            s.update(step=0, mean=torch.zeros_like(gradient), square=torch.zeros_like(gradient),
                     moments=moments, bases=[torch.linalg.eigh(m)[1].flip(1) for m in moments])
        s["step"] += 1
        if s["step"] % EVERY == 0:
            self.turn(s)
        left, right = s["bases"]
        s["mean"].lerp_(gradient, 1 - MOMENTUM)
        s["square"].lerp_((left.T @ gradient @ right) ** 2, 1 - MOMENTUM)
        for m, now in zip(s["moments"], moments):
            m.lerp_(now, 1 - MOMENTUM)
        unbias = 1 - MOMENTUM ** s["step"]
        turned = left.T @ s["mean"] @ right / unbias / ((s["square"] / unbias).sqrt() + 1e-12)
        return left @ turned @ right.T

    @staticmethod
    def turn(s):
        """Bases towards the moments' eigenvectors: one step of the power method."""
        for axis, (moment, basis) in enumerate(zip(s["moments"], s["bases"])):
            order = (basis * (moment @ basis)).sum(0).argsort(descending=True)
            s["square"] = s["square"].index_select(axis, order)
            s["bases"][axis] = torch.linalg.qr(moment @ basis[:, order])[0]
