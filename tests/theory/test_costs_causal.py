"""C11: causal sink and diagonal on orthonormal tokens, matrix by matrix."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from cost_oracle import cheapest, conjugate, schatten

from theory.costs_causal import (
    causal_diagonal,
    causal_diagonal_singular_values,
    causal_sink_frobenius,
    causal_sink_nuclear,
)

SIZES = [1, 2, 3, 5]


def diagonal_pairs(tokens):
    e = np.eye(tokens)
    return [(np.outer(e[i], e[i] - e[j]), 1) for i in range(tokens) for j in range(i)]


def sink_pairs(tokens):
    e = np.eye(tokens)
    return [(np.outer(e[i], e[0] - e[j]), 1) for i in range(tokens) for j in range(1, i + 1)]


@pytest.mark.parametrize("tokens", SIZES)
def test_identity_minus_cesaro_has_every_margin_one_and_the_stated_singular_values(tokens):
    w = causal_diagonal(tokens)
    assert all(w[i, i] - w[i, j] == 1 for i in range(tokens) for j in range(i))
    gram = w * w.T
    expected = sympy.diag(0, *(value**2 for value in causal_diagonal_singular_values(tokens)))
    assert gram == expected


@pytest.mark.parametrize("tokens", [2, 3, 5])
@pytest.mark.parametrize("exponent", [1, 1.5, 2, 4, np.inf])
def test_the_causal_diagonal_has_a_dual_of_equal_value_in_every_norm(tokens, exponent):
    w = np.array(causal_diagonal(tokens), float)
    s = np.sqrt(1 - 1 / np.arange(2, tokens + 1))
    h = (s == s.max()).astype(float) if np.isinf(exponent) else s ** (exponent - 1)
    total = s.max() if np.isinf(exponent) else (s**exponent).sum() ** (1 / exponent)
    kappa = h / s / (s @ h / total)
    dual = np.zeros_like(w)
    objective = 0.0
    for i in range(1, tokens):
        for j in range(i):
            weight = kappa[i - 1] / (i + 1)
            assert weight >= 0
            dual[i, i] += weight
            dual[i, j] -= weight
            objective += weight
    assert schatten(dual, conjugate(exponent)) == pytest.approx(1)
    assert objective == pytest.approx(schatten(w, exponent))


@pytest.mark.parametrize("tokens", [2, 3, 4])
def test_the_plain_program_finds_the_causal_costs(tokens):
    harmonic = float(sympy.harmonic(tokens))
    assert cheapest(sink_pairs(tokens), tokens, 2) == pytest.approx(np.sqrt(tokens - harmonic), rel=1e-5)
    assert cheapest(sink_pairs(tokens), tokens, 1) == pytest.approx((tokens - 1) / np.sqrt(tokens), rel=1e-5)
    for exponent in (1, 2, np.inf):
        expected = schatten(np.array(causal_diagonal(tokens), float), exponent)
        assert cheapest(diagonal_pairs(tokens), tokens, exponent) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("tokens", SIZES)
def test_both_causal_sinks_are_feasible_and_cost_what_is_stated(tokens):
    frobenius, nuclear = causal_sink_frobenius(tokens), causal_sink_nuclear(tokens)
    for w in (frobenius, nuclear):
        assert all(w[i, 0] - w[i, j] == 1 for i in range(tokens) for j in range(1, i + 1))
    assert sum(x**2 for x in frobenius) == tokens - sympy.harmonic(tokens)
    assert nuclear.rank() == min(1, tokens - 1)
    assert sum(x**2 for x in nuclear) == sympy.Rational((tokens - 1) ** 2, tokens)


def test_the_own_tokens_alone_carry_the_nuclear_dual():
    for tokens in (2, 3, 6):
        g = np.zeros((tokens, tokens))
        g[1:, 0] = 1
        g[range(1, tokens), range(1, tokens)] = -1
        g /= np.sqrt(tokens)
        assert schatten(g, np.inf) == pytest.approx(1)
        nuclear, frobenius = (np.array(w(tokens), float) for w in (causal_sink_nuclear, causal_sink_frobenius))
        assert (g * nuclear).sum() == pytest.approx(schatten(nuclear, 1)) == pytest.approx((g * frobenius).sum())


def test_frobenius_and_nuclear_sinks_agree_at_two_tokens_and_differ_from_three_on():
    def square(matrix):
        return sum(entry**2 for entry in matrix)

    excess = [square(causal_sink_nuclear(t)) - square(causal_sink_frobenius(t)) for t in range(2, 9)]
    assert excess == [sympy.harmonic(t) - 2 + sympy.Rational(1, t) for t in range(2, 9)]
    assert excess[0] == 0 and all(b > a for a, b in zip(excess, excess[1:]))
    assert causal_sink_frobenius(2) == causal_sink_nuclear(2)
    assert causal_sink_frobenius(3) != causal_sink_nuclear(3)
