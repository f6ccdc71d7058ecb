"""Linear algebra in rationals on nested lists, for building instances; a float counts as the rational it is."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq, fmpq_mat

Number = int | float | Fraction
Vector = Sequence[Number]
Matrix = Sequence[Vector]


def dot(left: Vector, right: Vector) -> Fraction:
    return sum((Fraction(a) * Fraction(b) for a, b in zip(left, right, strict=True)), Fraction(0))


def add(left: Vector, right: Vector, scale: Number = 1) -> list[Fraction]:
    """left + scale·right."""
    return [Fraction(a) + Fraction(scale) * Fraction(b) for a, b in zip(left, right, strict=True)]


def minus(left: Vector, right: Vector) -> list[Fraction]:
    return add(left, right, -1)


def zeros(size: int) -> list[int]:
    return [0] * size


def axis(size: int, index: int) -> list[int]:
    return [int(k == index) for k in range(size)]


def identity(size: int) -> list[list[int]]:
    return [axis(size, k) for k in range(size)]


def centring(size: int) -> list[list[Fraction]]:
    """I − 11ᵀ/size."""
    return [[Fraction(int(i == j)) - Fraction(1, size) for j in range(size)] for i in range(size)]


def transposed(matrix: Matrix) -> list[list[Number]]:
    return [list(column) for column in zip(*matrix, strict=True)]


def combine(weights: Vector, rows: Matrix, dim: int | None = None) -> list[Fraction]:
    """Σ_k weights[k]·rows[k]; `dim` is the rows' length where there may be none."""
    return [dot(weights, [row[c] for row in rows]) for c in range(len(rows[0]) if dim is None else dim)]


def outer(left: Vector, right: Vector, scale: Number = 1) -> list[list[Fraction]]:
    return [[Fraction(scale) * Fraction(a) * Fraction(b) for b in right] for a in left]


def plus(left: Matrix, right: Matrix, scale: Number = 1) -> list[list[Fraction]]:
    """left + scale·right."""
    return [add(a, b, scale) for a, b in zip(left, right, strict=True)]


def scaled(factor: Number, matrix: Matrix) -> list[list[Fraction]]:
    return [[Fraction(factor) * Fraction(entry) for entry in row] for row in matrix]


def product(left: Matrix, right: Matrix) -> list[list[Fraction]]:
    columns = transposed(right)
    return [[dot(row, column) for column in columns] for row in left]


def gram(rows: Matrix) -> list[list[Fraction]]:
    """The rows' inner products."""
    return [[dot(a, b) for b in rows] for a in rows]


def solve(square: Matrix, right: Matrix) -> list[list[Fraction]]:
    """square⁻¹ right; ZeroDivisionError for a singular matrix."""
    found = _rational(square).solve(_rational(right))
    return [[Fraction(int(found[i, j].p), int(found[i, j].q)) for j in range(found.ncols())]
            for i in range(found.nrows())]


def _rational(matrix: Matrix) -> fmpq_mat:
    entries = [Fraction(entry) for row in matrix for entry in row]
    return fmpq_mat(len(matrix), len(matrix[0]), [fmpq(entry.numerator, entry.denominator) for entry in entries])
