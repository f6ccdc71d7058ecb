"""The simulators against O1, against each other, and against the layer applied by hand."""

import jax
import numpy as np
import pytest

from numerics import oversmoothing_sampling as sampling
from numerics import simulate as module
from numerics.attention import (
    causal_uniform_attention, diagonal_attention, logits, sink_attention, softmax_attention, uniform_attention)
from numerics.layer import layer_norm, one_step
from numerics.moments import (
    depth_curve, drift_statistics, head_statistics, mean_off_diagonal, moment_cosines, o1_gram_heads, o1_gram_of)
from numerics.simulate import IsotropicValue, simulate_depth, simulate_step, structured_value

T, D = 4, 16
V = 0.4 * np.eye(D) + np.random.default_rng(0).standard_normal((D, D)) / 5
CAUSAL, UNIFORM = np.asarray(causal_uniform_attention(T)), np.asarray(uniform_attention(T))
U = np.full(D, D**-0.5) * 0.6 + np.eye(D)[0]
U = U / np.linalg.norm(U)


def _z(estimate, truth):
    return np.abs((estimate.mean - truth) / estimate.standard_error).max()


@pytest.mark.parametrize("norm", ["rms", "layer"])
@pytest.mark.parametrize("attention", [CAUSAL, UNIFORM], ids=["causal", "uniform"])
@pytest.mark.parametrize("method", ["embedding", "auto"])
def test_the_second_moment_is_o1(norm, attention, method):
    result = simulate_step(attention, V, rho=0.4, direction=U, norm=norm, draws=3000, seed=1, method=method)
    assert _z(result.second_moment, o1_gram_of(attention, 0.4, drift_statistics(V, direction=U, norm=norm))) < 4.5
    # the same draws reject the sign of V
    assert _z(result.second_moment, o1_gram_of(attention, 0.4, drift_statistics(-V, direction=U, norm=norm))) > 10


@pytest.mark.parametrize("tokens", ["gaussian", "spherical"])
def test_spherical_and_gaussian_tokens_have_the_second_moments_of_o1(tokens):
    result = simulate_step(CAUSAL, V, rho=0.2, tokens=tokens, draws=3000, seed=2)
    assert _z(result.second_moment, o1_gram_of(CAUSAL, 0.2, drift_statistics(V, direction=np.eye(D)[0]))) < 4.5
    assert result.method == "embedding"


def test_an_anisotropic_covariance_a_gain_and_two_heads_follow_o1m():
    rng = np.random.default_rng(3)
    root = rng.standard_normal((D, D))
    r = root @ root.T / np.sum(root**2)
    heads, values, gain = np.stack([CAUSAL, UNIFORM]), np.stack([V, V.T @ V]), rng.uniform(0.5, 2, D)
    s = head_statistics(values, r, U, "layer", gain)
    result = simulate_step(heads, values, rho=0.3, covariance=r, direction=U, norm="layer", gain=gain, draws=3000)
    assert _z(result.second_moment, o1_gram_heads(heads, 0.3, s.g, s.t0, s.tau, s.phi)) < 4.5


@pytest.mark.parametrize("norm", ["rms", "layer"])
def test_users_tokens_go_through_the_layer_as_they_are(norm):
    rng = np.random.default_rng(4)
    x, gain = rng.standard_normal((T, D)), rng.uniform(0.5, 2, D)
    result = simulate_step(CAUSAL, V, tokens=x, norm=norm, gain=gain, draws=1)
    out = np.asarray(one_step(x, CAUSAL, V, norm, gain))
    assert result.cosine.mean == pytest.approx(moment_cosines(out @ out.T), abs=1e-12)
    assert result.mean_cosine.half_width == np.inf


def test_attention_may_be_a_function_of_the_tokens():
    rng = np.random.default_rng(5)
    x, w = rng.standard_normal((T, D)), rng.standard_normal((D, D))
    result = simulate_step(lambda tokens: softmax_attention(logits(tokens, w, 0.1)), V, tokens=x, draws=2)
    fixed = simulate_step(np.asarray(softmax_attention(logits(x, w, 0.1))), V, tokens=x, draws=2)
    assert result.cosine.mean == pytest.approx(fixed.cosine.mean, abs=1e-12)


