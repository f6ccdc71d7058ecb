import numpy as np
import pytest

from numerics.constraints import Constraints, constraints_from_triples, diagonal_constraints, sink_constraints

X = np.random.default_rng(0).standard_normal((4, 3))
SINK = np.array([1.0, 2.0, 3.0])


def triples(constraints):
    return sorted(zip(*(part.tolist() for part in constraints.triples()), strict=True))


def test_the_sink_pattern_lists_every_content_pair_own_token_included():
    c = sink_constraints(X, SINK, margin=1.0)
    assert triples(c) == sorted((i, 0, j) for i in range(1, 5) for j in range(1, 5))
    assert (c.keys[0] == SINK).all()


def test_the_causal_sink_keeps_pairs_with_j_at_most_i():
    c = sink_constraints(X, SINK, margin=1.0, causal=True)
    assert triples(c) == sorted((i, 0, j) for i in range(1, 5) for j in range(1, i + 1))


def test_the_sink_as_a_causal_query_sees_no_competitor():
    causal = sink_constraints(X, SINK, margin=1.0, causal=True, sink_queries=True)
    assert 0 not in causal.row_query
    assert 0 in sink_constraints(X, SINK, margin=1.0, sink_queries=True).row_query


def test_the_diagonal_lists_ordered_pairs_and_the_causal_one_earlier_keys():
    assert triples(diagonal_constraints(X, margin=1.0)) == sorted(
        (i, i, j) for i in range(4) for j in range(4) if i != j
    )
    causal = diagonal_constraints(X, margin=1.0, causal=True)
    assert triples(causal) == sorted((i, i, j) for i in range(4) for j in range(i))


def test_a_sink_among_the_keys_competes_with_every_diagonal_row():
    c = diagonal_constraints(X, margin=1.0, sink=SINK)
    assert c.competitors[:, -1].all() and (c.keys[-1] == SINK).all()


def test_one_token_asks_for_nothing_on_the_diagonal():
    assert diagonal_constraints(X[:1], margin=1.0).num_rows == 0


def test_triples_with_one_query_key_and_margin_share_a_row():
    c = constraints_from_triples(X, X, [(0, 1, 2), (0, 1, 3), (0, 1, 0), (1, 1, 2)], [1.0, 1.0, 2.0, 1.0])
    assert c.num_rows == 3 and c.num_constraints == 4
    assert triples(c) == [(0, 1, 0), (0, 1, 2), (0, 1, 3), (1, 1, 2)]


def test_margins_and_signed_duals_are_adjoint():
    c = sink_constraints(X, SINK, margin=1.0, causal=True)
    rng = np.random.default_rng(1)
    w = rng.standard_normal((3, 3))
    dual = rng.random(c.competitors.shape) * c.competitors
    margins = c.margins(c.queries[c.row_query] @ w @ c.keys.T)
    direct = sum(
        dual[row, b] * np.outer(c.queries[c.row_query[row]], c.keys[c.favoured[row]] - c.keys[b])
        for row, b in zip(*np.nonzero(c.competitors), strict=True)
    )
    through_rows = c.queries[c.row_query].T @ c.signed(dual) @ c.keys
    assert np.abs(direct - through_rows).max() <= 1e-12
    paired = float((dual * np.where(c.competitors, margins, 0.0)).sum())
    assert float((w * direct).sum()) == pytest.approx(paired)


@pytest.mark.parametrize("margin", [0.0, -1.0, np.nan, np.inf])
def test_a_margin_that_is_not_positive_and_finite_is_refused(margin):
    with pytest.raises(ValueError, match="expected .*margin"):
        diagonal_constraints(X, margin=margin)


@pytest.mark.parametrize("mass", [0.0, 1.0, -0.1, 1.5, np.nan])
def test_a_mass_outside_the_open_unit_interval_is_refused(mass):
    with pytest.raises(ValueError, match="expected .*mass"):
        diagonal_constraints(X, mass=mass)


def test_both_levels_or_neither_are_refused():
    for levels in ({}, {"margin": 1.0, "mass": 0.9}):
        with pytest.raises(ValueError, match="exactly one"):
            diagonal_constraints(X, **levels)


@pytest.mark.parametrize(
    "tokens",
    [
        np.zeros((0, 3)),
        np.zeros(3),
        np.full((2, 2), np.nan),
        np.zeros((2, 2), dtype=complex),
        np.array([["a"]]),
    ],
)
def test_bad_tokens_are_refused(tokens):
    with pytest.raises(ValueError, match="expected"):
        diagonal_constraints(tokens, margin=1.0)


def test_rows_that_do_not_fit_are_refused():
    mask = np.ones((1, 4), dtype=bool)
    with pytest.raises(ValueError, match="competing with itself"):
        Constraints(X, X, [0], [1], mask, margin=np.array(1.0))
    mask[0, 1] = False
    with pytest.raises(ValueError, match="indices"):
        Constraints(X, X, [4], [1], mask, margin=np.array(1.0))
    with pytest.raises(ValueError, match="dim = 3 as in queries"):
        Constraints(X, X[:, :2], [0], [1], mask, margin=np.array(1.0))
    with pytest.raises(ValueError, match="favoured keys"):
        Constraints(X, X, [0], [1], mask[:, :3], margin=np.array(1.0))
    with pytest.raises(ValueError, match="one level per row"):
        Constraints(X, X, [0], [1], mask, margin=np.ones(3))
    with pytest.raises(ValueError, match="of shape"):
        sink_constraints(X, SINK[:2], margin=1.0)
    with pytest.raises(ValueError, match="non-empty list"):
        constraints_from_triples(X, X, [], 1.0)
    with pytest.raises(ValueError, match="competitors in"):
        constraints_from_triples(X, X, [(0, 1, 9)], 1.0)
