"""O1 against an expectation computed another way: the covariance of the stacked tokens, with rational matrices."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
import sympy

from theory.oversmoothing_moments import (
    G0, T0, drift_is_an_energy_difference, g, o1_gram, o1_holds, o1_instance, o1m_gram, o1m_holds, phi, tau)
from theory.trace_algebra import (
    Gram, Letter, attention, expected_gram, token_normal_form, trace_normal_form, transpose, value)

RHO = sympy.Symbol("rho")


def _rational(rng: random.Random, rows: int, cols: int) -> sympy.Matrix:
    return sympy.Matrix(rows, cols, lambda i, j: sympy.Rational(rng.randint(-5, 5), rng.randint(1, 4)))


def _model(seed: int, tokens: int, dim: int, heads: int = 1) -> dict[str, object]:
    rng = random.Random(seed)
    root = _rational(rng, dim, dim)
    u = _rational(rng, dim, 1)
    form = _rational(rng, dim, dim)
    a = [_rational(rng, tokens, tokens) for _ in range(heads)]
    for matrix in a:
        for i in range(tokens):
            matrix[i, tokens - 1] += 1 - sum(matrix[i, :])
    return {"A": a, "V": [_rational(rng, dim, dim) for _ in range(heads)], "R": root * root.T, "U": u * u.T,
            "M": form + form.T, "J": sympy.ones(tokens, tokens), "rho": sympy.Rational(2, 5)}


def _matrix(letter: Letter, model: dict, heads: dict[str, int]) -> sympy.Matrix:
    entry = model[letter.name]
    entry = entry[heads.get(letter.head, 0)] if isinstance(entry, list) else entry
    return entry.T if letter.transposed else entry


def _evaluate(gram: Gram, model: dict, tokens: int, dim: int) -> sympy.Matrix:
    """The Gram matrix of the algebra's normal form with the letters replaced by matrices, head sums carried out."""
    total = sympy.zeros(tokens, tokens)
    for (token, word), coefficient in gram.terms.items():
        labels = sorted({letter.head for letter in token + word if letter.head})
        choices = [{}]
        for label in labels:
            choices = [{**choice, label: h} for choice in choices for h in range(len(model["V"]))]
        for heads in choices:
            left, right = sympy.eye(tokens), sympy.eye(dim)
            for letter in token:
                left = left * _matrix(letter, model, heads)
            for letter in word:
                right = right * _matrix(letter, model, heads)
            total += coefficient.subs(RHO, model["rho"]) * right.trace() * left
    return total


def _by_covariance(model: dict, tokens: int, dim: int) -> sympy.Matrix:
    """Cov of vec(x) pushed through 1 + Σ A_h ⊗ V_h, then contracted with M."""
    rho = model["rho"]
    step = sympy.eye(tokens * dim)
    for a, v in zip(model["A"], model["V"], strict=True):
        step += sympy.kronecker_product(a, v)
    moment = sympy.kronecker_product(model["J"], rho * model["U"]) \
        + sympy.kronecker_product(sympy.eye(tokens), (1 - rho) * model["R"])
    after = step * moment * step.T
    return sympy.Matrix(tokens, tokens, lambda i, j: (
        after[i * dim:(i + 1) * dim, j * dim:(j + 1) * dim] * model["M"]).trace())


@pytest.mark.parametrize("tokens, dim, heads", [(1, 1, 1), (2, 3, 1), (3, 2, 1), (2, 2, 2), (3, 1, 3), (1, 3, 2)])
def test_the_formula_equals_the_covariance_pushed_through_the_layer(tokens, dim, heads):
    model = _model(7 * tokens + dim, tokens, dim, heads)
    claimed = o1_gram(RHO) if heads == 1 else o1m_gram(RHO)
    expected = _by_covariance(model, tokens, dim)
    assert (_evaluate(claimed, model, tokens, dim) - expected).applyfunc(sympy.simplify) == sympy.zeros(tokens, tokens)
    derived = expected_gram(RHO, heads=heads > 1)
    assert _evaluate(derived, model, tokens, dim) == expected


def test_o1_and_o1m_hold_as_identities_of_the_algebra():
    assert o1_holds() is True
    assert o1m_holds() is True
    assert drift_is_an_energy_difference() is True


def test_without_row_sums_one_the_identity_fails():
    assert not (expected_gram(RHO, row_sums_one=False) - o1_gram(RHO)).is_zero()


def test_a_transposed_product_is_not_the_expectation():
    a = attention()
    wrong = dict(o1_gram(RHO).terms)
    (key,) = [key for key in wrong if key[0] == (a, a.T)]
    wrong[((a.T, a), key[1])] = wrong.pop(key)
    assert not (expected_gram(RHO) - Gram(wrong)).is_zero()


@pytest.mark.parametrize("seed", range(4))
def test_the_trace_normal_form_preserves_the_trace(seed):
    rng = random.Random(seed)
    model = _model(seed, 2, 3)
    letters = [value(), value().T, Letter("M", symmetric=True), Letter("R", symmetric=True)]
    word = tuple(rng.choice(letters) for _ in range(5))

    def trace(w):
        product = sympy.eye(3)
        for letter in w:
            product = product * _matrix(letter, model, {})
        return product.trace()

    assert trace(word) == trace(trace_normal_form(word)) == trace(transpose(word))


def test_the_token_rewriting_needs_the_transpose_on_the_right_side():
    a, ones = attention(), Letter("J", symmetric=True)
    assert token_normal_form((a, a, ones)) == (ones,)
    assert token_normal_form((ones, a.T)) == (ones,)
    assert token_normal_form((ones, a)) == (ones, a)
    assert token_normal_form((a.T, ones)) == (a.T, ones)


@pytest.mark.parametrize("name, traces", [("t0", T0), ("g0", G0), ("tau", tau()), ("phi", phi()), ("g", g())])
def test_the_statistics_are_the_traces_of_the_claim(name, traces):
    model = _model(11, 2, 3)
    u_square, r, m, v = model["U"], model["R"], model["M"], model["V"][0]
    one = sympy.eye(3)
    expected = {"t0": (r * m).trace(), "g0": (u_square * m).trace(), "tau": (r * (m * v + v.T * m) / 2).trace(),
                "phi": (r * v.T * m * v).trace(), "g": ((one + v) * u_square * (one + v).T * m).trace()}[name]
    total = Fraction(0)
    for word, coefficient in traces.items():
        product = sympy.eye(3)
        for letter in word:
            product = product * _matrix(letter, model, {})
        total += coefficient * product.trace()
    assert total == expected


def test_an_instance_has_every_pair_of_tokens():
    assert len(o1_instance(3, 1).conclusions) == 6
