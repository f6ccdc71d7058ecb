"""C12: rank-two diagonals and tokens on a circle."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sympy
from cost_oracle import cheapest, conjugate, schatten

from theory.costs_rank import circle_cost, rank_two_cost


def cosine_logits(tokens):
    angle = 2 * np.pi * np.subtract.outer(np.arange(tokens), np.arange(tokens)) / tokens
    return np.cos(angle) / (1 - np.cos(2 * np.pi / tokens))


@pytest.mark.parametrize("tokens", [2, 3, 4, 7])
def test_cosine_logits_are_a_diagonal_of_rank_at_most_two_and_the_stated_nuclear_norm(tokens):
    w = cosine_logits(tokens)
    gaps = np.diag(w)[:, None] - w + 5 * np.eye(tokens)
    assert gaps.min() == pytest.approx(1)
    assert np.linalg.matrix_rank(w) == min(2, tokens - 1)
    assert schatten(w, 1) == pytest.approx(float(rank_two_cost(sympy.Integer(tokens), 1)))


@pytest.mark.parametrize("tokens", [3, 4, 7])
@pytest.mark.parametrize("exponent", [1, 2, np.inf])
def test_tokens_on_a_circle_cost_exactly_the_multiple_of_the_identity(tokens, exponent):
    angles = 2 * np.pi * np.arange(tokens) / tokens
    x = np.stack([np.cos(angles), np.sin(angles)], 1)
    stated = float(circle_cost(sympy.Integer(tokens), 1, sympy.oo if np.isinf(exponent) else exponent))
    neighbours = [(i, (i + step) % tokens) for i in range(tokens) for step in (1, -1)]
    dual = sum(np.outer(x[i], x[i] - x[j]) for i, j in neighbours)
    assert 2 * tokens / schatten(dual, conjugate(exponent)) == pytest.approx(stated)
    pairs = [(np.outer(x[i], x[i] - x[j]), 1) for i in range(tokens) for j in range(tokens) if i != j]
    assert cheapest(pairs, 2, exponent) == pytest.approx(stated, rel=1e-5)


def test_two_tokens_on_a_circle_cost_half_of_the_formula():
    pairs = [
        (np.outer(a, a - b), 1)
        for a, b in ((np.array([1.0, 0]), np.array([-1.0, 0])), (np.array([-1.0, 0]), np.array([1.0, 0])))
    ]
    assert cheapest(pairs, 2, 1) == pytest.approx(0.5, rel=1e-5)
    assert circle_cost(sympy.Integer(2), 1) == 1


def test_three_tokens_on_a_circle_agree_with_the_exchangeable_formula():
    from theory.costs_exchangeable import diagonal_cost

    assert circle_cost(sympy.Integer(3), 1) == diagonal_cost(3, 1, -sympy.Rational(1, 2), 1, 1)


@pytest.mark.parametrize("tokens", [2, 3, 10, 10**4])
def test_the_rank_two_cost_grows_like_the_cube_within_the_stated_bounds(tokens):
    with mpmath.workdps(50):
        t = mpmath.mpf(tokens)
        leading = t**3 / (2 * mpmath.pi**2)
        cost = mpmath.mpf(str(sympy.N(rank_two_cost(sympy.Integer(tokens), 1), 45)))
        assert leading <= cost <= leading / (1 - mpmath.pi**2 / (3 * t**2))
