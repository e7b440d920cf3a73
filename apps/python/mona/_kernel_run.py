# SPDX-License-Identifier: Apache-2.0
"""A kernel's graph computed by numpy, for all cells at once: what its rows in C are held to."""
import numpy as np

from ._kernel_graph import FLOATS, RANGES, in_order

_INT, _FLOAT = np.int32, np.float32


def _to_s32(x):
    """Rounds half to even and saturates; a NaN is 0."""
    low, high = RANGES['s32']
    wide = np.clip(np.rint(x).astype(np.float64), low, high)
    return np.where(np.isnan(x), 0, wide).astype(_INT)


def _to_f16(x):
    return np.clip(x, -65504, 65504).astype(np.float16).astype(_FLOAT)


_OPERATIONS = {
    'add': np.add, 'sub': np.subtract, 'mul': np.multiply, 'div': np.divide, 'and': np.bitwise_and,
    'or': np.bitwise_or, 'xor': np.bitwise_xor, 'not': np.logical_not, 'both': np.logical_and,
    'either': np.logical_or, 'lt': np.less, 'le': np.less_equal, 'eq': np.equal, 'select': np.where,
    'min': lambda a, b: np.where(a < b, a, b), 'max': lambda a, b: np.where(a > b, a, b),
    'abs': lambda a: np.where(a < 0, -a, a), 'to_f32': lambda a: a.astype(_FLOAT), 'to_s32': _to_s32, 'to_f16': _to_f16,
}


class Run:
    """One computation. arrays: by name, as [plane, row, column], or tables."""

    def __init__(self, kernel, arrays, rows, columns):
        self._arrays, self._rows, self._columns = arrays, rows, columns
        self._known = {}
        self.outputs = []
        with np.errstate(all='ignore'):
            for name, o in kernel.outputs.items():
                made = np.empty((o.planes, rows * o.cell[0], columns * o.cell[1]), o.dtype)
                for (plane, row, column), node in kernel.stored[name].items():
                    value = self._of(node)
                    if o.type in FLOATS:
                        value = np.where(np.isnan(value), o.dtype.type(np.nan), value.astype(o.dtype))
                    made[plane, row::o.cell[0], column::o.cell[1]] = value
                self.outputs.append(made[0] if o.planes == 1 else made)

    def _of(self, node):
        for n in in_order(node, self._known):
            self._known[n] = self._compute(n, [self._known[a] for a in n.args])
        return self._known[node]

    def _compute(self, n, args):
        number = _FLOAT if n.type == 'f32' else _INT
        if n.op == 'const':
            return np.full((1, 1), n.value, number)
        if n.op == 'sample':
            o, plane, row, column = n.value
            at = [np.clip(np.arange(count) + offset // cell, 0, count - 1) * cell + offset % cell
                  for count, offset, cell in ((self._rows, row, o.cell[0]), (self._columns, column, o.cell[1]))]
            return self._arrays[o.name][plane][np.ix_(*at)].astype(number)
        if n.op == 'entry':
            return self._arrays[n.value[0].name][args[0]].astype(number)
        if n.op == 'place':
            return {'row': np.arange(self._rows, dtype=_INT)[:, None],
                    'column': np.arange(self._columns, dtype=_INT)[None, :],
                    'height': np.full((1, 1), self._rows, _INT),
                    'width': np.full((1, 1), self._columns, _INT)}[n.value]
        if n.op in ('shl', 'shr'):
            return (np.left_shift if n.op == 'shl' else np.right_shift)(args[0], _INT(n.value))
        return _OPERATIONS[n.op](*args)
