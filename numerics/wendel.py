"""The chance level of a half-space: how often random points lie in one by luck (Wendel's formula)."""

from __future__ import annotations

import math
from fractions import Fraction

from numerics.arguments import whole_number

__all__ = ["chance_in_half_space", "log10_chance_in_half_space"]


def chance_in_half_space(num_points: int, dim: int) -> Fraction:
    """P(N, d) = 2^(1-N) sum_{k<d} C(N-1, k): the chance that N points lie in an open half-space through 0.

    Exact for N independent points in R^d whose law is symmetric about 0 and in general position almost
    surely (isotropic ones, say). It is 1 iff N <= d, and 1/2 at N = 2d. Count *distinct* vectors, and the
    rank instead of d where they do not span. Raises ValueError unless N >= 1 and d >= 1 are whole numbers.
    J. G. Wendel, Math. Scand. 11 (1962).

    Example:

    >>> chance_in_half_space(4, 2), chance_in_half_space(3, 3)
    (Fraction(1, 2), Fraction(1, 1))
    """
    num_points, dim = _require_counts(num_points, dim)
    return Fraction(_favourable(num_points, dim), 2 ** (num_points - 1))


def log10_chance_in_half_space(num_points: int, dim: int) -> float:
    """log10 of ``chance_in_half_space``, finite where the probability itself underflows a float."""
    num_points, dim = _require_counts(num_points, dim)
    favourable, total = _favourable(num_points, dim), 2 ** (num_points - 1)
    if 2 * favourable > total:  # near 1: the logarithm of the quotient would lose the difference
        return math.log1p(-float(Fraction(total - favourable, total))) / math.log(10.0)
    return math.log10(favourable) - (num_points - 1) * math.log10(2.0)


def _require_counts(num_points: int, dim: int) -> tuple[int, int]:
    return (whole_number("the number of points", num_points, 1, "count the distinct vectors"),
            whole_number("the dimension", dim, 1, "pass the rank of the vectors"))


def _favourable(num_points: int, dim: int) -> int:
    """sum_{k<d} C(N-1, k)."""
    total, term = 0, 1
    for k in range(min(dim, num_points)):
        total += term
        term = term * (num_points - 1 - k) // (k + 1)
    return total
