# SPDX-License-Identifier: Apache-2.0
"""Networks as C on emulated boards: what the linker and QEMU say of them, beside what mona inspect --firmware tells.

    networks.py check MONA BUILD BOARDS NETWORK:WxH...   told beside found, a line each; fails beyond the bounds; NETWORK: is one
                                                         of its own size, so small that its instructions are shown alone
    networks.py costs MONA BUILD [BOARD,...] [arrays]    writes apps/compile/firmware_costs.inc anew (minutes a board);
                                                         instructions and stacks of other boards than these stay;
                                                         arrays: instructions of operators on arrays alone
    networks.py separable MONA FOLDER                    writes networks of depthwise convolutions, and prints them for check
    networks.py residual MONA FOLDER                     the same of networks whose maps end at a few pixels
    networks.py unseen MONA FOLDER                       the same of networks that no cost was fitted to
    networks.py arrays MONA FOLDER                       the same of networks of operators on arrays

BUILD holds boards/BOARD/libmona.a of apps/firmware/Makefile, operators, and array_costs.
"""
import functools
import json
import os
import re
import subprocess
import sys
import tempfile

# In the order of FIRMWARE_CPU_LIST.
BOARDS = {'an386': 'cortex-m4', 'an505': 'cortex-m33', 'an500': 'cortex-m7', 'an547': 'cortex-m55', 'virt': 'cortex-a53',
          'virt-dot': 'cortex-a55', 'virt-i8mm': 'cortex-a510', 'rv32': 'rv32imafc', 'rv64': 'rv64gc', 'rv64v': 'rv64gcv'}
# Pixels that row kernels of convolutions compute together with 16 outputs: in 8 bits, and in fp16. Others do not need it.
PIXELS = {'virt': (2, 5), 'virt-dot': (0, 5), 'virt-i8mm': (0, 5)}
# All but convolutions in 8 bits is the same code there: of 434 models of operators on arrays most differ by 2 %, none by 5 %.
SAME_CODE = {'virt-dot': 'virt', 'virt-i8mm': 'virt'}
MACHINES = {'an386': 'arm -M mps2-an386', 'an500': 'arm -M mps2-an500', 'an505': 'arm -M mps2-an505', 'an547': 'arm -M mps3-an547',
            'virt': 'aarch64 -M virt -cpu cortex-a53', 'virt-dot': 'aarch64 -M virt -cpu max',
            'virt-i8mm': 'aarch64 -M virt -cpu max', 'rv64v': 'riscv64 -M virt -bios none -cpu rv64,v=true,vlen=128,vext_spec=v1.0',
            'rv32': 'riscv32 -M virt -bios none', 'rv64': 'riscv64 -M virt -bios none'}
# Where there are megabytes, since frames are in memory here.
MEMORY = {'an547': ('RAM_ORIGIN=0x30000000', 'RAM_ORIGIN=0x70000000'), 'rv32': ('0x80200000', '0x80800000'),
          'rv64': ('0x80200000', '0x80800000'), 'rv64v': ('0x80200000', '0x80800000'),
          **dict.fromkeys(('virt', 'virt-dot', 'virt-i8mm'), ('0x40200000', '0x40800000'))}
ROOM = [('LENGTH = 512K', 'LENGTH = 4M'), ('LENGTH = 256K', 'LENGTH = 4M'), ('STACK_BYTES = 8K', 'STACK_BYTES = 32K')]
MONA, BUILD = (sys.argv + ['', '', '', ''])[2:4]


def run(command, **more):
    done = subprocess.run(command if isinstance(command, list) else command.split(), capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f'{command}: {done.returncode}\n{done.stdout}{done.stderr}')
    return done.stdout


@functools.lru_cache(None)
def variable(name):
    return run(['make', '-s', '-f', 'apps/firmware/Makefile', '--eval', f'tell:;@:$(info $({name}))', 'tell']).strip()


def size_of(size):
    """'': the model's own."""
    return ['--size', size] if size else []


def told(board, path, size):
    text = run([MONA, 'inspect', path, '--firmware', BOARDS[board], *size_of(size), '--json'])
    return json.loads(text)['firmware']


