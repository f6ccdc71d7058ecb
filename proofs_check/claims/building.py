"""Exact instances: one way of building them, driven by a seed or by hypothesis.

A *builder* takes `choose(low, high)`, which gives an integer, and a `Shape`; all else follows from the
integers chosen. So the same construction serves the built-in family (a seeded generator) and the search
(hypothesis draws the integers, and shrinks them).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np
from hypothesis import strategies as st

from numerics.attention import softmax_attention
from proofs_check.claim import Instance
from proofs_check.claims.exact import Matrix, Number, Vector, add, axis, combine, dot, zeros

Choose = Callable[[int, int], int]

KINDS = ("integer", "fraction", "float", "nearly degenerate")
SHAPES = ((1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 2), (3, 3), (4, 2), (2, 5), (5, 3))
TINY = Fraction(1, 2**20)


@dataclass(frozen=True)
class Shape:
    """How many content tokens, in which dimension, with what kind of entries."""

    tokens: int
    dim: int
    kind: str


Builder = Callable[[Choose, Shape], Instance]


class Later(Mapping[str, object]):
    """Values that are made when they are first read, so that importing a claim costs nothing."""

    def __init__(self, make: Callable[[], Mapping[str, object]]):
        self._make, self._values = make, None

    def _ready(self) -> Mapping[str, object]:
        if self._values is None:
            self._values = dict(self._make())
        return self._values

    def __getitem__(self, key: str) -> object:
        return self._ready()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ready())

    def __len__(self) -> int:
        return len(self._ready())


def family(build: Builder, special: Iterable[Instance] = ()) -> Callable[[int], Iterator[Instance]]:
    """The built-in instances of a part: the special ones, then one for every shape and kind of entry."""
    special = tuple(special)

    def instances(seed: int) -> Iterator[Instance]:
        yield from special
        generator = random.Random(seed)
        for kind in KINDS:
            for tokens, dim in SHAPES:
                yield build(generator.randint, Shape(tokens, dim, kind))

    return instances


def searched(build: Builder) -> Callable[[], st.SearchStrategy[Instance]]:
    """A hypothesis strategy that draws the integers the builder asks for."""

    @st.composite
    def instance(draw: st.DrawFn) -> Instance:
        shape = Shape(draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.sampled_from(KINDS)))
        return build(lambda low, high: draw(st.integers(low, high)), shape)

    return instance


def entry(choose: Choose, kind: str) -> Number:
    """One number of moderate size: a small integer, a fraction, a float64 such as 0.3, or an integer moved
    by 2^-20."""
    if kind == "fraction":
        return Fraction(choose(-6, 6), choose(1, 4))
    if kind == "float":
        return choose(-40, 40) / 10
    if kind == "nearly degenerate":
        return choose(-2, 2) + choose(-1, 1) * TINY
    return choose(-3, 3)


def vector(choose: Choose, shape: Shape) -> Vector:
    return [entry(choose, shape.kind) for _ in range(shape.dim)]


def matrix(choose: Choose, rows: int, shape: Shape) -> Matrix:
    return [vector(choose, shape) for _ in range(rows)]


def positive(choose: Choose, size: int) -> list[Fraction]:
    """Strictly positive weights that sum to one."""
    parts = [choose(1, 4) for _ in range(size)]
    return [Fraction(part, sum(parts)) for part in parts]


def simplex(choose: Choose, size: int) -> list[Fraction]:
    """Nonnegative weights that sum to one; many are zero, and often one has everything."""
    parts = [choose(0, 3) * choose(0, 1) for _ in range(size)]
    if sum(parts) == 0:
        parts[choose(0, size - 1)] = 1
    return [Fraction(part, sum(parts)) for part in parts]


def attention(choose: Choose, size: int) -> tuple[list[Fraction], Fraction]:
    """(content weights, sink weight) on the simplex; the pure sink comes up as often as anything else."""
    if choose(0, 2) == 0:
        return [Fraction(0)] * size, Fraction(1)
    weights = simplex(choose, size + 1)
    return weights[:-1], weights[-1]


def independent(choose: Choose, count: int, shape: Shape) -> Matrix:
    """Linearly independent rows in dimension max(dim, count): triangular up to the order of the columns."""
    width = max(shape.dim, count)
    shift = choose(0, width - 1)
    rows = []
    for k in range(count):
        row = [entry(choose, shape.kind) if c < k or c >= count else 0 for c in range(width)]
        row[k] = choose(1, 3) * (1 if choose(0, 1) else -1)
        rows.append(row[shift:] + row[:shift])
    return rows


def half_space(choose: Choose, shape: Shape) -> tuple[Matrix, Vector]:
    """(rows, normal) with ⟨normal, row⟩ > 0 for every row; rows may repeat, and margins may be as small as
    2^-20."""
    normal = [choose(-2, 2) for _ in range(shape.dim)]
    normal[choose(0, shape.dim - 1)] = choose(1, 2)
    rows: Matrix = []
    for _ in range(shape.tokens):
        if rows and choose(0, 3) == 0:
            rows.append(rows[choose(0, len(rows) - 1)])
            continue
        row = vector(choose, shape)
        level = dot(normal, row)
        if level < 0:
            row = [-value for value in row]
        elif level == 0:
            row = add(row, normal)
        if shape.kind == "nearly degenerate":
            row = add(row, normal,
                      (TINY - abs(level) - (dot(normal, normal) if level == 0 else 0)) / dot(normal, normal))
        rows.append(row)
    return rows, normal


def zero_in_hull(choose: Choose, shape: Shape, full: bool = False) -> tuple[Matrix, list[Fraction]]:
    """(rows, convex weights of zero); with `full` every weight is positive."""
    size = shape.tokens if full else choose(1, shape.tokens)
    weights = positive(choose, size)
    rows = matrix(choose, size - 1, shape)
    rows.append([-value / weights[-1] for value in combine(weights[:-1], rows, shape.dim)])
    rows += matrix(choose, shape.tokens - size, shape)
    return rows, weights + [Fraction(0)] * (shape.tokens - size)


def nearest(choose: Choose, shape: Shape, zero: bool = False) -> tuple[Matrix, list[Fraction], Vector]:
    """(rows, convex weights, p): p is the point of the rows' hull nearest to zero, with ties and several
    faces."""
    if zero:
        rows, weights = zero_in_hull(choose, shape)
        return rows, weights, zeros(shape.dim)
    point = vector(choose, shape)
    point[choose(0, shape.dim - 1)] = choose(1, 2)
    square = dot(point, point)
    size = choose(1, shape.tokens)
    weights = positive(choose, size)
    offsets = [add(row, point, -dot(row, point) / square) for row in matrix(choose, size - 1, shape)]
    offsets.append([-value / weights[-1] for value in combine(weights[:-1], offsets, shape.dim)])
    rows = [add(point, offset) for offset in offsets]
    for row in matrix(choose, shape.tokens - size, shape):
        lack = square - dot(row, point)
        rows.append(add(row, point, lack / square) if lack > 0 else row)
    return rows, weights + [Fraction(0)] * (shape.tokens - size), point


def hull_witness(point: Vector, weights: Sequence[Number]) -> dict[str, object]:
    """What decides `separable` for rows whose hull has its nearest point at `point`, with these weights."""
    if any(value != 0 for value in point):
        return {"normal": point}
    return zero_witness(weights)


def zero_witness(weights: Sequence[Number]) -> dict[str, object]:
    return {"weights": {index: weight for index, weight in enumerate(weights) if weight != 0}}


def unit(choose: Choose, dim: int) -> Vector:
    """A rational point of the unit sphere: the image of e_1 under the reflection along an integer vector."""
    mirror = [choose(-2, 2) for _ in range(dim)]
    if not any(mirror):
        return axis(dim, 0)
    return add(axis(dim, 0), mirror, Fraction(-2 * mirror[0]) / dot(mirror, mirror))


def root_above(square: Fraction, bits: int = 80) -> Fraction:
    """A rational r >= √square: the root itself where it is rational, otherwise within 2^-bits of it."""
    top, bottom = square.numerator, square.denominator
    if isqrt(top) ** 2 == top and isqrt(bottom) ** 2 == bottom:
        return Fraction(isqrt(top), isqrt(bottom))
    return Fraction(isqrt((top << (2 * bits)) // bottom) + 1, 1 << bits)


def root_below(square: Fraction) -> Fraction:
    """A rational in [√square·(1 − 2^-60), √square]: the root itself where it is rational."""
    above = root_above(square)
    return above if above**2 == square else square / above


def softmax_row(logits: np.ndarray) -> np.ndarray:
    """`numerics`' softmax of one row, padded with masked keys to a multiple of eight so that few shapes
    are compiled."""
    size = -(-len(logits) // 8) * 8
    padded, visible = np.zeros((1, size)), np.zeros((1, size), dtype=bool)
    padded[0, : len(logits)], visible[0, : len(logits)] = logits, True
    return np.asarray(softmax_attention(padded, visible))[0, : len(logits)]


def agreement(off: float, away: float, floor: float = 1e-12) -> float:
    """Slack of "`off` is zero exactly when `away` is": negative by the size of the one that is not zero."""
    if off <= floor:
        return -away
    return -off if away <= floor else min(off, away)


def written(value: object) -> str:
    """A number or nested list in the formula language."""
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return str(value) if value.denominator == 1 else f"{value.numerator} / {value.denominator}"


def settings(names: str, values: Iterable[Sequence[object]]) -> tuple[str, ...]:
    """Cases of an `exists` part: for each row of values, that the names have them, as in ``T == 3 and m == 1``."""
    return tuple(" and ".join(f"{name} == {written(value)}" for name, value in zip(names.split(), row, strict=True))
                 for row in values)


def these(instance: Instance) -> str:
    """That the variables have this instance's values: the one case of a part whose text is about these very numbers."""
    return settings(" ".join(instance.values), [list(instance.values.values())])[0]
