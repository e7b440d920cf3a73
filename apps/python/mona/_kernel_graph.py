# SPDX-License-Identifier: Apache-2.0
"""A kernel's function as a graph of typed operations on 32-bit numbers, read from its source."""
import ast
import builtins
import inspect
import math
import textwrap

import numpy as np

RANGES = {'u8': (0, 255), 's8': (-128, 127), 'u16': (0, 65535), 's16': (-32768, 32767),
          's32': (-2 ** 31, 2 ** 31 - 1), 'f16': None, 'f32': None}
FLOATS = ('f16', 'f32')  # of operands; all are computed in f32
PLACES = ('column', 'row', 'width', 'height')  # names of the cell's place in the grid, and of the grid's size


class KernelError(Exception):
    """What is wrong with a kernel, as FILE:LINE:COLUMN: TEXT."""


class Node:
    """An operation: its arguments, the type of its result (s32, f32, bool), and the numbers that the result can be, or
    None where nothing is known (it may also be a NaN then)."""
    __slots__ = ('op', 'args', 'value', 'type', 'range')

    def __init__(self, op, args, value, type_, range_):
        self.op, self.args, self.value, self.type, self.range = op, args, value, type_, range_


def in_order(node, known, args=lambda n: n.args):
    """A node and what it depends on, to any depth, arguments first, but for what is known. Each is known by the time the
    next is asked for."""
    waiting = [node]
    while waiting:
        n = waiting[-1]
        missing = [] if n in known else [a for a in args(n) if a not in known]
        waiting += missing
        if not missing:
            waiting.pop()
            if n not in known:
                yield n


def _product(a, b):
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


# The range of integer results, from those of the arguments.
_RANGE = {
    'add': lambda a, b: (a[0] + b[0], a[1] + b[1]),
    'sub': lambda a, b: (a[0] - b[1], a[1] - b[0]),
    'mul': _product,
    'min': lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    'max': lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    'abs': lambda a: (0 if a[0] <= 0 <= a[1] else min(abs(a[0]), abs(a[1])), max(abs(a[0]), abs(a[1]))),
    'select': lambda c, a, b: (min(a[0], b[0]), max(a[1], b[1])),
    'and': lambda a, b: (0, min(a[1], b[1])) if a[0] >= 0 and b[0] >= 0 else RANGES['s32'],
}


def range_of(node, args):
    """The range of an operation without wrapping or rounding, from those of its arguments; None: it is not known."""
    if node.op in ('shl', 'shr'):
        return tuple(x << node.value if node.op == 'shl' else x >> node.value for x in args[0])
    if node.op == 'to_f32':
        return args[0]
    if node.op not in _RANGE or node.op == 'and':
        return None
    found = _RANGE[node.op](*args)
    low, high = RANGES['s32']
    return found if node.type == 'f32' or low <= found[0] and found[1] <= high else None


def exact(node):
    """Whether an integer result is never wrapped."""
    low, high = RANGES['s32']
    if node.op in ('shl', 'shr'):
        by = node.value
        return node.op == 'shr' or all(low <= x << by <= high for x in node.args[0].range)
    if node.op not in ('add', 'sub', 'mul', 'abs'):
        return True
    found = _RANGE[node.op](*(a.range for a in node.args))
    return low <= found[0] and found[1] <= high


def _rounded(low, high):
    """A range of exact results as one of f32 numbers; None: it is not finite."""
    return (float(np.float32(low)), float(np.float32(high))) if max(abs(low), abs(high)) < 2.0 ** 127 else None


def span(n, spans):
    """The range of a value, from those of its arguments: as Node.range, but also of sums and products of floats, of which
    C's minimum must not know, as they may be -0."""
    args = [spans[a] for a in n.args]
    if n.op == 'place' and n.value in ('width', 'height'):
        return 1, n.range[1]
    if n.type == 'bool' or n.op in ('const', 'sample', 'entry', 'place', 'div') or not args or None in args[-2:]:
        return n.range
    if n.op in ('add', 'sub', 'mul') and any(abs(x) == float('inf') for a in args for x in a):
        return n.range
    if n.op == 'mul' and n.args[0] is n.args[1]: # a square
        low, high = sorted(abs(x) for x in args[0])
        args = [(0 if args[0][0] <= 0 <= args[0][1] else low, high), (1, high)]
        found = (args[0][0] * args[0][0], high * high)
        return _rounded(*found) if n.type == 'f32' else found if found[1] <= RANGES['s32'][1] else n.range
    if n.op == 'to_f16':
        return tuple(float(np.float16(min(max(x, -65504), 65504))) for x in args[0])
    if n.op == 'to_s32':
        return (round(args[0][0]), round(args[0][1])) if max(map(abs, args[0])) < 2 ** 31 else n.range
    found = range_of(n, args)
    if found is None:
        return n.range
    return _rounded(*found) if n.type == 'f32' else found


