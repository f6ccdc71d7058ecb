"""The second route of the cost claims: the engines of `numerics` on float tokens against the closed forms.

Each slack is the tolerance minus the largest relative distance between formula and the engine's two bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import inf

import numpy as np

from numerics.diagonal_bound import diagonal_cost
from numerics.sink_cost import sink_cost
from numerics.value_cost import value_cost
from proofs_check.claims.building import Choose

TOLERANCE = 1e-4  # the first-order engine's default gap is 2e-5
NORMS = (1.0, 2.0, inf)
Values = Mapping[str, object]


def slack(pairs: Iterable[tuple[float, float]]) -> float:
    """Tolerance minus the largest |computed/formula - 1|; NaN stays NaN."""
    distances = [abs(computed / formula - 1) for computed, formula in pairs]
    return TOLERANCE - max(distances) if not any(np.isnan(distances)) else float("nan")


def from_gram(tokens: int, r: float, rho: float, beta: float, sigma2: float) -> tuple[np.ndarray, np.ndarray]:
    """Content tokens and sink as rows of the root of exch(T,r,rho,beta,sigma)'s Gram matrix."""
    gram = np.full((tokens + 1, tokens + 1), float(rho))
    np.fill_diagonal(gram, 1.0)
    gram[tokens, :tokens] = gram[:tokens, tokens] = beta
    gram[tokens, tokens] = sigma2
    values, vectors = np.linalg.eigh(gram)
    root = float(r) * vectors * np.sqrt(values.clip(0)) @ vectors.T
    return root[:tokens], root[tokens]


def sink_point(choose: Choose) -> dict[str, object]:
    """C4's sink in terms of the hull distances, with a sink that exists: sigma² = q² + k² + 2 q k cos."""
    q, k = Fraction(choose(1, 8), 8), Fraction(choose(1, 12), 6)
    return {"T": choose(2, 7), "r": Fraction(choose(1, 6), 2), "q": q, "k": k, "m": Fraction(choose(1, 6), 3),
            "s2": q**2 + k**2 + 2 * q * k * Fraction(choose(-4, 4), 4)}


def sink_slack(values: Values) -> float:
    t, r, q, k, s2, m = (values[name] for name in ("T", "r", "q", "k", "s2", "m"))
    tokens, sink = from_gram(int(t), r, (t * q**2 - 1) / (t - 1), (s2 + q**2 - k**2) / 2, s2)
    found, formula = sink_cost(tokens, sink, margin=m), m / (r**2 * q * k)
    return slack([(found.lower, formula), (found.upper, formula)])


def diagonal_point(choose: Choose) -> dict[str, object]:
    """C4's diagonal at p = 1 (M = 1) or p = ∞ (N = 1), rho from -1/(T-1) up, and an eigenvalue J of 11^T."""
    t = choose(2, 5)
    powers = {"N": t - 1, "M": 1} if choose(0, 1) else {"N": 1, "M": t - 1}
    return {"T": t, "r": Fraction(choose(1, 6), 2), "e": Fraction(t, t - 1) * Fraction(choose(1, 8), 8),
            "m": Fraction(choose(1, 6), 3), "J": t * choose(0, 1), **powers}


def diagonal_slack(values: Values) -> float:
    t, r, e, m, n = (values[name] for name in ("T", "r", "e", "m", "N"))
    tokens, _ = from_gram(int(t), r, 1 - e, 0.0, 1.0)
    found, formula = diagonal_cost(tokens, inf if n == 1 else 1.0, margin=m), m * n / (r**2 * e)
    return slack([(found.lower, formula), (found.upper, formula)])


def value_point(choose: Choose) -> dict[str, object]:
    """C7's parameters with f = e + T(rho - b² s2) > 0."""
    t, e, s2 = choose(2, 6), Fraction(choose(1, 7), 8), Fraction(choose(1, 6), 2)
    b = Fraction(choose(-3, 3), 4) * Fraction(1, 2)
    while e + t * (1 - e - b**2 * s2) <= 0:
        b /= 2
    return {"T": t, "e": e, "s2": s2, "b": b, "f": e + t * (1 - e - b**2 * s2), "J": t * choose(0, 1)}


def value_slack(values: Values) -> float:
    t, e, s2, b, f = (values[name] for name in ("T", "e", "s2", "b", "f"))
    tokens, sink = from_gram(int(t), 1.0, 1 - e, b * s2, s2)
    pairs = []
    for norm in NORMS:
        found = value_cost(tokens, np.eye(int(t)), norm, null=sink)
        if norm == inf:
            formula = max(e**-0.5, f**-0.5)
        else:
            formula = ((t - 1) * e ** (-norm / 2) + f ** (-norm / 2)) ** (1 / norm)
        pairs += [(found.lower, formula), (found.upper, formula)]
    return slack(pairs)
