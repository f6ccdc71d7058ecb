"""Everything dropped, one at a time: the sweep goes on where it stopped, its results replay, the page says the same."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from proofs_check import cli, falsification
from proofs_check.certificates import certificate, instances_body
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims import all_claims, claim_by_id
from proofs_check.claims.found import found_table, read, with_found
from proofs_check.claims.registry import written_claims
from proofs_check.commands.claims import ledger_rows
from proofs_check.kernel import Rejected, replay

PART = Part(name="p", text="", parameters=({"name": "T", "minimum": ["2", "1"]},),
            hypotheses=(Hypothesis("idle", "", "T * T >= 0"),), conclusions=("T * T >= 2 * T",),
            satisfiable=Instance({"T": 3}))
CLAIM = Claim("own", "own", "test", "own", (PART,))


def sweep(tmp_path, seen: list) -> list[dict]:
    return falsification.sweep(CLAIM, 60, 0, tmp_path, seen.append)


def test_hypotheses_and_bounds_are_dropped_one_at_a_time(tmp_path):
    entries = {entry["subject"]: entry for entry in sweep(tmp_path, [])}
    assert list(entries) == ["idle", "minimum of T"]
    assert entries["idle"]["outcome"] == "nothing found" and entries["idle"]["instance"] is None
    found = entries["minimum of T"]
    assert found["outcome"] == "refuted" and 0 < Fraction(*map(int, found["instance"]["values"]["T"])) < 2


def test_what_was_done_is_not_done_again(tmp_path, monkeypatch):
    first, seen = sweep(tmp_path, []), []
    path = tmp_path / "falsification" / "own.json"
    half = json.loads(path.read_text())
    half["entries"].pop()
    path.write_text(json.dumps(half))
    calls = []
    monkeypatch.setattr(falsification, "attack", lambda *given: calls.append(given[2]) or attack(*given))
    assert sweep(tmp_path, seen) == first and calls == ["minimum of T"] and len(seen) == 2
    monkeypatch.setattr(falsification, "code_digest", lambda: "other code")
    calls.clear()
    assert sweep(tmp_path, []) == first and calls == ["idle", "minimum of T"]


attack = falsification.attack


def test_unfinished_results_are_refused_in_one_sentence(tmp_path, capsys):
    assert falsification.main(["--out", str(tmp_path)]) == 2
    assert "run sinkproof falsify --all" in capsys.readouterr().err


def test_the_page_is_what_the_results_say():
    assert falsification.main(["--check"]) == 0
    assert falsification.text_of(found_table()) == falsification.FOUND.read_text(encoding="utf-8")
    claims = written_claims()
    table = falsification.counted(found_table()["entries"], falsification.standing(claims))
    assert set(table) == {claim.id for claim in claims if falsification.droppable(claim)}
    assert sum(row["needed"][1] for row in table.values()) >= 300
    assert sum(row["bound"][1] for row in table.values()) >= 200


@pytest.mark.parametrize("claim", written_claims(), ids=lambda claim: claim.id)
def test_everything_that_can_be_dropped_was_and_what_was_found_replays(claim, tmp_path):
    entries = {(entry["part"], entry["subject"]): entry for entry in found_table()["entries"]
               if entry["claim"] == claim.id}
    assert set(entries) >= {(part.name, subject) for part, subject in falsification.droppable(claim)}, \
        "run sinkproof falsify --all and python -m proofs_check.falsification"
    document, parts = claim.document(), {part.name: part for part in claim.parts}
    base = certificate(claim, "", "dropped", "counterexample", "falsify", {})
    for (name, subject), entry in entries.items():
        if entry["instance"] is not None and name in parts:
            instance = read(parts[name], entry["instance"])
            item = {**base, "target": name, "subject": subject, "body": instances_body(parts[name], [instance])}
            record = replay(document, item, tmp_path)
            assert (record.role, record.outcome) == ("dropped", "refuted")


def test_the_ledger_is_completed_where_nothing_is_written_by_hand():
    before, after = claim_by_id("O5", written_claims()), claim_by_id("O5")
    assert not any(part.bounds for part in before.parts) and any(part.bounds for part in after.parts)
    for old, new in zip(before.parts, after.parts):
        for mine, theirs in zip(old.hypotheses, new.hypotheses):
            assert mine.counterexample is None or theirs.counterexample is mine.counterexample
    assert with_found(CLAIM) is CLAIM and before.document() == after.document()


def test_an_instance_of_other_variables_is_passed_over():
    assert read(PART, {"values": {"x": ["1", "1"]}, "witnesses": {}}) is None
    assert read(PART, {"values": {"T": "one"}, "witnesses": {}}) is None
    assert read(PART, {"values": {"T": ["1", "2"]}, "witnesses": {}}).values == {"T": Fraction(1, 2)}


def test_each_needed_row_of_the_ledger_names_a_certificate_that_replayed():
    for name in ("G5", "O5", "P0"):
        rows = ledger_rows(claim_by_id(name))
        assert rows and {row[3] for row in rows} <= {"needed", "not known to be needed"}
        assert all(row[6].startswith("cert-ledger-") and row[4].startswith("refuted, ")
                   for row in rows if row[3] == "needed")
        assert all((row[4], row[6]) == ("", "") for row in rows if row[3] != "needed")


def test_a_counterexample_that_meets_what_it_should_drop_is_shown_as_rejected(monkeypatch, capsys):
    part = Part(name="p", text="", variables={"x": "scalar"}, conclusions=("x >= 0",), satisfiable=Instance({"x": 1}),
                hypotheses=(Hypothesis("positive", "", "x >= 0", Instance({"x": 1})),))
    claim = Claim("own", "own", "test", "own", (part,))
    monkeypatch.setattr("proofs_check.commands.claims.claim_ids", lambda family: ("own",))
    monkeypatch.setattr("proofs_check.commands.claims.claim_by_id", lambda name: claim)
    monkeypatch.setattr("sys.argv", ["sinkproof", "claims", "--ledger"])
    assert cli.main() == 1
    assert "REJECTED" in capsys.readouterr().out


def test_every_hypothesis_is_needed_or_not_known_to_be_and_nothing_else():
    for claim in all_claims():
        for part in claim.parts:
            assert set(part.bounds) <= set(part.subjects())


def test_a_found_instance_is_rejected_where_it_drops_nothing(tmp_path):
    item = certificate(CLAIM, "p", "dropped", "counterexample", "falsify", instances_body(PART, [Instance({"T": 3})]),
                       "minimum of T")
    with pytest.raises(Rejected, match="meets the bound"):
        replay(CLAIM.document(), item, tmp_path)
