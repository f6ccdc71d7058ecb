"""O8: cosines over depth: the odds recursion of uniform attention, and the contraction of 1 - rho at zero trace."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from numerics.moments import depth_curve
from proofs_check.claim import Claim, Hypothesis, Instance, Part, Variant
from proofs_check.claims.equivalence.building import Choose
from proofs_check.claims.oversmoothing.derived import derived, drawn, false_formula, points
from proofs_check.claims.oversmoothing.patterns import mix_cosine
from theory.oversmoothing import DERIVATIONS

HALF = Fraction(1, 2)
RECIPES = DERIVATIONS["O8"]
ONE_POINT = {"T": 2, "rho": HALF, "tau": 0, "phi": 1}


def layer_point(choose: Choose) -> dict[str, object]:
    """tau^2 < phi or tau > 0, so that 1 + D = (1 + tau)^2 + (phi - tau^2) > 0."""
    tau = Fraction(choose(-6, 6), 4)
    return {"T": choose(2, 9), "rho": Fraction(choose(0, 9), 10), "tau": tau, "phi": tau**2 + Fraction(choose(1, 6), 8)}


def layer_slack(values: Mapping[str, object]) -> float:
    """One layer by the recursion of `depth_curve` against the moment cosine of uniform attention at t0 = 1, g = 1 + D."""
    drift = 2 * values["tau"] + values["phi"]
    after = float(depth_curve(values["rho"], drift, 1, int(values["T"]))[1])
    model = {**values, "t0": 1.0, "g": 1.0 + drift}
    return 1e-9 - max(abs(after - mix_cosine(model, 1.0)), abs(values["rho"] - mix_cosine(model, 0.0)))


def closed_point(choose: Choose) -> dict[str, object]:
    drift, layers = Fraction(choose(1, 8), 8), choose(0, 5)
    return {"T": choose(2, 9), "start": Fraction(choose(0, 9), 4), "drift": drift, "power": (1 + drift) ** layers}


def closed_slack(values: Mapping[str, object]) -> float:
    """The odds after L + 1 layers, stepped by the one-layer recursion, against (1+D)^(L+1)(o_0 + 1/T) - 1/T."""
    layers = round(np.log(values["power"]) / np.log1p(values["drift"])) + 1
    cosine = values["start"] / (1 + values["start"])
    for _ in range(layers):
        cosine = float(depth_curve(cosine, values["drift"], 1, int(values["T"]))[1])
    odds = values["power"] * (1 + values["drift"]) * (values["start"] + 1 / values["T"]) - 1 / values["T"]
    return 1e-8 - abs(cosine - odds / (1 + odds))


def contraction_point(choose: Choose) -> dict[str, object]:
    tokens = choose(1, 9)
    return {"rho": Fraction(choose(0, 9), 10), "phi": Fraction(choose(1, 9), 4),
            "inv": 0 if tokens == 1 else Fraction(1, tokens)}


def contraction_slack(values: Mapping[str, object]) -> float:
    tokens = round(1 / values["inv"]) if values["inv"] else None
    after = float(depth_curve(values["rho"], values["phi"], 1, tokens)[1])
    mean = values["rho"] + (1 - values["rho"]) * values["inv"]
    return 1e-9 - abs(1 - after - (1 - values["rho"]) / (1 + values["phi"] * mean))


ONE_LAYER = derived(
    RECIPES["one layer"], "one layer",
    "At t0 = 1, g = 1 + D (the values for fresh isotropic V as d -> infinity): G_ii and G_ij of uniform attention are those "
    "of E over V given the tokens' Gram matrix, 1 + (2 tau + phi) mean and rho + (2 tau + phi) mean with mean = "
    "rho + (1-rho)/T, so the next layer may start from there; odds o = rho/(1-rho) become o' with o' + 1/T = (1+D)(o + 1/T), "
    "D = 2 tau + phi; diagonal attention keeps rho. (A null sink keeps it by O6.)",
    # 1 + D > 0 only keeps the diagonal's output from being 0, where no cosine exists
    satisfiable=ONE_POINT, words={"energy": "1 + D > 0: V is not -1 in the limit"},
    instances=points(layer_point), strategy=drawn(layer_point), numeric=layer_slack)

ALL_LAYERS = derived(
    RECIPES["all layers"], "all layers",
    "Induction over layers with power = (1+D)^L: o = power (o_0 + 1/T) - 1/T is o_0 at power 1, and one more step of "
    "o' + 1/T = (1+D)(o + 1/T) gives the same with power (1+D). Hence o_L + 1/T = (1+D)^L (o_0 + 1/T).",
    satisfiable={"T": 2, "start": 1, "drift": 1, "power": 2},
    instances=points(closed_point), strategy=drawn(closed_point), numeric=closed_slack)

CONTRACTION = derived(
    RECIPES["contraction"], "contraction",
    "At tau = 0, phi > 0, with inv = 1/T (inv = 0 is T -> infinity): 1 - rho contracts by 1/(1 + phi (rho + (1-rho)/T)) per "
    "layer, which exceeds 1/(1+phi) by (1-rho) phi (1-1/T)/(...) > 0 and reaches it only as rho -> 1.",
    satisfiable={"rho": 0, "phi": 1, "inv": HALF},
    instances=points(contraction_point), strategy=drawn(contraction_point), numeric=contraction_slack)

# The layers themselves, on explicit tokens x (T, d) and equally likely V with E V = tau I, E V^T V = phi I: one layer of
# uniform attention, and two with the same V (no norm in between: tokens of one norm keep their odds under it).
LAYERS = {
    "T": "len(x)", "d": "len(x[0])", "A": "[[1 / T for j in range(T)] for i in range(T)]",
    "mean_V": "sum(v for v in V) / len(V)", "mean_square": "sum(transpose(v) @ v for v in V) / len(V)",
    "tau": "trace(mean_V) / d", "phi": "trace(mean_square) / d", "D": "2 * tau + phi",
    "K": "x @ transpose(x)",
    "y": "[x + A @ x @ transpose(v) for v in V]",
    "again": "[y[k] + A @ y[k] @ transpose(V[k]) for k in range(len(V))]",
    "once": "sum(case @ transpose(case) for case in y) / len(V)",
    "twice": "sum(case @ transpose(case) for case in again) / len(V)",
}
ISOTROPIC = (
    Hypothesis("isotropic mean", "E V = tau I", "mean_V == tau * eye(d)"),
    Hypothesis("isotropic square", "E V^T V = phi I", "mean_square == phi * eye(d)"),
    Hypothesis("two tokens of one norm", "T = 2, ‖x_1‖ = ‖x_2‖", "T == 2 and K[0][0] == K[1][1]"),
)
FLIP = Instance({"x": [[1, 0], [0, 1]], "V": [[[1, 0], [0, 1]], [[-1, 0], [0, -1]]]})  # V = ±1: tau = 0, phi = 1


def layer_variant(name: str, operator: str, text: str, conclusion: str) -> Variant:
    return Variant(operator, FLIP, Part(name=name, text=text, variables={"x": "matrix", "V": "matrices"},
                                        definitions=LAYERS, hypotheses=ISOTROPIC, conclusions=(conclusion,)))


VARIANTS = (
    layer_variant("1/(1+phi) at every layer", "trap",
                  "for random V with tau = 0, 1 - cosine of the second moments contracts by 1/(1+phi) in a layer",
                  "1 - once[0][1] / once[0][0] == (1 - K[0][1] / K[0][0]) / (1 + phi)"),
    layer_variant("one V in all layers", "trap",
                  "two layers with the same random V follow the fresh recursion: o_2 + 1/T = (1+D)^2 (o_0 + 1/T)",
                  "twice[0][1] / (twice[0][0] - twice[0][1]) + 1 / T "
                  "== (1 + D) ** 2 * (K[0][1] / (K[0][0] - K[0][1]) + 1 / T)"),
    false_formula(ONE_LAYER, "odds without 1/T", "constant moved", "at finite T the odds grow by 1 + D: o' = (1+D) o",
                  {**ONE_POINT, "rho": 0},
                  conclusions=("after_off/(after_diag - after_off) == (1 + drift)*rho/(1 - rho)",)),
    false_formula(ONE_LAYER, "phi for D", "constant moved", "o' + 1/T = (1+phi)(o + 1/T)", {**ONE_POINT, "tau": 1},
                  conclusions=("after_off/(after_diag - after_off) + 1/T == (1 + phi)*(rho/(1 - rho) + 1/T)",)),
    false_formula(ONE_LAYER, "the diagonal smooths too", "swap sink and diagonal",
                  "diagonal attention multiplies the odds by 1 + D", ONE_POINT,
                  conclusions=("diagonal_off/(diagonal_diag - diagonal_off) == (1 + drift)*rho/(1 - rho)",)),
    false_formula(CONTRACTION, "infinite T at finite T", "T for T-1", "1 - rho contracts by 1/(1 + phi rho) at every T",
                  {"rho": 0, "phi": 1, "inv": HALF},
                  conclusions=("1 - after_off/after_diag == (1 - rho)/(1 + phi*rho)",)),
    false_formula(CONTRACTION, "faster than 1/(1+phi)", "flip inequality", "a layer contracts faster than 1/(1+phi)",
                  {"rho": 0, "phi": 1, "inv": HALF}, conclusions=("1/(1 + phi) - 1/after_diag > 0",)),
    false_formula(ALL_LAYERS, "linear in depth", "exponent moved", "o_L + 1/T grows by D(o_0 + 1/T) per layer",
                  {"T": 2, "start": 0, "drift": 1, "power": 2},
                  conclusions=("next - odds == drift*(start + 1/T)",)),
)

CLAIM = Claim(
    id="O8", title="Depth: the odds recursion", family="oversmoothing",
    statement="With fresh isotropic V per layer at the d -> infinity values t0 = 1, g = 1 + D, odds o = rho/(1-rho): uniform "
              "attention gives o_L + 1/T = (1+D)^L (o_0 + 1/T); diagonal attention and a null sink keep o. At tau = 0 the "
              "factor of 1 - rho is 1/(1 + phi (rho_l + (1-rho_l)/T)), reaching 1/(1+phi) only as rho -> 1.",
    parts=(ONE_LAYER, ALL_LAYERS, CONTRACTION), variants=VARIANTS, required="PROVED",
    scope_notes=("Proved is the recursion of the moments at their d -> infinity values; where finite T and d make simulated "
                 "layers depart from it is measured (notes/O8.md).",
                 "A V shared by all layers is a power iteration, which this says nothing about (see the variant)."),
)
