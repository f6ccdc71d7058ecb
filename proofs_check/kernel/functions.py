"""The functions of the formula language: what a call in a formula may name.

Each takes the evaluator first, so that it can note a ball or read a witness.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from flint import arb, fmpq, nmod_mat

from proofs_check.kernel import norms, separation
from proofs_check.kernel.encoding import Cloud, TooMuch, integer_row, need
from proofs_check.kernel.values import Undecided, bits, compare, flint_matrix, is_number, shape, units

if TYPE_CHECKING:
    from proofs_check.kernel.formula import Evaluator

MAX_STEPS, MAX_STEPS_IN_ALL = 50_000_000, 500_000_000  # of one instance or box, and of one certificate
MAX_RANGE = 5_000_000
BALL_UNITS, NATIVE_PER_UNIT = 20, 32  # a transcendental function; additions and multiplications inside flint
PRIME = 2**61 - 1


def square_root(evaluator: Evaluator, value: object) -> fmpq | arb:
    need(is_number(value), "sqrt takes a number")
    if isinstance(value, arb):
        need(not value < 0, "sqrt of a negative number")
        if not value >= 0:
            raise Undecided("sqrt of a ball that may be negative")
        return value.sqrt()
    value = fmpq(value)
    evaluator.spend(units(bits(value)))
    need(bool(value >= 0), "sqrt of a negative number")
    (top, rest), (bottom, left) = value.p.sqrtrem(), value.q.sqrtrem()
    if rest == 0 and left == 0:
        return fmpq(top, bottom)
    return evaluator.ball(value).sqrt()


def _statements(evaluator: Evaluator, values):
    for value in values:
        evaluator.spend(1)
        need(isinstance(value, bool), "'all' and 'any' take statements")
        yield value


def _total(evaluator: Evaluator, values) -> object:
    total = 0
    for value in values:
        need(is_number(value) or isinstance(value, list), "'sum' takes numbers, vectors and matrices")
        total = value if type(total) is int and total == 0 else evaluator.entrywise(operator.add, total, value)
    return total


def _extreme(evaluator: Evaluator, values, keep: str) -> object:
    values = list(values)
    evaluator.spend(len(values))
    need(bool(values) and all(is_number(value) for value in values), f"the {keep} of nothing")
    if any(isinstance(value, arb) for value in values):
        best = arb(values[0])
        for value in values[1:]:
            best = getattr(best, keep)(arb(value))
        return best
    return min(map(fmpq, values)) if keep == "min" else max(map(fmpq, values))


def _dot(evaluator: Evaluator, left: list, right: list) -> object:
    need(len(left) == len(right), "dot takes vectors of one length")
    return _total(evaluator, (evaluator.entrywise(operator.mul, a, b) for a, b in zip(left, right)))


def _softmax(evaluator: Evaluator, logits: list) -> list:
    weights = [evaluator.ball(value).exp() for value in logits]
    total = sum(weights, arb(0))
    return [weight / total for weight in weights]


def _range(evaluator: Evaluator, *ends: object) -> range:
    need(all(type(int(end)) is int and end == int(end) for end in ends), "range takes integers")
    result = range(*[int(end) for end in ends])
    need(len(result) <= MAX_RANGE, "a range is too long", TooMuch)
    return result


def _psd(evaluator: Evaluator, matrix: list) -> bool:
    """Exact LDLᵀ elimination; a zero pivot of a positive semidefinite matrix has a zero row."""
    size = shape(matrix)[0]
    evaluator.spend_native(NATIVE_PER_UNIT * size**3, matrix)
    rows = [[fmpq(entry) for entry in row] for row in matrix]
    need(shape(matrix)[1] == size and all(rows[i][j] == rows[j][i] for i in range(size) for j in range(i)),
         "psd takes a symmetric matrix")
    for k in range(size):
        if rows[k][k] < 0 or (rows[k][k] == 0 and any(rows[k][j] != 0 for j in range(k, size))):
            return False
        for i in range(k + 1, size):
            if rows[k][k] != 0:
                ratio = rows[i][k] / rows[k][k]
                rows[i] = [a - ratio * b for a, b in zip(rows[i], rows[k])]
    return True


def _trace(evaluator: Evaluator, matrix: list) -> object:
    rows, columns = shape(matrix)
    need(rows == columns, "trace takes a square matrix")
    return _total(evaluator, (row[i] for i, row in enumerate(matrix)))


def _sign(evaluator: Evaluator, value: object) -> int:
    return int(compare(value, ">", 0)) - int(compare(value, "<", 0))


def _rank(evaluator: Evaluator, matrix: list) -> int:
    if not matrix:
        return 0
    evaluator.spend_native(len(matrix) * shape(matrix)[1] * min(shape(matrix)), matrix)
    return int(flint_matrix(matrix, False).rank())


def _independent(evaluator: Evaluator, rows: object) -> bool:
    """Linear independence as a family; for a cloud, full rank modulo a prime proves it."""
    if not isinstance(rows, Cloud):
        return len(rows) == 0 or _rank(evaluator, rows) == len(rows)
    if rows.rows > rows.columns:
        return False
    evaluator.spend(rows.rows * rows.columns * (1 + rows.rows // NATIVE_PER_UNIT))
    integers = []
    for block in rows.blocks():
        for row in block:
            integers += [value % PRIME for value in integer_row(row)[0]]
    if nmod_mat(rows.rows, rows.columns, integers, PRIME).rank() < rows.rows:
        raise Undecided("the rows look dependent, which a rank modulo a prime cannot prove")
    return True


def _matrix(evaluator: Evaluator, cloud: object) -> list:
    need(isinstance(cloud, Cloud) and cloud.rows * cloud.columns <= MAX_RANGE, "matrix takes a cloud of moderate size")
    evaluator.spend(cloud.rows * cloud.columns)
    scaled = (integer_row(row) for block in cloud.blocks() for row in block)
    return [[fmpq(value, scale) for value in values] for values, scale in scaled]


def _outer(evaluator: Evaluator, left: list, right: list) -> list:
    evaluator.spend(len(left))
    return [[evaluator.entrywise(operator.mul, a, b) for b in right] for a in left]


def _transpose(evaluator: Evaluator, matrix: list) -> list:
    evaluator.spend(sum(map(len, matrix)))
    return [list(column) for column in zip(*matrix, strict=True)]


FUNCTIONS = {
    "all": lambda e, values: all(_statements(e, values)),
    "any": lambda e, values: any(_statements(e, values)),
    "sum": lambda e, values: _total(e, values),
    "min": lambda e, *values: _extreme(e, values[0] if len(values) == 1 else values, "min"),
    "max": lambda e, *values: _extreme(e, values[0] if len(values) == 1 else values, "max"),
    "abs": lambda e, value: abs(value) if is_number(value) else need(False, "abs takes a number"),
    "len": lambda e, values: len(values),
    "range": _range,
    "exp": lambda e, value: e.ball(value).exp(),
    "log": lambda e, value: e.ball(value).log() if compare(value, ">", 0) else need(False, "log of a value <= 0"),
    "cos": lambda e, value: e.ball(value).cos(),
    "sin": lambda e, value: e.ball(value).sin(),
    "sqrt": square_root,
    "dot": _dot,
    "outer": _outer,
    "flat": lambda e, matrix: e.spend(sum(map(len, matrix))) or [entry for row in matrix for entry in row],
    "transpose": _transpose,
    "trace": _trace,
    "eye": lambda e, size: e.spend(int(size) ** 2) or [[int(i == j) for j in _range(e, size)] for i in _range(e, size)],
    "softmax": _softmax,
    "rank": _rank,
    "psd": _psd,
    "sign": _sign,
    "matrix": _matrix,
    "independent": _independent,
    "separable": separation.separable,
    "hull_distance_at_least": separation.distance_at_least,
    "hull_distance_at_most": separation.distance_at_most,
    "norm_at_most": norms.norm_at_most,
    "implies": None,
    "iff": None,
}
