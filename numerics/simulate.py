"""Simulators of one attention layer and of L layers, built to contradict claims O1-O8 if they are wrong.

Draws are vmapped and run in chunks whose size follows from a memory cap; draw n has its own key, folded from the seed
and n, so the seed fixes every draw and the chunk size changes results by rounding only (1e-12 relative).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int
from scipy import stats

from numerics import oversmoothing_sampling as sampling
from numerics.arguments import real_array, row_number, whole_number
from numerics.attention import require_row_stochastic
from numerics.moments import require_covariance, require_direction, require_gain, require_norm, require_rho

__all__ = [
    "DepthSimulation",
    "Estimate",
    "IsotropicValue",
    "StepSimulation",
    "simulate_depth",
    "simulate_step",
    "structured_value",
]

Attention = Float[np.ndarray, "token token"] | Float[np.ndarray, "head token token"] | Callable
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class IsotropicValue:
    """A fresh V = tau I + s G/sqrt(d) per draw and layer, G iid standard normal: tr V/d -> tau, |V|_F^2/d -> phi.

    s^2 = phi - tau^2; raises ValueError unless tau^2 <= phi < inf (Cauchy-Schwarz). Claim O8.
    """

    tau: float
    phi: float

    def __post_init__(self) -> None:
        if not self.tau**2 <= self.phi < float("inf"):
            raise ValueError(f"expected finite phi >= tau^2, got phi={self.phi}, tau={self.tau}; |V|_F^2/d is at least"
                             " (tr V/d)^2")


@dataclass(frozen=True)
class Estimate:
    """A mean over draws with its Student t-interval mean +- half_width at level ``confidence``, entry by entry."""

    mean: np.ndarray
    half_width: np.ndarray
    standard_error: np.ndarray
    confidence: float
    draws: int


@dataclass(frozen=True)
class StepSimulation:
    """One layer: moments before the norm, cosines after it, and the draws behind the mean cosines.

    ``second_moment`` estimates E<y_i, M y_j>/d (q, q) over the chosen queries, ``cosine`` E cos(y_i, y_j),
    ``mean_cosine`` and ``input_cosine`` the mean over ordered pairs; ``mean_cosines`` (draws,) are its draws.
    ``method`` says which route drew them ("embedding" or "gram").
    """

    second_moment: Estimate
    cosine: Estimate
    mean_cosine: Estimate
    input_cosine: Estimate
    mean_cosines: Float[np.ndarray, " draw"]
    method: str


@dataclass(frozen=True)
class DepthSimulation:
    """Mean pair cosines of layers 0..L: their estimate, the 5% and 95% quantiles over draws, and the draws."""

    mean_cosine: Estimate
    lower: Float[np.ndarray, " depth"]
    upper: Float[np.ndarray, " depth"]
    curves: Float[np.ndarray, "draw depth"]
    method: str


@dataclass(frozen=True)
class _Spec:
    """What is static under jit."""

    tokens: str
    attention: Callable | None = None
    null_token: int | None = None
    layers: int = 0
    norm: str = ""  # depth only; a single step takes the centring as a number, so that both norms share a compilation


def structured_value(
    direction: Float[np.ndarray, " dim"], alpha: float, beta: float
) -> Float[np.ndarray, "dim dim"]:
    """V = alpha u u^T + beta (I - u u^T) for a unit u (d,): returns (d, d).

    Raises ValueError for a u off the sphere, NaN or infinity. Claim O9.

    Example:

    >>> structured_value([1.0, 0.0], alpha=-1.0, beta=0.25).tolist()
    [[-1.0, 0.0], [0.0, 0.25]]
    """
    u = require_direction(direction, np.size(direction))
    if not np.isfinite([alpha, beta]).all():
        raise ValueError(f"expected finite alpha and beta, got {alpha} and {beta}; they are V's two eigenvalues")
    return beta * np.eye(len(u)) + (alpha - beta) * np.outer(u, u)


def simulate_step(
    attention: Attention,
    value: Float[np.ndarray, "dim dim"] | Float[np.ndarray, "head dim dim"] | IsotropicValue,
    *,
    rho: float = 0.0,
    dim: int | None = None,
    num_tokens: int | None = None,
    tokens: Literal["gaussian", "spherical"] | Float[np.ndarray, "token dim"] = "gaussian",
    covariance: Float[np.ndarray, "dim dim"] | None = None,
    direction: Float[np.ndarray, " dim"] | None = None,
    norm: Literal["rms", "layer"] = "rms",
    gain: Float[np.ndarray, " dim"] | None = None,
    null_token: int | None = None,
    queries: Int[np.ndarray, " query"] | None = None,
    draws: int = 256,
    seed: int = 0,
    confidence: float = 0.99,
    memory_cap: int = 2**28,
    method: Literal["auto", "embedding", "gram"] = "auto",
    progress: Progress | None = None,
) -> StepSimulation:
    """Simulate y_i = Norm(x_i + sum_h sum_j a^h_ij V_h x_j) over independent draws of the tokens (and of V).

    Args: ``attention`` (T, T) or (heads, T, T), rows on the simplex, or a jax function of the tokens (T, d) that
    returns (T, T) (then ``num_tokens`` is needed and O1 doesn't apply); ``value`` V (d, d), one per head, or an
    `IsotropicValue` drawn afresh; ``rho``, ``direction`` u (default e_1), ``covariance`` R of trace 1 (default I/d)
    of the model x_i = sqrt(d)(sqrt(rho) u + sqrt(1-rho) z_i), or the user's ``tokens`` (T, d) as they are;
    ``dim`` where neither V nor tokens fix it; ``null_token`` s makes V x_s = 0 by projection; ``queries`` restricts
    the rows computed; ``gain`` (d,) acts after the norm; ``memory_cap`` bytes for the arrays of a chunk (A, V and
    their copies, O(T^2 + d^2), come on top); ``progress(done, draws)`` is called after each. ``method`` "gram" samples
    inner products only (module `oversmoothing_sampling`), "auto" does so where it applies.
    Raises ValueError for shapes that do not fit, fewer than two tokens or queries, NaN, rows off the simplex, options
    out of range, a memory cap below one draw, or outputs that are 0 (they have no cosine). Claims O1, O2, O6.

    Example:

    >>> from numerics import uniform_attention
    >>> run = simulate_step(uniform_attention(4), np.zeros((8, 8)), rho=0.0, draws=32)
    >>> bool(abs(run.mean_cosine.mean - run.input_cosine.mean) < 1e-12)  # V = 0 changes nothing
    True
    """
    problem = _problem(attention, value, rho, dim, num_tokens, tokens, covariance, direction, norm, gain, null_token,
                       draws, confidence)
    p, spec = problem.inputs, problem.spec
    size = problem.num_tokens
    if queries is not None:
        p["queries"] = _queries(queries, problem.num_tokens)
        p["attention"] = None if p["attention"] is None else p["attention"][:, p["queries"]]
        size = len(p["queries"])
    kernel, route = sampling.step_draw, "embedding"
    if method != "embedding" and queries is None:
        if problem.isotropic and problem.fresh:
            kernel, route = sampling.gram_step_draw, "gram"
        elif problem.shared_row and problem.dim >= problem.num_tokens + 4:
            kernel, route = sampling.shared_row_step_draw, "gram"
    _require_route(method, route)
    per_draw = 8 * (9 * problem.num_tokens * problem.dim + 6 * size**2) if route == "embedding" \
        else 8 * (16 * size**2 + 16 * problem.dim)
    means, squares, scalars = None, None, []
    done = 0
    for keys, weights in _chunks(seed, draws, per_draw, memory_cap):
        (mean, square), values = _step_chunk(keys, weights, p, spec, kernel)
        count = int(weights.sum())
        means, squares = _merge(means, squares, done, mean, square, count)
        scalars.append(np.asarray(values)[:count])
        done += count
        if progress is not None:
            progress(done, draws)
    values = np.concatenate(scalars)
    second, cosine = (_estimate(means[i], squares[i], draws, confidence) for i in (0, 1))
    _require_numbers(values)
    return StepSimulation(second, cosine, _estimate_of(values[:, 0], confidence),
                          _estimate_of(values[:, 1], confidence),
                          values[:, 0], route)


def simulate_depth(
    attention: Attention,
    value: Float[np.ndarray, "dim dim"] | Float[np.ndarray, "layer dim dim"] | IsotropicValue,
    layers: int,
    *,
    rho: float = 0.0,
    dim: int | None = None,
    num_tokens: int | None = None,
    tokens: Literal["gaussian", "spherical"] | Float[np.ndarray, "token dim"] = "gaussian",
    covariance: Float[np.ndarray, "dim dim"] | None = None,
    direction: Float[np.ndarray, " dim"] | None = None,
    norm: Literal["rms", "layer"] = "rms",
    gain: Float[np.ndarray, " dim"] | None = None,
    null_token: int | None = None,
    draws: int = 64,
    seed: int = 0,
    confidence: float = 0.99,
    memory_cap: int = 2**28,
    method: Literal["auto", "embedding", "gram"] = "auto",
    progress: Progress | None = None,
) -> DepthSimulation:
    """Iterate the layer of `simulate_step` L times and record the mean pair cosine of every layer (claim O8).

    Args: ``value`` is an `IsotropicValue` (fresh per layer and draw), V (d, d) in every layer, or (L, d, d); the
    others as in `simulate_step`, one head. Layer 0 is the normalised input. Raises ValueError as that does.

    Example:

    >>> from numerics import uniform_attention
    >>> run = simulate_depth(uniform_attention(4), IsotropicValue(0.0, 0.5), 2, rho=0.1, dim=32, draws=8)
    >>> run.mean_cosine.mean.shape
    (3,)
    """
    layers = whole_number("the number of layers", layers, 1, "use simulate_step for the moments of a single one")
    given = None
    if not isinstance(value, IsotropicValue):
        given = real_array("value", value, "*layer dim dim")
        if given.ndim == 3 and len(given) != layers:
            raise ValueError(f"expected one V per layer ({layers}), got {len(given)}; stack them as (layers, d, d)")
        given = np.broadcast_to(given, (layers, *given.shape)) if given.ndim == 2 else given
        value = given[0]
    problem = _problem(attention, value, rho, dim, num_tokens, tokens, covariance, direction, norm, gain, null_token,
                       draws, confidence)
    p = problem.inputs | {"w_vo_per_layer": None if given is None else jnp.asarray(given)}
    spec = _Spec(problem.spec.tokens, problem.spec.attention, null_token, layers, norm)
    kernel, route = sampling.depth_draw, "embedding"
    if method != "embedding" and problem.isotropic and problem.fresh:
        kernel, route = sampling.gram_depth_draw, "gram"
    _require_route(method, route)
    size = problem.num_tokens
    per_draw = 8 * (9 * size * problem.dim + 6 * size**2) if route == "embedding" else 8 * 16 * size**2
    curves = []
    for keys, weights in _chunks(seed, draws, per_draw, memory_cap):
        curves.append(np.asarray(_depth_chunk(keys, p, spec, kernel))[: int(weights.sum())])
        if progress is not None:
            progress(sum(map(len, curves)), draws)
    all_curves = np.concatenate(curves)
    _require_numbers(all_curves)
    lower, upper = np.quantile(all_curves, [0.05, 0.95], axis=0)
    return DepthSimulation(_estimate_of(all_curves, confidence), lower, upper, all_curves, route)


@dataclass(frozen=True)
class _Problem:
    inputs: dict
    spec: _Spec
    dim: int
    num_tokens: int
    isotropic: bool  # isotropic tokens, RMSNorm, no gain, fixed attention
    fresh: bool  # fresh isotropic V and d >= 2T: the Gram route applies
    shared_row: bool


def _problem(attention, value, rho, dim, num_tokens, tokens, covariance, direction, norm, gain, null_token, draws,
             confidence) -> _Problem:
    """Validate everything at the boundary and lay out the arrays the kernels take."""
    require_rho(rho)
    whole_number("the number of draws", draws, 1, "a t-interval needs two")
    if not 0 < confidence < 1:
        raise ValueError(f"expected a confidence in (0, 1), got {confidence}; 0.99 is the default")
    require_norm(norm)
    weights, size = None, num_tokens
    if not callable(attention):
        heads = real_array("attention", attention, "*head token token")
        heads = heads[None] if heads.ndim == 2 else heads
        if heads.ndim != 3:
            raise ValueError(f"expected attention (T, T) or (heads, T, T), got shape {heads.shape}; query axis first")
        weights = jnp.stack([require_row_stochastic(head) for head in heads])
        size = heads.shape[1]
    given = None if isinstance(tokens, str) else real_array("tokens", tokens, "token dim")
    if given is not None:
        size, dim = size or len(given), given.shape[1]
    elif tokens not in ("gaussian", "spherical"):
        raise ValueError(f"expected tokens 'gaussian', 'spherical' or an array (T, d), got {tokens!r}; choose one")
    if size is None or (given is not None and len(given) != size):
        raise ValueError(f"expected one row of attention per token, got {size} rows for"
                         f" {0 if given is None else len(given)} tokens; pass num_tokens with a function")
    size = whole_number("the number of tokens", size, 2, "a cosine needs a pair")
    matrices, entry = None, {}
    if isinstance(value, IsotropicValue):
        entry = {"tau": jnp.float64(value.tau), "spread": jnp.sqrt(jnp.float64(value.phi - value.tau**2))}
        if dim is None or dim < 1:
            raise ValueError(f"expected a dimension with an isotropic V, got dim={dim}; pass dim")
        if weights is not None and len(weights) != 1:
            raise ValueError(f"expected one head with an isotropic V, got {len(weights)}; pass attention (T, T)")
    else:
        matrices = real_array("value", value, "*head dim dim")
        matrices = matrices[None] if matrices.ndim == 2 else matrices
        wanted = (len(weights) if weights is not None else 1, dim or matrices.shape[-1], dim or matrices.shape[-1])
        if matrices.shape != wanted:
            raise ValueError(f"expected V of shape (d, d) per head, {wanted} in all, got shape {np.shape(value)};"
                             " rows are outputs, and d is the tokens' dimension")
        dim = wanted[-1]
        entry = {"w_vo": jnp.asarray(matrices)}
    u = np.eye(dim)[0] if direction is None else require_direction(direction, dim)
    scale = None if gain is None else require_gain(gain, dim)
    if null_token is not None:
        null_token = row_number("the null token", null_token, size)
    kind = "given" if given is not None else "covariance" if covariance is not None else tokens
    if covariance is not None and (given is not None or tokens == "spherical"):
        raise ValueError("expected Gaussian tokens beside a covariance, got others; drop one of the two arguments")
    root = None if covariance is None else jnp.asarray(_square_root(require_covariance(covariance, dim)))
    inputs = {
        "attention": weights, "value": entry, "rho": jnp.float64(rho), "direction": jnp.asarray(u), "root": root,
        "tokens": jnp.asarray(given) if given is not None else jnp.zeros((size, 0)), "queries": None,
        "centre": jnp.float64(norm == "layer"), "gain": None if scale is None else jnp.asarray(scale),
    }
    free = kind in ("gaussian", "spherical") and scale is None and weights is not None
    same = weights is not None and len(weights) == 1 and bool(jnp.all(weights[0] == weights[0, :1]))
    return _Problem(
        inputs, _Spec(kind, attention if callable(attention) else None, null_token), dim, size,
        isotropic=free and norm == "rms", fresh=matrices is None and dim >= 2 * size,
        shared_row=same and free and kind == "gaussian" and matrices is not None and null_token is None)


def _queries(queries, size: int) -> jax.Array:
    rows = np.asarray(queries)
    if rows.ndim != 1 or rows.size < 2 or rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= size:
        raise ValueError(f"expected at least two query rows in 0..{size - 1}, got {queries}; leave it out for all rows")
    return jnp.asarray(rows)


def _require_route(wanted: str, route: str) -> None:
    if wanted not in ("auto", "embedding", "gram"):
        raise ValueError(f"expected method 'auto', 'embedding' or 'gram', got {wanted!r}; choose one of them")
    if wanted == "gram" and route != "gram":
        raise ValueError(
            "expected a setting the Gram route covers (isotropic tokens, no gain, and either a fresh isotropic V with"
            " RMSNorm and d >= 2T or one shared attention row with a given V), got another; use method='embedding'"
        )


def _require_numbers(values: np.ndarray) -> None:
    if not np.all(np.isfinite(values)):
        raise ValueError("expected finite cosines, got NaN: some output is 0 or the tokens have collapsed to within"
                         " rounding; use fewer layers or a V that keeps the outputs away from 0")


def _square_root(covariance: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:  # singular, or indefinite
        eigenvalues, vectors = np.linalg.eigh(covariance)
    if not eigenvalues[0] >= -1e-12:
        raise ValueError(
            f"expected a positive semidefinite covariance, got eigenvalue {eigenvalues[0]:g}; symmetrise it")
    return vectors * np.sqrt(np.clip(eigenvalues, 0, None))


def _chunks(seed: int, draws: int, bytes_per_draw: int, memory_cap: int):
    """Keys and 0/1 weights chunk by chunk, all of one shape; draw n has key fold_in(seed, n) in whatever chunk."""
    if bytes_per_draw > memory_cap:
        raise ValueError(f"expected a memory cap of at least {bytes_per_draw} bytes for one draw of this size, got"
                         f" {memory_cap}; raise memory_cap or lower T or d")
    chunk = int(min(draws, max(1, memory_cap // bytes_per_draw)))
    base = jax.random.key(seed)
    for start in range(0, draws, chunk):
        numbers = jnp.arange(start, start + chunk)
        yield jax.vmap(partial(jax.random.fold_in, base))(numbers), (numbers < draws).astype(jnp.float64)


@partial(jax.jit, static_argnames=("spec", "kernel"))
def _step_chunk(keys, weights, p, spec, kernel):
    second, cosine, *scalars = jax.vmap(lambda key: kernel(key, p, spec))(keys)
    total = weights.sum()

    def mean_and_squares(values):
        mean = jnp.einsum("n,nij->ij", weights, values) / total
        return mean, jnp.einsum("n,nij->ij", weights, (values - mean) ** 2)

    pairs = [mean_and_squares(values) for values in (second, cosine)]
    return (jnp.stack([m for m, _ in pairs]), jnp.stack([s for _, s in pairs])), jnp.stack(scalars, axis=1)


@partial(jax.jit, static_argnames=("spec", "kernel"))
def _depth_chunk(keys, p, spec, kernel):
    return jax.vmap(lambda key: kernel(key, p, spec))(keys)


def _merge(mean, square, count: int, other_mean, other_square, other_count: int):
    """Means and sums of squared deviations of two groups, combined (Chan's formula)."""
    other_mean, other_square = np.asarray(other_mean), np.asarray(other_square)
    if mean is None:
        return other_mean, other_square
    total = count + other_count
    shift = other_mean - mean
    return mean + shift * other_count / total, square + other_square + shift**2 * count * other_count / total


def _estimate(mean: np.ndarray, square: np.ndarray, draws: int, confidence: float) -> Estimate:
    if draws < 2:
        return Estimate(mean, np.full_like(mean, np.inf), np.full_like(mean, np.inf), confidence, draws)
    error = np.sqrt(square / (draws - 1) / draws)
    return Estimate(mean, stats.t.ppf((1 + confidence) / 2, draws - 1) * error, error, confidence, draws)


def _estimate_of(values: np.ndarray, confidence: float) -> Estimate:
    mean = values.mean(axis=0)
    return _estimate(np.asarray(mean), np.sum((values - mean) ** 2, axis=0), len(values), confidence)
