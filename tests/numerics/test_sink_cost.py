import math

import numpy as np
import pytest

from numerics.constraints import sink_constraints
from numerics.reference import reference_minimum_norm
from numerics.sink_cost import sink_cost
from numerics.two_sided import dual_matrix_norm, dual_objective, feasible_scale, margin_floor


def cloud(count, dim, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((count, dim)) + 2.0, -2.0 * rng.random(dim)


@pytest.mark.parametrize("norm", [1.0, 2.0, math.inf])
@pytest.mark.parametrize("levels", [{"margin": 1.7}, {"mass": 0.5}, {"mass": 0.9}])
@pytest.mark.parametrize(("count", "dim"), [(1, 2), (2, 3), (6, 3), (3, 6)])
def test_the_cost_is_the_oracles_in_every_norm(count, dim, levels, norm):
    tokens, sink = cloud(count, dim)
    cost = sink_cost(tokens, sink, **levels)
    value = reference_minimum_norm(sink_constraints(tokens, sink, **levels), norm).value
    assert cost.lower == pytest.approx(value, rel=1e-5, abs=1e-6)
    assert cost.upper == pytest.approx(value, rel=1e-5, abs=1e-6)
    assert cost.gap <= 1e-7


@pytest.mark.parametrize("levels", [{"margin": 1.7}, {"mass": 0.75}])
@pytest.mark.parametrize(("count", "dim"), [(6, 3), (3, 6)])
def test_the_witness_is_feasible_and_its_weights_prove_the_lower_bound(count, dim, levels):
    tokens, sink = cloud(count, dim)
    cost = sink_cost(tokens, sink, **levels)
    c = sink_constraints(tokens, sink, **levels)
    scale = feasible_scale(c, margin_floor(c, cost.left[:, None], cost.right[:, None]))
    assert scale <= 1.0 + 1e-10
    assert np.linalg.norm(cost.left) * np.linalg.norm(cost.right) <= cost.upper * (1 + 1e-13)
    dual = np.zeros(c.competitors.shape)
    dual[:, 1:] = np.outer(cost.query_weights, cost.key_weights)
    for norm in (1.0, 2.0, math.inf):
        assert dual_objective(c, dual) / dual_matrix_norm(c, dual, norm) == pytest.approx(
            cost.lower, rel=1e-8
        )


def test_queries_may_differ_from_keys():
    queries, sink = cloud(4, 3)
    keys = -queries[:2] + 5.0
    cost = sink_cost(queries, sink, keys, margin=1.0)
    assert cost.lower == pytest.approx(1.0 / (cost.query_distance[0] * cost.key_distance[0]), rel=1e-9)
    assert cost.reason == ""


@pytest.mark.parametrize("levels", [{"margin": 1.0}, {"mass": 0.9}])
def test_a_surrounded_origin_or_sink_is_infeasible_with_weights(levels):
    ring = np.array([[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]])
    surrounded = sink_cost(ring, np.array([9.0, 9.0]), **levels)
    assert surrounded.status == "infeasible" and surrounded.upper == math.inf
    assert surrounded.reason.startswith("no W exists: 0 lies in the convex hull of the queries")
    assert np.abs(surrounded.query_weights @ ring).max() <= 1e-15
    inside = sink_cost(ring + 10.0, np.array([10.0, 10.0]), **levels)
    assert inside.status == "infeasible"
    assert inside.reason.startswith("no W exists: the sink lies in the convex hull of the keys")
    assert np.abs(inside.key_weights @ (ring + 10.0) - 10.0).max() <= 1e-13


def test_exchangeable_tokens_cost_the_closed_form():
    count, m = 6, 2.0
    cost = sink_cost(np.eye(count + 1)[:count], np.eye(count + 1)[count], margin=m)
    assert cost.lower == pytest.approx(m * count / math.sqrt(count + 1), rel=1e-12)
    mass = sink_cost(np.eye(count + 1)[:count], np.eye(count + 1)[count], mass=0.8)
    assert mass.lower == pytest.approx(
        (math.log(4.0) + math.log(count)) * count / math.sqrt(count + 1), rel=1e-7
    )


def test_rotating_leaves_the_cost_and_doubling_the_tokens_quarters_it():
    tokens, sink = cloud(5, 4)
    base = sink_cost(tokens, sink, margin=1.0)
    rotation = np.linalg.qr(np.random.default_rng(1).standard_normal((4, 4)))[0]
    assert sink_cost(tokens @ rotation, sink @ rotation, margin=1.0).lower == pytest.approx(
        base.lower, rel=1e-10
    )
    assert sink_cost(2 * tokens, 2 * sink, margin=1.0).lower == pytest.approx(base.lower / 4, rel=1e-10)
    assert sink_cost(tokens[::-1], sink, margin=1.0).lower == pytest.approx(base.lower, rel=1e-10)


def test_bad_levels_and_shapes_are_refused():
    tokens, sink = cloud(3, 2)
    for levels in ({}, {"margin": 1.0, "mass": 0.9}):
        with pytest.raises(ValueError, match="exactly one"):
            sink_cost(tokens, sink, **levels)
    for margin in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="margin > 0"):
            sink_cost(tokens, sink, margin=margin)
    for mass in (0.4, 1.0, math.nan):
        with pytest.raises(ValueError, match=r"\[1/2, 1\)"):
            sink_cost(tokens, sink, mass=mass)
    with pytest.raises(ValueError, match="dim = 2 as in queries"):
        sink_cost(tokens, np.ones(3), margin=1.0)


@pytest.mark.slow
def test_a_large_synthetic_cloud_is_bounded_in_both_forms():
    rng = np.random.default_rng(0)
    tokens = rng.standard_normal((4096, 576))
    tokens[:, 0] += 6.0
    sink = np.zeros(576)
    sink[1] = 40.0
    for levels in ({"margin": 1.0}, {"mass": 0.9}):
        cost = sink_cost(tokens, sink, **levels)
        assert cost.status == "bounded" and cost.gap <= 1e-6
