from __future__ import annotations

import json
from pathlib import Path

import pytest

from proofs_check.formal.mutants import as_proposition, header, locate, main, read_mutants, run_mutants

GOOD = {"file": "Second.v", "theorem": "X2_add", "what": "three for two", "replace": "n + 2", "by": "n + 3"}
NEGATION = """From mathcomp Require Import all_ssreflect.
From sinkproof Require Import First.
Lemma N_add : ~ (forall n : nat, n = 1 -> n + 3 = three). Proof. by move/(_ 1 erefl). Qed.
Lemma N_other : ~ (forall n : nat, n = 1 -> n + 4 = three). Proof. by move/(_ 1 erefl). Qed.
"""


@pytest.fixture
def run(sources: Path, cache: Path):
    (sources / "Negations.v").write_text(NEGATION)
    data = json.loads((sources / "theorems.json").read_text())
    data["sources"]["Negations.v"] = ""
    (sources / "theorems.json").write_text(json.dumps(data))

    def run_one(**changes: str):
        (sources / "mutants.json").write_text(json.dumps({"mutants": [{**GOOD, **changes}]}))
        return run_mutants(sources, cache=cache)[0]

    return run_one


@pytest.mark.usefixtures("needs_rocq")
class TestMutants:
    def test_a_false_statement_is_killed(self, run):
        report = run()
        assert report.killed and not report.negated

    def test_its_negation_is_checked_against_the_mutated_statement(self, run):
        assert run(negation="Negations.N_add").negated
        wrong = run(negation="Negations.N_other")
        assert not wrong.killed and "is not its negation" in wrong.reason

    def test_a_true_variant_survives(self, run):
        report = run(replace="= three", by="= 3")
        assert not report.killed and "it builds" in report.reason

    def test_an_ill_typed_variant_is_not_counted_as_killed(self, run):
        report = run(by="m + 2")
        assert not report.killed and "before its proof begins" in report.reason

    def test_a_text_that_is_not_there_is_refused(self, run):
        with pytest.raises(ValueError, match="exactly once"):
            run(replace="n * 2")

    def test_the_command_fails_on_a_survivor_and_on_an_empty_list(
        self, run, sources: Path, cache: Path, monkeypatch, capsys
    ):
        monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
        run()
        assert main(["--directory", str(sources)]) == 0
        run(replace="= three", by="= 3")
        assert main(["--directory", str(sources)]) == 1
        assert "SURVIVED" in capsys.readouterr().out
        (sources / "mutants.json").write_text('{"mutants": []}')
        assert main(["--directory", str(sources)]) == 1


def test_arguments_become_quantifiers():
    assert as_proposition("Theorem t (n : nat) {m : nat} : n = m") == "forall (n : nat) {m : nat}, n = m"
    assert as_proposition("Lemma t' : 1 = 1") == "1 = 1"


def test_the_statement_ends_at_its_full_stop_not_at_a_projection():
    text = "Lemma a (x : nat * nat) : x.1 = x.1. Proof. by []. Qed.\n"
    start, stop, end = locate(text, "a")
    assert text[start:stop] == "Lemma a (x : nat * nat) : x.1 = x.1" and text[:end].endswith("Qed.")


def test_the_header_keeps_scopes_and_drops_definitions():
    text = "From a Require Import b.\nLocal Open Scope ring_scope.\n"
    text += "Local Definition x := 1.\nSet Implicit Arguments. Import c.\n"
    assert header(text).split("\n")[:4] == [
        "From a Require Import b.", "Local Open Scope ring_scope.", "Set Implicit Arguments.", "Import c.",
    ]


def test_a_broken_list_of_mutants_is_refused(tmp_path: Path):
    (tmp_path / "mutants.json").write_text('{"mutants": [{"file": "A.v"}]}')
    with pytest.raises(ValueError, match="mutants.json"):
        read_mutants(tmp_path)
