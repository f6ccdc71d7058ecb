import math
from fractions import Fraction

import numpy as np
import pytest

from numerics.constraints import Constraints, diagonal_constraints
from numerics.two_sided import (
    dual_matrix_norm,
    dual_objective,
    feasible_scale,
    margin_floor,
    norm_upper_bound,
)

X = np.random.default_rng(0).standard_normal((4, 3))


def exact(matrix):
    return [[Fraction(float(entry)) for entry in row] for row in matrix]


def test_margin_floor_is_below_the_exact_margins_and_close_to_them():
    c = diagonal_constraints(X, margin=1.0)
    rng = np.random.default_rng(1)
    left, right = rng.standard_normal((3, 2)), rng.standard_normal((3, 2))
    floor = margin_floor(c, left, right)
    w = [[sum(a * b for a, b in zip(u, v, strict=True)) for v in exact(right)] for u in exact(left)]
    tokens = exact(X)
    for i, a, b in zip(*c.triples(), strict=True):
        margin = sum(
            tokens[i][r] * w[r][s] * (tokens[a][s] - tokens[b][s]) for r in range(3) for s in range(3)
        )
        assert Fraction(float(floor[i, b])) <= margin <= Fraction(float(floor[i, b])) + Fraction(1, 10**12)


def test_scale_is_the_largest_ratio_for_margins_and_infinite_for_a_lost_one():
    c = diagonal_constraints(X[:2], margin=3.0)
    floor = np.array([[np.inf, 2.0], [0.5, np.inf]])
    assert feasible_scale(c, floor) == pytest.approx(6.0)
    floor[1, 0] = 0.0
    assert feasible_scale(c, floor) == math.inf
    floor[1, 0] = np.nan
    assert feasible_scale(c, floor) == math.inf


@pytest.mark.parametrize("mass", [0.3, 0.5, 0.7, 0.999])
def test_scale_for_masses_reaches_the_mass_and_no_more(mass):
    c = diagonal_constraints(X, mass=mass)
    floor = np.where(c.competitors, np.random.default_rng(2).uniform(0.5, 2.0, (4, 4)), np.inf)
    t = feasible_scale(c, floor)
    reached = 1.0 / (1.0 + np.exp(-t * floor).sum(axis=1))
    assert reached.min() == pytest.approx(mass, abs=1e-9) and reached.min() >= mass - 1e-14


def test_a_mass_that_no_scale_reaches_has_scale_infinity():
    c = diagonal_constraints(X, mass=0.6)
    floor = np.where(c.competitors, -1.0, np.inf)
    assert feasible_scale(c, floor) == math.inf


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 4.0, math.inf])
def test_upper_norm_bound_is_above_and_close(p):
    rng = np.random.default_rng(3)
    left, right = rng.standard_normal((5, 2)), rng.standard_normal((4, 2))
    values = np.linalg.svd(left @ right.T, compute_uv=False)
    true = np.linalg.norm(values, p)
    assert true * (1 - 1e-15) <= norm_upper_bound(left, right, p) <= true * (1 + 1e-10)
    assert norm_upper_bound(np.zeros((5, 0)), np.zeros((4, 0)), p) == 0.0


def test_frobenius_norm_of_the_dual_matrix_is_bounded_in_exact_arithmetic():
    shifted = X + 100.0  # a large common part must not spoil the bound
    c = diagonal_constraints(shifted, margin=1.0)
    dual = np.random.default_rng(4).random((4, 4)) * c.competitors
    tokens, weights = exact(shifted), exact(dual)
    g = [[Fraction(0)] * 3 for _ in range(3)]
    for i, a, b in zip(*c.triples(), strict=True):
        for r in range(3):
            for s in range(3):
                g[r][s] += weights[i][b] * tokens[i][r] * (tokens[a][s] - tokens[b][s])
    square = sum(entry**2 for row in g for entry in row)
    bound = Fraction(dual_matrix_norm(c, dual, 2.0))
    assert square <= bound**2 <= square * (1 + Fraction(1, 10**8))


def test_dual_objective_counts_margins_or_odds_plus_entropy():
    margins = diagonal_constraints(X, margin=2.0)
    dual = margins.competitors * 0.5
    assert dual_objective(margins, dual) == pytest.approx(2.0 * 0.5 * 12)
    masses = diagonal_constraints(X, mass=0.75)
    expected = 4 * 1.5 * (math.log(3.0) + math.log(3.0))
    assert dual_objective(masses, dual) == pytest.approx(expected)
    assert dual_objective(masses, np.zeros((4, 4))) == 0.0


def test_weak_duality_holds_for_any_feasible_pair():
    rng = np.random.default_rng(5)
    tokens = rng.standard_normal((4, 4))
    for levels in ({"margin": np.array(1.0)}, {"mass": np.array(0.8)}):
        c = Constraints(tokens, tokens, np.arange(4), np.arange(4), ~np.eye(4, dtype=bool), **levels)
        inverse = np.linalg.inv(tokens)
        w = inverse @ (np.eye(4) * 1.7) @ inverse.T
        u, s, vt = np.linalg.svd(w)
        scale = feasible_scale(c, margin_floor(c, u * s, vt.T))
        for p in (1.0, 2.0, math.inf):
            for _ in range(20):
                dual = rng.random((4, 4)) * c.competitors
                lower = dual_objective(c, dual) / dual_matrix_norm(c, dual, p)
                assert lower <= norm_upper_bound(scale * (u * s), vt.T, p)
