"""C13: trading alignment against values: the minimiser, its equation, and the leading orders of c*(T)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import exp, log, sqrt

from hypothesis import strategies as st
from scipy.optimize import brentq

from proofs_check.claim import Claim, Hypothesis, Instance, Part, Variant
from proofs_check.claims.costs.building import over_reals
from proofs_check.claims.derived import derived, false_formula
from theory import costs_tradeoff

HALF = Fraction(1, 2)


def pythagorean() -> dict[str, Fraction]:
    """A rational solution of the radical equations at c = 3/5: Q² - P² = 1 + 2c, P² = c² + R²/T, T real."""
    c, r, step = Fraction(3, 5), Fraction(4, 5), Fraction(9, 10)
    p = ((1 + 2 * c) / step - step) / 2
    return {"T": r**2 / (p**2 - c**2), "c": c, "P": p, "Q": p + step, "R": r}


def stationary(**moved: Fraction) -> dict[str, Fraction]:
    """The rational point with `a` such that it is stationary; `moved` takes radicals off their equations."""
    point = {**pythagorean(), **moved}
    t, c, p, q, r = (point[name] for name in "TcPQR")
    slope = (1 - 1 / t) / (p**3 * q) + (1 / c + 1 - 1 / t) / (p * q**3)
    return {**point, "a": 1 / (r**3 * slope)}


POINT, STATIONARY = pythagorean(), stationary()
WORDS = {"P_root": "P² = c² + (1-c²)/T: rho_T", "Q_root": "Q² = (1+c)² + (1-c²)/T: "
    "sigma² - 2 beta + rho_T", "R_root": "R² = 1 - c²",
         "stationary": "1/R³ = a S: F'(c) = 0"}


def without(name: str, base: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """The point with one radical moved off its equation."""
    return {**base, name: base[name] + 1}


COST = derived(
    over_reals(costs_tradeoff.cost_formula, "T"), "cost",
    "rho = c², beta = -c, sigma = 1: C4's hull distances are P and Q and C7's last eigenvalue is 1-rho "
    "(beta² = sigma² rho), so the total cost in units of (omega/r)T^{1/p} is F(c) = a/(PQ) + "
    "1/R, a = m/(kappa r omega T^{1/p}).", words=WORDS, satisfiable=POINT,
    counterexamples={f"{name}_root": without(name, POINT) for name in "PQR"})
DERIVATIVE = derived(
    over_reals(costs_tradeoff.derivative, "T"), "derivative",
    "P², Q² are quadratics in c whose exact differences give their slopes; then F' = c(1/R³ - a S), S = "
    "(1-1/T)/(P³Q) + (1/c+1-1/T)/(PQ³).",
    # the quotient rule alone: the radicals' equations say what P, Q, R are and are not used
    words=WORDS, satisfiable={**POINT, "a": 1, "h": 1})
UNIQUE = derived(
    costs_tradeoff.unique_minimiser, "one minimiser",
    "On c > 0: P², Q² grow, R² and 1/c fall, so F'/c = 1/R³ - a S increases, from -∞ at 0 to +∞ at 1: one "
    "zero c*. Q(c)² - Q(-c)² = 4c > 0, so F(c) < F(-c): c* is the only minimiser in (-1,1), for every "
    "T >= 2 and a > 0.", satisfiable={"T": 2, "c": HALF, "h": 1})
BOUNDS = derived(
    over_reals(costs_tradeoff.two_sided_bounds, "T"), "two bounds",
    "At c*, for every T >= 2 and a > 0: c³ <= a(1+c+c²) and P³Q >= a(1-1/T)R³.", words=WORDS,
    satisfiable=STATIONARY,
    counterexamples={"stationary": {**STATIONARY, "a": Fraction(1, 1000)},
                     "P_root": stationary(P=Fraction(1, 10)),
                     "Q_root": stationary(Q=Fraction(1, 10)), "R_root": stationary(R=Fraction(10))})
SCALED = derived(
    costs_tradeoff.scaled_stationarity, "scaled equation",
    "w = √T, b = a T^{3/2}, y = √T P: stationarity is exactly c(1/R³ - b(1-1/T)/(y³Q)) = "
    "(b/T)(1+c-c/T)/(yQ³), y² = 1 + (T-1)c²: the regimes of b are read off it.",
    satisfiable={"w": 2, "c": HALF, "b": 1, "Q": 1, "R": 1, "y": 1})
FULL = derived(
    costs_tradeoff.full_alignment, "full alignment",
    "At c = 1: P = 1, Q = 2, S = 3/4 - 5/(8T); R³ = 1/(aS) and R² ~ 2(1-c) give "
    "(1-c)³ ~ (2/9)/a².", satisfiable={"T": 2})

# regime: a as a function of w = √T, and the leading order of c* (of 1 - c* in regime 1)
REGIMES = {
    1: ("w", "(2/9)**(1/3) * a**(-2/3)", "a = √T -> ∞"),
    2: ("(3/5)**3 * (8/5)**2 / ((11/5) * (4/5)**3)", "3/5", "a constant with root 3/5"),
    3: ("1/w", "a**(1/3)", "a = T^(-1/2), b = T"),
    4: ("8/w**3", "sqrt(3)/w", "b = 8: √(b^(2/3)-1) T^(-1/2)"),
    5: ("1/w**3", "(2/3)**(1/3) * w**(-4/3)", "b = 1"),
    6: ("1/(2*w**3)", "1/w**2", "b = 1/2: b/((1-b)T)"),
    7: ("1/w**4", "a*w", "a = T^(-2), b = T^(-1/2)"),
}


def by_regime(column: int) -> str:
    text = REGIMES[7][column]
    for number in range(6, 0, -1):
        text = f"({REGIMES[number][column]} if regime == {number} else {text})"
    return text


SIGN = ("[(1 - x**2)**(-3/2) - a*((1 - 1/T)/(P2*sqrt(P2)*sqrt(Q2)) + (1/x + 1 - 1/T)/(sqrt(P2)*Q2*sqrt(Q2)))"
        " for x in [{point}] for P2 in [x**2 + (1 - x**2)/T] for Q2 in [(1 + x)**2 + (1 - x**2)/T]][0]")


def excess(w: int, regime: int, c: float) -> float:
    """F'(c)/c in floating point."""
    t, a = float(w) ** 2, (w, 0.216 * 2.56 / (2.2 * 0.512), 1 / w, 8 / w**3, 1 / w**3, 0.5 / w**3,
                           1.0 / w**4)[regime - 1]
    p, q = sqrt(c * c + (1 - c * c) / t), sqrt((1 + c) ** 2 + (1 - c * c) / t)
    return (1 - c * c) ** -1.5 - a * ((1 - 1 / t) / (p**3 * q) + (1 / c + 1 - 1 / t) / (p * q**3))


