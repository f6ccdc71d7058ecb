"""Claims as data: parts with formulas, hypotheses with their ledger, false variants, and where evidence comes from.

A `Part` is a statement that the kernel can evaluate (its formulas are in the kernel's language, see
`proofs_check/kernel/formula.py`) together with the sources of evidence for it.  Only the statement goes into
`claim.json`; the rest says how to gather certificates.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources

from proofs_check.kernel import CLAIM_SCHEMA, bound_names, write_number

TYPES = ("integer", "set", "integers", "pairs", "scalar", "vector", "matrix", "matrices", "cloud")
OPERATORS = (
    "flip inequality", "strict for non-strict", "T for T-1", "p for p*", "swap sink and diagonal", "drop hypothesis",
    "constant moved", "transpose", "wrong mask", "wrong matrix", "centroid for min-norm point", "missing square root",
    "exponent moved", "wrong converse", "trap",
)


@dataclass(frozen=True)
class Instance:
    """Values for a part's variables (ints, Fractions, floats, nested sequences) and witnesses for its predicates.

    Witnesses are keyed as the formula names them: ``{"normal": [...]}``, ``{"weights": {index: weight}}``,
    ``{"basis": [...]}`` for `separable`, ``{"left": ..., "values": ..., "right": ...}`` for `norm_at_most`.
    """

    values: Mapping[str, object]
    witnesses: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


@dataclass(frozen=True)
class Hypothesis:
    """A named hypothesis; `counterexample` violates the part while meeting every *other* hypothesis.

    Without a counterexample the ledger says "not known to be needed".
    """

    name: str
    text: str
    formula: str
    counterexample: Instance | None = None


@dataclass(frozen=True)
class Part:
    """One statement: for all (or for some) values of the variables, the hypotheses imply the conclusions.

    A variable's type may carry a shape, as in ``"matrix: T d"``: each letter is one number throughout an instance.
    `quantifier` is "forall", "exists", or "probability" (the formula is an event whose probability the text bounds).
    `satisfiable` meets every hypothesis; `attained` also turns the bound into the equality `attainment`.
    `instances(seed)` yields built-in instances that meet the hypotheses; `strategy()` is a hypothesis strategy that
    constructs such instances; `numeric(values)` is the second route: the slack of the conclusion computed by
    `numerics` on float arrays, negative where it fails.  `derivation()` hands over a `theory.statements.Derivation`,
    whose conclusions must then be the part's.  `sampled(seed, trials)` makes independent trials and returns (trials,
    violations).  A formal theorem is looked up by (claim id, part name).
    `bounds` holds counterexamples to the part without a bound of a parameter, by the names that `subjects` lists.
    `cases` are formulas in the variables and definitions of an "exists" part whose text is about a list: the kernel
    asks for an instance of each.  An "exists" part without cases is settled by any one instance.
    """

    name: str
    text: str
    variables: Mapping[str, str] = field(default_factory=dict)
    hypotheses: Sequence[Hypothesis] = ()
    conclusions: Sequence[str] = ()
    definitions: Mapping[str, str] = field(default_factory=dict)
    parameters: Sequence[Mapping[str, str]] = ()
    constants: Mapping[str, object] = field(default_factory=dict)
    quantifier: str = "forall"
    attainment: str = ""
    satisfiable: Instance | None = None
    attained: Instance | None = None
    instances: Callable[[int], Iterable[Instance]] | None = None
    strategy: Callable[[], object] | None = None
    numeric: Callable[[Mapping[str, object]], float] | None = None
    sampled: Callable[[int, int], tuple[int, int]] | None = None
    derivation: Callable[[], object] | None = None
    splits: Callable[[], Sequence[str]] | None = None
    bounds: Mapping[str, Instance] = field(default_factory=dict)
    cases: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.instances is not None and not callable(self.instances):
            given = tuple(self.instances)  # a plain list is a family that does not depend on the seed
            object.__setattr__(self, "instances", lambda seed: given)
        for name in ("strategy", "numeric", "sampled", "derivation", "splits"):
            value = getattr(self, name)
            if value is not None and not callable(value):
                raise ValueError(f"expected `{name}` of part '{self.name}' to be a function, got "
                                 f"{type(value).__name__}; wrap it, as in lambda: value")

    def subjects(self) -> dict[str, Instance | None]:
        """All that can be dropped, hypotheses and bounds of parameters, with its counterexample if one is known."""
        return {**{item.name: item.counterexample for item in self.hypotheses},
                **{name: self.bounds.get(name) for name in bound_names(self.parameters)}}

    def hypothesis(self, name: str) -> Hypothesis:
        """The hypothesis of that name; ValueError where there is none."""
        for item in self.hypotheses:
            if item.name == name:
                return item
        raise ValueError(f"expected a hypothesis of part '{self.name}', got '{name}'; choose from "
                         f"{[item.name for item in self.hypotheses]}")

    def instead(self, name: str, *others: Hypothesis) -> tuple[Hypothesis, ...]:
        """The part's hypotheses with `others` in place of the named one."""
        at = self.hypotheses.index(self.hypothesis(name))
        return (*self.hypotheses[:at], *others, *self.hypotheses[at + 1:])

    def vary(self, name: str, operator: str, text: str, counterexample: Instance, *, drop: Sequence[str] = (),
             **changes: object) -> Variant:
        """A false neighbour of this part: some fields changed, some hypotheses dropped, and what refutes it."""
        known = {item.name for item in self.hypotheses}
        if not set(drop) <= known:
            raise ValueError(f"expected hypotheses of part '{self.name}' to drop, got {sorted(set(drop) - known)}; "
                             f"choose from {sorted(known)}")
        changes.setdefault("quantifier", "forall")  # to be refuted, a statement has to be about all instances
        changes.setdefault("cases", ())  # and then it has none to list
        kept = tuple(changes.pop("hypotheses", [item for item in self.hypotheses if item.name not in drop]))
        return Variant(operator, counterexample,
                       replace(self, name=name, text=text, hypotheses=kept, attainment="", satisfiable=None,
                               attained=None, bounds={}, **changes))


