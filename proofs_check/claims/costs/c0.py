"""C0: penalising the squares of two factors is penalising the nuclear norm of their product."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from numerics.schatten import schatten_norm
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.exact import Matrix, Number, Vector, dot, product

COST = "(dot(flat(A), flat(A)) + dot(flat(B), flat(B))) / 2"


def orthogonal(seeds: Matrix) -> list[list[Fraction]]:
    """A product of reflections I − 2vvᵀ/‖v‖²: rational and orthogonal."""
    dim = len(seeds[0])
    result = [[Fraction(int(i == j)) for j in range(dim)] for i in range(dim)]
    for v in seeds:
        size = dot(v, v)
        if size:
            mirror = [[int(i == j) - 2 * Fraction(v[i]) * Fraction(v[j]) / size for j in range(dim)]
                      for i in range(dim)]
            result = product(result, mirror)
    return result


def shapes(seed: int) -> Iterator[tuple[int, int, int, np.random.Generator, int]]:
    """(inner dimension, rows, columns of W): one by one first, inner dimension above and below both."""
    rng = np.random.default_rng(seed)
    yield from ((inner, rows, columns, rng, case) for case, (inner, rows, columns) in enumerate(
        [(1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2), (1, 2, 2), (4, 2, 3)]))
    for case in range(40):
        yield (*(int(e) for e in rng.integers(1, 5, size=3)), rng, case)


def contraction(rows: int, columns: int, rng: np.random.Generator) -> list[list[Fraction]]:
    """A corner of an orthogonal matrix, sometimes shrunk: spectral norm at most one, often exactly one."""
    corner = orthogonal(rng.integers(-2, 3, size=(2, max(rows, columns))).tolist())
    scale = Fraction(int(rng.integers(2, 5)), 4)
    return [[scale * entry for entry in row[:columns]] for row in corner[:rows]]


def factors(seed: int) -> Iterator[Instance]:
    for inner, rows, columns, rng, case in shapes(seed):
        a, b = rng.integers(-2, 3, size=(inner, rows)), rng.integers(-2, 3, size=(inner, columns))
        if case % 3 == 1:
            a, b = rng.normal(size=(inner, rows)), rng.normal(size=(inner, columns))
        if case % 3 == 2:
            b = np.tile(a, (1, 4))[:, :columns]
        yield Instance({"A": a.tolist(), "B": b.tolist(), "G": contraction(rows, columns, rng)})


@st.composite
def drawn_factors(draw: st.DrawFn) -> Instance:
    inner, rows, columns = (draw(st.integers(1, 3)) for _ in range(3))

    def table(height: int, width: int) -> list[list[int]]:
        line = st.lists(st.integers(-3, 3), min_size=width, max_size=width)
        return draw(st.lists(line, min_size=height, max_size=height))

    corner = orthogonal(table(2, max(rows, columns)))
    return Instance({"A": table(inner, rows), "B": table(inner, columns),
                     "G": [row[:columns] for row in corner[:rows]]})


def inequality_slack(values: Mapping[str, object]) -> float:
    """The factors cost at least the nuclear norm of W in floats, and that at least <G, W>."""
    a, b, g = values["A"], values["B"], values["G"]
    cost, nuclear = (np.sum(a * a) + np.sum(b * b)) / 2, schatten_norm(a.T @ b, 1)
    return float(min(cost - nuclear, nuclear - np.sum(g * (a.T @ b)))) / (1 + cost)


def small(a: Matrix, b: Matrix, g: Matrix) -> Instance:
    return Instance({"A": a, "B": b, "G": g})


INEQUALITY = Part(
    name="inequality",
    text="AᵀB = W and ‖G‖_∞ <= 1 give <G,W> <= ½(‖A‖_F² + ‖B‖_F²), for every inner dimension.",
    variables={"A": "matrix: r m", "B": "matrix: r n", "G": "matrix: m n"}, definitions={"W": "transpose(A) @ B"},
    hypotheses=(Hypothesis("contraction", "‖G‖_∞ <= 1: I − GᵀG is positive semidefinite",
                           "psd(eye(len(G[0])) - transpose(G) @ G)", small([[1]], [[1]], [[2]])),),
    conclusions=(f"dot(flat(G), flat(W)) <= {COST}",), attainment=f"dot(flat(G), flat(W)) == {COST}",
    satisfiable=small([[1, 2]], [[0, 1]], [[0, 1], [-1, 0]]), attained=small([[1, 0], [0, 2]], [[1, 0], [0, 2]],
                                                                             [[1, 0], [0, 1]]),
    instances=factors, strategy=drawn_factors, numeric=inequality_slack,
)


def decomposed(u: Matrix, v: Matrix, roots: Vector, inner: int) -> Instance:
    return Instance({"U": u, "V": v, "roots": roots, "inner": inner})


def decompositions(seed: int) -> Iterator[Instance]:
    """Orthonormal rows from corners of orthogonal matrices; singular values with ties and zeros; spare inner
    dimension."""
    rng = np.random.default_rng(seed)
    for case in range(40):
        rank = 1 + case % 3
        sizes = [rank + int(e) for e in rng.integers(0, 3, size=2)]
        u, v = (orthogonal(rng.integers(-2, 3, size=(2, size)).tolist())[:rank] for size in sizes)
        roots = rng.integers(0, 4, size=rank).tolist() if case % 2 else np.abs(rng.normal(size=rank)).tolist()
        yield decomposed(u, v, roots, rank + int(rng.integers(0, 3)))


@st.composite
def drawn_decompositions(draw: st.DrawFn) -> Instance:
    rank = draw(st.integers(1, 2))

    def rows(size: int) -> list[list[Fraction]]:
        line = st.lists(st.integers(-3, 3), min_size=size, max_size=size)
        return orthogonal(draw(st.lists(line, min_size=2, max_size=2)))[:rank]

    u, v = rows(rank + draw(st.integers(0, 1))), rows(rank + draw(st.integers(0, 1)))
    roots = [Fraction(draw(st.integers(0, 8)), 2) for _ in range(rank)]
    return decomposed(u, v, roots, rank + draw(st.integers(0, 2)))


def nuclear_slack(values: Mapping[str, object]) -> float:
    """The factors' cost is the nuclear norm of W as its float singular values give it."""
    s = values["roots"] ** 2
    nuclear = schatten_norm(values["U"].T @ np.diag(s) @ values["V"], 1)
    return 1e-9 - abs(float(s.sum()) - nuclear) / (1 + nuclear)


