"""P0: what the published sink scores give on exact patterns, for every number of tokens, as rational relations.

Importance of key k (from 0) is (1/(T-k)) sum_i a_ik.  A column of a diagonal, or of a full band, sums to one, so
its score depends on n = T - k alone.  H stands for the harmonic number H_T = 1 + 1/2 + ... + 1/T.
"""

from __future__ import annotations

from theory.statements import Derivation, Lemma, Parameter


def _column_of_one(minimum: str, maximum: str | None, relations: tuple[str, ...]) -> Derivation:
    parameters = (Parameter("k", minimum="0", integer=True),
                  Parameter("n", minimum=minimum, maximum=maximum, integer=True))
    definitions = {"T": "n + k", "score": "1/(T - k)"}
    lemmas = (*(Lemma(formula, "orthant") for formula in relations), Lemma("score == 1/n", "identity"))
    return Derivation(parameters, definitions, {}, lemmas)


def diagonal_passes_late() -> Derivation:
    """n = T - k in 1..3: a column that sums to one scores above 3/10."""
    return _column_of_one("1", "3", ("score - 3/10 > 0",))


def diagonal_fails_before() -> Derivation:
    """n = T - k >= 4: a column that sums to one scores below 3/10."""
    return _column_of_one("4", None, ("3/10 - score > 0",))


def diagonal_at_high_threshold() -> Derivation:
    """n = T - k >= 2: a column that sums to one scores below 4/5."""
    return _column_of_one("2", None, ("4/5 - score > 0",))


def _step(smallest: str, harmonic: str, mass: str, following: str) -> Derivation:
    """One more token lowers the mass; below 3/10 it therefore stays below."""
    parameters = (Parameter("T", minimum=smallest, integer=True), Parameter("H", minimum=harmonic))
    lemmas = (Lemma("mass - following > 0", "orthant"),)
    return Derivation(parameters, {"mass": mass, "following": following}, {}, lemmas, (lemmas[0].formula,))


def causal_uniform_step() -> Derivation:
    """T >= 1, H >= 1: H/T exceeds (H + 1/(T+1))/(T+1)."""
    return _step("1", "1", "H/T", "(H + 1/(T + 1))/(T + 1)")


def causal_uniform_step_without_first_row() -> Derivation:
    """T >= 4, H >= H_4 = 25/12: (H-1)/(T-1) exceeds (H - 1 + 1/(T+1))/T."""
    return _step("4", "25/12", "(H - 1)/(T - 1)", "(H - 1 + 1/(T + 1))/T")
