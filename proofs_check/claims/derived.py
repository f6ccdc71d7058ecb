"""Parts whose statement is a derivation of `theory`, with words for its assumptions and values for its parameters."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from hypothesis import strategies as st

from proofs_check.claim import Instance, Part, Variant
from proofs_check.claims.building import Choose
from proofs_check.engines.derivations import symbolic_part

Values = Mapping[str, object]


def derived(recipe: Callable, name: str, text: str, *, default: object = None, satisfiable: Values | None = None,
            counterexamples: Mapping[str, Values] | None = None, words: Mapping[str, str] | None = None,
            **extra: object) -> Part:
    """The derivation's statement as a part; `satisfiable` gives its parameters, or `default` does for all of them."""
    part = symbolic_part(recipe, name, text, **extra)
    known = words or {}
    examples = counterexamples or {}
    if not set(examples) <= {item.name for item in part.hypotheses}:
        raise ValueError(f"expected counterexamples for hypotheses of '{name}', got {sorted(examples)}; correct a name")
    hypotheses = tuple(
        replace(item, text=known.get(item.name, item.name),
                counterexample=Instance(dict(examples[item.name])) if item.name in examples else None)
        for item in part.hypotheses)
    values = satisfiable if satisfiable is not None else {table["name"]: default for table in part.parameters}
    return replace(part, hypotheses=hypotheses, satisfiable=Instance(dict(values)))


def false_formula(part: Part, name: str, operator: str, text: str, values: Values, *,
                  bounds: Mapping[str, dict] | None = None,
                  **changes: object) -> Variant:
    """A false neighbour of a derived part, refuted at one point; `bounds` replaces the range of a parameter."""
    changed = bounds or {}
    tables = tuple({"name": table["name"], **changed[table["name"]]} if table["name"] in changed else table
                   for table in part.parameters)
    return part.vary(name, operator, text, Instance(dict(values)), parameters=tables, derivation=None, instances=None,
                     strategy=None, numeric=None, **changes)


def points(build: Callable[[Choose], Values], count: int = 48) -> Callable[[int], Iterator[Instance]]:
    """Built-in points of a derived part, from a seed."""

    def instances(seed: int) -> Iterator[Instance]:
        generator = random.Random(seed)
        for _ in range(count):
            yield Instance(dict(build(generator.randint)))

    return instances


def drawn(build: Callable[[Choose], Values]) -> Callable[[], st.SearchStrategy[Instance]]:
    """The same construction with integers drawn, and shrunk, by hypothesis."""
    @st.composite
    def point(draw: st.DrawFn) -> Instance:
        return Instance(dict(build(lambda low, high: draw(st.integers(low, high)))))

    return point
