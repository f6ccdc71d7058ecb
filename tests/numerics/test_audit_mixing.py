"""Attention mixed toward a pattern: what is measured, what O1m predicts, and the controls' equal budgets."""

from __future__ import annotations

from dataclasses import replace

import audit_records
import numpy as np
import pytest

from numerics.audit.mixing import (
    CONTROLS,
    TARGETS,
    BlockStep,
    compare,
    equal_budget,
    head_changes,
    mix,
    mix_points,
    target_attention,
)
from numerics.layer import layer_norm, rms_norm
from numerics.moments import mean_off_diagonal, moment_cosines
from numerics.oversmoothing_embeddings import compare_mix


def step(seed: int = 1, **settings: object) -> BlockStep:
    block = audit_records.weights(**settings)
    return BlockStep(block, audit_records.passed(block, audit_records.tokens(seed)))


def content_cosine(rows: np.ndarray) -> float:
    return mean_off_diagonal(moment_cosines(rows[1:] @ rows[1:].T))


@pytest.mark.parametrize(("norm", "biases"), [("rms", False), ("rms", True), ("layer", True)])
def test_the_real_attention_gives_the_models_own_output_and_cosines(norm, biases):
    made = step(norm=norm, biases=biases)
    np.testing.assert_allclose(made.outputs(made.layer.attention), made.layer.output, atol=1e-12)
    after = made.layer.residual + made.layer.output
    normed = layer_norm(after) if norm == "layer" else rms_norm(after)
    assert compare(made, made.layer.attention).measured == pytest.approx(content_cosine(np.asarray(normed)), abs=1e-12)


def test_where_the_stream_is_the_input_the_numbers_are_those_of_compare_mix():
    """Second route: compare_mix takes the residual to be the tokens themselves, with dense V."""
    rows = audit_records.tokens()
    rows = rows / np.sqrt((rows**2).mean(axis=1, keepdims=True))
    made_weights = audit_records.weights(norm_gain=np.ones(audit_records.DIM))
    made = BlockStep(made_weights, audit_records.passed(made_weights, rows))
    dense = np.stack(
        [out @ made_weights.w_v[made_weights.key_value(head)] for head, out in enumerate(made_weights.w_o)]
    )
    uniform = target_attention("uniform", made.layer.visible, made.layer.attention, 0, 0)
    expected = compare_mix(rows, made.layer.attention, dense, np.array([0.0, 0.4, 1.0]), uniform[0], sink=0)
    for place, share in enumerate(expected.t):
        found = compare(made, mix(made.layer.attention, uniform, share))
        assert found.measured == pytest.approx(expected.measured[place], abs=1e-12)
        assert found.predicted == pytest.approx(expected.predicted[place], abs=1e-12)
        assert found.pair_rms == pytest.approx(expected.pair_rms[place], abs=1e-12)


def model_step(draw: int, lengths: np.ndarray, norm: str) -> BlockStep:
    """O's model in many dimensions: x_i = s_i n_i with n_i a common direction plus independent isotropic noise."""
    dim, count = 384, len(lengths)
    rng = np.random.default_rng(draw)
    rows = (np.sqrt(0.4) * rng.standard_normal(dim) + np.sqrt(0.6) * rng.standard_normal((count, dim))) * lengths[
        :, None
    ]
    fixed = np.random.default_rng(99)
    block = replace(
        audit_records.weights(norm=norm, biases=True),
        w_q=np.zeros((2, 8, dim)),
        w_k=np.zeros((1, 8, dim)),
        w_v=fixed.standard_normal((1, 8, dim)) / 20,
        w_o=fixed.standard_normal((2, dim, 8)) / 4,
        b_q=None,
        b_k=None,
        b_v=fixed.standard_normal((1, 8)),
        b_o=fixed.standard_normal(dim),
        norm_gain=fixed.uniform(0.5, 1.5, dim),
        norm_bias=fixed.standard_normal(dim) / 3,
    )
    return BlockStep(block, audit_records.passed(block, rows))