def leading_slack(values: Mapping[str, object]) -> float:
    """The bound on the relative error minus the error of the root by Brent's method in log c, or log(1 - c)."""
    w, regime = int(values["w"]), int(values["regime"])
    lead = (0.0, (2 / 9) ** (1 / 3) * w ** (-2 / 3), 0.6, w ** (-1 / 3), sqrt(3) / w,
            (2 / 3) ** (1 / 3) * w ** (-4 / 3), w**-2.0, w**-3.0)[regime]
    if regime == 1:
        root = brentq(lambda x: -excess(w, regime, 1 - exp(x)), log(1e-9), log(0.999),
                      xtol=1e-13)
    else:
        root = brentq(lambda x: excess(w, regime, exp(x)), log(1e-40), log(1 - 1e-9),
                      xtol=1e-13)
    return 1.25 * w ** (-2 / 3) - abs(exp(root) / lead - 1)


def cases(seed: int) -> Iterator[Instance]:
    """T = w² from 10^4 to 10^12 in every regime."""
    for w in (100, 1000 + seed % 1000, 10**4, 10**5, 10**6):
        for regime in REGIMES:
            yield Instance({"w": w, "regime": regime})


LEADING_DEFINITIONS = {
    "T": "w**2", "a": by_regime(0), "lead": by_regime(1), "error": "5/4 * w**(-2/3)",
    "low": "1 - lead*(1 + error) if regime == 1 else lead*(1 - error)",
    "high": "1 - lead*(1 - error) if regime == 1 else lead*(1 + error)",
}
RANGE = Hypothesis("range", "w >= 100, so T = w² >= 10^4, and one of the seven "
    "regimes", "w >= 100 and 1 <= regime and regime <= 7")
LEADING = Part(
    name="leading orders",
    text="T = w² >= 10^4, seven regimes of a: c* (1 - c* for a -> ∞) is the leading order up to the relative "
         "error 1.25 T^(-1/3): F'/c is negative below and positive above that "
         "interval, and it increases. Regimes: " + "; ".join(f"{key}: {row[2]}" for key,
                                                             row in REGIMES.items()) + ".",
    variables={"w": "integer", "regime": "integer"}, hypotheses=(RANGE,), definitions=LEADING_DEFINITIONS,
    conclusions=("low <= 0 or " + SIGN.format(point="low") + " < 0",
                 "high >= 1 or " + SIGN.format(point="high") + " > 0"),
    satisfiable=Instance({"w": 10**6, "regime": 3}),
    # below w = 100 the statement is not refuted either: "range" says where the family was tried
    instances=cases, numeric=leading_slack,
    strategy=lambda: st.builds(lambda w, regime: Instance({"w": w, "regime": regime}),
                               st.integers(100, 10**6), st.integers(1, 7)))


