"""Derivations and covers: each reason is seen to accept and to reject, and unsound ones above all."""

from __future__ import annotations

import pytest

from proofs_check.kernel.encoding import Rejected
from proofs_check.kernel.symbolic import check_cover, check_derivation


def parameter(name: str, low: str | None = None, high: str | None = None, open_min: bool = False,
              open_max: bool = False):
    table = {"name": name}
    if low is not None:
        table["minimum"] = [low, "1"]
    if high is not None:
        table["maximum"] = [high, "1"]
    return table | ({"open_min": "true"} if open_min else {}) | ({"open_max": "true"} if open_max else {})


X = parameter("x", "1")
Y = parameter("y", "0", "1")
FREE = parameter("z")


def part(conclusion: str, parameters: list, assumptions: dict | None = None, definitions: list | None = None) -> dict:
    return {"parameters": parameters, "definitions": definitions or [], "conclusions": [conclusion],
            "hypotheses": [{"name": name, "formula": text} for name, text in (assumptions or {}).items()]}


def proves(conclusion: str, parameters: list, *before: dict, by: str = "orthant", assumptions: dict | None = None,
           definitions: list | None = None, **data: object) -> None:
    check_derivation(part(conclusion, parameters, assumptions, definitions),
                     [*before, {"formula": conclusion, "by": by, **data}])


def terms(*pairs: tuple[str, list[str]]) -> list:
    return [[[weight, "1"], factors] for weight, factors in pairs]


ACCEPTED = {
    "lower bound": lambda: proves("x >= 1", [X]),
    "strict above a closed bound": lambda: proves("x > 0", [X]),
    "strict at an open bound": lambda: proves("x > 1", [parameter("x", "1", open_min=True)]),
    "box": lambda: proves("y*(1 - y) >= 0", [Y]),
    "box strict inside": lambda: proves("y*(1 - y) > 0", [parameter("y", "0", "1", True, True)]),
    "box strict on closed ends": lambda: proves("1 + y - y**2 > 0", [Y]),
    "upper bound": lambda: proves("2 - w >= 0", [parameter("w", None, "2")]),
    "free even": lambda: proves("z**2 + 1 > 0", [FREE]),
    "division": lambda: proves("1/x <= 1", [X]),
    "identity": lambda: proves("(x**2 - 1)/(x + 1) == x - 1", [X], by="identity"),
    "identity modulo an assumption": lambda: proves("w**4 == (x + 1)**2", [X, parameter("w", "0")], by="identity",
                                                    assumptions={"root": "w**2 == x + 1"},
                                                    multipliers={"root": "w**2 + x + 1"}),
    "square": lambda: proves("z**2 - 2*z + 1 >= 0", [FREE], by="terms", terms=terms(("1", ["(z - 1)**2"]))),
    "product of known": lambda: proves("(x - 1)*y >= 0", [X, Y], by="terms", terms=terms(("1", ["x - 1", "y"]))),
    "strict term": lambda: proves("z**2 + x > 0", [FREE, X], by="terms", terms=terms(("1", ["z**2"]), ("1", ["x"]))),
    "assumption": lambda: proves("z + 1 > 0", [FREE], by="terms", assumptions={"a": "z > 0"},
                                 terms=terms(("1", ["z"]), ("1", ["1"]))),
    "factor": lambda: proves("sign(x*z) == sign(z)", [X, FREE], {"formula": "x > 0", "by": "orthant"}, by="factor",
                             factor="x"),
    "divisor by assumption": lambda: proves("z/z == 1", [FREE], by="identity", assumptions={"a": "z > 0"}),
    "definition": lambda: proves("t >= 1", [X], definitions=[["t", "x**2"]]),
    "earlier lemma": lambda: proves("z**2*(x + 1) >= 0", [X, FREE], {"formula": "x + 1 > 0", "by": "orthant"},
                                    by="terms", terms=terms(("1", ["z**2", "x + 1"]))),
}

