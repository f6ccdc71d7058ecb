"""C8: how the cost of a pattern grows with the number of tokens T, derived for every cost model.

A `Cell` is a cost model as data: how embeddings, the logit scale, the targets and the dimension grow, the tokens' and
the sink's geometry, the Schatten exponents of both sides, margin or mass form, and how the two sides combine.

    QK side of the sink      mu / (kappa r² sqrt(rho_T) sqrt(sigma² - 2 beta + rho_T))                        (C4)
    QK side of the diagonal  mu (T-1)^(1/p) / (kappa r² (1-rho))                                              (C4)
    value side               (omega/r) [(T-1)(1-rho)^(-p/2) + f^(-p/2)]^(1/p),  f = 1 - rho + T g             (C7)

with mu = m, or L + log T (sink) and L + log(T-1) (diagonal) in mass form.  Each side is a sum of powers of T with
positive coefficients over another, so its order is that of the dominant terms.  `scaling_bounds` states that order as
constant·T^a (log T)^b <= cost <= constant'·T^a (log T)^b for every T >= 4, in a form that polynomial arithmetic checks.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import total_ordering
from itertools import product
from math import inf

PATTERNS = ("sink", "diagonal")
GEOMETRIES = ("orthonormal", "correlated", "touching", "fading")
COMBINATIONS = ("sum", "product", "qk")
EXPONENTS = (1, 2, inf)


@dataclass(frozen=True)
class Cell:
    """One cost model: r = d^norm, kappa = d^-scale, omega = d^target, sqrt(d) = j T^(growth/2) for a constant j > 0.

    `geometry`: "orthonormal" (sink included); "correlated", fixed 0 < rho < 1 with c = sigma² - 2 beta + rho > 0 and
    g = rho - beta²/sigma² >= 0 fixed; "touching", fixed rho with beta = rho = sigma², where the sink's distance to the
    keys' hull tends to 0; "fading", rho = c T^(-decay) with 0 < c < 1 and decay > 0, an orthogonal sink of fixed sigma.
    `form` is "margin" or "mass"; `combination` adds both sides, multiplies them, or drops the value side.  `null`: the
    sink's value side has V x_s = 0.  The diagonal's has no null constraint (g = rho), and the order does not depend on
    it.  Claim C8, our reconstruction of arXiv 2605.08453.
    """

    norm: Fraction = Fraction(0)
    scale: Fraction = Fraction(1, 2)
    target: Fraction = Fraction(0)
    growth: int = 1
    geometry: str = "orthonormal"
    exponent: float = 1
    value_exponent: float = 1
    form: str = "margin"
    combination: str = "sum"
    decay: Fraction = Fraction(0)
    null: bool = True

    def __post_init__(self) -> None:
        for name, choices in (("geometry", GEOMETRIES), ("exponent", EXPONENTS), ("value_exponent", EXPONENTS),
                              ("form", ("margin", "mass")), ("combination", COMBINATIONS)):
            if getattr(self, name) not in choices:
                raise ValueError(f"expected {name} among {choices}, got {getattr(self, name)!r}; choose one of them")
        for name in ("norm", "scale", "target"):
            if (2 * Fraction(getattr(self, name))).denominator != 1:
                raise ValueError(f"expected {name} as a multiple of 1/2, got {getattr(self, name)}; "
                                 "it is an exponent of the dimension d")
        if (self.geometry == "fading") != (self.decay > 0):
            raise ValueError(f"expected a positive decay for fading tokens and none for others, got {self.decay} for "
                             f"{self.geometry}; rho = c T^(-decay)")
        if not (isinstance(self.growth, int) and self.growth >= 1):
            raise ValueError(
                f"expected an integer growth of at least 1, got {self.growth}; T tokens of rank T need d >= T")

    @property
    def qk_power(self) -> int:
        """The exponent of sqrt(d) in 1/(kappa r²)."""
        return int(2 * self.scale - 4 * self.norm)

    @property
    def value_power(self) -> int:
        """The exponent of sqrt(d) in omega/r."""
        return int(2 * self.target - 2 * self.norm)


@total_ordering
@dataclass(frozen=True)
class Order:
    """T^(half/2 + fade/2) (log T)^log, compared as T grows; 0 <= fade < 1 is a decay of rho that shows."""

    half: int
    log: int = 0
    fade: Fraction = Fraction(0)

    @property
    def exponent(self) -> Fraction:
        return (self.half + self.fade) / Fraction(2)

    def __lt__(self, other: Order) -> bool:
        return (self.exponent, self.log) < (other.exponent, other.log)

    def __mul__(self, other: Order) -> Order:
        return Order(self.half + other.half, self.log + other.log, self.fade + other.fade)

    def __str__(self) -> str:
        power = self.exponent
        shown = "T" if power == 1 else f"T^{power}" if power.denominator == 1 else f"T^({power})"
        return " ".join([*([shown] if power else []), *(["log T"] if self.log else [])]) or "1"


@dataclass(frozen=True)
class Side:
    """One side's order with its constants: low·T^a (log T)^b <= cost <= high·T^a (log T)^b; formulas without T."""

    name: str
    order: Order
    low: str
    high: str