def orthonormal(name: str) -> str:
    return f"{name} @ transpose({name}) == eye(len({name}))"


def pair_of(first: str, second: str) -> dict[str, str]:
    """A and B: the decomposition's vectors times the roots of its values, and rows of zeros after that."""
    return {key: f"[[roots[k] * entry for entry in {side}[k]] if k < len(roots) else 0 * {side}[0] for k in "
                 "range(inner)]"
            for key, side in (("A", first), ("B", second))}


EYE = [[1, 0], [0, 1]]
SVD = Part(
    name="attained at a singular value decomposition",
    text="W = Σ_k s_k u_k v_kᵀ with orthonormal u_k and v_k and s_k = roots_k² >= 0: for every inner "
         "dimension at least their number the rows √s_k u_k and √s_k v_k (then zeros) have AᵀB = W and cost "
         "Σ s_k, which is <G,W> for the contraction G = Σ u_k v_kᵀ: the bound of 'inequality' is attained. As the "
         "largest <G,W> is ‖W‖_1 (duality of the norms), both are ‖W‖_1.",
    variables={"U": "matrix: k m", "V": "matrix: k n", "roots": "vector: k", "inner": "integer"},
    definitions={**pair_of("U", "V"), "G": "transpose(U) @ V",
                 "W": "transpose([(roots[k] * roots[k]) * U[k] for k in range(len(U))]) @ V"},
    hypotheses=(
        Hypothesis("left orthonormal", "the u_k are orthonormal", orthonormal("U"), decomposed([[2]], [[1]], [1], 1)),
        Hypothesis("right orthonormal", "the v_k are orthonormal", orthonormal("V"), decomposed([[1]], [[2]], [1], 1)),
        Hypothesis("inner dimension", "at least as many inner dimensions as there are terms", "inner >= len(roots)",
                   decomposed(EYE, EYE, [1, 1], 1)),
    ),
    conclusions=("transpose(A) @ B == W", f"{COST} == sum(root * root for root in roots)",
                 "dot(flat(G), flat(W)) == sum(root * root for root in roots)",
                 "psd(eye(len(G[0])) - transpose(G) @ G)"),
    satisfiable=decomposed(EYE, [[0, 1], [1, 0]], [2, 1], 3),
    instances=decompositions, strategy=drawn_decompositions, numeric=nuclear_slack,
)


def terms(p: Matrix, q: Matrix) -> Instance:
    return Instance({"p": p, "q": q})


RATIONAL = ([3, 4], [4, -3], [0, 5], [5, 0], [-3, 4])  # of norm 5


def sums(seed: int) -> Iterator[Instance]:
    """Rank-one terms whose norms have rational ratios with rational roots; zeros, repetitions, any number of terms."""
    rng = np.random.default_rng(seed)
    yield from (terms([[1]], [[4]]), terms([[0]], [[1]]), terms([[2]], [[0]]), terms([[1], [1]], [[1], [1]]))
    for case in range(36):
        count = 1 + case % 4

        def side() -> list[list[Number]]:
            scales = rng.integers(0 if case % 3 == 0 else 1, 4, size=count)
            return [[Fraction(int(scale) ** 2, 4) * entry for entry in RATIONAL[int(rng.integers(5))]]
                    for scale in scales]

        yield terms(side(), side())


