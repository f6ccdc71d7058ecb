"""Finding claims: one claim loaded by itself is the one of the whole theory."""

from __future__ import annotations

import pytest

from proofs_check.claims import all_claims, claim_by_id, registry
from proofs_check.kernel import digest


@pytest.mark.parametrize("claim", all_claims(), ids=lambda claim: claim.id)
def test_a_claim_loaded_by_its_id_is_the_one_in_the_list(claim) -> None:
    assert digest(claim_by_id(claim.id).document()) == digest(claim.document())


def test_the_ids_read_off_the_modules_are_those_of_the_claims_in_their_order() -> None:
    assert registry.claim_ids() == tuple(claim.id for claim in all_claims())
    for family in registry.FAMILIES:
        assert registry.claim_ids(family) == tuple(claim.id for claim in all_claims() if claim.family == family) != ()


@pytest.mark.parametrize("name", ["ZZ", "building", "../G4", ""])
def test_an_unknown_id_names_the_known_ones(name: str, monkeypatch) -> None:
    monkeypatch.setattr(registry, "all_claims", lambda: pytest.fail("all claims were loaded"))
    with pytest.raises(ValueError, match="known ids are G1, G2"):
        claim_by_id(name)


@pytest.mark.parametrize(("name", "near"), [("g4", "G4"), ("G44", "G4"), ("C7G", "C7g"), ("O-1m", "O1m")])
def test_a_mistyped_id_names_the_nearest_and_loads_no_other_claim(name: str, near: str, monkeypatch) -> None:
    def load() -> None:
        pytest.fail("all claims were loaded")

    monkeypatch.setattr(registry, "all_claims", load)
    with pytest.raises(ValueError, match=f"^expected a claim id, got '{name}'; did you mean {near}\\?"):
        claim_by_id(name)


def test_the_nearest_id_is_found_among_given_claims_too() -> None:
    with pytest.raises(ValueError, match="did you mean C12\\?"):
        claim_by_id("C12.", all_claims())


def test_an_own_claim_with_the_id_of_a_built_in_one_is_refused(tmp_path) -> None:
    file = tmp_path / "own.py"
    text = """from proofs_check.claim import Claim, Part
def own(name):
    return Claim(name, name, "own", name, parts=(Part("p", "one is one", conclusions=("1 == 1",)),))
CLAIMS = [{}]
"""
    file.write_text(text.format("own('G1')"), encoding="utf-8")
    with pytest.raises(ValueError, match="^expected each claim to have an id of its own, got 'G1', which a built-in"):
        registry.load_claims(file)
    file.write_text(text.format("own('X'), own('X')"), encoding="utf-8")
    with pytest.raises(ValueError, match="got 'X', which occurs twice"):
        registry.load_claims(file)


@pytest.mark.parametrize(("bounds", "said"), [
    ("'minimum': '2'", "`minimum` of parameter 't'"), ("'maximum': '22'", "`maximum` of parameter 't'"),
    ("'minimum': ['2']", "as \\[numerator, denominator\\]"), ("'minimum': [2, 1]", "as \\[numerator, denominator\\]"),
    ("'minimum': ['2', '0']", "denominator must be positive"), ("'minimum': ['2', 'x']", "that the kernel can read"),
    ("'minimum': ['2', '1'], 'maximum': ['1', '1']", "empty range"), ("'minimun': ['2', '1']", "and nothing else"),
    ("'open_min': True", "as \"true\" or \"false\""), ("'integer': 'yes'", "as \"true\" or \"false\""),
])
def test_a_parameter_bound_of_the_wrong_shape_is_refused_in_one_sentence(tmp_path, bounds: str, said: str) -> None:
    file = tmp_path / "own.py"
    text = """from proofs_check.claim import Claim, Part
TABLE = {"name": "t", %s}
CLAIM = Claim("X", "x", "own", "x", parts=(Part("p", "one is one", conclusions=("1 == 1",), parameters=(TABLE,)),))
"""
    good = "'minimum': ['1', '2'], 'maximum': ['7', '1'], 'open_min': 'true', 'integer': 'true'"
    file.write_text(text % good, encoding="utf-8")
    assert [claim.id for claim in registry.load_claims(file)] == ["X"]
    file.write_text(text % bounds, encoding="utf-8")
    with pytest.raises(ValueError, match=f"^expected .*{said}") as refused:
        registry.load_claims(file)
    assert "\n" not in str(refused.value)
