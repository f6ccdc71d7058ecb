"""Gordan's alternative and sink representability against linear programming and hand-made instances."""

import numpy as np
import pytest
from scipy.optimize import linprog

from numerics.embeddings import load_pool
from numerics.gordan import gordan, pair_rows, representable, sink_pairs
from numerics.hull import min_norm_point


def lp_margin(rows):
    """Oracle: max t with <u, row> >= t ||row||_inf for every row and |u| <= 1 in each coordinate."""
    sized = rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-300)
    dim = rows.shape[1]
    solved = linprog(
        np.append(np.zeros(dim), -1.0),
        A_ub=np.column_stack([-sized, np.ones(len(rows))]),
        b_ub=np.zeros(len(rows)),
        bounds=[(-1, 1)] * dim + [(None, None)],
    )
    assert solved.status == 0
    return -solved.fun


def check_alternative(rows, found):
    if found.kind == "normal":
        assert found.weights is None and len(found.support) == 0
        assert (rows @ found.normal > 0).all() and (rows @ found.normal).min() >= found.margin > 0
    if found.kind == "weights":
        assert found.normal is None and (found.weights > 0).all()
        assert found.weights.sum() == pytest.approx(1.0, abs=1e-12)
        combination = np.linalg.norm(found.weights @ rows[found.support])
        assert (
            combination
            <= found.residual
            <= 1e-12 * np.linalg.norm(rows[found.support], axis=1).max() + 1e-300
        )


def check_representation(tokens, sink, pairs, found):
    if found.kind == "representable":
        margins = [tokens[i] @ found.w_qk @ (tokens[sink] - tokens[j]) for i, j in pairs]
        assert min(margins) == pytest.approx(1.0, rel=1e-9) and found.margin == pytest.approx(1.0, rel=1e-9)
        assert not found.rank_one or np.linalg.matrix_rank(found.w_qk) == 1
    if found.kind == "not_representable":
        assert found.w_qk is None and (found.weights > 0).all()
        assert {tuple(p) for p in found.support} <= {tuple(p) for p in pairs}
        combination = found.weights @ pair_rows(tokens, sink, found.support)
        assert np.abs(combination).max() <= 1e-12 * max(1.0, np.abs(tokens).max() ** 2)


@pytest.mark.parametrize(
    "rows, kind, support",
    [
        ([[1.0, 2.0]], "normal", []),
        ([[0.0, 0.0]], "weights", [0]),
        ([[1.0, 1.0], [0.0, 0.0], [3.0, 1.0]], "weights", [1]),
        ([[1.0, 0.0], [-2.0, 0.0], [0.0, 1.0]], "weights", [0, 1]),
        ([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], "weights", [0, 1, 2]),
        ([[1.0, 0.0], [-1.0, 1e-7]], "normal", []),
        ([[1e-30, 0.0], [-1e20, 1e20]], "normal", []),
    ],
)
def test_small_systems_have_their_known_side(rows, kind, support):
    found = gordan(np.array(rows))
    check_alternative(np.array(rows), found)
    assert found.kind == kind and found.support.tolist() == support


def test_weights_undo_the_scaling_of_the_rows():
    found = gordan(np.array([[1e-9, 0.0], [-3e9, 0.0], [0.0, 1.0]]))
    assert found.kind == "weights" and found.support.tolist() == [0, 1]
    assert found.weights[1] / found.weights[0] == pytest.approx(1e-18 / 3, rel=1e-12)


def test_the_side_does_not_change_when_rows_are_rescaled_permuted_or_repeated():
    rng = np.random.default_rng(0)
    for offset, kind in ((0.0, "weights"), (3.0, "normal")):
        rows = rng.normal(size=(40, 5))
        rows[:, 0] += offset
        for variant in (
            rows * 10.0 ** rng.integers(-8, 9, size=(40, 1)),
            rows[rng.permutation(40)],
            np.repeat(rows, 2, axis=0),
            rows @ np.linalg.qr(rng.normal(size=(5, 5)))[0],
        ):
            found = gordan(variant)
            check_alternative(variant, found)
            assert found.kind == kind