class Graph:
    """The operations of a kernel. Equal ones are one node."""

    def __init__(self):
        self._nodes = {}

    def node(self, op, *args, value=None, type=None):
        type = type or args[-1].type
        if op == 'add' and type == 's32': # sums that begin with 0
            for one, other in (args, args[::-1]):
                if one.op == 'const' and not one.value:
                    return other
        if type == 's32' and op in ('min', 'max'): # where ranges tell which it is
            for one, other in (args, args[::-1]):
                if one.range[1] <= other.range[0] if op == 'min' else one.range[0] >= other.range[1]:
                    return one
        key = (op, tuple(map(id, args)), repr(value), type)
        if key not in self._nodes:
            made = Node(op, args, value, type, None)
            made.range = self._range(made)
            self._nodes[key] = made
        return self._nodes[key]

    def nodes(self):
        return self._nodes.values()

    @staticmethod
    def _range(n):
        known = [a.range for a in n.args]
        if n.type == 'bool':
            return None
        if n.op == 'const': # -0 is not what a minimum of bits takes it for
            return None if n.type == 'f32' and math.copysign(1, n.value) < 0 and not n.value else (n.value, n.value)
        if n.type == 'f32':
            if n.op == 'to_f32':
                return known[0]
            # Of min and max the second argument is the result where the first is a NaN.
            if n.op == 'min' and all(known):
                return _RANGE['min'](*known)
            if n.op == 'max' and known[1]:
                return _RANGE['max'](known[0] or (known[1][0], float('inf')), known[1])
            return None
        if n.op in ('sample', 'entry'):
            return RANGES[n.value[0].type]
        if n.op == 'place':
            return 0, 32768
        if n.op == 'to_s32':
            low, high = RANGES['s32']
            return (max(low, round(known[0][0])), min(high, round(known[0][1]))) \
                if known[0] and abs(known[0][0]) < 2 ** 31 and abs(known[0][1]) < 2 ** 31 else (low, high)
        if n.op == 'shr':
            return known[0][0] >> n.value, known[0][1] >> n.value
        if n.op == 'shl':
            return (known[0][0] << n.value, known[0][1] << n.value) if exact(n) else RANGES['s32']
        if n.op in _RANGE and exact(n):
            return _RANGE[n.op](*known)
        return RANGES['s32']

    def const(self, number, type):
        return self.node('const', value=float(np.float32(number)) if type == 'f32' else int(number), type=type)

    def half(self, x):
        """x rounded to what f16 has, and to its largest numbers where it is larger."""
        return x if x.op == 'to_f16' else self.node('to_f16', x)

    def saturate(self, x, type):
        """x rounded to whole numbers, and to the nearest that the type has; a NaN is 0."""
        low, high = RANGES[type]
        if x.type == 'f32':
            if low:
                x = self.node('select', self.node('eq', x, x, type='bool'), x, self.const(0, 'f32'))
            if type != 's32':
                x = self.node('min', self.node('max', x, self.const(low, 'f32')), self.const(high, 'f32'))
            x = self.node('to_s32', x, type='s32')
        if x.range[0] < low:
            x = self.node('max', x, self.const(low, 's32'))
        if x.range[1] > high:
            x = self.node('min', x, self.const(high, 's32'))
        return x


_BINARY = {ast.Add: 'add', ast.Sub: 'sub', ast.Mult: 'mul', ast.Div: 'div', ast.LShift: 'shl', ast.RShift: 'shr',
           ast.BitAnd: 'and', ast.BitOr: 'or', ast.BitXor: 'xor'}
_COMPARE = {ast.Lt: ('lt', False), ast.Gt: ('lt', True), ast.LtE: ('le', False), ast.GtE: ('le', True),
            ast.Eq: ('eq', False), ast.NotEq: ('ne', False)}


