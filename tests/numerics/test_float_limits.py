"""The float page: the stated limits are measured, float64 is right where narrower floats are wrong, the page is
current."""

from __future__ import annotations

from math import inf
from pathlib import Path

import numpy as np
import pytest

from numerics.float_limits import CASES, DTYPES, FloatCase, first_wrong, measured, page

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def limits():
    return measured()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.statement)
def test_the_inequality_holds_in_64_bits_at_small_sizes_and_is_computed_in_its_dtype(case):
    for size in list(case.grid)[1:6]:
        assert float(case.margin(float(size), DTYPES["float64"])) > 0
    for dtype in DTYPES.values():
        assert np.asarray(case.margin(float(case.grid[1]), dtype)).dtype == dtype


def test_a_narrower_float_fails_no_later(limits):
    for case in CASES:
        wide, narrow = (next(item.size for item in limits if item.case is case and item.dtype == dtype)
                        for dtype in ("float32", "bfloat16"))
        assert narrow <= wide and narrow < inf


def test_one_minus_the_softmax_is_zero_from_a_gap_of_17_in_32_bits(limits):
    found = next(item for item in limits if item.case is CASES[0] and item.dtype == "float32")
    assert found.size == 17 and found.margin == 0
    assert first_wrong(CASES[0], "float64").size == 37


def test_nan_counts_as_wrong():
    case = FloatCase((), "", "", [1.0], lambda size, dtype: np.asarray(np.nan, dtype)[()], "")
    assert first_wrong(case, "float32").size == 1


def test_an_unknown_dtype_is_one_sentence():
    with pytest.raises(ValueError, match="one of the dtypes"):
        first_wrong(CASES[0], "float16")


def test_the_page_in_the_notes_has_the_measured_table(limits):
    table = [line for line in page(limits).splitlines() if line.startswith("|")]
    written = (ROOT / "notes" / "float.md").read_text().splitlines()
    assert len(table) == len(CASES) + 2 and [line for line in table if line not in written] == []