REJECTED = {
    "false bound": lambda: proves("x >= 2", [X]),
    "strict at a closed bound": lambda: proves("x > 1", [X]),
    "strict at a closed end": lambda: proves("y*(1 - y) > 0", [Y]),
    "strict at one closed end": lambda: proves("y > 0", [parameter("y", "0", "1", False, True)]),
    "strict at the upper end": lambda: proves("1 - y > 0", [parameter("y", "0", "1", True, False)]),
    "free odd": lambda: proves("z >= 0", [FREE]),
    "free strict": lambda: proves("z**2 > 0", [FREE]),
    "flipped": lambda: proves("1 - x >= 0", [X]),
    "not an identity": lambda: proves("(x + 1)**2 == x**2 + x + 1", [X], by="identity"),
    "identity for an inequality": lambda: proves("x >= x", [X], by="identity"),
    "multiplier of an unknown assumption": lambda: proves("x == 1", [X], by="identity", multipliers={"a": "1"}),
    "multiplier of an inequality": lambda: proves("x == 1", [X], by="identity", assumptions={"a": "x > 1"},
                                                  multipliers={"a": "1"}),
    "division by what may vanish": lambda: proves("z/z == 1", [FREE], by="identity"),
    "division by zero at the bound": lambda: proves("1/(x - 1) >= 0", [X]),
    "division in a factor": lambda: proves("sign(z) == sign(z)", [FREE], by="factor", factor="z/z"),
    "division hidden in a definition": lambda: proves("t == 1", [FREE], by="identity", definitions=[["t", "z/z"]]),
    "division by zero polynomial": lambda: proves("1/(z - z) == 1", [FREE], by="identity"),
    "negative weight": lambda: proves("0 - z**2 >= 0", [FREE], by="terms", terms=[[["-1", "1"], ["z**2"]]]),
    "zero weight": lambda: proves("0 >= 0", [FREE], by="terms", terms=[[["0", "1"], ["z**2"]]]),
    "unknown factor": lambda: proves("z >= 0", [FREE], by="terms", terms=terms(("1", ["z"]))),
    "odd power": lambda: proves("z**3 >= 0", [FREE], by="terms", terms=terms(("1", ["z**3"]))),
    "terms that do not add up": lambda: proves("z**2 >= 0", [FREE], by="terms", terms=terms(("2", ["z**2"]))),
    "strict from a weak term": lambda: proves("z**2 > 0", [FREE], by="terms", terms=terms(("1", ["z**2"]))),
    "wrong factor": lambda: proves("sign(2*z) == sign(z)", [FREE], by="factor", factor="3"),
    "negative factor": lambda: proves("sign(0 - z) == sign(z)", [FREE], by="factor", factor="-1"),
    "factor that may vanish": lambda: proves("sign(z**3) == sign(z)", [FREE], by="factor", factor="z**2"),
    "lemma used before it is proved": lambda: check_derivation(part("z >= 0", [FREE]), [
        {"formula": "z >= 0", "by": "terms", "terms": terms(("1", ["z"]))}]),
    "conclusion missing": lambda: check_derivation(part("x >= 1", [X]), [{"formula": "x >= 0", "by": "orthant"}]),
    "no conclusion": lambda: check_derivation(part("x >= 1", [X]) | {"conclusions": []}, []),
    "unknown reason": lambda: proves("x >= 1", [X], by="obvious"),
    "unknown name": lambda: proves("q >= 1", [X]),
    "float": lambda: proves("x >= 0.5", [X]),
    "call": lambda: proves("exp(x) >= 1", [X]),
    "chain": lambda: proves("x >= 1 >= 0", [X]),
    "not equal": lambda: proves("x != 0", [X]),
    "repeated parameter": lambda: proves("x >= 1", [X, X]),
    "empty range": lambda: proves("x >= 1", [parameter("x", "1", "1")]),
    "definition twice": lambda: proves("t >= 1", [X], definitions=[["t", "x"], ["t", "x"]]),
    "definition hides a parameter": lambda: proves("x >= 2", [X], definitions=[["x", "2"]]),
    "definitions in a circle": lambda: proves("t >= 1", [X], definitions=[["t", "s"], ["s", "t"]]),
    "assumption made from a sign": lambda: proves("x >= 1", [X], assumptions={"a": "sign(x) == sign(1)"}),
    "huge power": lambda: proves("x**99999 >= 1", [X]),
    "an inequality proved by factor": lambda: proves("x >= 1", [X], by="factor", factor="1"),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_true_lemma_with_its_reason_is_accepted(name: str) -> None:
    ACCEPTED[name]()


@pytest.mark.parametrize("name", REJECTED)
def test_a_false_or_unfounded_lemma_is_rejected(name: str) -> None:
    with pytest.raises(Rejected):
        REJECTED[name]()


def cover(conclusion: str, splits: list[str], parameters: list | None = None) -> None:
    check_cover(part(conclusion, [Y] if parameters is None else parameters), splits)


def test_a_cover_proves_what_balls_can_see() -> None:
    cover("exp(y) > 0", ["leaf"])
    cover("exp(y) - y > 1/4", ["y", "leaf", "leaf"])


@pytest.mark.parametrize(("conclusion", "splits"), [
    ("exp(y) - y > 1", ["leaf"]), ("exp(y) > 2", ["y", "leaf", "leaf"]), ("exp(y) - y > 1/4", ["leaf"]),
    ("exp(y) - y > 1/4", ["y", "leaf"]),
    ("exp(y) > 0", ["leaf", "leaf"]), ("exp(y) > 0", []), ("exp(y) > 0", ["x", "leaf", "leaf"]),
])
def test_a_cover_that_does_not_cover_or_decide_is_rejected(conclusion: str, splits: list[str]) -> None:
    with pytest.raises(Rejected):
        cover(conclusion, splits)


def test_a_cover_needs_a_bounded_box() -> None:
    with pytest.raises(Rejected):
        cover("x > 0", ["leaf"], [X])