def false_order(name: str, text: str, regime: int, lead: str, operator: str = "exponent moved") -> Variant:
    return LEADING.vary(name, operator, text, Instance({"w": 10**6, "regime": regime}), instances=None,
                        strategy=None, numeric=None,
                        definitions={**LEADING_DEFINITIONS, "lead": lead})


SLOPE_VARIABLES = {name: "scalar" for name in ("low_16", "high_16", "low_256", "high_256")}
AT = {16: 4, 256: 16}


def root_bracket(size: int) -> tuple[Fraction, Fraction]:
    root = brentq(lambda c: excess(AT[size], 3, c), 1e-6, 1 - 1e-6, xtol=1e-14)
    return tuple(Fraction(round(root * 10**9) + shift, 10**9) for shift in (-2, 2))


def at_size(size: int, point: str) -> str:
    return SIGN.replace("a*(", f"(1/{AT[size]})*(").replace("T", str(size)).format(point=point)


SMALL_FIT = Part(
    name="slope on small T", text="At a = T^(-1/2) the slope of log c* between T = 16 and T = 256 is within "
        "1/50 of -1/6, so a fit there is trustworthy",
    variables=SLOPE_VARIABLES, hypotheses=tuple(
        Hypothesis(f"bracket {size}", f"c*({size}) lies between low_{size} and high_{size}",
                   f"0 < low_{size} and {at_size(size, f'low_{size}')} < 0 and {at_size(size, f'high_{size}')} > 0")
        for size in AT),
    conclusions=("log(high_256 / low_16) / log(16) >= -1/6 - 1/50 and log(low_256 / high_16) / log(16) <= "
        "-1/6 + 1/50",))
VARIANTS = (
    false_order("cube root always", "c* ~ a^(1/3) also at b = 1/2", 6, "a**(1/3)"),
    false_order("critical case forgotten", "at b = 1 c* ~ T^(-1/2)", 5, "1/w"),
    false_order("square root for cube root", "a = T^(-1/2): c* ~ a^(1/2)", 3, "a**(1/2)"),
    false_order("b = 1 for b = 8", "at b = 8 c* ~ (2/3)^(1/3) T^(-2/3)", 4, "(2/3)**(1/3) * w**(-4/3)",
                "constant moved"),
    false_order("full alignment too fast", "1 - c* ~ (2/9)^(1/3)/a for a -> ∞", 1, "(2/9)**(1/3) / a"),
    Variant("trap", Instance({f"{end}_{size}": value for size in AT for end,
                              value in zip(("low", "high"), root_bracket(size))}), SMALL_FIT),
    false_formula(BOUNDS, "cube below a", "constant moved", "At the minimiser c³ <= a/8", STATIONARY,
                  conclusions=("a/8 - c**3 >= 0",)),
    false_formula(UNIQUE, "alignment does not matter", "flip inequality", "F(-c) <= F(c): Q(c) <= Q(-c)",
                  {"T": 2, "c": HALF, "h": 1},
                  conclusions=("4*c <= 0",)),
)

CLAIM = Claim(
    id="C13", title="Trading alignment against values", family="costs",
    statement="x_i = r(cu + √(1-c²)e_i), x_s = -ru: in units of (omega/r)T^{1/p} the cost is F(c) = a/(PQ) + "
              "1/R, with one minimiser c* in (-1,1), in (0,1), for every T >= 2 and a > 0. Leading orders of "
              "c*: 1-c* ~ (2/9)^{1/3}a^{-2/3} for a -> ∞; the root of a(1+2c)/(c²(1+c)²) = c/(1-c²)^{3/2} "
              "for constant a; with b = aT^{3/2}: a^{1/3} for a -> 0, b -> ∞; √(b^{2/3}-1)T^{-1/2} for "
              "constant b > 1; (2/3)^{1/3}T^{-2/3} at b = 1; b/((1-b)T) for constant b < 1; a√T for b -> 0.",
    parts=(COST, DERIVATIVE, UNIQUE, BOUNDS, SCALED, FULL, LEADING), variants=VARIANTS, uses=("C4", "C7"),
    required="PROVED ON", required_formal="PROVED ON",
    scope_notes=(
        "The cost, its derivative, the one minimiser, the two bounds and the scaled equation hold for all T "
        "and a. The passage to the limit is an argument in notes/C13.md; what is replayed are enclosures of "
        "c* around the leading orders for T from 10^4 to 10^12.",
        "Fits are trustworthy only from T about 10^6: at a = T^(-1/2) the slope between T = 16 and 256 is "
        "refuted to be near -1/6.",
        "In mass form m carries a log T, which shifts each order by a power of the logarithm.",
        "Not claimed here: the exponents of T that these orders give in C8's cost models (tabulated in notes/C13.md)."),
)