def spectral_order(exponent: float) -> int:
    """(T-1)^(1/p) is of order T^(half/2)."""
    return {1: 2, 2: 1, inf: 0}[exponent]


def qk_order(cell: Cell, pattern: str) -> Order:
    """Order of the QK side, by dominant terms: rho_T and sigma² - 2 beta + rho_T are constants or of order 1/T or,
    where rho fades more slowly than that, rho_T of order T^(-decay).
    """
    half, fade = cell.growth * cell.qk_power, Fraction(0)
    if pattern == "diagonal":
        half += spectral_order(cell.exponent)
    elif cell.geometry == "fading" and cell.decay < 1:
        fade = cell.decay
    else:
        half += int(cell.geometry != "correlated")
    return Order(half, int(cell.form == "mass"), fade)


def value_order(cell: Cell) -> Order:
    """Order of the value side: T-1 singular values (omega/r)(1-rho)^(-1/2) dominate, since f >= 1 - rho."""
    return Order(cell.growth * cell.value_power + spectral_order(cell.value_exponent))


def total_order(cell: Cell, pattern: str) -> Order:
    """Order of the whole cost."""
    qk, value = qk_order(cell, pattern), value_order(cell)
    return {"qk": qk, "product": qk * value, "sum": max(qk, value)}[cell.combination]


def table(*, norms=(Fraction(0), Fraction(1, 2)), scales=(Fraction(0), Fraction(1, 2)), exponents=EXPONENTS,
          geometries=("orthonormal", "correlated"), forms=("margin", "mass"), combinations=COMBINATIONS,
          target: Fraction = Fraction(0), growth: int = 1, decay: Fraction = Fraction(1, 2),
          null: bool = True) -> list[Cell]:
    """The table of C8: every cell of the listed choices; the product takes the Frobenius norm on its value side."""
    return [Cell(norm, scale, target, growth, geometry, exponent, 2 if combination == "product" else exponent, form,
                 combination,
                 decay if geometry == "fading" else Fraction(0), null)
            for combination, form, geometry, norm, scale, exponent in product(
                combinations, forms, geometries, norms, scales, exponents)]


def describe(cell: Cell) -> dict[str, str]:
    """The cell in words, for tables."""
    power = {Fraction(0): "1", Fraction(1, 2): "√d", Fraction(-1, 2): "1/√d", Fraction(1): "d", Fraction(-1): "1/d"}
    name = {1: "1", 2: "2", inf: "∞"}
    rho = {"orthonormal": "0", "fading": f"c·T^-{cell.decay}"}.get(cell.geometry, "fixed")
    return {"d": "T" if cell.growth == 1 else f"T^{cell.growth}", "r": power.get(cell.norm, f"d^{cell.norm}"),
            "kappa": power.get(-cell.scale, f"d^{-cell.scale}"),
            "omega": power.get(cell.target, f"d^{cell.target}"), "rho": rho,
            "geometry": cell.geometry, "p": name[cell.exponent],
            "p_value": "" if cell.combination == "qk" else name[cell.value_exponent], "form": cell.form,
            "values": "" if cell.combination == "qk" else "null" if cell.null else "free",
            "combination": {"sum": "QK + VO", "product": "QK · VO", "qk": "QK"}[cell.combination]}
