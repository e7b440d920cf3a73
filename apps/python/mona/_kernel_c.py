# SPDX-License-Identifier: Apache-2.0
"""A kernel's graph as C: a mona_kernel (mona_op.h) with plain loops, which compilers make vectors of."""
import re
import zlib

import numpy as np

from ._kernel_graph import FLOATS, exact, in_order, span

C_TYPES = {'u8': 'uint8_t', 's8': 'int8_t', 'u16': 'uint16_t', 's16': 'int16_t', 's32': 'int32_t', 'f16': 'uint16_t', 'f32': 'float'}

_TOP = '''// Written by mona.kernel from %s; changes belong there.
#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mona_op.h"

/* Each sum and product is rounded, on every CPU alike. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off", "no-trapping-math")
#else
#pragma STDC FP_CONTRACT OFF
#endif
#ifdef __GNUC__
#define ALWAYS_INLINE inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE inline
#endif
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" // a loop that does not become vectors
#define CELLS_ARE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define SHORT_LOOP
#else
#define CELLS_ARE_INDEPENDENT _Pragma("GCC ivdep")
#define SHORT_LOOP _Pragma("GCC unroll 4")
#endif
/* From what gcc does not know it subtracts. It writes 255 - x as ~x otherwise, and the instruction for that waits for the
 * last value of its register (AVX-512). */
#if defined(__GNUC__) && !defined(__clang__)
#define HIDE(x) __asm__("" : "+r"(x))
#else
#define HIDE(x) (void)(x)
#endif
/* What is not promoted to int where there is such a type: clang computes sums of short numbers in 32 bits otherwise. */
#if defined(__clang__) && defined(__BITINT_MAXWIDTH__)
__extension__ typedef _BitInt(16) short_int;
#else
typedef int16_t short_int;
#endif
/* Two bytes side by side. With AVX2 clang would interleave halves of vectors, and write twice as often. */
#if defined(__clang__) && defined(__AVX2__) && !defined(__AVX512BW__)
#define PUT_PAIR(to, a, b) __builtin_memcpy(to, &(const uint16_t){(uint16_t)((uint8_t)(a) | (uint8_t)(b) << 8)}, 2)
#else
#define PUT_PAIR(to, a, b) ((to)[0] = (a), (to)[1] = (b))
#endif
_Static_assert(FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 16, "floats must be computed as floats");
'''

_MAKE = '''
/* A multiple of 64 cells leaves no remainder, whatever the vectors: the last ones are made with some before, again. */
static void make_OUTPUT(const mona_kernel_call *call)
{
    const ptrdiff_t count = call->columns;
    if (count < 64)
        cells_OUTPUT(call, 0, count);
    else
        for (int last = 0; last <= (count % 64 != 0); last++)
            cells_OUTPUT(call, last ? count - 64 : 0, (last ? 64 : count) / 64 * 64);
}
'''


def _zipped(first):
    """Eight bytes from `first` on of either vector of 32, in each half of both."""
    return [i + of for half in (first, first + 16) for i in range(half, half + 8) for of in (0, 32)]


