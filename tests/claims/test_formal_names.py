"""Every theorem of `theorems.json` stands for a part that exists, unless it is marked as extra."""

from __future__ import annotations

import json

import pytest

from proofs_check.claims import all_claims
from proofs_check.formal.listing import HERE, read_list

PARTS = {claim.id: {part.name for part in claim.parts} for claim in all_claims()}
ENTRIES = read_list()[1]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.claim}: {entry.part}")
def test_a_theorem_names_a_part_or_is_extra_and_never_both(entry):
    assert entry.claim in PARTS
    assert (entry.part in PARTS[entry.claim]) == (not entry.extra)


def test_an_extra_flag_that_is_not_true_or_false_is_refused(tmp_path):
    data = json.loads((HERE / "theorems.json").read_text(encoding="utf-8"))
    data["theorems"][0]["extra"] = "no"
    (tmp_path / "theorems.json").write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(ValueError, match="true or false as extra of .* in theorems.json, got 'no'"):
        read_list(tmp_path)
