"""O1 and O1m: the exact second moments after one attention step, before the normalisation.

`o1_holds` and `o1m_holds` compare normal forms of the trace algebra, hence speak of every T, d, A, V, R, u and M at
once.  `o1_instance` hands the same identity to the kernel at explicit sizes with every entry a free symbol.
Notation: M = C without a gain and CΓ²C with one; the statistics t0, tau, phi, g0, g are those of claim O1.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import sympy

from theory.statements import Derivation, Lemma, Parameter, text
from theory.trace_algebra import (
    ALL_ONES, COVARIANCE, DIRECTION, FORM, Gram, Word, attention, expected_gram, gram, value)

_HALF = sympy.Rational(1, 2)
Traces = Mapping[Word, sympy.Expr | int]

# t0 = tr(RM), tau = tr(R(MV + VᵀM))/2, phi = tr(RVᵀMV), g0 = uᵀMu, g = uᵀ(1+V)ᵀM(1+V)u
T0: Traces = {(COVARIANCE, FORM): 1}
G0: Traces = {(DIRECTION, FORM): 1}


def tau(head: str = "") -> Traces:
    v = value(head)
    return {(COVARIANCE, FORM, v): _HALF, (COVARIANCE, v.T, FORM): _HALF}


def phi(left: str = "", right: str = "") -> Traces:
    return {(COVARIANCE, value(left).T, FORM, value(right)): 1}


def g(left: str = "", right: str = "") -> Traces:
    """uᵀ(1+ΣV)ᵀM(1+ΣV)u; the two copies of a head sum carry their own labels."""
    v, w = value(left), value(right)
    return {(DIRECTION, FORM): 1, (DIRECTION, v.T, FORM): 1, (DIRECTION, FORM, w): 1, (DIRECTION, v.T, FORM, w): 1}


def _entries(*parts: tuple[Word, Traces, sympy.Expr]) -> Gram:
    total: dict[tuple[Word, Word], sympy.Expr] = {}
    for token, traces, weight in parts:
        for word, coefficient in traces.items():
            total[token, word] = total.get((token, word), 0) + weight * coefficient
    return gram(total)


def o1_gram(rho: sympy.Expr) -> Gram:
    """O1's right side: ρg·J + (1−ρ)[t0·1 + τ(A + Aᵀ) + φ·AAᵀ]."""
    a = attention()
    return _entries(((ALL_ONES,), g(), rho), ((), T0, 1 - rho), ((a,), tau(), 1 - rho), ((a.T,), tau(), 1 - rho),
                    ((a, a.T), phi(), 1 - rho))


def o1m_gram(rho: sympy.Expr) -> Gram:
    """O1m's right side: ρg·J + (1−ρ)[t0·1 + Σ_h τ_h(A_h + A_hᵀ) + Σ_hk φ_hk·A_hA_kᵀ]."""
    a, b = attention("h"), attention("k")
    return _entries(((ALL_ONES,), g("h", "k"), rho), ((), T0, 1 - rho), ((a,), tau("h"), 1 - rho),
                    ((a.T,), tau("h"), 1 - rho), ((a, b.T), phi("h", "k"), 1 - rho))


def o1_holds() -> bool:
    """E⟨My_i,y_j⟩/d = G_ij for every T, d, V, R, u, M and every fixed A with row sums 1 (O1)."""
    rho = sympy.Symbol("rho")
    return (expected_gram(rho) - o1_gram(rho)).is_zero()


def o1m_holds() -> bool:
    """The multi-head identity for every number of heads (O1m)."""
    rho = sympy.Symbol("rho")
    return (expected_gram(rho, heads=True) - o1m_gram(rho)).is_zero()


def drift_is_an_energy_difference() -> bool:
    """t0 + 2τ + φ = tr(R(1+V)ᵀM(1+V)), hence D >= −t0; with cV for V, t0 + 2cτ + c²φ >= 0 for every real c (O4)."""
    c, v = sympy.Symbol("c"), value()
    quadratic = _entries(((), T0, 1), ((), tau(), 2 * c), ((), phi(), c**2))
    energy = _entries(((), {(COVARIANCE, FORM): 1, (COVARIANCE, v.T, FORM): c, (COVARIANCE, FORM, v): c,
                            (COVARIANCE, v.T, FORM, v): c**2}, 1))
    return (quadratic - energy).is_zero()


def _symmetric(name: str, size: int) -> sympy.Matrix:
    return sympy.Matrix(size, size, lambda i, j: sympy.Symbol(f"{name}_{min(i, j)}_{max(i, j)}"))


def _stochastic(name: str, tokens: int) -> sympy.Matrix:
    """Row sums 1 by construction: the last column is one minus the others, which are free."""
    rows = [[sympy.Symbol(f"{name}_{i}_{j}") for j in range(tokens - 1)] for i in range(tokens)]
    return sympy.Matrix([row + [1 - sum(row)] for row in rows])


def o1_instance(tokens: int, dim: int, heads: int = 1) -> Derivation:
    """O1 (O1m for heads > 1) at one size, with all entries of A, V, R, u, M and ρ free: an identity of polynomials.

    The left side is the expectation written out index by index from E x_k x_lᵀ/d = ρuuᵀ + (1−ρ)δ_kl R; it shares no
    step with the trace algebra.
    """
    rho = sympy.Symbol("rho")
    u = sympy.Matrix([sympy.Symbol(f"u_{p}") for p in range(dim)])
    r, m = _symmetric("r", dim), _symmetric("m", dim)
    a = [_stochastic(f"a{h}", tokens) for h in range(heads)]
    v = [sympy.Matrix(dim, dim, lambda p, q, h=h: sympy.Symbol(f"v{h}_{p}_{q}")) for h in range(heads)]

    def row(i: int) -> list[sympy.Matrix]:
        return [sympy.eye(dim) * int(i == k) + sum((a[h][i, k] * v[h] for h in range(heads)), sympy.zeros(dim))
                for k in range(tokens)]

    def left(i: int, j: int) -> sympy.Expr:
        terms = []
        for (k, b), (l, c) in product(enumerate(row(i)), enumerate(row(j))):
            second = rho * u * u.T + ((1 - rho) * r if k == l else sympy.zeros(dim))
            terms += (b * second * c.T).multiply_elementwise(m)
        return sympy.Add(*terms)

    def right(i: int, j: int) -> sympy.Expr:
        moved = u + sum((w * u for w in v), sympy.zeros(dim, 1))
        total = (r * m).trace() * int(i == j)
        for h in range(heads):
            total += (a[h][i, j] + a[h][j, i]) * (r * (m * v[h] + v[h].T * m)).trace() / 2
            total += sum((a[h] * a[k].T)[i, j] * (r * v[h].T * m * v[k]).trace() for k in range(heads))
        return rho * (moved.T * m * moved)[0] + (1 - rho) * total

    sides = [(left(i, j), right(i, j)) for i in range(tokens) for j in range(i, tokens)]
    lemmas = tuple(Lemma(f"{text(expected)} == {text(claimed)}", "identity") for expected, claimed in sides)
    symbols = sorted({symbol.name for pair in sides for side in pair for symbol in side.free_symbols})
    return Derivation(parameters=tuple(Parameter(name) for name in symbols), definitions={}, assumptions={},
                      lemmas=lemmas)