def main_of(header):
    """A program that runs a frame of noise, and keeps what an application calls."""
    sys.path.insert(0, 'tests/e2e/engine')
    from emitted import tensors
    _, found = tensors(header)
    lines = ['#include "apps/firmware/board.h"', '#include "apps/firmware/sensor.h"', '#include "net.h"',
             'void line_interrupt(void) {}', '_Alignas(64) uint8_t arena[NET_ARENA_BYTES];']
    lines += [f'_Alignas(64) {kind} {name}_[{c * h * w}];' for _, kind, name, c, h, w in found]
    lines += ['typedef void (*any)(void);', 'volatile any kept[4];', 'int firmware_main(void)', '{',
              '    mona_session *session;', '    uint32_t seed = 1, crc = 0;']
    for out, kind, name, *_ in found:
        if not out:
            mask = {'uint16_t': '& 0x3b', 'float': '& 0x3f'}.get(kind, '')
            step = {'uint16_t': 2, 'float': 4}.get(kind, 1)
            lines += [f'    for (uint32_t i = 0; i < sizeof {name}_; i++) {{', '        seed = seed * 1103515245u + 12345u;',
                      f'        ((uint8_t *){name}_)[i] = (uint8_t)(seed >> 16){f" & (i % {step} == {step - 1} ? 0x3b : 255)" if mask else ""};',
                      '    }']
    if '_push(' in open(header, encoding='utf-8').read():
        lines += ['    kept[0] = (any)net_push, kept[1] = (any)net_pull;']
    arguments = ', '.join(f'{name}_, {w} * sizeof *{name}_' for _, _, name, _, _, w in found)
    lines += ['    if (net_open(&session, arena, sizeof arena))', '        return 1;', '    const uint32_t begin = board_clock();',
              f'    const int status = net_run(session, {arguments});', '    const uint32_t end = board_clock();']
    lines += [f'    crc = crc32_of(crc, (const uint8_t *){name}_, sizeof {name}_);' for out, _, name, *_ in found if out]
    lines += ['    board_print("ticks %u hertz %u stack %u crc %x\\n", end - begin, board_clock_hertz, board_stack_used(), crc);',
              '    return status;', '}']
    return '\n'.join(lines) + '\n'


def clocked_main(header, runs):
    """The same; it prints ticks and calls of each operator, whose functions are those of `clocked`."""
    count = len(runs)
    lines = ['#include "engine/op/op.h"', f'mona_op_run clocked[{count}];', f'static uint32_t spent[{count}], calls[{count}];',
             f'static const mona_op_run *const own[] = {{{", ".join("&" + r for r in runs)}}};']
    for i in range(count):
        lines += [f'static void {f}_{i}(const mona_{f}_call *c)\n{{\n    const uint32_t begin = board_clock();\n    own[{i}]->{f}(c);\n'
                  f'    spent[{i}] += board_clock() - begin, calls[{i}]++;\n}}' for f in ('row', 'map', 'array')]
    lines += ['static void start(void)', '{']
    lines += [f'    clocked[{i}] = *own[{i}];' for i in range(count)]
    lines += [f'    if (own[{i}]->{f})\n        clocked[{i}].{f} = {f}_{i};' for i in range(count) for f in ('row', 'map', 'array')]
    lines += ['}', 'int firmware_main(void)', '{', '    start();']
    text = main_of(header).replace('int firmware_main(void)\n{', '\n'.join(lines))
    return text.replace('    return status;', f'    for (uint32_t i = 0; i < {count}; i++)\n'
                        '        board_print("operator %u %u\\n", spent[i], calls[i]);\n    return status;')


def empty_main():
    return ('#include "apps/firmware/board.h"\n#include "apps/firmware/sensor.h"\nvoid line_interrupt(void) {}\n'
            'int firmware_main(void)\n{\n    const uint32_t t = board_clock();\n'
            '    board_print("%u %u %u %x\\n", board_clock() - t, board_clock_hertz, board_stack_used(), crc32_of(0, (const uint8_t *)"", 1));\n'
            '    return 0;\n}\n')


