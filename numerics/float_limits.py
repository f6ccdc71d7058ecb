"""Where float32 and bfloat16 start to say the wrong thing about a strict inequality of the theory.

Each case is a family of instances with one growing size (a logit gap, T, d, ...) on which the exact inequality is
strict by construction.  The statement is evaluated as one would write it, in one dtype from end to end (each operation
rounded), and `first_wrong` is measured: the least size on the case's grid at which the evaluated inequality no longer
holds.  `python -m proofs_check.float_page` writes the page that holds this table, `notes/float.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf

import jax.numpy as jnp
import numpy as np

__all__ = ["CASES", "DTYPES", "FloatCase", "Limit", "first_wrong", "measured", "page"]

DTYPES = {name: np.dtype(kind)
          for name, kind in (("float64", np.float64), ("float32", np.float32), ("bfloat16", jnp.bfloat16))}
Margin = Callable[[float, np.dtype], float]


@dataclass(frozen=True)
class FloatCase:
    """A strict inequality on a family: `margin(size, dtype)` is left minus right, > 0 exactly.

    `grid` lists the sizes in growing difficulty; `why` says in words what rounds.
    """

    claims: tuple[str, ...]
    statement: str
    size: str
    grid: Sequence[float]
    margin: Margin
    why: str


@dataclass(frozen=True)
class Limit:
    """The least size on the grid at which the inequality is said to fail (infinite: at none), in one dtype."""

    case: FloatCase
    dtype: str
    size: float
    margin: float


def _powers_of_two(last: int) -> list[float]:
    return [float(2**k) for k in range(1, last + 1)]


def _number(value: float, dtype: np.dtype) -> np.generic:
    return np.asarray(value).astype(dtype)[()]


def _softmax(logits: list[float], dtype: np.dtype) -> np.ndarray:
    scores = np.array(logits).astype(dtype)
    weights = np.exp(scores - scores.max())
    return weights / weights.sum(dtype=dtype)


def _product(left: np.ndarray, right: np.ndarray) -> np.generic:
    """Sum of products, each operation rounded: a matrix product of bfloat16 would be taken in float32."""
    total = left[0] * right[0]
    for a, b in zip(left[1:], right[1:]):
        total = total + a * b
    return total


def _gap_of_one(gap: float, dtype: np.dtype) -> float:
    """1 - a_s for one other key, the margin being `gap`."""
    row = _softmax([gap, 0.0], dtype)
    return _number(1, dtype) - row[0]


def _other_mass(gap: float, dtype: np.dtype) -> float:
    """a_j itself, which underflows far later than 1 - a_s rounds."""
    return _softmax([gap, 0.0], dtype)[1]


def _switch_output(gap: float, dtype: np.dtype) -> float:
    """||o|| of a softmax head with a null sink and the values (1, 2^-6), (-1, 2^-6): the half-space's normal is e_2."""
    weights = _softmax([gap, 0.0, 0.0], dtype)
    values = np.array([[0.0, 0.0], [1.0, 2.0**-6], [-1.0, 2.0**-6]]).astype(dtype)
    return np.sqrt(sum(_product(weights, column) ** 2 for column in values.T))


def _residual_step(gap: float, dtype: np.dtype) -> float:
    """|(x_i + o_i) - x_i| with x_i = 1 and o_i = e^-gap/(1 + e^-gap): what the residual stream hears of the head."""
    one = _number(1, dtype)
    return (one + _softmax([gap, 0.0], dtype)[1]) - one


def _half_space(size: float, dtype: np.dtype) -> float:
    """<x, u> for x = (size, -size, -1/2) and u = (1 + 1/size, 1, 1): the exact value is 1/2."""
    x = np.array([size, -size, -0.5]).astype(dtype)
    u = np.array([1.0 + 1.0 / size, 1.0, 1.0]).astype(dtype)
    return _product(x, u)


def _sphere(size: float, dtype: np.dtype) -> float:
    """||n_s||² - <n_s, n_j> on the unit circle at angle 1/size: the sink is off the keys' hull, for n_s != n_j."""
    angle = _number(1.0 / size, dtype)
    return _number(1, dtype) - np.cos(angle)


def _drift(size: float, dtype: np.dtype) -> float:
    """cos_uniform - cos_diagonal at T = 2, rho = 1/2, D = 1/size, g = t0 = 1 (O3): its sign is that of D > 0."""
    one, half = _number(1, dtype), _number(0.5, dtype)
    drift = _number(1.0 / size, dtype)
    shared = half * one
    uniform = (shared + half * drift / 2) / (shared + half * (one + drift / 2))
    diagonal = shared / (shared + half * (one + drift))
    # uniform: G_ij = rho g + (1-rho) D/T, G_ii = rho g + (1-rho)(t0 + D/T)
    # diagonal: rho g over rho g + (1-rho)(t0 + D)
    return uniform - diagonal


