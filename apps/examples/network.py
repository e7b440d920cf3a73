# SPDX-License-Identifier: Apache-2.0
"""Makes a network in PyTorch, compiles it, and compares mona's result with PyTorch's.

    python3 network.py
"""
import mona
import numpy
import torch

torch.manual_seed(1)
network = torch.nn.Sequential(
    torch.nn.Conv2d(1, 16, 3, padding=1), torch.nn.ReLU(),
    torch.nn.Conv2d(16, 4, 3, padding=1), torch.nn.PixelShuffle(2))

rows, columns = 90, 160
y, x = numpy.mgrid[:rows, :columns]
plane = (numpy.sin(x / 9) * numpy.cos(y / 7)).astype(numpy.float32)
example = torch.from_numpy(plane)[None, None]

model = mona.from_torch(network, example)
ours = model(plane)
with torch.no_grad():
    theirs = network(example)[0, 0].numpy()
worst = abs(ours - theirs).max()
print(f'{plane.shape} -> {ours.shape}, at most {worst:.5f} from PyTorch')
assert worst < 2e-3