class Board:
    def __init__(self, name):
        self.name = name
        self.folder = tempfile.mkdtemp()
        self.bound = 0.15
        self.cross = variable(f'CROSS_{name}')
        self.compiler = (f'{self.cross}gcc -std=gnu11 -O2 -w -ffreestanding -fno-pic -ffunction-sections -fdata-sections '
                         f'-fno-asynchronous-unwind-tables {variable("CPU_" + name)} -I. -Iengine -I{self.folder}')
        script, *symbols = variable(f'SCRIPT_{name}').split()
        text = open(f'apps/firmware/boards/{script}', encoding='utf-8').read()
        for old, new in ROOM:
            text = text.replace(old, new)
        if name == 'an547':  # 512 KB for code are all that this board has there
            text = text.replace('*(.rodata*) } > flash', '*(.rodata*) } > ram')
        with open(f'{self.folder}/board.ld', 'w', encoding='utf-8') as f:
            f.write(text)
        symbols = [s.replace(*MEMORY.get(name, ('', ''))) if name in MEMORY else s for s in symbols]
        objects = ['apps/firmware/boards/common.o', 'apps/firmware/sensor.o']
        objects += ['apps/firmware/boards/' + s.rsplit('.', 1)[0] + '.o' for s in variable(f'BOARD_SRC_{name}').split()]
        self.base = f'{BUILD}/boards/{name}'
        self.link = ['-nostdlib', '-static', '-Wl,--gc-sections', '-Wl,--build-id=none', f'-T{self.folder}/board.ld', *symbols]
        self.objects = [f'{self.base}/{o}' for o in objects]
        self.empty = self.flash_of(self.image('empty', empty_main(), []))

    def image(self, name, main, sources):
        with open(f'{self.folder}/main.c', 'w', encoding='utf-8') as f:
            f.write(main)
        out = f'{self.folder}/{name}.elf'
        run([*self.compiler.split(), *self.link, '-o', out, f'{self.folder}/main.c', *sources, *self.objects,
             f'{self.base}/libmona.a', '-lgcc'])
        return out

    def sections(self, path):
        return {m[1]: int(m[2]) for m in re.finditer(r'^(\.\w+)\S*\s+(\d+)', run([f'{self.cross}size', '-A', path]), re.M)}

    def flash_of(self, path):
        found = self.sections(path)
        return found.get('.text', 0) + found.get('.rodata', 0)

    def emit(self, path, size):
        run([MONA, 'compile', path, '-o', f'{self.folder}/net.c', '--emit', 'c', '--target', variable(f'TARGET_{self.name}'),
             *size_of(size)])
        return f'{self.folder}/net.h'

    def network(self, path, size):
        """Flash, RAM, instructions of a frame, stack, CRC of the results."""
        header = self.emit(path, size)
        image = self.image('net', main_of(header), [f'{self.folder}/net.c'])
        arena = int(re.search(r'NET_ARENA_BYTES = (\d+)', open(header, encoding='utf-8').read())[1])
        symbols = run([f'{self.cross}nm', '-S', image])
        ram = int(re.search(r' ([0-9a-f]+) \w arena$', symbols, re.M)[1], 16)
        if ram != arena:
            sys.exit(f'{path}: the linker has an arena of {ram} bytes, the header of {arena}')
        ticks, hertz, stack, crc = re.search(r'ticks (\d+) hertz (\d+) stack (\d+) crc (\w+)', self.emulate(image)).groups()
        return {'flash': self.flash_of(image) - self.empty, 'ram_arena': ram, 'instructions': int(ticks) / int(hertz) * 1e9 / 16,
                'stack': int(stack), 'crc': crc}

    def operators(self, path, size):
        """Rows that are told of each operator, its instructions with its share of those between operators, and the stack. The
        STORE that a convolution does is with it."""
        rows, header = iter(told(self.name, path, size)['operators']), self.emit(path, size)
        with open(f'{self.folder}/net.c', encoding='utf-8') as f:
            text = f.read()
        runs = re.findall(r'\.bound\.run = &(\w+)', text)
        stores = [int(n) for n in re.findall(r' \.store = (\d+)', text)]
        text = re.sub(r'\.bound\.run = &\w+', lambda m, i=iter(range(len(runs))): f'.bound.run = &clocked[{next(i)}]', text)
        with open(f'{self.folder}/net.c', 'w', encoding='utf-8') as f:
            f.write(text.replace('static const plan_op ops[]', 'extern mona_op_run clocked[];\nstatic const plan_op ops[]'))
        image = self.image('operators', clocked_main(header, runs), [f'{self.folder}/net.c'])
        text = self.emulate(image)
        each = 1e9 / 16 / int(re.search(r'hertz (\d+)', text)[1])
        clocked = [[int(n) for n in c] for c in re.findall(r'operator (\d+) (\d+)', text)]
        own, calls = (sum(c[i] for c in clocked) for i in (0, 1))
        between = (int(re.search(r'ticks (\d+)', text)[1]) - own) / calls
        told_of = [[next(rows)] if c or run == 'mona_run_store' else [] for run, (_, c) in zip(runs, clocked)]
        for r, s in zip(told_of, stores):
            if s < len(runs) and not clocked[s][1]:
                r += told_of[s]
        return [(r, (t + c * between) * each) for r, (t, c) in zip(told_of, clocked) if c], int(re.search(r'stack (\d+)', text)[1])

    def emulate(self, image):
        """What it prints. An instruction takes 16 ns."""
        command = f'qemu-system-{MACHINES[self.name]} -icount shift=4,sleep=off -nodefaults -display none -serial stdio'
        if not self.name.startswith('rv'):
            command += ' -semihosting-config enable=on,target=native'
        return run(command.split() + ['-kernel', image], stdin=subprocess.DEVNULL, timeout=300)

    def models(self, paths):
        """Instructions of a frame of each, planned on the board. paths: models, and whether inputs must be positive."""
        with open(f'{self.folder}/models.S', 'w', encoding='utf-8') as f:
            print('.section .rodata.models, "a"', *(f'.balign 64\nbegin_{i}: .incbin "{p}"\nend_{i}:' for i, (p, _) in enumerate(paths)),
                  '.balign 8\n.global board_models\nboard_models:', sep='\n', file=f)
            word = '.8byte' if self.name.startswith(('virt', 'rv64')) else '.4byte'
            print(*(f'{word} begin_{i}, end_{i}, {int(positive)}' for i, (_, positive) in enumerate(paths)), f'{word} 0', sep='\n', file=f)
        with open('tests/boards/arrays.c', encoding='utf-8') as f:
            image = self.image('models', f.read(), [f'{self.folder}/models.S'])
        return [int(t) / int(h) * 1e9 / 16 for t, h in re.findall(r'ticks (\d+) hertz (\d+)', self.emulate(image))]


