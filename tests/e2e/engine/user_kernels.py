# SPDX-License-Identifier: Apache-2.0
"""Kernels of mona.kernel: rows in C have the bytes of numpy.

    user_kernels.py examples FOLDER    those of apps/examples/kernels, docs/kernels.md and user_rows.py, as networks of one node
    user_kernels.py random FOLDER N    N kernels of random expressions
    user_kernels.py targets FOLDER N   examples and N random ones for other CPUs, emulated
    user_kernels.py network FOLDER     one before a convolution
    user_kernels.py joined FOLDER N    between convolutions and alone, on maps of N channels
    user_kernels.py between FILE PY NAME   writes a network with one between convolutions
    user_kernels.py enhance FOLDER     writes a film and a network that enlarges it; with what was made of it: whether that is right
    user_kernels.py seal FILE          gives an interface of a kernel its checksum
    user_kernels.py onnx FILE NAME [ROWS COLUMNS]   writes a network of one node, of the domain and operator NAME
    user_kernels.py function FOLDER    a kernel in place of a function of the model
    user_kernels.py evidence FOLDER    writes a network with one and its inputs: conv.onnx, x.npy, double.py
    user_kernels.py pattern FOLDER     writes a kernel with what it may replace, and a network that has that twice: pattern.onnx, once of
                                       other constants
    user_kernels.py along FOLDER       a pattern with a table of planes, and a network that has it along columns
    user_kernels.py meaning FOLDER     examples beside what numpy has for the same
    user_kernels.py zeros FOLDER       one that computes with -0
    user_kernels.py names FOLDER       two of one name; leaves by2.py and by3.py
    user_kernels.py domains FOLDER     two of one name in two domains, and two names that are alike but for dots and colons
    user_kernels.py wide FOLDER        rows as wide as a grid may be, and wider ones
    user_kernels.py constants FOLDER   one whose numbers are chosen while it is read
    user_kernels.py errors FOLDER      what mistakes are told as

Prints a line for each that differs, and a count."""
import importlib.util
import itertools
import os
import platform
import random
import shutil
import struct
import subprocess
import sys
import zlib

import numpy as np

TYPES = {'float32': 1, 'uint8': 2, 'int8': 3, 'uint16': 4, 'int16': 5, 'int32': 6, 'float16': 10}


def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def info(name, array, open_sizes=False):
    dims = [field(1, d) for d in array.shape]
    if open_sizes:
        dims[-2:] = [field(2, f'{name}_rows'), field(2, f'{name}_columns')]
    shape = b''.join(field(1, d) for d in dims)
    return field(1, name) + field(2, field(1, field(1, TYPES[str(array.dtype)]) + field(2, shape)))


def node(op_type, inputs, outputs, domain='', attributes=b''):
    return field(1, b''.join(field(1, i) for i in inputs) + b''.join(field(2, o) for o in outputs) + field(3, op_type) +
                 field(4, op_type) + attributes + (field(7, domain) if domain else b''))


def model(nodes, inputs, outputs, constants, open_sizes=False):
    tensors = b''.join(field(5, b''.join(field(1, d) for d in a.shape) + field(2, TYPES[str(a.dtype)]) + field(8, name) +
                             field(9, a.tobytes())) for name, a in constants.items())
    graph = nodes + field(2, 'net') + tensors + b''.join(field(11, info(*i, open_sizes)) for i in inputs.items()) + \
        b''.join(field(12, info(*o, open_sizes)) for o in outputs.items())
    return field(1, 8) + field(7, graph) + field(8, field(2, 17)) + field(8, field(1, 'com.example') + field(2, 1))


def network(kernel, arrays, results, constants=True):
    """One node; whether tables are constants, or inputs too."""
    names = list(kernel.inputs)
    given = dict(zip(names, arrays))
    tables = {n: a for n, a in given.items() if constants and not kernel.inputs[n].planes}
    domain, op_type = kernel.name.split('::')
    made = dict(zip(('out_' + n for n in kernel.outputs), results))
    return model(node(op_type, names, made, domain), {n: a for n, a in given.items() if n not in tables}, made, tables)


def noise(generator, o, rows, columns):
    shape = (o.elements,) if not o.planes else (o.planes, rows * o.cell[0], columns * o.cell[1])
    shape = shape[1:] if o.planes == 1 else shape
    if o.type in ('f16', 'f32'):
        found = generator.normal(0, 100, shape)
        # Some numbers that stand apart.
        apart = np.array([0, -0.0, 0.5, 1.5, -0.5, 1e9, -1e10, 3e38, np.inf, -np.inf, np.nan, 1e-40, 65504, -65519, 3e-7, -6e-8])
        with np.errstate(over='ignore'):
            return np.where(generator.random(shape) < 0.2, generator.choice(apart, shape), found).astype(o.dtype)
    low, high = np.iinfo(o.dtype).min, np.iinfo(o.dtype).max
    found = generator.integers(low, high, shape, endpoint=True)
    return np.where(generator.random(shape) < 0.2, generator.choice([low, high], shape), found).astype(o.dtype)


def same(a, b):
    return a.dtype == b.dtype and a.size == b.size and a.tobytes() == b.tobytes()


def differs(folder, kernel, generator, sizes):
    import mona
    built = kernel.build(folder)
    kernel.build = lambda _: built
    for rows, columns in sizes:
        arrays = [noise(generator, o, rows, columns) for o in kernel.inputs.values()]
        wanted = kernel(*arrays)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        path = os.path.join(folder, 'net.onnx')
        with open(path, 'wb') as file:
            file.write(network(kernel, arrays, wanted))
        net = mona.Model(path, kernels=[kernel], threads=2)
        found = net(*(a for o, a in zip(kernel.inputs.values(), arrays) if o.planes))
        found = found if isinstance(found, list) else [found]
        if not all(map(same, found, wanted)):
            return f'{kernel.name} at {rows} x {columns}'
    return None


