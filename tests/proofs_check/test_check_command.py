"""`sinkproof check` says what it only read, and which false neighbours nothing in the folder refutes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from proofs_check.certificates import certificate, instances_body, write_claim
from proofs_check.claim import Claim, Instance, Part
from proofs_check.kernel import canonical, digest, read_json
from proofs_check.kernel.command import REBUILD, main
from proofs_check.kernel.formal import CLOSED

PART = Part("p", "x below two", variables={"x": "scalar"}, conclusions=("x < 2",))
FALSE = tuple(PART.vary(f"below {k}", "constant moved", f"x below {k}", Instance({"x": 1}), conclusions=(f"x < {k}",))
              for k in (0, 1))
CLAIM = Claim("Z", "", "test", "", parts=(PART,), variants=FALSE)
SOURCE = b"Theorem one : True. Proof. exact I. Qed.\n"


def stored(folder: Path, refuted: int, formal: bool) -> Path:
    """One instance of the part, counterexamples to so many neighbours, and a recorded build if wanted."""
    def made(target: str, role: str, kind: str, x: int) -> dict:
        return certificate(CLAIM, target, role, kind, "test", instances_body(PART, [Instance({"x": x})]))

    found = [made("p", "evidence", "instances", 1)]
    found += [made(item.part.name, "refuted", "counterexample", 1) for item in FALSE[:refuted]]
    folder.mkdir()
    write_claim(folder, CLAIM, found)
    if formal:
        claim, sources = read_json(folder / "claim.json"), {"One.v": hashlib.sha256(SOURCE).hexdigest()}
        claim["parts"][0]["formal"] = {"theorem": "one", "file": "One.v", "sources": sources}
        (folder / f"{sources['One.v']}.v").write_bytes(SOURCE)
        body = {"theorem": "one", "assumptions": CLOSED, "sources": sources, "toolchain": {"coqc": "8"}}
        record = certificate(CLAIM, "p", "evidence", "formal", "rocq", body)
        (folder / "claim.json").write_bytes(canonical(claim))
        (folder / "cert-formal.json").write_bytes(canonical(record))
        for path in folder.glob("cert-*.json"):
            path.write_bytes(canonical({**read_json(path), "claim_digest": digest(claim)}))
    return folder


def last_lines(folder: Path, capsys: pytest.CaptureFixture) -> list[str]:
    assert main([str(folder)]) == 0
    return capsys.readouterr().out.splitlines()


def test_a_recorded_build_is_said_to_be_one(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    said = last_lines(stored(tmp_path / "a", 2, formal=True), capsys)
    assert "accepted  Z    p: evidence: holds, kernel, as stated (recorded build, not rebuilt)" in said
    assert said[-1] == ("4 certificates accepted, 0 rejected; 1 with a recorded build, not rebuilt "
                        f"(to rebuild: {REBUILD})")
    said = last_lines(stored(tmp_path / "b", 2, formal=False), capsys)
    assert said[-1] == "3 certificates accepted, 0 rejected" and "build" not in "".join(said)


def test_a_neighbour_without_a_counterexample_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert "neighbours" not in "".join(last_lines(stored(tmp_path / "a", 2, formal=False), capsys))
    folder = stored(tmp_path / "b", 1, formal=False)
    assert last_lines(folder, capsys)[-2] == "neighbours with a counterexample here: 1 of 2 (Z 1 of 2)"
    assert "neighbours" not in "".join(last_lines(next(folder.glob("cert-*evidence*.json")), capsys))


def test_a_rejected_counterexample_does_not_count(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    folder = stored(tmp_path / "a", 2, formal=False)
    path = next(folder.glob("cert-*refuted*.json"))
    wrong = instances_body(PART, [Instance({"x": -1})])
    path.write_bytes(canonical({**read_json(path), "body": wrong}))
    assert main([str(folder)]) == 1
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "neighbours with a counterexample here: 1 of 2 (Z 1 of 2)", "2 certificates accepted, 1 rejected"]