def _many_keys(size: float, dtype: np.dtype) -> float:
    """G5 with n keys at a margin m = log n + 1: 1/(1 + n e^-m) is compared with 1/(1 + (n+1) e^-m)."""
    m = np.log(_number(size, dtype)) + 1
    n = _number(size, dtype)
    return 1 / (1 + n * np.exp(-m)) - 1 / (1 + (n + 1) * np.exp(-m))


def _uniform_mass(size: float, dtype: np.dtype) -> float:
    """P0: H_T/T > H_{T+1}/(T+1), with H summed in the dtype, the large terms first."""
    total = _number(0, dtype)
    for k in range(1, int(size) + 1):
        total = total + _number(1 / k, dtype)
    n = _number(size, dtype)
    return total / n - (total + _number(1 / (size + 1), dtype)) / (n + 1)


def _costs(size: float, dtype: np.dtype) -> float:
    """C5 at p = 2, orthonormal: the sink loses by the factor T/sqrt(T²-1), so T - sqrt(T² - 1) > 0."""
    t = _number(size, dtype)
    return t - np.sqrt(t * t - 1)


def _causal_cost(size: float, dtype: np.dtype) -> float:
    """C11: row T of the causal diagonal costs 1 - 1/T, and one more row costs more: (1 - 1/(T+1)) - (1 - 1/T)."""
    t = _number(size, dtype)
    return (1 - 1 / (t + 1)) - (1 - 1 / t)


def _unit_products(size: float, dtype: np.dtype) -> float:
    """C8: ||x_i||² - <x_i, x_j> for unit vectors of R^d that differ in one of d coordinates of size d^{-1/2}."""
    scale = 1 / np.sqrt(_number(size, dtype))
    own, product = scale * scale, -scale * scale
    for _ in range(int(size) - 1):
        own, product = own + scale * scale, product + scale * scale
    return own - product


def _tiny_distance(size: float, dtype: np.dtype) -> float:
    """||p||² for the nearest point p = 1/size of a hull: positive, as zero is outside."""
    p = _number(1.0 / size, dtype)
    return p * p


def _heavy_cancellation(size: float, dtype: np.dtype) -> float:
    """1 - <q, x_s - x_j> for the products (size, 3/4, -size): the margin 3/4 misses m = 1."""
    s = _number(size, dtype)
    return _number(1, dtype) - ((s + _number(0.75, dtype)) - s)


def _mass_below_one(size: float, dtype: np.dtype) -> float:
    """-log(1 - eps) at eps = 1/size, which L = log((1 - eps)/eps) is made of."""
    return -np.log(_number(1, dtype) - _number(1.0 / size, dtype))


def _quarter_turn(size: float, dtype: np.dtype) -> float:
    """pi/2 - n theta at n theta = pi/2 - 1/size: within a quarter turn the rotated margin keeps its sign."""
    return _number(np.pi / 2, dtype) - _number(np.pi / 2 - 1.0 / size, dtype)


def _frobenius_cost(size: float, dtype: np.dtype) -> float:
    """sqrt(T) - T/sqrt(T + 1)."""
    t = _number(size, dtype)
    return np.sqrt(t) - t / np.sqrt(t + 1)