# ---- told beside found ---------------------------------------------------------------------------


def check(boards, networks):
    failures, crcs = 0, {}
    for name in boards.split(','):
        board = Board(name)
        for network in networks:
            path, size = network.rsplit(':', 1)
            t, f = told(name, path, size), board.network(path, size)
            flash, work = t['flash'] / f['flash'] - 1, (t['instructions'] or 0) / f['instructions'] - 1
            known = t['instructions'] is not None
            far = known and size and abs(work) > board.bound
            wrong = [what for what, bad in (('flash', abs(flash) > 0.05), ('RAM', t['ram_arena'] != f['ram_arena']),
                                            ('stack', f['stack'] > t['ram_stack']), ('instructions', far),
                                            ('CRC', crcs.setdefault(network, f['crc']) != f['crc'])) if bad]
            failures += len(wrong)
            print(f'{"not ok" if wrong else "ok"} {name} {os.path.basename(path)} {size}: flash {f["flash"]} {flash:+.1%}, RAM {f["ram_arena"]}, '
                  f'stack {f["stack"]} of {t["ram_stack"]}, instructions {f["instructions"]:.0f} '
                  f'{f"{work:+.1%}" if known else "not known"}, CRC {f["crc"]}{": " + ", ".join(wrong) if wrong else ""}', flush=True)
    sys.exit(failures != 0)


# ---- the table -----------------------------------------------------------------------------------


def operators():
    """Their names, by number."""
    text = open('engine/model_format.h', encoding='utf-8').read()
    found = {int(n): k for k, n in re.findall(r'MONA_OP_(\w+) = (\d+),', text) if k not in ('COUNT', 'MAX_INPUTS')}
    return [found[i] for i in range(len(found))]


def kernels(target):
    """Functions of the row kernels, by number."""
    table = open('engine/cpu/isa_table.h', encoding='utf-8').read()
    isa = re.search(rf'TARGET\("{re.escape(target)}", (\w+)\)', open('formats/compiler/program/cpu_target.h', encoding='utf-8').read())[1]
    depthwise, rows = re.search(rf'#define MONA_ISA_{isa}\s+(\w+), (\w+)', table).groups()
    whose = {'conv': isa, 'depthwise': depthwise, 'rows': rows}
    return [f'mona_{whose[w]}_{row}' for row, w in re.findall(r'KERNEL\((\w+), (\w+)\)', table) if w in whose]


def roots(board):
    """Symbols that a network as C may name, and their bits in firmware_budget.c."""
    ops = operators()
    found = {f'mona_run_{k.lower()}': 1 << i for i, k in enumerate(ops)}
    found['mona_run_conv_map'] = 1 << len(ops) + ops.index('CONV')
    found |= {k: 1 << 2 * len(ops) + i for i, k in enumerate(kernels(variable(f'TARGET_{board.name}')))}
    return found | {'mona_session_push_line': 1 << 63, 'mona_session_pull_line': 1 << 63}


ALWAYS = ['mona_session_start', 'mona_session_run', 'ac_target_host']


