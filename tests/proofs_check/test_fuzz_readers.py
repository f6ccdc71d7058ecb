"""Fuzzing the readers of files, small and the same each time, and the certificates that once made the kernel hang."""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random

import pytest
from fuzz_bytes import ENDINGS, TARGETS, seeds
from fuzz_commands import emptied
from fuzz_files import certificate_folder, mutated, sound_claim
from fuzz_oracle import findings, run, tree

from proofs_check.kernel import canonical, digest
from proofs_check.kernel.command import check

COUNTS = {"npy": 60, "npz": 50, "safetensors": 80, "json": 60, "formula": 100}


@pytest.fixture(autouse=True)
def small_budget(monkeypatch) -> None:
    """The kernel's budget for one instance is most of a minute; what is counted is the same with a small one."""
    monkeypatch.setattr("proofs_check.kernel.formula.MAX_STEPS", 200_000)


@pytest.mark.parametrize("name", COUNTS)
def test_bytes_give_a_value_or_a_refusal(tmp_path: Path, name: str) -> None:
    target = TARGETS[name](tmp_path / f"x{ENDINGS[name]}")
    for number, raw in enumerate(seeds(name, COUNTS[name])):
        target(raw)
        if len(raw) < 10_000:
            target(mutated(Random(number), raw))


def test_changed_certificates_never_break_the_check(tmp_path: Path) -> None:
    base = sound_claim()
    for seed in range(60):
        folder = emptied(tmp_path / "f")
        certificate_folder(Random(seed), folder / "run", base)
        before = tree(folder)
        outcome = run(["check", "run"], folder)
        assert findings(["check", "run"], folder, before, outcome, may_be_long=False) == [], (seed, outcome)


def test_the_sound_certificates_are_accepted(tmp_path: Path) -> None:
    for name, raw in sound_claim().items():
        (tmp_path / name).write_bytes(raw)
    rows, malformed, _ = check(tmp_path)
    assert len(rows) == 11 and not malformed and all(row["accepted"] for row in rows)


def with_claim(folder: Path, change) -> dict[str, dict]:
    """The sound claim changed, its certificates following the new digest, in `folder`: the rows by certificate."""
    files = {name: json.loads(raw) for name, raw in sound_claim().items()}
    change(files["claim.json"], files)
    for name, content in files.items():
        if name != "claim.json":
            content["claim_digest"] = digest(files["claim.json"])
        (folder / name).write_bytes(canonical(content))
    return {row["certificate"]: row for row in check(folder)[0]}


@pytest.mark.parametrize("formula", [
    "(((x ** 4096) ** 4096) ** 4096) ** 4096 >= 0", "len(outer(range(5000000), range(5000000))) > 0",
    "len(eye(5000000)) > 0", "psd(eye(2000))", "rank(eye(4000)) > 0",
    "all(i in range(5000000) for i in range(5000000))", "all(max(range(5000000)) > 0 for i in range(5000000))",
    "len(eye(200) @ eye(200) @ eye(200) @ eye(200)) > 0",
    "len(10 ** 4096 * [10 ** 4096 for i in range(5000000)]) > 0",
    "sum(exp(i) for i in range(5000000)) > 0",
])
def test_a_formula_that_would_take_hours_is_rejected(tmp_path: Path, formula: str) -> None:
    rows = with_claim(tmp_path, lambda claim, files: claim["parts"][0].update(conclusions=[formula]))
    reason = rows["cert-a.json"]["reason"]
    assert not rows["cert-a.json"]["accepted"] and ("too many steps" in reason or "too long" in reason)


