"""Gordan's alternative decided exactly: for rational rows, a separating normal or weights of zero.

Exactly one holds: some u has <u, row_i> > 0 for every i, or some w >= 0, sum w = 1, has sum_i w_i row_i = 0.
A float solver proposes; what it proposes is rounded or solved again in rationals, and kept only if an exact
check accepts it.  Where floats cannot tell (zero on the boundary of the hull), a simplex method in rationals
decides.  The witnesses returned are those that the kernel's `separable` reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd, lcm

import numpy as np
from flint import fmpq, fmpz, fmpz_mat, nmod_mat

from numerics.gordan import gordan
from numerics.hull import MinNormPoint, distance_to_hull, min_norm_point

__all__ = ["cloud_witness", "gordan_witness"]

# Denominators tried in this order when a float normal is rounded: a referee reads small integers more gladly.
DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 60, 128, 1024, 2**16, 2**24, 2**36, 2**52)
# Up to this many entries the rational simplex method is affordable as the last resort.
MOST_EXACT_ENTRIES = 40_000
_PRIME = 2**61 - 1  # a rank modulo a prime never exceeds the true one, so independence found here is real


def gordan_witness(rows: Iterable[Iterable[object]]) -> tuple[bool, dict[str, object]]:
    """Decide "some u has <u, row> > 0 for all rows", with the witness that proves the answer.

    Rows (n, d) of ints, Fractions, floats (taken as the exact rationals they are) or flint rationals.
    Returns ``(True, {"normal": [Fraction, ...]})`` or ``(False, {"weights": {index: Fraction}})`` with
    positive weights that sum to one and combine to zero exactly.  Raises ValueError for no rows, rows without
    entries or of different lengths, and entries that are not finite numbers.  Claims G1, G2, E2.
    """
    exact = [[_fraction(entry) for entry in row] for row in rows]
    if not exact or not exact[0] or len({len(row) for row in exact}) != 1:
        raise ValueError(f"expected at least one row, all of one positive length, got lengths "
                         f"{sorted({len(row) for row in exact})}; pass the rows as an (n, d) table")
    scales, integers = zip(*[_primitive(row) for row in exact])
    for index, row in enumerate(integers):
        if not any(row):
            return False, {"weights": {index: Fraction(1)}}
    separated, answer = _decide(list(integers))
    if separated:
        return True, {"normal": answer}
    # weights for c_i row_i, c_i > 0, are weights for row_i once multiplied by c_i
    weights = {index: weight * scales[index] for index, weight in answer.items()}
    total = sum(weights.values())
    return False, {"weights": {index: weight / total for index, weight in sorted(weights.items())}}


def cloud_witness(points: np.ndarray, shift: np.ndarray | None = None,
                  found: MinNormPoint | None = None) -> tuple[bool | None, dict[str, object]]:
    """The same for the rows of a large float array, each less ``shift`` (dim,) if given.

    Returns ``(True, {"normal": floats})``, certified by a float product bound that includes its own rounding;
    ``(False, {"basis": indices})`` for zero inside a simplex of dim+1 rows, which the kernel shows by a ball
    solve; ``(False, {"weights": ...})``, exact, when zero lies on a lower face; or ``(None, {})`` when floats
    cannot tell and the cloud is too large for rational arithmetic.  Raises ValueError as
    `numerics.hull.min_norm_point` does. `found` is the solver's answer where the caller has it already.
    Claims G1, E2.
    """
    if found is None:
        found = min_norm_point(points) if shift is None else distance_to_hull(np.asarray(shift), points)
    if found.status == "separated":
        return True, {"normal": [float(entry) for entry in found.normal]}
    if found.status == "contains_zero" and found.stable:
        return False, {"basis": [int(index) for index in found.support]}
    if found.status == "contains_zero":
        weights = _cloud_weights(points, shift, found)
        if weights is not None:
            return False, {"weights": weights}
    array = np.asarray(points)
    if array.size <= MOST_EXACT_ENTRIES and array.shape[1] <= 64:
        return gordan_witness(_exact_rows(array, shift, range(len(array))))
    return None, {}


def _decide(rows: list[list[int]]) -> tuple[bool, list[Fraction] | dict[int, Fraction]]:
    """Decide non-zero integer rows: floats first, rationals where they fail."""
    largest = [max(map(abs, row)) for row in rows]
    floats = np.array([[float(Fraction(entry, top)) for entry in row] for row, top in zip(rows, largest)])
    found = gordan(floats)
    table = fmpz_mat(rows)
    if found.normal is not None:
        normal = _rounded(table, [Fraction(float(entry)) for entry in found.normal])
        if normal is not None:
            return True, normal
    support = [int(index) for index in found.support]
    if found.weights is not None:
        weights = _unique_weights([rows[index] for index in support])
        if weights is not None:
            return False, dict(zip(support, weights))
    order = support + sorted(set(range(len(rows))) - set(support))
    separated, answer = _simplex([rows[index] for index in order])
    if separated:
        return True, _rounded(table, answer) or answer
    return False, {order[index]: weight for index, weight in answer.items()}


def _rounded(table: fmpz_mat, normal: list[Fraction]) -> list[Fraction] | None:
    """The first rounding of a normal that separates all rows, by exact products; None if none does."""
    largest = max(map(abs, normal))
    if largest == 0:
        return None
    for denominator in DENOMINATORS:
        candidate = [round(entry / largest * denominator) for entry in normal]
        products = table * fmpz_mat(len(candidate), 1, candidate)
        if all(products[i, 0] > 0 for i in range(products.nrows())):
            common = gcd(*candidate)
            return [Fraction(entry // common) for entry in candidate]
    return None


def _unique_weights(rows: list[list[int]]) -> list[Fraction] | None:
    """Positive weights, sum one, combining the rows to zero, if these equations have exactly one solution."""
    size = len(rows)
    equations = [[row[k] for row in rows] for k in range(len(rows[0]))] + [[1] * size]
    pivots = _pivot_columns([[line[k] % _PRIME for line in equations] for k in range(size)])
    if len(pivots) != size:
        return None
    right = _column([int(k == len(equations) - 1) for k in pivots])
    solution = fmpz_mat([equations[k] for k in pivots]).solve(right)
    weights = [solution[i, 0] for i in range(size)]
    numerators, common = solution.numer_denom()
    residual = fmpz_mat(equations) * numerators
    if not all(weight > 0 for weight in weights):
        return None
    if not all(residual[k, 0] == (common if k == len(equations) - 1 else 0) for k in range(len(equations))):
        return None
    return [Fraction(int(weight.p), int(weight.q)) for weight in weights]


def _pivot_columns(matrix: list[list[int]]) -> list[int]:
    """Where the rows of an echelon form modulo a prime begin: linearly independent columns."""
    reduced, rank = nmod_mat(len(matrix), len(matrix[0]), [entry for row in matrix for entry in row],
                             _PRIME).rref()
    pivots, column = [], 0
    for row in range(rank):
        while int(reduced[row, column]) == 0:
            column += 1
        pivots.append(column)
    return pivots


def _simplex(rows: list[list[int]]) -> tuple[bool, list[Fraction] | dict[int, Fraction]]:
    """Phase one in rationals: minimise the artificials a in sum_i w_i (row_i, 1) + a = (0, 1), w, a >= 0.

    At the minimum zero w are the weights; at a positive minimum the multipliers (y, t) have <y, row_i> + t <=
    0 and t > 0, so -y separates.  The largest gain enters while the sum of artificials falls; while it stands
    still Bland's rule (least index in, least index out) makes sure that no basis comes back.  An artificial
    that has left stays out.
    """
    size = len(rows[0]) + 1
    columns = [[*row, 1] for row in rows] + [[int(k == j) for j in range(size)] for k in range(size)]
    table = fmpz_mat(columns[:len(rows)])
    basis = list(range(len(rows), len(columns)))
    before = None
    while True:
        matrix = fmpz_mat([columns[index] for index in basis])  # the basic columns, as rows
        values = matrix.transpose().solve(_column([0] * (size - 1) + [1]))
        artificial = [k for k, index in enumerate(basis) if index >= len(rows)]
        total = sum((values[k, 0] for k in artificial), fmpq(0))
        if total == 0:
            return False, {index: _fraction(values[k, 0]) for k, index in enumerate(basis)
                           if index < len(rows) and values[k, 0] > 0}
        multipliers = matrix.solve(_column([int(index >= len(rows)) for index in basis]))
        gains = table * multipliers.numer_denom()[0]
        candidates = [index for index in range(len(rows)) if gains[index, 0] > 0]
        if not candidates:
            return True, [-_fraction(multipliers[k, 0]) for k in range(size - 1)]
        moved, before = before is None or total < before, total
        entering = max(candidates, key=lambda index: int(gains[index, 0])) if moved else candidates[0]
        direction = matrix.transpose().solve(_column(columns[entering]))
        ratios = {k: _fraction(values[k, 0] / direction[k, 0]) for k in range(size) if direction[k, 0] > 0}
        basis[min(ratios, key=lambda k: (ratios[k], basis[k]))] = entering


def _column(entries: Sequence[int]) -> fmpz_mat:
    return fmpz_mat(len(entries), 1, [int(entry) for entry in entries])


def _cloud_weights(points: np.ndarray, shift: np.ndarray | None,
                   found: MinNormPoint) -> dict[int, Fraction] | None:
    scales, rows = zip(*[_primitive(row) for row in _exact_rows(np.asarray(points), shift, found.support)])
    if len(rows) == 1 and not any(rows[0]):
        return {int(found.support[0]): Fraction(1)}
    weights = _unique_weights(list(rows))
    if weights is None:
        return None
    scaled = [weight * scale for weight, scale in zip(weights, scales)]
    return {int(index): weight / sum(scaled) for index, weight in zip(found.support, scaled)}


def _exact_rows(array: np.ndarray, shift: np.ndarray | None, indices: Iterable[int]) -> list[list[Fraction]]:
    offset = [Fraction(0)] * array.shape[1]
    if shift is not None:
        offset = [_fraction(entry) for entry in np.asarray(shift)]
    return [[_fraction(entry) - away for entry, away in zip(array[int(index)], offset)] for index in indices]


def _primitive(row: Sequence[Fraction]) -> tuple[Fraction, list[int]]:
    """(c, c * row) with c > 0 and coprime integer entries; (1, zeros) for a zero row."""
    common = lcm(*[entry.denominator for entry in row])
    integers = [entry.numerator * (common // entry.denominator) for entry in row]
    divisor = gcd(*integers) or common
    return Fraction(common, divisor), [entry // divisor for entry in integers]


def _fraction(value: object) -> Fraction:
    if isinstance(value, (fmpq, fmpz)):
        return Fraction(int(value.p), int(value.q)) if isinstance(value, fmpq) else Fraction(int(value))
    try:
        number = Fraction(value.item() if hasattr(value, "item") else value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"expected finite real numbers in the rows, got {value!r}; pass ints, Fractions "
                         "or finite floats") from None
    return Fraction(int(number.numerator), int(number.denominator))  # a Fraction may hold numpy integers