def linked(board, symbols):
    """Sections of the library that are linked with these, and their bytes with what aligns them."""
    path = f'{board.folder}/map'
    run([*board.compiler.split(), '-nostdlib', '-static', '-Wl,--gc-sections', f'-Wl,-Map={path}', f'-T{board.folder}/board.ld',
         *board.link[5:], *(f'-Wl,-u,{s}' for s in symbols), '-Wl,-e,' + symbols[0], '-o', f'{board.folder}/roots',
         f'{board.base}/libmona.a', f'{board.base}/apps/firmware/boards/common.o', '-lgcc', '-Wl,--unresolved-symbols=ignore-all'])
    text = open(path, encoding='utf-8').read()
    text = text[text.index('Linker script and memory map'):]
    wide = 16 if 'aarch64' in board.cross else 4
    found = {}
    for section, size, where in re.findall(r'^ (\.(?:text|rodata)\S*)\s+0x[0-9a-f]+\s+0x([0-9a-f]+)\s+(\S+)$', text, re.M):
        found[os.path.basename(where), section] = (int(size, 16) + wide - 1) // wide * wide
    return found


def code(board):
    """Bytes for each set of roots; 0: always."""
    always = linked(board, ALWAYS)
    size, mask = {}, {}
    for symbol, bit in roots(board).items():
        for key, count in linked(board, [*ALWAYS, symbol]).items():
            if key not in always:
                size[key] = count
                mask[key] = mask.get(key, 0) | bit
    sums = {0: sum(always.values())}
    for key, count in size.items():
        sums[mask[key]] = sums.get(mask[key], 0) + count
    return sums


def layout(board):
    """Bytes of what a network consists of."""
    names = {'op': 'plan_op', 'plan': 'mona_plan', 'conv': 'mona_conv', 'epilogue': 'mona_epilogue', 'isa': 'mona_isa', 'shape': 'mona_shape'}
    source = '#include "engine/run/plan.h"\n' + ''.join(f'char size_{k}[sizeof({t})];\n' for k, t in names.items())
    with open(f'{board.folder}/sizes.c', 'w', encoding='utf-8') as f:
        f.write(source)
    run([*board.compiler.split(), '-c', '-o', f'{board.folder}/sizes.o', f'{board.folder}/sizes.c'])
    found = {k: int(v, 16) for v, k in re.findall(r' ([0-9a-f]+) \w size_(\w+)', run([f'{board.cross}nm', '-S', f'{board.folder}/sizes.o']))}
    entries = {}
    for network, planes in (('sr_x2_fast', 2), ('denoise_fast', 7)):
        board.emit(network, '64x48')
        run([*board.compiler.split(), '-c', '-o', f'{board.folder}/net.o', f'{board.folder}/net.c'])
        text = run([f'{board.cross}size', '-A', f'{board.folder}/net.o'])
        entries[planes] = sum(int(n) for n in re.findall(r'^\.text\.net_(?:open|run|push|pull)\s+(\d+)', text, re.M))
    found['entry_plane'] = (entries[7] - entries[2]) // 5
    found['entry'] = entries[2] - 2 * found['entry_plane']
    return found


# What the costs are fitted to: operators alone, and networks.
SIZES = ['16x16', '48x24']
NETWORKS = ['sr_x2_tiny:32x24', 'sr_x2_fast:32x24', 'sr_x2_fast:64x16', 'denoise_fast:32x24', 'denoise_balanced:32x24', 'sr_x2_balanced:24x24',
            'sr_x2_best:24x16', 'sr_x4_fast:32x16', 'sr_x2_tiny:96x16', 'sr_x2_tiny:16x48', 'sr_x2_balanced:64x12', 'denoise_balanced:64x16',
            'sr_x2_fast:160x8', 'denoise_fast:128x16', 'denoise_fast:64x48', 'sr_x4_fast:96x12', 'sr_x3_fast:32x16', 'sr_x3_fast:96x8',
            'bicubic_x2:32x24', 'bicubic_x2:64x16']
# Networks of operators on arrays, each of one size.
ARRAYS = ['broadcast', 'casts', 'functions', 'mixed', 'moves', 'normalise', 'products', 'quantised', 'reduce', 'resize', 'windows']
HALVES = ['sr_x2_tiny', 'sr_x2_fast', 'denoise_fast']
# Depthwise convolutions between 1x1 ones, as in classifiers: side of the frame, kernel, and channels of each pair, of which the
# second halves the sides.
SEPARABLE = [(32, 3, (16, 32, 48)), (16, 3, (64, 64, 96)), (24, 5, (24, 40)), (40, 3, (8, 16, 24, 64))]
# Residual ones: side of the frame, channels of each block, which halves the sides, and what follows a sum: nothing, and the
# sum is in fp16 beside 8 bits. Every other block is depthwise.
RESIDUAL = [(64, (16, 16, 32, 64, 64, 96), 'relu'), (28, (24, 40, 64, 80, 128), 'relu'), (80, (32, 48, 80, 64), 'relu'),
            (52, (8, 16, 40), None)]


