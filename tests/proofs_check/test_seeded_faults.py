"""Mutation testing of our own code: each seeded fault, in a copy of the package, turns a named fast test red."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FORMULA, SYMBOLIC, HULLS, SOUNDNESS, CASES, GATES = (f"tests/proofs_check/test_{name}.py" for name in (
    "kernel_formula", "kernel_symbolic", "kernel_hulls_and_norms", "kernel_soundness", "kernel_cases", "gates"))
VERDICT, TRAPS, FALSIFY = (f"tests/proofs_check/test_{name}.py" for name in ("verdict", "tool_traps", "falsify"))


@dataclass(frozen=True)
class Fault:
    """One wrong line: `old` must occur exactly once in `file`, and `test` must fail with `new` in its place."""

    name: str
    file: str
    old: str
    new: str
    test: str


K = "proofs_check/kernel/"
FAULTS = (
    Fault(">= for >", K + "values.py",
          '">": left > right, ">=": left >= right,', '">": left >= right, ">=": left >= right,', FORMULA),
    Fault("an undecided comparison is guessed", K + "values.py", "if forward or backward:", "if True:", FORMULA),
    Fault("overlapping balls are equal", K + "values.py",
          'raise Undecided("two enclosures overlap, so equality is undecided")', 'return relation == "=="', FORMULA),
    Fault("an overflow says no", K + "values.py", 'raise Undecided("a comparison met a value that is not finite")',
          "return False", SOUNDNESS),
    Fault("and for or", K + "formula.py",
          "stop = isinstance(node.op, ast.Or)", "stop = isinstance(node.op, ast.And)", GATES),
    Fault("division by zero allowed", K + "formula.py",
          'need(compare(right, "!=", 0), "division by zero")', "pass", FORMULA),
    Fault("negative pivots pass", K + "functions.py", "if rows[k][k] < 0 or (", "if (", GATES),
    Fault("sign of a sign", K + "functions.py", 'int(compare(value, ">", 0)) - int(compare(value, "<", 0))',
          'int(compare(value, ">", 0)) + int(compare(value, "<", 0))', FORMULA),
    Fault("a hull's normal may be orthogonal", K + "separation.py",
          "return bool(product > 0) if strict else", "return bool(product >= 0) if strict else", HULLS),
    Fault("weights need not combine to zero", K + "separation.py",
          "need(all(bool(entry == 0) for entry in combination),", "need(True,", HULLS),
    Fault("weights may be negative", K + "separation.py", "all(bool(weight > 0) for weight in weights.values())",
          "all(bool(weight != 0) for weight in weights.values())", GATES),
    Fault("a basis may have negative weights", K + "separation.py",
          "bool(solution[i, 0] > 0)", "bool(solution[i, 0].is_finite())", HULLS),
    Fault("any norm bound is shown", K + "norms.py",
          "shown = upper.is_finite() and bool(upper <= arb(bound))", "shown = True", HULLS),
    Fault("a decomposition's residual is dropped", K + "norms.py", " + growth * residual", "", GATES),
    Fault("a term may be negative", K + "symbolic.py",
          'need(bool(weight > 0), "a term\'s coefficient must be positive")', "pass", SYMBOLIC),
    Fault("a dropped multiplier check", K + "symbolic.py",
          "need(bool(self._reduced(difference, table).top.is_zero()),", "need(True,", SYMBOLIC),
    Fault("a factor need not be positive", K + "symbolic.py", "need(self.positive(factor),", "need(True,", SYMBOLIC),
    Fault("a divisor need not be nonzero", K + "symbolic.py", "need(self.nonzero(right.top),", "need(True,", TRAPS),
    Fault("strictness is given away", K + "symbolic.py",
          'need(holds and (strict or relation == ">="),', "need(holds,", SYMBOLIC),
    Fault("an undecided box is covered", K + "symbolic.py",
          'raise Rejected("the conclusion is undecided on a box of the cover") from None', "continue", SYMBOLIC),
    Fault("a cover may stop early", K + "symbolic.py",
          "boxes += [{**box, choice: (middle, high)}, {**box, choice: (low, middle)}]",
          "boxes += [{**box, choice: (low, middle)}]", SYMBOLIC),
    Fault("a certificate's instances are not added up", K + "formula.py", "spent.charge(evaluator.steps)", "pass",
          "tests/proofs_check/test_kernel_work.py"),
    Fault("a violated hypothesis is met", K + "replay.py",
          'need(meets, "an instance violates a hypothesis")', "pass", GATES),
    Fault("a failing conclusion is evidence", K + "replay.py", "need(concludes is not refutes,", "need(True,", GATES),
    Fault("one instance counts twice", K + "replay.py",
          "need(len(seen) == len(listed) or len(listed) == 1,", "need(True,", GATES),
    Fault("a missing case goes unseen", K + "replay.py", "need(not missing,", "need(True,", CASES),
    Fault("any case is met", K + "replay.py", "        return False, False\n    return true, balls",
          "        return True, False\n    return true, balls", CASES),
    Fault("a tolerance of 1", K + "replay.py", "bool(tolerance <= fmpq(1, 10**6))", "bool(tolerance <= 1)", TRAPS),
    Fault("a sample's bound is believed", K + "replay.py",
          "need(bool(arb(1 - bound) ** trials <= arb(1 - level)),", "need(True,", GATES),
    Fault("certificates of another claim", K + "replay.py",
          'well_formed(field(certificate, "claim_digest", str, "certificate") == claim_digest,',
          "well_formed(True,", "tests/proofs_check/test_mutations.py"),
    Fault("a trouble is ignored", "proofs_check/verdict.py",
          'errors = [item.message for item in troubles if item.kind == "error"]', "errors = []", GATES),
    Fault("the strongest part decides", "proofs_check/verdict.py",
          "tier = min(link[0][:2] for link in links)", "tier = max(link[0][:2] for link in links)", GATES),
    Fault("an unmet hypothesis is not open", "proofs_check/verdict.py",
          'if not any(record.role == "satisfiable" for record in mine):', "if False:", VERDICT),
    Fault("routes may differ by one", "proofs_check/engines/agreement.py",
          "TOLERANCE = 1e-7", "TOLERANCE = 1.0", GATES),
    Fault("NaN agrees", "proofs_check/engines/agreement.py", "if math.isnan(slack):", "if False:", TRAPS),
    Fault("a stale cached verdict", "proofs_check/verify.py",
          'return path.is_file() and json.loads(path.read_text())["key"] == run_key(claim, options)',
          "return path.is_file()", GATES),
    Fault("repairs miss by one", "proofs_check/probing.py",
          "rows.append((index, place, -gap))", "rows.append((index, place, 1 - gap))", FALSIFY),
    Fault("a shape's letter is two lengths", "proofs_check/perturb.py",
          "lengths.setdefault(letter, length) == length", "lengths.setdefault(letter, length) > 0", FALSIFY),
    Fault("a wrong mask", "numerics/attention.py",
          "jnp.tril(jnp.ones", "jnp.triu(jnp.ones", "tests/numerics/test_attention.py"),
    Fault("the first row is kept", "numerics/sink_metrics.py",
          "return rows if first_row else rows[1:]", "return rows", "tests/numerics/test_sink_metrics.py"),
    Fault("NaN holds in floats", "numerics/float_limits.py",
          "if not margin > 0.0:", "if margin <= 0.0:", "tests/numerics/test_float_limits.py"),
    Fault("32 bits", "numerics/__init__.py",
          'jax.config.update("jax_enable_x64", True)', 'jax.config.update("jax_enable_x64", False)', TRAPS),
)
KEYWORD = {"tests/proofs_check/test_kernel_work.py": "all_instances",
           TRAPS: "divisor or agreement or nan_passes or 32_bits", "tests/proofs_check/test_mutations.py": "exchanged",
           FALSIFY: "repairs or operator", "tests/numerics/test_attention.py": "causal or mask",
           "tests/numerics/test_float_limits.py": "nan", "tests/numerics/test_sink_metrics.py": "harmonic"}


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("copy")
    for name in ("theory", "numerics", "proofs_check", "tests"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "*.vo*", "*.glob"))
    shutil.copyfile(ROOT / "pyproject.toml", root / "pyproject.toml")
    return root


def run(root: Path, *tests: str, keyword: str = "") -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not slow", *tests]
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.run(command + (["-k", keyword] if keyword else []), cwd=root, env=environment,
                          capture_output=True, text=True, timeout=200, check=False)


def test_every_fault_changes_exactly_one_place() -> None:
    assert len(FAULTS) >= 25 and len({fault.name for fault in FAULTS}) == len(FAULTS)
    counts = {fault.name: (ROOT / fault.file).read_text().count(fault.old) for fault in FAULTS}
    assert {name: count for name, count in counts.items() if count != 1} == {}


@pytest.mark.slow
def test_the_copy_is_what_runs_and_is_green_without_a_fault(copy: Path) -> None:
    told = "import proofs_check, numerics; print(proofs_check.__file__, numerics.__file__)"
    probe = subprocess.run([sys.executable, "-c", told], cwd=copy, env={**os.environ, "PYTHONPATH": str(copy)},
                           capture_output=True, text=True, check=True)
    assert all(Path(path).is_relative_to(copy) for path in probe.stdout.split())
    for test in {fault.test for fault in FAULTS}:
        result = run(copy, test, keyword=KEYWORD.get(test, ""))
        assert result.returncode == 0, (test, result.stdout[-2000:])


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_seeded_fault_turns_its_test_red(fault: Fault, copy: Path) -> None:
    path = copy / fault.file
    text = path.read_text()
    assert text.count(fault.old) == 1
    path.write_text(text.replace(fault.old, fault.new))
    try:
        result = run(copy, fault.test, keyword=KEYWORD.get(fault.test, ""))
    finally:
        path.write_text(text)
    assert result.returncode == 1, result.stdout[-2000:]  # 1: tests failed; anything else is no verdict on the fault
