"""O3: uniform against diagonal attention: the moment cosine differs by the sign of the drift."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from proofs_check.claim import Claim
from proofs_check.claims.derived import drawn, false_formula, points
from proofs_check.claims.oversmoothing.derived import derived
from proofs_check.claims.oversmoothing import matrix_parts
from proofs_check.claims.oversmoothing.model import MODEL, false_model_statement, instance, noise
from proofs_check.claims.oversmoothing.patterns import (
    BOTH, GRAM_WORDS, REMOVES_NOISE, SCOPE, as_statistics, mix_cosine, on_two_axes, point, same_sign)
from theory.oversmoothing import DERIVATIONS

HALF = Fraction(1, 2)
PLAIN = {"T": 2, "rho": HALF, "g": 1, "t0": 1, "tau": 1, "phi": 1}


def slack(values: Mapping[str, object]) -> float:
    return same_sign(mix_cosine(values, 1.0) - mix_cosine(values, 0.0), as_statistics(values).drift)


SIGN = derived(
    DERIVATIONS["O3"]["sign"], "sign",
    "For every T >= 2, 0 <= rho < 1, g, t0, phi >= 0 and tau with rho g + t0 + D > 0: cos_uniform - cos_diagonal = "
    "(1-rho) D [rho g + (1-rho)(t0+D)/T]/(G^uniform_ii G^diagonal_ii), and so has the sign of D; it is 0 iff D = 0. "
    + GRAM_WORDS,
    satisfiable=PLAIN,
    # only outside every model: rho g + t0 + D is a sum of two energies
    counterexamples={"nondegenerate": {"T": 2, "rho": 0, "g": 0, "t0": 0, "tau": -1, "phi": 0}},
    instances=points(point), strategy=drawn(point), numeric=slack)

# Cosines as E_01/E_00; comparing E_01 E'_00 with E'_01 E_00 says the same where both are defined, and something at 0.
CROSSED = "E_uniform[0][1] * E_diagonal[0][0] - E_diagonal[0][1] * E_uniform[0][0]"
UNDEFINED = instance([[-1]], [1], 0, noise(2, [[1]]))  # rho = 0, V = -1: D = -t0

VARIANTS = (
    false_model_statement(
        "dense attention always smooths more", "trap",
        "In the model uniform attention never has the smaller cosine E<y_1,y_2>/E<y_1,y_1>",
        on_two_axes(REMOVES_NOISE),
        ["E_uniform[0][1] / E_uniform[0][0] >= E_diagonal[0][1] / E_diagonal[0][0]"], BOTH),
    false_model_statement(
        "degenerate case included", "trap",
        "In the model, cross-multiplied, uniform minus diagonal has the sign of D also where the diagonal's output "
        "is 0",
        UNDEFINED, [f"sign({CROSSED}) == sign(D)"], BOTH),
    false_model_statement(
        "own trace forgotten", "wrong matrix",
        "In the model under LayerNorm, uniform against diagonal has the sign of 2 tr(RV) + tr(R V^T V): the drift "
        "without C",
        instance([[0, 1], [1, 0]], [1, 0], 0, noise(2, [[Fraction(3, 5)], [Fraction(4, 5)]]), centred=1),
        ["sign(E_uniform[0][1] * E_diagonal[0][0] - E_diagonal[0][1] * E_uniform[0][0]) "
         "== sign(2 * trace(R @ V) + trace(R @ transpose(V) @ V))"], BOTH, hypotheses=MODEL),
    false_formula(SIGN, "tau alone", "constant moved", "cos_uniform - cos_diagonal has the sign of tau",
                  {**PLAIN, "tau": Fraction(-1, 4)},
                  conclusions=(SIGN.conclusions[0].replace("sign(drift)", "sign(tau)"),)),
    false_formula(SIGN, "opposite sign", "flip inequality", "cos_uniform - cos_diagonal has the sign of -D", PLAIN,
                  conclusions=(SIGN.conclusions[0].replace("sign(drift)", "sign(-drift)"),)),
    false_formula(SIGN, "rho up to one", "drop hypothesis", "O3 for rho <= 1 (all tokens equal at rho = 1)",
                  {**PLAIN, "rho": 1}, bounds={"rho": {"minimum": ["0", "1"], "maximum": ["1", "1"]}}),
    false_formula(SIGN, "gap with T - 1", "T for T-1",
                  "the gap is (1-rho) D [rho g + (1-rho)(t0+D)/(T-1)]/(G^uniform_ii G^diagonal_ii)", PLAIN,
                  conclusions=(SIGN.conclusions[1].replace("mean_energy", "(rho*g + (1 - rho)*total/(T - 1))"),)),
)

CLAIM = Claim(
    id="O3", title="Uniform against diagonal: the sign of the drift", family="oversmoothing",
    statement="For every T >= 2, 0 <= rho < 1 and any C: cos_uniform - cos_diagonal has the sign of D, with "
              "equality iff D = 0, outside the degenerate case (rho g, D) = (0, -t0). The gap is (1-rho)D[rho "
              "g + (1-rho)(t0+D)/T] over positive terms.",
    parts=(SIGN, matrix_parts.SIGN), variants=VARIANTS, uses=("O1",), required="PROVED ON", scope_notes=SCOPE,
)
