"""The example claims of other papers: their verdicts, their ledger, and what is said beside them."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from numerics.attention import causal_mask, causal_uniform_attention, logits, softmax_attention
from numerics.layer import one_step
from numerics.sink_metrics import importance
from proofs_check import examples
from proofs_check.claims.registry import load_claims
from proofs_check.examples import family
from proofs_check.report import exit_code, report_document
from proofs_check.verify import Options, verify

FOLDER = Path(examples.__file__).parent
FAMILY = FOLDER / "family.py"


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    options = Options(tmp_path_factory.mktemp("examples"), claims_file=FAMILY)
    return report_document(verify((), options), options)


def row(document: dict, name: str) -> dict:
    return next(item for item in document["claims"] if item["id"] == name)


@pytest.mark.parametrize(("name", "headline", "scope"), [
    ("X1", "PROVED ON", "instances"), ("X2", "PROVED", "as stated"), ("X3", "PROVED ON", "instances"),
])
def test_an_example_reaches_its_verdict(document, name: str, headline: str, scope: str) -> None:
    found = row(document, name)
    assert found["headline"] == headline and scope in found["scope"] and found["reached"]
    assert found["reduction_in_words"] is (name == "X2")  # its two inductions are said in words
    assert found["neighbours"]["planted"] == found["neighbours"]["killed"] >= 3


def test_the_family_passes(document) -> None:
    assert exit_code(document) == 0 and [item["id"] for item in document["claims"]] == ["X1", "X2", "X3"]


@pytest.mark.parametrize(("name", "needed"), [
    ("X1", {"repeated", "no position", "ten tokens"}), ("X2", {"so far", "falling"}),
    ("X3", {"logit zero", "value zero", "margins"}),
])
def test_the_ledger_says_which_hypotheses_are_needed(document, name: str, needed: set[str]) -> None:
    said = {item["name"] for item in row(document, name)["hypotheses"] if item["needed"] == "needed"}
    assert said == needed


@pytest.mark.parametrize("command", [["show"], ["falsify", "--drop", "repeated", "--budget", "20"]],
                         ids=["show", "falsify"])
def test_an_own_claim_can_be_shown_and_attacked(command: list[str], tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "proofs_check", command[0], "X1", *command[1:], "--claims", FAMILY,
                           "--out", tmp_path], capture_output=True, text=True)
    assert done.returncode == (0 if command == ["show"] else 1), done.stderr
    assert "X1" in done.stdout and "equal shares" in done.stdout


def test_every_example_file_loads_by_itself_and_the_family_has_them_all() -> None:
    listed = subprocess.run([sys.executable, "-m", "proofs_check.examples"], capture_output=True, text=True, check=True)
    paths = [Path(line) for line in listed.stdout.splitlines()]
    single = [claim for path in paths if path.name != "family.py" for claim in load_claims(path)]
    assert sorted(claim.id for claim in single) == sorted(claim.id for claim in family.CLAIMS)
    assert {path.name for path in paths} == {path.name for path in FOLDER.glob("[a-z]*.py")}


def test_repeated_tokens_stay_repeated_through_a_layer() -> None:
    """What lets X1 be applied layer by layer: softmax attention and the step give equal outputs."""
    rng = np.random.default_rng(0)
    tokens, w_qk, w_vo = np.tile(rng.normal(size=4), (7, 1)), rng.normal(size=(4, 4)), rng.normal(size=(4, 4))
    attention = softmax_attention(logits(tokens, w_qk), causal_mask(7))
    np.testing.assert_allclose(attention, causal_uniform_attention(7), atol=1e-15)
    out = np.asarray(one_step(tokens, attention, w_vo))
    np.testing.assert_allclose(out, np.tile(out[0], (7, 1)), atol=1e-12)


@pytest.mark.parametrize("t", [3, 9, 10, 40])
def test_ten_tokens_are_where_the_first_key_stops_being_a_sink(t: int) -> None:
    harmonic = sum((Fraction(1, i) for i in range(1, t + 1)), Fraction(0))
    score = float(importance(causal_uniform_attention(t))[0])
    assert score == pytest.approx(float(harmonic / t)) and (score > 0.3) is (t < 10)


def test_the_tutorials_broken_version_does_not_pass(tmp_path: Path) -> None:
    source = (FOLDER / "repeated_tokens.py").read_text(encoding="utf-8")
    broken = source.replace('"t >= 10", "t >= 10", Instance', '"t >= 9", "t >= 9", Instance')
    assert broken != source
    (tmp_path / "broken.py").write_text(broken, encoding="utf-8")
    options = Options(tmp_path / "out", claims_file=tmp_path / "broken.py")
    assert exit_code(report_document(verify((), options), options)) != 0