def compiled(folder, name, channels, side, build, types=('u8', 'f16')):
    """The network that `build` makes, in INT8 and in fp16. Needs Debian's python3-onnx."""
    sys.path.insert(0, 'tests/bench')
    from network import Net
    for kind in types:
        net = Net(name, channels, side, side, kind == 'u8')
        build(net)
        path = f'{folder}/{name}_{kind}'
        net.save(f'{path}.onnx')
        run([MONA, 'compile', f'{path}.onnx', '-o', f'{path}.mona'])
        yield f'{path}.mona', f'{side}x{side}'


def separable(folder):
    """Networks of SEPARABLE."""
    for number, (side, kernel, widths) in enumerate(SEPARABLE):
        def build(net, kernel=kernel, widths=widths):
            x = net.conv(net.x, widths[0], 3, act='relu')
            for i, c in enumerate(widths):
                x = net.conv(net.conv(x, x.channels, kernel, 1 + (i == 1), x.channels, 'relu'), c, act='relu')
            net.output(x)
        yield from compiled(folder, f'separable_{number}', 3, side, build)


def residual(folder):
    """Those of RESIDUAL, whose sides end at a few pixels."""
    for number, (side, widths, act) in enumerate(RESIDUAL):
        def build(net, widths=widths, act=act):
            x = net.x
            for i, c in enumerate(widths):
                x = net.conv(x, c, 3, 2, act='relu')
                x = net.add(net.conv(net.conv(x, c, 3, act='relu'), c, 3, 1, c if i % 2 else 1), x, act)
            net.output(net.conv(x, 10))
        yield from compiled(folder, f'residual_{number}', 3, side, build)


def resnet_8(net):
    x = net.conv(net.x, 16, 3, act='relu')
    for c in (16, 32, 64):
        stride = 1 if c == 16 else 2
        y = net.conv(net.conv(x, c, 3, stride, act='relu'), c, 3)
        x = net.add(y, x if stride == 1 else net.conv(x, c, 1, 2), 'relu')
    net.classes(x, 10)


def mobilenet_v2(net):
    from make_networks import inverted
    x = net.conv(net.x, 16, 3, 2, act='relu6')
    for expand, c, stride in ((1, 8, 1), (6, 16, 2), (6, 16, 1), (6, 24, 2), (6, 24, 1), (6, 32, 1), (6, 32, 1)):
        x = inverted(net, x, 3, x.channels * expand, c, stride, 'relu6')
    net.classes(net.conv(x, 96, act='relu6'), 10)


def ds_cnn(net):
    x = net.conv(net.x, 64, 3, 2, act='relu')
    for _ in range(4):
        x = net.conv(net.conv(x, 64, 3, 1, 64, 'relu'), 64, act='relu')
    net.classes(x, 12)


def residual_sr(net):
    first = x = net.conv(net.x, 24, 3)
    for _ in range(3):
        x = net.add(net.conv(net.conv(x, 24, 3, act='relu'), 24, 3), x)
    net.output(net.depth_to_space(net.conv(net.add(x, first), 12, 3), 2))


def residual_denoiser(net):
    """Two scales, and what is added to the picture."""
    wide = net.conv(net.x, 16, 3, act='lrelu')
    x = net.conv(wide, 32, 3, 2, act='lrelu')
    x = net.add(net.conv(net.conv(x, 32, 3, act='lrelu'), 32, 3), x)
    x = net.concat([net.depth_to_space(net.conv(x, 64), 2), wide])
    net.output(net.add(net.conv(net.conv(x, 16, 3, act='lrelu'), net.x.channels, 3), net.x))


# Channels and side of the picture, and the types that it is compiled for.
UNSEEN = [(resnet_8, 3, 32, ('u8', 'f16')), (mobilenet_v2, 3, 48, ('u8',)), (ds_cnn, 1, 32, ('u8',)), (residual_sr, 1, 28, ('u8', 'f16')),
          (residual_denoiser, 3, 40, ('u8', 'f16'))]


def unseen(folder):
    """Networks of UNSEEN, which no cost is fitted to."""
    for build, channels, side, types in UNSEEN:
        yield from compiled(folder, build.__name__, channels, side, build, types)


def sources(folder):
    """Models to measure: paths and sizes."""
    names = [line.split()[0] for line in run([f'{BUILD}/operators', folder]).splitlines()]
    for name in names:
        if not name.startswith('array'):
            yield from ((f'{folder}/{name}.mona', size) for size in SIZES)
    for name in HALVES:
        run([MONA, 'compile', f'models/{name}.onnx', '-o', f'{folder}/half_{name}.mona'])
        yield from ((f'{folder}/half_{name}.mona', size) for size in ('24x16', '16x24'))
    yield from separable(folder)
    yield from residual(folder)
    yield from (n.split(':') for n in NETWORKS)


