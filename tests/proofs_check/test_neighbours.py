"""False neighbours: enough of them, by every operator; each engine is seen to kill, and to be told when it cannot."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction

import pytest

from proofs_check import cli
from proofs_check.claim import OPERATORS, Claim, Hypothesis, Instance, Part
from proofs_check.claims import all_claims, claim_by_id
from proofs_check.engines.derivations import lemma_table
from proofs_check.kernel import replay
from proofs_check.neighbours import ARMS, derive, plant
from proofs_check.report import claim_row, total_by_engine
from proofs_check.verdict import judge
from proofs_check.verify import ClaimResult, Options

SQUARE = Part(name="square", text="", variables={"x": "scalar"}, hypotheses=(Hypothesis("large", "", "x >= 1"),),
              conclusions=("x * x >= x",), satisfiable=Instance({"x": 2}),
              instances=[Instance({"x": k}) for k in (1, 2, 3, 5, 8)])


def one(*variants) -> Claim:
    return Claim("own", "own", "test", "own", (SQUARE,), variants)


@pytest.mark.parametrize("claim", all_claims(), ids=lambda claim: claim.id)
def test_every_claim_has_at_least_three_neighbours_by_named_operators(claim):
    assert len(claim.variants) >= 3 and {item.operator for item in claim.variants} <= set(OPERATORS)


def test_there_are_150_neighbours_and_every_operator_is_used():
    used = Counter(item.operator for claim in all_claims() for item in claim.variants)
    assert sum(used.values()) >= 150 and set(used) == set(OPERATORS)


def engines_that_kill(claim: Claim) -> dict[str, set[str]]:
    planted = plant(claim, "full", 0)
    return {name: {item["engine"] for item in planted.certificates if item["target"] == name}
            for name in (item.part.name for item in claim.variants)}


def test_each_arm_kills_by_itself_what_it_can_and_nothing_else(tmp_path):
    strict = SQUARE.vary("strict", "strict for non-strict", "", Instance({"x": 1}), conclusions=("x * x > x",))
    below = SQUARE.vary("any x", "drop hypothesis", "", Instance({"x": Fraction(1, 2)}), drop=("large",))
    killed = engines_that_kill(one(strict, below))
    assert {"instances", "changed", "optimiser", "samples"} <= killed["strict"]
    assert killed["any x"] >= {"changed"} and not killed["any x"] & {"instances", "samples"}  # these only know x >= 1
    assert all("search" not in found for found in killed.values())  # there is no strategy


def test_a_kill_is_a_certificate_that_the_kernel_replays(tmp_path):
    claim = one(SQUARE.vary("strict", "strict for non-strict", "", Instance({"x": 1}), conclusions=("x * x > x",)))
    found = plant(claim, "full", 0)
    assert found.certificates and {replay(claim.document(), item, tmp_path).outcome
                                   for item in found.certificates} == {"refuted"}


def test_a_neighbour_that_is_true_is_killed_by_no_engine():
    claim = one(SQUARE.vary("larger", "trap", "", Instance({"x": 1}), conclusions=("x * x + 1 > x",)))
    assert engines_that_kill(claim) == {"larger": set()}


def symbolic(*conclusions: str) -> Part:
    return Part(name="p", text="", parameters=({"name": "T", "minimum": ["2", "1"]},), conclusions=conclusions)


LEMMAS = [{"formula": "T*T - 2*T >= 0", "by": "orthant"}, {"formula": "(T + 1)**2 == T*T + 2*T + 1", "by": "identity"}]


@pytest.mark.parametrize(("conclusion", "proved"), [
    ("T*T - 2*T >= 0", True), ("T*T - T > 0", True), ("(T - 1)**2 == T*T - 2*T + 1", True),
    ("T*T - 2*T > 0", False), ("T - 3 >= 0", False), ("(T - 1)**2 == T*T - 2*T", False)])
def test_a_derivation_goes_through_for_what_is_true_and_not_for_what_is_false(conclusion, proved):
    statement = Claim("own", "", "test", "", (symbolic(conclusion),)).document()["parts"][0]
    tried, stopped = derive(statement, LEMMAS)
    assert (stopped == "") is proved and tried >= 2


@pytest.mark.parametrize("name", ["O3", "O5", "O8", "C13"])
def test_the_same_engine_proves_the_true_statements_by_their_own_lemmas(name):
    claim = claim_by_id(name)
    statements = {table["name"]: table for table in claim.document()["parts"]}
    parts = [part for part in claim.parts if part.derivation is not None]
    assert parts and all(derive(statements[part.name], [lemma_table(item)
                                                        for item in part.derivation().lemmas])[1] == ""
                         for part in parts)


OWN = '''
from proofs_check.claim import Claim, Instance, Part
from theory.statements import Derivation, Lemma, Parameter

def recipe():
    return Derivation((Parameter("T", minimum="2"),), {}, {}, (Lemma("T*T - 2*T >= 0", "orthant"),))

PART = Part(name="p", text="", parameters=({"name": "T", "minimum": ["2", "1"]},), conclusions=("T*T - 2*T >= 0",),
            satisfiable=Instance({"T": 2}), derivation=recipe)
CLAIM = Claim("own", "own", "test", "own", (PART,),
              (PART.vary("weaker", "trap", "", Instance({"T": 2}), conclusions=("T*T - T > 0",)),))
'''


def test_a_neighbour_that_a_derivation_proves_is_an_error_of_the_claim(tmp_path, monkeypatch, capsys):
    path = tmp_path / "own.py"
    path.write_text(OWN)
    monkeypatch.setattr("sys.argv", ["sinkproof", "verify", "--claims", str(path), "--out", str(tmp_path / "out"),
                                     "--jobs", "1", "--json"])
    assert cli.main() == 4
    row = json.loads(capsys.readouterr().out)["claims"][0]
    assert row["headline"] == "ERROR" and "the derivation engine proves it" in " ".join(row["reasons"])
    assert row["neighbours"]["by_engine"]["derivation"] == {"planted": 1, "killed": 0}


def test_the_report_counts_by_engine_and_lists_who_killed(tmp_path):
    claim = one(SQUARE.vary("strict", "strict for non-strict", "", Instance({"x": 1}), conclusions=("x * x > x",)))
    planted = plant(claim, "full", 0)
    records = [(f"cert-{item['engine']}.json", replay(claim.document(), item, tmp_path))
               for item in planted.certificates]
    result = ClaimResult(claim, judge(claim, []), tuple(records), (), (), {}, tuple(planted.attempts))
    row = claim_row(result, Options(tmp_path))["neighbours"]
    listed, table = row["listed"][0], row["by_engine"]
    assert listed["killed_by"] == [engine for engine in ARMS
                                   if f"cert-{engine}.json" in dict(records)] and listed["grade"] == "exact"
    assert table["ledger"] == {"planted": 1, "killed": 0} and table["changed"] == {"planted": 1, "killed": 1}
    assert "search" not in table and "formal" not in table
    assert total_by_engine([{"neighbours": row}] * 2)["changed"] == {"planted": 2, "killed": 2}
