"""Exact instances for the geometry claims: token tables, index sets, points on spheres, and witnesses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from numerics.gordan import gordan
from proofs_check.alternative import gordan_witness
from proofs_check.claims.exact import Number, Vector, dot, minus


def pair_row(query: Vector, difference: Vector) -> list[Fraction]:
    """x_i (x) (x_s - x_j), flattened as the kernel's `flat(outer(...))`."""
    return [Fraction(a) * Fraction(b) for a in query for b in difference]


def pair_rows(x: Sequence[Vector], s: int, pairs: Iterable[tuple[int, int]]) -> list[list[Fraction]]:
    return [pair_row(x[i], minus(x[s], x[j])) for i, j in pairs]


def witnesses(**tables: Sequence[Vector]) -> dict[str, Mapping[str, object]]:
    """What proves `separable(rows, name)`, true or false, for every non-empty table of rows."""
    return {name: gordan_witness(rows)[1] for name, rows in tables.items() if len(rows)}


def scaled_normal(rows: Sequence[Vector]) -> list[Fraction] | None:
    """u with <u, row> >= 1 on every row and equality on some row; None if there is none."""
    answer, witness = gordan_witness(rows)
    if not answer:
        return None
    least = min(dot(witness["normal"], row) for row in rows)
    return [entry / least for entry in witness["normal"]]


def side(rows: np.ndarray) -> int:
    """+1 if floats certify a separating normal, -1 if zero is stably in the hull, 0 if they cannot tell."""
    if len(rows) == 0:
        return 1
    found = gordan(rows)
    return {"normal": 1, "weights": -1, "undecided": 0}[found.kind] if found.stable else 0


def agreement(first: int, second: int) -> float:
    """The slack of an equivalence whose sides floats judge +1 or -1, 0 for undecided."""
    return float(first * second)


def both(first: int, second: int) -> int:
    """The judgement of a conjunction: one false side settles it, otherwise both must be certain."""
    return -1 if -1 in (first, second) else first * second


def token_tables(seed: int) -> Iterator[list[list[Number]]]:
    """Token tables, sink first: T = 1, 2, d < T, d > T, repetitions, hulls that (almost) touch zero."""
    yield from ([[2], [1]], [[1], [0]], [[1], [1]], [[0], [1]], [[2], [1], [-1]], [[1], [2], [0]],
                [[1], [0], [2]])
    yield from ([[1, 0], [0, 1], [0, -1]], [[0, 1], [1, 0], [-1, 0]], [[1, 0], [0, 1], [0, 1]],
                [[1, 1], [1, 0], [0, 1]], [[Fraction(1, 2), Fraction(1, 2)], [1, 0], [0, 1]])
    rng = np.random.default_rng(seed)
    for case in range(60):
        size, dim = int(rng.integers(1, 6)), int(rng.integers(1, 5))
        kind = ("integer", "float", "half-space", "repeated", "touching", "almost touching")[case % 6]
        table = rng.integers(-2, 3, size=(size + 1, dim)).astype(float)
        if kind in ("float", "half-space"):
            table = rng.normal(size=(size + 1, dim))
        if kind == "half-space":
            table[:, 0] = np.abs(table[:, 0]) + 0.25
            table[0, 0] = 0.125  # and the sink below every key
        if kind == "repeated":
            table[-1] = table[1]
        if kind in ("touching", "almost touching") and size > 1:
            table[:, -1] = np.abs(table[:, -1])
            table[1, -1], table[2] = 0, -table[1]
            table[2, -1] = 0
            if kind == "almost touching":
                table[1:3, -1] = 2.0**-30
        if kind in ("float", "half-space", "almost touching"):
            yield table.tolist()
        else:
            yield table.astype(int).tolist()


def index_sets(rng: np.random.Generator, size: int) -> tuple[list[int], list[int]]:
    """Non-empty sets of queries (the sink 0 may be one) and of keys (it may not), for tokens 0..size-1."""
    queries = [i for i in range(size) if rng.random() < (0.3 if i == 0 else 0.7)] or [size - 1]
    keys = [j for j in range(1, size) if rng.random() < 0.8] or [1]
    return queries, keys


def small_numbers() -> st.SearchStrategy[Number]:
    """Small integers, and floats that are exact with a few bits."""
    return st.one_of(st.integers(-3, 3), st.integers(-24, 24).map(lambda n: n / 8))


@st.composite
def small_tables(draw: st.DrawFn, least: int = 2, most: int = 5) -> list[list[Number]]:
    """Token tables with sink first, sometimes with a repeated or an opposite token."""
    dim, size = draw(st.integers(1, 3)), draw(st.integers(least, most))
    table = draw(st.lists(st.lists(small_numbers(), min_size=dim, max_size=dim), min_size=size,
                          max_size=size))
    if size > 2 and draw(st.booleans()):
        sign = draw(st.sampled_from((1, -1)))
        table[2] = [sign * entry for entry in table[1]]
    return table


@st.composite
def small_index_sets(draw: st.DrawFn, size: int) -> tuple[list[int], list[int]]:
    queries = draw(st.sets(st.integers(0, size - 1), min_size=1))
    keys = draw(st.sets(st.integers(1, size - 1), min_size=1))
    return sorted(queries), sorted(keys)


def sphere_point(slopes: Sequence[Number], radius: Number = 1) -> list[Fraction]:
    """The rational point radius*(1 - |t|^2, 2t)/(1 + |t|^2) of the sphere in one dimension more than t."""
    square = dot(slopes, slopes)
    return [Fraction(radius) * (1 - square) / (1 + square),
            *[Fraction(radius) * 2 * Fraction(t) / (1 + square) for t in slopes]]
