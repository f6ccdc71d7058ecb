from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from proofs_check.formal import gate, rocq
from proofs_check.formal.gate import CLOSED, main, run_gate
from proofs_check.formal.listing import pin, read_list
from proofs_check.formal.separate import judge_summary

pytestmark = pytest.mark.usefixtures("needs_rocq")

SUMMARY = """
CONTEXT SUMMARY
===============

* Theory: Set is predicative

* Axioms: <none>

* Constants/Inductives relying on type-in-type: <none>

* Constants/Inductives relying on unsafe (co)fixpoints: <none>

* Inductives whose positivity is assumed: <none>
"""


def reasons(result: gate.GateResult) -> str:
    return " | ".join([*result.problems, *(t.reason for t in result.theorems)])


def test_the_original_sources_are_accepted(sources: Path, cache: Path):
    result = run_gate(sources, cache=cache)
    assert result.passed and len(result.accepted) == 2 and not result.rejected
    second = next(t for t in result.theorems if t.claim == "X2")
    assert second.assumptions == CLOSED
    assert second.statement == "forall n : nat, n = 1%N -> (n + 2)%N = three"
    assert second.source_sha256 == hashlib.sha256((sources / "Second.v").read_bytes()).hexdigest()
    assert dict(result.versions)["coq"][0].isdigit()


def test_nothing_is_written_beside_the_sources(sources: Path, cache: Path):
    before = sorted(p.name for p in sources.iterdir())
    run_gate(sources, cache=cache)
    assert sorted(p.name for p in sources.iterdir()) == before


def test_a_cached_run_gives_the_same_result_as_a_fresh_one(sources: Path, cache: Path):
    assert run_gate(sources, cache=cache) == run_gate(sources, cache=cache) == run_gate(sources)


def test_the_compiler_by_itself_accepts_an_admitted_falsehood(needs_rocq, tmp_path: Path):
    (tmp_path / "Trap.v").write_text("Theorem absurd : False. Admitted.\n")
    assert subprocess.run(["coqc", "-q", "Trap.v"], cwd=tmp_path, capture_output=True, check=False).returncode == 0


def test_an_admitted_theorem_is_rejected_twice_over(sources: Path, cache: Path, edit):
    edit("First.v", "by []. Qed.", "Admitted.")
    result = run_gate(sources, cache=cache)
    assert not result.passed and not result.accepted
    assert "line 4: Admitted" in reasons(result)
    assert "X1_sum rests on more than Rocq's rules" in reasons(result)


def test_an_axiom_under_a_theorem_is_named(sources: Path, cache: Path, edit):
    edit("First.v", "Definition three := 3.", "Definition three := 3. Axiom hidden : 1 + 2 = three.")
    edit("First.v", "by []. Qed.", "exact: hidden. Qed.")
    result = run_gate(sources, cache=cache)
    assert not result.passed
    assert "Axioms: First.hidden : 1 + 2 = First.three" in reasons(result)


def test_an_axiom_that_no_theorem_uses_is_rejected_too(sources: Path, cache: Path, edit):
    edit("First.v", "Definition three := 3.", "Definition three := 3. Parameter spare : False.")
    result = run_gate(sources, cache=cache)
    assert not result.passed and all(t.accepted for t in result.theorems) and not result.accepted
    assert "Parameter" in reasons(result)


def test_an_axiom_that_the_source_reader_misses_is_caught_by_rocq(
    sources: Path, cache: Path, edit, monkeypatch
):
    monkeypatch.setattr(gate, "escapes", lambda source: ())
    edit("First.v", "by []. Qed.", "Admitted.")
    result = run_gate(sources, cache=cache)
    assert not result.passed and [t.theorem for t in result.rejected] == ["X1_sum"]


def test_a_renamed_theorem_is_rejected_and_the_others_keep_their_answer(sources: Path, cache: Path, edit):
    edit("First.v", "Theorem X1_sum", "Theorem X1_total")
    result = run_gate(sources, cache=cache)
    assert [t.theorem for t in result.rejected] == ["X1_sum"]
    assert [t.theorem for t in result.accepted] == ["X2_add"]
    assert "X1_sum was not found" in reasons(result)


def test_a_renamed_satisfiability_lemma_is_rejected(sources: Path, cache: Path, edit):
    edit("Second.v", "Lemma X2_satisfiable", "Lemma X2_possible")
    assert [t.theorem for t in run_gate(sources, cache=cache).rejected] == ["X2_add"]


def test_a_changed_source_is_rejected_until_it_is_pinned(sources: Path, cache: Path, edit):
    edit("First.v", "One and two are three.", "Two and one are three.", pinned=False)
    result = run_gate(sources, cache=cache)
    assert not result.passed and "First.v is not the pinned source" in reasons(result)
    pin(sources)
    assert run_gate(sources, cache=cache).passed


def test_a_false_statement_does_not_build_and_takes_down_what_needs_it(sources: Path, cache: Path, edit):
    edit("First.v", "1 + 2 = three", "1 + 2 = three.+1")
    result = run_gate(sources, cache=cache)
    assert not result.accepted
    assert "First.v does not build" in reasons(result)
    assert "it needs First.v, which does not build" in reasons(result)


def test_data_is_no_theorem(sources: Path, cache: Path, edit):
    edit("theorems.json", '"X1_sum"', '"three"')
    assert "three is data" in reasons(run_gate(sources, cache=cache))


