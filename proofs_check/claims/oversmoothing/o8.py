"""O8: cosines over depth: the odds recursion of uniform attention, and the contraction of 1 - rho at zero trace."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from numerics.moments import depth_curve
from proofs_check.claim import Claim, Hypothesis, Instance, Part, Variant
from proofs_check.claims.building import Choose
from proofs_check.claims.derived import drawn, false_formula, points
from proofs_check.claims.oversmoothing.derived import derived
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
    """One layer by the recursion of `depth_curve` against the moment cosine of uniform attention at t0 = 1, g = 1 +
    D."""
    drift = 2 * values["tau"] + values["phi"]
    after = float(depth_curve(values["rho"], drift, 1, int(values["T"]))[1])
    model = {**values, "t0": 1.0, "g": 1.0 + drift}
    return 1e-9 - max(abs(after - mix_cosine(model, 1.0)), abs(values["rho"] - mix_cosine(model, 0.0)))


def gram_point(choose: Choose) -> dict[str, object]:
    values = layer_point(choose)
    return {"T": values["T"], "mean": Fraction(choose(0, 9), 10), "tau": values["tau"], "phi": values["phi"]}


def stepped(cosine: float, tokens: int, values_of_v: tuple[float, ...], attention: np.ndarray) -> float:
    """The cosine of the mean Gram matrix of (I + vA)x over equally likely scalars v, for T tokens of one cosine."""
    gram = (1 - cosine) * np.eye(tokens) + cosine
    after = sum((np.eye(tokens) + v * attention) @ gram @ (np.eye(tokens) + v * attention).T for v in values_of_v)
    return float(after[0, 1] / after[0, 0])


def gram_slack(values: Mapping[str, object]) -> float:
    """V = tau ± sqrt(phi - tau^2), evenly, has the two moments asked for: its layers against both formulas."""
    tokens, spread = int(values["T"]), np.sqrt(values["phi"] - values["tau"] ** 2)
    rho = (tokens * values["mean"] - 1) / (tokens - 1)
    cases = (values["tau"] + spread, values["tau"] - spread)
    after = stepped(rho, tokens, cases, np.full((tokens, tokens), 1 / tokens))
    odds = (1 + 2 * values["tau"] + values["phi"]) * (rho / (1 - rho) + 1 / tokens) - 1 / tokens
    return 1e-9 - max(abs(after - odds / (1 + odds)), abs(stepped(rho, tokens, cases, np.eye(tokens)) - rho))


def closed_point(choose: Choose) -> dict[str, object]:
    drift, layers = Fraction(choose(1, 8) - 9 * choose(0, 1), 9), choose(0, 5)
    return {"T": choose(2, 9), "shift": Fraction(choose(0, 9), 4), "drift": drift, "power": (1 + drift) ** layers}


def closed_slack(values: Mapping[str, object]) -> float:
    """The odds after L + 1 layers of V = sqrt(1+D) - 1, stepped by Gram matrices, against (1+D)^(L+1)(o_0 + 1/T) -
    1/T."""
    layers = round(np.log(values["power"]) / np.log1p(values["drift"])) + 1
    tokens = int(values["T"])
    start = values["shift"] - 1 / tokens
    cosine = start / (1 + start)
    for _ in range(layers):
        cosine = stepped(cosine, tokens, (np.sqrt(1 + values["drift"]) - 1,), np.full((tokens, tokens), 1 / tokens))
    odds = values["power"] * (1 + values["drift"]) * values["shift"] - 1 / tokens
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
    "For rho >= 0 at t0 = 1, g = 1 + D (the values for fresh isotropic V as d -> infinity): G_ii and G_ij of uniform "
    "attention are those of E over V given the tokens' Gram matrix, 1 + (2 tau + phi) mean and rho + (2 tau + phi) "
    "mean with mean = rho + (1-rho)/T; odds o = rho/(1-rho) become o' with o' + 1/T = (1+D)(o + 1/T), D = 2 tau + phi; "
    "diagonal attention keeps rho. (A null sink keeps it by O6.)",
    # 1 + D > 0 only keeps the diagonal's output from being 0, where no cosine exists
    satisfiable=ONE_POINT, words={"energy": "1 + D > 0: V is not -1 in the limit"},
    instances=points(layer_point), strategy=drawn(layer_point), numeric=layer_slack)

GRAM_POINT = {"T": 2, "mean": HALF, "tau": 0, "phi": 1}
ANY_GRAM = derived(
    RECIPES["any Gram matrix"], "one layer, any Gram matrix",
    "The same step from tokens of any Gram matrix with 1 on and rho off the diagonal, -1/(T-1) <= rho < 1, written "
    "mean = rho + (1-rho)/T in [0, 1): E over V of the outputs' Gram matrix has 1 + D mean on and rho + D mean off the "
    "diagonal, o' + 1/T = (1+D)(o + 1/T), and the outputs' own mean, after they are scaled to norm one, is in [0, 1) "
    "again, so the step repeats although rho may turn negative (D < 0). Diagonal attention, (1 + D) times the Gram "
    "matrix, keeps rho.",
    satisfiable=GRAM_POINT, words={"energy": "1 + D > 0: E‖(1+V)x‖^2 > 0 for unit x"},
    # outside every model, as 1 + D is an energy; the outputs' mean would be 2
    counterexamples={"energy": {**GRAM_POINT, "tau": -2}},
    instances=points(gram_point), strategy=drawn(gram_point), numeric=gram_slack)

ALL_LAYERS = derived(
    RECIPES["all layers"], "all layers",
    "Induction over layers with power = (1+D)^L >= 0, D > -1 and odds >= -1/T, the range that part 'one layer, any "
    "Gram matrix' steps from and stays in; shift = o_0 + 1/T >= 0: o = power (o_0 + 1/T) - 1/T is o_0 at power 1, one "
    "more step of o' + 1/T = (1+D)(o + 1/T) gives the same with power (1+D), and o' >= -1/T. Hence o_L + 1/T = (1+D)^L "
    "(o_0 + 1/T).",
    satisfiable={"T": 2, "shift": Fraction(3, 2), "drift": 1, "power": 2},
    instances=points(closed_point), strategy=drawn(closed_point), numeric=closed_slack)

CONTRACTION = derived(
    RECIPES["contraction"], "contraction",
    "At tau = 0, phi > 0, with inv = 1/T (inv = 0 is T -> infinity): 1 - rho contracts by 1/(1 + phi (rho + "
    "(1-rho)/T)) per layer, which exceeds 1/(1+phi) by (1-rho) phi (1-1/T)/(...) > 0 and reaches it only as rho -> 1.",
    satisfiable={"rho": 0, "phi": 1, "inv": HALF},
    instances=points(contraction_point), strategy=drawn(contraction_point), numeric=contraction_slack)

# The layers themselves, on explicit tokens x (T, d) and equally likely V with E V = tau I, E V^T V = phi I: one layer
# of uniform attention, and two with the same V (no norm in between: tokens of one norm keep their odds under it).
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
    false_formula(ANY_GRAM, "cosines stay nonnegative", "trap",
                  "a layer started from rho >= 0 never ends below 0, so that the recursion stays in the model's own "
                  "form",
                  {**GRAM_POINT, "tau": -HALF, "phi": HALF},
                  conclusions=("implies(rho >= 0, after_off >= 0)",)),
    false_formula(CONTRACTION, "infinite T at finite T", "T for T-1", "1 - rho contracts by 1/(1 + phi rho) at every T",
                  {"rho": 0, "phi": 1, "inv": HALF},
                  conclusions=("1 - after_off/after_diag == (1 - rho)/(1 + phi*rho)",)),
    false_formula(CONTRACTION, "faster than 1/(1+phi)", "flip inequality", "a layer contracts faster than 1/(1+phi)",
                  {"rho": 0, "phi": 1, "inv": HALF}, conclusions=("1/(1 + phi) - 1/after_diag > 0",)),
    false_formula(ALL_LAYERS, "linear in depth", "exponent moved", "o_L + 1/T grows by D(o_0 + 1/T) per layer",
                  {"T": 2, "shift": HALF, "drift": 1, "power": 2},
                  conclusions=("next - odds == drift*(start + 1/T)",)),
)

CLAIM = Claim(
    id="O8", title="Depth: the odds recursion", family="oversmoothing",
    statement="With fresh isotropic V per layer at the d -> infinity values t0 = 1, g = 1 + D > 0, odds o = "
              "rho/(1-rho): uniform attention gives o_L + 1/T = (1+D)^L (o_0 + 1/T); diagonal attention and a "
              "null sink keep o. At tau = 0, phi > 0 the factor of 1 - rho is 1/(1 + phi (rho_l + "
              "(1-rho_l)/T)), reaching 1/(1+phi) only as rho -> 1.",
    parts=(ONE_LAYER, ANY_GRAM, ALL_LAYERS, CONTRACTION), variants=VARIANTS, uses=("O1", "O6"),
    required="SUPPORTED",
    scope_notes=(
        "Proved is the recursion of the moments at their d -> infinity values; where finite T and d make simulated "
                 "layers depart from it is measured (notes/O8.md).",
                 "A V shared by all layers is a power iteration, which this says nothing about (see the variant)."),
)
