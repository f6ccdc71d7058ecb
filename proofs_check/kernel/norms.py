"""Upper bounds on Schatten norms, for the primal matrix and (with the dual exponent) for the dual one.

For p = 2 the bound is a sum of squares.  Otherwise the witness is an approximate singular value decomposition
(left, values, right), believed nowhere: with E_L = ‖LᵀL − I‖_F, E_R likewise, and R = M − L diag(s) Rᵀ,

    ‖M‖_p ≤ √((1 + E_L)(1 + E_R))·‖s‖_p + min(rows, columns)^max(0, 1/p − 1/2)·‖R‖_F,

every quantity enclosed by balls.  It follows from ‖ABC‖_p ≤ ‖A‖_∞‖B‖_p‖C‖_∞ and Hölder's inequality.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flint import arb, arb_mat, ctx, fmpq

from proofs_check.kernel.encoding import Rejected, field, need, read_value
from proofs_check.kernel.values import cleared_bits, compare, flint_matrix, shape, units

if TYPE_CHECKING:
    from proofs_check.kernel.formula import Evaluator


def frobenius_square(matrix: arb_mat) -> arb:
    return sum((entry * entry for entry in matrix.entries()), arb(0))


def vector_norm(values: list, exponent: fmpq | None) -> arb:
    """‖s‖_p of nonnegative numbers; `None` is p = ∞."""
    if exponent is None:
        largest = arb(0)
        for value in values:
            largest = largest.max(arb(value))
        return largest
    if exponent == 1:
        return sum((arb(value) for value in values), arb(0))
    total = sum((arb(value) ** arb(exponent) for value in values if bool(value > 0)), arb(0))
    return total ** (1 / arb(exponent))


def read_exponent(exponent: object) -> fmpq | None:
    if exponent == "inf":
        return None
    need(isinstance(exponent, (int, fmpq)) and bool(fmpq(exponent) >= 1), "a Schatten exponent is 'inf' or at least 1")
    return fmpq(exponent)


def schatten_upper(matrix: arb_mat, exponent: fmpq | None, witness: dict, key: str) -> arb:
    rows, columns = matrix.nrows(), matrix.ncols()
    sides = {}
    for name, length in (("left", rows), ("right", columns)):
        entries = read_value(field(witness, name, list, key), "matrix", None, key)
        need(len(entries) == length and shape(entries)[0] == length, f"witness '{key}': '{name}' has the wrong length")
        sides[name] = flint_matrix(entries, True)
    values = read_value(field(witness, "values", list, key), "vector", None, key)
    rank = len(values)
    need(rank <= min(rows, columns), f"witness '{key}': more singular values than the matrix can have")
    need(rank == sides["left"].ncols() == sides["right"].ncols() and all(bool(value >= 0) for value in values),
         f"witness '{key}': as many nonnegative values as columns are needed")
    stretch = arb(1)
    for side in sides.values():
        gram = side.transpose() * side
        identity = arb_mat(rank, rank, [int(i == j) for i in range(rank) for j in range(rank)])
        stretch *= 1 + frobenius_square(gram - identity).sqrt()
    scaled = arb_mat(rank, columns, [arb(value) * sides["right"][j, i]
                                     for i, value in enumerate(values) for j in range(columns)])
    residual = frobenius_square(matrix - sides["left"] * scaled).sqrt()
    inverse = fmpq(0) if exponent is None else 1 / exponent
    growth = arb(min(rows, columns)) ** arb(max(fmpq(0), inverse - fmpq(1, 2)))
    return stretch.sqrt() * vector_norm(values, exponent) + growth * residual


def norm_at_most(evaluator: Evaluator, matrix: list, exponent: object, bound: object, key: str) -> bool:
    """True when ‖matrix‖_p <= bound is shown; a bound that is not shown is rejected, never called false."""
    exponent = read_exponent(exponent)
    need(compare(bound, ">=", 0), "a norm's bound is nonnegative")
    rows, columns = shape(matrix)
    if exponent == 2:
        evaluator.spend(rows * columns * units(2 * cleared_bits(matrix)))
        square = sum((entry * entry for row in matrix for entry in row), fmpq(0))
        shown = compare(square, "<=", bound * bound)
    else:
        need(isinstance(key, str) and isinstance(evaluator.witnesses.get(key), dict),
             f"the certificate has no witness '{key}'")
        evaluator.enclosed = True
        evaluator.spend_entries(rows * columns * min(rows, columns), ctx.prec, matrix)
        upper = schatten_upper(flint_matrix(matrix, True), exponent, evaluator.witnesses[key], key)
        shown = upper.is_finite() and bool(upper <= arb(bound))
    if not shown:
        raise Rejected(f"the norm '{key}' is not shown to be at most the bound")
    return True
