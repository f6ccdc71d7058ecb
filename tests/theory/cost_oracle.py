"""Plain numerical routes to the costs: tokens from a Gram matrix, Schatten norms, and the primal program as
it is written."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np


def exchangeable(tokens, r, rho, beta, sigma):
    """Content tokens and sink with the Gram matrix of exch(T, r, rho, beta, sigma), as rows of the Gram
    matrix's root."""
    gram = np.full((tokens + 1, tokens + 1), float(rho))
    gram[np.arange(tokens), np.arange(tokens)] = 1
    gram[tokens, :tokens] = gram[:tokens, tokens] = float(beta)
    gram[tokens, tokens] = float(sigma) ** 2
    values, vectors = np.linalg.eigh(gram)
    assert values.min() > -1e-12
    root = float(r) * vectors * np.sqrt(values.clip(0)) @ vectors.T
    return root[:tokens], root[tokens]


def schatten(matrix, exponent):
    values = np.linalg.svd(matrix, compute_uv=False)
    return values.max() if np.isinf(exponent) else (values**exponent).sum() ** (1 / exponent)


def conjugate(exponent):
    return np.inf if exponent == 1 else 1.0 if np.isinf(exponent) else exponent / (exponent - 1)


def cheapest(constraints, dim, exponent):
    """min ||W||_p over <W, B> >= m for the pairs (B, m); p = 1, 2 or infinity."""
    w = cp.Variable((dim, dim))
    norm = {1: cp.normNuc, 2: lambda x: cp.norm(x, "fro"), np.inf: cp.sigma_max}[exponent]
    problem = cp.Problem(cp.Minimize(norm(w)), [cp.sum(cp.multiply(b, w)) >= m for b, m in constraints])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return problem.solve(solver=cp.CLARABEL)
