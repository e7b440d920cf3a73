# SPDX-License-Identifier: Apache-2.0
"""A kernel's graph as instructions of an AI Core's vector unit, or sums for its cube, which engine/op/kernel_program.h describes.

A value is 32 bits a cell: an f32 number, an integer that an f32 number holds ('f', where its range allows that), or an
s32 number ('i'). Where f16 numbers do it is one of these, of which an instruction computes twice as many. What is the same in all cells is computed once. The unit has no shifts, comparisons or divisions:
what is composed here has the same bits, and what cannot be is refused."""
import struct
from collections import Counter

import numpy as np

from ._kernel_graph import Node, RANGES, exact, in_order, span

_EXACT = 2 ** 24  # up to here an f32 number holds every integer
_EXACT_HALF = 2 ** 11  # an f16 number
_NEAR = 2 ** 22   # and up to here one plus MAGIC, in its lowest bits
_MAGIC, _MAGIC_BITS = 1.5 * 2 ** 23, 0x4b400000
_SIGN, _QUIET_NAN = -2 ** 31, 0x7fc00000
_HELD, _MOST_HELD = 0x6600, 0x7bff - 0x6600  # the f16 number 1536, which engine/op/kernel_program.h explains; up to the largest one


class NoProgram(Exception):
    """What of a kernel an AI Core has no instructions for."""


def _bits(x):
    return struct.unpack('<I', struct.pack('<f', x))[0]


def _is_full(word):
    """Whether it is a value that is computed for each cell."""
    return isinstance(word, str) and word[0] == 'f'


def _next(word, by):
    return f'{word[0]}{int(word[1:]) + by}' if word and word[0] != 'u' else None


def _is_zero_of_nan(n):
    """x == x ? x : 0."""
    return n.op == 'select' and n.args[0].op == 'eq' and n.args[0].args == (n.args[1], n.args[1])