GAPS = [k / 2 for k in range(1, 401)] + [float(k) for k in range(201, 800)]
CASES: tuple[FloatCase, ...] = (
    FloatCase(("G5", "E8"), "1 - a_s > 0 (a finite margin never gives a pure sink)", "logit gap", GAPS, _gap_of_one,
              "a_s rounds to 1 once e^-m is below half a unit in the last place"),
    FloatCase(("G5", "E7", "E8"), "a_j > 0 (the mass of another key)", "logit gap", GAPS, _other_mass,
              "e^-m underflows; subnormal numbers are flushed to zero on many machines"),
    FloatCase(("E2", "E8"), "||o|| > 0 (a softmax head never quite switches off)", "logit gap", GAPS, _switch_output,
              "the squares in the norm underflow at half the gap at which a_j does"),
    FloatCase(("M1", "S2"), "(x_i + o_i) - x_i > 0 (the residual stream hears the head)", "logit gap", GAPS,
              _residual_step,
              "the head's output is below half a unit in the last place of the residual stream"),
    FloatCase(("G1", "E2"), "<u, x> > 0 for x = (s, -s, -1/2), u = (1+1/s, 1, 1)", "s", _powers_of_two(60), _half_space,
              "1 + 1/s rounds to 1: the normal no longer separates"),
    FloatCase(("G3", "G4"), "‖n_s‖² - <n_s, n_j> > 0 for two points of the circle, 1/s apart", "s",
              _powers_of_two(40), _sphere,
              "the difference is 1/(2s²), the products are 1"),
    FloatCase(("O3", "O9"), "cos_uniform > cos_diagonal at T = 2, rho = 1/2, D = 1/s", "s", _powers_of_two(60), _drift,
              "two cosines that differ by O(D)"),
    FloatCase(("G5",), "1/(1 + n e^-m) > 1/(1 + (n+1) e^-m) at m = log n + 1", "n", _powers_of_two(60), _many_keys,
              "n + 1 rounds to n, or the quotients differ by less than a unit in the last place"),
    FloatCase(("P0",), "H_T/T > H_(T+1)/(T+1) (one more token lowers the mass)", "T",
              [*range(1, 257), *(2.0**k for k in range(9, 21))], _uniform_mass,
              "T + 1 rounds to T"),
    FloatCase(("C5",), "T > sqrt(T² - 1) (at p = 2 the sink costs more)", "T", [float(k) for k in range(1, 33)]
              + _powers_of_two(40)[5:], _costs, "the gap is 1/(2T) and T² - 1 rounds to T²"),
    FloatCase(("C11",), "1 - 1/(T+1) > 1 - 1/T (a causal diagonal's rows)", "T", [float(k) for k in range(1, 257)]
              + _powers_of_two(40)[8:], _causal_cost, "the difference is 1/(T(T+1))"),
    FloatCase(("E4",), "‖p‖² > 0 for the point p = 1/s of a hull without zero", "s",
              _powers_of_two(100), _tiny_distance,
              "the square underflows long before p does"),
    FloatCase(("C1",), "s + 3/4 - s < 1 (a margin of 3/4 misses m = 1)", "s", _powers_of_two(60), _heavy_cancellation,
              "s + 3/4 rounds to s + 1"),
    FloatCase(("C2", "C3"), "log(1 - eps) < 0 at eps = 1/s (a mass below one)", "s",
              _powers_of_two(60), _mass_below_one,
              "1 - eps rounds to 1, and L to infinity or to -log(eps)"),
    FloatCase(("G6",), "n theta < pi/2 at n theta = pi/2 - 1/s (so that cos(n theta) > 0)", "s",
              _powers_of_two(60), _quarter_turn,
              "the angle rounds to pi/2"),
    FloatCase(("C10",), "T/sqrt(T + 1) < sqrt(T) (the sink's Frobenius cost, orthonormal)", "T",
              _powers_of_two(60), _frobenius_cost,
              "T + 1 rounds to T, or the quotients to one number"),
    FloatCase(("C8",), "‖x_i‖² > <x_i, x_j> for unit vectors that differ in one coordinate of size d^-1/2", "d",
              [float(2**k) for k in range(1, 19)], _unit_products,
              "a long sum stops growing once a term is below half a unit in its last place"),
)


def first_wrong(case: FloatCase, dtype: str) -> Limit:
    """The least size on the grid at which the margin, evaluated in `dtype`, is not > 0 (NaN counts as wrong).

    Raises ValueError for a dtype that is not in `DTYPES`.
    """
    if dtype not in DTYPES:
        raise ValueError(f"expected one of the dtypes {', '.join(DTYPES)}, got {dtype!r}; choose one of them")
    for size in case.grid:
        with np.errstate(all="ignore"):  # underflow is what is measured
            margin = float(case.margin(float(size), DTYPES[dtype]))
        if not margin > 0.0:
            return Limit(case, dtype, float(size), margin)
    return Limit(case, dtype, inf, 0.0)


def measured(dtypes: Sequence[str] = ("float32", "bfloat16")) -> tuple[Limit, ...]:
    """Every case in every dtype."""
    return tuple(first_wrong(case, dtype) for case in CASES for dtype in dtypes)


def page(limits: Sequence[Limit]) -> str:
    """The page `notes/float.md`."""
    table = {(limit.case.statement, limit.dtype): limit for limit in limits}
    lines = [
        "# Where floats start to say the wrong thing", "",
        "Generated by `python -m proofs_check.float_page`; measured, on the named families only.", "",
        "Every inequality below is strict for every size. The columns give the least size, on the grid tried, at",
        "which it is evaluated as equal or reversed when everything is computed in that dtype, as one would write",
        "it. Halves are tried for logit gaps, powers of two for the larger sizes. Other ways of evaluating the same",
        "statement have other limits.",
        "",
        "| claims | statement | size | float32 | bfloat16 | what rounds |", "|---|---|---|---|---|---|"]
    for case in CASES:
        cells = [_size(table[case.statement, dtype].size) for dtype in ("float32", "bfloat16")]
        statement = case.statement.replace("|", "\\|")
        lines.append(f"| {', '.join(case.claims)} | {statement} | {case.size} | {cells[0]} | {cells[1]} | {case.why} |")
    lines += [
        "",
        "This is why the project computes in float64, and why no float decides a strict inequality: the kernel",
        "evaluates instances in rationals, and exponentials in balls whose precision is raised until the comparison is",
        "decided."]
    return "\n".join(lines) + "\n"


def _size(value: float) -> str:
    if value == inf:
        return "none on the grid"
    fraction = Fraction(value)
    power = int(value).bit_length() - 1
    return f"2^{power}" if fraction == 2**power and power > 8 else f"{value:g}"