_HELPERS = {
    'zip_bytes': '''
/* Pairs of bytes of two rows. clang makes eight shuffles of one instruction's four with AVX2, unless it is told which. */
static inline void zip_bytes(uint8_t *restrict to, const uint8_t *restrict a, const uint8_t *restrict b, ptrdiff_t count)
{
    ptrdiff_t done = 0;
#if defined(__clang__) && defined(__AVX2__) && !defined(__AVX512BW__)
    typedef uint8_t bytes __attribute__((vector_size(32), aligned(1)));
#pragma clang loop unroll_count(4)
    for (const ptrdiff_t end = count / 32 * 32; done < end; done += 32) {
        const bytes x = *(const bytes *)(a + done), y = *(const bytes *)(b + done);
        const bytes low = __builtin_shufflevector(x, y, %s);
        const bytes high = __builtin_shufflevector(x, y, %s);
        *(bytes *)(to + 2 * done) = __builtin_shufflevector(low, high, %s);
        *(bytes *)(to + 2 * done + 32) = __builtin_shufflevector(low, high, %s);
    }
#endif
    SHORT_LOOP
    CELLS_ARE_INDEPENDENT
    for (ptrdiff_t i = done; i < count; i++)
        PUT_PAIR(to + 2 * i, a[i], b[i]);
}
''' % tuple(', '.join(map(str, of)) for of in (_zipped(0), _zipped(8), (*range(16), *range(32, 48)), (*range(16, 32), *range(48, 64)))),
    'near_s32': '''
/* Rounds half to even; |x| < 2^22: the last bit of 1.5 * 2^23 + x is worth 1. */
static inline int32_t near_s32(float x)
{
    const union {
        float sum;
        int32_t bits;
    } near = {x + 0x1.8p23f};
    return near.bits - 0x4b400000;
}
''',
    'least': '''
/* The lesser of two floats that are not negative: it has the lesser bits. For compilers that do not see a minimum in a
 * comparison of floats, for NaNs are among them. */
static inline float least(float x, float y)
{
    union {
        float number;
        int32_t bits;
    } a = {x}, b = {y};
    a.bits = a.bits < b.bits ? a.bits : b.bits;
    return a.number;
}
''',
    'to_s32': '''
/* Rounds half to even and saturates; a NaN is 0. In two parts, each as near_s32() wants it: the upper one is worth even
 * numbers, and what it leaves is exact. */
static inline int32_t to_s32(float x)
{
    const float low = x > -0x1p31f ? x : x == x ? -0x1p31f : 0;
    const float bound = low < 0x1.fffffep30f ? low : 0x1.fffffep30f;
    const int32_t upper = near_s32(bound * 0x1p-16f);
    const int32_t lower = near_s32(bound - (float)upper * 0x1p16f);
    return x >= 0x1p31f ? INT32_MAX : (int32_t)(((uint32_t)upper << 16) + (uint32_t)lower);
}
''',
    'from_f16': '''
static inline float from_f16(uint16_t half)
{
    const uint32_t bits = (uint32_t)(half & 0x7fff) << 13, exponent = bits & 0x0f800000;
    union {
        uint32_t bits;
        float number;
    } x = {bits + 0x38000000}, tiny = {bits + 0x38800000}; /* exponents of f32; 2^-14 more, which is no denormal number */
    tiny.number -= 0x1p-14f;
    x.bits = exponent ? exponent == 0x0f800000 ? bits + 0x70000000 : x.bits : tiny.bits;
    x.bits |= (uint32_t)(half & 0x8000) << 16;
    return x.number;
}
''',
    'to_f16': '''
/* Rounds half to even; what is larger becomes the largest number; there is one NaN. */
static inline uint16_t to_f16(float x)
{
    union {
        float number;
        uint32_t bits;
    } a = {x}, tiny;
    const uint32_t sign = a.bits >> 16 & 0x8000;
    a.bits &= 0x7fffffff;
    a.number = a.number < 65504 ? a.number : 65504;
    tiny.number = a.number + 0.5f; /* whose last bit is worth that of denormal numbers */
    const uint32_t rounded = (a.bits + 0xc8000fff + (a.bits >> 13 & 1)) >> 13;
    const uint32_t near = a.bits < 0x38800000 ? tiny.bits - 0x3f000000 : rounded;
    return (uint16_t)(x == x ? sign | near : 0x7e00);
}
''',
    'near_f16': '''
/* x rounded to what f16 has, half to even; |x| <= 65504. The last bit of 1.5 * 2^13 times the power of two in x, which is
 * 2^-14 at the least, is worth that of the f16 number. The sum of -0 would lose its sign. */
static inline float near_f16(float x)
{
    union {
        float number;
        uint32_t bits;
    } a = {x}, far = {x}, sum;
    far.bits &= 0x7f800000;
    far.bits = (int32_t)far.bits > 0x38800000 ? far.bits : 0x38800000;
    far.number *= 0x1.8p13f;
    sum.number = x + far.number;
    sum.number -= far.number;
    sum.bits |= a.bits & 0x80000000;
    return sum.number;
}
''',
    'positive': '''
/* The greater of x, no NaN, and 0, without the comparison of floats that compilers make branches of. */
static inline float positive(float x)
{
    union {
        float number;
        uint32_t bits;
    } a = {x};
    a.bits &= (a.bits >> 31) - 1;
    return a.number;
}
''',
    'bounded': '''
/* x, no NaN, or the nearest number that f16 has. */
static inline float bounded(float x)
{
    union {
        float number;
        uint32_t bits;
    } a = {x};
    const int32_t size = (int32_t)(a.bits & 0x7fffffff);
    a.bits = (a.bits & 0x80000000) | (uint32_t)(size < 0x477fe000 ? size : 0x477fe000);
    return a.number;
}
''',
    'wrap': '''
static inline int32_t wrap(uint32_t x)
{
    return (int32_t)x;
}
''',
    'add_u8': '''
static inline uint8_t add_u8(uint8_t full, uint8_t a, uint8_t b)
{
    const uint8_t room = (uint8_t)(full - a);
    return (uint8_t)(a + (b < room ? b : room));
}
''',
    'sub_u8': '''
static inline uint8_t sub_u8(uint8_t a, uint8_t b)
{
    return (uint8_t)((a > b ? a : b) - b);
}
''',
    'apart_u8': '''
static inline uint8_t apart_u8(uint8_t a, uint8_t b)
{
    return (uint8_t)((a > b ? a : b) - (a > b ? b : a));
}
''',
    'not_nan': '''
static inline float not_nan(float x)
{
    return x == x ? x : (float)NAN_OF_MONA;
}
''',
}