class Vectors:
    """The program of one output: lines of text."""
    NO_HALVES = 'numbers of f16'
    _APART = ('gather', 'spread')  # whose results lie elsewhere than what they are made of

    def __init__(self, kernel, name):
        self.kernel, self.lines = kernel, []
        self.inputs = list(kernel.inputs)
        self._made, self._count = {}, {'f': 0, 'u': 0, 's': 0}
        o = kernel.outputs[name]
        if any(i.type == 'f16' for i in kernel.inputs.values()):
            raise NoProgram('rows and tables of f16')
        if o.type not in ('u8', 's8', 's32', 'f32'):
            raise NoProgram(f'{name}: rows of {o.type} as results')
        stored = kernel.stored[name]
        self._spans, self._used, self._stored = {}, Counter(), set()
        self._same, self._halves, self._wholes, self._zeros = {}, {}, {}, {}
        for n in stored.values():
            self._find_spans(n)
            self._used.update(self._whole_sum(o, n)[1])
        for plane in range(o.planes):
            self._store(o, plane, {at: stored[at] for at in o.samples() if at[0] == plane})
        self._order()
        self._reuse()

    def _emit(self, *words):
        self.lines.append(list(words))

    # ---- values

    def _new(self, args):
        """A place for what is computed of these."""
        kind = 'u' if all(a[0] == 'u' for a in args) else 'f'
        self._count[kind] += 1
        return f'{kind}{self._count[kind] - 1}'

    def _do(self, op, *args):
        key = (op, *args)
        if key not in self._made:
            self._made[key] = self._new(args)
            self._emit(op, self._made[key], *args)
        return self._made[key]

    def _known(self, *words):
        """A uniform value that no instruction computes."""
        if words not in self._made:
            self._made[words] = self._new(())
            self._emit(words[0], self._made[words], *words[1:])
        return self._made[words]

    def _real(self, x):
        return self._known('const', _bits(x))

    def _int(self, x):
        return self._known('const', x & 0xffffffff)

    def _find_spans(self, n):
        for top in in_order(n, self._spans):
            self._spans[top] = span(top, self._spans)

    def _within(self, n, bound):
        span = self._spans[n]
        return span is not None and -bound <= span[0] and span[1] <= bound

    def _clamped(self, n):
        """The s32(x) that an integer is but for bounds, if x is too large for it and the bounds are not: x and these, from
        within."""
        bounds, top = [], n
        while top.op in ('min', 'max') and top.type == 's32' and top.args[1].op == 'const':
            bounds.insert(0, top)
            top = top.args[0]
        small = bounds and top.op == 'to_s32' and not self._within(top.args[0], _NEAR) and self._within(n, _NEAR)
        return (top.args[0], bounds) if small else (None, [])

    def _needed(self, n):
        x, _ = self._clamped(n)
        return [x] if x else n.args

    def _of(self, n, form=None):
        """The value of a node, whose arguments may be nested to any depth; an integer as `form` says, or as is best."""
        for top in in_order(n, self._made, self._needed):
            self._made[top] = self._bool(top) if top.type == 'bool' else \
                ('f', self._float(top)) if top.type == 'f32' else self._integer(top)
        own, value = self._made[n]
        return value if form in (None, own) else self._converted(n, own, value)

    def _converted(self, n, own, value):
        if n.op == 'const':
            return self._int(n.value) if own == 'f' else self._real(n.value)
        if not self._within(n, _NEAR):
            raise NoProgram(f'{n.op} of whole numbers up to {max(map(abs, self._spans[n]))} beside smaller ones')
        if own == 'f':
            return self._do('isub', self._do('add', value, self._real(_MAGIC)), self._int(_MAGIC_BITS))
        return self._do('sub', self._do('iadd', value, self._int(_MAGIC_BITS)), self._real(_MAGIC))

    def _near(self, x):
        """Rounded half to even, |x| < 2^22."""
        return self._do('sub', self._do('add', x, self._real(_MAGIC)), self._real(_MAGIC))

    # ---- integers

    def _is_float(self, n):
        """Whether f32 numbers compute an integer exactly."""
        fits = self._within(n, _EXACT)
        if n.op in ('const', 'place', 'to_s32', 'shr'):
            return fits
        if n.op in ('sample', 'entry'):
            return n.value[0].type != 's32'
        args = n.args[1:] if n.op == 'select' else n.args
        return fits and n.op not in ('and', 'or', 'xor') and all(self._made[a][0] == 'f' for a in args)

    def _integer(self, n):
        x, bounds = self._clamped(n)
        if x:
            return 'f', self._near(self._bounded(x, bounds))
        form = 'f' if self._is_float(n) else 'i'
        return form, getattr(self, '_make_' + n.op)(n, form)

    def _bounded(self, x, bounds):
        """Rounding keeps order, so bounds come first. Those of NaN are the bounds of 0."""
        value = self._of(x)
        if self._spans[x] is None and (bounds[0].op, bounds[0].args[1].value) != ('max', 0):
            value = self._do('and', value, self._not(self._nan(x)))
        for b in bounds:
            value = self._do(b.op, value, self._real(float(b.args[1].value)))
        return value

    def _make_const(self, n, form):
        return self._real(n.value) if form == 'f' else self._int(n.value)

    def _make_sample(self, n, form):
        o, plane, row, column = n.value
        key = ('sample', self.inputs.index(o.name), plane, row, column)
        if key not in self._made:
            self._made[key] = f's{self._count["s"]}'
            self._count['s'] += 1
            self._emit(*key)
        return self._made[key]

    def _make_entry(self, n, form):
        o, index = n.value[0], n.args[0]
        table = self.inputs.index(o.name)
        if index.op == 'const':
            return self._known('entry', table, index.value)
        value = self._of(index, 'i')
        if value[0] == 'u':
            raise NoProgram('an entry of a table whose index is the same everywhere, but computed')
        if not 3 <= o.elements <= 1024:
            raise NoProgram(f'a computed entry of {o.elements}; tables of 3 to 1024 have such')
        key = ('gather', value, table)
        if key not in self._made:
            self._made[key] = self._new((value,))
            self._emit('gather', self._made[key], value, table)
        return self._made[key]

    def _make_place(self, n, form):
        if n.value in ('width', 'height'):
            return self._known(n.value)
        key = ('place', n.value)
        if key not in self._made:
            self._made[key] = self._new(('f',))
            self._emit(n.value, self._made[key])
        return self._made[key]

    def _plain(self, n, form):
        return self._do(n.op if form == 'f' else 'i' + n.op, *(self._of(a, form) for a in n.args))

    _make_add = _make_sub = _make_min = _make_max = _make_mul = _plain

    def _make_shl(self, n, form):
        x = self._of(n.args[0], form)
        return self._do('mul', x, self._real(2.0 ** n.value)) if form == 'f' else self._do('imul', x, self._int(1 << n.value))

    def _make_abs(self, n, form):
        x = self._of(n.args[0], form)
        if n.type == 'f32': # of -0 it is -0
            return self._do('max', self._do('mul', x, self._real(-1.0)), x)
        return self._do('and', x, self._int(0x7fffffff)) if form == 'f' else self._do('imax', self._do('isub', self._int(0), x), x)

    def _shifted(self, x, by, range_):
        """What x / 2^by rounded down is rounded to nearest: less by nearly a half, which never is between two."""
        if max(map(abs, range_)) + 2 ** by > _EXACT / 2 or range_[1] >> by >= _NEAR or range_[0] >> by <= -_NEAR:
            raise NoProgram(f'>> of whole numbers up to {max(map(abs, range_))}; up to {_EXACT // 2 - 2 ** by} are shifted')
        return self._do('mul', self._do('sub', x, self._real(2.0 ** (by - 1) - 0.5)), self._real(2.0 ** -by))

    def _make_shr(self, n, form):
        if form == 'i':
            raise NoProgram(f'>> of whole numbers up to {max(map(abs, self._spans[n.args[0]]))}')
        x = self._of(n.args[0], 'f')
        return self._near(self._shifted(x, n.value, self._spans[n.args[0]])) if n.value else x

    def _make_and(self, n, form):
        return self._do('and', *(self._of(a, 'i') for a in n.args))

    def _make_or(self, n, form):
        return self._do('or', *(self._of(a, 'i') for a in n.args))

    def _make_xor(self, n, form):
        a, b = (self._of(x, 'i') for x in n.args)
        return self._do('isub', self._do('or', a, b), self._do('and', a, b))

    def _make_select(self, n, form):
        return self._select(n, form)

    def _make_to_s32(self, n, form):
        if not self._within(n.args[0], _NEAR):
            raise NoProgram('s32(...) of a float of unknown size; clamp it first')
        return self._near(self._of(n.args[0]))

    # ---- sums

    def _parts(self, n):
        """What an integer is a sum of: each with how often it counts; none: it is a term itself."""
        if not exact(n) or n.op not in ('add', 'sub', 'shl', 'mul') or (n.op == 'mul' and n.args[1].op != 'const'):
            return []
        times = 1 << n.value if n.op == 'shl' else n.args[1].value if n.op == 'mul' else 1
        return [(n.args[0], times)] + ([(n.args[1], 1 if n.op == 'add' else -1)] if n.op in ('add', 'sub') else [])

    def _linear(self, n):
        """An integer as a sum: of terms, each by how often it counts, and a constant."""
        parts, times, terms, rest = {}, Counter({n: 1}), {}, 0
        for top in in_order(n, parts, lambda n: [a for a, _ in self._parts(n)]):
            parts[top] = self._parts(top)
        for top in reversed(parts): # all that has it as a part comes before
            for a, by in parts[top]:
                times[a] += times[top] * by
            if top.op == 'const':
                rest += times[top] * top.value
            elif not parts[top] and times[top]:
                terms[top] = times[top]
        return terms, rest

    def _whole_sum(self, o, n):
        """What is stored as a sum / 2^by, rounded down, with the others added before: by, terms and constant. by 0: it is not
        one."""
        terms, rest = self._linear(self._unbounded(o, n)) if n.type == 's32' else ({}, 0)
        shifts = [t for t in terms if t.op == 'shr' and terms[t] == 1]
        if len(shifts) != 1 or not shifts[0].value or any(t.op == 'shr' for t in terms if t is not shifts[0]):
            return 0, {}, 0
        by = shifts[0].value
        inner, more = self._linear(shifts[0].args[0])
        for t, c in terms.items():
            if t is not shifts[0]:
                inner[t] = inner.get(t, 0) + (c << by)
        return by, {t: c for t, c in inner.items() if c}, more + (rest << by)

    def _rounded_sum(self, o, n):
        """That, as _byte has it; where sums are not exact the result is beyond what is stored. None: other sums are not, either."""
        by, terms, rest = self._whole_sum(o, n)
        rest = rest - 2 ** (by - 1) + 0.5
        order = sorted(terms, key=lambda t: -self._used[t]) # sums of what others need, too, come first
        if not by or by > 14 or not all(self._within(t, _EXACT) for t in order):
            return None
        low, high, bounds = rest, rest, []
        for t in order:
            part = sorted(terms[t] * x for x in self._spans[t])
            low, high = low + part[0], high + part[1]
            bounds.append(max(abs(low), abs(high), *(abs(x) / 2 for x in part)))
        if not bounds or bounds[-1] > 2 ** 30 or any(b > _EXACT / 2 for b in bounds[:-1]):
            return None
        total, scale = None, 2.0 ** -by
        for t in order:
            term = self._do('mul', self._of(t, 'f'), self._real(terms[t] * scale))
            total = self._do('add', term, self._real(rest * scale) if total is None else total)
        return True, total, (low * scale, high * scale)

    # ---- floats

    def _float(self, n):
        if n.op == 'to_f16':
            raise NoProgram(self.NO_HALVES)
        if n.op in ('const', 'sample', 'entry', 'select'):
            return getattr(self, '_make_' + n.op)(n, 'f')
        if n.op == 'to_f32':
            return self._positive(n.args[0])
        if n.op == 'div':
            return self._quotient(n)
        if n.op == 'abs':
            return self._make_abs(n, 'f')
        return self._do(n.op, *(self._of(a) for a in n.args))

    def _whole(self, n):
        for top in in_order(n, self._wholes):
            self._wholes[top] = top.value == int(top.value) if top.op == 'const' and top.type == 'f32' else \
                top.op == 'to_f32' or (top.op in ('add', 'sub', 'mul', 'min', 'max') and all(self._wholes[a] for a in top.args))
        return self._wholes[n]

    def _left(self, x, q, d):
        """x - q d, exactly: products of halves of 12 bits are exact. d: itself and its halves."""
        c = self._do('mul', q, self._real(4097.0))
        high = self._do('sub', c, self._do('sub', c, q))
        low, product = self._do('sub', q, high), self._do('mul', q, d[0])
        beyond = self._do('sub', self._do('mul', high, d[1]), product)
        for a, b in ((high, d[2]), (low, d[1]), (low, d[2])):
            beyond = self._do('add', beyond, self._do('mul', a, b))
        return self._do('sub', self._do('sub', x, product), beyond)

    def _quotient(self, n):
        """Of whole numbers by one that is the same in all cells: there is no division. By its reciprocal, which four steps
        of Newton make of a guess, nearly; then whichever of that and the next number leaves less."""
        spans = [self._spans[a] for a in n.args]
        x, d = (self._of(a) for a in n.args)
        if d[0] != 'u' or not all(map(self._whole, n.args)) or not spans[0] or not spans[1] or spans[0][0] < 0 or spans[1][0] < 1 \
                or spans[0][1] > 2.0 ** 60 or spans[1][1] > 2.0 ** 60:
            raise NoProgram('/, but of whole numbers that are not negative by one of at least 1 that is the same in all cells')
        r = self._do('isub', self._int(0x7ef311c7), d)
        for _ in range(4):
            r = self._do('mul', r, self._do('sub', self._real(2.0), self._do('mul', d, r)))
        c = self._do('mul', d, self._real(4097.0))
        high = self._do('sub', c, self._do('sub', c, d))
        parts = (d, high, self._do('sub', d, high))
        q = self._do('mul', x, r)
        q = self._do('add', q, self._do('mul', self._left(x, q, parts), r))
        left = self._left(x, q, parts)
        other = self._do('iadd', q, self._do('or', self._of_sign(left), self._int(1)))
        size = self._int(0x7fffffff)
        mask = self._of_sign(self._do('isub', self._do('and', self._left(x, other, parts), size), self._do('and', left, size)))
        return self._do('or', self._do('and', other, mask), self._do('and', q, self._not(mask)))

    def _may_be_minus_zero(self, n):
        """Whether the f32 number that holds an integer may be -0."""
        for top in in_order(n, self._zeros):
            self._zeros[top] = self._made_minus_zero(top) and top.range[0] <= 0 <= top.range[1]
        return self._zeros[n]

    def _made_minus_zero(self, n):
        args = n.args[1:] if n.op == 'select' else n.args
        if n.type != 's32' or n.op in ('const', 'sample', 'entry', 'place', 'shr', 'to_s32'):
            return False
        if n.op == 'mul' and any(a.range[0] < 0 for a in args):
            return True
        return (all if n.op == 'add' else any)(self._zeros[a] for a in (args[:1] if n.op == 'sub' else args))

    def _positive(self, n):
        """An integer as an f32 number that is not -0."""
        x = self._of(n, 'f')
        return self._do('add', x, self._real(0.0)) if self._may_be_minus_zero(n) else x

    # ---- choice, by masks: all bits of a value or none

    def _of_sign(self, x):
        return self._do('imax', self._do('and', x, self._int(_SIGN)), self._int(-1))

    def _of_difference(self, a, b):
        """Whether the bits differ."""
        d = self._do('isub', a, b)
        return self._of_sign(self._do('or', d, self._do('isub', self._int(0), d)))

    def _not(self, mask):
        return self._do('isub', self._int(-1), mask)

    def _less(self, a, b):
        if a.type == 's32' and self._made[a][0] == self._made[b][0] == 'f':
            return self._of_sign(self._do('sub', self._positive(a), self._of(b)))
        if a.type == 's32':
            x, y = self._of(a, 'i'), self._of(b, 'i')
            return self._of_difference(self._do('imax', y, x), x)
        x, y = self._of(a), self._of(b)
        return self._of_difference(self._do('max', y, x), x)

    def _nan(self, n):
        """Whether it is not a number, where its range does not tell."""
        x = self._of(n)
        return self._of_difference(self._do('max', x, self._real(float('-inf'))), x)

    def _bool(self, n):
        masks = [self._of(a) for a in n.args] if n.op in ('not', 'both', 'either') else None
        if masks:
            return 'i', self._not(masks[0]) if n.op == 'not' else self._do('and' if n.op == 'both' else 'or', *masks)
        a, b = n.args
        if n.op == 'lt':
            return 'i', self._less(a, b)
        apart = self._less(b, a)
        if n.op == 'eq':
            apart = self._do('or', apart, self._less(a, b)) if a is not b else self._int(0)
        for x in {a, b} if a.type == 'f32' else ():
            apart = self._do('or', apart, self._nan(x)) if self._spans[x] is None else apart
        return 'i', self._not(apart)

    def _select(self, n, form):
        test, a, b = n.args
        if test.op == 'lt' and {a, b} == set(test.args): # a < b ? a : b, and a > b
            return self._do(('min' if a is test.args[0] else 'max') if form == 'f' else
                            ('imin' if a is test.args[0] else 'imax'), self._of(a, form), self._of(b, form))
        mask = self._of(test)
        return self._do('or', self._do('and', self._of(a, form), mask), self._do('and', self._of(b, form), self._not(mask)))

    # ---- results

    def _store(self, o, plane, nodes):
        held, values = self._results(o, list(nodes.values()))
        self._emit('store', plane, int(held), *values)

    def _results(self, o, nodes):
        """The values of a plane's samples, each its own, and whether they are held: the lower half of each is an f16 number."""
        if o.type in ('u8', 's8'):
            found = [self._byte(o, n) for n in nodes]
            held = any(rounds for rounds, _, _ in found) and all(r and -_HELD <= r[0] and r[1] <= _MOST_HELD for _, _, r in found)
            values = [self._do('add', x, self._real(_MAGIC + _HELD)) if held else self._near(x) if rounds else x
                      for rounds, x, _ in found]
        else:
            held, values = False, [self._result(o, n) for n in nodes]
        return held, self._apart(values, 'or')

    def _apart(self, values, same):
        """Results, each with a place of its own. same: the instruction that makes x of x and x."""
        for i, x in enumerate(values):
            if x[0] != 'f' or x in self._stored:
                values[i] = self._new(('f',))
                self._emit(same, values[i], x, x)
            self._stored.add(values[i])
        return values

    def _result(self, o, n):
        if o.type == 'f32':
            x = self._of(n)
            if self._spans[n] is None: # there is one NaN
                nan = self._nan(n)
                x = self._do('or', self._do('and', x, self._not(nan)), self._do('and', self._int(_QUIET_NAN), nan))
        else:
            x = self._of(n, 'i')
        return x

    @staticmethod
    def _without(n, op, bound):
        return n.args[0] if n.op == op and n.args[1].op == 'const' and n.args[1].value == bound else n

    def _unbounded(self, o, n):
        low, high = RANGES[o.type]
        return self._without(self._without(n, 'min', high), 'max', low)

    def _scaled(self, n):
        """A product of an integer that is a multiple of 2, 4, ... with what is the same everywhere, of which that becomes a
        part. Only where the latter is not finite the results are others: NaN for 0, which are stored as the same."""
        if n.op == 'mul' and n.args[0].op == 'to_f32':
            whole, other = n.args[0].args[0], n.args[1]
            factor = 1
            while whole.op in ('mul', 'shl') and (whole.op == 'shl' or (whole.args[1].op == 'const' and whole.args[1].value in (2, 4, 8))) \
                    and exact(whole):
                factor *= 1 << whole.value if whole.op == 'shl' else whole.args[1].value
                whole = whole.args[0]
            value = self._of(other)
            if factor > 1 and value[0] == 'u' and self._within(whole, _EXACT):
                return self._do('mul', self._of(whole, 'f'), self._do('mul', value, self._real(float(factor))))
        return self._of(n)

    def _byte(self, o, n):
        """Whether a value is to be rounded, the value, and its range, or None. Where the store saturates, min and max are
        not needed."""
        low, high = RANGES[o.type]
        x = self._unbounded(o, n)
        total = self._rounded_sum(o, n)
        if total:
            return total
        if x.op == 'to_s32':
            y = self._without(self._without(x.args[0], 'min', high), 'max', low)
            y = y.args[1] if _is_zero_of_nan(y) else y
            return True, self._scaled(y), self._spans[y]
        if x.op == 'shr' and x.value: # saturated before it is shifted, where what is shifted is large
            y, by = self._of(x.args[0], 'f'), x.value
            least, most = self._spans[x.args[0]]
            if least < low - 1 << by and least < -_EXACT / 4:
                y, least = self._do('max', y, self._real(float(low - 1 << by))), low - 1 << by
            if most > high + 1 << by and most > _EXACT / 4:
                y, most = self._do('min', y, self._real(float(high + 1 << by))), high + 1 << by
            return True, self._shifted(y, by, (least, most)), (least >> by, (most >> by) + 1)
        self._of(x)
        found = x if self._made[x][0] == 'f' else n
        return False, self._of(found, 'f'), self._spans[found]

    # ---- order and places

    def _order(self):
        """What is stored one plane after the other, each with what it needs before. Values that one instruction may compute,
        as those of a plane's samples, are a pack: they are computed side by side and lie so."""
        line_of = {line[1]: line for line in self.lines if _is_full(line[1])}
        stores = [line for line in self.lines if line[0] == 'store']
        once = [line for line in self.lines if line[0] != 'store' and not _is_full(line[1])]
        self._packs = {v: tuple(line[3:]) for line in stores for v in line[3:]}
        done, self.lines = set(), sorted((line for line in once if line[0] == 'sample'), key=lambda line: line[1:])
        samples = {self._made[tuple(line)]: f's{i}' for i, line in enumerate(self.lines)}
        self.lines += [line for line in once if line[0] != 'sample']
        for store in stores:
            waiting = [(tuple(store[3:]), False)]
            while waiting:
                names, ready = waiting.pop()
                alone = ready or len(names) == 1
                if not alone and all(n not in done and self._packs.get(n, names) == names for n in names):
                    self._packs.update((n, names) for n in names)
                elif not alone:
                    waiting += [((n,), False) for n in names[::-1]]
                    continue
                lines = [line_of[n] for n in names if n not in done]
                if ready or not lines:
                    done.update(names)
                    self.lines += lines
                elif len({line[0] for line in lines}) > 1:
                    waiting += [((n,), False) for n in names[::-1]]
                else:
                    waiting.append((names, True))
                    for operands in list(zip(*(line[2:] for line in lines)))[::-1]:
                        distinct = tuple(dict.fromkeys(a for a in operands if _is_full(a)))
                        packed = len(distinct) == len(operands)
                        waiting += [(distinct, False)] if packed else [((a,), False) for a in distinct[::-1]]
            self.lines.append(store)
        self.lines = [[line[0], *(samples.get(w, w) for w in line[1:])] for line in self.lines]

    def _reuse(self):
        """Gives values that are computed in each tile few places, those of a pack side by side. They are free after the last
        use of a value, as are those of samples that are nobody's neighbours."""
        around = [any(o.around) for o in self.kernel.inputs.values()]
        taken_samples = [f's{i}' for i, line in enumerate(line for line in self.lines if line[0] == 'sample') if not around[line[1]]]
        last = {w: i for i, line in enumerate(self.lines) for w in line[1:] if isinstance(w, str) and w[0] in 'fs'}
        stored = {line[3]: tuple(line[3:]) for line in self.lines if line[0] == 'store' and len(line) > 4}
        place, owner, wishes, made, bases = {s: s for s in taken_samples}, [], {}, {}, {}
        for i, line in enumerate(self.lines): # values that are used for the last time where one of a pack is made
            names = self._packs.get(line[1], ())
            if len(names) > 1 and line[0] not in self._APART and all(_is_full(n) for n in names):
                k = names.index(line[1])
                made.setdefault(names, i)
                wishes.update((a, (names, k)) for a in line[2:] if _is_full(a) and last[a] == i and len(self._packs.get(a, (a,))) == 1)

        def free(count, by=-1):
            """Places side by side that no value has, or none from line `by` on."""
            first = 0
            while any(n and last[n] >= by for n in owner[first:first + count]):
                first += 1
            return first

        def wished(names, i):
            """Where a pack will lie that may take a value's place, or where it does, if nothing else is there."""
            pack, k = wishes.get(names[0], (names, 0)) if len(names) == 1 else (names, 0)
            base = bases.setdefault(pack, free(len(pack), made[pack])) if pack is not names else bases.get(names)
            if base is None:
                return None
            there = [(i + j, n) for j, n in enumerate(owner[base + k:base + k + len(names)]) if n]
            clear = all(n in self.lines[at][2:] and last[n] == at and self.lines[at][0] not in self._APART for at, n in there) and \
                tuple(line[1] for line in self.lines[i:i + len(names)]) == names
            return f'f{base + k}' if clear else None

        def taken(names, i):
            lines = self.lines[i:i + len(names)]
            at = wished(names, i)
            if at:
                return at
            if lines[0][0] not in self._APART and tuple(line[1] for line in lines) == names:
                for operands in zip(*(line[2:] for line in lines)): # what is used here for the last time gives its place
                    first = place.get(operands[0])
                    if first and (first[0] == 'f' or names != stored.get(names[0])) and \
                            all(place.get(a) == _next(first, k) and last[a] == i + k for k, a in enumerate(operands)):
                        return first
            return f'f{free(len(names))}'

        for i, line in enumerate(self.lines):
            to = line[1]
            if _is_full(to) and to not in place:
                names = self._packs.get(to, (to,))
                at = taken(names, i)
                place.update((n, _next(at, k)) for k, n in enumerate(names))
                if at[0] == 'f':
                    first = int(at[1:])
                    owner += [None] * (first + len(names) - len(owner))
                    owner[first:first + len(names)] = names
            for a in line[1:]:
                if _is_full(a) and last[a] == i and place[a][0] == 'f' and owner[int(place[a][1:])] == a:
                    owner[int(place[a][1:])] = None
        self.lines = [[place[w] if _is_full(w) else w for w in line] for line in self.lines]
        self.full = len(owner)

    def _merged(self):
        """Lines of which neighbours are one, with how many values it computes."""
        lines = []
        for line in self.lines:
            if line[0] == 'store':
                line = line[:4]
            before = lines[-1] if lines else [None]
            n = before[4] if len(before) == 5 else 1
            if line[0] == 'spread' and before[0] == 'spread' and line[2] == before[2] and line[1] == _next(before[1], before[3]):
                before[3] += 1
            elif line[0] == 'spread':
                lines.append([*line, 1])
            elif len(line) == 4 and before[0] == line[0] and line[0] not in ('store', 'gather', 'entry') and line[1][0] != 'u' and \
                    all(_next(a, n) == b or (a == b and a[0] == 'u') for a, b in zip(before[1:4], line[1:])) and \
                    not any(a[0] == before[1][0] and a != before[1] and abs(int(a[1:]) - int(before[1][1:])) <= n for a in before[2:4]):
                lines[-1] = [*before[:4], n + 1]
            else:
                lines.append(line)
        return lines

    def text(self, output):
        lines = [('program', output, self.full, self._count['u']), *self._merged()]
        return ''.join(' '.join(map(str, line)) + '\n' for line in lines)


