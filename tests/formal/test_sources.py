"""The committed Rocq sources: what can be said without Rocq, and, marked slow, the gate and the mutants themselves."""

from __future__ import annotations

import re

import pytest

from proofs_check.formal.gate import run_gate
from proofs_check.formal.listing import HERE, read_list
from proofs_check.formal.mutants import as_proposition, mutate, read_mutants, run_mutants
from proofs_check.formal.rocq import build_order, default_cache, sha256
from proofs_check.formal.vernacular import blank_comments_and_strings, escapes

PINNED, ENTRIES = read_list()
SOURCES = {file: (HERE / file).read_text(encoding="utf-8") for file in PINNED}


def test_every_source_is_listed_and_every_listed_source_exists():
    assert sorted(PINNED) == sorted(p.name for p in HERE.glob("*.v"))


@pytest.mark.parametrize("file", sorted(PINNED))
def test_a_source_has_its_pinned_digest_and_no_escape(file: str):
    assert sha256((HERE / file).read_bytes()) == PINNED[file]
    assert escapes(SOURCES[file]) == ()


def test_the_sources_can_be_put_in_an_order():
    assert len(build_order({file[:-2]: text for file, text in SOURCES.items()})) == len(PINNED)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.theorem)
def test_a_named_theorem_stands_in_its_file_under_a_statement_in_words(entry):
    text = SOURCES[entry.file]
    blank = blank_comments_and_strings(text)
    found = re.search(rf"^(Theorem|Lemma) {re.escape(entry.theorem)}\b", blank, re.MULTILINE)
    assert found, f"{entry.theorem} is not stated in {entry.file}"
    assert text[: found.start()].rstrip().endswith("*)"), "the statement in words is missing above it"
    if entry.satisfiable:
        assert re.search(rf"^Lemma {re.escape(entry.satisfiable)}\b", text, re.MULTILINE)


@pytest.mark.parametrize("claim", "G1 G2 G3 G4 G5 E1 E2 E3 E4 E5 E6 E7 E8 S1 M1".split())
def test_a_claim_of_these_families_has_a_formal_part(claim: str):
    assert any(entry.claim == claim for entry in ENTRIES)


def test_there_are_enough_mutants_and_each_changes_its_statement():
    mutants = read_mutants()
    assert len(mutants) >= 25 and sum(bool(m.negation) for m in mutants) >= 10
    for mutant in mutants:
        changed = mutate(SOURCES[mutant.file], mutant)[2]
        assert changed not in SOURCES[mutant.file]
        assert as_proposition(changed)
        if mutant.negation:
            module, lemma = mutant.negation.split(".")
            assert re.search(rf"^Lemma {lemma}\b", SOURCES[f"{module}.v"], re.MULTILINE)


@pytest.mark.slow
@pytest.mark.usefixtures("needs_rocq")
def test_the_gate_accepts_every_committed_theorem():
    result = run_gate(cache=default_cache())
    assert result.problems == ()
    assert [t.reason for t in result.rejected] == []
    assert len(result.accepted) == len(ENTRIES)


@pytest.mark.slow
@pytest.mark.usefixtures("needs_rocq")
def test_no_mutant_builds_and_each_named_negation_is_proved():
    """One theorem of each file; the full profile of `verify` and the command `formal.mutants` try them all."""
    first = {mutant.file: mutant.theorem for mutant in reversed(read_mutants())}
    reports = run_mutants(cache=default_cache(), only=frozenset(first.values()))
    assert {r.mutant.file for r in reports} == set(first)
    assert [r.reason for r in reports if not r.killed] == []
    assert all(r.negated for r in reports if r.mutant.negation)
