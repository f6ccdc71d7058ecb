"""Hulls of given rows: Gordan's alternative, and two-sided bounds on the distance from zero.

Exactly one of the two exists for a finite set of rows, so either witness decides `separable(rows, key)`:

* ``{"normal": u}``: <u, row> > 0 for every row, so zero is not in the convex hull: True;
* ``{"weights": [[index, weight], ...]}``: positive rationals whose combination is exactly zero: False;
* ``{"basis": [indices]}``: d+1 rows whose d+1 equations "combination zero, sum one" have a unique solution with all
  weights positive, shown by a ball solve of the exact system (grade `enclosed`): False.
"""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat, fmpz_mat

from proofs_check.kernel.encoding import Cloud, integer_row, field, need, read_integer, read_number
from proofs_check.kernel.values import Shifted, bits, cleared_bits, compare, is_number, units

if TYPE_CHECKING:
    from proofs_check.kernel.formula import Evaluator

BASIS_PRECISION = 192


def separable(evaluator: Evaluator, rows: object, key: str) -> bool:
    witness = find_witness(evaluator, key, ("normal", "weights", "basis"))
    count, width = dimensions(evaluator, rows)
    if "normal" in witness:
        need(margin_at_least(evaluator, rows, read_normal(witness, width, key), fmpq(0), True),
             f"witness '{key}': the normal is not positive on every row")
        return True
    if "weights" in witness:
        combination = combine(evaluator, rows, witness, count, width, key)
        need(all(bool(entry == 0) for entry in combination), f"witness '{key}': the weights do not combine to zero")
        return False
    basis = [read_integer(item, key) for item in field(witness, "basis", list, key)]
    need(len(basis) == width + 1 == len(set(basis)) and all(0 <= index < count for index in basis),
         f"witness '{key}': a basis is {width + 1} different row numbers")
    evaluator.enclosed = True
    evaluator.spend(len(basis) ** 3 // 8)
    need(positive_solution([row_of(rows, index) for index in basis]),
         f"witness '{key}': the basis does not enclose zero with positive weights")
    return False


def distance_at_least(evaluator: Evaluator, rows: object, bound: object, key: str) -> bool:
    """dist(0, conv rows) >= bound, shown by a normal: <u, row> >= bound·‖u‖ for every row."""
    witness = find_witness(evaluator, key, ("normal",))
    normal = read_normal(witness, dimensions(evaluator, rows)[1], key)
    need(compare(bound, ">=", 0) and not isinstance(bound, arb), "a distance's bound is an exact nonnegative number")
    need(margin_at_least(evaluator, rows, normal, fmpq(bound), False),
         f"witness '{key}': the normal does not show that distance")
    return True


def distance_at_most(evaluator: Evaluator, rows: object, bound: object, key: str) -> bool:
    """dist(0, conv rows) <= bound, shown by convex weights whose combination is that short."""
    witness = find_witness(evaluator, key, ("weights",))
    combination = combine(evaluator, rows, witness, *dimensions(evaluator, rows), key)
    square = sum((entry * entry for entry in combination), fmpq(0))
    need(compare(bound, ">=", 0) and compare(square, "<=", bound * bound),
         f"witness '{key}': the weights do not show that distance")
    return True


def find_witness(evaluator: Evaluator, key: object, kinds: tuple[str, ...]) -> dict:
    need(isinstance(key, str) and key in evaluator.witnesses, f"the certificate has no witness '{key}'")
    witness = evaluator.witnesses[key]
    need(isinstance(witness, dict) and len(witness) == 1 and set(witness) <= set(kinds),
         f"witness '{key}' must be exactly one of {', '.join(kinds)}")
    return witness


def read_normal(witness: dict, width: int, key: str) -> list[fmpq]:
    normal = [read_number(item, key) for item in field(witness, "normal", list, key)]
    need(len(normal) == width, f"witness '{key}': the normal has another length than the rows")
    # every distance bound is relative to its length
    need(any(bool(entry != 0) for entry in normal), f"witness '{key}': the normal is the zero vector")
    return normal


def combine(evaluator: Evaluator, rows: object, witness: dict, count: int, width: int, key: str) -> list[fmpq]:
    """The convex combination that positive weights (of any sum) stand for."""
    weights: dict[int, fmpq] = {}
    for item in field(witness, "weights", list, key):
        need(isinstance(item, list) and len(item) == 2, f"witness '{key}': weights are [index, number] pairs")
        index = read_integer(item[0], key)
        need(0 <= index < count and index not in weights, f"witness '{key}': index {index} repeated or out of range")
        weights[index] = read_number(item[1], key)
    need(len(weights) > 0 and all(bool(weight > 0) for weight in weights.values()),
         f"witness '{key}': weights must be positive, and at least one")
    line = list(weights.values())
    evaluator.spend(len(line) * units(cleared_bits([line])))
    total = sum(line, fmpq(0))
    support = [row_of(rows, index) for index in weights]
    evaluator.spend_product(len(line) * width, [line], support)
    combined = fmpq_mat(1, len(line), line) * fmpq_mat(len(line), width, [entry for row in support for entry in row])
    return [entry / total for entry in combined.entries()]


def dimensions(evaluator: Evaluator, rows: object) -> tuple[int, int]:
    """(rows, columns), the work of going through them once counted."""
    if isinstance(rows, Shifted):
        rows = rows.cloud
    if isinstance(rows, Cloud):
        evaluator.spend(rows.rows * rows.columns // 8)
        return rows.rows, rows.columns
    need(isinstance(rows, list) and len(rows) > 0 and all(isinstance(row, list) for row in rows),
         "separable takes a non-empty list of rows")
    need(len({len(row) for row in rows}) == 1 and len(rows[0]) > 0, "rows must have one positive length")
    need(all(is_number(entry) and not isinstance(entry, arb) for row in rows for entry in row),
         "separable takes exact rows")
    evaluator.spend(sum(units(bits(entry)) for row in rows for entry in row))
    return len(rows), len(rows[0])


def row_of(rows: object, index: int) -> list[fmpq]:
    if isinstance(rows, Shifted):
        return [entry - shift for entry, shift in zip(rows.cloud.exact_row(index), rows.vector)]
    return rows.exact_row(index) if isinstance(rows, Cloud) else [fmpq(entry) for entry in rows[index]]


def margin_at_least(evaluator: Evaluator, rows: object, normal: list[fmpq], bound: fmpq, strict: bool) -> bool:
    """<u, row> > 0 (strict) or <u, row> >= bound·‖u‖ on every row, in exact integers, in blocks for a cloud."""
    length = cleared_bits([normal])
    evaluator.spend(len(normal) * units(2 * length))
    floor = bound * bound * sum((entry * entry for entry in normal), fmpq(0))

    def enough(product: fmpq) -> bool:
        return bool(product > 0) if strict else bool(product >= 0 and product * product >= floor)

    if isinstance(rows, list):
        evaluator.spend(sum(len(row) * units(length + cleared_bits([row])) for row in rows))
        return all(enough(sum((a * b for a, b in zip(row, normal)), fmpq(0))) for row in rows)
    shift = fmpq(0)
    if isinstance(rows, Shifted):
        shift = sum((a * b for a, b in zip(rows.vector, normal)), fmpq(0))
        rows = rows.cloud
    evaluator.spend_entries(rows.rows * rows.columns, length)
    common = lcm(*(int(entry.q) for entry in normal))
    column = fmpz_mat(len(normal), 1, [int(entry.p) * (common // int(entry.q)) for entry in normal])
    for block in rows.blocks():
        integers, scales = [], []
        for row in block:
            numerators, scale = integer_row(row)
            integers += numerators
            scales.append(scale)
        products = fmpz_mat(len(block), rows.columns, integers) * column
        if not all(enough(fmpq(products[i, 0], scale * common) - shift) for i, scale in enumerate(scales)):
            return False
    return True


def positive_solution(rows: list[list[fmpq]]) -> bool:
    """Is the solution of sum_i w_i row_i = 0, sum_i w_i = 1 unique and positive?  A ball solve proves both."""
    size = len(rows)
    system = [[row[k] for row in rows] for k in range(size - 1)] + [[fmpq(1)] * size]
    previous, ctx.prec = ctx.prec, BASIS_PRECISION
    try:
        solution = arb_mat(size, size, [arb(entry) for line in system for entry in line]).solve(
            arb_mat(size, 1, [arb(0)] * (size - 1) + [arb(1)]))
    except ZeroDivisionError:
        return False
    finally:
        ctx.prec = previous
    return all(bool(solution[i, 0] > 0) for i in range(size))