def test_chosen_queries_are_rows_of_the_whole():
    whole = simulate_step(CAUSAL, V, rho=0.3, draws=5, seed=6)
    part = simulate_step(CAUSAL, V, rho=0.3, draws=5, seed=6, queries=np.array([2, 0]))
    assert part.cosine.mean[0, 1] == pytest.approx(whole.cosine.mean[2, 0], abs=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("value", [V, IsotropicValue(0.2, 0.6)], ids=["given", "fresh"])
@pytest.mark.parametrize("method", ["embedding", "gram"])
def test_the_seed_fixes_the_result_whatever_the_chunk(value, method):
    runs = [simulate_step(UNIFORM, value, rho=0.3, dim=D, draws=37, seed=7, method=method, memory_cap=cap)
            for cap in (2**15, 2**16, 2**28)]
    for run in runs[1:]:
        assert run.mean_cosines == pytest.approx(runs[0].mean_cosines, rel=1e-12)
        assert run.cosine.mean == pytest.approx(runs[0].cosine.mean, rel=1e-12)
        assert run.cosine.half_width == pytest.approx(runs[0].cosine.half_width, rel=1e-9, abs=1e-12)
    other = simulate_step(UNIFORM, value, rho=0.3, dim=D, draws=37, seed=8, method=method)
    assert not np.allclose(other.mean_cosines, runs[0].mean_cosines)


def _two_sample(a, b):
    return abs(a.mean() - b.mean()) / np.hypot(a.std() / len(a) ** 0.5, b.std() / len(b) ** 0.5)


SETTINGS = {
    "fresh V, causal": dict(attention=CAUSAL, value=IsotropicValue(-0.2, 0.6)),
    "fresh V, spherical": dict(attention=UNIFORM, value=IsotropicValue(0.2, 0.6), tokens="spherical"),
    "fresh V, null sink": dict(attention=np.asarray(sink_attention(T)), value=IsotropicValue(0.2, 0.6), null_token=0),
    "shared row": dict(attention=UNIFORM, value=V, direction=U),
    "shared row, layer norm": dict(attention=UNIFORM, value=V, direction=U, norm="layer"),
    "sink row": dict(attention=np.asarray(sink_attention(T, 1)), value=V, direction=U),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_the_gram_route_has_the_law_of_the_embedding_route(name):
    runs = [simulate_step(**SETTINGS[name], rho=0.3, dim=D, draws=4000, seed=9, method=m)
            for m in ("embedding", "gram")]
    a, b = (run.mean_cosines for run in runs)
    assert _two_sample(a, b) < 4
    assert _two_sample((a - a.mean()) ** 2, (b - b.mean()) ** 2) < 4
    gap = (runs[0].second_moment.mean - runs[1].second_moment.mean) / np.hypot(
        *(run.second_moment.standard_error for run in runs))
    assert np.abs(gap).max() < 4.5


@pytest.mark.parametrize("method", ["embedding", "gram"])
def test_depth_follows_the_odds_recursion_at_large_dimension(method):
    run = simulate_depth(UNIFORM, IsotropicValue(0.0, 0.4), 3, rho=0.2, dim=2048 if method == "gram" else 512,
                         draws=200,
                         method=method)
    theory = depth_curve(0.2, 0.4, 3, T)
    assert np.abs(run.mean_cosine.mean - theory).max() < 0.015
    assert theory[-1] - theory[0] > 0.2
    assert np.all(run.lower <= run.upper)


@pytest.mark.slow
def test_a_null_sink_keeps_every_cosine_and_the_diagonal_its_mean():
    sink = simulate_depth(np.asarray(sink_attention(T)), IsotropicValue(0.0, 0.5), 4, rho=0.2, dim=64, draws=5,
                          null_token=0)
    assert sink.curves == pytest.approx(np.repeat(sink.curves[:, :1], 5, axis=1), abs=1e-12)
    diagonal = simulate_depth(np.asarray(diagonal_attention(T)), IsotropicValue(0.0, 0.5), 4, rho=0.2, dim=1024,
                              draws=200)
    assert diagonal.mean_cosine.mean == pytest.approx([0.2] * 5, abs=0.02)


def test_the_same_v_in_every_layer_departs_from_the_recursion():
    v = np.diag([1.0, -1.0] * 32)
    u = np.zeros(64)
    u[:2] = 0.6, 0.8
    same = simulate_depth(np.asarray(uniform_attention(16)), v, 6, rho=0.2, direction=u, draws=50)
    assert same.mean_cosine.mean[-1] > depth_curve(0.2, 1.0, 6, 16)[-1] + 1e-3


def test_layers_may_have_their_own_v():
    stack = np.stack([V, -V])
    run = simulate_depth(CAUSAL, stack, 2, tokens=np.random.default_rng(0).standard_normal((T, D)), draws=2,
                         norm="layer")
    x = np.random.default_rng(0).standard_normal((T, D))
    x = layer_norm(x)
    for v in stack:
        x = one_step(x, CAUSAL, v, "layer")
    assert run.mean_cosine.mean[-1] == pytest.approx(mean_off_diagonal(moment_cosines(np.asarray(x @ x.T))), abs=1e-12)


def test_progress_counts_up_to_the_number_of_draws():
    seen = []
    simulate_step(CAUSAL, V, draws=10, memory_cap=2**15, progress=lambda done, total: seen.append((done, total)))
    assert len(seen) > 1 and seen[-1] == (10, 10) and seen == sorted(seen)


@pytest.mark.parametrize("size, dim", [(64, 32), (32, 128), (16, 16)])
def test_the_chunk_fits_the_memory_it_is_charged(size, dim):
    attention = np.asarray(causal_uniform_attention(size))
    problem = module._problem(attention, np.eye(dim), 0.3, None, None, "gaussian", None, None, "rms", None,
                              None, 8, 0.9)
    keys = jax.random.split(jax.random.key(0), 8)
    used = module._step_chunk.lower(keys, np.ones(8), problem.inputs, problem.spec, sampling.step_draw).compile()
    analysis = used.memory_analysis()
    assert analysis.temp_size_in_bytes + analysis.output_size_in_bytes <= 8 * 8 * (9 * size * dim + 6 * size**2) + 2**16


def test_structured_values_act_on_u_and_beside_it():
    v = structured_value(U, 2.0, -0.5)
    assert v @ U == pytest.approx(2 * U)
    side = np.eye(D)[1] - U[1] * U
    assert v @ side == pytest.approx(-0.5 * side)


OK = dict(attention=CAUSAL, value=V)
BAD = {
    "rows": (lambda: simulate_step(CAUSAL * 0.9, V), "rows on the simplex"),
    "negative": (lambda: simulate_step(2 * np.eye(T) - UNIFORM, V), "rows on the simplex"),
    "rho one": (lambda: simulate_step(**OK, rho=1.0), r"rho in \[0, 1\)"),
    "rho negative": (lambda: simulate_step(**OK, rho=-0.1), r"rho in \[0, 1\)"),
    "V wide": (lambda: simulate_step(CAUSAL, np.ones((3, 4))), "dim = 3 as in value"),
    "V of another dimension": (lambda: simulate_step(CAUSAL, np.eye(3), tokens=np.ones((T, D))), "V of shape"),
    "V per head": (lambda: simulate_step(CAUSAL, np.stack([V, V])), "V of shape"),
    "draws": (lambda: simulate_step(**OK, draws=0), "number of draws"),
    "draws in depth": (lambda: simulate_depth(CAUSAL, V, 2, draws=0), "number of draws"),
    "layers": (lambda: simulate_depth(CAUSAL, V, 0), "number of layers"),
    "V per layer": (lambda: simulate_depth(CAUSAL, np.stack([V, V]), 3), "one V per layer"),
    "memory": (lambda: simulate_step(**OK, memory_cap=100), "memory cap of at least"),
    "phi": (lambda: IsotropicValue(1.0, 0.5), r"phi >= tau\^2"),
    "no dimension": (lambda: simulate_step(CAUSAL, IsotropicValue(0.0, 1.0)), "pass dim"),
    "tokens": (lambda: simulate_step(**OK, tokens="cauchy"), "expected tokens"),
    "token count": (lambda: simulate_step(**OK, tokens=np.ones((T + 1, D))), "one row of attention per token"),
    "NaN tokens": (lambda: simulate_step(**OK, tokens=np.full((T, D), np.nan)), "finite entries in tokens"),
    "queries": (lambda: simulate_step(**OK, queries=np.array([T])), "query rows"),
    "gram": (lambda: simulate_step(**OK, method="gram"), "Gram route"),
    "method": (lambda: simulate_step(**OK, method="magic"), "expected method"),
    "covariance": (lambda: simulate_step(**OK, covariance=-np.eye(D)), "trace 1"),
    "indefinite": (lambda: simulate_step(**OK, covariance=np.diag([2.0, -1.0] + [0.0] * (D - 2))), "semidefinite"),
    "null token": (lambda: simulate_step(**OK, null_token=T), "null token"),
    "confidence": (lambda: simulate_step(**OK, confidence=1.0), "confidence"),
    "zero outputs": (lambda: simulate_step(np.eye(T), -np.eye(D)), "finite cosines"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_one_sentence(name):
    call, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        call()
