"""Drift from factors: the statistics that `numerics.moments` finds from full matrices, and each variant's meaning."""

from __future__ import annotations

import audit_records
import numpy as np
import pytest

from numerics.audit.drift import (
    DRIFT_VARIANTS,
    drift_statistics_of,
    factored_statistics,
    head_drifts,
    layer_drift,
    value_factors,
)
from numerics.checkpoint.stream import stream, without_gain
from numerics.moments import drift_statistics, head_statistics
from numerics.oversmoothing_embeddings import empirical_model


def cloud(seed: int = 3):
    return empirical_model(audit_records.tokens(seed, count=60))


@pytest.mark.parametrize("norm", ["rms", "layer"])
@pytest.mark.parametrize("measured", [True, False])
@pytest.mark.parametrize("gained", [True, False])
def test_factors_give_the_statistics_of_the_full_matrices(norm, measured, gained):
    w_o, w_v = value_factors(audit_records.weights())
    model = cloud()
    covariance = model.covariance if measured else None
    gain = np.random.default_rng(5).uniform(0.5, 2, w_o.shape[1]) if gained else None
    found = factored_statistics(w_o, w_v, covariance, model.direction, norm, gain)
    dense = head_statistics(w_o @ w_v, covariance, model.direction, norm, gain)
    assert found.t0 == pytest.approx(dense.t0, rel=1e-12) and found.g0 == pytest.approx(dense.g0, rel=1e-12)
    assert found.g == pytest.approx(dense.g, rel=1e-12)
    np.testing.assert_allclose(found.tau, dense.tau, atol=1e-13)
    np.testing.assert_allclose(found.phi, dense.phi, atol=1e-13)


def test_one_heads_drift_is_that_of_its_own_matrix_and_the_layers_that_of_the_sum():
    w_o, w_v = value_factors(audit_records.weights())
    model = cloud()
    found = factored_statistics(w_o, w_v, model.covariance, model.direction, "rms")
    for head, drift in enumerate(head_drifts(found)):
        alone = drift_statistics(w_o[head] @ w_v[head], model.covariance, model.direction)
        assert drift.drift == pytest.approx(alone.drift, rel=1e-12)
    total = drift_statistics(np.einsum("hdr,hre->de", w_o, w_v), model.covariance, model.direction)
    assert layer_drift(found).drift == pytest.approx(total.drift, rel=1e-12)


def test_the_isotropic_drift_is_two_traces_and_a_square_norm():
    w_o, w_v = value_factors(audit_records.weights())
    drift = head_drifts(factored_statistics(w_o, w_v, None, cloud().direction, "rms"))[2]
    dense = w_o[2] @ w_v[2]
    assert drift.tau == pytest.approx(np.trace(dense) / len(dense)) and drift.phi == pytest.approx(
        (dense**2).sum() / len(dense)
    )


def test_minus_the_identity_has_the_least_drift_in_every_norm():
    dim = audit_records.DIM
    for norm in ("rms", "layer"):
        found = factored_statistics(
            np.eye(dim)[None], -np.eye(dim)[None], cloud().covariance, cloud().direction, norm, np.linspace(0.5, 2, dim)
        )
        assert head_drifts(found)[0].drift == pytest.approx(-1.0)


@pytest.mark.parametrize("following", [None, np.linspace(0.5, 2, audit_records.DIM)])
def test_the_stream_variant_is_the_networks_own_linear_map(following):
    block = audit_records.weights(next_norm_gain=following)
    seen = audit_records.passed(block, audit_records.tokens(count=60))
    split = stream(block, seen.residual)
    inverse = float(np.mean(1 / split.scale))
    found = drift_statistics_of(block, seen.inputs, split.normalised, inverse)
    assert set(found) == set(DRIFT_VARIANTS) - (set() if following is not None else {"stream_gain_after"})
    dense = block.w_o[4] @ block.w_v[1] * block.norm_gain * inverse
    model = empirical_model(split.normalised)
    assert head_drifts(found["stream_measured"][0])[4].drift == pytest.approx(
        drift_statistics(dense, model.covariance, model.direction).drift
    )
    if following is not None:
        after = drift_statistics(dense, model.covariance, model.direction, "rms", following)
        assert head_drifts(found["stream_gain_after"][0])[4].drift == pytest.approx(after.drift / after.t0)


def test_the_gain_is_taken_off_again_except_where_it_is_zero():
    gain = np.ones(audit_records.DIM)
    gain[3] = 0.0
    block = audit_records.weights(biases=True, norm="layer", norm_gain=gain)
    seen = audit_records.passed(block, audit_records.tokens())
    plain = stream(block, seen.residual).normalised
    found = without_gain(block, seen.inputs)
    np.testing.assert_allclose(np.delete(found, 3, axis=1), np.delete(plain, 3, axis=1), atol=1e-12)
    assert (found[:, 3] == 0).all()
