"""The command line from outside: exit codes, one-sentence errors, resume, `check` where nothing else is installed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from numerics.checkpoint import MissingModels
from proofs_check import cli
from proofs_check.interrupts import Terminated
from proofs_check.kernel import canonical

ROOT = Path(__file__).resolve().parents[2]
OWN_CLAIM = '''
from proofs_check.claim import Claim, Hypothesis, Instance, Part
PART = Part(name="p", text="x >= 0 for x = y**2", variables={"x": "scalar", "y": "scalar"},
            hypotheses=(Hypothesis("square", "x = y^2", "x == y**2", Instance({"x": -1, "y": 0})),),
            conclusions=("CONCLUSION",), satisfiable=Instance({"x": 4, "y": 2}),
            instances=lambda seed: (Instance({"x": i * i, "y": i}) for i in range(2, 12)))
CLAIM = Claim(id="MINE", title="squares", family="own", statement="squares are nonnegative", parts=(PART,), uses=USES,
              required="PROVED ON", required_formal="PROVED ON")
'''


def sinkproof(*arguments: object, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "proofs_check", *map(str, arguments)], capture_output=True, text=True,
                          cwd=cwd, env=os.environ | environment, timeout=300, check=False)


# A shell starts background jobs with interrupts ignored and their children inherit that; put right by a program of its
# own before the real one, because `preexec_fn` would fork this process, where JAX has threads.
HEEDING_INTERRUPTS = [sys.executable, "-c",
                      "import os, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
                      "os.execv(sys.executable, [sys.executable, '-m', 'proofs_check', *sys.argv[1:]])"]


def one_sentence(result: subprocess.CompletedProcess) -> bool:
    return len(result.stderr.strip().splitlines()) == 1 and "Traceback" not in result.stderr


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """One verified claim, with its report and certificates."""
    out = tmp_path_factory.mktemp("run")
    result = sinkproof("verify", "E2", "--out", out, "--jobs", 1)
    assert result.returncode == 0, result.stderr
    return out


def test_verify_writes_a_report_in_the_promised_schema(run: Path) -> None:
    report = json.loads((run / "report.json").read_text())
    assert set(report) >= {"schema", "profile", "environment", "claims", "neighbours", "seconds"}
    row, = report["claims"]
    assert set(row) >= {"id", "title", "family", "headline", "outcome", "grade", "scope", "required", "uses", "seconds",
                        "hypotheses", "neighbours", "evidence"}
    assert all(set(item) >= {"name", "needed", "counterexample"} for item in row["hypotheses"])
    assert set(row["neighbours"]) >= {"planted", "killed", "survivors"} and row["neighbours"]["survivors"] == []
    assert all(set(item) >= {"engine", "outcome", "grade", "scope", "seconds", "certificate"}
               for item in row["evidence"])
    assert all((run / item["certificate"]).is_file() for item in row["evidence"])
    assert "## E2" in (run / "report.md").read_text()


def test_a_second_run_takes_stored_evidence_and_says_the_same(run: Path) -> None:
    before = json.loads((run / "report.json").read_text())
    result = sinkproof("verify", "E2", "--out", run, "--json")
    assert "stored" not in result.stdout and json.loads(result.stdout) == before


def test_show_replays_stored_evidence(run: Path) -> None:
    result = sinkproof("show", "E2", "--out", run)
    assert result.returncode == 0 and "Verdict: " in result.stdout and "needed:" in result.stdout


BLOCKER = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"numpy", "jax", "jaxlib", "cvxpy", "sympy", "scipy", "click", "rich", "hypothesis",
                                  "theory", "numerics", "matplotlib", "safetensors"}:
            raise ImportError(f"{name} is not installed here")
sys.meta_path.insert(0, Blocked())
sys.argv = ["sinkproof", "check", sys.argv[1]]
from proofs_check.__main__ import main
sys.exit(main())
"""


