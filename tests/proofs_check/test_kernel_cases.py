"""An `exists` part about a list: the kernel asks for an instance of each of its cases."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from proofs_check.certificates import certificate, instances_body
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims import all_claims
from proofs_check.claims.own import sound
from proofs_check.display import each_of
from proofs_check.engines.gathering import Context
from proofs_check.engines.instances import LIMIT, instances
from proofs_check.kernel import Rejected, digest, replay

SIZES = (3, 4, 5)
PART = Part(name="p", text="For T = 3..5 there is an x with x² = T².", quantifier="exists",
            variables={"T": "integer", "x": "scalar"}, definitions={"square": "x ** 2", "part": "1 / (T - 4)"},
            hypotheses=(Hypothesis("positive", "", "x > 0"),), conclusions=("square == T ** 2",),
            satisfiable=Instance({"T": 3, "x": 3}), cases=tuple(f"T == {size}" for size in SIZES))


def claim_of(part: Part) -> Claim:
    return Claim("own", "", "test", "", (part,))


def at(*sizes: int) -> list[Instance]:
    return [Instance({"T": size, "x": size}) for size in sizes]


def attempt(part: Part, listed: list[Instance], tmp_path: Path, role: str = "evidence"):
    claim = claim_of(part)
    return replay(claim.document(),
                  certificate(claim, "p", role, "instances", "test", instances_body(part, listed)), tmp_path)


@pytest.mark.parametrize("sizes", [(3, 4, 5), (5, 3, 4), (2, 3, 4, 5, 9)])
def test_all_cases_in_any_order_settle_the_part_also_with_more_beside(sizes: tuple, tmp_path: Path) -> None:
    record = attempt(PART, at(*sizes), tmp_path)
    assert (record.outcome, record.grade, record.scope) == ("holds", "exact", "as stated")


@pytest.mark.parametrize(("sizes", "missing"), [
    ((3,), 4), ((4, 5), 3), ((3, 4), 5), ((3, 5), 4), ((7,), 3), ((3, 4, 6), 5), ((6, 7, 8), 3)])
def test_a_missing_case_is_named_also_where_others_outside_the_list_are_given(sizes, missing, tmp_path: Path) -> None:
    with pytest.raises(Rejected, match=f"no instance for the case T == {missing}$"):
        attempt(PART, at(*sizes), tmp_path)


def test_one_instance_shows_that_the_hypotheses_can_be_met_and_not_the_part(tmp_path: Path) -> None:
    assert attempt(PART, at(9), tmp_path, "satisfiable").scope == "instances: 1"
    assert attempt(replace(PART, cases=()), at(9), tmp_path).scope == "as stated"


def test_one_instance_may_be_of_two_cases_and_definitions_may_be_named(tmp_path: Path) -> None:
    part = replace(PART, cases=("T < 10", "square == 9 and part == 0 - 1"))
    assert attempt(part, at(3), tmp_path).outcome == "holds"
    with pytest.raises(Rejected, match="no instance for the case square == 9"):
        attempt(part, at(5), tmp_path)


@pytest.mark.parametrize("case", [
    "exp(log(T)) == 3", "part > 0", "nothing == 3", "T ==", "T", "separable([[x]], 'h')", "T[0] == 3"],
    ids=["undecided", "undefined", "unknown", "unreadable", "no statement", "no witness", "no list"])
def test_what_is_not_shown_true_is_a_missing_case(case: str, tmp_path: Path) -> None:
    with pytest.raises(Rejected, match="no instance for the case"):
        attempt(replace(PART, cases=("T < 10", case)), at(4 if case == "part > 0" else 3), tmp_path)


def test_a_case_decided_by_balls_makes_the_grade_enclosed(tmp_path: Path) -> None:
    assert attempt(replace(PART, cases=("exp(T) > 20",)), at(3), tmp_path).grade == "enclosed"
    with pytest.raises(Rejected, match="no instance for the case"):
        attempt(replace(PART, cases=("exp(T) > 21",)), at(3), tmp_path)


@pytest.mark.parametrize(("changes", "reason"), [
    ({"quantifier": "forall"}, "only an 'exists' part has cases"),
    ({"quantifier": "probability"}, "only an 'exists' part has cases"),
    ({"cases": []}, "none of them empty"), ({"cases": [""]}, "none of them empty"),
    ({"cases": ["T == 3", " "]}, "none of them empty"), ({"cases": [{}]}, "none of them empty"),
    ({"cases": [["T == 3"]]}, "none of them empty"), ({"cases": "T == 3"}, "must be of type list"),
    ({"cases": {"T": "3"}}, "must be of type list"), ({"cases": ["T == 3", "T == 3"]}, "listed twice")])
@pytest.mark.parametrize("role", ["evidence", "satisfiable"])
def test_cases_of_another_form_are_refused(changes: dict, reason: str, role: str, tmp_path: Path) -> None:
    document = claim_of(PART).document()
    document["parts"][0].update(changes)
    item = certificate(claim_of(PART), "p", role, "instances", "test", instances_body(PART, at(3)))
    with pytest.raises(Rejected, match=reason):
        replay(document, {**item, "claim_digest": digest(document)}, tmp_path)


def test_cases_are_in_the_document_where_there_are_any_and_in_no_variant() -> None:
    plain = replace(PART, cases=())
    assert claim_of(PART).document()["parts"][0]["cases"] == ["T == 3", "T == 4", "T == 5"]
    assert "cases" not in claim_of(plain).document()["parts"][0]
    variant = PART.vary("v", "trap", "", Instance({"T": 3, "x": Fraction(1, 2)}), conclusions=("x > 1",))
    assert (variant.part.quantifier, variant.part.cases) == ("forall", ())


@pytest.mark.parametrize(("changes", "reason"), [
    ({"cases": "T == 3"}, "`cases` of part 'p' of claim own as a sequence"),
    ({"cases": (3,)}, "`cases` of part 'p' of claim own as a sequence"),
    ({"quantifier": "forall"}, "`cases` in part 'p' of claim own only with the quantifier exists"),
    ({"cases": ("T == 3",) * 2}, "different `cases`"), ({"cases": ("T ==",)}, "case 1 of part 'p'"),
    ({"cases": ("",)}, "case 1 of part 'p'")])
def test_cases_of_an_own_claim_are_checked_when_it_is_loaded(changes: dict, reason: str) -> None:
    assert sound(claim_of(PART), Path("own.py")).parts[0].cases == PART.cases
    with pytest.raises(ValueError, match=reason):
        sound(claim_of(replace(PART, **changes)), Path("own.py"))


def test_a_certificate_holds_an_instance_of_each_case_however_many(tmp_path: Path) -> None:
    sizes = range(1, LIMIT["quick"] + 3)
    part = replace(PART, cases=tuple(f"T == {size}" for size in sizes), instances=lambda seed: at(*sizes))
    claim = claim_of(part)
    (item,) = instances(claim, Context(tmp_path)).certificates
    assert replay(claim.document(), item, tmp_path).scope == "as stated"


def test_a_long_list_is_shortened_where_it_is_shown() -> None:
    assert each_of(PART.cases) == "for each of: T == 3; T == 4; T == 5"
    assert each_of(PART.cases, 13) == "for each of: T == 3; T == 4; and 1 more, all in claim.json"
    assert each_of(PART.cases, 2) == "for each of: T == 3; and 2 more, all in claim.json"


@pytest.mark.parametrize(("claim", "part"), [
    pytest.param(claim, part, id=f"{claim.id} {part.name}")
    for claim in all_claims() for part in claim.parts if part.cases and claim.id != "C4"])  # C4 is slow
def test_a_shipped_list_needs_each_of_its_instances(claim: Claim, part: Part, tmp_path: Path) -> None:
    listed, document = list(part.instances(0)), claim.document()

    def kept(chosen: list[Instance]):
        return replay(document, certificate(claim, part.name, "evidence", "instances", "test",
                                            instances_body(part, chosen)), tmp_path)

    assert kept(listed).scope == "as stated"
    assert len(listed) == len(part.cases)
    for left_out in {0, len(listed) - 1} if len(listed) > 1 else ():
        with pytest.raises(Rejected, match="no instance for the case"):
            kept(listed[:left_out] + listed[left_out + 1:])


def test_an_exists_part_whose_text_speaks_of_a_list_has_cases() -> None:
    silent = [(claim.id, part.name) for claim in all_claims() for part in claim.parts
              if part.quantifier == "exists" and "listed" in part.text and not part.cases and not part.constants]
    assert silent == []  # constants are values in the claim itself, so their list has one entry