_PLACES = {'column': 'x', 'row': 'y', 'width': 'width', 'height': 'height'} # members of a call
_SIGNS = {'add': '+', 'sub': '-', 'mul': '*', 'div': '/', 'and': '&', 'or': '|', 'xor': '^', 'lt': '<', 'le': '<=',
          'eq': '==', 'both': '&&', 'either': '||'}


def identifier(name):
    """As formats/kernel_symbol.h has it."""
    own = f'_{zlib.crc32(name.encode()):08x}' if '_' in name else ''
    return 'mona_kernel_' + re.sub(r'\W', '_', name, flags=re.ASCII) + own


def _is_byte(n):
    return n.type == 's32' and 0 <= n.range[0] and n.range[1] <= 255


def _of_bytes(n):
    """The helper that computes an operation and its argument in 8 bits, and what it takes; or None."""
    for helper, op, inner, bound in (('add_u8', 'min', 'add', 255), ('sub_u8', 'max', 'sub', 0), ('apart_u8', 'abs', 'sub', None)):
        if n.op == op and n.args[0].op == inner and all(map(_is_byte, n.args[0].args)) and \
                (bound is None or n.args[1].range == (bound, bound)):
            return helper, n.args[0].args
    return None


class _Body:
    """The loop that makes one output."""

    def __init__(self, kernel, output):
        self.kernel, self.output = kernel, output
        self.pointers, self.lines, self.helpers = {}, [], set()
        self.before, self._alike = [], set() # what is the same in all cells
        self._names, self._places, self._spans = {}, set(), {}
        o = kernel.outputs[output]
        # Numbers that are f16 already are stored as they are computed.
        stored = [(at, n.args[0] if o.type == 'f16' else n) for at, n in sorted(kernel.stored[output].items())]
        zipped = self._zip(o, stored)
        stored = [s for s in stored if s[0][:2] not in zipped]
        for _, node in stored:
            self._order(node)
        for (plane, row, column), node in stored:
            to = self._pointer(f'out{plane}_{row}', o, f'outputs[{plane * o.cell[0] + row}]', '')
            value = self._names[node]
            if o.type in FLOATS:
                helper = 'not_nan' if o.type == 'f32' else 'to_f16'
                self.helpers.add(helper)
                value = f'{helper}({value})'
            value = f'({C_TYPES[o.type]}){value}'
            if o.type not in ('u8', 's8') or o.cell[1] != 2:
                self.lines.append(f'{to}[{self._at(o.cell[1], column)}] = {value};')
            elif column == 0:
                left = value
            else:
                self.lines.append(f'PUT_PAIR({to} + 2 * i, {left}, {value});')

    def _zip(self, o, stored):
        """Rows of results that are those of two inputs side by side."""
        found = set()
        for (at, left), (_, right) in zip(stored[::2], stored[1::2]):
            pair = [n.value[0] for n in (left, right) if n.op == 'sample']
            if o.type not in ('u8', 's8') or o.cell[1] != 2 or [i.type for i in pair] != [o.type] * 2 or any(i.cell[1] != 1 for i in pair):
                continue
            to = self._pointer(f'out{at[0]}_{at[1]}', o, f'outputs[{at[0] * o.cell[0] + at[1]}]', '')
            a, b = ('(const uint8_t *)&' + self._text(n, []).replace('[i', '[0') for n in (left, right))
            self.helpers.add('zip_bytes')
            self.before.append(f'zip_bytes((uint8_t *){to}, {a}, {b}, count);')
            found.add(at[:2])
        return found

    def _pointer(self, name, o, place, const):
        first = f'({const}{C_TYPES[o.type]} *)call->{place} + {self._at(o.cell[1], 0, "first")}' if o.planes else f'call->{place}'
        self.pointers[name] = f'{const}{C_TYPES[o.type]} *restrict {name} = {first};'
        return name

    @staticmethod
    def _at(step, offset, i='i'):
        i = i if step == 1 else f'{step} * {i}'
        return i if not offset else f'{i} {"+" if offset > 0 else "-"} {abs(offset)}'

    def _order(self, node):
        for n in in_order(node, self._names, lambda n: (_of_bytes(n) or (None, n.args))[1]):
            helper, args = _of_bytes(n) or (None, n.args)
            self._name(n, helper, [self._names[a] for a in args])

    def _name(self, n, helper, args):
        if helper == 'add_u8':
            if helper not in self.helpers:
                self.before += ['uint8_t full = 255;', 'HIDE(full);']
            args = ['full', *args]
        if helper:
            self.helpers.add(helper)
        text = f'{helper}({", ".join(args)})' if helper else self._text(n, args)
        if n.op == 'const':
            self._names[n] = text
            return
        self._names[n] = f't{len(self._names)}'
        alike = n.op != 'sample' and n.value != 'column' and all(a.op == 'const' or a in self._alike for a in n.args)
        if alike:
            self._alike.add(n)
        (self.before if alike else self.lines).append(f'const {self._type(n)} {self._names[n]} = {text};')

    @staticmethod
    def _type(n):
        """Short integers are short, so that more of them fit a vector."""
        if n.type != 's32':
            return 'float' if n.type == 'f32' else 'bool'
        if _is_byte(n):
            return 'uint8_t'
        return 'short_int' if n.range[0] >= -32768 and n.range[1] <= 32767 else 'int32_t'

    def _text(self, n, args):
        if n.op == 'const':
            if n.type == 'f32':
                text = float(np.float32(n.value)).hex() + 'f'
                return f'({text})' if text[0] == '-' else text
            return str(n.value) if n.value >= 0 else f'({n.value})' if n.value > -2 ** 31 else 'INT32_MIN'
        if n.op == 'sample':
            o, plane, row, column = n.value
            place = self.kernel.first(o) + plane * (2 * o.around[0] + 1) * o.cell[0] + row + o.around[0] * o.cell[0]
            return self._read(o, f'{self._pointer(f"in{place}", o, f"inputs[{place}]", "const ")}[{self._at(o.cell[1], column)}]')
        if n.op == 'entry':
            o, place = n.value[0], self.kernel.first(n.value[0])
            return self._read(o, f'{self._pointer(f"in{place}", o, f"inputs[{place}]", "const ")}[{args[0]}]')
        if n.op == 'place':
            self._places.add(n.value)
            return n.value + (' + (int32_t)i' if n.value == 'column' else '')
        if n.op == 'to_s32':
            small = n.args[0].range and -2 ** 22 < n.args[0].range[0] and n.args[0].range[1] < 2 ** 22
            helper = 'near_s32' if small else 'to_s32'
            self.helpers |= {helper, 'near_s32'}
            return f'{helper}({args[0]})'
        if n.op == 'to_f32':
            return f'(float){args[0]}'
        if n.op == 'to_f16':
            known = self._span(n.args[0])
            if known:
                self.helpers.add('near_f16')
                if max(map(abs, known)) <= 65504:
                    return f'near_f16({args[0]})'
                self.helpers.add('bounded')
                return f'near_f16(bounded({args[0]}))'
            self.helpers |= {'to_f16', 'from_f16'}
            return f'from_f16(to_f16({args[0]}))'
        if n.op == 'select':
            return f'{args[0]} ? {args[1]} : {args[2]}'
        if n.op == 'min' and n.type == 'f32' and all(a.range and a.range[0] >= 0 and a.range[1] > 0 for a in n.args):
            self.helpers.add('least')
            return f'least({args[0]}, {args[1]})'
        if n.op == 'max' and n.args[0].op == 'to_f16' and n.args[1].op == 'const' and not n.args[1].value and self._span(n.args[0]):
            self.helpers.add('positive')
            return f'positive({args[0]})'
        if n.op in ('min', 'max'):
            return f'{args[0]} {"<" if n.op == "min" else ">"} {args[1]} ? {args[0]} : {args[1]}'
        if n.op == 'not':
            return f'!{args[0]}'
        return self._arithmetic(n, args)

    def _span(self, n):
        for top in in_order(n, self._spans):
            self._spans[top] = span(top, self._spans)
        return self._spans[n]

    def _read(self, o, place):
        if o.type != 'f16':
            return place
        self.helpers.add('from_f16')
        return f'from_f16({place})'

    def _arithmetic(self, n, args):
        wraps = n.type == 's32' and not exact(n)
        if wraps:
            self.helpers.add('wrap')
            args = [f'(uint32_t){a}' for a in args]
        elif all(self._type(a) in ('uint8_t', 'short_int') for a in (n, *n.args)):
            args = [f'(short_int){a}' for a in args]
        else: # a short_int is not promoted: what is made of two is no longer
            args = [f'(int32_t){a}' if self._type(of) == 'short_int' else a for of, a in zip(n.args, args)]
        if n.op == 'abs':
            minus = f'wrap(0u - {args[0]})' if wraps else f'-{args[0]}'
            plain = args[0].replace('(uint32_t)', '', 1) if wraps else args[0]
            return f'{plain} < 0 ? {minus} : {plain}'
        if n.op == 'shr':
            return f'{args[0]} >> {n.value}'
        if n.op == 'shl': # as a product, which negative numbers have too
            by = f'({self._type(n)}){1 << n.value}' if n.value < 8 else f'{1 << n.value}'
            text = f'{args[0]} << {n.value}' if wraps else f'{args[0]} * {by}'
        else:
            text = f'{args[0]} {_SIGNS[n.op]} {args[1]}'
        return f'wrap({text})' if wraps else text

    def text(self):
        # Read before anything is written, for compilers cannot know that results are not part of the call.
        lines = [*self.pointers.values(),
                 *(f'const int32_t {p} = (int32_t)call->{_PLACES[p]}{" + (int32_t)first" if p == "column" else ""};'
                   for p in sorted(self._places)),
                 *self.before]
        if self.lines:
            lines += [*(['SHORT_LOOP'] if len(self.lines) <= 8 else []), 'CELLS_ARE_INDEPENDENT',
                      'for (ptrdiff_t i = 0; i < count; i++) {', *('    ' + line for line in self.lines), '}']
        return ''.join(f'    {line}\n' for line in lines)


