"""What is wrong with a claim of one's own, or with its instances, is said with the place where it is."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from proofs_check.blame import blame
from proofs_check.claim import Claim, Hypothesis, Instance, Part, encode_instance
from proofs_check.claims.own import sound
from proofs_check.engines.gathering import Context
from proofs_check.engines.instances import instances
from proofs_check.kernel import Rejected
from proofs_check.verify import _fault

PART = Part(name="bound", text="t", variables={"a": "scalar"}, definitions={"d": "1 / a", "e": "d + 1"},
            hypotheses=(Hypothesis("at most one", "a <= 1", "a <= 1"), Hypothesis("nonnegative", "a >= 0", "a >= 0")),
            conclusions=("a ** 2 <= a", "all(i * a <= 3 for i in [1, 2])"))
TENTHS = [Instance({"a": Fraction(number, 10)}) for number in range(13)]


def claim_of(part: Part) -> Claim:
    return Claim("SQ", "squares", "own", "t", (part,))


def said(part: Part, number: object, **options: object) -> str:
    return blame(claim_of(part).document()["parts"][0], encode_instance(part, Instance({"a": number})), Path(),
                 **options)


def test_a_good_instance_has_no_fault() -> None:
    assert said(PART, Fraction(1, 2)) == said(PART, 1) == ""


def test_the_first_formula_that_fails_is_named_with_the_values() -> None:
    assert said(PART, Fraction(11, 10)) == "a=11/10 violates hypothesis 'at most one' [a <= 1]"
    assert said(PART, 2, subject="at most one") == "a=2 violates conclusion [a ** 2 <= a]"
    assert said(PART, 2, subject="at most one", conclude=False) == ""
    assert said(replace(PART, variables={"a": "scalar: n"}), 0) == "a has no axis 'n'"


@pytest.mark.parametrize(("formula", "where"), [
    ("1 / a >= 1", ""), ("d >= 1", ", through the definition d = 1 / a,"),
    ("e >= 2", ", through the definition d = 1 / a,"), ("a >= 0 and 1 / a > 0", "")])
def test_a_formula_without_a_value_is_named_with_the_definition_at_fault(formula: str, where: str, tmp_path) -> None:
    part = replace(PART, conclusions=(formula,), instances=TENTHS[:3])
    reason = f"conclusion [{formula}]{where} cannot be evaluated at a=0: division by zero"
    assert said(part, 0) == reason
    with pytest.raises(Rejected) as refused:
        instances(claim_of(part), Context(tmp_path))
    assert str(refused.value) == f"part 'bound': {reason}"


def test_an_instance_outside_its_hypotheses_is_named_by_its_number(tmp_path) -> None:
    assert instances(claim_of(replace(PART, instances=TENTHS[:11])), Context(tmp_path)).certificates
    with pytest.raises(ValueError, match="^expected the instances of claim SQ, part 'bound', .*: a=11/10 violates "
                                         r"hypothesis 'at most one' \[a <= 1\]; mend the instance or the hypothesis$"):
        instances(claim_of(replace(PART, instances=TENTHS)), Context(tmp_path))


def test_a_bad_instance_of_the_ledger_names_what_it_violates(tmp_path) -> None:
    def fault(number: int, role: str, subject: str = "") -> str:
        body = {"target": "bound", "role": role, "subject": subject,
                "body": {"instances": [encode_instance(PART, Instance({"a": number}))]}}
        return _fault(body, claim_of(PART), tmp_path, "an instance violates a hypothesis")

    assert fault(2, "satisfiable") == "; a=2 violates hypothesis 'at most one' [a <= 1]"
    assert fault(-1, "dropped", "at most one") == "; a=-1 violates hypothesis 'nonnegative' [a >= 0]"
    assert fault(2, "dropped", "at most one") == fault(1, "satisfiable") == ""


@pytest.mark.parametrize(("changes", "reason"), [
    ({"conclusions": ("a <= 1", "a <= b")},
     r"conclusion 2 of part 'bound' of claim SQ, got the unknown name 'b' in 'a <= b'; declare it"),
    ({"conclusions": ("a <= 1.0",)}, r"conclusion 1 of part 'bound' of claim SQ, got 1.0 in 'a <= 1.0'; write 1$"),
    ({"definitions": {"d": "a * 2.5"}}, "the definition of 'd' of part 'bound' of claim SQ, got 2.5 in .*; write 5/2$"),
    ({"hypotheses": (Hypothesis("small", "t", "a <= 1e400"),)},
     "hypothesis 'small' of part 'bound' of claim SQ, got inf in .*; write a whole number$")])
def test_unknown_names_and_decimals_are_refused_with_their_place(changes: dict, reason: str) -> None:
    assert sound(claim_of(PART), Path("own.py")).parts[0].conclusions == PART.conclusions
    with pytest.raises(ValueError, match=reason):
        sound(claim_of(replace(PART, **changes)), Path("own.py"))
