"""An independent reading of formulas: Python's own `eval` over fractions, so that no line of the kernel is shared.

Irrational functions are evaluated with mpmath at 60 digits; a comparison that those digits cannot decide raises.
Witnesses are not believed either: `separable` is decided by a linear programme in exact arithmetic over small rows.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import mpmath
import sympy

mpmath.mp.dps = 60


class Vector(list):
    """A list whose arithmetic is entry by entry."""

    def _zip(self, other, operation):
        if isinstance(other, Vector):
            assert len(self) == len(other)
            return Vector(operation(a, b) for a, b in zip(self, other))
        return Vector(operation(a, other) for a in self)

    def __add__(self, other):
        return self._zip(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._zip(other, lambda a, b: a - b)

    def __mul__(self, other):
        return self._zip(other, lambda a, b: a * b)

    def __truediv__(self, other):
        return self._zip(other, lambda a, b: a / b)

    def __rmul__(self, other):
        return Vector(other * a for a in self)

    def __radd__(self, other):
        return Vector(other + a for a in self)

    def __rsub__(self, other):
        return Vector(other - a for a in self)

    def __neg__(self):
        return Vector(-a for a in self)

    def __getitem__(self, index):
        index = int(index)
        if index < 0:
            raise IndexError("negative index")
        return super().__getitem__(index)

    def __matmul__(self, other):
        left = self if isinstance(self[0], Vector) else Vector([self])
        right = other if isinstance(other[0], Vector) else Vector(Vector([item]) for item in other)
        result = Vector(Vector(total(a * row[j] for a, row in zip(line, right)) for j in range(len(right[0])))
                        for line in left)
        assert all(len(line) == len(right) for line in left)
        if not isinstance(other[0], Vector):
            result = Vector(row[0] for row in result)
        return result if isinstance(self[0], Vector) else result[0]


def total(values):
    result = None
    for value in values:
        result = value if result is None else result + value
    return 0 if result is None else result


def real(value):
    return mpmath.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else mpmath.mpf(value)


def square_root(value):
    if isinstance(value, (int, Fraction)):
        exact = sympy.sqrt(sympy.Rational(Fraction(value).numerator, Fraction(value).denominator))
        if exact.is_Rational:
            return Fraction(int(exact.p), int(exact.q))
    return mpmath.sqrt(real(value))


def zero_in_hull(rows) -> bool:
    """Carathéodory by brute force: some affinely independent subset has zero as a nonnegative combination."""
    width = len(rows[0])
    matrix = [[sympy.Rational(Fraction(entry).numerator, Fraction(entry).denominator) for entry in row] for row in rows]
    for size in range(1, width + 2):
        for chosen in combinations(range(len(rows)), size):
            system = sympy.Matrix([[matrix[i][k] for i in chosen] for k in range(width)] + [[1] * size])
            target = sympy.Matrix([0] * width + [1])
            if system.rank() == size and system.row_join(target).rank() == size:
                solution = (system.T * system).LUsolve(system.T * target)
                if all(entry >= 0 for entry in solution):
                    return True
    return False


def symbolic(rows) -> sympy.Matrix:
    return sympy.Matrix([[sympy.Rational(Fraction(entry).numerator, Fraction(entry).denominator) for entry in row]
                         for row in rows])


def rank(rows) -> int:
    return symbolic(rows).rank() if rows else 0


def psd(rows) -> bool:
    matrix = symbolic(rows)
    size = matrix.rows
    return all(matrix.extract(list(chosen), list(chosen)).det() >= 0
               for count in range(1, size + 1) for chosen in combinations(range(size), count))


def softmax(logits):
    weights = [mpmath.exp(real(value)) for value in logits]
    return Vector(weight / sum(weights) for weight in weights)


def vectors(value):
    return Vector(vectors(item) for item in value) if isinstance(value, list) else value


FUNCTIONS = {
    "sum": total, "all": all, "any": any, "min": min, "max": max, "abs": abs, "len": len,
    "range": lambda *ends: range(*map(int, ends)),
    "exp": lambda value: mpmath.exp(real(value)), "log": lambda value: mpmath.log(real(value)),
    "cos": lambda value: mpmath.cos(real(value)), "sin": lambda value: mpmath.sin(real(value)), "pi": mpmath.pi,
    "sqrt": square_root, "dot": lambda a, b: total(x * y for x, y in zip(a, b, strict=True)),
    "outer": lambda a, b: Vector(Vector(x * y for y in b) for x in a),
    "flat": lambda matrix: Vector(entry for row in matrix for entry in row),
    "transpose": lambda matrix: Vector(Vector(column) for column in zip(*matrix)),
    "trace": lambda matrix: total(row[i] for i, row in enumerate(matrix)),
    "eye": lambda size: Vector(Vector(int(i == j) for j in range(int(size))) for i in range(int(size))),
    "softmax": softmax, "rank": rank, "psd": psd, "sign": lambda value: (value > 0) - (value < 0),
    "independent": lambda rows: rank(rows) == len(rows),
    "separable": lambda rows, key: not zero_in_hull(rows),
    "implies": lambda a, b: not a or b, "iff": lambda a, b: a == b, "Vector": Vector, "Fraction": Fraction,
}


def evaluate(text: str, values: dict) -> object:
    """Evaluate a formula; integer division becomes exact, list displays become vectors."""
    import ast

    class Exact(ast.NodeTransformer):
        def visit_Constant(self, node):
            if type(node.value) is int:
                return ast.Call(ast.Name("Fraction", ast.Load()), [node], [])
            return node

        def visit_List(self, node):
            self.generic_visit(node)
            return ast.Call(ast.Name("Vector", ast.Load()), [node], [])

        def visit_ListComp(self, node):
            self.generic_visit(node)
            return ast.Call(ast.Name("Vector", ast.Load()), [node], [])

    tree = ast.fix_missing_locations(Exact().visit(ast.parse(text.strip(), mode="eval")))
    return eval(compile(tree, "formula", "eval"), {"__builtins__": {}, **FUNCTIONS, **values})  # noqa: S307
