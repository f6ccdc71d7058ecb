"""The family-wise test of O1: many random settings, one decision, its error rate fixed before a draw is made.

In each setting the simulated mean of <y_i, M y_j>/d for one pair is compared with a prediction through Student's t.
If the predictions are exact the p-values are uniform (up to the t-approximation at the stated number of draws), so at
level c the number of settings whose interval of confidence c misses is Binomial(settings, 1-c). The test rejects when
any of these counts leaves its two-sided acceptance region; the levels share alpha equally (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import stats

from numerics.attention import (
    banded_attention, block_attention, causal_uniform_attention, mixed_attention, sink_attention, softmax_attention,
    uniform_attention)
from numerics.moments import drift_statistics, o1_gram_of
from numerics.simulate import simulate_step

__all__ = ["ALPHA", "FamilyResult", "LEVELS", "Setting", "family_test", "predictions", "random_setting", "verdict"]

#: stated in advance: the probability that the test rejects exact predictions is at most this
ALPHA = 0.002
LEVELS = (0.999, 0.9)
_DIMS = (16, 32, 64, 128, 256, 512, 1024)
_TOKENS = (2, 5, 16)


@dataclass(frozen=True)
class Setting:
    """One random (T, d, rho, A, V, norm) with an anisotropic R, a direction u and a pair of tokens."""

    attention: Float[np.ndarray, "token token"]
    w_vo: Float[np.ndarray, "dim dim"]
    covariance: Float[np.ndarray, "dim dim"]
    direction: Float[np.ndarray, " dim"]
    rho: float
    norm: str
    pair: tuple[int, int]
    pattern: str


@dataclass(frozen=True)
class FamilyResult:
    """``p_values`` (settings,) per prediction; ``misses`` at each level with its acceptance region; the decision."""

    p_values: Float[np.ndarray, " setting"]
    misses: dict[float, int]
    accepted: dict[float, tuple[int, int]]
    alpha: float
    rejected: bool


def random_setting(seed: int, index: int) -> Setting:
    """Setting ``index`` of the family: sizes from small tables (few compilations), all else at random.

    V has noise, a diagonal of random sign and one strong component a b^T; R is diagonal plus a spike along b, which
    leans toward the all-ones direction. So tau has either sign, V is far from normal, and centring, transposition and
    the order inside tr(R V^T M V) all matter.
    """
    rng = np.random.default_rng([seed, index])
    dim, size = int(rng.choice(_DIMS)), int(rng.choice(_TOKENS))
    rho = float(rng.uniform(0, 0.95))
    left, right = _unit(rng.standard_normal(dim)), _unit(rng.standard_normal(dim) + 0.5)
    w_vo = float(rng.uniform(0.1, 0.7)) * rng.standard_normal((dim, dim)) / np.sqrt(dim)
    w_vo += np.diag(rng.uniform(-1, 1) + 0.3 * rng.standard_normal(dim)) + rng.uniform(1, 2) * np.outer(left, right)
    spectrum = rng.gamma(1.0, size=dim)
    covariance = np.diag(0.6 * spectrum / spectrum.sum()) + 0.4 * np.outer(right, right)
    direction = _unit(rng.standard_normal(dim) + 0.5)
    pattern = str(rng.choice(["uniform", "mixed", "causal", "banded", "block", "sink", "softmax"]))
    attention = {
        "uniform": lambda: uniform_attention(size),
        "mixed": lambda: mixed_attention(size, float(rng.uniform())),
        "causal": lambda: causal_uniform_attention(size),
        "banded": lambda: banded_attention(size, 2, causal=bool(rng.integers(2))),
        "block": lambda: block_attention([1, size - 1]),
        "sink": lambda: sink_attention(size, int(rng.integers(size))),
        "softmax": lambda: softmax_attention(2 * rng.standard_normal((size, size))),
    }[pattern]()
    pair = tuple(int(k) for k in rng.choice(size, 2, replace=False))
    return Setting(np.asarray(attention), w_vo, covariance, direction, rho,
                   str(rng.choice(["rms", "layer"])), pair, pattern)


def predictions(s: Setting) -> dict[str, float]:
    """E<y_i, M y_j>/d for the setting's pair: O1 itself, and the negative controls, each with one thing wrong.

    The same test must accept the first and reject the others.
    """
    right = drift_statistics(s.w_vo, s.covariance, s.direction, s.norm)
    uncentred = drift_statistics(s.w_vo, s.covariance, s.direction, "rms")
    swapped = drift_statistics(s.w_vo.T, s.covariance, s.direction, s.norm).phi  # tr(R V M V^T)
    a = s.attention
    value = float(o1_gram_of(a, s.rho, right)[s.pair])
    return {
        "O1": value,
        "A transposed in one term": value + (1 - s.rho) * right.phi * float((a.T @ a - a @ a.T)[s.pair]),
        "phi with the wrong trace": value + (1 - s.rho) * (swapped - right.phi) * float((a @ a.T)[s.pair]),
        "centring forgotten": float(o1_gram_of(a, s.rho, uncentred)[s.pair]),
    }


def family_test(
    settings: int = 400,
    draws: int = 300,
    seed: int = 0,
    alpha: float = ALPHA,
    memory_cap: int = 2**28,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, FamilyResult]:
    """Simulate every setting once and judge O1 ("O1") and each negative control by the same p-values' counts.

    Args: ``settings`` how many; ``draws`` per setting; ``seed`` fixes settings and draws; ``alpha`` family-wise level.
    Returns a verdict per prediction. Raises ValueError for fewer than one setting or two draws. Claim O1.
    """
    if settings < 1 or draws < 2:
        raise ValueError(f"expected at least one setting and two draws each, got {settings} and {draws};"
                         " a t-interval needs two draws")
    p_values: dict[str, np.ndarray] = {}
    for index in range(settings):
        s = random_setting(seed, index)
        estimate = simulate_step(
            s.attention, s.w_vo, rho=s.rho, covariance=s.covariance, direction=s.direction, norm=s.norm,
            queries=np.array(s.pair), draws=draws, seed=seed * settings + index, memory_cap=memory_cap).second_moment
        mean, error = estimate.mean[0, 1], estimate.standard_error[0, 1]
        for name, predicted in predictions(s).items():
            p_values.setdefault(name, np.empty(settings))[index] = 2 * stats.t.sf(abs(mean - predicted) / error,
                                                                                  draws - 1)
        if progress is not None:
            progress(index + 1, settings)
    return {name: verdict(values, alpha) for name, values in p_values.items()}


def verdict(p_values: Float[np.ndarray, " setting"], alpha: float = ALPHA) -> FamilyResult:
    """Reject unless the number of p-values below 1-c is plausible at every level c (NaN counts as a miss)."""
    misses, accepted = {}, {}
    for level in LEVELS:
        tail = alpha / len(LEVELS) / 2
        law = stats.binom(len(p_values), 1 - level)
        misses[level] = int(np.sum(~(p_values >= 1 - level)))
        accepted[level] = (int(law.ppf(tail)), int(law.isf(tail)))
    inside = all(accepted[c][0] <= misses[c] <= accepted[c][1] for c in LEVELS)
    return FamilyResult(p_values, misses, accepted, alpha, not inside)


def _unit(vector: Float[np.ndarray, " dim"]) -> Float[np.ndarray, " dim"]:
    return vector / np.linalg.norm(vector)