def test_scaling_the_rows_decides_what_the_cloud_itself_leaves_open():
    angle = np.linspace(0.0, 2.0 * np.pi, 2001)[:-1]
    rows = np.column_stack([np.cos(angle) + 1.0, np.sin(angle)])  # one row is (0, 1.2e-16)
    assert min_norm_point(rows).status == "undecided"
    found = gordan(rows)
    check_alternative(rows, found)
    assert found.kind == "normal"


def test_what_float64_cannot_decide_is_never_called_stable():
    # Separated by the third coordinate, exactly, with a margin that rounding in the first two hides.
    rows = np.array([[1.0, 1.0, 1e-17], [-1.0, -0.1, 1e-17], [-1.0, -1.9, 1e-17], [0.3, 0.7, 1e-17]])
    found = gordan(rows)
    check_alternative(rows, found)
    assert found.kind == "normal" or not found.stable


def test_pairs_contain_the_own_token_and_never_the_sink_as_key():
    assert sink_pairs(3, 0, causal=True).tolist() == [[1, 1], [2, 1], [2, 2]]
    assert sink_pairs(3, 1, causal=False).tolist() == [[0, 0], [0, 2], [2, 0], [2, 2]]
    assert sink_pairs(4, 1, causal=True).tolist() == [[2, 0], [2, 2], [3, 0], [3, 2], [3, 3]]
    assert sink_pairs(2, 0, causal=True, queries=[0, 1]).tolist() == [[1, 1]]
    assert sink_pairs(3, 0, causal=False, queries=[0], keys=[2]).tolist() == [[0, 2]]
    assert sink_pairs(3, 0, causal=True, queries=[1], keys=[2]).shape == (0, 2)


def test_causal_pairs_with_the_sink_first_have_a_full_row_and_a_full_column():
    pairs = sink_pairs(6, 0, causal=True)
    assert sorted(pairs[pairs[:, 0] == 5, 1]) == sorted(pairs[pairs[:, 1] == 1, 0]) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "arguments",
    [
        dict(num_tokens=3, sink=3, causal=False),
        dict(num_tokens=1, sink=0, causal=True),
        dict(num_tokens=3, sink=0, causal=False, queries=[]),
        dict(num_tokens=3, sink=0, causal=False, keys=[]),
        dict(num_tokens=3, sink=0, causal=False, keys=[0, 1]),
        dict(num_tokens=3, sink=0, causal=False, queries=[3]),
        dict(num_tokens=3, sink=0, causal=False, keys=[-1]),
        dict(num_tokens=3, sink=1, causal=True, queries=[0, 2]),
        dict(num_tokens=3, sink=2, causal=True),
    ],
)
def test_impossible_pair_sets_are_refused_in_one_sentence(arguments):
    with pytest.raises(ValueError, match="^expected .*; .*[^.]$"):
        sink_pairs(**arguments)


@pytest.mark.parametrize(
    "sink, pairs",
    [
        (0, np.empty((0, 2), dtype=int)),
        (0, np.array([[1, 3]])),
        (0, np.array([[-1, 1]])),
        (0, np.array([[1, 0]])),
        (0, np.array([[1.0, 1.0]])),
        (0, np.array([1, 1])),
        (5, np.array([[1, 1]])),
    ],
)
def test_pairs_that_name_no_demand_are_refused(sink, pairs):
    with pytest.raises(ValueError, match="^expected .*; .*[^.]$"):
        representable(np.eye(3), sink, pairs)


def test_a_general_pair_problem_beyond_memory_is_refused_not_attempted():
    rng = np.random.default_rng(1)
    tokens = rng.normal(size=(700, 600))
    tokens[2] = -tokens[1]  # no half-space for the queries, and no key that meets them all
    pairs = np.array([(1, 3), (2, 4), *((i, i) for i in range(5, 700))])
    with pytest.raises(ValueError, match="^expected .*; .*[^.]$"):
        representable(tokens, 0, pairs)


def test_one_content_token_can_always_be_sent_to_another_sink_but_not_to_itself():
    pairs = sink_pairs(2, 0, causal=True)
    tokens = np.array([[1.0, 0.0], [0.0, 1.0]])
    found = representable(tokens, 0, pairs)
    check_representation(tokens, 0, pairs, found)
    assert found.kind == "representable" and found.rank_one
    same = np.array([[0.0, 1.0], [0.0, 1.0]])
    assert representable(same, 0, pairs).kind == "not_representable"
    assert representable(np.array([[1.0, 0.0], [0.0, 0.0]]), 0, pairs).kind == "not_representable"


