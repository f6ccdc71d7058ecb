import math

import cvxpy as cp
import numpy as np
import pytest

from numerics.schatten import dual_exponent, schatten_norm
from numerics.value_cost import value_cost

NORMS = [1.0, 1.5, 2.0, math.inf]


def instance(seed=0, count=3, dim=5, out=4):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((count, dim)), rng.standard_normal((count, out)), rng.standard_normal(dim)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("nulled", [False, True])
def test_bounds_meet_and_are_shown_by_v_and_the_dual(norm, nulled):
    inputs, targets, sink = instance()
    cost = value_cost(inputs, targets, norm, null=sink if nulled else None)
    assert cost.status == "independent" and cost.lower <= cost.upper and cost.gap <= 1e-10
    assert np.abs(inputs @ cost.w_vo.T - targets).max() <= 1e-12
    every = np.vstack([inputs, sink]) if nulled else inputs
    wanted = np.vstack([targets, np.zeros(4)]) if nulled else targets
    assert schatten_norm(cost.dual @ every, dual_exponent(norm)) <= 1.0 + 1e-12
    assert float((cost.dual.T * wanted).sum()) == pytest.approx(cost.lower)


@pytest.mark.parametrize("norm", [1.0, 2.0, math.inf])
def test_the_cost_is_the_oracles(norm):
    inputs, targets, sink = instance(1)
    v = cp.Variable((4, 5))
    size = {1.0: cp.normNuc(v), 2.0: cp.norm(v, "fro"), math.inf: cp.sigma_max(v)}[norm]
    asked = [v @ inputs[j] == targets[j] for j in range(3)] + [v @ sink == 0]
    value = cp.Problem(cp.Minimize(size), asked).solve(solver="CLARABEL")
    assert value_cost(inputs, targets, norm, null=sink).upper == pytest.approx(value, rel=1e-5)


def test_orthonormal_inputs_cost_the_norm_of_the_targets():
    targets = np.random.default_rng(2).standard_normal((3, 4))
    for norm in NORMS:
        assert value_cost(np.eye(5)[:3], targets, norm, null=np.eye(5)[4]).upper == pytest.approx(
            schatten_norm(targets, norm)
        )


def test_dependent_inputs_with_agreeing_targets_are_consistent():
    inputs, targets, _ = instance(3)
    cost = value_cost(np.vstack([inputs, inputs.sum(axis=0)]), np.vstack([targets, targets.sum(axis=0)]), 2.0)
    assert cost.status == "consistent" and cost.rank == 3
    assert cost.gap <= 1e-10 and cost.residual <= 1e-12


def test_dependent_inputs_with_other_targets_are_inconsistent_and_say_why():
    inputs, targets, _ = instance(4)
    every = np.vstack([inputs, inputs[0]])
    wanted = np.vstack([targets, targets[0] + 1.0])
    cost = value_cost(every, wanted, 1.0)
    assert cost.status == "inconsistent" and cost.upper == math.inf
    assert np.abs(cost.conflict @ every).max() <= 1e-12
    assert np.linalg.norm(cost.conflict @ wanted) == pytest.approx(cost.residual) and cost.residual > 0.1


def test_a_nulled_token_in_the_span_of_others_is_inconsistent():
    inputs, targets, _ = instance(5)
    assert value_cost(inputs, targets, 1.0, null=inputs[0]).status == "inconsistent"


def test_near_dependence_shows_in_the_condition():
    inputs, targets, _ = instance(6)
    inputs[1] = inputs[0] + 1e-7 * inputs[1]
    assert value_cost(inputs, targets, 2.0).condition >= 1e6


def test_zero_targets_cost_nothing():
    inputs, targets, _ = instance(7)
    cost = value_cost(inputs, 0.0 * targets, 1.0)
    assert cost.lower == 0.0 and cost.upper <= 1e-14


def test_bad_arrays_are_refused():
    inputs, targets, sink = instance(8)
    with pytest.raises(ValueError, match="input = 3 as in inputs"):
        value_cost(inputs, targets[:2], 1.0)
    with pytest.raises(ValueError, match="expected null of shape"):
        value_cost(inputs, targets, 1.0, null=sink[:2])
    with pytest.raises(ValueError, match="p >= 1"):
        value_cost(inputs, targets, 0.5)
    with pytest.raises(ValueError, match="finite entries in targets"):
        value_cost(inputs, targets * np.nan, 1.0)
