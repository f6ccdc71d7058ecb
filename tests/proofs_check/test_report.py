"""A dagger stands where "as stated" rests on words, and nowhere else: in the table, both pages and `show`."""

from __future__ import annotations

import hashlib
import html
from pathlib import Path

import pytest

from proofs_check import report_html
from proofs_check.certificates import certificate, instances_body, write_claim
from proofs_check.claim import Claim, Instance, Part
from proofs_check.commands.claims import _verdict_lines
from proofs_check.kernel import replay_files
from proofs_check.kernel.formal import CLOSED
from proofs_check.report import DAGGER_LINE, markdown, report_document, verdict_shown
from proofs_check.verdict import judge
from proofs_check.verify import ClaimResult, Options

ABOVE = {"name": "t", "minimum": ["1", "1"], "maximum": ["2", "1"]}
PART = Part("p", "2t > 1", parameters=(ABOVE,), conclusions=("2 * t > 1",))
CLAIM = Claim("Z", "doubled", "test", "2t > 1 for t in [1, 2]", parts=(PART,))
ONE = instances_body(PART, [Instance({"t": 1})])
SOURCE = b"Theorem one : True. Proof. exact I. Qed.\n"
SHA = {"One.v": hashlib.sha256(SOURCE).hexdigest()}
PROOFS = {"derivation": {"lemmas": [{"formula": "2 * t > 1", "by": "orthant"}]}, "cover": {"splits": ["leaf"]},
          "formal": {"theorem": "one", "assumptions": CLOSED, "sources": SHA, "toolchain": {"coqc": "8"}},
          "instances": ONE}


@pytest.fixture
def document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The report of a run in which the part has evidence of these kinds, and a theorem."""
    theorem = {"theorem": "one", "file": "One.v", "sources": SHA}
    monkeypatch.setattr("proofs_check.claim.formal_theorem", lambda claim, part: theorem)

    def made(*kinds: str) -> dict:
        (tmp_path / f"{SHA['One.v']}.v").write_bytes(SOURCE)
        for old in tmp_path.glob("cert-*.json"):
            old.unlink()
        write_claim(tmp_path, CLAIM, [certificate(CLAIM, "p", "satisfiable", "instances", "ledger", ONE)]
                    + [certificate(CLAIM, "p", "evidence", kind, kind, PROOFS[kind]) for kind in kinds])
        accepted, rejected = replay_files(tmp_path)
        assert not rejected, rejected
        verdict = judge(CLAIM, [record for _, record in accepted])
        return report_document([ClaimResult(CLAIM, verdict, tuple(accepted), (), (), {})], Options(tmp_path))

    return made


@pytest.mark.parametrize(("kinds", "headline", "words"), [
    (["derivation"], "PROVED", True), (["cover"], "PROVED", True), (["derivation", "instances"], "PROVED", True),
    (["formal"], "PROVED", False), (["derivation", "formal"], "PROVED", False), (["cover", "formal"], "PROVED", False),
    (["instances"], "PROVED ON", False),
])
def test_the_dagger_is_computed_and_shown_on_every_page(document, kinds: list[str], headline: str, words: bool) -> None:
    report = document(*kinds)
    row, = report["claims"]
    assert (row["headline"], row["reduction_in_words"]) == (headline, words)
    assert "†" not in row["scope"] and "†" not in row["label"]
    shown = [markdown(report), html.unescape(report_html.html(report, {"Z": CLAIM.document()})),
             "\n".join(_verdict_lines(CLAIM, row, Path("out")))]
    for text in shown:
        assert (f"{row['scope']} †" in text, DAGGER_LINE in text) == (words, words)


def test_a_report_from_before_the_dagger_is_still_shown(document) -> None:
    report = document("derivation")
    del report["claims"][0]["reduction_in_words"]
    assert "†" not in report_html.html(report, {"Z": CLAIM.document()}) + markdown(report)


def test_a_verdict_in_one_phrase_says_its_scope_once(document) -> None:
    row, = document("instances")["claims"]
    assert verdict_shown(row) == "PROVED ON instances: 1, exact"
    row, = document("derivation")["claims"]
    assert verdict_shown(row) == "PROVED, exact, as stated †"
    row, = document()["claims"]
    assert verdict_shown(row) == "OPEN"
