"""The engines of `numerics` find the costs that the cost claims' explicit matrices certify."""

from __future__ import annotations

from math import inf, isnan, sqrt

import numpy as np
import pytest

from numerics.constraints import sink_constraints
from numerics.diagonal_bound import diagonal_cost
from numerics.minimum_norm import minimum_norm
from numerics.sink_cost import sink_cost
from numerics.tasks import inverse_bigram
from proofs_check.claims.costs import c4, c5, c9, c11, c12, routes
from proofs_check.engines.gathering import to_float


def one_value_slack(values) -> float:
    """A diagonal certificate with one repeated singular value against the engine, for three norms."""
    pairs = []
    for norm in routes.NORMS:
        found = diagonal_cost(values["x"], norm, margin=values["m"])
        formula = values["s"] * (1 if norm == inf else values["count"] ** (1 / norm))
        pairs += [(found.lower, formula), (found.upper, formula)]
    return routes.slack(pairs)


def token_sink_slack(values) -> float:
    """The sink among orthonormal tokens against the engine: m√(T-1)."""
    x = values["x"]
    found, formula = sink_cost(x, x[0], x[1:], margin=values["m"]), values["m"] * sqrt(len(x) - 1)
    return routes.slack([(found.lower, formula), (found.upper, formula)])


def causal_diagonal_slack(values) -> float:
    """C11's diagonal for three norms."""
    size = len(values["W"])
    if size == 1:
        return routes.TOLERANCE
    pairs = []
    for norm in routes.NORMS:
        found = diagonal_cost(np.eye(size), norm, margin=1.0, causal=True)
        terms = [1 - 1 / i for i in range(2, size + 1)]
        formula = sqrt(max(terms)) if norm == inf else sum(term ** (norm / 2) for term in terms) ** (1 / norm)
        pairs += [(found.lower, formula), (found.upper, formula)]
    return routes.slack(pairs)


def causal_sink_slack(values) -> float:
    """C11's sink in Frobenius and nuclear norm."""
    size = len(values["F"])
    if size == 1:
        return routes.TOLERANCE
    eye = np.eye(size)
    asked = sink_constraints(eye[1:], eye[0], margin=1.0, causal=True)
    pairs = []
    frobenius = sqrt(size - sum(1 / i for i in range(1, size + 1)))
    for norm, formula in ((2.0, frobenius), (1.0, (size - 1) / sqrt(size))):
        found = minimum_norm(asked, norm)
        pairs += [(found.lower, formula), (found.upper, formula)]
    return routes.slack(pairs)


def bigram_sink_slack(values) -> float:
    """C9's sink default on orthonormal tokens in nuclear and Frobenius norm."""
    size = len(values["W"])
    eye = np.eye(size + 1)
    asked = inverse_bigram(eye[:size], np.array(values["target"]), sink=eye[size]).attention
    pairs = []
    nuclear = 2 * (size - 1) + (size - 2) / sqrt(size + 1)
    frobenius = sqrt(size * (5 * size - 4) / (size + 1))
    for norm, formula in ((1.0, nuclear), (2.0, frobenius)):
        found = minimum_norm(asked, norm)
        pairs += [(found.lower, formula), (found.upper, formula)]
    return routes.slack(pairs)


@pytest.mark.parametrize(("part", "slack"), [
    (c5.AMONG_ON_MATRICES, token_sink_slack), (c11.DIAGONAL_ON_MATRICES, causal_diagonal_slack),
    (c11.SINK_ON_MATRICES, causal_sink_slack), (c12.CIRCLE_ON_MATRICES, one_value_slack)])
def test_the_float_engines_find_the_costs_of_the_explicit_matrices(part, slack):
    for instance in list(part.instances(0))[:4]:
        assert slack(to_float(part, instance)) > 0


def test_the_float_engine_finds_the_cost_of_the_sink_default():
    for instance in list(c9.ON_MATRICES.instances(0))[:3]:
        assert bigram_sink_slack(to_float(c9.ON_MATRICES, instance)) > 0


def test_the_second_routes_see_a_wrong_formula():
    sink, diagonal_point = dict(c4.SINK.satisfiable.values), dict(c4.DIAGONAL.satisfiable.values)
    assert routes.sink_slack({k: float(v) for k, v in sink.items()}) > 0
    assert routes.slack([(1.0, 1.01)]) < 0 and isnan(routes.slack([(float("nan"), 1.0)]))
    assert routes.diagonal_slack({**{k: float(v) for k, v in diagonal_point.items()}, "N": 1.9}) < 0
    found = to_float(c12.CIRCLE_ON_MATRICES, c12.SQUARE)
    assert one_value_slack({**found, "s": 1.01}) < 0
