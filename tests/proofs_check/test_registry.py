"""Finding claims: one claim loaded by itself is the one of the whole theory."""

from __future__ import annotations

import pytest

from proofs_check.claims import all_claims, claim_by_id
from proofs_check.kernel import digest


@pytest.mark.parametrize("claim", all_claims(), ids=lambda claim: claim.id)
def test_a_claim_loaded_by_its_id_is_the_one_in_the_list(claim) -> None:
    assert digest(claim_by_id(claim.id).document()) == digest(claim.document())


@pytest.mark.parametrize("name", ["ZZ", "g4", "building", "../G4", ""])
def test_an_unknown_id_names_the_known_ones(name: str) -> None:
    with pytest.raises(ValueError, match="known ids are G1, G2"):
        claim_by_id(name)
