"""The page notes/formulas.md: the formula language, construct by construct, and the operators of false neighbours.

The names come from the kernel and from `proofs_check/claim.py`, the words and examples from `formula_words.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from proofs_check.claim import OPERATORS, TYPES
from proofs_check.claims.own import QUANTIFIERS
from proofs_check.formula_words import (CONSTRUCTS, COVER, FUNCTIONS, KINDS, LIMITS, OPERATOR_WORDS, READ_AS, REASONS,
                                        REFUSED, WITNESSES, Row)
from proofs_check.kernel import functions

HEAD = """# The formula language

Definitions, hypotheses and conclusions of a claim are texts in a subset of Python expressions. The kernel evaluates
them on one instance after the other, exactly: integers and fractions stay fractions, a float64 is the fraction that
it is. `exp`, `log`, `cos`, `sin`, `pi`, `softmax`, roots that are not rational and fractional powers give *balls*,
intervals that contain the true value. A comparison of balls that overlap is undecided, and what is undecided is
rejected after the precision has been raised; nothing is rounded and nothing is guessed. Equality of two balls is
therefore hardly ever decided: compare them with a tolerance, or state the square of a root.

Nothing is searched for either: that a hull contains zero, or that a norm is at most a bound, is shown by a *witness*
which the instance brings along (below), and the kernel only checks it.

A statement is something true or false; a hypothesis or a conclusion must be one, and 0 or an empty list does not
count as false. Definitions are evaluated when they are first used, so one may divide by what a hypothesis makes
positive.
"""
CASES = """Any one instance settles an `exists` part. If its text is about a list ("for T = 3..12"), the part needs
`cases=("T == 3", "T == 4", ...)`: formulas in the variables and definitions, made best from what makes the instances. A
certificate is then accepted only if every case is true on at least one of its instances; a case that is undecided or
undefined everywhere is missing. Only `exists` parts have cases.
"""
PARAMETERS = """## Parameters, derivations and covers

A part about *all* values of some numbers has parameters with bounds in place of variables. A derivation is a list of
lemmas in `+ - * / **` with integer powers, one relation each, and a reason; every divisor must be shown not to be 0.
`proofs_check/examples/repeated_tokens_any_length.py` is a claim made of them, `theory.statements.Lemma` says what each
reason takes:
"""
COVERS = """A cover proves a relation with exp, log or roots on a bounded box: the conclusion is evaluated in balls on
each box of a bisection tree, in the whole language above. `splits` lists the tree in preorder, a parameter's name where
a box is halved along it and `leaf` where it is not."""


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
    return lines + [f"| {' | '.join(row)} |" for row in rows] + [""]


def _row(row: Row) -> tuple[str, str, str]:
    brought = ", ".join(f"`'{key}'`: `{dict(witness)}`" for key, witness in row.witnesses.items())
    shown = f"`{row.example}`" if row.example else "for a cloud"
    return row.form, row.meaning, f"{shown} with {brought}" if brought else shown


def _lemma(reason: str) -> tuple[str, str, str, str, str]:
    meaning, parameters, assumptions, text, rest = REASONS[reason]
    domain = [name if low is None else f"{name} >= {low}" for name, low in parameters] + [*assumptions.values()]
    more = ", ".join(f"`{name}` {value}" for name, value in rest.items())
    return f"`{reason}`", meaning, ", ".join(domain), f"`{text}`", more


def _given(kind: str) -> str:
    value = KINDS[kind][0]
    return "what `inspect` and `cost` write" if value is None else f"`{value}`"


def _number(value: object) -> str:
    return ", ".join(map(_number, value)) if isinstance(value, tuple) else f"{value:,}"


def formulas_page(begin: str) -> str:
    """The whole page; KeyError where the code knows a name that has no words."""
    examples = ("written", "means", "a true example")
    lines = [HEAD, begin, "", "## What can be written", ""]
    lines += _table(examples, [_row(row) for rows in CONSTRUCTS.values() for row in rows])
    lines += ["What is refused, though Python has it:", ""]
    lines += _table(("written", "instead"), [(f"`{text}`", advice) for text, _, advice in REFUSED])
    lines += ["## Functions", ""] + _table(examples, [_row(FUNCTIONS[name]) for name in sorted(functions.FUNCTIONS)])
    lines += ["Witnesses are given with the instance, `Instance(values, {\"k\": {\"normal\": [1, 0]}})`, under the key "
              "that the formula names:", ""]
    lines += _table(("witness", "what it shows"), [(f"`{name}`", text) for name, text in WITNESSES.items()])
    lines += ["## Types of variables", "", "A shape after the type, as in `\"matrix: T d\"`, makes equal letters equal "
              "sizes in all variables of a part.", ""]
    lines += _table(("type", "is", "given as"), [(f"`{name}`", KINDS[name][1], _given(name)) for name in TYPES])
    lines += ["## Quantifiers", ""]
    lines += _table(("quantifier", "the part says"), [(f"`{name}`", READ_AS[name]) for name in QUANTIFIERS])
    lines += [CASES, PARAMETERS]
    lines += _table(("reason", "proves", "for all", "example", "with"), [_lemma(reason) for reason in REASONS])
    box, relation, splits = COVER
    lines += [f"{COVERS} `{relation}` on `{box}` has the splits `{list(splits)}`.", "",
              "## Operators of false neighbours", "", "`part.vary(name, operator, text, counterexample, ...)` "
              "makes a false statement beside a part; the operator says in one word how it was made:", ""]
    lines += _table(("operator", "what was changed"), [(f"`{name}`", OPERATOR_WORDS[name]) for name in OPERATORS])
    lines += ["## Limits", "", "A formula has at most 20,000 ASCII characters and no comments. What would exceed one "
              "of these numbers is rejected as too much work; that never counts as false.", ""]
    lines += _table(("limit", "value", "of"), [(f"`{name}`", _number(getattr(room, name)), text)
                                               for name, (room, text) in LIMITS.items()])
    return "\n".join(lines).rstrip() + "\n"