def _operand(o):
    if not o.planes:
        return f'    {{.type = MONA_{o.type.upper()}, .elements = {o.elements}}}, /* {o.name} */\n'
    around = f', .around_rows = {o.around[0]}, .around_columns = {o.around[1]}' if any(o.around) else ''
    return f'    {{.type = MONA_{o.type.upper()}, .planes = {o.planes}, .cell_rows = {o.cell[0]}, ' \
           f'.cell_columns = {o.cell[1]}{around}}}, /* {o.name} */\n'


def source(kernel):
    """The whole file."""
    symbol = identifier(kernel.name)
    bodies = [_Body(kernel, name) for name in kernel.outputs]
    used = set().union(*(b.helpers for b in bodies))
    text = _TOP % kernel.name + ''.join(h for name, h in _HELPERS.items() if name in used)
    text = text.replace('(float)NAN_OF_MONA', '__builtin_nanf("")')
    for b in bodies:
        text += f'\nstatic ALWAYS_INLINE void cells_{b.output}(const mona_kernel_call *call, ptrdiff_t first, ptrdiff_t count)\n' \
                f'{{\n{b.text()}}}\n' + _MAKE.replace('OUTPUT', b.output)
    rows = ''.join(f'    {"else " if i else ""}if (call->output == {i})\n        make_{b.output}(call);\n'
                   for i, b in enumerate(bodies))
    text += f'\nstatic void row(const mona_kernel_call *call)\n{{\n{rows}}}\n'
    operands = ''.join(map(_operand, [*kernel.inputs.values(), *kernel.outputs.values()]))
    return text + f'\nstatic const mona_kernel_operand operands[] = {{\n{operands}}};\n\n' \
        f'extern const mona_kernel {symbol};\nconst mona_kernel {symbol} = {{\n    .name = "{kernel.name}",\n' \
        f'    .inputs = {len(kernel.inputs)},\n    .outputs = {len(kernel.outputs)},\n    .operands = operands,\n' \
        '    .row = row,\n};\n'
