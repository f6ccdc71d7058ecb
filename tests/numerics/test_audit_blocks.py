"""Tokens, values, norms, margins, planes and scores of one block, each against a second route."""

from __future__ import annotations

import math
from dataclasses import replace

import audit_records
import numpy as np
import pytest

from numerics.audit.norms import bound_reason, product_norms, sink_margins
from numerics.audit.planes import rotary_planes
from numerics.audit.scores import CONVENTIONS, head_scores
from numerics.audit.tokens import spread, token_cosines
from numerics.audit.values import head_values
from numerics.checkpoint.stream import stream
from numerics.moments import moment_cosines, o1_gram
from numerics.rope import g6_factor
from numerics.schatten import schatten_norm
from numerics.sink_cost import sink_cost
from numerics.sink_metrics import sink_score


def block(**settings: object):
    made = audit_records.weights(**settings)
    return made, audit_records.passed(made, audit_records.tokens())


def cosine(left: np.ndarray, right: np.ndarray) -> float:
    return float(left @ right / np.linalg.norm(left) / np.linalg.norm(right))


def test_cosines_are_of_row_zero_with_and_without_the_gain():
    weights, seen = block(norm="layer", biases=True, norm_eps=1e-3)
    found = token_cosines(weights, seen)
    centred = seen.residual - seen.residual.mean(axis=1, keepdims=True)
    for measured, rows in ((found.gain, seen.inputs), (found.plain, centred)):
        expected = [cosine(rows[0], row) for row in rows[1:]]
        assert (measured.mean, measured.least, measured.greatest) == pytest.approx(
            (np.mean(expected), min(expected), max(expected))
        )
    pairs = [
        cosine(seen.inputs[i], seen.inputs[j]) for i in range(1, len(centred)) for j in range(1, len(centred)) if i != j
    ]
    assert found.pairs_gain == pytest.approx(np.mean(pairs))
    off = np.abs((stream(weights, seen.residual).normalised ** 2).mean(axis=1) - 1)
    assert found.sphere == pytest.approx(off.max()) and found.sphere > 1e-4


def test_two_tokens_have_no_pair_beside_the_sink():
    weights, seen = block()
    with pytest.raises(ValueError, match="at least three tokens, got 2"):
        token_cosines(weights, replace(seen, residual=seen.residual[:2], inputs=seen.inputs[:2]))
    with pytest.raises(ValueError, match="at least three tokens, got 2"):
        head_values(weights, replace(seen, inputs=seen.inputs[:2]))
    with pytest.raises(ValueError, match="got none"):
        spread(np.zeros(0))
    with pytest.raises(ValueError, match="expected norm 'rms' or 'layer', got 'batch'"):
        stream(replace(weights, norm="batch"), seen.residual)


def test_norms_of_a_product_are_those_of_the_full_matrix():
    weights, _ = block()
    left, right = weights.w_q[3].T, weights.w_k[1].T
    found = product_norms(left, right)
    dense = left @ right.T
    assert found.nuclear == pytest.approx(schatten_norm(dense, 1)) and found.frobenius == pytest.approx(
        schatten_norm(dense, 2)
    )
    assert found.spectral == pytest.approx(schatten_norm(dense, math.inf)) and found.half_squares >= found.nuclear
    balanced = product_norms(*balanced_factors(dense))
    assert balanced.half_squares == pytest.approx(balanced.nuclear) == pytest.approx(found.nuclear)


def balanced_factors(dense: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    u, s, vt = np.linalg.svd(dense)
    rank = audit_records.RANK
    return u[:, :rank] * np.sqrt(s[:rank]), vt[:rank].T * np.sqrt(s[:rank])


def test_margins_are_differences_of_logits_to_the_best_other_visible_key():
    weights, seen = block(window=6)
    for head in (0, 4):
        scores = (
            weights.scale
            * (seen.inputs @ weights.w_q[head].T)
            @ (seen.inputs @ weights.w_k[weights.key_value(head)].T).T
        )
        expected = [scores[i, 0] - max(scores[i, j] for j in range(1, i + 1)) for i in range(1, 6)]
        found = sink_margins(seen.attention[head], seen.visible)
        assert (found.mean, found.least, found.greatest) == pytest.approx(
            (np.mean(expected), min(expected), max(expected))
        )
    assert sink_margins(np.eye(4)[None][0], np.eye(4, dtype=bool)) is None


def test_an_underflowing_weight_is_a_large_finite_margin():
    attention = np.array([[1.0, 0, 0], [1.0, 0, 0], [0, 0, 1.0]])
    found = sink_margins(attention, np.tril(np.ones((3, 3), dtype=bool)))
    assert found.greatest == -found.least == pytest.approx(-math.log(np.finfo(float).tiny))


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"b_q": np.ones((6, 5))}, "query bias"),
        ({"q_norm": np.ones(5)}, "not bilinear"),
        ({"soft_cap": 5.0}, "soft-capped"),
    ],
)
def test_the_bound_is_refused_with_its_reason(change, word):
    weights, seen = block()
    every, enough = np.ones((4, 4), dtype=bool), spread(np.array([1.0, 3.0]))
    assert bound_reason(weights, False, every, enough) is None
    assert "RoPE" in bound_reason(weights, True, every, enough)
    assert word in bound_reason(replace(weights, **change), False, every, enough)
    assert "margin for the sink is below 1" in bound_reason(weights, False, every, spread(np.array([0.9, 3.0])))
    assert "margin for the sink is below 1" in bound_reason(weights, False, every, None)
    assert "causal mask" in bound_reason(weights, False, seen.visible, enough)
    banded = every.copy()
    banded[3, 0] = False
    assert "window" in bound_reason(weights, False, banded, enough)