@dataclass(frozen=True)
class Variant:
    """A false statement near a true one, with the instance that refutes it.

    The operator `trap` marks a version that once looked right.
    """

    operator: str
    counterexample: Instance
    part: Part

    def __post_init__(self) -> None:
        if self.operator not in OPERATORS:
            raise ValueError(f"expected a named operator, got {self.operator!r}; choose from {', '.join(OPERATORS)}, "
                             "see notes/formulas.md")


#: where the claims that ship with the project come from
SOURCE = "our reconstruction of arXiv 2605.08453"


@dataclass(frozen=True)
class Claim:
    """A claim of the theory.

    `required` is the headline that a full run must reach without Rocq; `required_formal` the one when the gate ran.
    `uses` lists the ids of claims whose truth this one takes over; `scope_notes` are said wherever the claim is.
    """

    id: str
    title: str
    family: str
    statement: str
    parts: Sequence[Part]
    variants: Sequence[Variant] = ()
    uses: Sequence[str] = ()
    required: str = "PROVED ON"
    required_formal: str = "PROVED"
    source: str = SOURCE
    scope_notes: Sequence[str] = ()

    def document(self) -> dict:
        """The content of `claim.json`: statements only."""
        return {
            "schema": CLAIM_SCHEMA, "id": self.id, "title": self.title, "family": self.family,
            "statement": self.statement, "source": self.source, "uses": list(self.uses),
            "scope_notes": list(self.scope_notes),
            "parts": [_statement(part, formal_theorem(self.id, part.name)) for part in self.parts],
            "variants": [{**_statement(item.part, {}), "operator": item.operator} for item in self.variants],
        }


def bound_formula(parameters: Sequence[Mapping[str, object]], subject: str) -> str:
    """A parameter's bound as a formula, by its name in `Part.subjects`; "" for "is an integer", which is none."""
    name, kind = bound_names(parameters)[subject]
    if kind == "integer":
        return ""
    table = next(item for item in parameters if item["name"] == name)
    is_open = table.get("open_min" if kind == "minimum" else "open_max") == "true"
    top, bottom = table[kind]
    value = top if bottom == "1" else f"{top}/{bottom}"
    return f"{name} {'>' if kind == 'minimum' else '<'}{'' if is_open else '='} {value}"


def _statement(part: Part, formal: dict) -> dict:
    types = dict(part.variables)
    return {
        "name": part.name, "text": part.text, "quantifier": part.quantifier,
        "variables": [{"name": name, "type": plain_type(kind), "shape": kind.partition(":")[2].split()}
                      for name, kind in types.items()],
        "parameters": [dict(table) for table in part.parameters],
        "constants": {name: encode(value, types[name]) for name, value in part.constants.items()},
        "definitions": [[name, text] for name, text in part.definitions.items()],
        "hypotheses": [{"name": item.name, "text": item.text, "formula": item.formula} for item in part.hypotheses],
        "conclusions": list(part.conclusions), "attainment": part.attainment, "formal": formal,
        **({"cases": list(part.cases)} if part.cases else {}),  # left out where empty: the digests of old claims stay
    }


def plain_type(kind: str) -> str:
    """The type without its shape."""
    return kind.partition(":")[0]


def encode(value: object, kind: str) -> object:
    """A value in certificate form, by its declared type."""
    kind = plain_type(kind)
    if kind not in TYPES:
        raise ValueError(f"expected one of {TYPES} as a variable's type, got {kind!r}")
    if kind == "cloud":
        return value
    if kind == "integer":
        return str(int(value))
    if kind in ("set", "integers"):
        return [str(int(item)) for item in value]
    if kind == "pairs":
        return [[str(int(end)) for end in pair] for pair in value]
    depth = {"scalar": 0, "vector": 1, "matrix": 2, "matrices": 3}[kind]
    return _nested(value, depth)


def _nested(value: object, depth: int) -> object:
    if depth:
        return [_nested(item, depth - 1) for item in value]
    return write_number(value.item() if hasattr(value, "item") else value)


def encode_instance(part: Part, instance: Instance) -> dict:
    types = {**{table["name"]: "scalar" for table in part.parameters}, **part.variables}
    return {
        "values": {name: encode(value, types[name]) for name, value in instance.values.items()},
        "witnesses": {key: {name: _witness(name, value) for name, value in witness.items()}
                      for key, witness in instance.witnesses.items()},
    }


def _witness(name: str, value: object) -> object:
    if name == "weights":
        return [[str(int(index)), write_number(weight)] for index, weight in sorted(value.items())]
    if name == "basis":
        return [str(int(index)) for index in value]
    return _nested(value, {"normal": 1, "values": 1, "left": 2, "right": 2}[name])


@cache
def _theorems() -> dict:
    path = resources.files("proofs_check") / "formal" / "theorems.json"
    return json.loads(path.read_text()) if path.is_file() else {"sources": {}, "theorems": []}


def formal_theorem(claim: str, part: str) -> dict:
    """The Rocq theorem pinned for a part, with every source it may need; {} if there is none."""
    table = _theorems()
    for entry in table["theorems"]:
        if (entry["claim"], entry["part"]) == (claim, part):
            return {"theorem": entry["theorem"], "file": entry["file"], "sources": dict(table["sources"])}
    return {}