def test_an_unlisted_source_is_a_problem(sources: Path, cache: Path):
    (sources / "Third.v").write_text("Definition a := 1.\n")
    assert "Third.v is not listed" in reasons(run_gate(sources, cache=cache))


def test_a_missing_source_is_a_problem(sources: Path, cache: Path):
    (sources / "First.v").unlink()
    result = run_gate(sources, cache=cache)
    assert not result.passed and "First.v is listed in theorems.json and does not exist" in reasons(result)


def test_sources_that_require_each_other_are_rejected(sources: Path, cache: Path, edit):
    edit("First.v", "Definition three", "From sinkproof Require Import Second.\nDefinition three")
    assert "in a circle" in reasons(run_gate(sources, cache=cache))


def test_an_empty_list_is_not_a_pass(sources: Path, cache: Path):
    data = json.loads((sources / "theorems.json").read_text())
    (sources / "theorems.json").write_text(json.dumps({**data, "theorems": []}))
    assert not run_gate(sources, cache=cache).passed


@pytest.mark.parametrize(
    "data",
    [
        "[]",
        "{",
        '{"sources": {}}',
        '{"sources": {"../a.v": ""}, "theorems": []}',
        '{"sources": {}, "theorems": [{"claim": "a", "part": "", "file": "A.v", "theorem": "x"}]}',
        '{"sources": {"A.v": ""}, "theorems": [{"claim": "a", "part": "", "file": "A.v", '
        '"theorem": "x. Axiom"}]}',
        '{"sources": {"A.v": ""}, "theorems": [{"claim": "a", "part": "", "file": "A.v"}]}',
    ],
)
def test_a_broken_list_is_one_sentence_and_exit_code_2(tmp_path: Path, data: str, capsys):
    (tmp_path / "theorems.json").write_text(data)
    with pytest.raises(ValueError, match=r"theorems\.json"):
        read_list(tmp_path)
    assert main(["--directory", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_same_part_of_a_claim_twice_is_refused(sources: Path):
    data = json.loads((sources / "theorems.json").read_text())
    (sources / "theorems.json").write_text(json.dumps({**data, "theorems": data["theorems"][:1] * 2}))
    with pytest.raises(ValueError, match="twice"):
        read_list(sources)


def test_the_command_prints_the_count_and_its_exit_code_follows(
    sources: Path, cache: Path, edit, monkeypatch, capsys
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    assert rocq.default_cache() == cache / "sinkproof" / "formal"
    assert main(["--directory", str(sources), "--statements"]) == 0
    out = capsys.readouterr().out
    assert "2 theorems accepted, 0 rejected" in out and "(n + 2)%N = three" in out
    edit("First.v", "X1_sum", "X1_total", pinned=False)
    assert main(["--directory", str(sources), "--pin"]) == 1
    assert "1 theorems accepted, 1 rejected" in capsys.readouterr().out


def test_without_rocq_the_exit_code_is_3_and_one_sentence_says_what_to_install(
    sources: Path, monkeypatch, capsys
):
    monkeypatch.setattr(rocq.shutil, "which", lambda name: None)
    assert main(["--directory", str(sources)]) == 3
    assert capsys.readouterr().err.strip().startswith("Rocq is not installed")


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setattr(rocq, "MATHCOMP", ("algebra/no_such_file.vo",))
    with pytest.raises(rocq.RocqMissing, match="no_such_file"):
        rocq.find_toolchain()


def test_the_module_runs_as_a_program():
    command = [sys.executable, "-m", "proofs_check.formal.gate", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0 and "--coqchk" in done.stdout


def test_the_separate_checkers_clean_summary_is_accepted():
    assert judge_summary(0, SUMMARY)[1] == ()
    numbers = "Axioms:\n    Coq.Numbers.Cyclic.Int63.PrimInt63.add\n    Coq.Floats.PrimFloat.sub"
    built_in = SUMMARY.replace("Axioms: <none>", numbers)
    kept, problems = judge_summary(0, built_in)
    assert problems == () and "PrimInt63" not in kept


@pytest.mark.parametrize(
    "old, new",
    [
        ("Axioms: <none>", "Axioms:\n    sinkproof.First.hidden"),
        ("Axioms: <none>", "Axioms:\n    Coq.Logic.Classical_Prop.classic"),
        ("type-in-type: <none>", "type-in-type:\n    sinkproof.First.f"),
        ("fixpoints: <none>", "fixpoints:\n    sinkproof.First.f"),
        ("assumed: <none>", "assumed:\n    sinkproof.First.f"),
        ("* Axioms: <none>", ""),
        ("CONTEXT SUMMARY", ""),
    ],
)
def test_each_line_of_the_separate_checkers_summary_can_reject(old: str, new: str):
    assert old in SUMMARY and judge_summary(0, SUMMARY.replace(old, new))[1]


def test_a_failing_separate_checker_rejects_whatever_it_printed():
    assert judge_summary(1, SUMMARY)[1]


@pytest.mark.slow
def test_the_separate_checker_accepts_the_originals_and_rejects_an_axiom(
    sources: Path, cache: Path, edit, monkeypatch
):
    result = run_gate(sources, cache=cache, coqchk=True)
    assert result.passed and "Axioms: <none>" in result.coqchk
    monkeypatch.setattr(gate, "escapes", lambda source: ())
    edit("First.v", "Definition three", "Axiom spare : False.\nDefinition three")
    result = run_gate(sources, cache=cache, coqchk=True)
    assert not result.passed and "sinkproof.First.spare" in reasons(result)
