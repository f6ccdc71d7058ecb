"""O1's numbers against brute-force expectations, and every boundary's refusal."""

import numpy as np
import pytest

from numerics.attention import (
    banded_attention, block_attention, causal_uniform_attention, mixed_attention, sink_attention, uniform_attention)
from numerics.moments import (
    DriftStatistics, depth_curve, drift_statistics, head_statistics, input_cosine, mean_off_diagonal, mix_curve,
    mix_maximum, moment_cosines, o1_gram, o1_gram_heads, o1_gram_of)


def _model(seed, dim):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((dim, dim))
    r = root @ root.T
    u = rng.standard_normal(dim)
    return rng.standard_normal((dim, dim)), r / np.trace(r), u / np.linalg.norm(u), rng.uniform(0.2, 2, dim)


def _brute(attentions, values, rho, r, u, norm, gain):
    """Push the covariance of the stacked tokens through the layer as one (Td, Td) matrix."""
    size, dim = attentions[0].shape[0], len(u)
    centre = np.eye(dim) - (1 / dim if norm == "layer" else 0)
    form = centre @ np.diag(gain**2) @ centre
    step = np.eye(size * dim) + sum(np.kron(a, v) for a, v in zip(attentions, values, strict=True))
    moment = np.kron(np.ones((size, size)), rho * np.outer(u, u)) + np.kron(np.eye(size), (1 - rho) * r)
    after = (step @ moment @ step.T).reshape(size, dim, size, dim)
    return np.einsum("ipjq,pq->ij", after, form)


@pytest.mark.parametrize("norm", ["rms", "layer"])
@pytest.mark.parametrize("size, dim", [(1, 3), (2, 5), (5, 3), (4, 1)])
def test_the_gram_matrix_is_the_covariance_pushed_through_the_layer(norm, size, dim):
    v, r, u, gain = _model(size, dim)
    for attention in (uniform_attention(size), causal_uniform_attention(size), sink_attention(size),
                      banded_attention(size, 2)):
        a = np.asarray(attention)
        got = o1_gram_of(a, 0.3, drift_statistics(v, r, u, norm, gain))
        assert np.allclose(got, _brute([a], [v], 0.3, r, u, norm, gain), atol=1e-12)


def test_several_heads_interact_through_phi():
    size, dim = 3, 4
    v, r, u, gain = _model(0, dim)
    w = _model(1, dim)[0]
    a, b = np.asarray(causal_uniform_attention(size)), np.asarray(sink_attention(size, 1))
    heads = head_statistics(np.stack([v, w]), r, u, "layer", gain)
    got = o1_gram_heads(np.stack([a, b]), 0.4, heads.g, heads.t0, heads.tau, heads.phi)
    assert np.allclose(got, _brute([a, b], [v, w], 0.4, r, u, "layer", gain), atol=1e-12)


def test_the_defaults_are_isotropic():
    v = _model(3, 6)[0]
    s = drift_statistics(v)
    assert (s.t0, s.g0) == pytest.approx((1, 1))
    assert s.tau == pytest.approx(np.trace(v) / 6) and s.phi == pytest.approx(np.sum(v**2) / 6)
    assert s.g == pytest.approx(1 + s.drift) and s.drift == pytest.approx(2 * s.tau + s.phi)
    assert drift_statistics(v, norm="layer").t0 == pytest.approx(5 / 6)


def test_the_drift_is_at_least_minus_the_own_trace():
    for seed in range(20):
        v, r, u, gain = _model(seed, 4)
        s = drift_statistics(-np.eye(4) + 0.1 * v, r, u, "layer", gain)
        assert s.drift >= -s.t0 - 1e-12
    assert drift_statistics(-np.eye(4)).drift == pytest.approx(-1)


@pytest.mark.parametrize("t", [0.0, 0.3, 1.0])
def test_the_mix_curve_is_the_cosine_of_the_mixed_attention(t):
    s = drift_statistics(_model(5, 7)[0])
    expected = moment_cosines(o1_gram_of(np.asarray(mixed_attention(6, t)), 0.2, s))[0, 1]
    assert mix_curve(np.array([t]), 6, 0.2, s)[0] == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("tau, where", [(0.2, 1.0), (-2.0, 0.0), (-0.5, 0.5)])
