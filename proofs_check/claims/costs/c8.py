"""C8: total costs grow like T against T^{3/2} in one family of cost models and not in its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf

from proofs_check.claim import Claim, Hypothesis, Instance, Part, Variant
from proofs_check.claims.building import settings
from proofs_check.claims.costs.building import listed
from proofs_check.claims.derived import derived, false_formula
from proofs_check.claims.exact import Matrix, dot
from theory.scaling import PATTERNS, Cell, qk_order, total_order, value_order
from theory.scaling_bounds import example, scaling_bounds
from theory.scaling_independent import lower_bound, upper_bound

HALF = Fraction(1, 2)
HUGE = Fraction(10**9)
CELLS = {
    "unit norm, 1/√d, p=1": Cell(),
    "unit norm, 1/√d, p=2": Cell(exponent=2, value_exponent=2),
    "unit norm, 1/√d, p=∞": Cell(exponent=inf, value_exponent=inf),
    "unit norm, 1/√d, p=1, mass": Cell(form="mass"),
    "unit norm, 1/√d, p=1, correlated": Cell(geometry="correlated"),
    "unit norm, 1/√d, p=1, touching": Cell(geometry="touching"),
    "unit norm, κ=1, product": Cell(scale=Fraction(0), combination="product", value_exponent=2),
    "LayerNorm, 1/√d, p=1, ω=1": Cell(norm=HALF),
    "LayerNorm, 1/√d, p=1, ω=1/√d": Cell(norm=HALF, target=-HALF),
    "LayerNorm, 1/√d, p=1, ω=√d": Cell(norm=HALF, target=HALF),
    "unit norm, 1/√d, p=1, ρ=c/√T": Cell(geometry="fading", decay=HALF),
    "QK alone, ρ=c/√T": Cell(geometry="fading", decay=HALF, combination="qk"),
    "QK alone, ρ=c/T²": Cell(geometry="fading", decay=Fraction(2), combination="qk"),
}
WORDS = {
    "q_square": "q is the QK cost at mu = kappa = r = 1 (C4), the root of a rational function of T",
    "w_square": "w is the value cost at omega = r = 1 (C7), a root",
    "F_square": "F = sqrt(f), f = 1 - rho + T g >= 1 - rho",
    "h_square": "h = sqrt(1 - rho) for a rho that changes with T",
    "log_low": "log(T-1) >= (log T)/2: (T-1)² >= T for T >= 3",
    "log_high": "log(T-1) <= log T",
    "log_slow": "log T <= sqrt(T)",
}
MODEL = ("T = t² >= 4 (over the reals), √d = j t with any constant j > 0, h = √(1-rho). QK side s = mu q/(kappa r²) "
         "from C4, value side v = w omega/r from C7 (the sink's with V x_s = 0; the diagonal's for any g >= 0, g = rho "
         "in the model). ")
FADING = ("ρ = c T^(-δ), β = 0, s2 = σ²: R = T^(-δ/2) is any number from 1/t up to 1 where δ < 1 and any number up to "
          "1/t where δ >= 1, written with a free z >= 0, so that the part covers every real δ of its kind. ")


def values_of(cell: Cell, pattern: str, **changes: Fraction) -> dict[str, Fraction]:
    return {name: Fraction(value) for name, value in example(cell, pattern).items()} | changes


def without(cell: Cell, pattern: str, hypothesis: str) -> dict[str, Fraction]:
    """Values that meet every other hypothesis while the two-sided bound fails."""
    moved = {"q_square": {"q": HUGE}, "w_square": {"w": HUGE}, "F_square": {"F": 1 / HUGE}, "h_square": {"h": 1 / HUGE},
             "log_low": {"ell1": 1 / HUGE}, "log_high": {"ell1": HUGE}}[hypothesis]
    return values_of(cell, pattern, **moved)


def order_part(label: str, cell: Cell, pattern: str) -> Part:
    order = total_order(cell, pattern)
    sides = {"qk": "", "sum": f" (QK {qk_order(cell, pattern)}, value side {value_order(cell)})",
             "product": f" (QK {qk_order(cell, pattern)} times ‖V‖_F of order {value_order(cell)})"}[cell.combination]
    return derived(
        lambda: scaling_bounds(cell, pattern), f"{label}: {pattern}",
        f"{label}: the {pattern}'s total is Θ({order}){sides}. " + MODEL + (FADING if cell.geometry == "fading" else "")
        + "low·T^a (log T)^b <= total <= high·T^a (log T)^b, "
        "where low and high are rational in the constants m or L, j, h, c, s2 and free of T and log T.",
        words=WORDS, satisfiable=values_of(cell, pattern),
        counterexamples={name: without(cell, pattern, name) for name in scaling_bounds(cell, pattern).assumptions})


ORDERS = {(label, pattern): order_part(label, cell, pattern) for label, cell in CELLS.items() for pattern in PATTERNS}

LOWER = derived(
    lower_bound, "any tokens: lower bound",
    "Any tokens, T >= 2, lam = λ_max(XHXᵀ) > 0, W a diagonal of margin m, cost = ‖W‖_1: Σ_{i≠j} x_iᵀW(x_i-x_j) = "
    "T⟨XHXᵀ, W⟩ is at least m T(T-1) ('margins') and at most T lam cost ('hoelder'), so cost >= m(T-1)/lam. "
    "The two inequalities are taken as given here: they are C3's uniform bound in nuclear norm (in Rocq C3_uniform, "
    "for every dual pair).",
    words={"margins": "the T(T-1) margins add up to at least m T(T-1)", "hoelder": "T⟨XHXᵀ,W⟩ <= T‖XHXᵀ‖_∞‖W‖_1"},
    satisfiable={"T": 2, "m": 1, "lam": 1, "cost": 1, "total_margin": 2},
    counterexamples={"margins": {"T": 2, "m": 1, "lam": 1, "cost": 0, "total_margin": 0},
                     "hoelder": {"T": 2, "m": 1, "lam": 1, "cost": 0, "total_margin": 2}})

UPPER = derived(
    upper_bound, "unit tokens: upper bound",
    "Unit tokens in R^d, top = max_{i≠j}⟨x_i,x_j⟩ < 1: W = scale·I, scale = m/(1-top), has the margins "
    "scale(1-⟨x_i,x_j⟩) >= m, is positive definite, and ‖W‖_1 = tr W = scale d = m d/(1-top).",
    words={"largest": "inner = ⟨x_i,x_j⟩ is at most top, for each pair i ≠ j"},
    satisfiable={"m": 1, "d": 2, "top": 0, "inner": 0},
    counterexamples={"largest": {"m": 1, "d": 2, "top": 0, "inner": HALF}})


def unit(*slopes: int | Fraction) -> list[Fraction]:
    """A rational unit vector: (2a, 1-|a|²)/(1+|a|²), the stereographic image of a."""
    square = sum((Fraction(a) ** 2 for a in slopes), Fraction(0))
    return [2 * Fraction(a) / (1 + square) for a in slopes] + [(1 - square) / (1 + square)]


def tokens_instance(x: Matrix) -> Instance:
    """lam: the trace of XHXᵀ, an upper bound of its largest eigenvalue that is rational; the kernel checks it as
    psd."""
    size = len(x)
    centre = [sum((row[k] for row in x), Fraction(0)) / size for k in range(len(x[0]))]
    spread = sum((dot(row, row) for row in x), Fraction(0)) - size * dot(centre, centre)
    return Instance({"x": x, "m": Fraction(1), "lam": spread})


CLOUDS = (
    [unit(0), unit(1)], [unit(0), unit(3)], [unit(0, 0), unit(1, 0), unit(0, 1)],
    [unit(1, 2), unit(-1, 1), unit(2, -1)],
    [unit(1, 0, 0), unit(0, 1, 0), unit(0, 0, 1), unit(-1, -1, HALF)],
    [unit(2, 1, 0, 0), unit(0, 2, 1, 0), unit(0, 0, 2, 1), unit(1, 0, 0, 2), unit(-1, -1, -1, -1)])
MATRIX_TEXT = {
    "d": "len(x[0])", "T": "len(x)", "top": "max(dot(x[i], x[j]) for i in range(T) for j in range(T) if j != i)",
    "W": "m / (1 - top) * eye(d)",
    "mean": "sum(x[i] for i in range(T)) / T", "scatter": "sum(outer(x[i] - mean, x[i] - mean) for i in range(T))",
    "margins": "[x[i] @ W @ (x[i] - x[j]) for i in range(T) for j in range(T) if j != i]"}
UNIT = Hypothesis("unit tokens", "every token has norm 1", "all(dot(row, row) == 1 for row in x)")
DISTINCT = Hypothesis("distinct", "no two tokens are equal", "top < 1")
FEASIBLE = "all(margin >= m for margin in margins) and trace(W) == m * d / (1 - top)"
SUM_OF_MARGINS = "sum(margins) == T * trace(scatter @ W)"
ON_TOKENS = Part(
    name="unit tokens with d = T on matrices", quantifier="exists",
    text="There are explicit unit tokens with d = T (six listed clouds, T = 2..5) on which W = m/(1-top)·I is a "
         "diagonal of margin m and trace m d/(1-top), its margins add up to T⟨XHXᵀ, W⟩, and lam·I - XHXᵀ is positive "
         "semidefinite, so that m(T-1)/lam <= tr W.",
    variables={"x": "matrix", "m": "scalar", "lam": "scalar"}, definitions=MATRIX_TEXT, hypotheses=(UNIT, DISTINCT),
    conclusions=("T == d", FEASIBLE, SUM_OF_MARGINS, "psd(lam * eye(d) - scatter)", "m * (T - 1) / lam <= trace(W)"),
    satisfiable=tokens_instance(CLOUDS[1]), instances=listed([tokens_instance(x) for x in CLOUDS]),
    cases=settings("x", [(x,) for x in CLOUDS]))

T_SINK, ROOT_SINK = Fraction(399, 40), Fraction(401, 40)  # t² + 1 = root²
T_DIAGONAL, ROOT_DIAGONAL = Fraction(401, 40), Fraction(399, 40)  # t² - 1 = root²
MAIN, FROBENIUS, LAYER, MASS = ("unit norm, 1/√d, p=1", "unit norm, 1/√d, p=2", "LayerNorm, 1/√d, p=1, ω=1",
                                "unit norm, 1/√d, p=1, mass")
PRODUCT = "unit norm, κ=1, product"


# a sink at T = 144 whose cost exceeds the constant that bounds it at fixed rho: R = 1/4, rho = 9/160, q = 1/(2 rho_T)
FADED_MEAN = Fraction(9, 160) + Fraction(151, 160) / 144
FADED = {"t": Fraction(12), "j": Fraction(1), "c": Fraction(9, 10), "z": Fraction(8, 3), "s2": 3 * FADED_MEAN,
         "q": 1 / (2 * FADED_MEAN), "m": Fraction(1)}


def false_order(label: str, pattern: str, name: str, operator: str, text: str, conclusion: str,
                **changes: Fraction) -> Variant:
    t, q = ((T_SINK, T_SINK**2 / ROOT_SINK) if pattern == "sink" else (T_DIAGONAL, None))
    cell = CELLS[label]
    moved = {"t": t} | ({"q": q} if q else {}) | changes
    known = values_of(cell, pattern)
    return false_formula(ORDERS[label, pattern], name, operator, text,
                         known | {key: value for key, value in moved.items() if key in known},
                         conclusions=(conclusion,))


def plain(text: str) -> Part:
    """The unit-token part over all tokens, to be varied."""
    return Part(name="unit tokens", text=text, variables={"x": "matrix", "m": "scalar"}, definitions=MATRIX_TEXT,
                hypotheses=(UNIT, DISTINCT), conclusions=("True",))


def false_tokens(name: str, operator: str, text: str, x: Sequence[Sequence[Fraction]], conclusion: str,
                 drop: Sequence[str] = (), **changes: object) -> Variant:
    return plain(text).vary(name, operator, text, Instance({"x": x, "m": 1}), drop=drop, conclusions=(conclusion,),
                            **changes)


VARIANTS = (
    false_order(MAIN, "sink", "T^{3/2} for both", "trap",
                "The sink's total is of order T^{3/2} as well, with the same constant",
                "total - low*t**3 >= 0"),
    false_order(MAIN, "diagonal", "T for the diagonal", "swap sink and diagonal",
                "The diagonal's total is of order T: at most high·T", "high*t**2 - total >= 0"),
    false_order(MAIN, "sink", "sink of order √T", "exponent moved", "The sink's total is at most high·√T",
                "high*t - total >= 0"),
    false_order(MAIN, "diagonal", "diagonal of order T²", "exponent moved", "The diagonal's total is at least low·T²",
                "total - low*t**4 >= 0", t=Fraction(100)),
    false_order(FROBENIUS, "diagonal", "T^{3/2} in Frobenius norm", "p for p*",
                "In Frobenius norm the diagonal's total is of order T^{3/2} too (1 and 3/2 at p = 2)",
                "total - low*t**3 >= 0",
                q=ROOT_DIAGONAL, w=T_DIAGONAL),
    false_order(LAYER, "diagonal", "LayerNorm scale keeps 3/2", "trap",
                "With r = √d the diagonal's total still is of order T^{3/2}", "total - low*t**3 >= 0"),
    false_order(MASS, "diagonal", "no logarithm in mass form", "trap",
                "In mass form the diagonal's total is at most high·T^{3/2}, without log T", "high*t**3 - total >= 0",
                t=Fraction(40), ell=Fraction(7), ell1=Fraction(7)),
    false_order(PRODUCT, "sink", "product of order T^{3/2}", "swap sink and diagonal",
                "The product ‖W_QK‖_1‖W_VO‖_F of the sink is of order T^{3/2}", "total - low*t**3 >= 0"),
    false_formula(ORDERS["QK alone, ρ=c/√T", "sink"], "fading as fixed", "exponent moved",
                  "With ρ = c/√T the sink's QK side is at most high·√T, as with a fixed ρ", FADED,
                  conclusions=("high*t - total >= 0",)),
    false_formula(LOWER, "T for T-1", "T for T-1", "The diagonal's nuclear cost is at least m T/lam",
                  {"T": 2, "m": 1, "lam": 1, "cost": 1, "total_margin": 2}, conclusions=("cost - m*T/lam >= 0",)),
    false_tokens("mean for max", "constant moved", "W = m/(1 - mean inner product)·I is a diagonal of margin m",
                 CLOUDS[3],
                 "all(margin >= m for margin in margins)",
                 definitions=MATRIX_TEXT
                 | {"average": "(T**2 * dot(mean, mean) - T) / (T * (T - 1))", "W": "m / (1 - average) * eye(d)"}),
    false_tokens("any norms", "drop hypothesis",
                 "W = m/(1 - top)·I is a diagonal of margin m whatever the tokens' norms",
                 [[Fraction(HALF), Fraction(0)], [Fraction(0), Fraction(1)]], "all(margin >= m for margin in margins)",
                 ("unit tokens",)),
    false_tokens("√d for d", "missing square root",
                 "On unit tokens some diagonal W = m/(1-top)·I has nuclear norm m√d/(1-top)",
                 CLOUDS[0], "trace(W)**2 <= m**2 * d / (1 - top)**2"),
)

CLAIM = Claim(
    id="C8", title="T against T^{3/2}", family="costs",
    statement="Total ‖W_QK‖_p + ‖W_VO‖_p on exchangeable tokens with d of order T. Unit norm, κ = 1/√d, ω = 1, p = 1, "
              "margin: sink Θ(T), diagonal Θ(T^{3/2}), on orthonormal tokens and with fixed ρ > 0. Orthonormal tokens "
              "alone: at p = 2 Θ(T) and Θ(T); at p = ∞ Θ(T) and Θ(T^{1/2}); in mass form, p = 1, Θ(T log T) and "
              "Θ(T^{3/2} log T); at LayerNorm scale r = √d, κ = 1/√d, p = 1, Θ(T^{1/2}) for both at ω = 1, Θ(1) and "
              "Θ(T^{1/2}) at ω = 1/√d, Θ(T) for both at ω = √d; the product ‖W_QK‖_1·‖W_VO‖_F at κ = 1: Θ(T) and "
              "Θ(T^{3/2}). Distinct unit tokens: the "
              "diagonal's nuclear cost is <= md/(1−max_{i≠j}⟨x_i,x_j⟩) and, given C3's uniform bound, >= "
              "m(T−1)/λ_max(XHXᵀ). With ρ = cT^{−δ}, β = 0, κ = 1/√d the sink's QK side is Θ(T^{(1+δ)/2}) for "
              "0 < δ < 1 and Θ(T) for δ >= 1.",
    parts=(*ORDERS.values(), LOWER, UPPER, ON_TOKENS), variants=VARIANTS, uses=("C4", "C7"), required="PROVED",
    required_formal="PROVED",
    scope_notes=(
        "(1, 3/2) is our reading of the summary of arXiv 2605.08453. It depends on norm, scale and p: see "
        "notes/T32.md.",
        "Orders are for margins m (or masses) that do not change with T, and hold for T >= 4 with the constants shown.",
        "Independent uniform unit tokens with d = T: that λ_max(XHXᵀ) stays bounded and max⟨x_i,x_j⟩ away from 1 with "
        "high probability is random matrix theory and not proved here; the two bounds hold for every draw.",
        "Exponents measured by `sinkproof scale` are fits, never part of this claim's evidence.",
        "The lower bound for any tokens is C3's uniform bound in nuclear norm, in symbols: the sum of the margins and "
        "Hölder's inequality are its hypotheses, taken as given. C3 states it on matrices; Rocq proves it, for every "
        "dual pair (C3_uniform).",
        "'Fixed ρ' means 0 < ρ < 1 with σ²−2β+ρ > 0 and β² <= σ²ρ. Not claimed here: d that does not grow like T; "
        "any order for real embeddings.",
    ),
)
