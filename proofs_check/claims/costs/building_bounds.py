"""Exact instances for the cost bounds: nearest points of hulls in rationals, norms with witnesses, solved examples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from numerics.constraints import Constraints
from numerics.minimum_norm import MinimumNorm, minimum_norm
from numerics.schatten import schatten_norm
from proofs_check.claim import Hypothesis, Instance, Part
from proofs_check.claims.building import Later
from proofs_check.claims.exact import Matrix, Number, combine, dot, gram, solve
from proofs_check.cost import bounds_part

HALF = Fraction(1, 2)
# Exponents as t = 1/p: the nuclear, Frobenius and spectral norm, whose dual norm is at 1 - t.
INVERSE_EXPONENTS = (Fraction(1), HALF, Fraction(0))


def norm_formula(matrix: str, inverse: str, bound: str, size: str, key: str) -> str:
    """‖matrix‖_p <= bound for t = 1/p in {0, 1/2, 1}: exact for p = 2 and ∞, by a decomposition for p = 1.

    ‖M‖_∞ <= c, c >= 0, says that c²I − MᵀM is positive semidefinite.
    """
    return (f"{bound} >= 0 and (psd({bound} * {bound} * eye({size}) - transpose({matrix}) @ {matrix}) if "
            f"{inverse} == 0 else norm_at_most({matrix}, 2, {bound}, '{key}') if {inverse} == 1 / 2 else "
            f"norm_at_most({matrix}, 1, {bound}, '{key}'))")


EXPONENT = Hypothesis("three norms", "t = 1/p is 1, 1/2 or 0: nuclear, Frobenius or spectral norm",
                      "t == 0 or t == 1 / 2 or t == 1")


def nearest(rows: Matrix) -> tuple[list[Fraction], list[Fraction]]:
    """(weights, point): the point of the rows' hull nearest to zero, in rationals.

    The point's supporting face has affinely independent vertices for some choice of weights, so that trying the
    subsets by size and solving for the foot of the perpendicular on each must meet it.
    """
    inner = gram(rows)
    for size in range(1, len(rows) + 1):
        for chosen in combinations(range(len(rows)), size):
            system = [[inner[i][j] for j in chosen] + [-1] for i in chosen] + [[1] * size + [0]]
            try:
                solved = solve(system, [[0]] * size + [[1]])
            except ZeroDivisionError:
                continue
            weights = [Fraction(0)] * len(rows)
            for index, (value,) in zip(chosen, solved):
                weights[index] = value
            point = combine(weights, rows)
            if min(weights) >= 0 and all(dot(point, row) >= dot(point, point) for row in rows):
                return weights, point
    raise AssertionError("a hull has a nearest point")


def floats(matrix: Matrix) -> np.ndarray:
    return np.array([[float(entry) for entry in row] for row in matrix])


def norm_bound(matrix: Matrix, inverse: Number) -> Fraction:
    """A rational slightly above ‖matrix‖_p, t = 1/p; 0 for the zero matrix."""
    size = schatten_norm(floats(matrix), 1 / float(inverse) if inverse else float("inf"))
    return Fraction(size * (1 + 2.0**-36)).limit_denominator(2**60) if size else Fraction(0)


def decomposition(matrix: Matrix) -> dict[str, list]:
    """The witness by which the kernel bounds a norm: a singular value decomposition in floats."""
    left, values, right = np.linalg.svd(floats(matrix), full_matrices=False)
    return {"left": left.tolist(), "values": values.tolist(), "right": right.T.tolist()}


def norm_witnesses(**matrices: Matrix) -> dict[str, dict]:
    return {name: decomposition(matrix) for name, matrix in matrices.items()}


def solved_part(constraints: Constraints, p: float, lower: Fraction, upper: Fraction, name: str, text: str) -> Part:
    """The `exists` part lower <= min ‖W‖_p <= upper of a constraint set, stated first and solved when evidence is due.

    Small tables stand in the statement itself, not in sidecars.  W and the dual come from `minimum_norm`; the kernel
    checks that W is feasible and at most `upper`, and that the dual is feasible and worth at least `lower`.
    """
    made: list[Instance] = []

    def statement(answer) -> tuple[Part, Instance]:
        part, instance = bounds_part(constraints, answer, p, lower, upper, name, np.ndarray.tolist)
        kinds = {key: kind.replace("cloud", "matrix") for key, kind in part.variables.items()}
        direct = {**part.definitions, "all_queries": "query_cloud", "keys": "key_cloud"}
        return replace(part, text=text, variables=kinds, definitions=direct), instance

    def instance() -> Instance:
        if not made:
            made.append(statement(minimum_norm(constraints, p, tolerance=1e-7, max_iterations=20_000))[1])
        return made[0]

    none, column = np.zeros(0, dtype=np.int64), np.zeros((constraints.queries.shape[1], 1))
    blank = MinimumNorm(p, "bounded", 0.0, 0.0, column, column, none, none, np.zeros(0), 0.0, "given", 0)
    later = Instance(Later(lambda: instance().values), Later(lambda: instance().witnesses))
    return replace(statement(blank)[0], satisfiable=later, instances=lambda seed: [later])


def token_tables(seed: int) -> Iterator[list[list[Number]]]:
    """Content tokens: T = 1, 2, d < T, d > T, ties, repetitions, hulls that almost hold zero, integers and floats."""
    yield from ([[1]], [[2]], [[1], [2]], [[1, 0], [0, 1]], [[1, 0], [1, 0]], [[3, 4], [4, 3]], [[1, 1], [1, -1]],
                [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[2, 1], [2, -1], [2, 0]], [[1, 2, 2]], [[1, 0, 0], [0, 2, 0]])
    rng = np.random.default_rng(seed)
    for case in range(40):
        size, dim = int(rng.integers(1, 6)), int(rng.integers(1, 5))
        kind = ("integer", "float", "repeated", "near")[case % 4]
        table = rng.integers(-2, 3, size=(size, dim)).astype(float)
        table[:, 0] = rng.integers(1, 4, size=size)
        if kind == "float":
            table = np.round(rng.normal(size=(size, dim)) * 1024) / 1024
            table[:, 0] = np.abs(table[:, 0]) + 0.25
        if kind == "repeated":
            table[-1] = table[0]
        if kind == "near":
            table[:, 0] = 2.0**-6
        yield table.tolist() if kind in ("float", "near") else table.astype(int).tolist()
