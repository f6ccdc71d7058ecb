"""P0 reaches its headline, and every false neighbour falls."""

from __future__ import annotations

import numpy as np

from proofs_check.claims.exact import identity
from proofs_check.claims.practice import p0

IDS = ("P0",)


def test_p0_is_proved_on_its_patterns_and_for_every_length_where_a_derivation_says_so(run):
    result = run[1]["P0"]
    assert not result.rejected and not result.troubles
    assert result.verdict.headline == "PROVED ON" == result.claim.required and result.verdict.grade == "exact"
    stated = {record.target for _, record in result.replayed if record.scope == "as stated"
              and record.kind == "derivation"}
    assert stated == {part.name for part in result.claim.parts if part.parameters} and len(stated) == 5


def test_every_false_version_of_p0_falls(run):
    (row,) = run[2]["claims"]
    assert row["neighbours"]["survivors"] == [] and row["neighbours"]["killed"] == len(p0.CLAIM.variants) >= 3


def test_every_hypothesis_of_p0_is_needed(unneeded):
    assert unneeded == set()


def test_the_slack_of_a_pattern_sees_a_wrong_score():
    right = {"A": np.array(identity(4), dtype=float)}
    assert p0.DIAGONAL.numeric(right) > 0
    assert p0.DIAGONAL.numeric({"A": np.array(p0.sink(4), dtype=float)}) < -0.1
