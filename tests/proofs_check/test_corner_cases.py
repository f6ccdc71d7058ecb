"""Planted claims that are false in one corner only: the attack finds each by itself, from instances well inside."""

from __future__ import annotations

from fractions import Fraction

import pytest

from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.falsify import attack
from proofs_check.kernel import replay

GENERIC = ([[1, 2, 4], [3, -1, 2]], [[2, 1, 5], [1, 4, -3]], [[5, 0, 1], [2, 2, 7]])
TOKENS = {"x": "matrix: T d"}


def tokens(name: str, *conclusions: str, hypotheses: tuple[Hypothesis, ...] = (), rows=GENERIC) -> Part:
    family = [Instance({"x": item}) for item in rows]
    return Part(name=name, text="", variables=TOKENS, hypotheses=hypotheses, conclusions=conclusions,
                satisfiable=family[0], instances=family)


def gram(name: str, conclusion: str) -> Part:
    """Exchangeable tokens by their Gram numbers, whose matrix is positive semidefinite up to a boundary."""
    return Part(
        name=name, text="", variables={"T": "integer", "rho": "scalar", "beta": "scalar", "sigma2": "scalar"},
        hypotheses=(Hypothesis("size", "", "T >= 2"), Hypothesis("low", "", "(T - 1) * rho >= -1"),
                    Hypothesis("high", "", "rho <= 1"),
                    Hypothesis("sink", "", "sigma2 * (rho + (1 - rho) / T) >= beta * beta")),
        conclusions=(conclusion,),
        instances=[Instance({"T": t, "rho": rho, "beta": 0, "sigma2": 1})
                   for t, rho in ((3, 0), (5, Fraction(1, 2)), (4, Fraction(1, 5)))])


OPEN_HULL = Hypothesis("half-space", "", "all(row[0] > 0 for row in x)")
# part, what its counterexample must look like
PLANTED = (
    (tokens("logits tie", "len(x) < 2 or len(x[0]) < 2 or x[0][0] != x[0][1]"), lambda x: x[0][0] == x[0][1]),
    (tokens("a token is repeated", "all(x[i] != x[j] for i in range(len(x)) for j in range(len(x)) if i < j)"),
     lambda x: any(x[i] == x[j] for i in range(len(x)) for j in range(i))),
    (tokens("fewer dimensions than tokens", "len(x[0]) >= len(x)"), lambda x: len(x[0]) < len(x)),
    (tokens("tokens are dependent", "independent(x)"), lambda x: True),
    (tokens("one token", "len(x) >= 2"), lambda x: len(x) == 1),
    (tokens("two tokens", "len(x) != 2", rows=([[1, 2], [3, -1], [2, 2]], [[1, 0], [0, 1], [5, 1], [1, 1]])),
     lambda x: len(x) == 2),
    (tokens("a hull that is nearly degenerate", "all(row[0] > 1/50 for row in x)", hypotheses=(OPEN_HULL,),
            rows=([[1, 2], [3, -1]], [[2, 1], [1, 4]])), lambda x: any(0 < row[0] and 50 * row[0] <= 1 for row in x)),
    (tokens("zero on the edge of the hull", "any(row[0] != 0 for row in x)",
            hypotheses=(Hypothesis("closed half-space", "", "all(row[0] >= 0 for row in x)"),),
            rows=([[1, 2], [3, -1]], [[2, 1], [1, 4]])), lambda x: all(row[0] == 0 for row in x)),
)


@pytest.mark.parametrize(("part", "there"), PLANTED, ids=[part.name for part, _ in PLANTED])
def test_a_claim_that_fails_in_one_corner_only_falls_there(part, there, tmp_path):
    claim = Claim("own", "", "test", "", (part,))
    found = attack(claim, part, "", 1000)
    assert found.outcome == "refuted" and found.arm != "built-in instances" and there(found.instance.values["x"])
    assert replay(claim.document(), found.certificate, tmp_path).outcome == "refuted"


@pytest.mark.parametrize(("conclusion", "boundary"), [
    ("(T - 1) * rho > -1", lambda v: (v["T"] - 1) * v["rho"] == -1),
    ("rho < 1", lambda v: v["rho"] == 1),
    ("sigma2 * (rho + (1 - rho) / T) > beta * beta",
     lambda v: v["sigma2"] * (v["rho"] + (1 - v["rho"]) / v["T"]) == v["beta"] ** 2),
    ("(T - 1) * rho > -99/100", lambda v: -100 <= 100 * (v["T"] - 1) * v["rho"] <= -99)])
def test_the_boundary_of_positive_semidefinite_grams_is_reached(conclusion, boundary):
    part = gram("gram", conclusion)
    found = attack(Claim("own", "", "test", "", (part,)), part, "", 1000)
    assert found.outcome == "refuted" and boundary(found.instance.values)


def test_a_true_claim_at_the_same_corners_stands():
    part = tokens("true", "all(row[0] >= 0 for row in x)", hypotheses=(OPEN_HULL,), rows=([[1, 2], [3, -1]],))
    assert attack(Claim("own", "", "test", "", (part,)), part, "", 600).outcome == "nothing found"