def test_the_mix_curve_peaks_where_o4_says(tau, where):
    s = DriftStatistics(4.0, 1.0, 1.0, tau, 1.0, 2 * tau + 1.0)
    grid = np.linspace(0, 1, 201)
    curve = mix_curve(grid, 5, 0.5, s)
    assert grid[curve.argmax()] == pytest.approx(where)
    assert mix_maximum(tau, 1.0) == pytest.approx(where)
    assert mix_maximum(0.0, 0.0) is None


def test_uniform_exceeds_diagonal_exactly_when_the_drift_is_positive():
    for seed in range(30):
        v, r, u, gain = _model(seed, 3)
        s = drift_statistics(0.8 * v, r, u, "layer", gain)
        low, high = mix_curve(np.array([0.0, 1.0]), 4, 0.5, s)
        assert np.sign(high - low) == np.sign(s.drift)


def test_the_block_means_follow_the_drift():
    for tau, sign in ((0.1, 1), (-0.9, -1)):
        means = [
            mean_off_diagonal(moment_cosines(o1_gram(np.asarray(block_attention([k] * (12 // k))), 0.5, 1, 1, tau, 1)))
                 for k in (1, 2, 3, 4, 6, 12)]
        assert np.all(sign * np.diff(means) > 0)


def test_the_depth_curve_multiplies_the_shifted_odds():
    curve = depth_curve(0.2, 0.5, 3, 4)
    odds = curve / (1 - curve) + 1 / 4
    assert odds[1:] / odds[:-1] == pytest.approx([1.5] * 3)
    assert depth_curve(0.2, 0.0, 5) == pytest.approx([0.2] * 6)
    one_step = moment_cosines(o1_gram(np.asarray(uniform_attention(4)), 0.2, 1.5, 1.0, 0.0, 0.5))[0, 1]
    assert curve[1] == pytest.approx(one_step)


def test_the_input_cosine_is_rho_without_centring():
    assert input_cosine(0.3, drift_statistics(np.eye(3))) == pytest.approx(0.3)


def test_a_zero_output_has_no_cosine():
    gram = o1_gram(np.eye(2), 0.0, 0.0, 1.0, -1.0, 1.0)
    assert np.all(np.isnan(moment_cosines(gram)))


BAD = {
    "rows off the simplex": (lambda: o1_gram(np.full((2, 2), 0.4), 0.1, 1, 1, 0, 1), "rows on the simplex"),
    "rho one": (lambda: o1_gram(np.eye(2), 1.0, 1, 1, 0, 1), r"rho in \[0, 1\)"),
    "rho NaN": (lambda: o1_gram(np.eye(2), float("nan"), 1, 1, 0, 1), r"rho in \[0, 1\)"),
    "V not square": (lambda: drift_statistics(np.ones((2, 3))), "w_vo of shape"),
    "V with NaN": (lambda: drift_statistics(np.full((2, 2), np.nan)), "finite"),
    "trace": (lambda: drift_statistics(np.eye(2), covariance=np.eye(2)), "trace 1"),
    "direction": (lambda: drift_statistics(np.eye(2), direction=np.ones(2)), "unit direction"),
    "gain": (lambda: drift_statistics(np.eye(2), gain=np.ones(3)), "gain of shape"),
    "norm": (lambda: drift_statistics(np.eye(2), norm="batch"), "'rms' or 'layer'"),
    "t above one": (lambda: mix_curve(np.array([1.1]), 3, 0.1, drift_statistics(np.eye(2))), r"t in \[0, 1\]"),
    "t NaN": (lambda: mix_curve(np.array([np.nan]), 3, 0.1, drift_statistics(np.eye(2))), "finite entries in t"),
    "one token": (lambda: mix_curve(np.array([0.5]), 1, 0.1, drift_statistics(np.eye(2))),
                  "number of tokens .* at least 2"),
    "phi": (lambda: mix_maximum(0.0, -1.0), "phi >= 0"),
    "drift": (lambda: depth_curve(0.1, -1.5, 2), "drift >= -1"),
    "heads": (lambda: o1_gram_heads(np.eye(2)[None], 0.1, 1, 1, np.zeros(2), np.zeros((2, 2))),
              "tau of shape"),
    "pair": (lambda: mean_off_diagonal(np.eye(1)), "at least 2 tokens"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_one_sentence(name):
    call, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        call()
