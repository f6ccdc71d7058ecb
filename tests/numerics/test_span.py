import numpy as np
import pytest

from numerics.constraints import constraints_from_triples, diagonal_constraints, sink_constraints
from numerics.span import token_span


@pytest.mark.parametrize(("count", "dim"), [(5, 3), (3, 6), (1, 4), (4, 4)])
def test_span_logits_give_the_margins_of_the_full_matrix(count, dim):
    rng = np.random.default_rng(count)
    c = sink_constraints(rng.standard_normal((count, dim)), rng.standard_normal(dim), margin=1.0)
    span = token_span(c)
    core = rng.standard_normal((len(span.query_scale), len(span.key_scale)))
    w = span.query_basis @ core @ span.key_basis.T
    full = c.margins(c.queries[c.row_query] @ w @ c.keys.T)
    assert np.abs(c.margins(span.logits(core))[c.competitors] - full[c.competitors]).max() <= 1e-11
    dual = rng.random(c.competitors.shape) * c.competitors
    g = c.queries[c.row_query].T @ c.signed(dual) @ c.keys
    assert np.abs(span.query_basis.T @ g @ span.key_basis - span.pull_back(c.signed(dual))).max() <= 1e-10
    assert np.linalg.norm(g) == pytest.approx(np.linalg.norm(span.pull_back(c.signed(dual))))


def test_rank_deficient_tokens_give_a_smaller_span():
    rng = np.random.default_rng(1)
    tokens = rng.standard_normal((6, 2)) @ rng.standard_normal((2, 5))
    span = token_span(diagonal_constraints(tokens, margin=1.0))
    assert (len(span.query_scale), len(span.key_scale)) == (2, 2)


def test_a_zero_query_and_coinciding_keys_leave_the_weights_finite():
    tokens = np.array([[0.0, 0.0], [1.0, 2.0], [1.0, 2.0]])
    span = token_span(constraints_from_triples(tokens, tokens, [(0, 1, 0), (1, 1, 2), (2, 0, 1)], 1.0))
    assert np.isfinite(span.row_weight).all() and (span.row_weight > 0).all()
