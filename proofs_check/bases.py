"""Where an attack starts when a part constructs nothing.

Draws from the domain of its parameters, and small instances put together variable by variable, from what the claim's
other parts use for a variable of the same name and type.

Nothing here looks at a counterexample of the ledger, so what is found from these starts is found independently of it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice

from flint import fmpq

from proofs_check.claim import Claim, Instance, Part, plain_type
from proofs_check.kernel import Rejected, bound_names
from proofs_check.perturb import DEPTHS, SMALL, Values
from proofs_check.probing import ERRORS, Probe

STEPS = tuple(fmpq(*pair) for pair in (
    (0, 1), (1, 1), (1, 2), (2, 1), (1, 10), (3, 1), (5, 1), (1, 100), (10, 1), (100, 1)))
SHARES = (0, 1, fmpq(1, 2), fmpq(1, 10), fmpq(9, 10), fmpq(1, 100), fmpq(99, 100))  # of a bounded range
OUTSIDE = tuple(fmpq(*pair) for pair in ((1, 2), (1, 1), (1, 10), (2, 1), (10, 1)))
LARGEST_LENGTH = 3
BORROWED = 12  # instances of another part that are looked at


def from_domain(probe: Probe, rng: random.Random) -> Values:
    """Each parameter at an end of its range, near one, or inside; beyond the end that is dropped."""
    dropped = bound_names(probe.part.parameters).get(probe.subject, ("", ""))
    values: Values = {}
    for table in probe.part.parameters:
        name = table["name"]
        low, high = (fmpq(*map(int, table[end])) if end in table else None for end in ("minimum", "maximum"))
        whole = table.get("integer") == "true" and dropped != (name, "integer")
        draw = rng.random()
        if dropped == (name, "minimum"):
            value = low - rng.choice((0, *OUTSIDE) if table.get("open_min") == "true" else OUTSIDE)
        elif dropped == (name, "maximum"):
            value = high + rng.choice((0, *OUTSIDE) if table.get("open_max") == "true" else OUTSIDE)
        elif low is not None and high is not None:
            value = low + (high - low) * rng.choice(SHARES)
        elif low is not None:
            value = low + rng.choice(STEPS)
        elif high is not None:
            value = high - rng.choice(STEPS)
        else:
            value = rng.choice(SMALL)
        if whole and value.q != 1:
            value = fmpq(round(float(value)))
        if dropped == (name, "integer"):
            value += rng.choice((fmpq(1, 2), fmpq(1, 3)))
        elif draw < 0.3 and low is not None and high is None and not dropped[0] == name:
            value += rng.randrange(6)
        values[name] = value
    return values


def assembled(claim: Claim, probe: Probe, rng: random.Random) -> Iterator[Values]:
    """Endless: one value for each variable, its lengths agreeing more often than not."""
    known = borrowed(claim, probe, rng)
    while True:
        lengths: dict[str, int] = {}
        values: Values = from_domain(probe, rng)
        for name, kind in probe.part.variables.items():
            if name not in probe.free:
                continue
            use = known.get((name, plain_type(kind)))
            values[name] = rng.choice(use) if use and rng.random() < 0.8 else _drawn(kind, lengths, rng)
        yield values


def borrowed(claim: Claim, probe: Probe, rng: random.Random) -> dict[tuple[str, str], list]:
    """(variable, type) -> values that the claim's parts give to it in instances that meet their hypotheses."""
    found: dict[tuple[str, str], list] = {}
    statements = {table["name"]: table for table in claim.document()["parts"]}
    for part in claim.parts:
        if part.name == probe.part.name or not set(part.variables) & set(probe.part.variables):
            continue
        reader = Probe(part, statements[part.name])
        for instance in constructed(part, rng.randrange(2**31), BORROWED):
            try:
                values = reader.read(instance)
            except ERRORS:
                continue
            for name, value in values.items():
                found.setdefault((name, plain_type(reader.types[name])), []).append(value)
    return found


def constructed(part: Part, seed: int, count: int) -> Iterator[Instance]:
    """What a part itself names or builds; its counterexamples are not among them."""
    yield from (item for item in (part.satisfiable, part.attained) if item is not None)
    if part.instances is not None:
        yield from islice(part.instances(seed), count)


def _drawn(kind: str, lengths: dict[str, int], rng: random.Random) -> object:
    plain, letters = plain_type(kind), kind.partition(":")[2].split()
    if plain == "integer":
        return rng.randrange(4)
    if plain in ("set", "integers"):
        return sorted(rng.sample(range(LARGEST_LENGTH), rng.randrange(LARGEST_LENGTH + 1)))
    if plain == "pairs":
        return [[rng.randrange(LARGEST_LENGTH), rng.randrange(LARGEST_LENGTH)]]
    if plain not in DEPTHS:
        raise Rejected(f"nothing is drawn for a variable of type {plain}")
    sizes = [lengths.setdefault(letter, rng.randrange(1, LARGEST_LENGTH + 1)) for letter in letters]
    sizes += [rng.randrange(1, LARGEST_LENGTH + 1) for _ in range(DEPTHS[plain] - len(sizes))]

    def build(depth: int) -> object:
        return [build(depth + 1) for _ in range(sizes[depth])] if depth < DEPTHS[plain] else rng.choice(SMALL[:9])

    return build(0)
