"""Gordan's alternative on given rows: a strictly separating normal, or convex weights of zero.

Exactly one of the two exists for a finite set of rows, so either witness decides `separable(rows, key)`:

* ``{"normal": u}``: <u, row> > 0 for every row, so zero is not in the convex hull: True;
* ``{"weights": [[index, weight], ...]}``: positive rationals summing to one with combination exactly zero: False;
* ``{"basis": [indices]}``: d+1 rows whose d+1 equations "combination zero, sum one" have a unique solution with all
  weights positive, shown by a ball solve of the exact system (grade `enclosed`): False.
"""

from __future__ import annotations

from math import gcd

from flint import arb, arb_mat, ctx, fmpq, fmpz_mat

from proofs_check.kernel.encoding import Cloud, exact_ratio, field, need, read_integer, read_number
from proofs_check.kernel.formula import Evaluator, Shifted, is_number

BASIS_PRECISION = 192


def separable(evaluator: Evaluator, rows: object, key: str) -> bool:
    need(isinstance(key, str) and key in evaluator.witnesses, f"the certificate has no witness '{key}'")
    witness = evaluator.witnesses[key]
    need(isinstance(witness, dict) and len(witness) == 1, f"witness '{key}' must hold exactly one alternative")
    count, width = dimensions(rows)
    if "normal" in witness:
        normal = [read_number(item, key) for item in field(witness, "normal", list, key)]
        need(len(normal) == width, f"witness '{key}': the normal has another length than the rows")
        need(positive_on_all(rows, normal), f"witness '{key}': the normal is not positive on every row")
        return True
    if "weights" in witness:
        weights = {}
        for item in field(witness, "weights", list, key):
            need(isinstance(item, list) and len(item) == 2, f"witness '{key}': weights are [index, number] pairs")
            index = read_integer(item[0], key)
            need(0 <= index < count and index not in weights, f"witness '{key}': index {index} repeated or out of range")
            weights[index] = read_number(item[1], key)
        need(all(bool(weight > 0) for weight in weights.values()) and bool(sum(weights.values(), fmpq(0)) == 1),
             f"witness '{key}': weights must be positive and sum to one")
        combination = [fmpq(0)] * width
        for index, weight in weights.items():
            combination = [total + weight * entry for total, entry in zip(combination, row_of(rows, index))]
        need(all(bool(entry == 0) for entry in combination), f"witness '{key}': the weights do not combine to zero")
        return False
    need("basis" in witness, f"witness '{key}' must be a normal, weights or a basis")
    basis = [read_integer(item, key) for item in field(witness, "basis", list, key)]
    need(len(basis) == width + 1 == len(set(basis)) and all(0 <= index < count for index in basis),
         f"witness '{key}': a basis is {width + 1} different row numbers")
    evaluator.enclosed = True
    need(positive_solution([row_of(rows, index) for index in basis]),
         f"witness '{key}': the basis does not enclose zero with positive weights")
    return False


def dimensions(rows: object) -> tuple[int, int]:
    if isinstance(rows, Shifted):
        rows = rows.cloud
    if isinstance(rows, Cloud):
        return rows.rows, rows.columns
    need(isinstance(rows, list) and len(rows) > 0 and all(isinstance(row, list) for row in rows),
         "separable takes a non-empty list of rows")
    need(len({len(row) for row in rows}) == 1 and len(rows[0]) > 0, "rows must have one positive length")
    need(all(is_number(entry) and not isinstance(entry, arb) for row in rows for entry in row),
         "separable takes exact rows")
    return len(rows), len(rows[0])


def row_of(rows: object, index: int) -> list[fmpq]:
    if isinstance(rows, Shifted):
        return [entry - shift for entry, shift in zip(rows.cloud.exact_row(index), rows.vector)]
    return rows.exact_row(index) if isinstance(rows, Cloud) else [fmpq(entry) for entry in rows[index]]


def positive_on_all(rows: object, normal: list[fmpq]) -> bool:
    """Exact integer arithmetic: numerators over the row's common power of two, in blocks for a cloud."""
    if isinstance(rows, list):
        return all(sum((a * b for a, b in zip(row, normal)), fmpq(0)) > 0 for row in rows)
    shift = fmpq(0)
    if isinstance(rows, Shifted):
        shift = sum((a * b for a, b in zip(rows.vector, normal)), fmpq(0))
        rows = rows.cloud
    common = 1
    for entry in normal:
        common = common * (int(entry.q) // gcd(common, int(entry.q)))
    column = fmpz_mat(len(normal), 1, [int(entry.p) * (common // int(entry.q)) for entry in normal])
    for block in rows.blocks():
        integers, scales = [], []
        for row in block:
            ratios = [exact_ratio(value) for value in row]
            scale = max(bottom for _, bottom in ratios)
            scales.append(scale)
            integers.extend(top * (scale // bottom) for top, bottom in ratios)
        products = fmpz_mat(len(block), rows.columns, integers) * column
        if not all(fmpq(products[i, 0], scale * common) > shift for i, scale in enumerate(scales)):
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



