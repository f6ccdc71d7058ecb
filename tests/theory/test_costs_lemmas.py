"""Every derivation of the cost claims is accepted by the independent checker, and by none of its damaged
copies."""

from __future__ import annotations

import importlib
from dataclasses import replace

import pytest
import sympy
from derivation_checker import NotProved, check, rejects

from theory.costs_lemmas import identity, positive, same_sign
from theory.statements import Derivation, Lemma, Parameter

MODULES = (
    "costs_exchangeable",
    "costs_boundary",
    "costs_value",
    "costs_bigram",
    "costs_bigram_beyond",
    "costs_causal",
    "costs_rank",
    "costs_tradeoff",
)
DERIVATIONS = {
    f"{module}.{name}": derivation
    for module in MODULES
    for name, derivation in importlib.import_module(f"theory.{module}").derivations().items()
}
X = Parameter("x", minimum="1")
Y = Parameter("y")


def damaged(derivation: Derivation) -> list[tuple[str, Derivation]]:
    """One copy per lemma and kind of damage: a moved constant in an identity, a flipped sign in an
    inequality."""
    copies = []
    for index, lemma in enumerate(derivation.lemmas):
        if lemma.by == "factor":
            inner = lemma.formula.split(" == ")
            formulas = [
                f"sign(-({inner[0][5:-1]})) == {inner[1]}",
                f"sign({inner[0][5:-1]} + 1/1000000) == {inner[1]}",
            ]
        elif " == " in lemma.formula:
            left, right = lemma.formula.split(" == ")
            formulas = [f"{left} + 1/1000000 == {right}"]
        else:
            left, relation, right = lemma.formula.rpartition(" >= " if ">=" in lemma.formula else " > ")
            assert right == "0"
            formulas = [f"-({left}){relation}0"]
            if lemma.by == "terms":
                formulas.append(f"{left} - 1/1000000{relation}0")
        for formula in formulas:
            lemmas = (*derivation.lemmas[:index], replace(lemma, formula=formula))
            copies.append((formula, replace(derivation, lemmas=lemmas, conclusions=(formula,))))
    return copies


@pytest.mark.parametrize("name", DERIVATIONS)
def test_every_derivation_follows_from_its_reasons(name):
    check(DERIVATIONS[name])


@pytest.mark.parametrize("name", DERIVATIONS)
def test_a_flipped_sign_or_a_moved_constant_is_rejected_in_every_lemma(name):
    copies = damaged(DERIVATIONS[name])
    assert len(copies) >= len(DERIVATIONS[name].lemmas)
    for formula, copy in copies:
        assert rejects(copy), formula


@pytest.mark.parametrize("name", DERIVATIONS)
def test_every_assumed_equation_that_a_lemma_names_is_needed(name):
    derivation = DERIVATIONS[name]
    for lemma in derivation.lemmas:
        for used in lemma.multipliers:
            kept = {k: v for k, v in lemma.multipliers.items() if k != used}
            lemmas = tuple(
                replace(other, multipliers=kept) if other is lemma else other for other in derivation.lemmas
            )
            assert rejects(replace(derivation, lemmas=lemmas)), (lemma.formula, used)


def one(lemma: Lemma, *parameters: Parameter, **assumptions: str) -> Derivation:
    return Derivation(parameters or (X, Y), {}, assumptions, (lemma,), (lemma.formula,))


def test_a_conclusion_without_a_lemma_is_rejected():
    good = one(positive("x"))
    check(good)
    with pytest.raises(NotProved, match="no lemma"):
        check(replace(good, conclusions=("x >= 2",)))


def test_a_strict_sign_is_rejected_where_a_closed_bound_makes_it_zero():
    check(one(Lemma("x - 1 >= 0", by="orthant")))
    assert rejects(one(Lemma("x - 1 > 0", by="orthant")))
    check(one(Lemma("x - 1 > 0", by="orthant"), Parameter("x", minimum="1", open_min=True)))
    unit = Parameter("x", minimum="0", maximum="1", open_min=True)
    assert rejects(one(Lemma("x*(1 - x) > 0", by="orthant"), unit))
    check(one(Lemma("x*(1 - x) > 0", by="orthant"), replace(unit, open_max=True)))


def test_division_by_something_that_may_vanish_is_rejected():
    assert rejects(one(identity("y/y", "1")))
    check(one(identity("x/x", "1")))
    check(one(Lemma("y/y == 1", by="identity"), X, Y, nonzero="y > 0"))


def test_terms_need_positive_coefficients_known_factors_and_a_strict_term_for_a_strict_sign():
    check(one(Lemma("x**2 + y**2 > 0", by="terms", terms=(("1", ("x", "x")), ("1", ("y**2",))))))
    assert rejects(one(Lemma("y**2 > 0", by="terms", terms=(("1", ("y**2",)),))))
    assert rejects(one(Lemma("y >= 0", by="terms", terms=(("1", ("y",)),))))
    assert rejects(one(Lemma("0 - x >= 0", by="terms", terms=(("-1", ("x",)),))))


def test_a_factor_that_may_be_negative_does_not_carry_a_sign():
    assert rejects(
        Derivation(
            (X, Y),
            {},
            {},
            (Lemma("sign(x*y) == sign(x)", by="factor", factor="y"),),
            ("sign(x*y) == sign(x)",),
        )
    )
    lemmas = same_sign("x*y", "y", factor="x")
    check(Derivation((X, Y), {}, {}, lemmas, (lemmas[1].formula,)))


def test_an_identity_without_its_equation_is_refused_when_it_is_made():
    with pytest.raises(ValueError, match="name the equation it needs"):
        identity("y**2", "2")
    with pytest.raises(ValueError, match="add the missing equation"):
        identity("y**2", "2", {"root": "y**2 == 3"})
    assert identity("y**3", "2*y", {"root": "y**2 == 2"}).multipliers == {"root": "y"}


def test_names_that_sympy_knows_are_read_as_parameters():
    lemma = identity("N*S*E*beta*gamma", "gamma*beta*E*S*N")
    assert lemma.formula.startswith("N*S") and sympy.Symbol("N") != sympy.N
