"""What copy-paste costs on exchangeable tokens, for every p and T at once: five numbers decide.  Claim C10.

n of T unit tokens copy from n different keys, f = T - n are off at the sink, each with margin 1 over all other keys.
Renaming keys by an orthogonal map that fixes the sink turns "copies key j" into "attends to itself", so only n matters.
Averaging over permutations of the copiers and of the others leaves W = a P + B: P the projector on the copiers' centred
span (n-1 dimensions) and B between their means c, g and the sink s.  With slacks x >= 0 the constraints are

    a(1-rho) = 1 + x0,                                       a copier over the other copiers' keys,
    M = [c g]ᵀ B [c-g, c-s] = [[h + x1, h + x2], [x4 - x3, -1 - x3]],   h = 1/n - x0 (n-1)/n:
        x1, x2: a copier over the others' keys, over the sink; x3, x4: an off query's sink over copiers', others' keys,

and ||W||_p is the norm of n-1 copies of a and the two singular values of Gq^{-1/2} M Gk^{-1/2}, Gq and Gk the Gram
matrices of (c, g) and (c-g, c-s).  The gradient in x is the dual's multipliers: where it is nonnegative at x = 0 the
cost is that closed form; elsewhere five variables are minimised and the duality gap says how well.

Off at themselves instead (copiers permuting their own keys): the diagonal with the sink among the keys, whatever n:
||W||_p is the norm of T-1 copies of a >= 1/(1-rho) and
b = (1 - a(1-rho)(T-1)/T)/(sqrt(rho_T) sqrt(sigma²-2 beta+rho_T)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.optimize import minimize

from numerics.schatten import dual_exponent

__all__ = ["CopyCost", "off_at_self", "off_at_sink"]


@dataclass(frozen=True)
class CopyCost:
    """lower <= cost <= upper up to rounding; ``closed`` when every constraint is tight and the two are one formula."""

    lower: float
    upper: float
    closed: bool


def off_at_self(count: float, p: float, rho: float, beta: float, sigma: float) -> float:
    """The cost with margin 1 when queries that are off attend to themselves; p in [1, inf), real T >= 2.

    Raises ValueError where no such tokens exist, or where the sink is their mean.
    """
    _require_tokens(count, rho, beta, sigma)
    mean = rho + (1.0 - rho) / count
    root = math.sqrt(mean * (sigma**2 - 2.0 * beta + mean))
    least, enough = 1.0 / (1.0 - rho), count / ((1.0 - rho) * (count - 1.0))
    rate = (1.0 - rho) * (count - 1.0) / (count * root)  # -db/da
    # stationary where (T-1) a^(p-1) = rate b^(p-1), with b = 1/root - rate a
    if p == 1.0:
        a = enough if rate > count - 1.0 else least
    else:
        ratio = math.exp(min(math.log((count - 1.0) / rate) / (p - 1.0), 700.0))  # b/a; beyond that b is all there is
        a = min(max((1.0 / root) / (ratio + rate), least), enough)
    b = max(1.0 / root - rate * a, 0.0)
    return _norm(np.array([a, b]), np.array([count - 1.0, 1.0]), p)


def off_at_sink(count: float, copiers: float, p: float, rho: float, beta: float, sigma: float,
                gap: float = 1e-8) -> CopyCost:
    """The cost with margin 1 when queries that are off attend to the sink; p in [1, inf), real n >= 1 and T - n >= 1.

    Raises ValueError where no such tokens exist, or where the sink is their mean (then no head tells it from them).
    The bounds may be further apart than ``gap`` where W loses rank (rho < 0 and p = 1: up to a third).
    """
    _require_tokens(count, rho, beta, sigma)
    program = _Program(count, copiers, p, rho, beta, sigma)
    start = np.zeros(5)
    value, gradient = program.value_and_gradient(start)
    if (gradient >= -1e-12 * value).all():
        return CopyCost(value, value, True)
    found = minimize(program.value_and_gradient, start, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * 5,
                     options={"ftol": 1e-15, "gtol": gap * 1e-2, "maxiter": 2000})
    value, gradient = program.value_and_gradient(found.x)
    return CopyCost(min(program.dual(np.maximum(gradient, 0.0)), value), value, False)


def _require_tokens(count: float, rho: float, beta: float, sigma: float) -> None:
    """Exchangeable unit tokens with 1 - rho, rho_T > 0, a sink with sigma² rho_T >= beta² that is not their mean."""
    mean = rho + (1.0 - rho) / count
    if not (rho < 1.0 and mean > 0.0 and sigma**2 * mean >= beta**2 and sigma**2 - 2.0 * beta + mean > 0.0):
        raise ValueError("expected exchangeable tokens and a sink apart from their mean (rho_T > 0,"
                         " sigma² rho_T >= beta², sigma² - 2 beta + rho_T > 0), got"
                         f" T={count:g}, rho={rho:g}, beta={beta:g}, sigma={sigma:g};"
                         " bring beta nearer to 0 or make sigma larger")


class _Program:
    """||W||_p as a function of the slacks, its gradient, and the value of multipliers."""

    def __init__(self, count: float, copiers: float, p: float, rho: float, beta: float, sigma: float):
        others = count - copiers
        if not (copiers >= 1.0 and others >= 1.0):
            raise ValueError(f"expected at least one copier and one query that is off, got {copiers} of {count};"
                             " choose a fraction between 1/T and 1 - 1/T")
        c, g = rho + (1.0 - rho) / copiers, rho + (1.0 - rho) / others
        queries = np.array([[c, rho], [rho, g]])
        keys = np.array([[c - 2.0 * rho + g, c - rho], [c - rho, c - 2.0 * beta + sigma**2]])
        self.n, self.p, self.spread = copiers, p, 1.0 - rho
        self.query_root, self.key_root = _root(queries), _root(keys)
        self.query_inverse, self.key_inverse = np.linalg.inv(self.query_root), np.linalg.inv(self.key_root)

    def matrix(self, x: Float[np.ndarray, "5"]) -> Float[np.ndarray, "2 2"]:
        h = 1.0 / self.n - x[0] * (self.n - 1.0) / self.n
        return np.array([[h + x[1], h + x[2]], [x[4] - x[3], -1.0 - x[3]]])

    def value_and_gradient(self, x: Float[np.ndarray, "5"]) -> tuple[float, Float[np.ndarray, "5"]]:
        u, s, vt = np.linalg.svd(self.query_inverse @ self.matrix(x) @ self.key_inverse)
        values, weights = np.array([(1.0 + x[0]) / self.spread, *s]), np.array([self.n - 1.0, 1.0, 1.0])
        size = _norm(values, weights, self.p)
        slopes = (values / size) ** (self.p - 1.0)
        inner = self.query_inverse @ ((u * slopes[1:]) @ vt) @ self.key_inverse  # d size / dM
        first = (self.n - 1.0) * (slopes[0] / self.spread - (inner[0, 0] + inner[0, 1]) / self.n)
        return size, np.array([first, inner[0, 0], inner[0, 1], -inner[1, 0] - inner[1, 1], inner[1, 0]])

    def dual(self, multipliers: Float[np.ndarray, "5"]) -> float:
        """Their sum over the dual norm of what they add up to: a lower bound for any multipliers >= 0."""
        zero, one, two, three, four = multipliers
        table = self.query_root @ np.array([[one, two], [four, -three - four]]) @ self.key_root
        centred = self.spread * (zero / max(self.n - 1.0, 1e-300) + (one + two) / self.n) if self.n > 1.0 else 0.0
        values = np.array([centred, *np.linalg.svd(table, compute_uv=False)])
        size = _norm(values, np.array([self.n - 1.0, 1.0, 1.0]), dual_exponent(self.p))
        return float(multipliers[0 if self.n > 1.0 else 1:].sum() / size) if size > 0.0 else 0.0


def _norm(values: Float[np.ndarray, " value"], weights: Float[np.ndarray, " value"], p: float) -> float:
    """(sum weights values^p)^(1/p), scaled so that nothing overflows; values of weight 0 do not count."""
    values = np.where(weights > 0.0, values, 0.0)
    largest = float(values.max())
    if p == math.inf or largest == 0.0:
        return largest
    return largest * float((weights * (values / largest) ** p).sum() ** (1.0 / p))


def _root(gram: Float[np.ndarray, "2 2"]) -> Float[np.ndarray, "2 2"]:
    """The positive root of a positive definite 2 x 2 matrix: (G + sqrt(det) I)/sqrt(trace + 2 sqrt(det))."""
    determinant = gram[0, 0] * gram[1, 1] - gram[0, 1] ** 2
    if not (determinant > 0.0 and gram[0, 0] > 0.0):
        raise ValueError("expected tokens and a sink in general position, got means that are dependent;"
                         " lower |beta| or raise sigma")
    root = math.sqrt(determinant)
    return (gram + root * np.eye(2)) / math.sqrt(gram[0, 0] + gram[1, 1] + 2.0 * root)
