"""A part's false neighbours: one hypothesis in place of another, one left out, and names that do not exist."""

from __future__ import annotations

import pytest

from proofs_check.claim import Hypothesis, Instance, Part

FIRST, MIDDLE, LAST = (Hypothesis(name, name, f"x >= {bound}")
                       for name, bound in (("first", 1), ("middle", 2), ("last", 3)))
PART = Part(name="part", text="", variables={"x": "scalar"}, hypotheses=(FIRST, MIDDLE, LAST), conclusions=("x > 2",))
OTHER, MORE = Hypothesis("other", "other", "x >= 0"), Hypothesis("more", "more", "x <= 9")


def test_a_hypothesis_is_replaced_where_it_stood() -> None:
    assert PART.instead("first", OTHER) == (OTHER, MIDDLE, LAST)
    assert PART.instead("middle", OTHER, MORE) == (FIRST, OTHER, MORE, LAST)
    assert PART.instead("last") == (FIRST, MIDDLE)
    assert PART.hypothesis("last") is LAST


def test_a_hypothesis_that_the_part_has_not_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a hypothesis of part 'part', got 'missing'; choose from"):
        PART.instead("missing", OTHER)
    with pytest.raises(ValueError, match="expected hypotheses of part 'part' to drop"):
        PART.vary("wider", "drop hypothesis", "", Instance({"x": 0}), drop=("missing",))
