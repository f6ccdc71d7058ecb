"""Parts whose statement is a derivation of `theory`, with words for its assumptions and values for its parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from hypothesis import strategies as st

from proofs_check.claim import Instance, Part, Variant
from proofs_check.claims.equivalence.building import Choose
from proofs_check.engines.derivations import symbolic_part

#: what the assumptions of the derivations mean in the model
WORDS = {
    "nondegenerate": "rho g + t0 + D > 0: both are >= 0 in every model, so this excludes (rho g, D) = (0, -t0), where the "
                     "diagonal's output is 0",
    "energy": "t0 + D >= 0: it is the energy tr R(1+V)^T M(1+V)",
    "energy_t": "t0 + 2(1-t) tau + (1-t)^2 phi >= 0: it is an energy, tr R(1+cV)^T M(1+cV) at c = 1-t",
    "energy_s": "the same energy at s",
    "root_a": "w_a = 1/sqrt(h(a)), the scale of a token in a block of size a",
    "root_b": "w_b = 1/sqrt(h(b))",
    "root_m": "w_m = 1/sqrt(h(a+b))",
    "pair": "‖(x_1 + w) + (x_2 + w)‖^2 >= 0",
}

Values = Mapping[str, object]


def derived(recipe: Callable, name: str, text: str, *, default: object = None, satisfiable: Values | None = None,
            counterexamples: Mapping[str, Values] | None = None, words: Mapping[str, str] | None = None,
            **extra: object) -> Part:
    """The derivation's statement as a part; `satisfiable` gives its parameters, or `default` does for all of them."""
    part = symbolic_part(recipe, name, text, **extra)
    known = {**WORDS, **(words or {})}
    examples = counterexamples or {}
    if not set(examples) <= {item.name for item in part.hypotheses}:
        raise ValueError(f"expected counterexamples for hypotheses of '{name}', got {sorted(examples)}; correct a name")
    hypotheses = tuple(
        replace(item, text=known.get(item.name, item.name),
                counterexample=Instance(dict(examples[item.name])) if item.name in examples else None)
        for item in part.hypotheses)
    values = satisfiable if satisfiable is not None else {table["name"]: default for table in part.parameters}
    return replace(part, hypotheses=hypotheses, satisfiable=Instance(dict(values)))


def false_formula(part: Part, name: str, operator: str, text: str, values: Values, *, bounds: Mapping[str, dict] | None = None,
                  **changes: object) -> Variant:
    """A false neighbour of a derived part, refuted at one point; `bounds` replaces the range of a parameter."""
    changed = bounds or {}
    tables = tuple({"name": table["name"], **changed[table["name"]]} if table["name"] in changed else table
                   for table in part.parameters)
    return part.vary(name, operator, text, Instance(dict(values)), parameters=tables, derivation=None, instances=None,
                     strategy=None, numeric=None, **changes)


def points(build: Callable[[Choose], Values], count: int = 48) -> Callable[[int], Iterator[Instance]]:
    """Built-in points of a derived part, from a seed."""
    import random

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


def statistics(choose: Choose) -> dict[str, Fraction]:
    """(rho, g, t0, tau, phi) that some model has: tau^2 <= t0 phi, outside the degenerate case."""
    root_t0, root_phi = (Fraction(choose(low, 6), choose(1, 4)) for low in (1, 0))
    tau = root_t0 * root_phi * Fraction(choose(-6, 6), 7)  # so that 1 + cV never kills z
    return {"rho": Fraction(choose(0, 9), 10), "g": Fraction(choose(0, 8), 3), "t0": root_t0**2, "tau": tau,
            "phi": root_phi**2}
