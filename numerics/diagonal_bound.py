"""What the diagonal costs at least: the uniform dual of claim C3, one singular value problem for any cloud.

With lambda_ij equal for all i != j the dual matrix is a multiple of the centred scatter T * X^T H X:

    min ||W||_p >= m (T - 1) / ||X^T H X||_{p*},    X (T, d) the tokens as rows,

and in mass form with m = L + log(T - 1), at which the uniform rows have the largest entropy.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from numerics.arguments import real_array
from numerics.cloud import dot_error
from numerics.constraints import diagonal_constraints
from numerics.minimum_norm import MinimumNorm, minimum_norm
from numerics.schatten import dual_exponent, exponent, lp_norm

__all__ = ["diagonal_bound", "diagonal_cost"]


def diagonal_bound(
    tokens: Float[np.ndarray, "token dim"],
    norm: str | float,
    *,
    margin: float | None = None,
    mass: float | None = None,
) -> float:
    """A lower bound on min ||W||_p over W that give every token its own attention, rounding included.

    Args: ``tokens`` (T, d); ``norm`` as in ``schatten_norm``; logits are at scale 1. Exactly one of ``margin``
    (> 0) and ``mass`` (in (0, 1); 0 is returned where W = 0 has that mass). +inf when
    all tokens coincide: no W can then tell them apart. Raises ValueError for bad tokens or levels.
    Claims C3, C6.

    Example:

    >>> f"{diagonal_bound(np.eye(3), 'nuclear', margin=1.0):.6f}"
    '2.000000'
    """
    tokens = real_array("tokens", tokens, "token dim")
    count, dim = tokens.shape
    # One constraint row is enough to check the level and to say what is wrong with it.
    diagonal_constraints(tokens[: min(count, 2)], margin=margin, mass=mass)
    if count == 1:
        return 0.0
    level = margin if margin is not None else math.log(mass / (1.0 - mass)) + math.log(count - 1)
    if not level > 0.0:
        return 0.0
    q = dual_exponent(exponent(norm))
    centred = tokens - tokens.mean(axis=0)
    values = np.linalg.svd(centred, compute_uv=False)
    if values[0] == 0.0:
        return math.inf
    # ||X^T H X||_q = ||s||_{2q}^2; |fl(HX) - HX| is at most a few units of |X| in every entry, and the SVD's
    # own error a modest multiple of the unit roundoff times its size.
    error = dot_error(count + dim + 16) * float(np.linalg.norm(tokens)) * math.sqrt(min(count, dim))
    raised = values + error
    return level * (count - 1) / lp_norm(raised**2, q) * (1.0 - 1e-14)


def diagonal_cost(
    tokens: Float[np.ndarray, "token dim"],
    norm: str | float,
    *,
    margin: float | None = None,
    mass: float | None = None,
    causal: bool = False,
    sink: Float[np.ndarray, " dim"] | None = None,
    **options: float,
) -> MinimumNorm:
    """The cheapest W by which every token prefers itself: ``minimum_norm`` of ``diagonal_constraints``.

    Args: ``tokens`` (T, d) as they enter attention; ``norm`` as in ``schatten_norm``; one of ``margin`` (> 0, in
    logits at scale 1) and ``mass`` (in (0, 1)); ``causal``, ``sink`` (d,) as in ``diagonal_constraints``;
    ``options`` (tolerance, max_iterations, time_limit) go to ``minimum_norm``. Returns its record: read
    ``status``. Raises ValueError as these two do. Claims C3, C4, C11.

    Example:

    >>> cost = diagonal_cost(np.eye(3), "nuclear", margin=1.0)
    >>> f"{cost.upper:.3f}", bool(cost.gap <= 1e-4), bool(cost.lower <= 2.0 <= cost.upper)  # C4: T - 1 = 2
    ('2.000', True, True)
    """
    constraints = diagonal_constraints(tokens, margin=margin, mass=mass, causal=causal, sink=sink)
    return minimum_norm(constraints, norm, **options)
