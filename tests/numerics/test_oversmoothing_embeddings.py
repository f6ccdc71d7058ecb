"""O1m on embeddings: exact on tokens that are of the model's form in the mean, and reported as it is on real ones."""

import importlib.resources

import numpy as np
import pytest

from numerics.attention import causal_uniform_attention, uniform_attention
from numerics.oversmoothing_bench import numpy_loop, throughput
from numerics.oversmoothing_embeddings import compare_mix, empirical_model
from numerics.simulate import IsotropicValue, simulate_step


def test_the_prediction_is_close_on_tokens_of_the_model():
    rng = np.random.default_rng(0)
    size, dim = 100, 200
    x = rng.standard_normal((size, dim)) + 0.8
    heads = np.stack([np.asarray(causal_uniform_attention(size)), np.eye(size)])
    values = 0.3 * np.eye(dim) + 0.5 * rng.standard_normal((2, dim, dim)) / np.sqrt(dim)
    result = compare_mix(x, heads, values, np.array([0.0, 0.5, 1.0]), np.asarray(uniform_attention(size)))
    assert result.predicted == pytest.approx(result.measured, abs=0.03)
    wrong = compare_mix(x, heads, -values, np.array([0.0]), np.asarray(uniform_attention(size)))
    assert abs(wrong.predicted[0] - result.measured[0]) > 0.03


def test_a_sink_enters_with_its_own_embedding():
    rng = np.random.default_rng(1)
    size, dim = 60, 150
    x = rng.standard_normal((size, dim)) + 0.5
    x[0] = 20 * rng.standard_normal(dim)
    attention = np.zeros((1, size, size))
    attention[0, :, 0] = 1
    values = 0.3 * rng.standard_normal((1, dim, dim)) / np.sqrt(dim)
    with_sink = compare_mix(x, attention, values, np.array([0.0]), np.asarray(uniform_attention(size)), sink=0)
    without = compare_mix(x, attention, values, np.array([0.0]), np.asarray(uniform_attention(size)))
    assert abs(with_sink.predicted - with_sink.measured) < 0.03 < abs(without.predicted - without.measured)


def test_real_attention_mixed_toward_uniform_raises_the_cosine_as_predicted_in_sign():
    data = np.load(importlib.resources.files("numerics") / "data" / "smollm2_dev.npz")
    x, attention = data["x_15"].astype(float), data["attn_15"].astype(float)
    attention /= attention.sum(-1, keepdims=True)
    values = np.stack([data["w_o_15"][h].astype(float) @ data["w_v_15"][h // 3].astype(float) for h in range(9)])
    toward = np.asarray(causal_uniform_attention(len(x)))
    result = compare_mix(x, attention, values, np.array([0.0, 1.0]), toward, sink=0)
    assert result.measured[1] > result.measured[0] and result.predicted[1] > result.predicted[0]
    assert np.all(np.isfinite(result.pair_rms))


def test_the_empirical_model_recovers_rho():
    rng = np.random.default_rng(2)
    x = 3 * (0.6 + 0.8 * rng.standard_normal((4000, 30)))
    model = empirical_model(x)
    assert model.rho == pytest.approx(0.36, abs=0.01) and model.scale == pytest.approx(3 * 30**0.5, rel=0.01)
    assert np.trace(model.covariance) == pytest.approx(1)


def test_the_numpy_loop_and_the_simulator_have_one_mean():
    attention = np.asarray(causal_uniform_attention(4))
    value = IsotropicValue(0.1, 0.5)
    loop = numpy_loop(attention, value, 0.3, 16, 2000)
    ours = simulate_step(attention, value, rho=0.3, dim=16, draws=2000).mean_cosine
    assert abs(loop.mean() - ours.mean) < 4 * np.hypot(loop.std() / 2000**0.5, ours.standard_error)


@pytest.mark.slow
def test_the_benchmark_reports_every_setting():
    results = throughput(draws=4, num_tokens=3, dim=16)
    assert len(results) == 4 and {r.method for r in results} == {"gram", "embedding"}
    assert all(r.loop > 0 and r.again > 0 and abs(r.mean_gap) < 6 for r in results)


def test_bad_input_is_refused():
    x, a = np.random.default_rng(3).standard_normal((3, 4)), np.asarray(uniform_attention(3))
    with pytest.raises(ValueError, match=r"t in \[0, 1\]"):
        compare_mix(x, a[None], np.eye(4)[None], np.array([-0.1]), a)
    with pytest.raises(ValueError, match="one V per head"):
        compare_mix(x, a[None], np.stack([np.eye(4)] * 2), np.array([0.1]), a)
    with pytest.raises(ValueError, match="two finite tokens"):
        empirical_model(x[:1])
