"""O5: uniform attention against the input's cosine: the common direction decides together with the drift."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from proofs_check.claim import Claim
from proofs_check.claims.building import Choose
from proofs_check.claims.derived import drawn, false_formula, points
from proofs_check.claims.oversmoothing.derived import derived, statistics
from proofs_check.claims.oversmoothing.matrix_parts import O5_PARTS
from proofs_check.claims.oversmoothing.model import UNIFORM, false_model_statement, moments_under
from proofs_check.claims.oversmoothing.patterns import (
    GRAM_WORDS, SCOPE, as_statistics, before, mix_cosine, on_two_axes, same_sign)
from theory.oversmoothing import DERIVATIONS

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
RECIPES = DERIVATIONS["O5"]
WHERE = " The input has G_ii = rho g0 + (1-rho) t0, G_ij = rho g0. " + GRAM_WORDS
PLAIN = {"T": 2, "rho": HALF, "g": 2, "g0": 1, "t0": 1, "tau": 0, "phi": 1}
EQUAL = {key: value for key, value in PLAIN.items() if key != "g"}


def point(choose: Choose) -> dict[str, object]:
    return {"T": choose(2, 9), **statistics(choose), "g0": Fraction(choose(0, 6), 3)}


def equal_point(choose: Choose) -> dict[str, object]:
    return {key: value for key, value in point(choose).items() if key != "g"}


def common_point(choose: Choose) -> dict[str, object]:
    return {**point(choose), "rho": Fraction(choose(1, 9), 10)}


def slack(values: Mapping[str, object]) -> float:
    quantity = values["rho"] * (values["g"] - values["g0"]) \
        + (1 - values["rho"]) * as_statistics(values).drift / values["T"]
    return same_sign(mix_cosine(values, 1.0) - before(values), quantity)


def equal_slack(values: Mapping[str, object]) -> float:
    full = {**values, "g": values["g0"]}
    return same_sign(mix_cosine(full, 1.0) - before(full), as_statistics(full).drift)


def limit_slack(values: Mapping[str, object]) -> float:
    """The cosine at 10^12 tokens for the limit, compared only where g is not close to g0."""
    if abs(values["g"] - values["g0"]) < 1e-3:
        return 0.0
    return same_sign(mix_cosine({**values, "T": 10**12}, 1.0) - before(values), values["g"] - values["g0"])


# Outside every model only (t0 + D is an energy); the largest drift that the bounds leave is enough.
SIGN = derived(
    RECIPES["sign"], "sign",
    "For t0 > 0 and T >= 2: cos_uniform - cos_input has the sign of rho(g-g0) + (1-rho)D/T." + WHERE, satisfiable=PLAIN,
    counterexamples={"energy": {"T": 2, "rho": 0, "g": 0, "g0": 0, "t0": 1, "tau": -2, "phi": 0}},
    instances=points(point), strategy=drawn(point), numeric=slack)

EQUAL_G = derived(
    RECIPES["equal g"], "equal g",
    "At g = g0, t0 > 0, the sign of cos_uniform - cos_input is D's at every finite T >= 2." + WHERE, satisfiable=EQUAL,
    counterexamples={"energy": {"T": 2, "rho": 0, "g0": 0, "t0": HALF, "tau": -1, "phi": 0}},
    instances=points(equal_point), strategy=drawn(equal_point), numeric=equal_slack)

LIMIT = derived(
    RECIPES["limit"], "limit",
    "For rho > 0, t0 > 0: cos_uniform - limit = (1-rho)^2 t0 D/(T G_ii limit_ii) with limit = rho g/(rho g + (1-rho) "
    "t0) and G_ii >= (1-rho) t0/2, so it is the limit for T -> infinity; and limit - cos_input has the sign of g - g0."
    + WHERE,
    satisfiable=PLAIN,
    counterexamples={"energy": {"T": 2, "rho": HALF, "g": 0, "g0": 0, "t0": HALF, "tau": -1, "phi": 0}},
    instances=points(common_point), strategy=drawn(common_point), numeric=limit_slack)

#: V = -uu^T + (1 - uu^T)/4, z orthogonal to u: g = 0, tau = 1/4, phi = 1/16, D = 9/16 > 0
LOSES_DIRECTION = on_two_axes([[-1, 0], [0, QUARTER]])
COSINES = {**moments_under("uniform", UNIFORM), "cos_uniform": "E_uniform[0][1] / E_uniform[0][0]",
           "cos_input": "rho * g0 / (rho * g0 + (1 - rho) * t0)"}
GAP = SIGN.conclusions[0].split(" == ")[0]

VARIANTS = (
    false_model_statement(
        "the drift decides against the input", "trap",
        "In the model uniform attention exceeds the input's cosine exactly when D > 0", LOSES_DIRECTION,
        ["iff(cos_uniform > cos_input, D > 0)"], COSINES),
    false_model_statement(
        "dense attention always raises the cosine", "trap",
        "In the model uniform attention never ends below the input's cosine", on_two_axes([[0, 0], [0, -1]]),
        ["cos_uniform >= cos_input"], COSINES),
    false_formula(SIGN, "t0 may vanish", "drop hypothesis", "O5 for t0 >= 0 (at t0 = 0 both cosines are 1)",
                  {**PLAIN, "t0": 0, "phi": 0}, bounds={"t0": {"minimum": ["0", "1"]}}),
    false_formula(SIGN, "g decides at finite T", "trap", "at every T the sign is that of g - g0",
                  {**PLAIN, "g": Fraction(11, 10), "tau": Fraction(-3, 4), "phi": 1},
                  conclusions=(f"{GAP} == sign(g - g0)",)),
    false_formula(SIGN, "T - 1 for T", "T for T-1", "the sign is that of rho(g-g0) + (1-rho)D/(T-1)",
                  {**PLAIN, "g": Fraction(7, 4), "tau": -1, "phi": 1, "T": 2},
                  conclusions=(f"{GAP} == sign(rho*(g - g0) + (1 - rho)*drift/(T - 1))",)),
    false_formula(EQUAL_G, "tau for D at equal g", "wrong converse", "at g = g0 the sign is that of tau",
                  {**EQUAL, "tau": -QUARTER},
                  conclusions=(EQUAL_G.conclusions[0].replace("sign(drift)", "sign(tau)"),)),
    false_formula(LIMIT, "limit at rho = 0", "drop hypothesis",
                  "the limit exceeds the input's cosine iff g > g0, also at rho = 0 (where both are 0)",
                  {**PLAIN, "rho": 0},
                  bounds={"rho": {"minimum": ["0", "1"], "maximum": ["1", "1"], "open_max": "true"}}),
    false_formula(SIGN, "rho up to one", "drop hypothesis", "O5 for rho <= 1", {**PLAIN, "rho": 1},
                  bounds={"rho": {"minimum": ["0", "1"], "maximum": ["1", "1"]}}),
)

CLAIM = Claim(
    id="O5", title="Uniform attention against the input's cosine", family="oversmoothing",
    statement="t0 > 0, T >= 2, 0 <= rho < 1: uniform attention raises the cosine above the input's iff "
              "rho(g-g0) + (1-rho)D/T > 0; for rho > 0 the limit T -> infinity exceeds it iff g > g0; at g = "
              "g0 the sign is D's at every finite T.",
    parts=(SIGN, EQUAL_G, LIMIT, *O5_PARTS), variants=VARIANTS, uses=("O1",), required="PROVED ON", scope_notes=SCOPE,
)
