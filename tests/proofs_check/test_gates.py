"""Gates that seeded faults got past: each is seen to let pass and to stop."""

from __future__ import annotations

import json

import pytest
from flint import fmpq

from proofs_check.certificates import certificate, instances_body
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.engines.agreement import compare_routes
from proofs_check.engines.gathering import Gathered
from proofs_check.kernel import Rejected, replay
from proofs_check.kernel.formula import decide
from proofs_check.verdict import Trouble, judge
from proofs_check.verify import Options, claim_directory, is_fresh, run_key

PART = Part(name="p", text="", variables={"x": "scalar"}, conclusions=("x >= 0",), satisfiable=Instance({"x": 1}))
CLAIM = Claim("gate", "", "test", "", (PART,))


def record(kind: str, body: dict, tmp_path, role: str = "evidence"):
    return replay(CLAIM.document(), certificate(CLAIM, "p", role, kind, "test", body), tmp_path)


def test_stored_evidence_is_fresh_under_its_own_key_only(tmp_path):
    options = Options(tmp_path)
    folder = claim_directory(options, CLAIM.id)
    assert not is_fresh(CLAIM, options)
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"key": run_key(CLAIM, options)}))
    assert is_fresh(CLAIM, options)
    assert not is_fresh(CLAIM, Options(tmp_path, seed=1)) and not is_fresh(CLAIM, Options(tmp_path, "full"))
    reworded = Claim("gate", "another title", "test", "", (PART,))
    assert not is_fresh(reworded, options)


@pytest.mark.parametrize(("slack", "concludes", "trouble"), [
    (-1e-6, True, True), (1e-6, False, True), (-1e-9, True, False), (1e-9, False, False), (1.0, True, False)])
def test_two_routes_may_differ_by_rounding_and_no_more(slack, concludes, trouble):
    part = Part(name="p", text="", variables={"x": "scalar"}, conclusions=("x >= 0",), numeric=lambda values: slack)
    found, slacks = Gathered(), []
    compare_routes(part, Instance({"x": 1}), concludes, found, slacks)
    assert bool(found.troubles) is trouble and bool(slacks) is not trouble


@pytest.mark.parametrize("kind", ["error", "suspect"])
def test_a_trouble_stops_a_claim_that_has_evidence(kind, tmp_path):
    records = [record("instances", instances_body(PART, [Instance({"x": 1})]), tmp_path, role)
               for role in ("evidence", "satisfiable")]
    assert judge(CLAIM, records).outcome == "holds"
    assert judge(CLAIM, records, [Trouble("p", kind, "broken")]).outcome == kind


@pytest.mark.parametrize(("trials", "accepted"), [(459, True), (458, False)])
def test_the_bound_of_a_sample_follows_from_its_size(trials, accepted, tmp_path):
    event = Claim("gate", "", "test", "", (Part(name="p", text="", quantifier="probability", variables={"x": "scalar"},
                                               conclusions=("x >= 0",)),))
    item = certificate(event, "p", "evidence", "sampling", "test", {
        "trials": str(trials), "probability_at_most": ["1", "100"], "confidence": ["99", "100"]})
    if accepted:
        assert replay(event.document(), item, tmp_path).grade == "sampled"
    else:
        with pytest.raises(Rejected, match="does not follow"):
            replay(event.document(), item, tmp_path)


@pytest.mark.parametrize(("matrix", "psd"), [
    ([[1, 0], [0, -1]], False), ([[0, 1], [1, 0]], False), ([[-1]], False), ([[1, 1], [1, 1]], True), ([[0]], True)])
def test_semidefiniteness_sees_negative_and_zero_pivots(matrix, psd):
    assert decide({"m": matrix}, [], [], ["psd(m)"], {})[1] is psd


def test_one_instance_twice_is_one_instance(tmp_path):
    twice = {"instances": instances_body(PART, [Instance({"x": 1})])["instances"] * 2}
    with pytest.raises(Rejected, match="twice"):
        record("instances", twice, tmp_path)


def test_an_instance_that_fails_is_no_evidence_and_one_that_holds_no_counterexample(tmp_path):
    with pytest.raises(Rejected, match="conclusion fails"):
        record("instances", instances_body(PART, [Instance({"x": -1})]), tmp_path)
    with pytest.raises(Rejected, match="conclusions hold"):
        record("counterexample", instances_body(PART, [Instance({"x": 1})]), tmp_path, "refuted")


@pytest.mark.parametrize(("text", "truth"), [
    ("True and False", False), ("False and True", False), ("True and True", True), ("False or True", True),
    ("True or False", True), ("False or False", False)])
def test_connectives_have_their_truth_tables(text, truth):
    assert decide({}, [], [], [text], {})[1] is truth


def test_weights_of_both_signs_show_no_zero_in_the_hull():
    rows = {"v": [[fmpq(1)], [fmpq(2)]]}
    with pytest.raises(Rejected, match="must be positive"):  # 2·1 - 1·2 = 0, but zero is not in [1, 2]
        decide(rows, [], [], ["not separable(v, 'h')"], {"h": {"weights": [["0", "2"], ["1", "-1"]]}})


def test_what_a_decomposition_leaves_over_counts_in_the_norm():
    nothing = {"s": {"left": [["1"]], "values": ["0"], "right": [["1"]]}}
    with pytest.raises(Rejected, match="not shown"):
        decide({"m": [[fmpq(1)]]}, [], [], ["norm_at_most(m, 1, 1/2, 's')"], nothing)


def test_an_instance_that_violates_a_hypothesis_is_no_evidence(tmp_path):
    part = Part(name="p", text="", variables={"x": "scalar"}, hypotheses=(Hypothesis("large", "", "x > 5"),),
                conclusions=("x >= 0",))
    claim = Claim("gate", "", "test", "", (part,))
    item = certificate(claim, "p", "evidence", "instances", "test", instances_body(part, [Instance({"x": 1})]))
    with pytest.raises(Rejected, match="violates a hypothesis"):
        replay(claim.document(), item, tmp_path)


def test_the_weaker_of_two_parts_gives_the_headline_and_the_grade(tmp_path):
    other = Part(name="q", text="", variables={"x": "scalar"}, conclusions=("x >= 0",))
    claim = Claim("gate", "", "test", "", (PART, other))
    body = instances_body(PART, [Instance({"x": 1})])
    items = [certificate(claim, name, role, "instances", "test", body)
             for name, role in (("p", "evidence"), ("p", "satisfiable"), ("q", "satisfiable"))]
    items.append(certificate(claim, "q", "evidence", "search", "test", {"examples": "9", "seed": "0"}))
    verdict = judge(claim, [replay(claim.document(), item, tmp_path) for item in items])
    assert (verdict.headline, verdict.grade) == ("SUPPORTED", "searched")