@pytest.mark.parametrize("norm", ["rms", "layer"])
def test_on_tokens_of_the_model_the_prediction_meets_the_mean_and_its_spoiled_versions_do_not(norm):
    lengths = np.linspace(0.6, 2.4, 12)
    gaps: dict[str, list[float]] = {"as derived": [], "constant dropped": [], "scales dropped": []}
    for draw in range(24):
        made = model_step(draw, lengths, norm)
        own = target_attention("random", made.layer.visible, made.layer.attention, 0, 7)
        truth = mean_off_diagonal(made.measured(own))
        gaps["as derived"].append(mean_off_diagonal(made.predicted(own)) - truth)
        dull = BlockStep(replace(made.weights, b_o=None, b_v=None, norm_bias=None), made.layer)
        gaps["constant dropped"].append(mean_off_diagonal(dull.predicted(own)) - truth)
        flat = BlockStep(made.weights, replace(made.layer, residual=made.layer.residual / lengths[:, None]))
        gaps["scales dropped"].append(mean_off_diagonal(flat.predicted(own)) - truth)
    means = {name: abs(float(np.mean(values))) for name, values in gaps.items()}
    assert means["as derived"] < 0.005 and 0.1 < min(means["constant dropped"], means["scales dropped"])


def test_a_norm_on_the_blocks_output_leaves_no_linear_prediction():
    made = step(post_norm_gain=np.linspace(0.5, 2, audit_records.DIM))
    found = compare(made, made.layer.attention)
    assert found.predicted is None and found.pair_rms is None
    added = made.outputs(made.layer.attention) / made.weights.post_norm_gain
    np.testing.assert_allclose((added**2).mean(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("window", [None, 4])
@pytest.mark.parametrize("name", TARGETS)
def test_every_target_is_attention_over_visible_keys(name, window):
    made = step(window=window)
    rows = target_attention(name, made.layer.visible, made.layer.attention, 0, 0)
    np.testing.assert_allclose(rows.sum(axis=2), 1.0, atol=1e-12)
    assert (rows >= 0).all() and (rows[:, ~made.layer.visible] == 0).all()
    if name == "sink":
        seen = made.layer.visible[:, 0]
        assert (rows[:, seen, 0] == 1).all() and np.array_equal(rows[:, ~seen], made.layer.attention[:, ~seen])
    if name == "random key":
        assert set(np.unique(rows)) == {0.0, 1.0}


def test_an_unknown_target_is_named():
    made = step()
    with pytest.raises(ValueError, match="expected a target among uniform, sink"):
        target_attention("banded", made.layer.visible, made.layer.attention, 0, 0)


def test_the_controls_move_every_head_as_far_as_uniform_does_where_they_can_reach():
    made = step()
    own = made.layer.attention
    uniform = target_attention("uniform", made.layer.visible, own, 0, 0)
    for name in CONTROLS:
        target = target_attention(name, made.layer.visible, own, 0, 0)
        for share in (0.3, 1.0):
            wanted = np.linalg.norm(mix(own, uniform, share) - own, axis=(1, 2))
            t = equal_budget(own, mix(own, uniform, share), target)
            moved = np.linalg.norm(mix(own, target, t) - own, axis=(1, 2))
            np.testing.assert_allclose(moved[t < 1], wanted[t < 1], rtol=1e-12)
            assert (t <= 1).all() and (t < 1).any() and (moved[t == 1] <= wanted[t == 1]).all()


def test_points_start_from_the_real_attention_and_name_their_budgets():
    made = step()
    points = mix_points(made, (0.5, 1.0), seed=0)
    assert [(point.target, point.t) for point in points] == [
        ("none", 0.0),
        *((name, t) for name in TARGETS for t in (0.5, 1.0)),
    ]
    assert points[0].result == compare(made, made.layer.attention)
    diagonal = next(point for point in points if (point.target, point.t) == ("diagonal", 1.0))
    eye = np.broadcast_to(np.eye(audit_records.TOKENS), made.layer.attention.shape)
    assert diagonal.result == compare(made, eye)
    assert all(point.budget_met == pytest.approx(1.0) for point in points if point.target == "random")


def test_one_head_at_a_time_changes_only_that_head():
    made = step()
    own = made.layer.attention
    uniform = target_attention("uniform", made.layer.visible, own, 0, 0)
    changes = head_changes(made)
    for head in (0, 5):
        alone = own.copy()
        alone[head] = uniform[head]
        after, before = compare(made, alone), compare(made, own)
        assert changes[head] == pytest.approx(
            (after.measured - before.measured, after.predicted - before.predicted), abs=1e-13
        )
    assert len(changes) == audit_records.HEADS
