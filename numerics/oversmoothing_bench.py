"""How fast the simulators are against a plain per-draw numpy loop: ``python -m numerics.oversmoothing_bench``.

The loop is what one writes first, not the fastest numpy; both use the linear-algebra threads that the environment
gives them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Float

from numerics.attention import causal_uniform_attention, uniform_attention
from numerics.simulate import IsotropicValue, simulate_step

__all__ = ["Throughput", "numpy_loop", "throughput"]


@dataclass(frozen=True)
class Throughput:
    """Seconds for the same number of draws: ``loop`` the numpy loop, ``first`` ours with compilation, ``again`` ours
    without; ``method`` is our route; ``mean_gap`` is the difference of the two mean cosines in units of its standard
    error.
    """

    setting: str
    method: str
    loop: float
    first: float
    again: float
    mean_gap: float


def numpy_loop(
    attention: Float[np.ndarray, "token token"],
    value: Float[np.ndarray, "dim dim"] | IsotropicValue,
    rho: float,
    dim: int,
    draws: int,
    seed: int = 0,
) -> Float[np.ndarray, " draw"]:
    """The mean pair cosine of each draw, one draw at a time, as one writes it first (RMSNorm, Gaussian tokens)."""
    rng = np.random.default_rng(seed)
    size = len(attention)
    means = np.empty(draws)
    for n in range(draws):
        x = np.sqrt(1 - rho) * rng.standard_normal((size, dim))
        x[:, 0] += np.sqrt(rho * dim)
        v = value
        if isinstance(value, IsotropicValue):
            noise = rng.standard_normal((dim, dim))
            v = value.tau * np.eye(dim) + np.sqrt((value.phi - value.tau**2) / dim) * noise
        y = x + attention @ x @ v.T
        y = y / np.linalg.norm(y, axis=1, keepdims=True)
        cosines = y @ y.T
        means[n] = (cosines.sum() - size) / (size * (size - 1))
    return means


def throughput(
    draws: int = 1000, num_tokens: int = 64, dim: int = 512, seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> list[Throughput]:
    """Time both on four settings in one run: {uniform, causal} attention with {given V, fresh isotropic V}.

    ``draws``, ``num_tokens`` T and ``dim`` d are the same for all; ``progress(setting)`` is called after each.
    """
    given = np.random.default_rng(seed).standard_normal((dim, dim)) * np.sqrt(0.5 / dim)
    results = []
    for pattern, attention in (("uniform", uniform_attention(num_tokens)),
                               ("causal uniform", causal_uniform_attention(num_tokens))):
        for kind, value in (("given V", given), ("fresh isotropic V", IsotropicValue(0.0, 0.5))):
            weights = np.asarray(attention)

            def ours(weights=weights, value=value):
                return simulate_step(weights, value, rho=0.3, dim=dim, draws=draws, seed=seed)

            jax.clear_caches()  # two settings share a kernel, which the second would not have to compile
            first, simulated = _timed(ours)
            again, _ = _timed(ours)
            loop, means = _timed(lambda weights=weights, value=value: numpy_loop(weights, value, 0.3, dim, draws, seed))
            error = np.hypot(simulated.mean_cosine.standard_error, means.std(ddof=1) / np.sqrt(draws))
            gap = float((simulated.mean_cosine.mean - means.mean()) / error)
            results.append(Throughput(f"{pattern}, {kind}", simulated.method, loop, first, again, gap))
            if progress is not None:
                progress(results[-1].setting)
    return results


def _timed(run: Callable):
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def main() -> int:
    """Print the table of `throughput` at its defaults."""
    for row in throughput(progress=lambda setting: print(setting, file=sys.stderr)):
        print(f"{row.setting:35} {row.method:10} loop {row.loop:7.2f} s, ours {row.first:6.2f} s with compilation,"
              f" {row.again:6.2f} s without; means {row.mean_gap:+.1f} standard errors apart")
    return 0


if __name__ == "__main__":
    sys.exit(main())
