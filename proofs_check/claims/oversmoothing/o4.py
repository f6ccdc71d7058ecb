"""O4: along the mix from diagonal to uniform attention the cosine rises, falls, or peaks at t* = 1 + tau/phi."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from numerics.moments import mix_maximum
from proofs_check.claim import Claim
from proofs_check.claims.building import Choose
from proofs_check.claims.derived import drawn, false_formula, points
from proofs_check.claims.oversmoothing.derived import derived, statistics
from proofs_check.claims.oversmoothing.matrix_parts import O4_PARTS
from proofs_check.claims.oversmoothing.model import false_model_statement, instance, moments_under, noise
from proofs_check.claims.oversmoothing.patterns import GRAM_WORDS, SCOPE, mix_cosine, point, same_sign
from theory.oversmoothing import DERIVATIONS

HALF = Fraction(1, 2)
RECIPES = DERIVATIONS["O4"]
WHERE = (" Here A_t = (1-t)I + t 11^T/T, so a_ii = 1-t+t/T and a_ij = t/T; the energies at t and s are nonnegative. "
         + GRAM_WORDS)
PLAIN = {"T": 2, "rho": HALF, "g": 1, "t0": 1, "tau": Fraction(-1, 2), "phi": 1, "t": HALF, "s": 1}
#: outside every model: the energy at c = 1/2 is 1 - 9 + 9/2, while it is 1 at c = 0 and c = 1
NEGATIVE_BETWEEN = {"T": 2, "rho": 0, "g": 0, "t0": 1, "tau": -9, "phi": 18}
NEGATIVE_TOTAL = {"T": 3, "rho": 0, "g": 0, "t0": 1, "tau": -1, "phi": 1, "t": HALF, "s": 1}


def two_points(choose: Choose) -> dict[str, object]:
    return {**point(choose), "t": Fraction(choose(0, 8), 8), "s": Fraction(choose(0, 8), 8)}


def secant_slack(values: Mapping[str, object]) -> float:
    t, s = values["t"], values["s"]
    return same_sign(mix_cosine(values, t) - mix_cosine(values, s),
                     (t - s) * (2 * values["tau"] + (2 - s - t) * values["phi"]))


def slope_slack(values: Mapping[str, object]) -> float:
    """A central difference where the slope is not small; the step keeps inside [0, 1]."""
    t, step = min(max(values["t"], 1e-5), 1 - 1e-5), 1e-5
    slope = values["tau"] + (1 - t) * values["phi"]
    if abs(slope) < 1e-3:
        return 0.0
    return same_sign((mix_cosine(values, t + step) - mix_cosine(values, t - step)) / (2 * step), slope)


def pair(values: Mapping[str, object]) -> tuple[float, float]:
    """(s, t) with t = s + (1-s)w, as the monotone parts write it."""
    s = values["s"]
    return s, s + (1 - s) * values["w"]


def monotone_slack(direction: int):
    def slack(values: Mapping[str, object]) -> float:
        tau = values["tau"] if "tau" in values else -values["phi"] - values["e"]
        s, t = pair(values)
        return direction * (mix_cosine({**values, "tau": tau}, t) - mix_cosine({**values, "tau": tau}, s))
    return slack


def from_diagonal(choose: Choose) -> dict[str, object]:
    """T, rho, g, t0, phi > 0, and s < t = s + (1-s)w."""
    values = {"T": choose(2, 9), **statistics(choose), "s": Fraction(choose(0, 7), 8), "w": Fraction(choose(1, 4), 4)}
    return {**values, "phi": values["phi"] + Fraction(1, 4)}


def rising(choose: Choose) -> dict[str, object]:
    values = from_diagonal(choose)
    return {**values, "tau": abs(values["tau"])}


def falling(choose: Choose) -> dict[str, object]:
    """tau = -phi - e with t0 so large that every energy is positive: tau^2 <= t0 phi."""
    values, e = from_diagonal(choose), Fraction(choose(0, 4), 4)
    del values["tau"]
    return {**values, "e": e, "t0": (values["phi"] + e) ** 2 / values["phi"] + Fraction(choose(1, 3), 4)}


def peaked(choose: Choose) -> dict[str, object]:
    values, p = from_diagonal(choose), Fraction(choose(1, 7), 8)
    return {**{key: values[key] for key in ("T", "rho", "g", "phi", "s")}, "p": p,
            "t0": (1 - p) ** 2 * values["phi"] + Fraction(choose(1, 6), 4)}


def peak_slack(values: Mapping[str, object]) -> float:
    full = {**values, "tau": -(1 - values["p"]) * values["phi"]}
    best = mix_maximum(full["tau"], full["phi"])
    return min(mix_cosine(full, best) - mix_cosine(full, values["s"]), 1e-9 - abs(best - values["p"]))


def flat(choose: Choose) -> dict[str, object]:
    values = two_points(choose)
    return {key: values[key] for key in ("T", "rho", "g", "t0", "t", "s")}


def flat_slack(values: Mapping[str, object]) -> float:
    return 1e-9 - abs(mix_cosine(values, values["t"]) - mix_cosine(values, values["s"]))


SECANT = derived(
    RECIPES["secant"], "secant",
    "For all s, t in [0, 1]: cos_t - cos_s has the sign of (t-s)(2 tau + (2-s-t) phi)." + WHERE, satisfiable=PLAIN,
    counterexamples={"nondegenerate": NEGATIVE_TOTAL, "energy_t": {**NEGATIVE_BETWEEN, "t": HALF, "s": 0},
                     "energy_s": {**NEGATIVE_BETWEEN, "s": HALF, "t": 0}},
    instances=points(two_points), strategy=drawn(two_points), numeric=secant_slack)

SLOPE = derived(
    RECIPES["slope"], "slope",
    "d cos/dt has the sign of tau + (1-t) phi on [0, 1]: G_ii and G_ij are quadratic in t, *_slope are their "
    "derivatives (the remainder of the expansion at t is (s-t)^2 times a quantity free of s), and the quotient rule "
    "gives 2(1-rho) m (tau + (1-t) phi)/G_ii^2, m = rho g + (1-rho)(t0+D)/T." + WHERE, satisfiable=PLAIN,
    # the energies keep G_ii > 0, by which the quotient rule divides; its sign statement does not need them
    counterexamples={"nondegenerate": {"T": 2, "rho": 0, "g": 0, "t0": 0, "tau": -1, "phi": 0, "t": 1, "s": 1}},
    instances=points(two_points), strategy=drawn(two_points), numeric=slope_slack)

INCREASING = derived(
    RECIPES["increasing"], "increasing in t",
    "phi > 0 and tau >= 0: cos_s < cos_t for all 0 <= s < t = s + (1-s)w <= 1." + WHERE,
    # all three assumptions follow from tau >= 0 and phi > 0, so none is needed
    satisfiable={**{key: PLAIN[key] for key in ("T", "rho", "g", "t0", "phi")}, "tau": 0, "s": 0, "w": 1},
    instances=points(rising), strategy=drawn(rising), numeric=monotone_slack(1))

DECREASING = derived(
    RECIPES["decreasing"], "decreasing in t",
    "phi > 0 and tau <= -phi, written tau = -phi - e with e >= 0: cos_s > cos_t for all 0 <= s < t = s + (1-s)w <= 1."
    + WHERE,
    # the energy at t falls with 1-t down to t0 + D, so both energies follow from what G_ii > 0 needs
    satisfiable={"T": 2, "rho": HALF, "g": 1, "t0": 1, "e": 0, "phi": 1, "s": 0, "w": 1},
    counterexamples={"nondegenerate": {"T": 2, "rho": 0, "g": 0, "t0": 1, "e": 0, "phi": 1, "s": HALF, "w": 1}},
    instances=points(falling), strategy=drawn(falling), numeric=monotone_slack(-1))

MAXIMUM = derived(
    RECIPES["maximum"], "peak at t*",
    "phi > 0 and -phi < tau < 0, written tau = -(1-p) phi with 0 < p < 1: t* = 1 + tau/phi is p, and cos_p >= cos_s "
    "for every s in [0, 1], strictly unless s = p." + WHERE,
    # the energy is least at p, so the one at s follows, and t0 + D > 0 as well because p > 0
    satisfiable={"T": 2, "rho": HALF, "g": 1, "t0": 1, "p": HALF, "phi": 1, "s": 0},
    counterexamples={"energy_t": {"T": 2, "rho": 0, "g": 0, "t0": 1, "p": HALF, "phi": 12, "s": 0}},
    instances=points(peaked), strategy=drawn(peaked), numeric=peak_slack)

CONSTANT = derived(
    RECIPES["constant"], "constant in t",
    "tau = phi = 0: cos_t = cos_s for all s, t in [0, 1]. (That phi = 0 alone suffices is the part for matrices.)"
    + WHERE,
    # with tau = phi = 0 the assumptions only keep G_ii away from 0, where no cosine exists
    satisfiable={key: PLAIN[key] for key in ("T", "rho", "g", "t0", "t", "s")},
    instances=points(flat), strategy=drawn(flat), numeric=flat_slack)

#: d = 2, R = I/2, V = diag(1/2, -3/2): tau = -1/2, phi = 5/4, t* = 3/5
PEAK = instance([[HALF, 0], [0, Fraction(-3, 2)]], [1, 0], 0, noise(2, [[Fraction(7, 10), Fraction(1, 10)],
                                                                      [Fraction(-1, 10), Fraction(7, 10)]]))
THREE = {**moments_under("diagonal", "eye(T)"),
         **moments_under("uniform", "[[1 / T for j in range(T)] for i in range(T)]"),
         **moments_under("between", "[[(2 / 5 if i == j else 0) + 3 / (5 * T) for j in range(T)] for i in range(T)]"),
         **{f"cos_{name}": f"E_{name}[0][1] / E_{name}[0][0]" for name in ("diagonal", "uniform", "between")}}
OPEN_RHO = {"minimum": ["0", "1"], "maximum": ["1", "1"]}

VARIANTS = (
    false_model_statement(
        "the mix is monotone", "trap",
        "In the model the cosine at t = 3/5 of the mix lies between those at t = 0 and t = 1",
        PEAK, ["(cos_diagonal <= cos_between and cos_between <= cos_uniform) or "
               "(cos_diagonal >= cos_between and cos_between >= cos_uniform)"], THREE),
    false_formula(SECANT, "dense smooths more", "trap", "for t > s the cosine at t is the larger one, for every V",
                  {**PLAIN, "t": 1, "s": HALF},
                  conclusions=(SECANT.conclusions[1].split(" == ")[0] + " == sign(t - s)",)),
    false_formula(MAXIMUM, "peak at 1 + phi/tau", "trap", "the maximum is at t* = 1 + phi/tau",
                  {"T": 2, "rho": HALF, "g": 1, "t0": 1, "p": HALF, "phi": 1, "s": 0},
                  conclusions=("1 + phi/tau == p",)),
    false_formula(MAXIMUM, "minimum for maximum", "flip inequality", "the cosine is least at t* = 1 + tau/phi",
                  {"T": 2, "rho": HALF, "g": 1, "t0": 1, "p": HALF, "phi": 1, "s": 0},
                  conclusions=(MAXIMUM.conclusions[2].replace(">= 0", "<= 0"),)),
    false_formula(SECANT, "drift for slope", "wrong converse", "cos_t - cos_s has the sign of (t-s)D on the whole path",
                  {**PLAIN, "tau": Fraction(-1, 4), "t": 1, "s": HALF},
                  conclusions=(SECANT.conclusions[1].split(" == ")[0] + " == sign((t - s)*drift)",)),
    false_formula(DECREASING, "decreasing for negative tau", "constant moved",
                  "for phi > 0 and tau < 0 (here tau = -phi/2 - e) the cosine falls along the whole path",
                  {"T": 2, "rho": HALF, "g": 1, "t0": 1, "e": 0, "phi": 1, "s": 0, "w": HALF},
                  definitions={**DECREASING.definitions, "tau": "-phi/2 - e"}),
    false_formula(CONSTANT, "constant whatever tau", "drop hypothesis", "phi = 0 alone makes the cosine constant",
                  {**{key: PLAIN[key] for key in ("T", "rho", "g", "t0")}, "t": 1, "s": 0},
                  definitions={**CONSTANT.definitions, "tau": "1"}),
    false_formula(SECANT, "rho up to one", "drop hypothesis", "the secant's sign for rho <= 1",
                  {**PLAIN, "rho": 1, "tau": 1}, bounds={"rho": OPEN_RHO}),
)

CLAIM = Claim(
    id="O4", title="Along the mix: rising, falling, or a peak", family="oversmoothing",
    statement="T >= 2, 0 <= rho < 1. d cos/dt has the sign of tau + (1-t) phi: for phi > 0 the cosine "
              "increases on [0, 1] if tau >= 0, decreases if tau <= -phi, and otherwise has its maximum at t* "
              "= 1 + tau/phi; for phi = 0 it is constant. Excluded: (rho g, D) = (0, -t0).",
    parts=(SECANT, SLOPE, INCREASING, DECREASING, MAXIMUM, CONSTANT, *O4_PARTS), variants=VARIANTS, uses=("O1",),
    required="PROVED ON", scope_notes=SCOPE,
)
