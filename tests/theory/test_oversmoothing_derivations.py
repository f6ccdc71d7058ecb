"""Every lemma of family O is accepted by the independent reader, and none of the damaged copies is."""

from dataclasses import replace

import pytest
from derivation_checker import NotProved, check

from theory.oversmoothing import DERIVATIONS, TRAPS
from theory.oversmoothing_blocks import equal_blocks, transfer_between_blocks
from theory.oversmoothing_signs import mix_maximum, mix_slope, uniform_against_diagonal, uniform_against_input
from theory.statements import Derivation

ALL = {f"{claim}: {name}": recipe for table in (DERIVATIONS, TRAPS) for claim, group in table.items()
       for name, recipe in group.items()}


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n == "O7: merging" else n for n in ALL])
def test_every_lemma_is_as_claimed(name):
    check(ALL[name]())


def _changed(derivation: Derivation, index: int, **changes) -> Derivation:
    lemmas = list(derivation.lemmas)
    lemmas[index] = replace(lemmas[index], **changes)
    return replace(derivation, lemmas=tuple(lemmas), conclusions=(lemmas[index].formula,))


def _find(derivation: Derivation, by: str) -> int:
    return max(i for i, lemma in enumerate(derivation.lemmas) if lemma.by == by)


@pytest.mark.parametrize("recipe", [uniform_against_diagonal, uniform_against_input, mix_slope, mix_maximum])
def test_a_flipped_sign_in_a_conclusion_is_rejected(recipe):
    derivation = recipe()
    index = _find(derivation, "factor")
    left, right = derivation.lemmas[index].formula.split(" == sign(")
    with pytest.raises(NotProved):
        check(_changed(derivation, index, formula=f"{left} == sign(-({right})"))


@pytest.mark.parametrize("wrong", ["2*tau + 2*phi", "tau + phi", "2*tau - phi"])
def test_a_wrong_drift_is_rejected(wrong):
    derivation = uniform_against_diagonal()
    with pytest.raises(NotProved):
        check(replace(derivation, definitions={**derivation.definitions, "drift": wrong}))


def test_a_constant_off_by_one_percent_is_rejected():
    derivation = mix_slope()
    index = _find(derivation, "identity")
    left, right = derivation.lemmas[index].formula.split(" == ")
    with pytest.raises(NotProved):
        check(_changed(derivation, index, formula=f"{left} == 101*({right})/100"))


@pytest.mark.parametrize("recipe, assumption", [
    (uniform_against_diagonal, "nondegenerate"), (mix_slope, "nondegenerate"), (mix_slope, "energy_t"),
    (uniform_against_input, "energy"), (equal_blocks, "nondegenerate"), (transfer_between_blocks, "energy")])
def test_every_assumption_is_used(recipe, assumption):
    derivation = recipe()
    kept = {name: formula for name, formula in derivation.assumptions.items() if name != assumption}
    assert len(kept) == len(derivation.assumptions) - 1
    with pytest.raises(NotProved):
        check(replace(derivation, assumptions=kept))


def test_o5_needs_a_positive_own_trace():
    derivation = uniform_against_input()
    closed = tuple(replace(p, open_min=False) if p.name == "t0" else p for p in derivation.parameters)
    with pytest.raises(NotProved):
        check(replace(derivation, parameters=closed))


def test_o4_needs_a_positive_phi_for_strict_monotonicity():
    derivation = DERIVATIONS["O4"]["increasing"]()
    closed = tuple(replace(p, open_min=False) if p.name == "phi" else p for p in derivation.parameters)
    with pytest.raises(NotProved):
        check(replace(derivation, parameters=closed))


def test_a_missing_multiplier_is_rejected():
    derivation = TRAPS["O7"]["unequal blocks with D < 0"]()
    index = next(i for i, lemma in enumerate(derivation.lemmas) if lemma.multipliers)
    with pytest.raises(NotProved):
        check(_changed(derivation, index, multipliers={}))


def test_a_negative_weight_is_rejected():
    derivation = uniform_against_diagonal()
    index = next(i for i, lemma in enumerate(derivation.lemmas) if lemma.terms)
    terms = tuple((f"-{weight}", factors) for weight, factors in derivation.lemmas[index].terms)
    with pytest.raises(NotProved):
        check(_changed(derivation, index, terms=terms))