class Halves(Vectors):
    """The same of f16 numbers: of what the language rounds to them, and of whole numbers that they hold."""
    NO_HALVES = 'f16(...) of others that are the same in all cells'

    def _whole_sum(self, o, n):
        return 0, {}, 0

    def _alike(self, n):
        """Whether a value is the same in all cells."""
        if n not in self._same:
            for top in in_order(n, self._same):
                self._same[top] = top.op != 'sample' and (top.op != 'place' or top.value in ('width', 'height')) \
                    and all(self._same[a] for a in top.args)
        return self._same[n]

    @staticmethod
    def _sampled(n):
        """The sample that a value is as an f16 number, or None."""
        rounded = n.op == 'to_f16'
        n = n.args[0] if rounded else n
        n = n.args[0] if n.op == 'to_f32' else n
        return n if n.op == 'sample' and n.value[0].type in ('u8', 's8', *(['u16'] if rounded else [])) else None

    # Of one sample of a cell, or of all: these are computed alike, and numbers that they have in common are spread.

    @staticmethod
    def _inner(n):
        return n.args[0] if n.op == 'to_f16' else n

    def _needed_halves(self, nodes):
        """What is computed before them, as f16 numbers."""
        if all(map(self._alike, nodes)):
            return []
        if len(nodes) > 1 and len(set(nodes)) == 1:
            return [nodes[:1]]
        if any(map(self._sampled, nodes)):
            return []
        if len({(n.op, n.value, n.type, self._inner(n).op, self._inner(n).value) for n in nodes}) > 1:
            raise NoProgram('samples of a cell that are computed differently')
        return list(zip(*(self._inner(n).args for n in nodes)))

    def _half(self, nodes):
        for top in in_order(nodes, self._halves, self._needed_halves):
            self._halves[top] = self._half_of(top)
        return self._halves[nodes]

    def _half_alike(self, n):
        if n.op == 'const' and abs(n.value) <= 65504 and float(np.float16(n.value)) == n.value:
            bits = int(np.float16(n.value).view(np.uint16))
            return self._known('const', bits << 16 | bits)
        x = n.args[0] if n.op == 'to_f16' else n
        if self._spans[x] is None or (x is n and (n.type != 's32' or not self._within(n, _EXACT_HALF))):
            raise NoProgram('a number that may be none of f16')
        return self._do('half', self._of(x, 'f'))

    def _half_of(self, nodes):
        alone = len(nodes) == 1
        if all(map(self._alike, nodes)):
            if len(set(nodes)) > 1:
                raise NoProgram('samples of a cell that are computed differently')
            return [self._half_alike(nodes[0])] * len(nodes)
        if not alone and len(set(nodes)) == 1:
            return self._spread(self._halves[nodes[:1]][0], len(nodes))
        samples = [self._sampled(n) for n in nodes]
        if any(samples):
            self._placed(samples)
            return [self._make_sample(n, 'f') for n in samples]
        args = [self._halves[a] for a in self._needed_halves(nodes)]
        return [self._half_one(n, [a[i] for a in args]) for i, n in enumerate(nodes)]

    def _placed(self, samples):
        """May refuse samples that do not lie as this program needs them."""

    def _half_one(self, n, args):
        inner = self._inner(n)
        rounded = inner.op in ('min', 'max') or (n.op == 'to_f16' and inner.op in ('add', 'sub', 'mul'))
        whole = inner.type == 's32' and self._within(inner, _EXACT_HALF)
        if inner.op == 'to_f32' and self._within(inner, _EXACT_HALF):
            return args[0]
        if inner.op in ('add', 'sub', 'mul', 'min', 'max') and (rounded or whole):
            return self._do('h' + inner.op, *args)
        if whole and inner.op == 'shl':
            return self._do('hmul', args[0], self._half_alike(_number(2.0 ** inner.value)))
        if whole and inner.op == 'abs':
            return self._do('hmax', args[0], self._do('hmul', args[0], self._half_alike(_number(-1.0))))
        raise NoProgram(self._no_half(inner))

    def _no_half(self, n):
        whole = n.args[0] if n.op == 'to_f32' else n
        if n.op == 'sample':
            return f'samples of {n.value[0].type}' + (' without f16(f32(...))' if n.value[0].type == 'u16' else '')
        if whole.type == 's32' and not self._within(whole, _EXACT_HALF):
            return f'whole numbers up to {max(map(abs, self._spans[whole]))}'
        return n.op + (' without f16(...)' if n.op in ('add', 'sub', 'mul') else '')

    def _results(self, o, nodes):
        if o.type not in ('u8', 's8'):
            raise NoProgram(f'results of {o.type}')
        return False, self._apart(self._rounded_halves([self._stored_of(o, n) for n in nodes]), 'hmax')

    def _rounded_halves(self, nodes):
        return [self._rounded_half((n,))[0] for n in nodes]

    def _rounded_half(self, nodes):
        """x >> by is x / 2^by less nearly a half, which is exact but beyond 8 bits."""
        by = nodes[0].value if all(n.op == 'shr' and n.value == nodes[0].value for n in nodes) else 0
        if not by or not all(self._within(n.args[0], _EXACT_HALF if by <= 2 else _EXACT_HALF / 2 - 2 ** (by - 1)) for n in nodes):
            return self._half(nodes)
        scaled = [self._do('hmul', x, self._half_alike(_number(2.0 ** -by))) for x in self._half(tuple(n.args[0] for n in nodes))]
        return [self._do('hadd', x, self._half_alike(_number(2.0 ** (-by - 1) - 0.5))) for x in scaled]

    def _stored_of(self, o, n):
        """What is rounded and saturated as it is stored."""
        low, high = RANGES[o.type]
        x = self._unbounded(o, n)
        if x.op != 'to_s32':
            return x
        y = self._without(self._without(x.args[0], 'min', high), 'max', low)
        return y.args[1] if _is_zero_of_nan(y) else y

    def text(self, output):
        return super().text(output).replace('\n', ' halves\n', 1)


