# SPDX-License-Identifier: Apache-2.0
"""Kernels of one's own, written as functions of Python: a step that no network has, such as a demosaic.

>>> from mona.kernel import kernel, rows, u8
>>> @kernel('com.example::Double')
... def double(x: rows(u8), *, y: rows(u8)):
...     y[0, 0] = x[0, 0] * 2
>>> import numpy
>>> double(numpy.array([[1, 2, 200]], numpy.uint8))
array([[  2,   4, 255]], dtype=uint8)

`python3 -m mona.kernel FILE.py -o FOLDER` writes each kernel of a file as C and its interface for
mona compile --kernels. docs/kernels.md is a tutorial, and lists what the language has."""
import inspect
import operator
import os
import platform
import re
import subprocess
import traceback
import zlib

import numpy as np

from . import _kernel_c
from ._kernel_graph import KernelError, PLACES, Reader, RANGES
from ._kernel_run import Run
from ._kernel_vectors import NoProgram, program

__all__ = ['kernel', 'rows', 'table', 'KernelError', *RANGES, *PLACES, 'clamp', 'select']
u8, s8, u16, s16, s32, f16, f32 = RANGES
column, row, width, height = PLACES
_DTYPES = {u8: np.uint8, s8: np.int8, u16: np.uint16, s16: np.int16, s32: np.int32, f16: np.float16, f32: np.float32}
ROWS = 128  # MONA_KERNEL_ROWS
SIDE = 32768  # MONA_MAX_SIDE


def _of_kernels(*_):
    raise TypeError('expected to be called in a function with @kernel')


clamp = select = _of_kernels


class _Operand:
    def __init__(self, type, planes=0, cell=(0, 0), elements=0):
        if type not in _DTYPES:
            raise TypeError(f'expected one of {", ".join(_DTYPES)}, found {type!r}')
        self.name, self.type, self.planes, self.cell, self.elements = '', type, planes, tuple(cell), elements
        self.dtype = np.dtype(_DTYPES[type])
        self.around = (0, 0)

    def samples(self):
        """Those of a cell, as plane, row and column."""
        return [(p, y, x) for p in range(self.planes) for y in range(self.cell[0]) for x in range(self.cell[1])]

    def shown(self, at):
        return at[1:] if self.planes == 1 else at


def rows(type, planes=1, cell=(1, 1)):
    """An array [planes, rows, columns], or [rows, columns] of a single plane; a cell has so many samples of each."""
    planes, *cell = map(operator.index, (planes, *cell))
    if not 1 <= planes <= ROWS or len(cell) != 2 or not all(1 <= c <= 4 for c in cell):
        raise TypeError(f'expected 1 to {ROWS} planes and cells of 1 to 4 rows and columns, found {planes}, {cell}')
    return _Operand(type, planes, cell)


def table(type, elements):
    """An array of so many elements, the same for all cells."""
    elements = operator.index(elements)
    if not 1 <= elements <= 1 << 24:
        raise TypeError(f'expected 1 to 2^24 elements, found {elements}')
    return _Operand(type, elements=elements)


