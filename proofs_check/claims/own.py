"""A user's own claims: their form is checked when they are loaded; what their functions do wrong is one sentence."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import wraps
from pathlib import Path

from hypothesis.strategies import SearchStrategy

from proofs_check.claim import SOURCE, TYPES, Claim, Hypothesis, Instance, Part, Variant, encode_instance, plain_type
from proofs_check.display import shortened
from proofs_check.kernel import Rejected, canonical
from proofs_check.kernel.formula import FUNCTIONS, parse
from proofs_check.kernel.symbolic import Domain
from theory.statements import Derivation

QUANTIFIERS = ("forall", "exists", "probability")
REQUIRED = ("PROVED", "PROVED ON", "SUPPORTED")
_FUNCTIONS = ("instances", "strategy", "numeric", "sampled", "derivation", "splits")
_BOUNDS, _FLAGS = ("minimum", "maximum"), ("open_min", "open_max", "integer")


def sound(claim: Claim, path: Path) -> Claim:
    """The claim with guarded functions; ValueError with one sentence for a field not of the form `Claim` documents."""
    _texts(claim, "the claim", ("id", "title", "family", "statement", "source", "required", "required_formal"))
    _need(re.fullmatch("[A-Za-z0-9-]{1,64}", claim.id) is not None,
          "an `id` of at most 64 letters, digits and hyphens", claim.id)
    name = f"claim {claim.id}"
    for text in (claim.required, claim.required_formal):
        _need(text in REQUIRED, f"`required` and `required_formal` of {name} among {', '.join(REQUIRED)}", text)
    _items(claim.parts, Part, f"`parts` of {name}", least=1)
    _items(claim.variants, Variant, f"`variants` of {name}")
    _items(claim.uses, str, f"`uses` of {name}")
    _items(claim.scope_notes, str, f"`scope_notes` of {name}")
    parts = tuple(_sound_part(part, path, name) for part in claim.parts)
    variants = tuple(replace(item, part=_sound_part(item.part, path, name)) for item in claim.variants)
    # the default is the project's own source, which a user's claim does not have
    source = "not stated" if claim.source == SOURCE else claim.source
    found = replace(claim, parts=parts, variants=variants, source=source)
    for item in variants:
        _instance(item.part, item.counterexample, f"the counterexample of variant '{item.part.name}' of {name}")
    try:
        canonical(found.document())
    except (Rejected, UnicodeError) as error:
        raise ValueError(f"expected texts that a file can hold in {name}, got {error}; correct {path.name}") from None
    return found


def _sound_part(part: Part, path: Path, owner: str) -> Part:
    _texts(part, f"a part of {owner}", ("name", "text", "quantifier", "attainment"))
    name = f"part '{part.name}' of {owner}"
    _need(_readable(part.name), f"a part's `name` of at most 100 printable letters in {owner}", part.name)
    _need(part.quantifier in QUANTIFIERS, f"`quantifier` of {name} among {', '.join(QUANTIFIERS)}", part.quantifier)
    for field in ("variables", "definitions", "constants"):
        _table(getattr(part, field), f"`{field}` of {name}")
    for variable, kind in part.variables.items():
        _need(isinstance(kind, str) and plain_type(kind) in TYPES,
              f"the type of '{variable}' in {name} among {', '.join(TYPES)}", kind)
    _need(set(part.constants) <= set(part.variables),
          f"`constants` of {name} among its variables", sorted(part.constants))
    _items(part.parameters, Mapping, f"`parameters` of {name}")
    _need(all(isinstance(table.get("name"), str) for table in part.parameters),
          f"a `name` in each parameter of {name}", "one without")
    _domain(part.parameters, name)
    _items(part.hypotheses, Hypothesis, f"`hypotheses` of {name}")
    _items(part.conclusions, str, f"`conclusions` of {name}", least=1)
    _items(part.cases, str, f"`cases` of {name}")
    _need(not part.cases or part.quantifier == "exists", f"`cases` in {name} only with the quantifier exists",
          part.quantifier)
    _need(len(set(part.cases)) == len(part.cases), f"different `cases` in {name}", "one of them twice")
    for item in part.hypotheses:
        _texts(item, f"a hypothesis of {name}", ("name", "text", "formula"))
        _need(_readable(item.name), f"names of hypotheses of {name} of at most 100 printable letters", item.name)
    formulas = [(f"hypothesis '{item.name}'", item.formula) for item in part.hypotheses]
    formulas += [(f"conclusion {number}", text) for number, text in enumerate(part.conclusions, 1)]
    formulas += [(f"the definition of '{item}'", text) for item, text in part.definitions.items()]
    formulas += [(f"case {number}", text) for number, text in enumerate(part.cases, 1)]
    formulas += [("`attainment`", part.attainment)] if part.attainment else []
    names = {*part.variables, *part.definitions, *(str(table["name"]) for table in part.parameters)}
    for what, text in formulas:
        _formula(text, f"{what} of {name}", names)
    known = {"satisfiable": part.satisfiable, "attained": part.attained,
             **{f"counterexample of hypothesis '{item.name}'": item.counterexample for item in part.hypotheses}}
    for field, instance in known.items():
        if instance is not None:
            _instance(part, instance, f"the {field} of {name}")
    given = {field: getattr(part, field) for field in _FUNCTIONS}
    return replace(part, **{field: _guarded(part, field, function, path, name)
                            for field, function in given.items() if function is not None})


def _domain(parameters: Sequence[Mapping[str, object]], name: str) -> None:
    """Bounds as pairs, which is what every reader of a claim takes them for; the kernel reads what is in them."""
    for table in parameters:
        where = f"parameter '{table['name']}' of {name}"
        _need(set(table) <= {"name", *_BOUNDS, *_FLAGS},
              f"{where} to have `name`, `{'`, `'.join(_BOUNDS + _FLAGS)}` and nothing else", sorted(map(str, table)))
        for end in set(_BOUNDS) & set(table):
            pair = table[end]
            _need(isinstance(pair, list) and len(pair) == 2 and all(isinstance(number, str) for number in pair),
                  f"`{end}` of {where} as [numerator, denominator] in texts, such as [\"2\", \"1\"]", pair)
        _need(all(table[flag] in ("true", "false") for flag in set(_FLAGS) & set(table)),
              f"`{'`, `'.join(_FLAGS)}` of {where} as \"true\" or \"false\"", dict(table))
    try:
        Domain(list(map(dict, parameters)))
    except Rejected as error:
        raise ValueError(f"expected `parameters` of {name} that the kernel can read, got: {error}; "
                         "see notes/own-claim.md") from None


def _readable(name: str) -> bool:
    """Names end up in tables and in file names."""
    return 0 < len(name) <= 100 and name.isprintable()


def _formula(text: object, where: str, names: set[str]) -> None:
    """A formula that can be read, whose names are known and whose numbers are exact."""
    _need(isinstance(text, str), f"{where} as text", text)
    try:
        tree = parse(text)
    except Rejected as error:
        raise ValueError(f"expected {where} to be a formula that can be read, got {error}; "
                         "see notes/own-claim.md") from None
    found = list(ast.walk(tree))
    bound = {node.id for node in found if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in found:
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            exact = Fraction(repr(node.value)) if math.isfinite(node.value) else "a whole number"
            raise ValueError(f"expected whole numbers and their quotients in {where}, got {node.value!r} in "
                             f"{_short(text)}; write {exact}")
        if isinstance(node, ast.Name) and node.id not in {*names, *bound, *FUNCTIONS, "pi"}:
            raise ValueError(f"expected names that are declared in {where}, got the unknown name '{node.id}' in "
                             f"{_short(text)}; declare it in `variables` or `definitions`")


def _instance(part: Part, instance: object, what: str) -> None:
    _need(isinstance(instance, Instance), f"{what} to be an Instance", instance)
    _table(instance.values, f"values of {what}")
    _table(instance.witnesses, f"witnesses of {what}")
    wanted = ({*part.variables} | {table["name"] for table in part.parameters}) - {*part.constants}
    _need(set(instance.values) == wanted,
          f"{what} to give exactly {', '.join(sorted(wanted)) or 'nothing'}", sorted(instance.values))
    try:
        canonical(encode_instance(part, instance))
    except Exception as error:  # whatever a value of an unknown kind raises
        raise ValueError(f"expected {what} to hold exact numbers of the declared types, got {_said(error)}; "
                         "correct the values") from None


def _guarded(part: Part, field: str, function: Callable, path: Path, name: str) -> Callable:
    """The same function, whose errors and wrong answers are the file's fault and say so."""
    where = f"`{field}` of {name}"

    def fault(error: BaseException) -> ValueError:
        return ValueError(f"expected {where} in {path.name} to run, got {_said(error)}; correct it")

    def each(found: Iterable) -> Iterator[Instance]:
        try:
            for item in found:
                _instance(part, item, f"an instance from {where}")
                yield item
        except (ValueError, GeneratorExit):
            raise
        except (Exception, SystemExit) as error:
            raise fault(error) from error

    def checked(instance: object) -> object:
        _instance(part, instance, f"an instance from {where}")
        return instance

    @wraps(function)
    def guarded(*arguments: object) -> object:
        try:
            found = function(*arguments)
            match field:
                case "instances":
                    found = each(iter(found))
                case "strategy":
                    _need(isinstance(found, SearchStrategy), f"{where} to return a hypothesis strategy", found)
                    found = found.map(checked)
                case "numeric":
                    found = float(found)
                case "sampled":
                    trials, violations = map(int, found)
                    _need(0 <= violations <= trials and trials > 0, f"{where} to return (trials, violations)", found)
                case "derivation":
                    _need(isinstance(found, Derivation), f"{where} to return a theory.statements.Derivation", found)
                case _:
                    _items(found, str, where)
            return found
        except ValueError:
            raise
        except (Exception, SystemExit) as error:
            raise fault(error) from error

    return guarded


def _texts(record: object, what: str, fields: Sequence[str]) -> None:
    for field in fields:
        _need(isinstance(getattr(record, field), str), f"`{field}` of {what} as text", getattr(record, field))


def _items(value: object, kind: type, what: str, least: int = 0) -> None:
    sequence = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
    _need(sequence and all(isinstance(item, kind) for item in value), f"{what} as a sequence of {kind.__name__}", value)
    _need(len(value) >= least, f"at least one entry in {what}", "none")


def _table(value: object, what: str) -> None:
    _need(isinstance(value, Mapping) and all(isinstance(key, str) for key in value),
          f"{what} as a mapping from names", value)


def _need(condition: bool, expected: str, got: object) -> None:
    if not condition:
        raise ValueError(f"expected {expected}, got {_short(got)}; see notes/own-claim.md and proofs_check/claim.py")


def _short(value: object) -> str:
    try:
        text = repr(value)
    except Exception:  # a user's class may do anything, and a long integer has no decimal text
        return f"a {type(value).__name__}"
    return shortened(text, 80)


def _said(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