def test_a_causal_head_may_cost_less_than_c1():
    """x_s = 4, x_1 = 1, x_2 = 2: W = 1/3 has margin 1 on the pairs that a causal mask shows, and C1 says 1/2."""
    rows, sink = np.array([[1.0], [2.0]]), np.array([4.0])
    margins = rows @ (sink - rows).T / 3
    causal = np.tril(np.ones((2, 2), dtype=bool))
    assert margins[causal].min() == pytest.approx(1) and margins.min() < 1
    assert sink_cost(rows, sink, margin=1.0).lower == pytest.approx(1 / 2)


def test_the_sign_of_d_does_not_order_uniform_and_diagonal_under_a_causal_mask():
    """Why the audit names O3 for no model with a mask: D = -1/5, and causal uniform has the larger cosine."""
    tau, phi = -0.6, 1.0
    assert 2 * tau + phi < 0
    cosines = {
        name: moment_cosines(o1_gram(np.array(rows), rho=0.0, g=1.0, t0=1.0, tau=tau, phi=phi))[0, 1]
        for name, rows in (
            ("causal", [[1.0, 0.0], [0.5, 0.5]]),
            ("diagonal", [[1.0, 0.0], [0.0, 1.0]]),
            ("uniform", [[0.5, 0.5], [0.5, 0.5]]),
        )
    }
    assert cosines["uniform"] < cosines["diagonal"] == 0 < cosines["causal"] == pytest.approx(0.2 / math.sqrt(0.72))


def test_slow_planes_are_those_of_g6():
    size, base, distance = 8, 1000.0, 9
    found = rotary_planes(audit_records.tables(distance + 1, size, base), distance)
    angles = [base ** (-k / 4) for k in range(4)]
    slow = [angle for angle in angles if distance * angle < math.pi / 2]
    assert (found.total, found.slow) == (4, len(slow)) and 0 < len(slow) < 4
    assert found.factor == pytest.approx(max(g6_factor(angle, distance) for angle in slow))
    assert rotary_planes(audit_records.tables(40, 2, base), 39).slow == 0
    with pytest.raises(ValueError, match="at least two positions"):
        rotary_planes(audit_records.tables(1, 2, base), 1)


def test_a_null_sink_that_takes_the_mass_silences_the_head():
    weights, seen = block()
    values = weights.w_v.copy()
    projector = np.eye(audit_records.DIM) - np.outer(seen.inputs[0], seen.inputs[0]) / (seen.inputs[0] @ seen.inputs[0])
    quiet = replace(weights, w_v=values @ projector)
    attention = seen.attention.copy()
    attention[0] = np.eye(audit_records.TOKENS)[0]
    attention[1] = np.eye(audit_records.TOKENS)[5]
    share = np.linspace(0.1, 0.9, audit_records.TOKENS)[:, None]
    attention[1] = share * attention[0] + (1 - share) * attention[1]  # o_i = (1 - a_is) v_5
    found = head_values(quiet, replace(seen, attention=attention))
    assert found[0].norm_ratio == pytest.approx(0, abs=1e-12) and found[0].output_ratio == pytest.approx(0, abs=1e-12)
    assert found[0].correlation is None and found[1].correlation == pytest.approx(1.0)
    assert all(item.rank == audit_records.RANK and item.count == audit_records.TOKENS - 1 for item in found)


def test_value_norms_are_taken_after_the_output_projection():
    weights, seen = block()
    found = head_values(weights, seen)
    for head in (1, 5):
        v = seen.inputs @ (weights.w_o[head] @ weights.w_v[weights.key_value(head)]).T
        lengths = np.linalg.norm(v, axis=1)
        assert found[head].norm_ratio == pytest.approx(lengths[0] / lengths[1:].mean())
        outputs = np.linalg.norm(seen.attention[head][1:] @ v, axis=1)
        assert found[head].output_ratio == pytest.approx(outputs.mean() / lengths[1:].mean())
        assert found[head].correlation == pytest.approx(np.corrcoef(1 - seen.attention[head][1:, 0], outputs)[0, 1])


def test_half_spaces_of_values_are_seen_and_refused():
    weights, _ = block()
    seen = audit_records.passed(weights, audit_records.tokens(common=0.0))
    assert {item.half_space for item in head_values(weights, seen)} == {False}
    shifted = replace(seen, inputs=seen.inputs + 40 * weights.w_v[1, 0] / np.linalg.norm(weights.w_v[1, 0]))
    assert [item.half_space for item in head_values(weights, shifted)][3:] == [True] * 3


def test_scores_are_those_of_the_published_conventions():
    _, seen = block()
    found = head_scores(seen.attention[2])
    for name, (measure, first_row) in CONVENTIONS.items():
        expected = sink_score([seen.attention[2]], measure=measure, first_row=first_row)
        assert found[name] == expected.mean
    assert len(set(found.values())) == 4  # key 0 is seen by every query, so that its importance is its mass
