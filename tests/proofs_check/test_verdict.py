"""Verdicts are computed from replayed certificates and from nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofs_check.certificates import certificate, instances_body, write_claim
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.engines.agreement import compare_routes
from proofs_check.engines.gathering import Gathered
from proofs_check.kernel import Replayed, replay_files
from proofs_check.verdict import Trouble, Verdict, counted, headline, judge, reaches

PART = Part(
    name="square", text="x**2 >= 0 for x > 0", variables={"x": "scalar"},
    hypotheses=(Hypothesis("positive", "x > 0", "x > 0"),), conclusions=("x**2 >= 1",),
    satisfiable=Instance({"x": 1}),
)
CLAIM = Claim(id="X1", title="", family="test", statement="", parts=(PART,))
GOOD = instances_body(PART, [Instance({"x": 1}), Instance({"x": 2})])
ONE = instances_body(PART, [Instance({"x": 1})])
BAD = {"instances": [{"values": {"x": ["1", "2"]}, "witnesses": {}}]}
NOTHING_FOUND = {"examples": "100"}


def replayed(tmp_path, claim: Claim, *bodies: tuple[str, str, dict]) -> list[Replayed]:
    directory = tmp_path / claim.id
    directory.mkdir(exist_ok=True)
    for old in directory.iterdir():
        old.unlink()
    write_claim(directory, claim, [certificate(claim, claim.parts[0].name, role, kind, "test", body)
                                   for role, kind, body in bodies])
    accepted, rejected = replay_files(directory)
    assert not rejected, rejected
    return [record for _, record in accepted]


def test_instances_give_proved_on_and_nothing_more(tmp_path) -> None:
    records = replayed(tmp_path, CLAIM, ("evidence", "instances", GOOD), ("satisfiable", "instances", ONE))
    verdict = judge(CLAIM, records)
    assert (verdict.headline, verdict.label) == ("PROVED ON", "PROVED ON instances: 2")
    assert not reaches(verdict, "PROVED") and reaches(verdict, "PROVED ON") and reaches(verdict, "SUPPORTED")


def test_a_claim_whose_hypotheses_nobody_met_is_open(tmp_path) -> None:
    assert judge(CLAIM, replayed(tmp_path, CLAIM, ("evidence", "instances", GOOD))).headline == "OPEN"


def test_a_search_that_found_nothing_supports_and_does_not_prove(tmp_path) -> None:
    records = replayed(tmp_path, CLAIM, ("evidence", "search", NOTHING_FOUND), ("satisfiable", "instances", ONE))
    assert judge(CLAIM, records).headline == "SUPPORTED"


def test_a_replayed_counterexample_refutes_a_searched_claim(tmp_path) -> None:
    records = replayed(tmp_path, CLAIM, ("evidence", "search", NOTHING_FOUND), ("satisfiable", "instances", ONE),
                       ("refuted", "counterexample", BAD))
    assert judge(CLAIM, records).headline == "REFUTED"


def test_no_evidence_is_open(tmp_path) -> None:
    assert judge(CLAIM, []).headline == "OPEN"
    assert judge(replace(CLAIM, parts=()), []).headline == "OPEN"


def test_a_float_counterexample_that_did_not_replay_is_suspect(tmp_path) -> None:
    records = replayed(tmp_path, CLAIM, ("evidence", "instances", GOOD), ("satisfiable", "instances", ONE))
    assert judge(CLAIM, records, [Trouble("square", "suspect", "slack -1e-9")]).headline == "SUSPECT"


def test_engines_that_disagree_are_an_error_and_no_vote(tmp_path) -> None:
    records = replayed(tmp_path, CLAIM, ("evidence", "instances", GOOD), ("satisfiable", "instances", ONE))
    assert judge(CLAIM, records, [Trouble("square", "disagreement", "two routes")]).headline == "ERROR"


def test_a_derivation_proves_as_stated_once_its_hypotheses_are_met(tmp_path) -> None:
    part = Part(name="p", text="", parameters=({"name": "x", "minimum": ["1", "1"]},), conclusions=("x >= 1",),
                satisfiable=Instance({"x": 1}))
    claim = Claim(id="X2", title="", family="test", statement="", parts=(part,))
    records = replayed(tmp_path, claim, ("evidence", "derivation",
                                         {"lemmas": [{"formula": "x >= 1", "by": "orthant"}]}),
                       ("satisfiable", "instances", instances_body(part, [Instance({"x": 1})])))
    assert judge(claim, records).headline == "PROVED"
    assert judge(claim, records[:1]).headline == "OPEN"


def test_the_weakest_link_over_uses_decides(tmp_path) -> None:
    part = Part(name="p", text="", parameters=({"name": "x", "minimum": ["1", "1"]},), conclusions=("x >= 1",),
                satisfiable=Instance({"x": 1}))
    user = Claim(id="X3", title="", family="test", statement="", parts=(part,), uses=("X1",))
    records = replayed(tmp_path, user, ("evidence", "derivation", {"lemmas": [{"formula": "x >= 1", "by": "orthant"}]}),
                       ("satisfiable", "instances", instances_body(part, [Instance({"x": 1})])))
    weak = judge(CLAIM, replayed(tmp_path, CLAIM, ("evidence", "instances", GOOD), ("satisfiable", "instances", ONE)))
    assert judge(user, records, uses={"X1": weak}).headline == "SUPPORTED"
    assert judge(user, records).headline == "OPEN"
    assert judge(replace(user, uses=()), replayed(tmp_path, replace(user, uses=()), (
        "evidence", "derivation", {"lemmas": [{"formula": "x >= 1", "by": "orthant"}]}),
        ("satisfiable", "instances", instances_body(part, [Instance({"x": 1})])))).headline == "PROVED"


def test_a_weak_part_pulls_a_strong_claim_down(tmp_path) -> None:
    two = replace(CLAIM, parts=(PART, replace(PART, name="other")))
    records = replayed(tmp_path, two, ("evidence", "instances", GOOD), ("satisfiable", "instances", ONE))
    assert judge(two, records).headline == "OPEN"


def test_certificates_of_another_claim_are_refused(tmp_path) -> None:
    records = replayed(tmp_path, CLAIM, ("evidence", "instances", GOOD))
    with pytest.raises(ValueError, match="another digest"):
        judge(replace(CLAIM, statement="changed"), records)


def test_neither_a_verdict_nor_a_replayed_record_can_be_made_by_hand(tmp_path) -> None:
    fields = dict(claim="X", outcome="holds", grade="kernel", scope="as stated", headline="PROVED", reasons=())
    with pytest.raises(TypeError):
        Verdict(**fields)
    with pytest.raises(TypeError):
        Verdict(**fields, mint=object())
    record, = replayed(tmp_path, CLAIM, ("evidence", "instances", GOOD))
    with pytest.raises(TypeError):
        replace(record, scope="as stated")
    verdict = judge(CLAIM, [record])
    with pytest.raises(TypeError):
        replace(verdict, headline="PROVED")


def test_neither_has_a_truth_value(tmp_path) -> None:
    record, = replayed(tmp_path, CLAIM, ("evidence", "instances", GOOD))
    for value in (record, judge(CLAIM, [record])):
        with pytest.raises(TypeError):
            bool(value)


@pytest.mark.parametrize(("outcome", "grade", "scope", "uses", "expected"), [
    ("holds", "kernel", "as stated", "PROVED", "PROVED"), ("holds", "enclosed", "as stated", "PROVED", "PROVED"),
    ("holds", "symbolic", "as stated", "PROVED", "SUPPORTED"),
    ("holds", "exact", "instances: 3", "PROVED", "PROVED ON"),
    ("holds", "exact", "as stated", "PROVED ON", "SUPPORTED"),
    ("holds", "exact", "instances: 3", "PROVED ON", "PROVED ON"),
    ("holds", "exact", "instances: 3", "SUPPORTED", "SUPPORTED"),
    ("holds", "sampled", "instances: 9", "PROVED", "SUPPORTED"),
    ("refuted", "exact", "as stated", "PROVED", "REFUTED"), ("suspect", "none", "", "PROVED", "SUSPECT"),
    ("open", "none", "", "PROVED", "OPEN"), ("vacuous", "none", "", "PROVED", "VACUOUS"),
    ("error", "none", "", "PROVED", "ERROR"),
])
def test_the_headline_follows_the_table(outcome, grade, scope, uses, expected) -> None:
    assert headline(outcome, grade, scope, uses) == expected


def test_the_scope_of_a_claim_is_its_smallest_part(tmp_path) -> None:
    claim = replace(CLAIM, parts=(PART, replace(PART, name="other", satisfiable=None)))
    directory = tmp_path / "two"
    directory.mkdir()
    write_claim(directory, claim, [
        certificate(claim, "square", "evidence", "instances", "test", GOOD),
        certificate(claim, "square", "satisfiable", "instances", "test", ONE),
        certificate(claim, "other", "evidence", "instances", "test", ONE),
        certificate(claim, "other", "satisfiable", "instances", "test", ONE)])
    assert judge(claim, [record for _, record in replay_files(directory)[0]]).label == "PROVED ON instances: 1"


def test_look_alikes_are_not_evidence(tmp_path) -> None:
    from types import SimpleNamespace

    records = replayed(tmp_path, CLAIM, ("evidence", "instances", GOOD), ("satisfiable", "instances", ONE))
    fake = SimpleNamespace(**{name: getattr(records[0], name) for name in records[0].__dataclass_fields__})
    with pytest.raises(TypeError):
        judge(CLAIM, [fake, *records])
    with pytest.raises(TypeError):
        judge(replace(CLAIM, uses=("Z",)), [], uses={"Z": judge(CLAIM, records)})
    with pytest.raises(TypeError):
        type("Fake", (Replayed,), {})
    with pytest.raises(TypeError):
        type("Fake", (Verdict,), {})
    with pytest.raises(ValueError, match="troubles"):
        judge(CLAIM, records, [Trouble("square", "eror", "")])


def test_a_dropped_hypothesis_must_fail_on_its_counterexample(tmp_path) -> None:
    part = replace(PART, conclusions=("x < 100",))
    claim = replace(CLAIM, parts=(part,))
    directory = tmp_path / "dropped"
    directory.mkdir()
    write_claim(directory, claim, [certificate(claim, "square", "dropped", "counterexample", "test",
                                               instances_body(part, [Instance({"x": 200})]), "positive")])
    accepted, rejected = replay_files(directory)
    assert not accepted and "said to drop" in str(rejected[0][1])


def test_one_number_written_in_two_ways_is_one_instance(tmp_path) -> None:
    body = {"instances": [{"values": {"x": text}, "witnesses": {}} for text in ("1", "0x1.0000000000000p+0")]}
    directory = tmp_path / "same"
    directory.mkdir()
    write_claim(directory, CLAIM, [certificate(CLAIM, "square", "evidence", "instances", "test", body)])
    assert not replay_files(directory)[0]


def test_a_trouble_met_on_many_instances_is_said_once_with_its_number():
    part = Part("p", "x is positive", {"x": "scalar"}, conclusions=("x > 0",), numeric=lambda values: -values["x"])
    found, slacks = Gathered(), []
    for value in (1, 2, 3):
        compare_routes(part, Instance({"x": value}), True, found, slacks)
    compare_routes(part, Instance({"x": -1}), False, found, slacks)
    compare_routes(part, Instance({"x": -1}), True, found, slacks)
    assert slacks == [1.0]
    assert [(item.kind, item.message) for item in counted(found.troubles)] == [
        ("disagreement", "part 'p': exact evaluation says the conclusions hold, the numerical slack is below -1e-07 "
                         "(3 times)"),
        ("disagreement", "part 'p': exact evaluation says the conclusions fail, the numerical slack is above 1e-07")]