def terms(rows):
    """What a frame's instructions are a sum of, but those of operators on arrays."""
    found = {}
    for r in rows:
        if 'arrays' in r['type']:
            continue
        key = (r['op'], r['variant'], int(r['type'] == 'f16'))
        for what in ('steps', 'padded', 'passes', 'runs', 'extra', 'elements', 'converted', 'rows', 'lines'):
            found[key + (what,)] = found.get(key + (what,), 0) + r[what]
        if r['function']:
            f = ('function', r['function'], key[2], 'elements')
            found[f] = found.get(f, 0) + r['elements']
    return found


def array_networks(folder):
    """Models of ARRAYS."""
    for name in ARRAYS:
        run([MONA, 'compile', f'tests/conformance/array_{name}/model.onnx', '-o', f'{folder}/{name}.mona'])
        yield f'{folder}/{name}.mona'


def array_terms(rows):
    """The same of the operators on arrays. Variants differ in what they do with elements, not in how they find them."""
    found = {}
    for r in rows:
        half = int(r['type'] == 'whole arrays')
        alike = ('runs', 'rows') if r['op'] in ('array_map', 'array_reduce') else ('runs',)
        for what, count in r.items() if 'arrays' in r['type'] else ():
            if what in ('steps', 'runs', 'extra', 'elements', 'rows'):
                key = (r['op'], 'ANY_VARIANT' if what in alike else r['variant'], half, what)
            elif what in ('once', 'pieces') or what.startswith(('read[', 'put[')):
                key = ('ANY_ARRAY', 'ANY_VARIANT', half, what)
            else:
                continue
            found[key] = found.get(key, 0) + count
    return found


def arrays(folder):
    """Models of operators on arrays, whether their inputs must be positive, and what they are a sum of."""
    for line in run([f'{BUILD}/array_costs', folder]).splitlines():
        path, size, what = line.split()
        yield (path, what == 'positive'), array_terms(told('an500', path, size)['operators'])


def fit(measured):
    """Least squares without negative costs. measured: terms, instructions, and what an error of these is compared with."""
    import numpy
    keys = sorted({k for t, *_ in measured for k, v in t.items() if v}, key=str)
    matrix = numpy.array([[t.get(k, 0) / whole for k in keys] for t, _, whole in measured])
    wanted = numpy.array([found / whole for _, found, whole in measured])
    scale = matrix.max(axis=0)
    matrix = matrix / scale
    # A little weight on small costs settles what these networks cannot tell apart. Each cost in turn is the best beside the
    # others, and at least 0, until none changes.
    square = matrix.T @ matrix + 1e-4 * numpy.eye(len(keys))
    right, cost = matrix.T @ wanted, numpy.zeros(len(keys))
    for _ in range(3000):
        before = cost.copy()
        for k in range(len(keys)):
            cost[k] = max(0, cost[k] + (right[k] - square[k] @ cost) / square[k, k])
        if abs(cost - before).max() < 1e-9:
            break
    errors = abs(matrix @ cost - wanted)
    print(f'# errors: mean {errors.mean():.1%}, worst {errors.max():.1%}', file=sys.stderr)
    found = {k: c / s for k, c, s in zip(keys, cost, scale)}
    for key in {k[:3] for k in keys if k[1] != 'ANY_VARIANT'}:  # what costs nothing beside others was measured all the same
        if not any(c for k, c in found.items() if k[:3] == key):
            found[key + ('elements',)] = 1e-3
    return found


STACKS = ('LAYOUT', 'stack'), ('LAYOUT', 'array_stack')
KEYS = {'LAYOUT': 1, 'PIXELS': 1, 'CODE': 1, 'COST': 4, 'FUNCTION': 2}  # before the columns
MACROS = ['OPERATORS', *KEYS]
COSTS = 'apps/compile/firmware_costs.inc'


def row_of(key):
    """Of what fit() found."""
    if key[0] == 'function':
        return ('FUNCTION', *map(str, key[1:3]))
    return ('COST', key[0] if key[0] == 'ANY_ARRAY' else 'MONA_OP_' + key[0].upper(), *map(str, key[1:]))


def costs_before():
    """Rows of the file and their columns."""
    found = {}
    for macro, text in re.findall(r'^(\w+)\((\w.*)\)$', open(COSTS, encoding='utf-8').read(), re.M):
        cells = text.split(', ')
        if macro in KEYS:
            found[(macro, *cells[:KEYS[macro]])] = dict(zip(BOARDS, cells[KEYS[macro]:]))
    return found