class Kernel:
    """Called with numpy arrays, it returns its output, or a tuple of them."""

    def __init__(self, name, function):
        self.name, self.function, self.__doc__ = name, function, function.__doc__
        if not re.fullmatch(r'[\w.]+::\w+', name, re.ASCII) or len(name) > 127:
            raise TypeError(f'expected a name like com.example::Double, found {name!r}')
        self.inputs, self.outputs = {}, {}
        for p in inspect.signature(function).parameters.values():
            given = p.annotation
            if not isinstance(given, _Operand) or (p.kind == p.KEYWORD_ONLY and not given.planes):
                raise KernelError(f'{inspect.getsourcefile(function)}:{inspect.getsourcelines(function)[1]}:1: expected '
                                  f'{p.name}: rows(...)' + (' for an output' if p.kind == p.KEYWORD_ONLY else
                                                            f' or {p.name}: table(...)') + ', found none')
            own = _Operand(given.type, given.planes, given.cell, given.elements)
            own.name = p.name
            (self.outputs if p.kind == p.KEYWORD_ONLY else self.inputs)[p.name] = own
        if not 1 <= len(self.inputs) <= 8 or not 1 <= len(self.outputs) <= 8:
            raise TypeError(f'{name}: expected 1 to 8 inputs, then *, then 1 to 8 outputs; found {len(self.inputs)} '
                            f'and {len(self.outputs)}')
        reader = Reader(function, self.inputs, self.outputs)
        self.stored = reader.stored
        self._find_around(reader.graph)
        seen = sum(self._row_count(o) for o in self.inputs.values())
        if seen > ROWS or any(o.planes * o.cell[0] > ROWS for o in self.outputs.values()):
            raise TypeError(f'{name}: expected up to {ROWS} rows of all inputs together, found {seen}')

    def _find_around(self, graph):
        for o in self.inputs.values():
            for axis in range(2) if o.planes else ():
                cells = [n.value[2 + axis] // o.cell[axis] for n in graph.nodes() if n.op == 'sample' and n.value[0] is o]
                most = max([0, *map(abs, cells)])
                o.around = (most, 0) if axis == 0 else (o.around[0], most)

    @staticmethod
    def _row_count(o):
        return o.planes * (2 * o.around[0] + 1) * o.cell[0] if o.planes else 1

    def first(self, operand):
        """Where the rows of an input begin among those of all."""
        at = 0
        for o in self.inputs.values():
            if o is operand:
                return at
            at += self._row_count(o)
        raise AssertionError(operand.name)

    def __call__(self, *arrays):
        if len(arrays) != len(self.inputs):
            raise TypeError(f'{self.name}: expected {len(self.inputs)} arrays, found {len(arrays)}')
        given, grid = {}, None
        for o, a in zip(self.inputs.values(), arrays):
            a = np.asarray(a)
            if a.dtype != o.dtype:
                raise TypeError(f'{o.name}: expected an array of {o.dtype}, found {a.dtype}')
            if not o.planes:
                if a.shape != (o.elements,):
                    raise ValueError(f'{o.name}: expected {o.elements} elements, found shape {a.shape}')
                given[o.name] = a
                continue
            if a.ndim == 2:
                a = a[None]
            wanted = None if grid is None else (o.planes, grid[0] * o.cell[0], grid[1] * o.cell[1])
            if a.ndim != 3 or a.shape[0] != o.planes or a.shape[1] % o.cell[0] or a.shape[2] % o.cell[1] or not a.size \
                    or (wanted and a.shape != wanted):
                raise ValueError(f'{o.name}: expected shape {wanted or f"{o.planes} x rows x columns in cells of {o.cell}"},'
                                 f' found {a.shape}')
            grid = (a.shape[1] // o.cell[0], a.shape[2] // o.cell[1])
            if max(grid) > SIDE:
                raise ValueError(f'{o.name}: expected up to {SIDE} rows and columns of cells, found {grid[0]} x {grid[1]}')
            given[o.name] = a
        if grid is None:
            raise TypeError(f'{self.name}: expected an input of rows, found tables alone')
        made = Run(self, given, *grid).outputs
        return made[0] if len(made) == 1 else tuple(made)

    def c(self):
        """The kernel as C, for mona_op.h."""
        return _kernel_c.source(self)

    def build(self, folder, compiler='cc', flags=None):
        """Compiles that to a shared library in the folder. Returns its path, and the name of the kernel in it."""
        path = os.path.join(folder, self.name.split('::')[1])
        with open(path + '.c', 'w', encoding='utf-8') as file:
            file.write(self.c())
        if flags is None: # the widest vectors of this machine, where compilers are cautious
            flags = ['-O3', '-march=native', *(['-mprefer-vector-width=512'] if platform.machine() == 'x86_64' else [])]
        run = subprocess.run([compiler, '-std=c11', *flags, '-ffp-contract=off', '-shared', '-fPIC', '-I',
                              os.path.dirname(os.path.abspath(__file__)), '-o', path + '.so', path + '.c'],
                             capture_output=True, text=True, check=False)
        if run.returncode:
            raise OSError(f'{self.name}: {run.stderr.strip()}')
        return path + '.so', _kernel_c.identifier(self.name)

    def interface(self):
        """What mona compile --kernels reads."""
        lines = []
        for kind, operands in (('input', self.inputs), ('output', self.outputs)):
            for o in operands.values():
                lines.append(f'{kind} {o.name} {o.type} ' + (
                    f'planes {o.planes} cell {o.cell[0]} {o.cell[1]} around {o.around[0]} {o.around[1]}' if o.planes
                    else f'table {o.elements}'))
        text = '\n'.join(lines) + '\n' + ''.join(self.programs().values())
        return f'kernel {self.name} crc {zlib.crc32(text.encode()):08x}\n{text}'

    def programs(self):
        """By output: what is the same as a program for an AI Core's vector unit."""
        found, self.without = {}, {}
        for output, name in enumerate(self.outputs):
            try:
                found[name] = program(self, name, output)
            except NoProgram as error:
                self.without[name] = str(error)
        return found


def kernel(name):
    """Makes a Kernel of a function. name: its domain and its own name, as a node of ONNX has them."""
    if not isinstance(name, str):
        raise TypeError("expected @kernel('com.example::Name')")
    return lambda function: Kernel(name, function)


def one_of_each(kernels):
    """By name. One kernel may be given twice; two of one name are refused."""
    found = {}
    for k in kernels:
        if not isinstance(k, Kernel):
            raise TypeError(f'expected kernels of mona.kernel, found {k!r}')
        if found.setdefault(k.name, k) is not k:
            raise TypeError(f'expected one kernel {k.name}, found two')
    return found


def _where(path, error):
    """FILE:LINE of a mistake in it."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == path]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
    return f'{path}:{line}' if line else path


def main(arguments):
    import argparse
    import runpy
    import sys
    parser = argparse.ArgumentParser(prog='python3 -m mona.kernel', description='Writes kernels as C, with their interfaces.')
    parser.add_argument('file', help='a file of Python with kernels')
    parser.add_argument('-o', metavar='FOLDER', default='.', help='the folder to write to')
    parser.add_argument('--build', action='store_true', help='compiles them for this machine, too, so that mona compile '
                        'can run them to calibrate and to measure accuracy')
    given = parser.parse_args(arguments)
    if not os.path.isfile(given.file):
        sys.exit(f'mona.kernel: {given.file}: expected a file of Python with kernels, found '
                 + ('a folder, a pipe or a device' if os.path.exists(given.file) else 'none'))
    try:
        found = one_of_each(k for k in runpy.run_path(given.file).values() if isinstance(k, Kernel))
    except KernelError as error:
        sys.exit(f'mona.kernel: {error}')
    except Exception as error: # of any code that the file has
        sys.exit(f'mona.kernel: {_where(given.file, error)}: ' + (str(error) if isinstance(error, TypeError) else
                 f'expected a file of Python that runs, found {type(error).__name__}: {getattr(error, "msg", error)}'))
    if not found:
        sys.exit(f'mona.kernel: {given.file}: expected functions with @kernel, found none')
    files = [name.split('::')[1] for name in found]
    twice = next((f for f in files if files.count(f) > 1), None)
    if twice:
        sys.exit(f'mona.kernel: {given.file}: expected one kernel called {twice}, found one in each of several domains')
    os.makedirs(given.o, exist_ok=True)
    for k in found.values():
        path = os.path.join(given.o, k.name.split('::')[1])
        if os.path.exists(path + '.so') and not given.build:
            os.remove(path + '.so') # what was built of the kernel before
        for suffix, text in (('.c', k.c()), ('.kernel', k.interface())):
            with open(path + suffix, 'w', encoding='utf-8') as file:
                file.write(text)
        print(path + '.c')
        if given.build:
            k.build(given.o)
        for output, why in k.without.items():
            print(f'{k.name}: {output} has no AI Core program: {why}', file=sys.stderr)


if __name__ == '__main__':
    import sys
    from mona.kernel import main as run  # so that there is one class Kernel
    run(sys.argv[1:])
