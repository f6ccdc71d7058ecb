"""Rotary logits, the head that keeps its sink under them, and the packaged model's attention."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from numerics.attention import causal_mask, logits, softmax_attention
from numerics.embeddings import load_paragraph
from numerics.hull import distance_to_hull, min_norm_point
from numerics.rope import g6_factor, g6_head, llama_rope_logits, rope_logits, rope_rotation


def sink_margins(scores, bidirectional=False):
    """Margins of key 0 over every other visible key, for all queries but 0."""
    size = len(scores)
    return np.array(
        [
            float(scores[i, 0] - scores[i, j])
            for i in range(1, size)
            for j in range(1, size if bidirectional else i + 1)
        ]
    )


def test_rotation_is_counterclockwise_and_composes():
    turns = np.asarray(rope_rotation(0.3, np.array([0.0, 1.0, 2.0, -1.0])))
    np.testing.assert_allclose(turns[0], np.eye(2))
    np.testing.assert_allclose(turns[1] @ [1.0, 0.0], [np.cos(0.3), np.sin(0.3)])
    np.testing.assert_allclose(turns[1] @ turns[1], turns[2], atol=1e-15)
    np.testing.assert_allclose(turns[3], turns[1].T, atol=1e-15)


def test_one_plane_logits_follow_the_definition_with_relative_rotation():
    rng = np.random.default_rng(0)
    x, w_q, w_k = rng.normal(size=(4, 3)), rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    place = np.array([0.0, 2.0, 3.0, 7.0])
    got = rope_logits(x, w_q, w_k, place, 0.4, 0.5)
    for i in range(4):
        for j in range(4):
            turn = np.asarray(rope_rotation(0.4, place[[j]] - place[[i]]))[0]
            assert got[i, j] == pytest.approx(0.5 * x[i] @ w_q.T @ turn @ w_k @ x[j], abs=1e-13)


def test_without_rotation_the_logits_are_bilinear():
    rng = np.random.default_rng(1)
    x, w_q, w_k = rng.normal(size=(4, 3)), rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    np.testing.assert_allclose(
        rope_logits(x, w_q, w_k, np.arange(4), 0.0), logits(x, w_q.T @ w_k), atol=1e-14
    )


def test_many_planes_are_a_sum_of_single_planes_in_the_half_split_layout():
    rng = np.random.default_rng(2)
    x, w_q, w_k = rng.normal(size=(5, 3)), rng.normal(size=(6, 3)), rng.normal(size=(6, 3))
    expected = sum(
        rope_logits(x, w_q[[k, k + 3]], w_k[[k, k + 3]], np.arange(5), 50.0 ** (-k / 3), 6**-0.5)
        for k in range(3)
    )
    np.testing.assert_allclose(llama_rope_logits(x, w_q, w_k, base=50.0), expected, atol=1e-13)


def test_rotary_logits_depend_on_position_differences_only():
    rng = np.random.default_rng(3)
    x, w_q, w_k = rng.normal(size=(5, 3)), rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    np.testing.assert_allclose(
        llama_rope_logits(x, w_q, w_k, np.arange(5) + 17), llama_rope_logits(x, w_q, w_k), atol=1e-12
    )


def test_an_odd_or_mismatched_head_dimension_is_refused():
    for w_q, w_k in ((np.ones((3, 2)), np.ones((3, 2))), (np.ones((4, 2)), np.ones((2, 2)))):
        with pytest.raises(ValueError, match="^expected .*; .*[^.]$"):
            llama_rope_logits(np.ones((2, 2)), w_q, w_k)


@pytest.mark.parametrize("head", range(9))
def test_rebuilt_attention_of_the_real_layer_matches_to_half_precision_rounding(head):
    sample = load_paragraph()
    weights = sample.heads[head]
    rebuilt = np.asarray(
        softmax_attention(llama_rope_logits(sample.inputs[15], weights.w_q, weights.w_k), causal_mask(112))
    )
    stored = sample.attention[15][head]
    half_ulp = 0.5 * np.spacing(stored).astype(np.float64)
    # Half a unit of the stored float16, and a few float32 roundings of the model that wrote it.
    assert (np.abs(rebuilt - stored) <= half_ulp + 2e-5 * rebuilt).all()
    # Each ingredient is needed: without positions, or with another base, it is far off.
    flat = np.asarray(
        softmax_attention(logits(sample.inputs[15], weights.w_q.T @ weights.w_k, 0.125), causal_mask(112))
    )
    other = llama_rope_logits(sample.inputs[15], weights.w_q, weights.w_k, base=10_000.0)
    assert np.abs(flat - stored).max() > 0.02
    assert np.abs(np.asarray(softmax_attention(other, causal_mask(112))) - stored).max() > 0.02


def test_rebuilt_heads_add_up_to_the_real_attention_output():
    sample = load_paragraph()
    x = sample.inputs[15].astype(np.float64)
    total = sum(
        np.asarray(softmax_attention(llama_rope_logits(x, h.w_q, h.w_k), causal_mask(len(x)))) @ x @ h.w_vo.T
        for h in sample.heads
    )
    np.testing.assert_allclose(total, sample.attention_output, atol=1e-4)


directions = st.lists(st.floats(-2, 2), min_size=2, max_size=2).map(np.array)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(
    st.lists(st.tuples(st.floats(0.1, 2), st.floats(-3, 3)), min_size=1, max_size=4),
    st.floats(-3, 3),
    st.floats(0.0, 0.99),
    st.booleans(),
)
def test_the_head_keeps_the_sink_by_the_stated_factor(scores, sink_score, share, bidirectional):
    # Coordinates: the first is <q, x>, the second <k, x>.
    content = np.array([(q, min(k, sink_score - 0.1)) for q, k in scores])
    tokens = np.vstack([[1.0, sink_score], content])
    distance = len(content)
    theta = share * np.pi / 2 / (distance * (2 if bidirectional else 1))
    axes = np.eye(2)
    head = g6_head(axes[0], axes[1], tokens[0], theta, distance, bidirectional)
    alpha, mu = content[:, 0].min(), (sink_score - content[:, 1]).min()
    assume(alpha * mu > 1e-3)
    margins = sink_margins(
        rope_logits(tokens, head.w_q, head.w_k, np.arange(distance + 1), theta, 0.5), bidirectional
    )
    assert margins.min() >= 0.5 * alpha * mu * g6_factor(theta, distance, bidirectional) - 1e-12


@pytest.mark.parametrize("bidirectional", [False, True])
def test_the_factor_is_attained_and_a_larger_one_falls(bidirectional):
    # A sink of score zero against a key of score -mu at the least favourable angle.
    theta = 0.3
    tokens = np.array([[1.0, 0.0], [1.0, -2.0], [1.0, -2.0]])
    head = g6_head(np.array([1.0, 0.0]), np.array([0.0, 1.0]), tokens[0], theta, 2, bidirectional)
    scores = rope_logits(tokens, head.w_q, head.w_k, np.array([0.0, 0.0, 2.0]), theta)
    factor = g6_factor(theta, 2, bidirectional)
    least = sink_margins(scores, bidirectional).min()
    assert least == pytest.approx(2.0 * factor, rel=1e-14)
    assert not least >= 2.0 * factor * 1.001


def test_without_the_phase_the_head_can_lose_the_sink_and_with_it_does_not():
    theta, tokens = np.pi / 3, np.array([[1.0, 0.0], [0.6, 0.8]])
    q, k = np.array([0.0, 1.0]), np.array([1.0, 0.0])
    head = g6_head(q, k, tokens[0], theta, 1)
    bare = rope_logits(tokens, head.w_q, np.outer([1.0, 0.0], k), np.arange(2), theta)
    assert head.phase == theta and sink_margins(bare).min() < 0
    assert (
        sink_margins(rope_logits(tokens, head.w_q, head.w_k, np.arange(2), theta)).min()
        >= 0.8 * 0.4 * 0.5 - 1e-15
    )


def test_under_rotation_a_sink_head_exists_without_any_half_space():
    tokens = np.array([[0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]])
    assert min_norm_point(tokens[1:]).status == "contains_zero"
    w_q, w_k = np.eye(2), np.array([[0.0, 1.0], [0.0, 0.0]])
    margins = sink_margins(rope_logits(tokens, w_q, w_k, np.arange(3), np.pi / 3))
    np.testing.assert_allclose(margins, 0.5 * np.ones(3), atol=1e-15)


def test_a_head_built_from_the_real_cloud_keeps_its_sink_under_a_slow_plane():
    x = load_paragraph().inputs[15].astype(np.float64)
    queries, keys = min_norm_point(x[1:]), distance_to_hull(x[0], x[1:])
    theta = 100_000.0 ** (-31 / 32)
    head = g6_head(queries.normal, -keys.normal, x[0], theta, 111)
    margins = sink_margins(rope_logits(x, head.w_q, head.w_k, np.arange(112), theta))
    assert margins.min() >= queries.margin * keys.margin * g6_factor(theta, 111) > 1.0


@pytest.mark.parametrize(
    "theta, distance, bidirectional",
    [
        (np.pi / 2, 1, False),
        (np.pi / 4, 1, True),
        (-0.1, 1, False),
        (0.1, -1, False),
        (float("nan"), 1, False),
    ],
)
def test_angles_beyond_the_construction_are_refused(theta, distance, bidirectional):
    with pytest.raises(ValueError, match="^expected .*; .*[^.]$"):
        g6_head(np.ones(2), np.ones(2), np.ones(2), theta, distance, bidirectional)
