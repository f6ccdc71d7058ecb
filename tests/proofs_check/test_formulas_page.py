"""The page of the formula language: its examples are true, nothing that the code knows is left out, errors name it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from oracle import evaluate

from proofs_check import formula_words as words
from proofs_check.claim import OPERATORS, TYPES, Instance, Part, Variant, encode, encode_instance
from proofs_check.claims.own import QUANTIFIERS
from proofs_check.formulas_page import formulas_page
from proofs_check.kernel import Rejected, encoding, formula, functions, norms, separation, symbolic, values
from proofs_check.kernel.encoding import read_value
from proofs_check.kernel.formula import decide, parse
from proofs_check.kernel.symbolic import check_cover, check_derivation

ROWS = [(name, row) for name, row in words.FUNCTIONS.items()] + [
    (name, row) for name, rows in words.CONSTRUCTS.items() for row in rows]
KERNEL = (encoding, formula, functions, norms, separation, symbolic, values)


def truth(text: str, witnesses: object = None) -> bool:
    brought = encode_instance(Part("any", "any"), Instance({}, witnesses or {}))["witnesses"]
    return decide({}, [], [], [text], brought)[1]


def kinds(text: str) -> set[str]:
    """The handlers of the evaluator that a formula needs."""
    return {type(node).__name__.lower() for node in ast.walk(parse(text))}


def operations(text: str) -> set[type]:
    """The signs, relations and connectives in a formula."""
    return {type(node) for node in ast.walk(parse(text))
            if isinstance(node, (ast.operator, ast.unaryop, ast.boolop, ast.cmpop))}


@pytest.mark.parametrize(("name", "row"), [item for item in ROWS if item[1].example], ids=lambda item: str(item)[:30])
def test_an_example_is_true_uses_what_it_is_about_and_its_negation_is_false(name: str, row: words.Row) -> None:
    assert truth(row.example, row.witnesses) is True
    assert truth(f"not ({row.example})", row.witnesses) is False
    called = {node.func.id for node in ast.walk(parse(row.example)) if isinstance(node, ast.Call)}
    assert name in called | kinds(row.example)
    assert set(row.witnesses) <= {node.value for node in ast.walk(parse(row.example)) if isinstance(node, ast.Constant)}


def test_an_independent_reading_finds_the_exact_examples_true() -> None:
    lazy = {"implies", "tuple", "subscript"}  # what plain Python reads in another way
    exact = [row.example for name, row in ROWS if row.example and not row.witnesses and name not in lazy
             and not decide({}, [], [], [row.example], {})[2]]
    assert len(exact) > 30 and [text for text in exact if evaluate(text, {}) is not True] == []


@pytest.mark.parametrize("text", ["dot([1, 2], [3, 4]) == 12", "rank([[1, 2], [2, 4]]) == 2", "pi > 22/7"])
def test_an_example_that_is_false_is_seen(text: str) -> None:
    assert truth(text) is False


def test_every_function_construct_and_sign_of_the_language_has_its_words() -> None:
    assert set(words.FUNCTIONS) == set(functions.FUNCTIONS)
    handlers = {name.removeprefix("_") for name in vars(formula.Evaluator) if hasattr(ast, _camel(name))}
    assert set(words.CONSTRUCTS) == handlers and len(handlers) == 13
    shown = set().union(*(operations(row.example) for rows in words.CONSTRUCTS.values() for row in rows))
    assert shown == {ast.Add, ast.Sub, ast.Mult, ast.Div, ast.MatMult, ast.Pow, ast.USub, ast.Not, ast.And, ast.Or,
                     ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.In, ast.NotIn}
    for operation in vars(ast).values():  # every sign that Python has and the examples do not show is refused
        if isinstance(operation, type) and issubclass(operation, (ast.operator, ast.cmpop)) \
                and operation not in shown | {ast.operator, ast.cmpop}:
            with pytest.raises(Rejected):
                truth(ast.unparse(_applied(operation)))


def _camel(name: str) -> str:
    found = [kind for kind in vars(ast) if f"_{kind.lower()}" == name]
    return found[0] if found else "-"


def _applied(operation: type) -> ast.expr:
    one = ast.Constant(1)
    if issubclass(operation, ast.cmpop):
        return ast.Compare(one, [operation()], [one])
    return ast.Compare(ast.BinOp(one, operation(), one), [ast.Eq()], [one])


@pytest.mark.parametrize(("written", "text", "advice"), words.REFUSED)
def test_what_the_page_says_is_refused_is(written: str, text: str, advice: str) -> None:
    with pytest.raises(Rejected):
        truth(text)
    assert advice


def test_types_quantifiers_and_operators_have_their_words() -> None:
    assert set(words.KINDS) == set(TYPES)
    assert set(words.READ_AS) == set(QUANTIFIERS)
    assert set(words.OPERATOR_WORDS) == set(OPERATORS)


@pytest.mark.parametrize("kind", sorted(set(TYPES) - {"cloud"}))
def test_a_value_is_given_as_the_page_says(kind: str) -> None:
    read_value(encode(words.KINDS[kind][0], kind), kind, Path(), "value")
    with pytest.raises(Exception):  # noqa: B017  whatever the wrong kind of value raises, it does not pass
        read_value(encode("text", kind), kind, Path(), "value")


def part_of(parameters: list[dict], conclusion: str, assumptions: dict[str, str]) -> dict:
    return {"parameters": parameters, "definitions": [], "conclusions": [conclusion],
            "hypotheses": [{"name": name, "formula": text} for name, text in assumptions.items()]}


def test_every_reason_of_the_kernel_is_on_the_page() -> None:
    assert set(words.REASONS) == set(re.findall(r'\bby == "(\w+)"', Path(symbolic.__file__).read_text()))


@pytest.mark.parametrize("reason", words.REASONS)
def test_the_example_of_a_reason_is_replayed_and_needs_what_it_gives(reason: str) -> None:
    _, domain, assumptions, text, rest = words.REASONS[reason]
    parameters = [{"name": name} | ({"minimum": [low, "1"]} if low is not None else {}) for name, low in domain]
    check_derivation(part_of(parameters, text, assumptions), [{"formula": text, "by": reason, **rest}])
    bare = part_of([{"name": name} for name, _ in domain], text, {})
    with pytest.raises(Rejected):  # without the bounds and assumptions, or without the data
        check_derivation(bare, [{"formula": text, "by": reason, **({"terms": []} if reason == "terms" else rest)}])


def test_the_example_of_a_cover_is_replayed_and_needs_its_split() -> None:
    box, text, splits = words.COVER
    part = part_of([{"name": name, "minimum": [low, "1"], "maximum": [high, "1"]} for name, (low, high) in box.items()],
                   text, {})
    check_cover(part, list(splits))
    with pytest.raises(Rejected, match="undecided"):
        check_cover(part, ["leaf"])


def test_every_limit_of_the_kernel_is_on_the_page() -> None:
    named = {name for room in KERNEL for name in vars(room)
             if name.startswith("MAX_") or name.endswith(("PRECISION", "PRECISIONS"))}
    assert set(words.LIMITS) == named
    parse("1" + " " * 19_999)
    with pytest.raises(Rejected, match="20,000"):
        parse("1" + " " * 20_000)


def test_every_form_of_witness_is_on_the_page() -> None:
    named = [name for text in words.WITNESSES for name in text.split(", ")]
    with pytest.raises(Rejected, match="exactly one of (.*)") as caught:
        decide({}, [], [], ["separable([[1]], 'k')"], {"k": {}})
    either = str(caught.value).partition("exactly one of ")[2].split(", ")
    row = words.FUNCTIONS["norm_at_most"]
    whole = encode_instance(Part("any", "any"), Instance({}, row.witnesses))["witnesses"]["k"]
    assert [*either, *whole] == named
    for name in whole:
        with pytest.raises(Rejected, match=f"'{name}' is missing"):
            decide({}, [], [], [row.example], {"k": {other: value for other, value in whole.items() if other != name}})


def test_a_name_without_words_fails_the_page(monkeypatch) -> None:
    assert "`softmax(v)`" in formulas_page("")
    monkeypatch.setitem(functions.FUNCTIONS, "hull", None)
    with pytest.raises(KeyError, match="hull"):
        formulas_page("")


@pytest.mark.parametrize("text", ["positive(1)", "(lambda: 1)() == 1", "[[1]].T == [[1]]", "7 // 2 == 3", "1 is 1"])
def test_an_error_about_the_language_names_the_page(text: str) -> None:
    with pytest.raises(Rejected, match="notes/formulas.md"):
        truth(text)


def test_an_unknown_function_and_operator_are_told_what_there_is() -> None:
    with pytest.raises(Rejected, match="'positive'.*abs, all, any, cos, dot"):
        truth("positive(1)")
    with pytest.raises(ValueError, match="'sign flipped'.*flip inequality, .*trap.*notes/formulas.md"):
        Variant("sign flipped", Instance({}), Part("any", "any"))
