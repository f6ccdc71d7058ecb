"""Generic changes of an instance: fewer tokens, ties, zeros, signs, small rationals; and what counts as smaller."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping

from flint import fmpq

from proofs_check.claim import plain_type

Values = dict[str, object]
Types = Mapping[str, str]
Spot = tuple[str, tuple[int, ...]]

DEPTHS = {"scalar": 0, "vector": 1, "matrix": 2, "matrices": 3}
LISTED = {"vector": 1, "matrix": 2, "matrices": 3, "set": 1, "integers": 1}
SMALL = tuple(fmpq(*pair) for pair in ((0, 1), (1, 1), (-1, 1), (2, 1), (-2, 1), (1, 2), (-1, 2), (3, 1), (-3, 1),
                                       (1, 3), (3, 2),
                                       (1, 4), (4, 1), (5, 1), (10, 1), (-10, 1)))


def entries(values: Values, types: Types) -> list[Spot]:
    """Every number that can be changed continuously."""
    depths = {name: DEPTHS.get(plain_type(kind)) for name, kind in types.items()}
    return [(name, path) for name, depth in depths.items() if depth is not None for path in _paths(values[name], depth)]


def _paths(value: object, depth: int) -> Iterator[tuple[int, ...]]:
    if depth == 0:
        yield ()
        return
    for index, child in enumerate(value):
        for path in _paths(child, depth - 1):
            yield (index, *path)


def get(values: Values, spot: Spot) -> object:
    node = values[spot[0]]
    for index in spot[1]:
        node = node[index]
    return node


def replaced(values: Values, spot: Spot, new: object, relative: bool = False) -> Values:
    """The values with one entry (or list) replaced, or increased if `relative`; nothing is changed in place."""
    name, path = spot

    def build(node: object, rest: tuple[int, ...]) -> object:
        if not rest:
            return node + new if relative else new
        return [build(child, rest[1:]) if index == rest[0] else child for index, child in enumerate(node)]

    return {**values, name: build(values[name], path)}


def axes(values: Values, types: Types) -> list[tuple[str, int, str, int]]:
    """(variable, axis, letter, length) of all that has a length, which without a declared letter is the letter."""
    found = []
    for name, kind in types.items():
        plain, letters = plain_type(kind), kind.partition(":")[2].split()
        node = values[name]
        for axis in range(LISTED.get(plain, 0)):
            found.append((name, axis, letters[axis] if axis < len(letters) else str(len(node)), len(node)))
            if not node:
                break
            node = node[0]
    return found


def consistent(values: Values, types: Types) -> bool:
    """Is every letter of the declared shapes one number?"""
    lengths: dict[str, int] = {}
    return all(lengths.setdefault(letter, length) == length for _, _, letter, length in axes(values, types)
               if not letter.isdigit())


def without(node: list, axis: int, index: int) -> list:
    if axis == 0:
        return node[:index] + node[index + 1:]
    return [without(child, axis - 1, index) for child in node]


def removed(values: Values, types: Types, letter: str, index: int, places: bool) -> Values:
    """Take index out of every axis of that letter; index sets follow unless they are lists of places themselves."""
    result = dict(values)
    for name, axis, own, _ in axes(values, types):
        if own == letter and (plain_type(types[name]) != "set" or places):
            result[name] = without(result[name], axis, index)
    if not places:
        for name, kind in types.items():
            if plain_type(kind) == "set":
                result[name] = [item - (item > index) for item in values[name] if item != index]
            elif kind == "pairs":
                result[name] = [[end - (end > index) for end in pair] for pair in values[name] if index not in pair]
            elif kind == "integer":
                result[name] = values[name] - (values[name] > index)
    return result


def set_entry(values: Values, types: Types, rng: random.Random) -> Values | None:
    spots = entries(values, types)
    return replaced(values, rng.choice(spots), rng.choice(SMALL)) if spots else None


def scale_entry(values: Values, types: Types, rng: random.Random) -> Values | None:
    spots = entries(values, types)
    if not spots:
        return None
    spot = rng.choice(spots)
    return replaced(values, spot, get(values, spot) * rng.choice((fmpq(-1), fmpq(2), fmpq(1, 2), fmpq(-2),
                                                                  fmpq(1, 100))))


def _lists(values: Values, types: Types) -> list[Spot]:
    """Vectors and rows, which can be copied, zeroed, negated."""
    found = []
    for name, kind in types.items():
        depth = DEPTHS.get(plain_type(kind), 0)
        if depth:
            found += [(name, path) for path in _paths(values[name], depth - 1)]
    return [spot for spot in found if get(values, spot)]


def zero_row(values: Values, types: Types, rng: random.Random) -> Values | None:
    rows = _lists(values, types)
    if not rows:
        return None
    spot = rng.choice(rows)
    return replaced(values, spot, [fmpq(0)] * len(get(values, spot)))


def negate_row(values: Values, types: Types, rng: random.Random) -> Values | None:
    rows = _lists(values, types)
    if not rows:
        return None
    spot = rng.choice(rows)
    return replaced(values, spot, [-entry for entry in get(values, spot)])


def copy_row(values: Values, types: Types, rng: random.Random) -> Values | None:
    """Ties and repeated tokens: one row becomes a multiple (mostly the same, or its negative) of another."""
    rows = _lists(values, types)
    if len(rows) < 2:
        return None
    here = rng.choice(rows)
    others = [row for row in rows if row != here and len(get(values, row)) == len(get(values, here))]
    if not others:
        return None
    factor = rng.choice((fmpq(1), fmpq(1), fmpq(-1), fmpq(2)))
    return replaced(values, here, [factor * entry for entry in get(values, rng.choice(others))])


def draw_row(values: Values, types: Types, rng: random.Random) -> Values | None:
    rows = _lists(values, types)
    if not rows:
        return None
    spot = rng.choice(rows)
    return replaced(values, spot, [rng.choice(SMALL[:9]) for _ in get(values, spot)])


def remove_index(values: Values, types: Types, rng: random.Random) -> Values | None:
    """One token, or one dimension, fewer."""
    letters = sorted({(letter, size) for _, _, letter, size in axes(values, types) if size > 1})
    if not letters:
        return None
    letter, size = rng.choice(letters)
    return removed(values, types, letter, rng.randrange(size), rng.random() < 0.5)


def change_set(values: Values, types: Types, rng: random.Random) -> Values | None:
    """Index sets and integers: empty, one member less or more, one step."""
    kinds = {name: plain_type(kind) for name, kind in types.items()}
    names = [name for name, kind in kinds.items() if kind in ("set", "integers", "pairs", "integer")]
    if not names:
        return None
    name = rng.choice(names)
    value = values[name]
    if kinds[name] == "integer":
        return {**values, name: rng.choice((value + 1, value - 1, 0, 1, -value))}
    if kinds[name] == "pairs":
        return {**values, name: rng.choice(([], value[1:], value[:-1], value[:1]))}
    step = rng.choice((-1, 1))
    place = rng.randrange(len(value)) if value else 0
    moved = value[:place] + [value[place] + step] + value[place + 1:] if value else [0]
    return {**values, name: rng.choice(([], value[1:], value[:1], sorted({*value, rng.randrange(4)}), moved,
                                        value[::-1]))}


OPERATORS: tuple[Callable[[Values, Types, random.Random], Values | None], ...] = (
    set_entry, set_entry, scale_entry, zero_row, negate_row, copy_row, draw_row, remove_index, change_set)


def perturbed(values: Values, types: Types, rng: random.Random) -> Values:
    """One to three operators in a row; an operator that has nothing to act on is passed over."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        values = rng.choice(OPERATORS)(values, types, rng) or values
    return values


