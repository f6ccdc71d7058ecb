"""C9: closed forms and witnesses against the plain program, and crossings enclosed by an independent
ball-arithmetic check."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy
from cost_oracle import cheapest, exchangeable
from flint import acb, arb, ctx, fmpq

from theory.costs_bigram import (
    ansatz_cost,
    self_default_frobenius,
    self_default_short_cycles,
    sink_default_cost,
)
from theory.costs_bigram_beyond import FIVE, FOUR, LONG, MIXED_THRESHOLD, THRESHOLD
from theory.costs_bigram_witness import CirculantWitness, witness

TYPES = [(2,), (3,), (4,), (2, 2), (5,), (2, 3)]
# (length, cycles): the last one where self is cheaper and the first where the sink is
CROSSINGS = [
    ((3, 16), (3, 17)),
    ((4, 36), (4, 37)),
    ((5, 26), (5, 27)),
    ((6, 16), (6, 17)),
    ((7, 15), (7, 16)),
    ((10, 9), (10, 10)),
    ((20, 4), (20, 5)),
    ((25, 3), (25, 4)),
    ((50, 1), (50, 2)),
]


def permutation(lengths):
    image, start = [], 0
    for length in lengths:
        image += [start + (i + 1) % length for i in range(length)]
        start += length
    return image


def self_pairs(lengths, x):
    pi = permutation(lengths)
    n = len(pi)
    pairs = [(np.outer(x[i], x[pi[i]] - x[i]), 1) for i in range(n)]
    return pairs + [
        (np.outer(x[i], x[i] - x[j]), 1) for i in range(n) for j in range(n) if j not in (i, pi[i])
    ]


def sink_pairs(lengths, x, s):
    pi = permutation(lengths)
    n = len(pi)
    pairs = [(np.outer(x[i], x[pi[i]] - s), 1) for i in range(n)]
    return pairs + [(np.outer(x[i], s - x[j]), 1) for i in range(n) for j in range(n) if j != pi[i]]


def aligned(n, c):
    return exchangeable(n, 1, c**2, -c, 1)


@pytest.mark.parametrize("lengths", TYPES)
@pytest.mark.parametrize("c", [0, 0.5])
@pytest.mark.parametrize("exponent", [1, 2])
def test_the_sink_default_costs_the_closed_form_for_every_cycle_type(lengths, c, exponent):
    x, s = aligned(sum(lengths), c)
    found = cheapest(sink_pairs(lengths, x, s), x.shape[1], exponent)
    assert found == pytest.approx(
        float(sink_default_cost(sum(lengths), sympy.Rational(str(c)), exponent)), rel=1e-5
    )


@pytest.mark.parametrize("lengths", TYPES)
@pytest.mark.parametrize("c", [0, 0.5])
def test_the_self_default_costs_the_closed_form_in_frobenius_norm_for_every_cycle_type(lengths, c):
    x, _ = aligned(sum(lengths), c)
    found = cheapest(self_pairs(lengths, x), x.shape[1], 2)
    assert found == pytest.approx(
        float(self_default_frobenius(sum(lengths), sympy.Rational(str(c)))), rel=1e-5
    )


@pytest.mark.parametrize("lengths", TYPES)
@pytest.mark.parametrize("c", [0, 0.5])
def test_for_few_tokens_the_ansatz_is_the_nuclear_optimum_of_the_self_default(lengths, c):
    x, _ = aligned(sum(lengths), c)
    found = cheapest(self_pairs(lengths, x), x.shape[1], 1) * (1 - c**2)
    assert found == pytest.approx(float(ansatz_cost(lengths)), rel=1e-5)
    if set(lengths) <= {2, 3}:
        exact = self_default_short_cycles(lengths.count(2), lengths.count(3))
        assert float(exact) == pytest.approx(float(ansatz_cost(lengths)))


def enclose(data: CirculantWitness) -> tuple[arb, arb]:
    """Check feasibility exactly and enclose (objective over spectral norm, nuclear norm) from assembled
    eigenvalues."""
    l, k = data.length, data.cycles
    c, y = [Fraction(v) for v in data.circulant], Fraction(data.cross_entry)
    alpha, gamma, cross = Fraction(data.target), [Fraction(v) for v in data.others], Fraction(data.cross)
    assert len(c) == l and len(gamma) == l - 2
    assert c[1] - c[0] >= 1 and all(c[0] - v >= 1 for v in c[2:]) and (k == 1 or c[0] - y >= 1)
    assert min([alpha, cross, *gamma]) >= 0 and (k > 1 or cross == 0)
    own = -alpha + sum(gamma) + (k - 1) * l * cross
    row = [own, alpha, *(-v for v in gamma)]
    ctx.prec = 100
    powers = [acb(fmpq(2 * t, l)).exp_pi_i() for t in range(l)]
    balls = [[arb(fmpq(v.numerator, v.denominator)) for v in values] for values in (c, row)]

    def modulus(values, t):
        return abs(sum((v * powers[t * j % l] for j, v in enumerate(values)), acb(0)))

    def ball(v):
        return arb(fmpq(v.numerator, v.denominator))

    nuclear = k * sum((modulus(balls[0], t) for t in range(1, l)), arb(0))
    nuclear += (k - 1) * abs(ball(sum(c) - l * y)) + abs(ball(sum(c) + (k - 1) * l * y))
    spectral = ball(l * k * cross)
    for t in range(1, l):
        spectral = spectral.max(modulus(balls[1], t))
    return ball(l * k * (alpha + sum(gamma) + (k - 1) * l * cross)) / spectral, nuclear


def assemble(data: CirculantWitness):
    """The full primal and dual matrices."""
    l, k = data.length, data.cycles
    n = l * k

    def block(row):
        return np.array([[float(row[(j - i) % l]) for j in range(l)] for i in range(l)])

    c = [Fraction(v) for v in data.circulant]
    gamma, cross = [Fraction(v) for v in data.others], Fraction(data.cross)
    own = -Fraction(data.target) + sum(gamma) + (k - 1) * l * cross
    ones = np.ones((l, l))
    off = np.ones((k, k)) - np.eye(k)
    primal = np.kron(np.eye(k), block(c)) + float(Fraction(data.cross_entry)) * np.kron(off, ones)
    dual = np.kron(np.eye(k), block([own, Fraction(data.target), *(-g for g in gamma)])) - float(
        cross
    ) * np.kron(off, ones)
    assert dual.shape == (n, n)
    return primal, dual


@pytest.mark.parametrize(
    "length, cycles", [(2, 1), (2, 3), (3, 1), (3, 2), (4, 1), (4, 3), (5, 1), (7, 2), (5, 30)]
)
def test_the_assembled_matrices_have_the_singular_values_of_the_reduced_ones(length, cycles):
    data = witness(length, cycles)
    primal, dual = assemble(data)
    pi = permutation((length,) * cycles)
    n = len(pi)
    assert all(primal[i, pi[i]] - primal[i, i] >= 1 - 1e-9 for i in range(n))
    assert all(
        primal[i, i] - primal[i, j] >= 1 - 1e-9 for i in range(n) for j in range(n) if j not in (i, pi[i])
    )
    assert np.abs(dual.sum(1)).max() < 1e-9
    lower, upper = enclose(data)
    objective = float(
        n * (Fraction(data.target) + sum(map(Fraction, data.others)) + (n - length) * Fraction(data.cross))
    )
    assert np.linalg.norm(primal, "nuc") == pytest.approx(float(upper))
    assert objective / np.linalg.norm(dual, 2) == pytest.approx(float(lower))
    assert not upper < lower and upper - lower <= 1e-5 * upper


@pytest.mark.parametrize("lengths", [(4,), (2, 2), (5,), (3, 3), (6,)])
def test_the_witnesses_bracket_the_plain_program(lengths):
    found = cheapest(self_pairs(lengths, np.eye(sum(lengths))), sum(lengths), 1)
    lower, upper = enclose(witness(lengths[0], len(lengths)))
    assert float(lower) - 1e-4 <= found <= float(upper) + 1e-4


def sink_ball(n, c=Fraction(0)):
    extra = Fraction((n - 2) ** 2) * (1 - c**2) ** 2 / ((1 + (n - 1) * c**2) * (1 - c**2 + n * (1 + c) ** 2))
    return 2 * (n - 1) + arb(fmpq(extra.numerator, extra.denominator)).sqrt()


@pytest.mark.parametrize("last, first", CROSSINGS)
def test_the_sink_becomes_cheaper_between_the_two_sizes(last, first):
    assert enclose(witness(*last))[1] < sink_ball(last[0] * last[1])
    assert enclose(witness(*first))[0] > sink_ball(first[0] * first[1])


@pytest.mark.parametrize(
    "c, last",
    [("0", 99), ("1/100", 95), ("1/20", 72), ("1/10", 50), ("1/4", 25), ("1/2", 13), ("3/4", 9), ("9/10", 8)],
)
def test_one_cycle_changes_sides_between_the_two_sizes_at_each_alignment(c, last):
    assert enclose(witness(last))[1] < sink_ball(last, Fraction(c))
    assert enclose(witness(last + 1))[0] > sink_ball(last + 1, Fraction(c))


@pytest.mark.parametrize(
    "c, last", [("0", 48), ("1/100", 48), ("1/20", 42), ("1/10", 33), ("1/4", 18), ("1/2", 9), ("3/4", 6)]
)
def test_three_cycles_change_sides_between_the_two_sizes_at_each_alignment(c, last):
    def self_ball(n):
        return 2 * n - 3 + (2 * arb(3).sqrt() - 3) * (n // 3)

    for n in range(3, 90, 3):
        assert (
            self_ball(n) < sink_ball(n, Fraction(c))
            if n <= last
            else self_ball(n) > sink_ball(n, Fraction(c))
        )


def test_the_ansatz_would_put_the_crossing_of_one_cycle_too_early():
    assert arb(float(ansatz_cost((72,))) + 1e-9) < sink_ball(72)
    assert sink_ball(73) < arb(float(ansatz_cost((73,))) - 1e-9)
    assert enclose(witness(73))[1] < sink_ball(73)  # 27 tokens before the true crossing


def test_the_ansatz_is_optimal_for_one_cycle_exactly_up_to_eleven_tokens():
    for n in range(2, 12):
        assert float(enclose(witness(n))[0]) == pytest.approx(float(ansatz_cost((n,))), rel=1e-7)
    for n in (12, 13, 20):
        upper = enclose(witness(n))[1]
        assert upper < arb(str(sympy.N(ansatz_cost((n,)), 25)))


def test_involutions_cost_2n_minus_3_and_the_sink_never_wins():
    for cycles in (1, 2, 5):
        n = 2 * cycles
        lower, upper = enclose(witness(2, cycles))
        assert float(upper) == pytest.approx(2 * n - 3) == pytest.approx(float(lower), abs=1e-6)
        assert upper < sink_ball(n, Fraction(99, 100))


def test_aligned_frobenius_crosses_once_and_orthonormal_frobenius_never():
    c = sympy.Rational(1, 100)
    signs = [sympy.sign(self_default_frobenius(n, c) - sink_default_cost(n, c, 2)) for n in range(2, 60)]
    assert signs == [-1] * 21 + [1] * 37  # 22 | 23
    assert all(self_default_frobenius(n) < sink_default_cost(n, 0, 2) for n in (2, 5, 100, 10**6))


def test_a_damaged_witness_is_rejected():
    data = witness(5)
    shifted = (str(Fraction(data.circulant[0]) + Fraction(1, 10**30)), *data.circulant[1:])
    with pytest.raises(AssertionError):
        enclose(replace(data, circulant=shifted))
    with pytest.raises(AssertionError):
        enclose(replace(data, others=("-1/1000000", *data.others[1:])))


def test_a_fixed_point_is_refused():
    with pytest.raises(ValueError, match="a 1-cycle is fixed"):
        witness(1, 3)


@pytest.mark.parametrize("polynomial, length", [(LONG, 6), (LONG, 7), (LONG, 50), (FIVE, 5), (FOUR, 4)])
def test_the_dual_polynomials_bound_the_cost_from_below(polynomial, length):
    values = [
        abs(sum(float(v) * np.exp(2j * np.pi * t * j / length) for j, v in polynomial.coefficients.items()))
        for t in range(length)
    ]
    assert max(values) <= 1 + 1e-12
    assert all(v < 0 for j, v in polynomial.coefficients.items() if j not in (0, 1))
    for cycles in (1, 2, 3):
        bound = length * cycles * polynomial.slope - 3 * polynomial.offset
        assert float(bound) <= float(enclose(witness(length, cycles))[1])


@pytest.mark.parametrize("lengths, polynomials", [((4, 5), (FOUR, FIVE)), ((4, 6), (FOUR, LONG))])
def test_mixed_cycle_types_obey_the_summed_bound(lengths, polynomials):
    n = sum(lengths)
    bound = sum(l * g.slope for l, g in zip(lengths, polynomials)) - 3 * max(g.offset for g in polynomials)
    pi, start, dual = permutation(lengths), 0, np.zeros((n, n))
    for l, g in zip(lengths, polynomials):
        for i in range(l):
            dual[start + i] -= float(g.offset) / n
            for j, v in g.coefficients.items():
                dual[start + i, start + (i + j) % l] += float(v)
        start += l
    off = [dual[i, j] for i in range(n) for j in range(n) if j not in (i, pi[i])]
    assert np.abs(dual.sum(1)).max() < 1e-12 and max(off) < 0 and np.linalg.norm(dual, 2) <= 1 + 1e-12
    objective = sum(dual[i, pi[i]] for i in range(n)) - sum(off)
    assert objective >= float(bound) - 1e-9
    assert float(bound) <= float(ansatz_cost(lengths))


def test_beyond_the_thresholds_the_bounds_exceed_the_sink():
    for n in (THRESHOLD, 1000):
        for g in (LONG, FIVE, FOUR):
            assert sink_ball(n) < arb(float(n * g.slope - 3 * g.offset) - 1e-9)
    assert sink_ball(MIXED_THRESHOLD) < arb(MIXED_THRESHOLD * 2.07 - 3 - 1e-9)


@pytest.mark.slow
def test_one_cycle_is_decided_at_every_size_up_to_120_with_one_change_of_sides():
    for length in range(2, 121):
        lower, upper = enclose(witness(length))
        assert upper < sink_ball(length) if length < 100 else lower > sink_ball(length)