class Rows(Halves):
    """The same of cells of several samples, all of which are computed alike: they stay as they lie in rows, so that samples
    and results need no transposes. What they have in common is computed once, in lanes, and spread."""

    def __init__(self, kernel, name):
        self._output, self._in_rows, self._in_lanes, self._spreads = kernel.outputs[name], set(), set(), 0
        if self._output.cell == (1, 1):
            raise NoProgram('cells of one sample')
        super().__init__(kernel, name)
        planes = self._output.planes + sum(kernel.inputs[i].planes for i in self._in_rows)
        if self._in_rows & self._in_lanes or self._spreads > planes or sum(line[0] == 'spread' for line in self._merged()) != self._spreads:
            raise NoProgram('more transposes than others')

    def _placed(self, samples):
        if not all(samples):
            raise NoProgram('samples of a cell that are computed differently')
        o, plane, *_ = samples[0].value
        if len(samples) == 1:
            self._in_lanes.add(o.name)
            return
        if o.cell != self._output.cell or any(o.around) or o.type == 'u16' or \
                [n.value for n in samples] != [(o, plane, y, x) for p, y, x in o.samples() if p == plane]:
            raise NoProgram('samples of other cells')
        self._in_rows.add(o.name)

    def _spread(self, value, count):
        self._spreads += 1
        names = [self._new(('f',)) for _ in range(count)]
        for n in names:
            self._emit('spread', n, value)
        return names

    def _rounded_halves(self, nodes):
        return self._rounded_half(tuple(nodes))

    def text(self, output):
        mask = sum(1 << self.inputs.index(name) for name in self._in_rows)
        return super().text(output).replace('\n', f' rows {mask}\n', 1)


