"""The float page: formulas evaluated in their dtype, every claim with a strict inequality on it, and it is current."""

from __future__ import annotations

import ast
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

from numerics.float_limits import CASES, DTYPES
from proofs_check import float_page
from proofs_check.claim import Claim, Instance, Part
from proofs_check.claims.registry import written_claims
from proofs_check.float_page import Floats, first_wrong, on_which, strict, ways, worst, wrongs


def value(text: str, dtype: str, **values: object) -> object:
    exact = {name: fmpq(entry) for name, entry in values.items()}
    return Floats(exact, {}, DTYPES[dtype]).of(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize("dtype", list(DTYPES))
def test_every_operation_is_rounded_to_the_dtype(dtype):
    result = value("sqrt(x*x + 1) - x**2/3 + exp(-x)", dtype, x=2)
    assert np.asarray(result).dtype == DTYPES[dtype]
    assert float(result) == pytest.approx(5**0.5 - 4 / 3 + np.exp(-2.0), rel=0.02)


@pytest.mark.parametrize(("dtype", "true"), [("float64", True), ("float32", False), ("bfloat16", False)])
def test_one_more_than_two_to_the_25_is_lost_in_narrow_floats(dtype, true):
    assert value("x + 1 > x", dtype, x=2**25) is true


def test_what_is_no_scalar_arithmetic_is_not_evaluated():
    part = Part(name="p", text="", parameters=({"name": "x", "minimum": ["1", "1"]},),
                conclusions=("dot([x], [x]) > 0",))
    assert first_wrong(part.conclusions[0], part, [(1, {"x": fmpq(2)})], DTYPES["float32"]) is None


PART = Part(name="p", text="",
            parameters=({"name": "T", "minimum": ["2", "1"]},
                        {"name": "e", "minimum": ["0", "1"], "maximum": ["1", "1"]}),
            conclusions=("1/T - 1/(T + 1) > 0", "T >= 2"), satisfiable=Instance({"T": 3, "e": Fraction(1, 4)}))


def test_the_first_wrong_power_is_found_along_each_way():
    claim = Claim("own", "", "test", "", (PART,))
    assert [way for _, way, _ in ways(PART, {"T": fmpq(3), "e": fmpq(1, 4)})] == [
        "T = 3·2^k", "T = 2 + 1/2^k", "e = 0 + 1/4/2^k", "e = 1 - 3/4/2^k"]
    found = worst(claim)
    assert found.way == "T = 3·2^k" and found.conclusion == PART.conclusions[0]
    assert 5 < found.powers["bfloat16"] < found.powers["float32"] < 30
    assert {item.way[0] for item in wrongs(claim)} == {"T"}  # e stands in no strict conclusion


def test_a_conclusion_is_varied_only_in_what_it_depends_on_through_its_definitions():
    assert on_which("a > 0", {"a": "b + 1", "b": "T**2", "c": "e"}) == {"a", "b", "T"}
    assert on_which("(3/2)**2 - 2 > 0", {"a": "b"}) == set()


def test_strict_conclusions_are_seen_wherever_they_stand():
    part = Part(name="p", text="", conclusions=("a >= b", "all(x > 0 for x in v)", "sign(a) == sign(b)",
                                                "iff(a < b, c == d)", "a == b"))
    assert strict(part) == list(part.conclusions[1:4])


@pytest.mark.slow
def test_every_claim_with_a_strict_inequality_is_measured_and_the_page_is_current():
    page = float_page.whole_page()
    assert float_page.PAGE.read_text(encoding="utf-8") == page
    chosen = {name for case in CASES for name in case.claims}
    second = page.split("## Conclusions as they are written")[1]
    for claim in written_claims():
        if any(strict(part) for part in claim.parts):
            row = next(line for line in second.splitlines() if line.startswith(f"| {claim.id} |"))
            assert claim.id in chosen or not row.startswith(f"| {claim.id} | |"), claim.id
