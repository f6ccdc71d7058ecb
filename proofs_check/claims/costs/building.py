"""Shared by the cost claims: exact exchangeable tokens, certificates on matrices, splits of covers.

The certificate used most: W meets every constraint with equality, the multipliers are nonnegative, all nonzero
singular values of W are equal to s (W W^T W = s² W) and number tr(W^T W)/s², and G, the multipliers' matrix, is
t·W with t > 0.  Then ‖G‖_{p*}‖W‖_p = <G, W> for every p at once, and <G, W'> >= m·(sum of multipliers) = <G, W>
for every feasible W', so W is cheapest in every Schatten norm, at cost s·count^(1/p).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from flint import arb, ctx

from proofs_check.claim import Instance, Part
from proofs_check.claims.building import root_above
from proofs_check.claims.exact import Matrix, Number, Vector, add, axis, dot, outer, plus
from proofs_check.kernel.formula import Evaluator, Undecided
from proofs_check.kernel.symbolic import COVER_PRECISION, Domain
from theory.statements import Derivation

ARGUMENT = (
    " Why this is the whole statement: every constraint is an equality, the multipliers are >= 0, W W^T W = "
    "s² W says that each nonzero singular value of W is s, their number is tr(W^T W)/s², and G = sum of "
    "multipliers times constraint matrices is t W, t > 0. Hölder's inequality is then an equality for every "
    "p, so ‖W‖_p = s count^(1/p) is the least.")

#: x (token, dim) are queries and non-sink keys, sink (dim,)
SINK_MATRICES = {
    "T": "len(x)",
    "margins": "[x[i] @ W @ (sink - x[j]) for i in range(T) for j in range(T)]",
    "G": "sum(lam[i][j] * outer(x[i], sink - x[j]) for i in range(T) for j in range(T))",
}
DIAGONAL_MATRICES = {
    "T": "len(x)",
    "margins": "[x[i] @ W @ (x[i] - x[j]) for i in range(T) for j in range(T) if j != i]",
    "G": "sum(lam[i][j] * outer(x[i], x[i] - x[j]) for i in range(T) for j in range(T) if j != i)",
}
ONE_SINGULAR_VALUE = (
    "all(margin == m for margin in margins)",
    "all(entry >= 0 for row in lam for entry in row)",
    "s > 0 and W @ transpose(W) @ W == s**2 * W",
    "trace(transpose(W) @ W) == count * s**2",
    "t > 0 and G == t * W",
)
CERTIFICATE_VARIABLES = {"x": "matrix", "W": "matrix", "lam": "matrix", "m": "scalar", "s": "scalar",
                         "t": "scalar",
                         "count": "integer"}


def total(matrices: Iterable[Matrix], dim: int) -> Matrix:
    result = [[Fraction(0)] * dim for _ in range(dim)]
    for matrix in matrices:
        result = plus(result, matrix)
    return result


def mean(rows: Matrix) -> Vector:
    result = [Fraction(0)] * len(rows[0])
    for row in rows:
        result = add(result, row, Fraction(1, len(rows)))
    return result


def exact_root(square: Fraction) -> Fraction:
    """The rational square root; raises ValueError where it is not rational."""
    root = root_above(Fraction(square))
    if root**2 != square:
        raise ValueError(
            f"expected the square of a rational, got {square}; choose hull distances that are rational")
    return root


def exchangeable(tokens: int, common: Number, own: Number, along: Number, across: Number, off: Number = 0,
                 shift: Number = 0) -> tuple[Matrix, Vector]:
    """x_i = common·u + own·(e_i - shift·mean(e)), x_s = along·u + off·sum(e) + across·v, in dimension T + 2.

    r² = <x_i, x_i> may have an irrational root; the formulas need r² only.  shift = 1 centres the e_i.
    """
    dim, ones = tokens + 2, [Fraction(0)] + [Fraction(1)] * tokens + [Fraction(0)]
    rows = [add([Fraction(common) * z for z in axis(dim, 0)],
                add(axis(dim, 1 + i), ones, -Fraction(shift) / tokens), own) for i in range(tokens)]
    sink = [Fraction(along), *[Fraction(off)] * tokens, Fraction(across)]
    return rows, sink


def sink_certificate(x: Matrix, sink: Vector, margin: Number = 1) -> Instance:
    """C1's rank-one minimiser and uniform multipliers, for exchangeable tokens with a rational product of hull
    distances."""
    query = mean(x)
    key = add(sink, query, -1)
    squares = dot(query, query), dot(key, key)
    weights = outer(query, key, Fraction(margin) / (squares[0] * squares[1]))
    cost = Fraction(margin) / exact_root(squares[0] * squares[1])
    size = len(x)
    return Instance({"x": x, "sink": sink, "W": weights, "lam": [[Fraction(1)] * size] * size, "m": margin,
                     "s": cost,
                     "t": Fraction(size**2) * squares[0] * squares[1] / margin, "count": 1})


def diagonal_certificate(x: Matrix, margin: Number = 1) -> Instance:
    """A multiple of the projector on the centred span with uniform multipliers, for exchangeable tokens."""
    size, dim = len(x), len(x[0])
    centre = mean(x)
    spread = dot(x[0], x[0]) - dot(x[0], x[1])
    scatter = total((outer(add(row, centre, -1), add(row, centre, -1)) for row in x), dim)
    value = Fraction(margin) / spread
    weights = [[value * entry / spread for entry in row] for row in scatter]
    return Instance({"x": x, "W": weights,
                     "lam": [[Fraction(int(i != j)) for j in range(size)] for i in range(size)],
                     "m": margin, "s": value, "t": size * spread / value, "count": size - 1})


def gram_settings(x: Matrix, sink: Vector | None = None) -> tuple[Number, ...]:
    """(T, r², rho) of exchangeable tokens, rho = 0 for a single one; with a sink also beta and sigma²."""
    square = dot(x[0], x[0])
    tokens = (len(x), square, dot(x[0], x[1]) / square if len(x) > 1 else 0)
    return tokens if sink is None else (*tokens, dot(sink, x[0]) / square, dot(sink, sink) / square)


def listed(instances: Sequence[Instance]):
    """The built-in family of an `exists` part: always the same instances."""
    def family(seed: int) -> Iterator[Instance]:
        yield from instances

    return family


def cover_splits(part: Part, limit: int = 20_000) -> list[str]:
    """A bisection tree (preorder) on whose leaves the kernel's balls decide the part's conclusions."""
    domain = Domain([dict(table) for table in part.parameters])
    definitions = [[name, text] for name, text in part.definitions.items()]
    boxes = [{name: bound[:2] for name, bound in domain.bounds.items()}]
    splits: list[str] = []
    previous, ctx.prec = ctx.prec, COVER_PRECISION
    try:
        while boxes:
            box = boxes.pop()
            if len(splits) > limit:
                raise ValueError(
                    f"expected a cover of '{part.name}' within {limit} boxes, got more; shrink the box")
            balls = {name: arb((low + high) / 2, 0).union(arb(low)).union(arb(high)) for name,
                     (low, high) in box.items()}
            try:
                evaluator = Evaluator(balls, {}, definitions)
                if all(evaluator.truth(text) for text in part.conclusions):
                    splits.append("leaf")
                    continue
            except Undecided:
                pass
            widest = max(box, key=lambda name: box[name][1] - box[name][0])
            low, high = box[widest]
            splits.append(widest)
            boxes += [{**box, widest: ((low + high) / 2, high)}, {**box, widest: (low, (low + high) / 2)}]
        return splits
    finally:
        ctx.prec = previous


def covered(part: Part) -> Part:
    """The part with a ball cover of its box as its evidence."""
    return replace(part, splits=lambda: cover_splits(part))


def number_fact(name: str, text: str, formula: str) -> Part:
    """A statement about numbers alone, decided by balls: a cover of the empty box."""
    return Part(name=name, text=text, conclusions=(formula,), satisfiable=Instance({}),
                splits=lambda: ["leaf"])


def over_reals(recipe: Callable[[], Derivation], *names: str) -> Callable[[], Derivation]:
    """The derivation with these integer parameters taken over the reals, as the kernel takes them anyway.

    Some equations (a square root of 1 - 1/i, say) have rational solutions only there.
    """
    def relaxed() -> Derivation:
        result = recipe()
        return replace(result, parameters=tuple(
            replace(item, integer=False) if item.name in names else item for item in result.parameters))

    return relaxed


def lowest_terms(recipe: Callable[[], Derivation]) -> Callable[[], Derivation]:
    """The derivation with its parameters' bounds in lowest terms, as certificates write rationals."""
    def reduced() -> Derivation:
        result = recipe()
        return replace(result, parameters=tuple(
            replace(item, minimum=_reduced(item.minimum),
                    maximum=_reduced(item.maximum)) for item in result.parameters))

    return reduced


def _reduced(bound: str | None) -> str | None:
    return None if bound is None else str(Fraction(bound))