def test_check_needs_python_flint_and_nothing_else(run: Path) -> None:
    result = subprocess.run([sys.executable, "-c", BLOCKER, str(run)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert ", 0 rejected" in result.stdout


def copied(run: Path, tmp_path: Path) -> tuple[Path, Path]:
    folder = tmp_path / "E2"
    folder.mkdir()
    for path in (run / "certificates" / "E2").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder, next(folder.glob("cert-ledger-*satisfiable*.json"))


def edited(path: Path, change) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_bytes(canonical(content))


BROKEN = {
    "unknown schema": lambda path: edited(path, lambda c: c.update(schema="sinkproof/certificate/9")),
    "edited digest": lambda path: edited(path, lambda c: c.update(claim_digest="0" * 64)),
    "missing field": lambda path: edited(path, lambda c: c.pop("body")),
    "number for a string": lambda path: path.write_text(path.read_text().replace('"1"', "1", 1)),
    "not json": lambda path: path.write_text("{"),
    "not an object": lambda path: path.write_text("[]"),
    "repeated key": lambda path: path.write_text(path.read_text().replace('{"', '{"claim":"E2","', 1)),
    "latin-1": lambda path: path.write_bytes(b'{"claim":"\xe9"}'),
    "deep nesting": lambda path: path.write_text('{"a":' + "[" * 100_000 + "]" * 100_000 + "}"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_malformed_certificate_is_bad_input(run: Path, tmp_path: Path, case: str) -> None:
    folder, path = copied(run, tmp_path)
    BROKEN[case](path)
    result = sinkproof("check", folder)
    assert result.returncode == 2 and one_sentence(result), result.stderr


def test_a_blob_of_a_gigabyte_is_refused_unread(run: Path, tmp_path: Path) -> None:
    folder, path = copied(run, tmp_path)
    with path.open("wb") as stream:
        stream.truncate(2**30)
    result = sinkproof("check", path)
    assert result.returncode == 2 and one_sentence(result) and "at most" in result.stderr


def test_a_certificate_that_proves_nothing_exits_with_1(run: Path, tmp_path: Path) -> None:
    folder, path = copied(run, tmp_path)
    # the weights no longer sum to one
    edited(path, lambda c: c["body"]["instances"][0]["values"].update(a_s=["3", "4"]))
    result = sinkproof("check", path)
    assert result.returncode == 1 and one_sentence(result)


def test_claims_that_use_each_other_in_a_circle_are_refused_by_check(run: Path, tmp_path: Path) -> None:
    folder, _ = copied(run, tmp_path)
    edited(folder / "claim.json", lambda c: c.update(uses=["E2"]))
    result = sinkproof("check", folder)
    assert result.returncode == 2 and "circle" in result.stderr


@pytest.mark.parametrize(("arguments", "said"), [
    (["verify", "NOPE"], "known ids"), (["show", "NOPE"], "known ids"), (["verify", "--seed", "-1"], "seed"),
    (["verify", "--profile", "huge"], "profile"), (["verify", "--claims", "none.py"], "no file"),
    (["nonsense"], "nonsense"),
    (["check", "nowhere"], "nothing at"), (["claims", "--family", "x"], "families"), (["inspect"], "--tokens"),
    (["verify", "--jobs", "0"], "jobs"), (["verify", "--time-limit", "0"], "time-limit"),
])
def test_bad_usage_is_one_sentence_and_exit_2(tmp_path: Path, arguments: list[str], said: str) -> None:
    result = sinkproof(*arguments, cwd=tmp_path, PYTHONPATH=str(ROOT))
    assert result.returncode == 2 and one_sentence(result) and said in result.stderr, result.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_bare_command_prints_its_help_with_a_sentence_for_each_command(monkeypatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.argv", ["sinkproof"])
    assert cli.main() == 2
    bare = capsys.readouterr().err
    monkeypatch.setattr("sys.argv", ["sinkproof", "--help"])
    assert cli.main() == 0
    asked = capsys.readouterr().out
    assert bare.strip() == asked.strip()
    listed = asked.split("Commands:")[1].strip().splitlines()
    assert len(listed) == len(cli.sinkproof.commands)
    assert all(line.endswith(".") and "..." not in line and len(line) <= 80 for line in listed)


@pytest.mark.parametrize(("kind", "exit_code"), [(KeyboardInterrupt, 130), (Terminated, 143)])
def test_an_interrupted_run_says_how_much_evidence_is_kept(monkeypatch, capsys, tmp_path, kind, exit_code) -> None:
    def stops(ids, options, jobs, progress, replayed) -> None:
        progress("E2", False)
        raise kind

    monkeypatch.setattr("proofs_check.commands.verify.run_verify", stops)
    monkeypatch.setattr("sys.argv", ["sinkproof", "verify", "E2", "E3", "--out", str(tmp_path)])
    assert cli.main() == exit_code
    assert "ed; the evidence of 1 of 2 claims is kept; run the same command again to go on\n" in capsys.readouterr().err


def own(tmp_path: Path, conclusion: str = "x >= 0", uses: str = "()") -> Path:
    path = tmp_path / "mine.py"
    path.write_text(OWN_CLAIM.replace("CONCLUSION", conclusion).replace("USES", uses))
    return path


def test_a_claim_of_ones_own_is_verified(tmp_path: Path) -> None:
    result = sinkproof("verify", "--claims", own(tmp_path), "--out", tmp_path / "out")
    assert result.returncode == 0 and "PROVED ON instances: 10" in result.stdout, result.stdout + result.stderr


def test_a_false_claim_of_ones_own_is_refuted_with_exit_1(tmp_path: Path) -> None:
    result = sinkproof("verify", "--claims", own(tmp_path, "x < 20"), "--out", tmp_path / "out")
    assert result.returncode == 1
    assert "MINE: REFUTED, required PROVED ON: part 'p' at x=25, y=5 violates conclusion [x < 20]\n" in result.stdout
    assert "MINE: no false neighbours: nothing shows that this claim's checker can reject\n" in result.stdout
    assert "evidence 1 of 1: MINE\nreplay 1 of 1: MINE REFUTED\n" in result.stderr


@pytest.mark.parametrize(("uses", "said"), [("('MINE',)", "circle"), ("('NOPE',)", "known claims")])
def test_uses_must_be_known_and_without_a_circle(tmp_path: Path, uses: str, said: str) -> None:
    result = sinkproof("verify", "--claims", own(tmp_path, uses=uses), "--out", tmp_path / "out")
    assert result.returncode == 2 and one_sentence(result) and said in result.stderr and not (tmp_path / "out").exists()


def test_a_file_that_does_not_run_or_defines_nothing_is_refused(tmp_path: Path) -> None:
    for text, said in (("1/0", "ZeroDivisionError"), ("x = 1", "CLAIM")):
        (tmp_path / "bad.py").write_text(text)
        result = sinkproof("verify", "--claims", tmp_path / "bad.py", "--out", tmp_path / "out")
        assert result.returncode == 2 and one_sentence(result) and said in result.stderr


def test_the_example_of_the_notes_does_what_the_notes_say(tmp_path: Path) -> None:
    source = (ROOT / "notes" / "own-claim.md").read_text().split("```python")[1].split("```")[0]
    for text, code, said in ((source, 0, "PROVED ON instances: 30"),
                             (source.replace('"a": -4, "b": 1', '"a": -4, "b": -1'), 4, "does not show it needed")):
        (tmp_path / "my_claim.py").write_text(text)
        result = sinkproof("verify", "--claims", tmp_path / "my_claim.py", "--out", tmp_path / "out")
        assert result.returncode == code and said in result.stdout + result.stderr, result.stdout + result.stderr


@pytest.mark.slow
def test_an_interrupt_of_parallel_work_is_obeyed_at_once_and_leaves_nothing_half_written(tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = subprocess.Popen([*HEEDING_INTERRUPTS, "verify", "--out", str(out), "--jobs", "2"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 200
    while not list((out / "certificates").glob("*/run.json")) and time.monotonic() < deadline \
            and process.poll() is None:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130 and "run the same command again" in said and "Traceback" not in said, said
    assert not list((out / "certificates").glob(".writing-*")) and not (out / "report.json").exists()


def test_a_changed_claim_is_gathered_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert sinkproof("verify", "--claims", own(tmp_path), "--out", out).returncode == 0
    assert sinkproof("verify", "--claims", own(tmp_path, "x < 20"), "--out", out).returncode == 1


def test_doctor_and_claims_print_json() -> None:
    for command, key in ((["doctor", "--json"], "checks"), (["claims", "--json"], "claims"),
                         (["show", "E2", "--json"], "claim")):
        result = sinkproof(*command)
        assert result.returncode == 0 and key in json.loads(result.stdout)
    assert sinkproof("claims", "--family", "practice", "--ledger").returncode == 0


def test_counterexamples_beside_certificates_are_checked_with_them(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(run, out)
    attacked = sinkproof("falsify", "E2", "--drop", "null sink", "--budget", 200, "--out", out)
    assert attacked.returncode == 1
    kept = out / "counterexamples" / "E2"
    file, = kept.glob("cert-*.json")
    assert f"Kept in {kept}: {file.name}; replay with: sinkproof check {kept}\n" in attacked.stdout
    assert f"without 'null sink'; replay with: sinkproof check {kept}\n" in sinkproof("show", "E2", "--out", out).stdout
    checked = sinkproof("check", out)
    assert checked.returncode == 0, checked.stderr
    other = out / "counterexamples" / "E2" / "claim.json"
    other.write_bytes(canonical(json.loads(other.read_text()) | {"statement": "another"}))
    refused = sinkproof("check", out)
    assert refused.returncode == 2 and one_sentence(refused) and "different claims" in refused.stderr


def test_a_smaller_report_says_what_it_replaced_and_an_own_claim_has_no_source_but_its_own(
        run: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(run, out)
    path = tmp_path / "mine.py"
    path.write_text(OWN_CLAIM.replace("CONCLUSION", "x >= 0").replace("USES", "()"))
    done = sinkproof("verify", "--claims", path, "--out", out, "--jobs", 1)
    assert done.returncode == 0 and "had 1 other claim;" in done.stdout, done.stderr
    assert json.loads((out / "certificates" / "MINE" / "claim.json").read_text())["source"] == "not stated"


@pytest.mark.slow
def test_the_diagonal_on_the_packaged_paragraph_is_certified(tmp_path: Path) -> None:
    done = sinkproof("cost", "--tokens", ROOT / "numerics/data/smollm2_dev.npz:x_15", "--sink", 0, "--norm", "nuclear",
                     "--tolerance", 1e-3, "--out", tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    assert {item["pattern"]: item["grade"] for item in json.loads(done.stdout)["results"]} == {
        "sink": "exact", "diagonal": "enclosed"}
    assert sinkproof("check", tmp_path).returncode == 0


@pytest.mark.parametrize(("missing", "said"), [
    (MissingModels("expected the package torch, found none"), "sinkproof: expected the package torch, found none\n"),
    (ModuleNotFoundError("No module named 'x'", name="x"), "sinkproof: expected the package x, found none; install the "
                                                           "pinned packages with: make install\n")])
def test_a_missing_package_is_one_sentence_and_exit_3(monkeypatch, capsys, missing: Exception, said: str) -> None:
    def stops(*_given: object) -> None:
        raise missing

    monkeypatch.setattr("proofs_check.audit.run.audit", stops)
    monkeypatch.setattr("sys.argv", ["sinkproof", "audit", "model"])
    assert cli.main() == 3 and capsys.readouterr().err == said