@pytest.mark.parametrize("causal", [False, True])
def test_opposite_queries_defeat_the_sink_though_every_alignment_is_zero(causal):
    tokens = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    pairs = sink_pairs(3, 0, causal)
    found = representable(tokens, 0, pairs)
    check_representation(tokens, 0, pairs, found)
    assert found.kind == "not_representable" and len(found.support) == 2
    np.testing.assert_allclose(found.weights, [0.5, 0.5])


def test_a_general_pair_set_can_need_rank_two():
    tokens = np.array([[1.0, 0.0], [-2.0, 0.0], [1.0, -2.0], [0.0, 2.0]])
    pairs = np.array([(1, 1), (2, 1), (2, 3), (3, 3)])
    found = representable(tokens, 0, pairs)
    check_representation(tokens, 0, pairs, found)
    assert found.kind == "representable" and np.linalg.matrix_rank(found.w_qk) == 2
    # A rank-one W = a b^T needs <a, x_i> <b, x_s - x_j> > 0 along a chain of pairs that joins all three
    # queries: all <a, x_i> of one sign, while the queries have 0 in their hull.
    assert (
        representable(tokens, 0, np.array([(i, j) for i in (1, 2, 3) for j in (1, 3)])).kind
        == "not_representable"
    )


def random_instance(rng):
    num_tokens, dim = int(rng.integers(2, 9)), int(rng.integers(1, 7))
    style = rng.integers(3)
    if style == 0:
        tokens = rng.normal(size=(num_tokens, dim))
    elif style == 1:
        tokens = rng.integers(-2, 3, size=(num_tokens, dim)).astype(float)
    else:  # repeated and antipodal tokens: the boundary
        base = rng.integers(-1, 2, size=(max(1, num_tokens // 2), dim)).astype(float)
        tokens = base[rng.integers(len(base), size=num_tokens)] * rng.choice(
            [-1.0, 1.0, 1.0], size=(num_tokens, 1)
        )
    pairs = sink_pairs(num_tokens, 0, causal=bool(rng.integers(2)))
    if rng.random() < 0.3:
        pairs = pairs[np.sort(rng.choice(len(pairs), size=max(1, len(pairs) // 2), replace=False))]
    return tokens, pairs


def test_representability_agrees_with_a_linear_program_on_random_instances():
    rng = np.random.default_rng(2)
    seen = {"representable": 0, "not_representable": 0, "undecided": 0}
    for _ in range(400):
        tokens, pairs = random_instance(rng)
        found = representable(tokens, 0, pairs)
        check_representation(tokens, 0, pairs, found)
        seen[found.kind] += 1
        margin = lp_margin(pair_rows(tokens, 0, pairs))
        if margin > 1e-6:
            assert found.kind == "representable"
        elif margin < 1e-9:
            assert found.kind == "not_representable"
        rows = pair_rows(tokens, 0, pairs)
        direct = gordan(rows)
        check_alternative(rows, direct)
        assert (direct.kind == "normal") == (found.kind == "representable")
    assert seen["undecided"] == 0 and min(seen["representable"], seen["not_representable"]) > 80


def test_few_tokens_in_many_dimensions_are_solved_in_their_span():
    rng = np.random.default_rng(3)
    tokens = rng.normal(size=(4, 300))
    tokens[2] = -tokens[1]
    pairs = np.array([(1, 1), (2, 2), (3, 3)])  # no key meets all queries
    found = representable(tokens, 0, pairs)
    check_representation(tokens, 0, pairs, found)
    assert found.kind == "representable" and found.w_qk.shape == (300, 300)


@pytest.mark.parametrize("causal", [False, True])
def test_the_sink_of_the_real_cloud_is_representable_by_rank_one(causal):
    pool = load_pool()
    tokens = np.vstack([pool.sink, pool.tokens[:300]]).astype(np.float64)
    found = representable(tokens, 0, sink_pairs(301, 0, causal))
    assert found.kind == "representable" and found.rank_one and found.margin == pytest.approx(1.0, rel=1e-9)
