"""Copy-paste on exchangeable tokens: five variables against C10's formulas, the solvers on explicit tokens, and
duality."""

from __future__ import annotations

import math

import numpy as np
import pytest

from numerics.copy_cost import _Program, off_at_self, off_at_sink
from numerics.minimum_norm import minimum_norm
from numerics.scaling_clouds import exchangeable_tokens
from numerics.tasks import copy_paste

CASES = [  # T, n, p, rho, beta, sigma: tight everywhere, each slack in turn, W of low rank
    (5, 3, 1.0, 0.0, 0.0, 1.0), (7, 4, 2.0, 0.03, 0.12, 0.52), (4, 2, 3.0, 0.42, 0.07, 1.23),
    (5, 3, 2.0, 0.43, 0.58, 0.88),
    (6, 5, 1.0, 0.51, -0.27, 1.03), (6, 1, 1.5, 0.32, -0.4, 1.3), (5, 4, 64.0, 0.2, 0.3, 0.9),
    (4, 3, 1.0, 0.9, 0.05, 0.1)]


@pytest.mark.parametrize("case", CASES)
def test_the_solvers_on_explicit_tokens_find_the_same_cost(case):
    count, copiers, p, rho, beta, sigma = case
    tokens, sink = exchangeable_tokens(count, rho, beta, sigma)
    found = off_at_sink(*case)
    assert 0 < found.lower <= found.upper <= found.lower * (1 + 1e-7)
    cycle = [(i + 1) % copiers for i in range(copiers)]
    away = [(i + 1) % count for i in range(copiers)]  # copied keys may belong to queries that are off
    for copied in (cycle, away):
        solved = minimum_norm(
            copy_paste(tokens, sink, copied + [-1] * (count - copiers), off="sink", margin=1.0).attention, p,
                              tolerance=1e-5)
        assert solved.lower <= found.upper * (1 + 1e-9) and found.lower <= solved.upper * (1
            + 1e-9) and solved.gap <= 1e-5
    own = minimum_norm(copy_paste(tokens, sink, cycle + [-1] * (count - copiers), off="self", margin=1.0).attention, p,
                       tolerance=1e-5)
    value = off_at_self(count, p, rho, beta, sigma)
    assert own.lower * (1 - 1e-9) <= value <= own.upper * (1 + 1e-9) and own.gap <= 1e-5


@pytest.mark.parametrize("copiers, off", [(1, 1), (1, 6), (3, 2), (7, 9)])
def test_orthonormal_tokens_give_the_formulas_of_the_claim(copiers, off):
    count, keys = copiers + off, copiers + off + 1
    found = off_at_sink(count, copiers, 1.0, 0.0, 0.0, 1.0)
    assert found.closed and found.upper == pytest.approx(copiers - 1
        + math.sqrt(off + 2 * off / math.sqrt(keys) + 1 / keys), rel=1e-12)
    assert off_at_self(count, 1.0, 0.0, 0.0, 1.0) == pytest.approx(count - 1 + 1 / math.sqrt(keys), rel=1e-12)
    frobenius = count / math.sqrt(keys)
    assert off_at_sink(count, copiers, 2.0, 0.0, 0.0, 1.0).upper == pytest.approx(frobenius, rel=1e-9)
    assert off_at_self(count, 2.0, 0.0, 0.0, 1.0) == pytest.approx(frobenius, rel=1e-12)


def test_the_gradient_is_the_derivative_and_no_multipliers_are_worth_more_than_the_cost():
    rng = np.random.default_rng(0)
    for count, copiers, p, *rest in CASES[1:4]:
        program, x = _Program(count, copiers, p, *rest), rng.uniform(0.1, 0.5, 5)
        gradient = program.value_and_gradient(x)[1]
        step = 1e-6
        for k, direction in enumerate(np.eye(5)):
            ends = [program.value_and_gradient(x + sign * step * direction)[0] for sign in (1, -1)]
            assert gradient[k] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-6)
        cost = off_at_sink(count, copiers, p, *rest).upper
        assert max(program.dual(rng.exponential(size=5)) for _ in range(50)) <= cost
        assert program.dual(np.zeros(5)) == 0.0


@pytest.mark.parametrize("p", [1.0, 1.0 + 1e-9, 1.0001])
def test_an_exponent_close_to_one_costs_what_one_does(p):
    for rest in ((0.0, 0.0, 1.0), (0.9, 0.05, 0.1), (0.3, 0.1, 0.8)):
        assert off_at_self(6, p, *rest) == pytest.approx(off_at_self(6, 1.0, *rest), rel=1e-3)
        assert off_at_sink(6, 2, p, *rest).upper == pytest.approx(off_at_sink(6, 2, 1.0, *rest).upper, rel=1e-3)


def test_scaling_the_sink_away_makes_it_cheaper_and_more_copiers_dearer():
    costs = [off_at_sink(8, copiers, 1.0, 0.2, 0.0, 1.0).upper for copiers in range(1, 8)]
    assert costs == sorted(costs) and costs[-1] <= off_at_self(8, 1.0, 0.2, 0.0, 1.0) * (1 + 1e-9)
    assert off_at_sink(8, 3, 1.0, 0.2, 0.0, 2.0).upper < off_at_sink(8, 3, 1.0, 0.2, 0.0, 1.0).upper


@pytest.mark.parametrize("case, words",
    [((5, 0, 1.0, 0.1, 0.0, 1.0), "at least one copier"), ((5, 4.5, 1.0, 0.1, 0.0, 1.0), "one query that is off"),
                                         ((5, 2, 1.0, 1.0, 0.0, 1.0), "rho_T > 0")])
def test_a_task_that_is_none_is_one_sentence(case, words):
    with pytest.raises(ValueError, match=words):
        off_at_sink(*case)


@pytest.mark.parametrize("tokens", [
    (4, 0.2, 0.65, 1.0), (5, 0.25, 0.4, math.sqrt(0.4)), (3, 1.0, 0.0, 1.0), (3, -0.5, 0.0, 1.0),
    (3, 0.0, math.nan, 1.0),
], ids=["the Gram matrix is not positive", "the sink is the mean", "one point", "mean zero", "NaN"])
def test_tokens_that_do_not_exist_are_refused(tokens):
    count, *rest = tokens
    with pytest.raises(ValueError, match="a sink apart from their mean"):
        off_at_sink(count, 2, 1.0, *rest)
    with pytest.raises(ValueError, match="a sink apart from their mean"):
        off_at_self(count, 1.0, *rest)
