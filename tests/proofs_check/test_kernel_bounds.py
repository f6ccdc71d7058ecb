"""Bounds of parameters are hypotheses: a certificate may drop one by its name, and nothing else."""

from __future__ import annotations

from fractions import Fraction

import pytest

from proofs_check.certificates import certificate, instances_body
from proofs_check.claim import Claim, Hypothesis, Instance, Part, bound_formula
from proofs_check.kernel import Rejected, bound_names, replay

PARAMETERS = ({"name": "T", "minimum": ["2", "1"], "integer": "true"},
              {"name": "e", "minimum": ["0", "1"], "open_min": "true", "maximum": ["1", "2"]})
PART = Part(name="p", text="", parameters=PARAMETERS, hypotheses=(Hypothesis("product", "", "T * e <= 1"),),
            conclusions=("e > 0", "2 * e <= 1", "T >= 2", "T != 5/2"))
CLAIM = Claim("own", "", "test", "", (PART,))


def dropped(subject: str, T: object, e: object, tmp_path):
    item = certificate(CLAIM, "p", "dropped", "counterexample", "test",
                       instances_body(PART, [Instance({"T": T, "e": e})]), subject)
    return replay(CLAIM.document(), item, tmp_path)


@pytest.mark.parametrize(("subject", "T", "e"), [
    ("minimum of T", 1, Fraction(1, 2)), ("integer T", Fraction(5, 2), Fraction(1, 4)), ("minimum of e", 2, 0),
    ("minimum of e", 7, -3)])
def test_an_instance_beyond_the_named_bound_shows_that_it_is_needed(subject, T, e, tmp_path):
    record = dropped(subject, T, e, tmp_path)
    assert (record.role, record.subject, record.outcome, record.grade) == ("dropped", subject, "refuted", "exact")


@pytest.mark.parametrize(("subject", "T", "e", "reason"), [
    ("minimum of T", 2, Fraction(1, 2), "meets the bound"), ("minimum of e", 2, Fraction(1, 10**30), "meets the bound"),
    ("integer T", 3, Fraction(1, 4), "meets the bound"),
    ("minimum of T", 1, 0, "e is below"), ("minimum of T", 1, 1, "e is above"),
    ("minimum of e", 1, 0, "T is below"), ("minimum of T", Fraction(3, 2), Fraction(1, 2), "must be an integer"),
    ("maximum of e", 2, Fraction(1, 2) + Fraction(1, 10**30), "violates a hypothesis"),
    ("minimum of x", 1, 0, "no hypothesis"), ("maximum of T", 1, 0, "no hypothesis"), ("product", 1, 1, "T is below")])
def test_nothing_but_the_named_bound_is_dropped(subject, T, e, reason, tmp_path):
    with pytest.raises(Rejected, match=reason):
        dropped(subject, T, e, tmp_path)


def test_a_hypothesis_with_the_name_of_a_bound_is_refused(tmp_path):
    part = Part(name="p", text="", parameters=PARAMETERS, hypotheses=(Hypothesis("minimum of T", "", "T >= 2"),),
                conclusions=("T >= 2",))
    claim = Claim("own", "", "test", "", (part,))
    item = certificate(claim, "p", "dropped", "counterexample", "test",
                       instances_body(part, [Instance({"T": 1, "e": Fraction(1, 2)})]), "minimum of T")
    with pytest.raises(Rejected, match="name of a parameter's bound"):
        replay(claim.document(), item, tmp_path)


def test_bounds_are_named_and_written_as_formulas():
    assert list(bound_names(PARAMETERS)) == ["minimum of T", "integer T", "minimum of e", "maximum of e"]
    assert [bound_formula(PARAMETERS, name) for name in bound_names(PARAMETERS)] == ["T >= 2", "", "e > 0", "e <= 1/2"]
    assert list(PART.subjects()) == ["product", *bound_names(PARAMETERS)]
