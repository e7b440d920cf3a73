# SPDX-License-Identifier: Apache-2.0
"""Kernels of mona.kernel as AI Core programs, on the modelled chip and on the replay kernel: the bytes of numpy.

    kernel_chip.py FOLDER ROWSxCOLUMNS... -- FILE.py...
    kernel_chip.py FOLDER random N

of grids of that many cells, and N kernels of random expressions. $MONA compiles models; $BUILD_CHIP, followed by a kernel's identifier, its C and a program's name,
links kernel_chip.c. Prints for each kernel and grid what kernel_chip says."""
import os
import subprocess
import sys

import numpy as np

import user_kernels


def compiled(folder, kernel, arrays, results, constants):
    """A model of one node with its program; or what the command says."""
    with open(os.path.join(folder, 'net.onnx'), 'wb') as file:
        file.write(user_kernels.network(kernel, arrays, results, constants))
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


def chip(folder, kernel, program, generator, grid, constants=True):
    """What kernel_chip says of one frame. constants: so are tables; those of which entries are computed always are."""
    constants = constants or '\ngather ' in kernel.interface()
    arrays = [user_kernels.noise(generator, o, *grid) for o in kernel.inputs.values()]
    results = kernel(*arrays)
    results = results if isinstance(results, tuple) else (results,)
    frame = os.path.join(folder, 'frame')
    with open(frame, 'wb') as file:
        file.write(b''.join(a.tobytes() for o, a in zip(kernel.inputs.values(), arrays) if o.planes or not constants))
        file.write(b''.join(a.tobytes() for a in results))
    model = compiled(folder, kernel, arrays, results, constants)
    return subprocess.run([program, model, frame], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()


class Writer(user_kernels.Writer):
    """Random expressions of one output. Even ones have cells side by side, odd ones neighbours and cells of several samples; every third
    one has f16 numbers alone, for all samples of a cell (@: its own) alike."""

    def half(self, depth):
        r, (dy, dx) = self.r, (self.r.randint(-1, 1), self.r.randint(-2, 2)) if self.lanes else (0, 0)
        at = '@' if self.cell != (1, 1) else f'{dy}, {dx}'
        leaves = [f'f32(a[{at}])', f'f32(abs(a[@] - a[{at}]) + 3)', f'f16(clamp(f[{r.randint(0, 8)}], -3, 900))', 'f16(0.3)', '-1.5']
        leaves.append(f'f16(f32(b[1, {dy}, {dx}]))' if self.lanes else 'f32(d[@] << 3)')
        if depth == 0 or r.random() < 0.1:
            return r.choice(leaves)
        v = lambda: self.half(depth - 1)
        return r.choice([lambda: f'f16({v()} {r.choice("+-*")} {v()})', lambda: f'f16({v()} {r.choice("+-")} {v()})',
                         lambda: f'{r.choice(["min", "max"])}({v()}, {v()})'])()

    def leaf(self, type_):
        r, (dy, dx) = self.r, (self.r.randint(-1, 1), self.r.randint(-2, 2))
        at = f'[{dy}, {dx}]' if self.lanes else '[0, 0]'
        integers = ['a' + at, 'a' + at, 't[a' + at + ']', 't[3]', 'width', 'height', self.number('s32'), *self.names['s32']]
        integers += [f'b[{r.randint(0, 1)}, {dy}, {dx}]'] * 2 if self.lanes else ['d[0, 0]', 'row', 'column', 'e[0, 0]']
        floats = ['f[2]', 'f[a' + at + ']', self.number('f32'), *self.names['f32']] + ([] if self.lanes else ['c[0, 0]'] * 3)
        return r.choice(integers if type_ == 's32' else floats)

    def test(self, depth):
        return super().test(depth).replace('c[0, 0]', 'f[1]') if self.lanes else super().test(depth)

    def sums(self, number):
        """Of samples, each an integer of times."""
        r = self.r
        type_, least, most, reach = r.choice([('u8', -127, 128, 8), ('u16', -1, 2, 4)])
        rows, columns, planes = r.choice([1, 2, 3]), r.choice([1, 2, 4]), r.choice([1, 2])
        at = lambda: f'a[{r.randrange(planes)}, {r.randint(-2 * rows, 3 * rows - 1)}, {r.randint(-reach, columns + reach - 1) if r.random() < 0.5 else 0}]' \
            .replace('a[0, ' if planes == 1 else '[[', 'a[')
        text = f"@kernel('com.example::Random{number}')\n" \
            f"def made(a: rows({type_}, planes={planes}, cell=({rows}, {columns})), f: table(f32, 9), *, " \
            f"y: rows({r.choice(['u8', 's8'])}, planes=2, cell=(2, {columns}))):\n"
        for plane in range(2):
            for dy in range(2):
                for dx in range(columns):
                    total = ' + '.join(f'{at()} * {r.choice([n for n in (least, -1, 1, most, r.randint(least, most)) if n])}' for _ in range(r.randint(1, 4)))
                    scale = r.choice([f'f16({r.uniform(-0.1, 0.1)})', f'f16(clamp(f[{r.randint(0, 8)}], -1, 1))'])
                    text += f'    y[{plane}, {dy}, {dx}] = f16(f32({total}) * {scale})\n'
        return text

    def kernel(self, number):
        if number % 5 == 4:
            return self.sums(number)
        self.lanes = number % 2
        if number % 3 == 2:
            self.cell = self.r.choice([(1, 1), (2, 2), (1, 2), (2, 3)])
            inputs = f'a: rows(u8, cell={self.cell}), ' + ('b: rows(u16, planes=2, cell=(2, 2))' if self.lanes else f'd: rows(s8, cell={self.cell})')
            value = f'f16({self.half(4)} + f32(a[@]))'
            return f"@kernel('com.example::Random{number}')\n" \
                f"def made({inputs}, f: table(f32, 9), *, y: rows({self.r.choice(['u8', 's8'])}, cell={self.cell})):\n" + \
                ''.join(f'    y[{dy}, {dx}] = {value}\n'.replace('@', f'{dy}, {dx}') for dy in range(self.cell[0]) for dx in range(self.cell[1]))
        inputs = 'a: rows(u8), b: rows(u16, planes=2, cell=(2, 2))' if self.lanes else 'a: rows(u8), c: rows(f32), d: rows(s8), e: rows(s32)'
        output, cell, type_ = self.r.choice([('u8', (1, 1), 's32'), ('s8', (1, 2), 'f32'), ('u8', (1, 1), 'f32')] if self.lanes else
                                            [('u8', (1, 1), 's32'), ('s8', (1, 1), 'f32'), ('f32', (1, 1), 'f32'), ('s32', (1, 1), 's32')])
        lines = [f"@kernel('com.example::Random{number}')",
                 f'def made({inputs}, t: table(s32, 200), f: table(f32, 9), *, y: rows({output}, cell={cell})):']
        for i in range(2):
            name, kind = f'n{i}', self.r.choice(['s32', 'f32'])
            lines.append(f'    {name} = {self.value(kind, 2)} + ' + ('(a[0, 0] - a[0, 0])' if kind == 's32' else 'f32(a[0, 0])'))
            self.names[kind].append(name)
        for column in range(cell[1]):
            lines.append(f'    y[0, {column}] = {self.value(type_, 2)} + ' + ('a[0, 0]' if type_ == 's32' else 'f32(a[0, 0])'))
        return '\n'.join(lines) + '\n'


def randoms(folder, count):
    """Many are refused: their numbers are too large, they shift or divide."""
    from mona.kernel import KernelError
    generator, made, number = np.random.default_rng(6), 0, 0
    while made < count and number < 40 * count:
        number += 1
        path = os.path.join(folder, f'random{number}.py')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('from mona.kernel import *\n\n\n' + Writer(number).kernel(number))
        try:
            kernel, = user_kernels.load(path)
        except (KernelError, TypeError):
            continue
        if not kernel.programs():
            continue
        made += 1
        program = linked(folder, kernel)
        grid = (5 if made % 4 else 19, 96) # of 16 rows and more, each may be a lane
        print(f'{path}: {chip(folder, kernel, program, generator, grid)}', flush=True)


def main():
    folder, *words = sys.argv[1:]
    if words[0] == 'random':
        randoms(folder, int(words[1]))
        return
    grids = [tuple(map(int, w.split('x'))) for w in words[:words.index('--')]]
    generator = np.random.default_rng(5)
    for path in words[words.index('--') + 1:]:
        for kernel in user_kernels.load(path):
            program = linked(folder, kernel)
            for i, grid in enumerate(grids): # tables are inputs every second time
                print(f'{kernel.name} {grid[0]}x{grid[1]}: {chip(folder, kernel, program, generator, grid, i % 2 == 0)}', flush=True)


main()