class Reader:
    """Reads the body of a function. Plain numbers of Python are constants until they meet a value of the graph."""
    MOST_STEPS = 1 << 16  # statements and parts of expressions, as often as loops repeat them
    WIDEST = 64           # bits of whole constants

    def __init__(self, function, inputs, outputs):
        self.graph = Graph()
        self.inputs, self.outputs = inputs, outputs
        self.stored = {name: {} for name in outputs}
        self._outer = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
        source, self._line = inspect.getsourcelines(function)
        text = textwrap.dedent(''.join(source))
        self._column = len(source[0]) - len(source[0].lstrip())
        self._file = inspect.getsourcefile(function)
        self._names = {}
        tree = next(n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef))
        self._tree, self._steps = tree, 0
        try:
            self._block(tree.body)
        except RecursionError:
            self._fail(self._last, 'expected fewer parts in one expression; give some of them names')
        for name, o in outputs.items():
            for at in o.samples():
                if at not in self.stored[name]:
                    self._fail(tree, f'expected an assignment to {name}[{", ".join(map(str, o.shown(at)))}], found none')

    def _fail(self, tree, text):
        raise KernelError(f'{self._file}:{tree.lineno + self._line - 1}:{tree.col_offset + self._column + 1}: {text}')

    def _step(self, tree):
        self._last = tree
        self._steps += 1
        if self._steps > self.MOST_STEPS:
            self._fail(tree, f'expected up to {self.MOST_STEPS} statements and parts of expressions, found more; loops are '
                       'written out')

    # ---- statements

    def _block(self, body):
        for statement in body:
            self._statement(statement)

    def _statement(self, s):
        self._step(s)
        if isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) and isinstance(s.value.value, str):
            return
        if isinstance(s, ast.Pass):
            return
        if isinstance(s, ast.Assign) and len(s.targets) == 1:
            listed = isinstance(s.value, (ast.Tuple, ast.List)) and isinstance(s.targets[0], ast.Name)
            self._assign(s.targets[0], self._list(s.value) if listed else self._value(s.value))
        elif isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
            self._assign(s.target, self._bounded(s, self._binary(s, s.op, self._name(s.target), self._value(s.value))))
        elif isinstance(s, ast.For) and not s.orelse:
            self._loop(s)
        else:
            self._fail(s, f'expected an assignment or a for loop over a range, found {type(s).__name__.lower()}'
                       + ('; write A if CONDITION else B' if isinstance(s, ast.If) else ''))

    def _loop(self, s):
        call = s.iter
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == 'range') \
                or not isinstance(s.target, ast.Name):
            self._fail(s.iter, 'expected for NAME in range(...)')
        self._language(call.func, 'range')
        bounds = [self._whole(a, 'a constant bound of the range') for a in call.args]
        if not 1 <= len(bounds) <= 3 or bounds[2:] == [0] or len(range(*bounds)[:257]) > 256:
            self._fail(s.iter, 'expected a range of up to 256 numbers')
        for i in range(*bounds):
            self._names[s.target.id] = i
            self._block(s.body)

    def _assign(self, target, value):
        if isinstance(target, ast.Name):
            if target.id in self.inputs or target.id in self.outputs:
                self._fail(target, f'expected {target.id}[...] = for an output, or a new name; found '
                           f'the {"input" if target.id in self.inputs else "output"} {target.id}')
            self._names[target.id] = value
            return
        if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
            self._fail(target, 'expected one name or OUTPUT[...] left of =')
        name = target.value.id
        if name not in self.outputs:
            self._fail(target, f'expected an output ({", ".join(self.outputs)}), found {name}')
        o = self.outputs[name]
        at = self._offsets(target, o)
        if at not in o.samples():
            self._fail(target, f'expected an offset in the cell of {o.cell[0]} x {o.cell[1]} samples, '
                       f'found {at[1]}, {at[2]}')
        if at in self.stored[name]:
            self._fail(target, f'expected one assignment to each sample of {name}, found a second')
        value = self._typed(target, value, 'f32' if o.type in FLOATS else None)
        if o.type in FLOATS and value.type != 'f32':
            self._fail(target, f'expected an f32 number for {name}, found {value.type}; write f32(...)')
        if value.type == 'bool':
            self._fail(target, f'expected a number for {name}, found a comparison; write 1 if ... else 0')
        self.stored[name][at] = value if o.type == 'f32' else self.graph.half(value) if o.type == 'f16' else \
            self.graph.saturate(value, o.type)

    # ---- expressions

    def _value(self, e):
        self._step(e)
        method = getattr(self, '_' + type(e).__name__.lower(), None)
        if not method:
            self._fail(e, f'expected an expression of numbers, found {type(e).__name__.lower()}')
        return self._bounded(e, method(e))

    def _bounded(self, e, value):
        if isinstance(value, int) and value.bit_length() > self.WIDEST:
            self._fail(e, f'expected whole numbers of up to {self.WIDEST} bits, found a larger one')
        return value

    def _list(self, e):
        """Values, and lists of them."""
        self._step(e)
        return [self._list(x) if isinstance(x, (ast.Tuple, ast.List)) else self._value(x) for x in e.elts]

    def _whole(self, e, what):
        value = self._value(e)
        if not isinstance(value, int):
            self._fail(e, f'expected {what}, found {self._kind(value)}')
        return value

    @staticmethod
    def _kind(value):
        if not isinstance(value, Node):
            return repr(value)
        return 'a comparison' if value.type == 'bool' else f'a computed {value.type} number'

    def _typed(self, e, value, like=None):
        """A node; a number of Python as `like` says, or by its own type."""
        if isinstance(value, Node):
            return value
        if like == 's32' and isinstance(value, float):
            self._fail(e, f'expected whole numbers, found {value!r} beside an s32 number; write f32(...) around that')
        type_ = like or ('f32' if isinstance(value, float) else 's32')
        low, high = RANGES['s32'] if type_ == 's32' else (-3.4e38, 3.4e38)
        if not low <= value <= high:
            self._fail(e, f'expected a number of 32 bits, found {value}')
        return self.graph.const(value, type_)

    def _together(self, e, *values):
        """Values of one type."""
        like = next((v.type for v in values if isinstance(v, Node)), None)
        if like is None:
            like = 'f32' if any(isinstance(v, float) for v in values) else 's32'
        nodes = [self._typed(e, v, like) for v in values]
        types = sorted({n.type for n in nodes})
        if 'bool' in types:
            self._fail(e, 'expected numbers, found a comparison')
        if len(types) > 1:
            self._fail(e, 'expected numbers of one type, found s32 and f32; write f32(...) or s32(...)')
        return nodes

    def _condition(self, e, value):
        if not isinstance(value, Node) or value.type != 'bool':
            self._fail(e, f'expected a comparison, found {self._kind(value)}')
        return value

    def _constant(self, e):
        if type(e.value) not in (int, float):
            self._fail(e, f'expected a number, found {e.value!r}')
        return e.value

    def _name(self, e):
        name = e.id
        if self._listed(e) is not None:
            self._fail(e, f'expected {name}[...], found {name} alone')
        if name in self._names:
            return self._names[name]
        if name in self.inputs or name in self.outputs:
            self._fail(e, f'expected {name}[...], found {name} alone' if name in self.inputs else
                       f'expected an input or a name, found the output {name}, which cannot be read')
        if name in PLACES:
            self._language(e, name)
            return self.graph.node('place', value=name, type='s32')
        if type(self._outer.get(name)) in (int, float):
            return self._outer[name]
        self._fail(e, f'expected a name that was assigned before, found {name}')

    def _language(self, e, name):
        """Refuses a name of the language that stands for something else here."""
        found = self._names.get(name, self._outer.get(name, name))
        if found != name if isinstance(found, str) else \
                found is not getattr(builtins, name, None) and getattr(found, '__module__', None) != 'mona.kernel':
            self._fail(e, f'expected {name} as kernels have it, found something of the file that is called so; call that otherwise')

    def _binop(self, e):
        return self._binary(e, e.op, self._value(e.left), self._value(e.right))

    def _no_operator(self, e, operator):
        self._fail(e, f'expected + - * / << >> & | ^, found {type(operator).__name__}; divide whole numbers by shifts')

    def _folded(self, e, operator, a, b):
        """Of two numbers of Python."""
        op = _BINARY.get(type(operator))
        if isinstance(a, int) and isinstance(b, int) and \
                (isinstance(operator, ast.LShift) or (isinstance(operator, ast.Pow) and abs(a) > 1)):
            b = min(b, self.WIDEST + 1)  # which is too large, too
        if isinstance(operator, (ast.FloorDiv, ast.Mod, ast.Pow)) and b:
            return a // b if isinstance(operator, ast.FloorDiv) else a % b if isinstance(operator, ast.Mod) else a ** b
        if not op:
            self._no_operator(e, operator)
        if op == 'div':
            if not b:
                self._fail(e, 'expected a divisor, found 0')
            return a / b
        if isinstance(a, float) or isinstance(b, float):
            if op not in ('add', 'sub', 'mul'):
                self._fail(e, 'expected whole numbers, found a float')
        return {'add': lambda: a + b, 'sub': lambda: a - b, 'mul': lambda: a * b, 'shl': lambda: a << b,
                'shr': lambda: a >> b, 'and': lambda: a & b, 'or': lambda: a | b, 'xor': lambda: a ^ b}[op]()

    def _binary(self, e, operator, a, b):
        op = _BINARY.get(type(operator))
        if not isinstance(a, Node) and not isinstance(b, Node):
            try:
                made = self._folded(e, operator, a, b)
            except (ArithmeticError, ValueError) as error:
                self._fail(e, f'expected a number, found none: {error}')
            if isinstance(made, complex):
                self._fail(e, f'expected a real number, found {made}')
            return made
        if not op:
            self._no_operator(e, operator)
        if op in ('shl', 'shr'):
            if not isinstance(b, int) or not 0 <= b <= 31:
                self._fail(e, f'expected a shift by a constant from 0 to 31, found {self._kind(b)}')
            self._integers(e, [a])
            return self.graph.node(op, a, value=b)
        nodes = self._together(e, a, b)
        if op == 'div' and nodes[0].type != 'f32':
            self._fail(e, 'expected f32 numbers to divide, found s32; use a shift, or f32(...)')
        if op in ('and', 'or', 'xor'):
            self._integers(e, nodes)
        return self.graph.node(op, *nodes)

    def _integers(self, e, nodes):
        for n in nodes:
            if n.type != 's32':
                self._fail(e, f'expected whole numbers, found {self._kind(n)}')

    def _unaryop(self, e):
        value = self._value(e.operand)
        if isinstance(e.op, ast.Not):
            return not value if isinstance(value, bool) else self.graph.node('not', self._condition(e, value))
        if isinstance(value, float) and isinstance(e.op, ast.Invert):
            self._fail(e, 'expected whole numbers, found a float')
        if not isinstance(value, Node):
            return -value if isinstance(e.op, ast.USub) else ~value if isinstance(e.op, ast.Invert) else value
        if isinstance(e.op, ast.Invert):
            self._integers(e, [value])
            return self.graph.node('xor', value, self.graph.const(-1, 's32'))
        if isinstance(e.op, ast.USub):
            node, = self._together(e, value)
            # 0 - x would lose the sign of a zero.
            return self.graph.node('mul', node, self.graph.const(-1, 'f32')) if node.type == 'f32' else \
                self.graph.node('sub', self.graph.const(0, 's32'), node)
        return value

    def _compare(self, e):
        if len(e.ops) != 1 or type(e.ops[0]) not in _COMPARE:
            self._fail(e, 'expected one of < <= > >= == !=')
        op, swapped = _COMPARE[type(e.ops[0])]
        a, b = self._value(e.left), self._value(e.comparators[0])
        if not isinstance(a, Node) and not isinstance(b, Node):
            a, b = (b, a) if swapped else (a, b)
            return {'lt': a < b, 'le': a <= b, 'eq': a == b, 'ne': a != b}[op]
        a, b = self._together(e, a, b)
        a, b = (b, a) if swapped else (a, b)
        if op == 'ne':
            return self.graph.node('not', self.graph.node('eq', a, b, type='bool'))
        return self.graph.node(op, a, b, type='bool')

    def _boolop(self, e):
        """Constants end it, or are left out."""
        ends, result = isinstance(e.op, ast.Or), None
        for v in e.values:
            value = self._value(v)
            if value is ends:
                return ends
            if value is not (not ends):
                node = self._condition(v, value)
                result = node if result is None else self.graph.node('either' if ends else 'both', result, node)
        return not ends if result is None else result

    def _ifexp(self, e):
        test = self._value(e.test)
        if isinstance(test, bool):
            return self._value(e.body if test else e.orelse)
        return self._select(e, test, self._value(e.body), self._value(e.orelse))

    def _select(self, e, condition, a, b):
        if isinstance(condition, bool):
            return a if condition else b
        return self.graph.node('select', self._condition(e, condition), *self._together(e, a, b))

    def _offsets(self, e, o):
        """Plane, row and column of a sample."""
        given = e.slice.elts if isinstance(e.slice, ast.Tuple) else [e.slice]
        wanted = 2 if o.planes == 1 else 3
        if len(given) != wanted:
            self._fail(e, f'expected {"[row, column]" if wanted == 2 else "[plane, row, column]"}, '
                       f'found {len(given)} numbers')
        at = tuple(self._whole(g, 'a constant offset') for g in given)
        plane, row, column = at if wanted == 3 else (0, *at)
        if not 0 <= plane < o.planes:
            self._fail(e, f'expected a plane from 0 to {o.planes - 1}, found {plane}')
        if max(abs(row // o.cell[0]), abs(column // o.cell[1])) > 8:
            self._fail(e, f'expected an offset of up to 8 cells, found {row}, {column}')
        return plane, row, column

    def _listed(self, e):
        """The list that a name or an entry of lists is; None: it is none."""
        if isinstance(e, ast.Name) and e.id not in self.inputs:
            found = self._names.get(e.id, self._outer.get(e.id))
        else:
            found = isinstance(e, ast.Subscript) and self._entry(e)
        return found if isinstance(found, (tuple, list)) else None

    def _entry(self, e):
        """An entry of a list; None: it is one of something else."""
        listed = self._listed(e.value)
        if listed is None:
            return None
        index = self._whole(e.slice, 'a constant index')
        if not -len(listed) <= index < len(listed):
            self._fail(e, f'expected an index from 0 to {len(listed) - 1}, found {index}')
        return listed[index]

    def _subscript(self, e):
        entry = self._entry(e)
        if isinstance(entry, Node) or type(entry) in (int, float):
            return entry
        if entry is not None:
            self._fail(e, f'expected a number, found {entry!r}')
        name = e.value.id if isinstance(e.value, ast.Name) else None
        if name in self.outputs:
            self._fail(e, f'expected an input, found the output {name}, which cannot be read')
        if name not in self.inputs:
            self._fail(e, f'expected an input ({", ".join(self.inputs)}), or a tuple or list, before [')
        o = self.inputs[name]
        type_ = 'f32' if o.type in FLOATS else 's32'
        if o.planes:
            return self.graph.node('sample', value=(o, *self._offsets(e, o)), type=type_)
        index = self._value(e.slice)
        if isinstance(index, int) and not 0 <= index < o.elements:
            self._fail(e, f'expected an index from 0 to {o.elements - 1}, found {index}')
        index = self._typed(e, index, 's32')
        self._integers(e, [index])
        last = o.elements - 1
        if index.range[0] < 0:
            index = self.graph.node('max', index, self.graph.const(0, 's32'))
        if index.range[1] > last:
            index = self.graph.node('min', index, self.graph.const(last, 's32'))
        return self.graph.node('entry', index, value=(o,), type=type_)

    def _call(self, e):
        name = e.func.id if isinstance(e.func, ast.Name) else None
        counts = {'min': (2, 16), 'max': (2, 16), 'clamp': (3, 3), 'abs': (1, 1), 'select': (3, 3),
                  **{t: (1, 1) for t in RANGES}}
        if name not in counts:
            self._fail(e, f'expected one of {", ".join(counts)}, found {name or "another call"}')
        self._language(e, name)
        least, most = counts[name]
        if e.keywords or not least <= len(e.args) <= most:
            self._fail(e, f'expected {least if least == most else f"{least} to {most}"} arguments of {name}, '
                       f'found {len(e.args)}')
        args = [self._value(a) for a in e.args]
        if name == 'select':
            return self._select(e, *args)
        if name not in RANGES and not any(isinstance(a, Node) for a in args):
            return self._chosen(name, *args)
        nodes = self._together(e, *args)
        if name in RANGES:
            if name not in FLOATS:
                return self.graph.saturate(nodes[0], name)
            number = nodes[0] if nodes[0].type == 'f32' else self.graph.node('to_f32', nodes[0], type='f32')
            return number if name == 'f32' else self.graph.half(number)
        if name == 'abs':
            return self.graph.node('abs', nodes[0])
        if name == 'clamp':
            return self.graph.node('min', self.graph.node('max', nodes[0], nodes[1]), nodes[2])
        result = nodes[0]
        for n in nodes[1:]:
            result = self.graph.node(name, result, n)
        return result

    @staticmethod
    def _chosen(name, first, *others):
        """Of plain numbers, as rows choose."""
        if name == 'abs':
            return -first if first < 0 else first
        for i, other in enumerate(others):
            larger = name == 'max' or (name == 'clamp' and not i)
            first = first if (first > other if larger else first < other) else other
        return first
