"""Reduction of a minimum-norm problem to the tokens' span.

Let P_q project on the span of the queries and P_k on the span of the key differences. For every W the matrix
P_q W P_k satisfies exactly the same constraints, since x_i^T P_q W P_k (x_a - x_b) = x_i^T W (x_a - x_b), and
||P_q W P_k||_p <= ||W||_p because a projection has spectral norm 1. So some minimiser has W = P_q W P_k, and
nothing is lost by writing W = V_q M V_k^T with orthonormal V_q (dim, r_q), V_k (dim, r_k) and M (r_q, r_k),
which has the norm of W. In these coordinates the logits, up to a constant in each row that no constraint
sees, are U_q diag(s_q) M diag(s_k) U_k^T: the logit map is diagonal between two orthonormal frames.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from numerics.constraints import Constraints

__all__ = ["Span", "token_span"]


@dataclass(frozen=True, eq=False)
class Span:
    """Thin SVDs of the weighted rows' queries, diag(w) X_q = U_q diag(s_q) V_q^T, and of the centred keys.

    The weights w only choose the metric in which logits are compared; ``logits`` and ``pull_back`` undo them.
    """

    row_weight: Float[np.ndarray, " row"]  # w
    query_rows: Float[np.ndarray, "row rq"]  # U_q
    query_scale: Float[np.ndarray, " rq"]  # s_q
    query_basis: Float[np.ndarray, "dim rq"]  # V_q
    key_rows: Float[np.ndarray, "key rk"]  # U_k
    key_scale: Float[np.ndarray, " rk"]  # s_k
    key_basis: Float[np.ndarray, "dim rk"]  # V_k

    def logits(self, core: Float[np.ndarray, "rq rk"]) -> Float[np.ndarray, "row key"]:
        """Row logits of W = V_q M V_k^T, up to a constant in each row."""
        scaled = self.query_scale[:, None] * core * self.key_scale
        return (self.query_rows @ scaled) @ self.key_rows.T / self.row_weight[:, None]

    def pull_back(self, signed: Float[np.ndarray, "row key"]) -> Float[np.ndarray, "rq rk"]:
        """V_q^T G V_k of G = X_q^T N X_k, for N with zero row sums: the adjoint of ``logits``."""
        inner = (self.query_rows / self.row_weight[:, None]).T @ signed @ self.key_rows
        return self.query_scale[:, None] * inner * self.key_scale


def token_span(constraints: Constraints) -> Span:
    """The orthonormal frames of a constraint set; directions below rounding relative to the largest are
    dropped.

    Dropping only narrows the search: the bounds of ``two_sided`` are evaluated on the tokens themselves.
    """
    queries = constraints.queries[constraints.row_query]
    weight = _row_weights(constraints, queries)
    query_rows, query_scale, query_basis = _thin_svd(weight[:, None] * queries)
    centred = constraints.keys - constraints.keys.mean(axis=0)
    key_rows, key_scale, key_basis = _thin_svd(centred)
    return Span(weight, query_rows, query_scale, query_basis, key_rows, key_scale, key_basis)


def _row_weights(
    constraints: Constraints, queries: Float[np.ndarray, "row dim"]
) -> Float[np.ndarray, " row"]:
    """1 / (||x_i|| sqrt(least ||x_a - x_b||)) up to a common factor; 1 for a zero query or coinciding keys.

    A row whose query is long, or whose competitor is close, needs little or much of W; equal footing saves
    iterations (tenfold on real tokens with near-duplicates). The square root was the best of the powers
    tried.
    """
    keys = constraints.keys - constraints.keys.mean(axis=0)
    lead = keys[constraints.favoured]
    squares = (lead**2).sum(axis=1)[:, None] + (keys**2).sum(axis=1) - 2.0 * lead @ keys.T
    nearest = np.sqrt(np.maximum(np.where(constraints.competitors, squares, np.inf).min(axis=1), 0.0))
    size = np.linalg.norm(queries, axis=1) * np.sqrt(nearest)
    usual = size > 1e-6 * size.max()
    if not usual.all():
        size = np.where(usual, size, 1.0 if not usual.any() else np.median(size[usual]))
    return np.exp(np.log(size).mean() - np.log(size))


def _thin_svd(
    matrix: Float[np.ndarray, "row dim"],
) -> tuple[Float[np.ndarray, "row rank"], Float[np.ndarray, " rank"], Float[np.ndarray, "dim rank"]]:
    u, s, vt = np.linalg.svd(matrix, full_matrices=False)
    largest = float(s.max(initial=0.0))
    keep = s > max(matrix.shape) * np.finfo(np.float64).eps * largest
    return u[:, keep], s[keep], vt[keep].T
