"""Norms of W_QK and W_VO from their factors, the margins a head shows, and when C1 bounds its norm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from numerics.audit.tokens import Spread, spread
from numerics.checkpoint.record import LayerWeights

__all__ = ["ProductNorms", "bound_reason", "product_norms", "sink_margins"]


@dataclass(frozen=True)
class ProductNorms:
    """Norms of a product left right^T of low rank, and C0's half sum of squares, which is at least the nuclear norm."""

    nuclear: float
    frobenius: float
    spectral: float
    half_squares: float


def product_norms(left: Float[np.ndarray, "rows rank"], right: Float[np.ndarray, "columns rank"]) -> ProductNorms:
    """Norms of left right^T without forming it: singular values of R_left R_right^T, from two QR factorisations. C0."""
    upper = [np.linalg.qr(np.asarray(side, dtype=np.float64), mode="r") for side in (left, right)]
    values = np.linalg.svd(upper[0] @ upper[1].T, compute_uv=False)
    squares = float(np.sum(np.square(left)) + np.sum(np.square(right)))
    return ProductNorms(float(values.sum()), float(np.sqrt(np.sum(values**2))), float(values[0]), squares / 2)


def bound_reason(
    weights: LayerWeights, rotary: bool, visible: Bool[np.ndarray, "token token"], margins: Spread | None
) -> str | None:
    """Why the sink's cost of C1 at margin 1 is no lower bound for this head's κ‖W_QK‖; None when it is.

    C1 asks for the margin at every pair of a query and a key, the sink's included.  A head that sees fewer may do with
    less: with x_s = 4, x_1 = 1, x_2 = 2 in one dimension C1 costs 1/2, but rows that see no later key need 1/3; C3's
    diagonal on T = 3 orthonormal tokens costs 2, but √(1/2) + √(2/3) under the mask (C11).  `visible` is the pass's
    mask, row 0 the sink, and `margins` what `sink_margins` found on it.  Claim C1.
    """
    reasons = [
        (not np.asarray(visible)[1:].all(), "causal mask or window: fewer pairs of query and key than in C1"),
        (margins is None or not margins.least >= 1, "the head's margin for the sink is below 1 on some row"),
        (rotary, "RoPE: logits are not x_i^T W x_j with one W (G6)"),
        (
            weights.q_norm is not None or weights.k_norm is not None,
            "queries or keys are normalised: logits are not bilinear",
        ),
        (weights.b_q is not None, "query bias: a sink needs no half-space of the queries"),
        (weights.soft_cap is not None, "soft-capped logits: a margin of logits is not one of x_i^T W x_j"),
    ]
    found = [text for applies, text in reasons if applies]
    return "; ".join(found) or None


def sink_margins(
    attention: Float[np.ndarray, "token token"], visible: Bool[np.ndarray, "token token"], sink: int = 0
) -> Spread | None:
    """log(a_is / max a_ij, j visible, j not s) over the queries i that see the sink and another key: the margins of G5.

    They are differences of the model's own (rotated, capped) logits.  A weight that underflows counts as the least
    normal float64.  None when no query sees both.
    """
    weights = np.maximum(np.asarray(attention, dtype=np.float64), np.finfo(np.float64).tiny)
    seen = np.array(visible)
    own = seen[:, sink].copy()
    seen[:, sink] = False
    rows = own & seen.any(axis=1)
    rows[sink] = False
    if not rows.any():
        return None
    others = np.where(seen, weights, 0.0).max(axis=1)
    return spread(np.log(weights[rows, sink] / others[rows]))
