# SPDX-License-Identifier: Apache-2.0
"""Kernels of mona.kernel as AI Core programs, on the modelled chip and on the replay kernel: the bytes of numpy.

    kernel_chip.py FOLDER ROWSxCOLUMNS... -- FILE.py...

of grids of that many cells. $MONA compiles models; $BUILD_CHIP, followed by a kernel's identifier, its C and a program's name,
links kernel_chip.c. Prints for each kernel and grid what kernel_chip says."""
import os
import subprocess
import sys

import numpy as np

import user_kernels


def compiled(folder, kernel, arrays, results):
    """A model of one node with its program; or what the command says."""
    with open(os.path.join(folder, 'net.onnx'), 'wb') as file:
        file.write(user_kernels.network(kernel, arrays, results))
    made = os.path.join(folder, 'net.mona')
    kernels = os.path.join(folder, kernel.name.split('::')[1])
    os.makedirs(kernels, exist_ok=True)
    with open(os.path.join(kernels, 'net.kernel'), 'w', encoding='utf-8') as file:
        file.write(kernel.interface())
    subprocess.run([os.environ['MONA'], 'compile', os.path.join(folder, 'net.onnx'), '-o', made, '--kernels', kernels, '--target', 'ascend310'],
                   check=True, stdout=subprocess.DEVNULL)
    return made


def linked(folder, kernel):
    from mona._kernel_c import identifier
    source, program = (os.path.join(folder, kernel.name.split('::')[1] + end) for end in ('.c', '.chip'))
    with open(source, 'w', encoding='utf-8') as file:
        file.write(kernel.c())
    subprocess.run([*os.environ['BUILD_CHIP'].split(), identifier(kernel.name), source, program], check=True)
    return program


def chip(folder, kernel, program, generator, grid):
    """What kernel_chip says of one frame."""
    arrays = [user_kernels.noise(generator, o, *grid) for o in kernel.inputs.values()]
    results = kernel(*arrays)
    results = results if isinstance(results, tuple) else (results,)
    frame = os.path.join(folder, 'frame')
    with open(frame, 'wb') as file:
        file.write(b''.join(a.tobytes() for o, a in zip(kernel.inputs.values(), arrays) if o.planes))
        file.write(b''.join(a.tobytes() for a in results))
    model = compiled(folder, kernel, arrays, results)
    return subprocess.run([program, model, frame], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()


def main():
    folder, *words = sys.argv[1:]
    grids = [tuple(map(int, w.split('x'))) for w in words[:words.index('--')]]
    generator = np.random.default_rng(5)
    for path in words[words.index('--') + 1:]:
        for kernel in user_kernels.load(path):
            program = linked(folder, kernel)
            for grid in grids:
                print(f'{kernel.name} {grid[0]}x{grid[1]}: {chip(folder, kernel, program, generator, grid)}', flush=True)


main()