def load(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    from mona.kernel import Kernel
    return {k.name: k for k in vars(module).values() if isinstance(k, Kernel)}.values()


def written(folder):
    """The kernels that docs/kernels.md shows, as files."""
    with open('docs/kernels.md', encoding='utf-8') as file:
        blocks = [b.split('```')[0] for b in file.read().split('```python\n')[1:]]
    for i, block in enumerate(b for b in blocks if '@kernel' in b):
        path = os.path.join(folder, f'shown{i}.py')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('from mona.kernel import *\n' + block)
        yield path


def examples(folder):
    generator, count = np.random.default_rng(1), 0
    paths = [os.path.join('apps/examples/kernels', n) for n in sorted(os.listdir('apps/examples/kernels')) if n.endswith('.py')]
    for path in [*paths, 'tests/bench/user_rows.py', *written(folder)]:
        lines = sum(1 for _ in open(path, encoding='utf-8'))
        if lines >= 60:
            print(f'{path}: {lines} lines')
        for kernel in load(path):
            found = differs(folder, kernel, generator, ((2, 3), (24, 37), (3, 131)))
            count += 1
            if found:
                print(found)
    print(count)


def zeros(folder):
    """A zero keeps its sign, and a constant is what f32 has of it."""
    path = os.path.join(folder, 'zeros.py')
    with open(path, 'w', encoding='utf-8') as file:
        file.write("from mona.kernel import *\n\n\n@kernel('com.example::Zeros')\n"
                   'def zeros(x: rows(f32), u: rows(u8), *, y: rows(f32), z: rows(f32), w: rows(u8)):\n'
                   '    y[0, 0] = min(max(x[0, 0], -0.0), f32(u[0, 0]))\n'
                   '    z[0, 0] = min(max(f32(u[0, 0]), 0.0 * -1), f32(u[0, 1]))\n'
                   '    w[0, 0] = max(s32(max(x[0, 0], 2.50000001)), 3)\n')
    made, = load(path)
    least = made(np.zeros((1, 1), np.float32), np.zeros((1, 1), np.uint8))[2]
    print(differs(folder, made, np.random.default_rng(1), ((2, 3), (24, 37), (3, 131))) or (least == 3).all() and 'same')


def one_of_a_name(folder):
    """Two kernels of one name are refused, the same twice is not."""
    import mona
    made = []
    for by in (2, 3):
        path = os.path.join(folder, f'by{by}.py')
        with open(path, 'w', encoding='utf-8') as file:
            file.write("from mona.kernel import *\n\n\n@kernel('com.example::By')\n"
                       f'def by(x: rows(u8), *, y: rows(u8)):\n    y[0, 0] = x[0, 0] * {by}\n')
        made += load(path)
    x = np.arange(12, dtype=np.uint8).reshape(3, 4)
    path = os.path.join(folder, 'by.onnx')
    with open(path, 'wb') as file:
        file.write(network(made[0], [x], [x]))
    try:
        mona.Model(path, kernels=made)
    except TypeError as error:
        print(error if (mona.Model(path, kernels=[made[1], made[1]])(x) == x * 3).all() else 'another kernel')
    try:
        mona.Model(path, kernels=[path])
    except TypeError as error:
        print(str(error).replace(path, 'a path'))


def domains(folder):
    """Kernels that differ in their domain alone run beside each other."""
    import mona
    names = ('a::By', 'b::By', 'c::d__By', 'c__d::By')
    path = os.path.join(folder, 'domains.py')
    with open(path, 'w', encoding='utf-8') as file:
        file.write('from mona.kernel import *\n' + ''.join(
            f"\n\n@kernel('{name}')\ndef by{i}(x: rows(u8), *, y: rows(u8)):\n    y[0, 0] = x[0, 0] * 2 + {i}\n" for i, name in enumerate(names)))
    x = np.arange(12, dtype=np.uint8).reshape(3, 4)
    nodes = b''.join(node(name.split('::')[1], [f'x{i}'], [f'x{i + 1}'], name.split('::')[0]) for i, name in enumerate(names))
    path = os.path.join(folder, 'domains.onnx')
    with open(path, 'wb') as file:
        file.write(model(nodes, {'x0': x}, {'x4': x}, {}) + b''.join(field(8, field(1, d) + field(2, 1)) for d in ('a', 'b', 'c', 'c__d')))
    found = mona.Model(path, kernels=list(load(os.path.join(folder, 'domains.py'))))(x)
    print('same' if (found == np.minimum(x.astype(int) * 16 + 11, 255)).all() else found)


def wide(folder):
    """What is known of column and width holds for as many cells as a grid has."""
    path = os.path.join(folder, 'wide.py')
    with open(path, 'w', encoding='utf-8') as file:
        file.write("from mona.kernel import *\n\n\n@kernel('com.example::Wide')\n"
                   'def wide(x: rows(u8), *, y: rows(s32)):\n    y[0, 0] = min(column, 40000) + min(width, 50000)\n')
    made, = load(path)
    same_ = made(np.zeros((1, 32768), np.uint8))[0, -1] == 32767 + 32768
    try:
        print(made(np.zeros((1, 60000), np.uint8))[0, -1])
    except ValueError as error:
        print(error if same_ else 'different')


def example(file):
    kernel, = load(f'apps/examples/kernels/{file}.py')
    return kernel


def of_fused(generator):
    x = generator.normal(0, 1, (8, 5, 7)).astype(np.float32)
    weights, scale, shift = (generator.normal(0, 1, n).astype(np.float32) for n in (64, 8, 8))
    made = np.einsum('oi,iyx->oyx', weights.reshape(8, 8), x) * scale[:, None, None] + shift[:, None, None]
    return example('fused')(x, weights, scale, shift), np.maximum(made, 0), 1e-5


def of_boxes(generator):
    """The boxes and scores; the table of a sigmoid has steps of 1 / 16, with slopes of up to 1 / 4."""
    head, sigmoid = generator.normal(0, 2, (25, 6, 9)).astype(np.float32), lambda x: 1 / (1 + np.exp(-x))
    entries = sigmoid((np.arange(257) + 0.0) / 16 - 8).astype(np.float32)
    box, label = example('boxes')(head, np.array([30, 60], np.float32), np.array([16], np.float32), entries)
    part = sigmoid(head[:5].astype(float))
    rows, columns = np.mgrid[:6, :9]
    middle = np.stack([part[0] * 2 - 0.5 + columns, part[1] * 2 - 0.5 + rows]) * 16
    half = np.stack([(part[2] * 2) ** 2 * 30, (part[3] * 2) ** 2 * 60]) / 2
    wanted = [*(middle - half), *(middle + half), part[4] * sigmoid(head[5:].max(axis=0))]
    # In pixels an entry is off by 1 / 128, of which a side takes 2 * 16 and a half width 4 * 60.
    wanted = np.stack([*np.array(wanted[:4]) / 300, wanted[4], head[5:].argmax(axis=0)])
    return np.stack([*box[:4] / 300, box[4], label]), wanted, 0.016


def of_tone(generator):
    """Where all around is equal the blur is the brightness itself."""
    x = np.full((3, 6, 6), 1030, np.uint16)
    x[:, :, 3:] = 3005
    curve = generator.uniform(0.01, 0.08, 257).astype(np.float32)
    light = x[0].astype(float) * 256 / 4095
    wanted = np.rint(np.minimum(x * np.interp(light, np.arange(257), curve), 255))
    columns = [0, 1, 4, 5]  # not beside the edge between
    return example('tone')(x, curve)[:, :, columns], wanted[:, :, columns], 1


def of_nv12(generator):
    """Luma and chroma as their standards have them, and RGB of those again, in blocks of one colour."""
    import importlib.util
    spec = importlib.util.spec_from_file_location('nv12', 'apps/examples/kernels/nv12.py')
    nv12 = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(nv12)
    rgb, found, wanted = generator.integers(0, 256, (3, 6, 9)), [], []
    whole = rgb.repeat(2, 1).repeat(2, 2).astype(np.uint8)
    for red, blue in (nv12.BT601, nv12.BT709, nv12.BT2020):
        for full in (False, True):
            luma, chroma = nv12.from_rgb(whole, np.array(nv12.from_rgb_matrix(red, blue, full), np.float32))
            y = red * rgb[0] + (1 - red - blue) * rgb[1] + blue * rgb[2]
            u, v = (rgb[2] - y) / (2 - 2 * blue), (rgb[0] - y) / (2 - 2 * red)
            again = nv12.to_rgb(luma, chroma, np.array(nv12.to_rgb_matrix(red, blue, full), np.float32))
            found += [luma[::2, ::2], chroma[:, ::2], chroma[:, 1::2], *(again[:, ::2, ::2] / 4.0)]
            wanted += [y if full else y * 219 / 255 + 16, *(np.minimum(128 + c * (1 if full else 224 / 255), 255) for c in (u, v)), *(rgb / 4)]
    # A half of rounding; of steps of RGB, up to 2 and a half, a quarter.
    return np.stack(found), np.stack(wanted), 0.7


def of_demosaic(generator):
    """A mosaic of one colour."""
    colour = generator.integers(0, 4096, 3)
    raw = np.empty((8, 10), np.uint16)
    raw[::2, ::2], raw[1::2, 1::2] = colour[0], colour[2]
    raw[::2, 1::2] = raw[1::2, ::2] = colour[1]
    wanted = np.minimum(colour * (1.9, 1, 1.4) * 255 / 4095, 255)[:, None, None] * np.ones((3, 8, 10))
    return example('demosaic')(raw, np.array([1.9, 1, 1.4], np.float32)), wanted, 0.51


def beside(generator):
    """Those with numbers of f16 are beside those of f32 by one at most."""
    found, wanted = [], []
    nv12, half = ({k.name.split('::')[1]: k for k in load(f'apps/examples/kernels/{n}.py')} for n in ('nv12', 'nv12_half'))
    tables = sys.modules['nv12']
    rgb, raw = generator.integers(0, 256, (3, 64, 96)).astype(np.uint8), generator.integers(0, 4096, (64, 96)).astype(np.uint16)
    for red, blue in (tables.BT601, tables.BT709, tables.BT2020):
        for full in (False, True):
            for name, given, matrix in (('RgbToNv12', (rgb,), tables.from_rgb_matrix), ('Nv12ToRgb', (rgb[0], rgb[1, ::2]), tables.to_rgb_matrix)):
                table = np.array(matrix(red, blue, full), np.float32)
                for to, kernel in ((wanted, nv12[name]), (found, half[name + 'Half'])):
                    made = kernel(*given, table)
                    to += [a.ravel() for a in (made if isinstance(made, tuple) else (made,))]
    for to, name in ((wanted, 'demosaic'), (found, 'demosaic_half')):
        to += [example(name)(raw, np.array(gains, np.float32)).ravel() for gains in ((1, 1, 1), (2.1, 1, 1.7))]
    return np.concatenate(found), np.concatenate(wanted), 1


def meaning(_):
    generator = np.random.default_rng(3)
    for of in (of_fused, of_boxes, of_tone, of_nv12, of_demosaic, beside):
        found, wanted, bound = of(generator)
        error = abs(found.astype(float) - wanted).max()
        if not error <= bound:
            print(f'{of.__name__}: off by {error}')
    print('same')


class Writer:
    """Random expressions of the language, as text."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.names = {'s32': [], 'f32': []}

    def number(self, type_):
        return str(self.r.choice([0, 1, -1, 3, 255, -128, 40000, 2 ** 31 - 1])) if type_ == 's32' else \
            self.r.choice(['0.5', '-1.25', '255.0', '1e-3', '3e9', '-0.0'])

    def leaf(self, type_):
        r = self.r
        at = f'[{r.randint(-2, 2)}, {r.randint(-3, 3)}]'
        integers = ['a' + at, 'b[%d, %d, %d]' % (r.randint(0, 1), r.randint(-1, 2), r.randint(-1, 2)), 'd' + at, 't[a' + at + ']',
                    'row', 'column', 'width', 'height', self.number('s32'), *self.names['s32']]
        floats = ['c' + at, 'e' + at, 'f[2]', 'f[d' + at + ']', self.number('f32'), *self.names['f32']]
        return r.choice(integers if type_ == 's32' else floats)

    def value(self, type_, depth):
        r = self.r
        if depth == 0 or r.random() < 0.1:
            return self.leaf(type_)
        v = lambda t=type_: self.value(t, depth - 1)
        forms = [lambda: f'({v()} {r.choice("+-*")} {v()})', lambda: f'min({v()}, {v()})', lambda: f'max({v()}, {v()})',
                 lambda: f'({v()} if {self.test(depth - 1)} else {v()})', lambda: f'abs({v()})', lambda: f'-{v()}',
                 lambda: f'clamp({v()}, {self.number(type_)}, {v()})']
        if type_ == 's32':
            forms += [lambda: f'({self.solid(depth)} {r.choice(["<<", ">>"])} {r.randint(0, 31)})',
                      lambda: f'({self.solid(depth)} {r.choice("&|^")} {v()})', lambda: f'~{self.solid(depth)}',
                      lambda: f's32({v("f32")})', lambda: f'{r.choice(["u8", "s8", "u16", "s16"])}({v(r.choice(["s32", "f32"]))})']
        else:
            forms += [lambda: f'f32({v("s32")})', lambda: f'f16({v(r.choice(["s32", "f32"]))})', lambda: f'({v()} / {v()})']
        return r.choice(forms)()

    def solid(self, depth):
        """What is a node for sure: shifts of plain numbers can be large."""
        return f'(a[0, 0] ^ {self.value("s32", depth - 1)})'

    def test(self, depth):
        t = self.r.choice(['s32', 'f32'])
        first = 'a[0, 0]' if t == 's32' else 'c[0, 0]'
        one = f'{first} {self.r.choice(["<", ">", "<=", ">=", "==", "!="])} {self.value(t, max(depth, 0))}'
        return one if self.r.random() < 0.7 else f'({one}) {self.r.choice(["and", "or"])} not ({one})'

    def kernel(self, number):
        lines = [f"@kernel('com.example::Random{number}')",
                 'def made(a: rows(u8), b: rows(u16, planes=2, cell=(2, 2)), c: rows(f32), d: rows(s16), e: rows(f16), t: table(s32, 200), '
                 'f: table(f32, 3), *, w: rows(u8), x: rows(s8), y: rows(f32), h: rows(f16), z: rows(s32, planes=2, cell=(1, 2)), v: rows(u16)):']
        for i in range(6):
            type_ = self.r.choice(['s32', 'f32'])
            name = f'n{i}'
            zero = ' + (a[0, 0] - a[0, 0])' if type_ == 's32' else ' + (c[0, 0] if a[0, 0] < 0 else 0.0)'
            lines.append(f'    {name} = {self.value(type_, 3)}{zero}')
            self.names[type_].append(name)
        for name in 'wxv':
            lines.append(f'    {name}[0, 0] = {self.value(self.r.choice(["s32", "f32"]), 3)}')
        lines += [f'    {name}[0, 0] = {self.value("f32", 3)}' for name in 'yh']
        for plane in range(2):
            for column in range(2):
                lines.append(f'    z[{plane}, 0, {column}] = {self.value("s32", 2)}')
        return '\n'.join(lines) + '\n'


def randoms(folder, count):
    generator, made, refused = np.random.default_rng(2), 0, 0
    from mona.kernel import KernelError
    for number in range(count * 4):
        if made == count:
            break
        path = os.path.join(folder, f'random{number}.py')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('from mona.kernel import *\n\n\n' + Writer(number).kernel(number))
        try:
            kernel, = load(path)
        except KernelError as error: # constants met that are no numbers of 32 bits
            refused += 1
            if 'expected' not in str(error):
                print(error)
            continue
        made += 1
        found = differs(folder, kernel, generator, ((1, 1), (5, 23), (2, 150)))
        if found:
            print(found)
    print(made)


RVV = 'qemu-riscv64-static -cpu rv64,v=true,vext_spec=v1.0,vlen='
BOARD = 'qemu-system-arm -nodefaults -display none -semihosting-config enable=on,target=native -M '
# The compiler, its flags, what runs the program. Boards without a system begin at CODE and have memory from DATA on.
TARGETS = {
    'without vectors': ('gcc', '-O0', ''), 'AVX2 with clang': ('clang', '-O3 -mavx2 -mfma', ''),
    'AVX2': ('gcc', '-O3 -mavx2 -mfma', ''), 'AVX-512': ('gcc', '-O3 -march=native -mprefer-vector-width=512', ''),
    'NEON': ('aarch64-linux-gnu-gcc', '-O3', 'qemu-aarch64-static'),
    'dot products': ('aarch64-linux-gnu-gcc', '-O3 -march=armv8.2-a+dotprod', 'qemu-aarch64-static'),
    'ARMv7': ('arm-linux-gnueabihf-gcc', '-O3 -march=armv7-a -mfpu=neon-vfpv4', 'qemu-arm-static'),
    'MVE': ('arm-none-eabi-gcc', '-O3 -mcpu=cortex-m55 -mfloat-abi=hard -DCODE=0x10000000 -DDATA=0x30000000', BOARD + 'mps3-an547'),
    'DSP': ('arm-none-eabi-gcc', '-O3 -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard -DCODE=0 -DDATA=0x20000000', BOARD + 'mps2-an386'),
    **{f'RVV of {n} bits': ('clang-19', '--target=riscv64-linux-gnu -O3 -march=rv64gcv', RVV + n) for n in ('128', '256')},
}


def on_target(folder, kernel, arrays, grid, target):
    """The outputs' bytes, computed by rows for the target."""
    from mona._kernel_c import identifier
    compiler, flags, runner = TARGETS[target]
    with open(os.path.join(folder, 'rows.c'), 'w', encoding='utf-8') as file:
        file.write(kernel.c())
    program, board = os.path.join(folder, 'rows'), 'CODE' in flags
    flags = [*flags.split(), *(['-mthumb', '-nostartfiles', '--specs=rdimon.specs', '-Ttests/e2e/engine/kernel_rows.ld',
                                *('-Wl,--defsym=' + f[2:] for f in flags.split() if f.startswith('-D'))] if board else ['-static'])]
    subprocess.run([compiler, '-std=gnu11', *flags, '-ffp-contract=off', '-Iengine', f'-DKERNEL={identifier(kernel.name)}',
                    '-o', program, os.path.join(folder, 'rows.c'), 'tests/e2e/engine/kernel_rows.c'], check=True)
    given = np.array(grid, np.int32).tobytes() + b''.join(a.tobytes() for a in arrays)
    if not board:
        return subprocess.run([*runner.split(), program], input=given, stdout=subprocess.PIPE, check=True).stdout
    with open(os.path.join(folder, 'in'), 'wb') as file:
        file.write(given)
    subprocess.run([*runner.split(), '-kernel', 'rows'], cwd=folder, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    with open(os.path.join(folder, 'out'), 'rb') as file:
        return file.read()


# What is made of two short numbers is longer, also where the compiler promotes nothing.
LONGER = '''
from mona.kernel import *


@kernel('com.example::Longer')
def longer(x: rows(s16), *, y: rows(s32, cell=(2, 3))):
    a = x[0, 0]
    b = x[0, 1]
    y[0, 0] = abs(a)
    y[0, 1] = a + b
    y[0, 2] = a - b
    y[1, 0] = a * b
    y[1, 1] = -a
    y[1, 2] = a << 3
'''


def targets(folder, count):
    generator, tried = np.random.default_rng(4), set()
    paths = [os.path.join(folder, 'longer.py')]
    with open(paths[0], 'w', encoding='utf-8') as file:
        file.write(LONGER)
    paths += [os.path.join('apps/examples/kernels', n) for n in sorted(os.listdir('apps/examples/kernels')) if n.endswith('.py')]
    for number in range(count):
        paths.append(os.path.join(folder, f'random{number}.py'))
        with open(paths[-1], 'w', encoding='utf-8') as file:
            file.write('from mona.kernel import *\n\n\n' + Writer(number).kernel(number))
    from mona.kernel import KernelError
    for path in paths:
        try:
            kernels = load(path)
        except KernelError:
            continue
        for kernel in kernels:
            arrays = [noise(generator, o, 7, 109) for o in kernel.inputs.values()]
            wanted = kernel(*arrays)
            wanted = b''.join(a.tobytes() for a in (wanted if isinstance(wanted, tuple) else (wanted,)))
            for target, (compiler, _, runner) in TARGETS.items():
                if not shutil.which(compiler) or (runner and not shutil.which(runner.split()[0])) or \
                        ('AVX' in target and platform.machine() != 'x86_64'):
                    continue
                tried.add(target)
                if on_target(folder, kernel, arrays, (7, 109), target) != wanted:
                    print(f'{kernel.name} on {target}')
    print(', '.join(t for t in TARGETS if t in tried))


def before_a_convolution(folder):
    """The kernel, its input, and what the network makes of it."""
    source = os.path.join(folder, 'double.py')
    with open(source, 'w', encoding='utf-8') as file:
        file.write("from mona.kernel import kernel, rows, u8\n\n\n@kernel('com.example::Double')\n"
                   'def double(x: rows(u8), *, y: rows(u8)):\n    y[0, 0] = x[0, 0] * 2\n')
    double, = load(source)
    x = np.random.default_rng(3).integers(0, 256, (1, 1, 12, 20), np.uint8)
    weights = np.full((1, 1, 1, 1), 0.25, np.float32)
    y = np.zeros((1, 1, 12, 20), np.float32)
    to_float = field(5, field(1, 'to') + field(3, 1) + field(20, 2))
    nodes = node('Double', ['x'], ['doubled'], 'com.example') + node('Cast', ['doubled'], ['floats'], '', to_float) + \
        node('Conv', ['floats', 'w'], ['y'])
    path = os.path.join(folder, 'conv.onnx')
    with open(path, 'wb') as file:
        file.write(model(nodes, {'x': x}, {'y': y}, {'w': weights}))
    return double, x, np.minimum(x.astype(int) * 2, 255) * 0.25


def before_a_network(folder):
    import mona
    double, x, wanted = before_a_convolution(folder)
    found = mona.Model(os.path.join(folder, 'conv.onnx'), kernels=[double])(x)
    print('same' if (found.reshape(x.shape) == wanted).all() else 'different')


def evidence(folder):
    _, x, wanted = before_a_convolution(folder)
    np.save(os.path.join(folder, 'x.npy'), x)
    np.save(os.path.join(folder, 'wanted.npy'), wanted.astype(np.float32))


def in_place_of_a_function(folder):
    """A function of the model adds; the kernel of its name, which is called where there is one, multiplies."""
    import mona
    source = os.path.join(folder, 'scale.py')
    with open(source, 'w', encoding='utf-8') as file:
        file.write("from mona.kernel import kernel, rows, f32\n\n\n@kernel('com.example::Scale')\n"
                   'def scale(x: rows(f32), *, y: rows(f32)):\n    y[0, 0] = x[0, 0] * 3.0\n')
    scale, = load(source)
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    body = node('Add', ['a', 'a'], ['r'])
    own = field(1, 'Scale') + field(4, 'a') + field(5, 'r') + field(7, '')[:1] + body[1:] + field(9, field(2, 17)) + \
        field(10, 'com.example')
    path = os.path.join(folder, 'function.onnx')
    with open(path, 'wb') as file:
        file.write(model(node('Scale', ['x'], ['y'], 'com.example'), {'x': x}, {'y': x}, {}) + field(25, own))
    found = [np.asarray(net(x)) for net in (mona.Model(path), mona.Model(path, kernels=[scale]))]
    print('same' if (found[0] == x * 2).all() and (found[1] == x * 3).all() else f'different {found}')


def pattern(folder):
    """The kernel adds 7, by which it is known."""
    os.makedirs(os.path.join(folder, 'fused'), exist_ok=True)
    with open(os.path.join(folder, 'scale.py'), 'w', encoding='utf-8') as file:
        file.write("from mona.kernel import kernel, rows, f32\n\n\n@kernel('com.example::Scale')\n"
                   'def scale(x: rows(f32), *, y: rows(f32)):\n    y[0, 0] = max(x[0, 0] * 2.0 + 1.0, 0.0) + 7.0\n')
    x = np.random.default_rng(5).normal(0, 1, (6, 10)).astype(np.float32)
    numbers = {name: np.array(value, np.float32) for name, value in (('one', 1), ('two', 2), ('three', 3))}
    def body(a, factor, r):
        return node('Mul', [a, factor], [r + 't']) + node('Add', ['one', r + 't'], [r + 's']) + node('Relu', [r + 's'], [r])
    turned = node('Neg', ['x'], ['n']) + node('Mul', ['two', 'n'], ['t']) + node('Add', ['t', 'one'], ['s']) + node('Relu', ['s'], ['q'])
    for path, made in (('fused/Scale.onnx', model(body('x', 'two', 'y'), {'x': x}, {'y': x}, numbers)),
                       ('pattern.onnx', model(turned + body('q', 'three', 'y'), {'x': x}, {'y': x}, numbers))):
        with open(os.path.join(folder, path), 'wb') as file:
            file.write(made)
    np.save(os.path.join(folder, 'px.npy'), x)
    for name, more in (('kernel', 7), ('plain', 0)):
        np.save(os.path.join(folder, name + '.npy'), np.maximum((np.maximum(-x * 2 + 1, 0) + np.float32(more)) * 3 + 1, 0))


def along(folder):
    """Operators spread a table along the axis where it lies, which is the pattern's or another."""
    kernels = os.path.join(folder, 'along')
    os.makedirs(kernels, exist_ok=True)
    path = os.path.join(folder, 'gain.py')
    with open(path, 'w', encoding='utf-8') as file:
        file.write("from mona.kernel import *\n\n\n@kernel('com.example::Gain')\n"
                   'def gain(x: rows(f32, planes=4), t: table(f32, 4), *, y: rows(f32, planes=4)):\n'
                   '    for p in range(4):\n        y[p, 0, 0] = max(x[p, 0, 0] * t[p], 0.0)\n')
    made, = load(path)
    made.build(kernels)
    with open(os.path.join(kernels, 'Gain.kernel'), 'w', encoding='utf-8') as file:
        file.write(made.interface())
    x, t = np.random.default_rng(5).normal(0, 1, (1, 4, 6, 4)).astype(np.float32), np.array([1, 2, -3, 4], np.float32)
    nodes = node('Mul', ['x', 't'], ['m']) + node('Relu', ['m'], ['y'])
    for name, inputs, constants_ in (('along/Gain', {'x': x, 't': t.reshape(1, 4, 1, 1)}, {}), ('along', {'x': x}, {'t': t})):
        with open(os.path.join(folder, name + '.onnx'), 'wb') as file:
            file.write(model(nodes, inputs, {'y': x}, constants_))
    np.save(os.path.join(folder, 'ax.npy'), x)
    np.save(os.path.join(folder, 'along.npy'), np.maximum(x * t, 0))


MISTAKES = [ # of a body at line 6 from column 5 on: where, and words of what is told
    ('y[0, 0] = x[0, 0] * 0.5', '6:15', 'expected whole numbers, found 0.5 beside an s32 number; write f32(...)'),
    ('y[0, 0] = x[0, 0] + (1 << -1)', '6:26', 'expected a number, found none: negative shift count'),
    ('y[0, 0] = f32(x[0, 0]) * 2.0 ** 5000', '6:30', 'expected a number, found none: '),
    ('y[0, 0] = f32(x[0, 0]) * (-8.0) ** 0.5', '6:30', 'expected a real number, found '),
    ('for i in range(0, 4, 0): pass', '6:14', 'expected a range of up to 256 numbers'),
    ('y[0, 0] = z', '6:15', 'expected a name that was assigned before, found z'),
    ('y[0, 0] = x', '6:15', 'expected x[...], found x alone'),
    ('y[0, 0] = x[x[0, 0], 0]', '6:17', 'expected a constant offset, found a computed s32 number'),
    ('y[0, 0] = x[0]', '6:15', 'expected [row, column], found 1 numbers'),
    ('y[0, 0] = b[2, 0, 0]', '6:15', 'expected a plane from 0 to 1, found 2'),
    ('if x[0, 0] > 3:\n        y[0, 0] = 1', '6:5', 'expected an assignment or a for loop over a range, found if; write A if'),
    ('for i in x:\n        pass', '6:14', 'expected for NAME in range(...)'),
    ('y[0, 0] = y[0, 0] + 1', '6:15', 'expected an input, found the output y, which cannot be read'),
    ('x[0, 0] = 1', '6:5', 'expected an output (y), found x'),
    ('y[0, 0] = x[0, 0] // 2', '6:15', 'expected + - * / << >> & | ^, found FloorDiv'),
    ('y[0, 0] = x[0, 0] / 2', '6:15', 'expected f32 numbers to divide, found s32'),
    ('y[0, 0] = x[0, 0] + f[0]', '6:15', 'expected numbers of one type, found s32 and f32'),
    ('pass', '5:1', 'expected an assignment to y[0, 0], found none'),
    ('y[0, 0] = select(x[0, 0], 1, 2)', '6:15', 'expected a comparison, found a computed s32 number'),
    ('y[0, 0] = sqrt(x[0, 0])', '6:15', 'expected one of min, max, clamp, abs, select, u8'),
    ('y[0, 1] = x[0, 0]', '6:5', 'expected an offset in the cell of 1 x 1 samples, found 0, 1'),
    ('y[0, 0] = x[0, 0] << x[0, 1]', '6:15', 'expected a shift by a constant from 0 to 31'),
    ('y[0, 0] = 1\n    y[0, 0] = 2', '7:5', 'expected one assignment to each sample of y, found a second'),
    ('return x[0, 0]', '6:5', 'expected an assignment or a for loop over a range, found return'),
    ('y[0, 0] = x[0, 99]', '6:15', 'expected an offset of up to 8 cells'),
    ('y[0, 0] = f[3] > 0', '6:15', 'expected an index from 0 to 2, found 3'),
    ('y[0, 0] = x[0, 0] > 0', '6:5', 'expected a number for y, found a comparison'),
    ('y[0, 0] = clamp(x[0, 0], 1)', '6:15', 'expected 3 arguments of clamp, found 2'),
    ('y[0, 0] = x[0, 0] + 4294967296', '6:15', 'expected a number of 32 bits'),
    ('x, y = 1, 2', '6:12', 'expected an expression of numbers, found tuple'),
    ('y[0, 0] = 0 < x[0, 0] < 3', '6:15', 'expected one of < <= > >= == !='),
    ('y[0, 0] = x[0, 0] + 9 ** 9 ** 9 % 7', '6:25', 'expected whole numbers of up to 64 bits, found a larger one'),
    ('y[0, 0] = (1 << 10 ** 12) >> 10 ** 12', '6:16', 'expected whole numbers of up to 64 bits, found a larger one'),
    ('n = 3\n    for i in range(256):\n        n *= n', '8:9', 'expected whole numbers of up to 64 bits, found a larger one'),
    ('y[0, 0] = ' + '9' * 4000, '6:15', 'expected whole numbers of up to 64 bits, found a larger one'),
    ('for i in range(2 ** 63):\n        pass', '6:14', 'expected a range of up to 256 numbers'),
    ('for i in range(256):\n        for k in range(256):\n            for l in range(256):\n                pass', '8:13',
     'expected up to 65536 statements and parts of expressions, found more'),
    ('y[0, 0] = ' + '-' * 1500 + 'x[0, 0]', '6:', 'expected fewer parts in one expression'),
    ('y[0, 0] = x[0, 0] + "ab" * 10 ** 12', '6:25', "expected a number, found 'ab'"),
    ('y[0, 0] = x[0, 0] * W', '6:25', 'expected W[...], found W alone'),
    ('y[0, 0] = x[0, 0] * W[1]', '6:25', 'expected a number, found (2, 3)'),
    ('y[0, 0] = x[0, 0] * W[1][2]', '6:25', 'expected an index from 0 to 1, found 2'),
    ('y[0, 0] = x[0, 0] * W[x[0, 0]]', '6:27', 'expected a constant index, found a computed s32 number'),
    ('y[0, 0] = row - height', '6:21', 'expected height as kernels have it, found something of the file'),
    ('y[0, 0] = s16(x[0, 0])', '6:15', 'expected s16 as kernels have it, found something of the file'),
    ('abs = 3\n    y[0, 0] = abs(x[0, 0])', '7:15', 'expected abs as kernels have it, found something of the file'),
    ('y[0, 0] = x[0, 0] + ~1.5', '6:25', 'expected whole numbers, found a float'),
    ('y[0, 0] = 1 if 1 == 1 and x[0, 0] else 2', '6:31', 'expected a comparison, found a computed s32 number'),
]


def constants(folder):
    """What is chosen while a kernel is read."""
    path = os.path.join(folder, 'constants.py')
    with open(path, 'w', encoding='utf-8') as file:
        file.write("from mona.kernel import *\nW = ((1, 2, 1), [2, 4, 2])\n\n\n@kernel('com.example::Constants')\n"
                   'def constants(x: rows(u8), *, y: rows(s32), z: rows(s32)):\n'
                   '    sides = [-1, 0, 1]\n    seen = [x[0, 0], x[0, 1]]\n    around = 0\n    cross = 0\n'
                   '    for i in range(3):\n        for k in range(3):\n'
                   '            around += x[sides[i], sides[k]] * W[1 - abs(i - 1)][k]\n'
                   '            cross += x[max(min(i, 2) - 1, -1), k - 1] if (abs(i - 1) == 1 and k == 1) or not (i != 1 or k == 1) else 0\n'
                   '    y[0, 0] = around + seen[-1]\n    z[0, 0] = cross + (100 if x[0, 0] > 7 and 1 < 2 else 0)\n')
    made, = load(path)
    x = np.random.default_rng(1).integers(0, 256, (5, 7)).astype(np.uint8)
    p = np.pad(x, 1, 'edge').astype(np.int32)
    part = lambda dy, dx: p[1 + dy:6 + dy, 1 + dx:8 + dx]
    y, z = made(x)
    around = sum(part(dy, dx) * (2 - abs(dy)) * (2 - abs(dx)) for dy in (-1, 0, 1) for dx in (-1, 0, 1)) + part(0, 1)
    cross = part(-1, 0) + part(1, 0) + part(0, -1) + part(0, 1) + 100 * (x > 7)
    print('same' if (y == around).all() and (z == cross).all() else (y - around, z - cross))


def errors(folder):
    from mona.kernel import KernelError
    for number, (body, where, text) in enumerate(MISTAKES):
        path = os.path.join(folder, f'mistake{number}.py')
        with open(path, 'w', encoding='utf-8') as file:
            file.write("from mona.kernel import *\nW, height = (1, (2, 3)), 1080\ns16 = lambda x: x\n@kernel('com.example::Wrong')\n"
                       f'def wrong(x: rows(u8), b: rows(u8, planes=2), f: table(f32, 3), *, y: rows(u8)):\n    {body}\n')
        try:
            load(path)
            print(f'{body}: taken')
        except KernelError as error:
            found = str(error)
            if not found.startswith(f'{path}:{where}') or f': {text}' not in found:
                print(f'{body}: {error}')
    print(len(MISTAKES))


JOINED = '''from mona.kernel import *


@kernel('com.example::Blur')
def blur(x: rows(f32, planes=PLANES), weight: table(f32, 3), *, y: rows(f32, planes=PLANES), z: rows(f16)):
    sums = 0.0
    for p in range(PLANES):
        around = x[p, 0, 0] * weight[0]
        for dy in range(-2, 3):
            for dx in range(-3, 4):
                around += x[p, dy, dx] * weight[2 if abs(dy) > 1 else 1]
        y[p, 0, 0] = around
        sums += around
    z[0, 0] = sums * f32(row + column * 2)


@kernel('com.example::Down')
def down(x: rows(f16, planes=3, cell=(2, 2)), *, y: rows(f32, planes=2)):
    y[0, 0, 0] = x[0, 0, 0] + x[1, 0, 1] - x[2, 1, 0]
    y[1, 0, 0] = x[0, -1, -1] + x[1, 3, 2] * 2.0


@kernel('com.example::Up')
def up(x: rows(f32), mask: rows(f32, cell=(2, 2)), *, y: rows(f32, planes=3, cell=(3, 3))):
    for p in range(3):
        for dy in range(3):
            for dx in range(3):
                y[p, dy, dx] = x[0, 0] * f32(p + 1) + x[-1, 1] * f32(dy * 3 + dx) + mask[dy // 2, dx // 2]


@kernel('com.example::Bytes')
def bytes_(x: rows(u8, planes=2), *, y: rows(u8, planes=5, cell=(2, 2)), z: rows(s8)):
    for p in range(5):
        for dy in range(2):
            for dx in range(2):
                y[p, dy, dx] = x[p % 2, dy - 1, dx] * (p + 1) - 7
    z[0, 0] = x[0, 0, 0] - x[1, 0, 3]
'''


def half(a):
    """As maps have it: floats of 16 bits, the largest for what is larger."""
    with np.errstate(over='ignore'):
        return np.nan_to_num(np.clip(a, -65504, 65504), nan=0).astype(np.float16)


def through(made, name, planes, floats=True):
    """Nodes that pass a value on by a convolution, as NAME_, and its weights; not floats: converted first."""
    to_float = field(5, field(1, 'to') + field(3, 1) + field(20, 2))
    weights = {name + '_w': np.eye(planes, dtype=np.float32).reshape(planes, planes, 1, 1)}
    nodes = b'' if floats else node('Cast', [name], [name + '_f'], '', to_float)
    made.update(weights)
    return nodes + node('Conv', [name if floats else name + '_f', name + '_w'], [name + '_'])


def on_maps(path):
    """Whether the model has kernels, and no operators on arrays (engine/model_format.h)."""
    with open(path, 'rb') as file:
        data = file.read()
    count, = struct.unpack_from('<I', data, 36)
    offset, = struct.unpack_from('<Q', data, 48)
    kinds = {struct.unpack_from('<I', data, offset + 192 * i)[0] for i in range(count)}
    return 24 in kinds and not kinds & {9, 10, 23}


def joined_net(kernel, arrays, results, alone, open_sizes):
    """The kernel between convolutions; alone: between inputs and outputs."""
    constants, nodes, ins, calls, outs = {}, b'', {}, [], {}
    cast = lambda x, to, type_: node('Cast', [x], [to], '', field(5, field(1, 'to') + field(3, type_) + field(20, 2)))
    for (name, o), a in zip(kernel.inputs.items(), arrays):
        calls.append(name)
        between = o.planes and o.type in ('f16', 'f32') and not alone
        if o.planes:
            ins[name] = a.astype(np.float32 if between else a.dtype).reshape((1, o.planes, *a.shape[-2:]))
        else:
            constants[name] = a
        if between:
            nodes += through(constants, name, o.planes)
            calls[-1] += '_'
            if o.type == 'f16':
                nodes += cast(calls[-1], name + '_h', 10)
                calls[-1] = name + '_h'
    nodes += node(kernel.name.split('::')[1], calls, kernel.outputs, 'com.example')
    for (name, o), a in zip(kernel.outputs.items(), results):
        made = a.reshape((1, o.planes, *a.shape[-2:]))
        outs[name if alone else name + '_'] = made if alone else made.astype(np.float32)
        if not alone:
            nodes += through(constants, name, o.planes, o.type == 'f32')
    return model(nodes, ins, outs, constants, open_sizes), list(ins.values())


def joined(folder, planes):
    """Kernels in groups of operators on maps: between convolutions, alone, at edges, of all block sizes, by cells and tables."""
    import mona
    path, onnx, compiled, kernels = (os.path.join(folder, name) for name in ('joined.py', 'joined.onnx', 'joined.mona', 'joined'))
    os.makedirs(kernels, exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(JOINED.replace('PLANES', str(planes)))
    generator, count = np.random.default_rng(7), 0
    for kernel in load(path):
        built = kernel.build(folder)
        kernel.build = lambda _, built=built: built
        with open(os.path.join(kernels, 'joined.kernel'), 'w', encoding='utf-8') as file:
            file.write(kernel.interface())
        for (rows, columns), alone, open_sizes in itertools.product(((1, 1), (2, 3), (7, 130), (40, 300)), (False, True), (False, True)):
            arrays = [generator.integers(-9, 10, o.elements or (o.planes, rows * o.cell[0], columns * o.cell[1])).astype(o.dtype)
                      for o in kernel.inputs.values()]
            wanted = kernel(*arrays)
            wanted = wanted if isinstance(wanted, tuple) else (wanted,)
            made, given = joined_net(kernel, arrays, wanted, alone, open_sizes)
            with open(onnx, 'wb') as file:
                file.write(made)
            mona.compile(onnx, compiled, kernels=kernels)
            if on_maps(compiled) == (alone and not open_sizes):
                print(f'{kernel.name}, alone {alone}, open {open_sizes}: on ' + ('maps' if on_maps(compiled) else 'arrays'))
            for threads, cpu in ((1, 'c'), (3, None)):
                net = mona.Model(compiled, size=[a.shape[-2:] for a in given] if open_sizes else None, kernels=[kernel], threads=threads, cpu=cpu)
                found = net(*given)
                for f, w in zip(found if isinstance(found, list) else [found], wanted):
                    w = w if alone and not open_sizes else half(w)
                    if not np.array_equal(np.asarray(f).astype(np.float32).ravel(), w.astype(np.float32).ravel()):
                        print(f'{kernel.name} at {rows} x {columns}, alone {alone}, open {open_sizes}, {threads} threads', f.dtype, f.shape, w.shape)
            count += 1
    print(count)


def between(file, path, name):
    """A kernel of one plane between convolutions; its tables are inputs."""
    kernel, = (k for k in load(path) if k.name.endswith('::' + name))
    weights, ins, calls, nodes = {}, {}, [], b''
    for i, o in kernel.inputs.items():
        ins[i] = np.zeros((1, 1, 6, 8) if o.planes else (o.elements,), np.float32 if o.planes else o.dtype)
        calls.append(i + '_cast' if o.planes else i)
        if o.planes:
            nodes += through(weights, i, 1) + node('Cast', [i + '_'], [calls[-1]], '', field(5, field(1, 'to') + field(3, TYPES[str(o.dtype)]) +
                                                                                             field(20, 2)))
    output, = kernel.outputs.values()
    nodes += node(name, calls, ['y'], 'com.example') + through(weights, 'y', 1, False)
    made = np.zeros((1, 1, 6 * output.cell[0], 8 * output.cell[1]), np.float32)
    with open(file, 'wb') as onnx:
        onnx.write(model(nodes, ins, {'y_': made}, weights))


def enhanced(folder, found=None):
    """Writes a film, crisp.py and a network that enlarges by 2 with it; or compares what was made of them."""
    h, w, frames = 54, 96, 3
    luma = np.random.default_rng(8).integers(0, 256, (frames, h, w), np.uint8)
    source = os.path.join(folder, 'crisp.py')
    if not found:
        with open(source, 'w', encoding='utf-8') as file:
            file.write("from mona.kernel import *\n\n\n@kernel('com.example::Crisp')\n"
                       'def crisp(x: rows(f32, planes=4), *, y: rows(f32, planes=4)):\n'
                       '    for p in range(4):\n        around = 0.0\n        for dy in range(-1, 2):\n            for dx in range(-1, 2):\n'
                       '                around += x[p, dy, dx]\n'
                       '        y[p, 0, 0] = x[p, 0, 0] + (x[p, 0, 0] - around * 0.111) * (p * 0.25)\n')
        with open(os.path.join(folder, 'in.y4m'), 'wb') as file:
            file.write(b'YUV4MPEG2 W%d H%d F25:1 Ip A1:1 C420\n' % (w, h))
            for frame in luma:
                file.write(b'FRAME\n' + frame.tobytes() + bytes([128] * (h * w // 2)))
        weights = np.ones((4, 1, 1, 1), np.float32)
        nodes = node('Conv', ['luma', 'w'], ['four']) + node('Crisp', ['four'], ['crisp'], 'com.example') + \
            node('DepthToSpace', ['crisp'], ['luma_x2'], '', field(5, field(1, 'blocksize') + field(3, 2) + field(20, 2)) +
                 field(5, field(1, 'mode') + field(4, 'CRD') + field(20, 3)))
        with open(os.path.join(folder, 'crisp.onnx'), 'wb') as file:
            file.write(model(nodes, {'luma': luma[:1, None].astype(np.float32)}, {'luma_x2': np.zeros((1, 1, 2 * h, 2 * w), np.float32)},
                             {'w': weights}, True))
        return
    kernel, = load(source)
    step = np.float32(np.float16(1 / 255))
    with open(found, 'rb') as file:
        data = file.read()
    at = data.index(b'\n') + 1
    for frame in luma:
        x = half(frame.astype(np.float32) * step).astype(np.float32)
        y = half(kernel(np.stack([x] * 4))).astype(np.float32)
        wanted = np.zeros((2 * h, 2 * w), np.float32)
        for p in range(4):
            wanted[p // 2::2, p % 2::2] = y[p]
        wanted = np.clip(np.rint(half(wanted * np.float32(255)).astype(np.float32)), 0, 255).astype(np.uint8)
        at = data.index(b'\n', at) + 1
        made = np.frombuffer(data, np.uint8, 4 * h * w, at).reshape(2 * h, 2 * w)
        if (made != wanted).any():
            print('different', (made != wanted).sum(), abs(made.astype(int) - wanted).max())
            return
        at += 6 * h * w
    print('same')


def seal(path):
    """Gives an interface of a kernel its checksum."""
    with open(path, 'r+', encoding='utf-8') as file:
        head, text = file.read().split('\n', 1)
        file.seek(0)
        file.write(f'{head.split(" crc")[0]} crc {zlib.crc32(text.encode()):08x}\n{text}')


def main():
    what, folder, *rest = sys.argv[1:]
    if what == 'onnx':
        domain, op_type = rest[0].split('::')
        x = np.zeros(tuple(map(int, rest[1:])) or (6, 8), np.uint8)
        with open(folder, 'wb') as file:
            file.write(model(node(op_type, ['x'], ['y'], domain), {'x': x}, {'y': x}, {}))
        return
    {'examples': examples, 'network': before_a_network, 'evidence': evidence, 'pattern': pattern, 'along': along, 'function': in_place_of_a_function, 'meaning': meaning, 'errors': errors, 'constants': constants,
     'zeros': zeros, 'names': one_of_a_name, 'domains': domains, 'wide': wide, 'enhance': lambda f: enhanced(f, *rest), 'seal': seal, 'between': lambda f: between(f, *rest), 'joined': lambda f: joined(f, int(rest[0])),
     'random': lambda f: randoms(f, int(rest[0])), 'targets': lambda f: targets(f, int(rest[0]))}[what](folder)


if __name__ == '__main__':
    main()