@pytest.mark.parametrize("formula", [
    "((a ** 4096) ** 4096) ** 4096 > 0", "(a + b + 1) ** 4096 > 0", "((2 ** 4096) ** 4096) ** 4096 > 0",
    "a ** 4096 + b ** 4096 > 0",
    "(1 + a + a ** 2) ** 3000 * (1 + b) ** 3000 > 0",
])
def test_a_polynomial_that_would_take_hours_is_rejected(tmp_path: Path, formula: str) -> None:
    def change(claim: dict, files: dict) -> None:
        claim["parts"][1].update(conclusions=[formula])
        files["cert-f.json"]["body"]["lemmas"] = [{"formula": formula, "by": "orthant"}]

    row = with_claim(tmp_path, change)["cert-f.json"]
    assert not row["accepted"] and ("too large" in row["reason"] or "too long" in row["reason"])


def test_more_singular_values_than_a_matrix_has_are_refused(tmp_path: Path) -> None:
    wide = [["1", "0", "0"], ["0", "1", "0"]]

    def change(_claim: dict, files: dict) -> None:
        witnesses = files["cert-k.json"]["body"]["instances"][0]["witnesses"]
        witnesses["v"] = {"left": wide, "values": ["3", "1", "0"], "right": wide}

    assert "more singular values" in with_claim(tmp_path, change)["cert-k.json"]["reason"]


@pytest.mark.parametrize("name", ["claim.json", "cert-a.json"])
@pytest.mark.parametrize("kind", ["pipe", "endless", "folder", "circle"])
def test_what_is_no_plain_file_is_refused_unread(tmp_path: Path, name: str, kind: str) -> None:
    for file, raw in sound_claim().items():
        (tmp_path / file).write_bytes(raw)
    path = tmp_path / name
    path.unlink()
    {"pipe": lambda: os.mkfifo(path), "endless": lambda: path.symlink_to("/dev/zero"), "folder": path.mkdir,
     "circle": lambda: path.symlink_to(name)}[kind]()
    outcome = run(["check", "."], tmp_path)
    assert outcome.code == 2 and len(outcome.stderr.splitlines()) == 1 and name in outcome.stderr, outcome


@pytest.mark.parametrize("uses", [[["E2"]], [{"a": "b"}]])
def test_uses_that_are_no_ids_are_refused(tmp_path: Path, uses: list) -> None:
    for file, raw in sound_claim().items():
        (tmp_path / file).write_bytes(raw)
    (tmp_path / "claim.json").write_bytes(canonical({**json.loads(sound_claim()["claim.json"]), "uses": uses}))
    outcome = run(["check", "."], tmp_path)
    assert outcome.code == 2 and "claim ids" in outcome.stderr, outcome


def test_a_certificate_without_its_claim_is_not_passed_over(tmp_path: Path) -> None:
    for file, raw in sound_claim().items():
        for folder in ("a", "b"):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / file).write_bytes(raw)
    assert run(["check", "."], tmp_path).code == 0
    (tmp_path / "b" / "claim.json").unlink()
    outcome = run(["check", "."], tmp_path)
    assert outcome.code == 2 and "expected claim.json beside every certificate" in outcome.stderr, outcome


def test_claims_that_use_each_other_are_refused(tmp_path: Path) -> None:
    for name, used in (("A", "B"), ("B", "A")):
        (tmp_path / name).mkdir()
        files = {file: json.loads(raw) for file, raw in sound_claim().items() if file in ("claim.json", "cert-a.json")}
        files["claim.json"].update(id=name, uses=[used])
        files["cert-a.json"].update(claim=name, claim_digest=digest(files["claim.json"]))
        for file, content in files.items():
            (tmp_path / name / file).write_bytes(canonical(content))
    outcome = run(["check", "."], tmp_path)
    assert outcome.code == 2 and "in a circle: " in outcome.stderr, outcome
    assert run(["check", "A"], tmp_path).code == 0


def test_an_interrupt_of_the_check_is_said_in_one_line(tmp_path: Path, monkeypatch) -> None:
    import proofs_check.kernel.command as command

    def interrupt(_path: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "check", interrupt)
    outcome = run(["check", "."], tmp_path)
    assert outcome.code == 130 and outcome.stderr == "sinkproof check: interrupted; nothing was written\n"
