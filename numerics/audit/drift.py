"""The drift D = 2τ + φ of real heads, from the factors of V = W_O W_V: no d x d matrix per head."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from numerics.checkpoint.record import LayerWeights
from numerics.moments import HeadStatistics, metric_product
from numerics.oversmoothing_embeddings import EmpiricalModel, empirical_model

__all__ = [
    "DRIFT_VARIANTS",
    "HeadDrift",
    "drift_statistics_of",
    "factored_statistics",
    "head_drifts",
    "layer_drift",
    "value_factors",
]

DRIFT_VARIANTS = {
    "gain_measured": "V = W_VO on tokens x (gain applied) as if the residual were x; R, u from the pooled content x",
    "gain_isotropic": "the same with R = I/d: τ = tr(CV)/d, φ = ‖CV‖_F²/d",
    "stream_measured": "V = W_VO Γ/s on normalised residuals n, 1/s the mean of 1/s_i (the network's own map);"
    " R from n",
    "stream_isotropic": "the same with R = I/d",
    "stream_gain_after": "stream_measured with the gain Γ' of the norm that follows: M = CΓ'²C, divided by t0",
}


@dataclass(frozen=True)
class HeadDrift:
    """τ, φ and D of one head on its own, divided by t0 = tr(RM) (1 under RMSNorm without a gain after it)."""

    tau: float
    phi: float
    drift: float
    t0: float


def value_factors(
    weights: LayerWeights,
) -> tuple[Float[np.ndarray, "head dim head_dim"], Float[np.ndarray, "head head_dim dim"]]:
    """W_O and W_V of every query head, key/value heads repeated as the model shares them: V_h = W_O[h] W_V[h]."""
    return weights.w_o, weights.w_v[[weights.key_value(head) for head in range(weights.heads)]]


def factored_statistics(
    w_o: Float[np.ndarray, "head dim rank"],
    w_v: Float[np.ndarray, "head rank dim"],
    covariance: Float[np.ndarray, "dim dim"] | None,
    direction: Float[np.ndarray, " dim"],
    norm: str,
    gain: Float[np.ndarray, " dim"] | None = None,
) -> HeadStatistics:
    """`numerics.moments.head_statistics` for V_h = w_o[h] w_v[h]: the same numbers from traces of rank x rank matrices.

    tau_h = tr(W_V R M W_O), phi_hk = tr((W_V^k R W_V^hT)(W_O^hT M W_O^k)).  `covariance` R has trace 1 (None: I/d),
    `direction` u is a unit vector, `norm` and `gain` give M = C Γ² C.  Claim O1m.
    """
    heads, dim, rank = w_o.shape

    def form(columns: np.ndarray) -> np.ndarray:
        return metric_product(columns, norm, gain)

    outs = np.moveaxis(w_o, 0, 1).reshape(dim, heads * rank)
    ins = w_v.reshape(heads * rank, dim)
    spread_ins = ins / dim if covariance is None else ins @ covariance
    seen = form(outs)
    # Blocks (h, k) of two small Gram matrices; tr(A_kh B_hk) is the sum of A_kh^T * B_hk.
    inner = (spread_ins @ ins.T).reshape(heads, rank, heads, rank)
    outer = (outs.T @ seen).reshape(heads, rank, heads, rank)
    phi = np.einsum("hakb,hakb->hk", inner, outer)
    tau = np.einsum("hrd,dhr->h", spread_ins.reshape(heads, rank, dim), seen.reshape(dim, heads, rank))
    after = direction + outs @ (ins @ direction)
    t0 = float(np.trace(form(np.eye(dim))) / dim) if covariance is None else float(np.sum(form(covariance).diagonal()))
    return HeadStatistics(t0, float(direction @ form(direction)), float(after @ form(after)), tau, phi)


def head_drifts(statistics: HeadStatistics) -> list[HeadDrift]:
    """Each head's own D_h = 2 τ_h + φ_hh, all divided by t0 (so that D >= -1 in every variant)."""
    t0 = statistics.t0
    return [
        HeadDrift(float(tau / t0), float(phi / t0), float((2 * tau + phi) / t0), t0)
        for tau, phi in zip(statistics.tau, statistics.phi.diagonal(), strict=True)
    ]


def layer_drift(statistics: HeadStatistics) -> HeadDrift:
    """D of all heads together when they share one attention: τ = Σ τ_h, φ = Σ φ_hk (O1m), divided by t0."""
    tau, phi, t0 = float(statistics.tau.sum()), float(statistics.phi.sum()), statistics.t0
    return HeadDrift(tau / t0, phi / t0, (2 * tau + phi) / t0, t0)


def drift_statistics_of(
    weights: LayerWeights,
    inputs: Float[np.ndarray, "token dim"],
    normalised: Float[np.ndarray, "token dim"],
    inverse_scale: float,
) -> dict[str, tuple[HeadStatistics, EmpiricalModel]]:
    """The statistics of every variant of `DRIFT_VARIANTS` that the weights allow, each with the model of its tokens.

    `inputs` x and `normalised` n are pooled content tokens (gain applied, and without); `inverse_scale` is the mean of
    1/s_i.
    """
    w_o, w_v = value_factors(weights)
    gained, plain = empirical_model(inputs), empirical_model(normalised)
    through = w_v * (weights.norm_gain * inverse_scale)
    found = {
        "gain_measured": (factored_statistics(w_o, w_v, gained.covariance, gained.direction, weights.norm), gained),
        "gain_isotropic": (factored_statistics(w_o, w_v, None, gained.direction, weights.norm), gained),
        "stream_measured": (factored_statistics(w_o, through, plain.covariance, plain.direction, weights.norm), plain),
        "stream_isotropic": (factored_statistics(w_o, through, None, plain.direction, weights.norm), plain),
    }
    if weights.next_norm_gain is not None:
        found["stream_gain_after"] = (
            factored_statistics(w_o, through, plain.covariance, plain.direction, weights.norm, weights.next_norm_gain),
            plain,
        )
    return found