def size_of(values: Values, types: Types) -> tuple[int, int]:
    """(how many numbers, how long they are written): smaller is easier to read."""
    spots = entries(values, types)
    sets = sum(len(values[name]) for name, kind in types.items() if plain_type(kind) in ("set", "integers", "pairs"))
    written = sum(_height(get(values, spot)) for spot in spots)
    written += sum(2 * abs(values[name]) + (values[name] < 0) for name, kind in types.items()
                   if plain_type(kind) == "integer")
    return len(spots) + sets, written


def _height(value: fmpq) -> int:
    return int(value != 0) + abs(int(value.p)).bit_length() * 2 + int(value.q).bit_length() * 3 + int(value < 0)


def smaller(values: Values, types: Types) -> Iterator[Values]:
    """Neighbours that are smaller, the largest savings first."""
    letters = sorted({(size, letter) for _, _, letter, size in axes(values, types) if size > 1}, reverse=True)
    for size, letter in letters:
        for index in reversed(range(size)):
            for places in (False, True):
                yield removed(values, types, letter, index, places)
    for name, kind in types.items():
        if plain_type(kind) in ("set", "pairs"):
            for index in reversed(range(len(values[name]))):
                yield {**values, name: values[name][:index] + values[name][index + 1:]}
        elif kind == "integer" and values[name]:
            yield {**values, name: 0}
            yield {**values, name: values[name] - (1 if values[name] > 0 else -1)}
    for spot in _lists(values, types):
        if any(entry != 0 for entry in get(values, spot)):
            yield replaced(values, spot, [fmpq(0)] * len(get(values, spot)))
    for spot in entries(values, types):
        old = get(values, spot)
        nearest = fmpq(round(float(old))) if abs(old) < 10**6 else old
        for new in (fmpq(0), fmpq(1), fmpq(-1), nearest, abs(old), fmpq(1, 2)):
            if _height(new) < _height(old):
                yield replaced(values, spot, new)