@st.composite
def drawn_sums(draw: st.DrawFn) -> Instance:
    count = draw(st.integers(1, 3))

    def side() -> list[list[Number]]:
        scales = [draw(st.integers(0, 3)) for _ in range(count)]
        return [[scale**2 * entry for entry in draw(st.sampled_from(RATIONAL))] for scale in scales]

    return terms(side(), side())


def balanced_slack(values: Mapping[str, object]) -> float:
    """Float balanced rows multiply to the sum and cost Σ‖p_k‖‖q_k‖."""
    p, q = values["p"], values["q"]
    left, right = np.linalg.norm(p, axis=1), np.linalg.norm(q, axis=1)
    scale = np.where((left > 0) & (right > 0), np.sqrt(right / np.where(left > 0, left, 1)), 0)[:, None]
    a, b = scale * p, np.divide(q, scale, out=np.zeros_like(q), where=scale > 0)
    off = np.abs(a.T @ b - p.T @ q).max() + abs((np.sum(a * a) + np.sum(b * b)) / 2 - float(left @ right))
    return 1e-9 - float(off) / (1 + float(left @ right))


BALANCED = Part(
    name="balanced factors",
    text="For any rank-one terms p_k q_kᵀ the rows A_k = t_k p_k and B_k = q_k/t_k, t_k² = ‖q_k‖/‖p_k‖ (zero "
         "rows for a zero term), have AᵀB = Σ p_k q_kᵀ and cost Σ‖p_k‖‖q_k‖.",
    variables={"p": "matrix: k m", "q": "matrix: k n"},
    definitions={
        "left": "[sqrt(dot(row, row)) for row in p]", "right": "[sqrt(dot(row, row)) for row in q]",
        "t": "[sqrt(right[k] / left[k]) if left[k] != 0 else 0 for k in range(len(p))]",
        "A": "[t[k] * p[k] for k in range(len(p))]",
        "B": "[q[k] / t[k] if t[k] != 0 else 0 * q[k] for k in range(len(q))]"},
    conclusions=("transpose(A) @ B == transpose(p) @ q", f"{COST} == dot(left, right)"),
    satisfiable=terms([[3, 4]], [[0, 5]]), instances=sums, strategy=drawn_sums, numeric=balanced_slack,
)

VARIANTS = (
    SVD.vary("without the half", "constant moved", "The least ‖A‖_F² + ‖B‖_F², without ½, is ‖W‖_1.",
             decomposed([[1]], [[1]], [1], 1), conclusions=(f"2 * ({COST}) == sum(root * root for root in "
                                                            "roots)",)),
    INEQUALITY.vary("a quarter", "constant moved", "¼(‖A‖_F² + ‖B‖_F²) is a bound too.", small([[1]], [[1]], [[1]]),
                    conclusions=(f"dot(flat(G), flat(W)) <= ({COST}) / 2",)),
    SVD.vary("factors exchanged", "transpose", "The same with the two factors exchanged.",
             decomposed([[1, 0]], [[0, 1]], [1], 1), definitions={**SVD.definitions, **pair_of("V", "U")}),
    SVD.vary("inner dimension too small", "drop hypothesis", "One inner dimension is enough for every W.",
             decomposed(EYE, EYE, [1, 1], 1), drop=("inner dimension",)),
    SVD.vary("values for roots", "missing square root", "The factors are s_k u_k and s_k v_k.",
             decomposed([[1]], [[1]], [2], 1),
             definitions={**SVD.definitions, **{key: text.replace("roots[k] *", "roots[k] ** 2 *")
                                                for key, text in pair_of("U", "V").items()}}),
    INEQUALITY.vary("entries for the spectral norm", "p for p*", "It is enough that G has entries between −1 "
                                                                 "and 1.",
                    small([[1, 1]], [[1, 1]], [[1, 1], [1, 1]]),
                    hypotheses=(Hypothesis("entries", "|G_ij| <= 1", "all(abs(entry) <= 1 for row in G for "
                                                                     "entry in row)"),)),
    BALANCED.vary("not balanced", "exponent moved", "A_k = p_k and B_k = q_k cost Σ‖p_k‖‖q_k‖ already.",
                  terms([[1]], [[4]]), definitions={**BALANCED.definitions, "A": "1 * p", "B": "1 * q"}),
)

CLAIM = Claim(
    id="C0", title="The nuclear norm is what ℓ2 on two factors costs", family="costs",
    statement="min{½(‖A‖_F² + ‖B‖_F²) : AᵀB = W} = ‖W‖_1 when the inner dimension is at least rank W.",
    parts=(INEQUALITY, SVD, BALANCED), variants=VARIANTS,
    # Rocq's C0_attained says that some factors attain the bound; the kernel's parts name the factors
    required_formal="PROVED ON",
    scope_notes=("The inner dimension of a head is d_h: below rank W the least cost is infinite, since no "
                 "factors exist.",
                 "This is about the penalty on one head's factors, not about what training finds."),
)
