"""What would take the kernel hours is refused before it is begun: work is estimated, counted and bounded."""

from __future__ import annotations

from pathlib import Path

import pytest
from flint import fmpq
from test_kernel_soundness import attempt, derive, instances, named, part, truth

from proofs_check.kernel.encoding import Rejected, TooMuch


@pytest.mark.parametrize("text", ["len(eye(10**4)) > 0", "10**4097 > 0", "len(range(10**7)) > 0",
                                  "((x + 1) ** 4096) ** 4096 > 0"])
def test_a_hypothesis_too_long_to_decide_is_not_shown_to_be_needed(tmp_path: Path, text: str) -> None:
    statement = part("x < 2", variables=[{"name": "x", "type": "scalar"}], hypotheses=named(text))
    with pytest.raises(TooMuch):
        attempt(statement, "counterexample", "dropped", instances({"x": "2"}), tmp_path, subject="h0")
    false = part("x < 2", variables=[{"name": "x", "type": "scalar"}], hypotheses=named("x < 0"))
    record = attempt(false, "counterexample", "dropped", instances({"x": "2"}), tmp_path, subject="h0")
    assert record.outcome == "refuted"


def test_membership_in_lists_of_lists_of_lists_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofs_check.kernel.formula.MAX_STEPS", 10_000)
    doubled = [["l0", "[1, 1]"]] + [[f"l{k}", f"[l{k - 1}, l{k - 1}]"] for k in range(1, 60)]
    with pytest.raises(TooMuch):
        truth("l59 in [l59]", doubled)
    assert truth("[1, 2] in [[1, 2], [3, 4]] and 3 in range(4) and l1 in [l2, l1]", doubled)


@pytest.mark.parametrize(("conclusion", "by", "data"), [
    ("((x**4096)**4096) + 1 > 0", "orthant", {}), ("x**4096 + 1 > 0", "orthant", {}),
    ("x**4000 * x**4000 == x**4000 * x**4000", "identity", {}),
    ("1 / (1 + x**4096 * x) > 0", "orthant", {})])
def test_a_degree_that_would_take_hours_is_refused(conclusion: str, by: str, data: dict) -> None:
    with pytest.raises(Rejected, match="too large"):
        derive(conclusion, by, **data)


BEYOND_ONE = [{"name": name, "minimum": ["1", "1"], "open_min": "true"} for name in "wxyz"]
LARGE = {
    "few terms by few terms": "(w**300 - 1)*(x**300 - 1)*(y**300 - 1)*(z**300 - 1)"
                              " / ((w - 1)*(x - 1)*(y - 1)*(z - 1)) > 0",
    "irreducible factors": "1 / (x**800*y**801 - x**799*y**3 - 7*x**5*y**798 + 11*x*y + 3) > 0",
}


@pytest.mark.parametrize("name", LARGE)
def test_quotients_and_factors_that_would_take_hours_are_refused(name: str) -> None:
    with pytest.raises(TooMuch):
        derive(LARGE[name], "orthant", parameters=BEYOND_ONE)


def test_the_corners_of_a_box_are_counted() -> None:
    box = [{"name": f"x{k}", "minimum": ["0", "1"], "maximum": ["1", "1"]} for k in range(60)]
    derive("2 > 1", "orthant", parameters=box)  # what does not occur has no corners
    derive("x0 + x1 + 1 > 0", "orthant", parameters=box)
    with pytest.raises(TooMuch):
        derive(" + ".join(table["name"] for table in box) + " + 1 > 0", "orthant", parameters=box)


def test_the_work_of_a_whole_derivation_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    lemmas = [{"formula": f"(x + 1)**{k} > 0", "by": "orthant"} for k in range(1, 30)]
    derive("x + 1 > 0", "orthant", before=tuple(lemmas))
    monkeypatch.setattr("proofs_check.kernel.symbolic.MAX_TOTAL", 10_000)
    with pytest.raises(TooMuch, match="too many or too large"):
        derive("x + 1 > 0", "orthant", before=tuple(lemmas))


def prime_fractions(count: int, digits: int) -> list[fmpq]:
    """Fractions without common denominators: their sum is as long as all of them together."""
    return [fmpq(1, 10**digits + k) for k in range(count)]


def test_the_work_of_witnesses_and_long_numbers_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofs_check.kernel.formula.MAX_STEPS", 100_000)
    unlike = prime_fractions(200, 200)
    weights = [[str(index), [str(weight.p), str(weight.q)]] for index, weight in enumerate(unlike)]
    rows = [[fmpq(index - 100)] for index in range(200)]
    square = [unlike[start:start + 14] for start in range(0, 196, 14)]
    symmetric = [[square[max(i, j)][min(i, j)] for j in range(14)] for i in range(14)]
    for text, witness, value in (
            ("hull_distance_at_most(r, 100, 'k')", {"weights": weights}, rows),
            ("separable(r, 'k')", {"normal": ["1" + "0" * 50_000]}, [[fmpq(1)]] * 200),
            ("norm_at_most(r, 2, 100, 'k')", {}, square), ("psd(r)", {}, symmetric)):
        with pytest.raises(TooMuch):
            truth(text, witnesses={"k": witness}, r=value)


SLOW = "sum(i * i for i in range(x, 200)) > 0"  # about 1,000 steps


def test_the_work_of_all_instances_of_a_certificate_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    statement = part(SLOW, variables=[{"name": "x", "type": "integer"}])
    many = {"instances": [{"values": {"x": str(x)}, "witnesses": {}} for x in range(20)]}
    assert attempt(statement, "instances", "evidence", many, tmp_path).scope == "instances: 20"
    monkeypatch.setattr("proofs_check.kernel.formula.MAX_STEPS_IN_ALL", 5_000)
    with pytest.raises(TooMuch, match="in all"):
        attempt(statement, "instances", "evidence", many, tmp_path)
    few = {"instances": many["instances"][:2]}
    assert attempt(statement, "instances", "evidence", few, tmp_path).scope == "instances: 2"


def test_the_work_of_all_cases_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [f"{SLOW} and x == {x}" for x in range(5)]
    statement = part("x >= 0", variables=[{"name": "x", "type": "integer"}], quantifier="exists", cases=cases)
    many = {"instances": [{"values": {"x": str(x)}, "witnesses": {}} for x in range(5)]}
    assert attempt(statement, "instances", "evidence", many, tmp_path).scope == "as stated"
    monkeypatch.setattr("proofs_check.kernel.formula.MAX_STEPS_IN_ALL", 5_000)
    with pytest.raises(TooMuch, match="in all"):
        attempt(statement, "instances", "evidence", many, tmp_path)


def test_the_work_of_all_boxes_of_a_cover_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    box = [{"name": "x", "minimum": ["0", "1"], "maximum": ["1", "1"]}]
    statement = part("sum(exp(x) for i in range(100)) > 0", variables=[], parameters=box)
    halves = {"splits": ["x", "x", "leaf", "leaf", "x", "leaf", "leaf"]}
    assert attempt(statement, "cover", "evidence", halves, tmp_path).scope == "as stated"
    monkeypatch.setattr("proofs_check.kernel.formula.MAX_STEPS_IN_ALL", 3_000)
    with pytest.raises(TooMuch, match="in all"):
        attempt(statement, "cover", "evidence", halves, tmp_path)
