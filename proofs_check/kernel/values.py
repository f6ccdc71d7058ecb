"""Exact values and their enclosures: numbers, vectors, matrices, and comparisons that never guess."""

from __future__ import annotations

from flint import arb, arb_mat, fmpq, fmpq_mat, fmpz

from proofs_check.kernel.encoding import Cloud, Rejected, TooMuch, need


MAX_BITS = 2**20


class Undecided(Rejected):
    """Two balls overlap, so the comparison has no certain answer at this precision."""


def is_number(value: object) -> bool:
    return isinstance(value, (int, fmpq, arb)) and not isinstance(value, bool)


def bits(value: object) -> int:
    """How long an exact number is; a ball has the length of the working precision, which is nothing to worry about."""
    return 1 if isinstance(value, arb) else value.bit_length() if isinstance(value, int) else value.height_bits()


def units(size: int) -> int:
    """The work, about in microseconds, of one operation on exact numbers of so many bits; longer ones are refused."""
    need(size <= MAX_BITS, "a number grows too long", TooMuch)
    return 1 + size // 512 + (size // 4096) ** 2


def cleared_bits(matrix: list) -> int:
    """How long the entries are over their common denominator, which is what flint multiplies.

    Floats share powers of two, so they stay short; unlike denominators multiply, and are followed to `MAX_BITS` only.
    """
    numerator, denominator = 1, fmpz(1)
    for row in matrix:
        for entry in row:
            if isinstance(entry, fmpq):
                numerator, denominator = max(numerator, entry.p.bit_length()), denominator.lcm(entry.q)
                if denominator.bit_length() > MAX_BITS:
                    return numerator + denominator.bit_length()
            elif is_number(entry):
                numerator = max(numerator, bits(entry))
    return numerator + denominator.bit_length()


def compare(left: object, relation: str, right: object) -> bool:
    """Decide a relation between two numbers, or raise `Undecided`."""
    need(is_number(left) and is_number(right), "only numbers can be compared")
    if not isinstance(left, arb) and not isinstance(right, arb):
        left, right = fmpq(left), fmpq(right)
        return bool({"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right,
                     "==": left == right, "!=": left != right}[relation])
    left, right = arb(left), arb(right)
    if not (left.is_finite() and right.is_finite()):  # an overflow, which says nothing about the true value
        raise Undecided("a comparison met a value that is not finite")
    if relation in ("==", "!="):
        if left < right or left > right:
            return relation == "!="
        if left.is_exact() and right.is_exact():
            return relation == "=="
        raise Undecided("two enclosures overlap, so equality is undecided")
    forward, backward = {"<": (left < right, left >= right), "<=": (left <= right, left > right),
                         ">": (left > right, left <= right), ">=": (left >= right, left < right)}[relation]
    if forward or backward:
        return bool(forward)
    raise Undecided(f"two enclosures overlap, so '{relation}' is undecided")


def shape(matrix: object) -> tuple[int, int]:
    need(isinstance(matrix, list) and all(isinstance(row, list) for row in matrix), "expected a matrix")
    need(len(matrix) > 0 and len({len(row) for row in matrix}) == 1, "a matrix needs rows of one length")
    return len(matrix), len(matrix[0])


def exact(matrix: list) -> bool:
    return not any(isinstance(entry, arb) for row in matrix for entry in row)


def flint_matrix(matrix: list, enclosed: bool) -> fmpq_mat | arb_mat:
    rows, columns = shape(matrix)
    need(all(is_number(entry) for row in matrix for entry in row), "a matrix holds numbers only")
    convert = arb if enclosed else fmpq
    return (arb_mat if enclosed else fmpq_mat)(rows, columns, [convert(entry) for row in matrix for entry in row])


def multiply(left: list, right: list) -> list:
    """Matrix product of two lists of rows, exact when both are."""
    enclosed = not (exact(left) and exact(right))
    need(shape(left)[1] == shape(right)[0], "matrix shapes do not fit")
    return (flint_matrix(left, enclosed) * flint_matrix(right, enclosed)).tolist()


class Shifted:
    """A cloud with one exact vector subtracted from every row."""

    def __init__(self, cloud: Cloud, vector: list):
        need(isinstance(cloud, Cloud) and len(vector) == cloud.columns, "the shift has another length than the rows")
        self.cloud, self.vector = cloud, vector