def is_measured(key):
    """What runs tell; the compiler and the linker tell the others."""
    return key[0] in ('COST', 'FUNCTION') or key in STACKS


def is_array(key):
    return key == STACKS[1] or key[0] == 'COST' and 'ARRAY' in key[1]


def is_own(rows):
    """Whether an operator has code of its own where SAME_CODE says what others have."""
    return rows[0]['op'] == 'conv' and rows[0]['type'] == '8-bit'


def in_steps(stack):
    return (stack + 255) // 256 * 256


def same_code(board, rows):
    """Costs that are those of another board. rows: of boards before it."""
    other = SAME_CODE.get(board.name)
    return {k: v[other] for k, v in rows.items() if other in v and k[0] in ('COST', 'FUNCTION')}


def maps_of(board, models, rows):
    """Costs of operators on maps, and their stack. An operator's error counts beside its network's instructions, too: small ones
    are told less well."""
    measured, stack, found = [], 0, {k: v for k, v in same_code(board, rows).items() if not is_array(k)}
    for path, size in models:
        each, used = board.operators(path, size)
        whole, stack = sum(n for _, n in each), max(stack, used)
        measured += [(terms(r), n, (n * whole) ** 0.5) for r, n in each if not found or is_own(r)]
    return found | {row_of(k): f'{cost:.4g}' for k, cost in fit(measured).items()} | {STACKS[0]: in_steps(stack)}


def arrays_of(board, models, rows):
    """The same of operators on arrays, without their stack."""
    found = {k: v for k, v in same_code(board, rows).items() if is_array(k)}
    if not found:
        instructions = board.models([m for m, _ in models])
        found = {row_of(k): f'{cost:.4g}' for k, cost in fit([(t, n, n) for (_, t), n in zip(models, instructions)]).items()}
    return found


def costs(chosen, arrays_alone):
    before = costs_before()
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        models = [] if arrays_alone else [tuple(s) for s in sources(folder)]
        on_arrays = list(arrays(folder))
        for name in BOARDS:
            print(f'# {name}', file=sys.stderr)
            old = {k: columns[name] for k, columns in before.items()}
            new = {k: v for k, v in old.items() if arrays_alone or is_measured(k)}
            board = Board(name) if name in chosen or not arrays_alone else None
            if name in chosen:
                new = {k: v for k, v in new.items() if arrays_alone and not is_array(k)}
                new |= arrays_of(board, on_arrays, rows)
                new[STACKS[1]] = in_steps(max(board.network(path, '')['stack'] for path in array_networks(folder)))
            if not arrays_alone:
                new |= {('CODE', f'0x{mask:x}'): size for mask, size in code(board).items()} | {('LAYOUT', k): n for k, n in layout(board).items()}
                new |= maps_of(board, models, rows) if name in chosen else {}
                new |= {('PIXELS', str(i)): n for i, n in enumerate(PIXELS.get(name, (0, 0)))}
            for key, value in new.items():
                rows.setdefault(key, {})[name] = str(value)
    write(rows)


def order(key):
    """Sizes as they were found, code by its number."""
    cells = [] if key[0] == 'LAYOUT' else [int(c, 0) if c[0].isdigit() else 255 if c == 'ANY_VARIANT' else c for c in key[1:]]
    return list(KEYS).index(key[0]), *cells


def write(rows):
    with open(COSTS, 'w', encoding='utf-8') as f:
        print('// SPDX-License-Identifier: Apache-2.0\n'
              '/* Written by tests/boards/networks.py: columns are the CPUs of FIRMWARE_CPU_LIST.\n'
              ' * firmware_budget.c defines those of the macros that it wants. */', file=f)
        for macro in MACROS:
            print(f'#ifndef {macro}\n#define {macro}(...)\n#endif', file=f)
        print(f'OPERATORS({len(operators())})', file=f)
        for key in sorted(rows, key=order):
            print(f'{key[0]}({", ".join([*key[1:], *(rows[key].get(name, "0") for name in BOARDS)])})', file=f)
        for macro in MACROS:
            print(f'#undef {macro}', file=f)


if __name__ == '__main__':
    verb, rest = sys.argv[1], sys.argv[4:]
    if verb == 'arrays':
        print(*(f'{path}:' for path in array_networks(sys.argv[3])))
        sys.exit()
    families = {'separable': separable, 'residual': residual, 'unseen': unseen}
    if verb in families:
        print(*(f'{path}:{size}' for path, size in families[verb](sys.argv[3])))
        sys.exit()
    check(rest[0], rest[1:]) if verb == 'check' else costs(rest[0].split(',') if rest else list(BOARDS), rest[1:] == ['arrays'])
