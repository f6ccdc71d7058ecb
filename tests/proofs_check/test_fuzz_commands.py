"""Fuzzing the command line, small and the same each time; every finding of the long runs stays as a case.

`python tests/proofs_check/fuzzing.py` runs for as long as one likes.
"""

from __future__ import annotations

import json
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from fuzz_commands import Plan, broken_promises, emptied, plans
from fuzz_oracle import Outcome, findings, run, tree
from hypothesis import HealthCheck, Phase, settings
from safetensors.numpy import save_file

CLOUD = np.array([[1.0, 0.5], [1.0, -0.5], [2.0, 0.25]])
OWN = """
import sys
from hypothesis import strategies as st
from proofs_check.claim import Claim, Hypothesis, Instance, Part
def claim(id='MINE', parts=None, **fields):
    given = dict(name='p', text='t', variables={'x': 'scalar'}, conclusions=('x >= 0',), satisfiable=Instance({'x': 4}),
                 instances=lambda seed: [Instance({'x': 4})]) | fields
    return Claim(id=id, title='t', family='own', statement='s', parts=(Part(**given),) if parts is None else parts,
                 required_formal='PROVED ON')
"""


@pytest.fixture(scope="module")
def scratch(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("f")


@settings(max_examples=30, deadline=None, database=None, derandomize=True, phases=(Phase.generate,),
          suppress_health_check=list(HealthCheck))
@hypothesis.given(plan=plans(("inspect", "cost", "verify", "check", "show", "claims", "simulate")))
def test_no_command_line_breaks_a_promise(scratch: Path, plan: Plan) -> None:
    hypothesis.assume(not plan.may_be_long)
    found, story = broken_promises(plan, emptied(scratch / "f"))
    assert found == [], story


def files(folder: Path) -> None:
    """The files that the cases below name."""
    np.save(folder / "x.npy", CLOUD)
    np.save(folder / "huge.npy", np.array([[1e308, 1.0], [2.0, 3.0], [4.0, 1.0]]))
    np.savez(folder / "x.npz", **{"x": CLOUD, "a\nb": CLOUD})
    save_file({"x\ny": CLOUD, "z": CLOUD}, folder / "x.safetensors")
    for name, text in {
        "exits.py": "import sys; sys.exit(0)", "text.py": "CLAIM = CLAIMS = 3", "plain.txt": "CLAIM = 1",
        "no_id.py": OWN + "CLAIM = claim(id='')", "path_id.py": OWN + "CLAIM = claim(id='../x')",
        "no_parts.py": OWN + "CLAIM = claim(parts=3)",
        "raises.py": OWN + "CLAIM = claim(instances=lambda seed: [1 / 0])",
        "stops.py": OWN + "CLAIM = claim(numeric=lambda values: sys.exit(3))",
        "strategy.py": OWN + "CLAIM = claim(strategy=lambda: None)",
        "other.py": OWN + "CLAIM = claim(instances=lambda seed: [3])",
        "long.py": OWN + "CLAIM = claim(conclusions=('x ** 4096 ** 2 >= 0',))",
        "formula.py": OWN + "CLAIM = claim(conclusions=('x >=',))",
        "nan.py": OWN + "CLAIM = claim(satisfiable=Instance({'x': float('nan')}))",
        "lone.py": OWN + "CLAIM = claim(text='\\ud800')", "name.py": OWN + f"CLAIM = claim(name={'p' * 300!r})",
    }.items():
        (folder / name).write_text(text)


REFUSED = {
    "two folders to check": (["check", "a", "b"], "expected DIR or FILE"),
    "a device to check": (["check", "/dev/null"], "found no claim.json"),
    "a path that is too long": (["check", "a" * 5000], "check the path"),
    "a key of an .npy file": (["inspect", "--tokens", "x.npy:k"], "no name for the one array"),
    "a sink's key of an .npy file": (["cost", "--tokens", "x.npy", "--sink", "s"], "no name for the one array"),
    "names with line ends": (["inspect", "--tokens", "x.npz:q"], "name one of these"),
    "safetensors with line ends": (["inspect", "--tokens", "x.safetensors"], "name one"),
    "entries out of range, found late": (["inspect", "--tokens", "huge.npy", "--out", "new/out"], "rescale"),
    "a budget without end": (["falsify", "G5", "--budget", "9" * 30], "at most 10^9"),
    "an output below a file": (["inspect", "--tokens", "x.npy", "--out", "x.npz/out"], "expected"),
    "a claims file that exits": (["verify", "--claims", "exits.py"], "SystemExit"),
    "claims that are no list": (["verify", "--claims", "text.py"], "CLAIMS"),
    "an empty id": (["verify", "--claims", "no_id.py"], "`id`"),
    "an id that is a path": (["verify", "--claims", "path_id.py"], "`id`"),
    "parts that are no sequence": (["verify", "--claims", "no_parts.py"], "`parts`"),
    "instances that raise": (["verify", "--claims", "raises.py"], "ZeroDivisionError"),
    "a numerical route that exits": (["verify", "--claims", "stops.py"], "SystemExit"),
    "a strategy that is none": (["verify", "--claims", "strategy.py"], "strategy"),
    "instances that are none": (["verify", "--claims", "other.py"], "Instance"),
    "a formula that grows without end": (["verify", "--claims", "long.py"], "powers"),
    "a formula that is none": (["verify", "--claims", "formula.py"], "formula"),
    "values that are no numbers": (["verify", "--claims", "nan.py"], "exact numbers"),
    "text that no file can hold": (["verify", "--claims", "lone.py"], "texts"),
    "a name longer than a file's": (["verify", "--claims", "name.py"], "at most 100"),
    "claims in no Python file": (["verify", "--claims", "plain.txt"], ".py"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_was_once_found_is_refused_in_one_sentence(tmp_path: Path, case: str) -> None:
    arguments, said = REFUSED[case]
    files(tmp_path)
    before = tree(tmp_path)
    outcome = run([*arguments, *(["--out", "out"] if arguments[0] == "verify" else [])], tmp_path)
    assert outcome.code == 2 and said in outcome.stderr, outcome
    kept = {name: held for name, held in tree(tmp_path).items() if not name.startswith("out")
            and "__pycache__" not in name}
    assert kept == before and not list(tmp_path.rglob(".writing-*"))
    assert findings(arguments, tmp_path, tree(tmp_path), outcome, may_be_long=False) == []


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_is_json_in_every_encoding(tmp_path: Path, encoding: str) -> None:
    outcome = run(["claims", "--family", "costs", "--json"], tmp_path, encoding=encoding)
    assert outcome.code == 0 and any("‖" in claim["statement"] for claim in json.loads(outcome.stdout)["claims"])


def test_a_file_in_the_way_of_a_run_comes_back_when_the_run_fails(tmp_path: Path) -> None:
    from proofs_check.certificates import whole_directory

    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "mine").write_text("x")
    with pytest.raises(RuntimeError), whole_directory(tmp_path / "kept"):
        raise RuntimeError
    assert tree(tmp_path) == {"kept": None, "kept/mine": b"x"}


SAID = "sinkproof: expected this, got that; do so\n"


@pytest.mark.parametrize(("code", "stderr", "change", "word"), [
    (4, "sinkproof: internal error, KeyError: 'x'\n", None, "internal"),
    (1, "Traceback (most recent call last):\n", None, "traceback"),
    (2, SAID + SAID, None, "2 lines"), (2, "sinkproof: operands could not be broadcast\n", None, "expected"),
    (2, SAID, "left", "changed"),
    (0, "", ".writing-x", "temporary"), (-6, "", None, "not documented"),
])
def test_the_oracle_sees_a_broken_promise(tmp_path: Path, code: int, stderr: str, change: str | None,
                                          word: str) -> None:
    before = tree(tmp_path)
    assert findings(["cost"], tmp_path, before, Outcome(2, "", SAID, (), False), False) == []
    if change:
        (tmp_path / change).write_text("x")
    broken = Outcome(code, "", stderr, (), False)
    assert any(word in item for item in findings(["cost"], tmp_path, before, broken, False))


def test_the_oracle_sees_a_hang_a_warning_and_false_json(tmp_path: Path) -> None:
    assert findings(["cost"], tmp_path, {}, Outcome(130, "", "", (), True), may_be_long=True) == []
    assert findings(["cost"], tmp_path, {}, Outcome(130, "", "", (), True), may_be_long=False)
    assert findings(["cost"], tmp_path, {}, Outcome(2, "", SAID, (), True), may_be_long=True)
    assert findings(["cost"], tmp_path, {}, Outcome(0, "", "", ("UserWarning: x",), False), False)
    assert findings(["cost", "--json"], tmp_path, {}, Outcome(0, '{"a": NaN}', "", (), False), False)