class Sums(Halves):
    """Where each sample is f16(f32(a sum of samples, each an integer of times) * f16(what is the same in all cells)) the cube
    adds: ops/ascend/kernel_sums.h."""
    _FRACTALS = {'u8': dict.fromkeys(range(-127, 129), 1), 'u16': {1: 4, -1: 6, 2: 8}} # of weights, by what a sample counts
    _MOST_FRACTALS, _MOST_SOURCES = 128, 64

    def __init__(self, kernel, name):
        self._fractals = Counter() # of a row of results and one of samples
        super().__init__(kernel, name)
        if sum(self._fractals.values()) > self._MOST_FRACTALS or len({source for _, source in self._fractals}) > self._MOST_SOURCES:
            raise NoProgram('sums of too many rows')

    def _store(self, o, plane, nodes):
        if o.type not in ('u8', 's8') or sum(bool(i.planes) for i in self.kernel.inputs.values()) != 1:
            raise NoProgram(f'results of {o.type}, or several inputs')
        for (_, row, column), n in nodes.items():
            whole, scale = self._factors(self._stored_of(o, n))
            terms, rest = self._linear(whole)
            if rest or not any(terms.values()):
                raise NoProgram('sums of others than samples')
            for t, count in terms.items():
                if count:
                    pair = (plane, row), t.value[1:3] if t.op == 'sample' else None
                    self._fractals[pair] = max(self._fractals[pair], self._counted(o, t, count))
                    self._emit('term', plane, row, column, self._make_sample(t, 'f'), -count)
            self._emit('scale', plane, row, column, scale)

    def _counted(self, o, t, count):
        """Fractals of weights that a sample needs."""
        i = t.value[0] if t.op == 'sample' else None
        if not i or i.type not in self._FRACTALS or count not in self._FRACTALS[i.type]:
            raise NoProgram(f'{t.op} that counts {count} times')
        if i.cell[1] != o.cell[1] or 16 % o.cell[1] or i.around[1] * i.cell[1] * (2 if i.type == 'u16' else 1) > 8:
            raise NoProgram('samples of other cells')
        return self._FRACTALS[i.type][count]

    def _factors(self, x):
        """The sum, and minus what it is multiplied by."""
        product = x.args[0] if x.op == 'to_f16' else None
        if product is None or product.op != 'mul':
            raise NoProgram('no product that is rounded to f16')
        a, b = product.args if self._alike(product.args[1]) else product.args[::-1]
        inner = b.args[0] if b.op == 'to_f16' else b
        span = self._spans[inner]
        if a.op != 'to_f32' or not self._alike(b) or b.op not in ('to_f16', 'const') or not span or max(map(abs, span)) > 65504:
            raise NoProgram('no sum times a number of f16 that is the same in all cells')
        minus = _number(-b.value) if b.op == 'const' else \
            Node('to_f16', (Node('mul', (inner, _number(-1.0)), None, 'f32', None),), None, 'f32', None)
        self._find_spans(minus)
        return a.args[0], self._half_alike(minus)

    def text(self, output):
        return super().text(output).replace(' halves\n', ' sums\n', 1)


def _number(x):
    return Node('const', (), x, 'f32', (x, x))


def program(kernel, name, output):
    """The program of an output: of f16 numbers if they do."""
    for kind in Sums, Rows, Halves:
        try:
            return kind(kernel, name).text(output)
        except NoProgram as error:
            halves = str(error)
    try:
        return Vectors(kernel, name).text(output)
    except NoProgram as error:
        raise NoProgram(f'{error}: {halves}' if str(error) == Vectors.NO_HALVES else str(error)) from None
