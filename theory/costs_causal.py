"""C11: sink and diagonal under a causal mask, on T orthonormal tokens with the sink as token 1.

Row i of a matrix is described by the few values it takes; i and k stand for any rows with 1 <= i < k (or i
>= 2).
"""

from __future__ import annotations

import sympy

from theory.costs_exchangeable import MARGIN, TOKENS
from theory.costs_lemmas import identity, positive
from theory.statements import Derivation, Lemma, Parameter, above


def causal_diagonal(tokens: int) -> sympy.Matrix:
    """I minus the Cesàro matrix: the cheapest causal diagonal at m = 1, for every Schatten exponent (C11)."""
    return sympy.Matrix(
        tokens, tokens, lambda i, j: int(i == j) - (sympy.Rational(1, i + 1) if j <= i else 0)
    )


def causal_diagonal_singular_values(tokens: int) -> list[sympy.Expr]:
    """sqrt(1 - 1/i), i = 2..T, beside one zero (C11)."""
    return [sympy.sqrt(1 - sympy.Rational(1, i)) for i in range(2, tokens + 1)]


def causal_sink_frobenius(tokens: int) -> sympy.Matrix:
    """Row i = (1 - 1/i)(e_1 - mean of e_2..e_i): the Frobenius-cheapest causal sink at m = 1 (C11)."""

    def entry(i: int, j: int) -> sympy.Expr:
        if i == 0 or j > i:
            return sympy.Integer(0)
        return sympy.Rational(i, i + 1) if j == 0 else -sympy.Rational(1, i + 1)

    return sympy.Matrix(tokens, tokens, entry)


def causal_sink_nuclear(tokens: int) -> sympy.Matrix:
    """Rank one, every row i >= 2 equal to the last Frobenius row: the nuclear-cheapest causal sink at m = 1
    (C11)."""
    last = causal_sink_frobenius(tokens).row(tokens - 1)
    return sympy.Matrix(tokens, tokens, lambda i, j: last[j] if i else sympy.Integer(0))


def diagonal() -> Derivation:
    """W = m (I - Cesàro) has orthogonal rows of norm m sqrt(1-1/i); multipliers kappa_i/i give G =
    diag(kappa) W/m (C11).

    With s_i = sqrt(1-1/i) and kappa_i = s_i^(p-2)/R, R = (sum s^p)^(1-1/p), G's singular values are
    s_i^(p-1)/R, its dual norm is 1 and each row contributes s_i^2 kappa_i = s_i s_i^(p-1)/R to the
    objective, together (sum s^p)^(1/p).
    """
    definitions = {
        "own": "1 - 1/i",
        "before": "-1/i",  # the i-1 entries left of the diagonal
        "before_k": "-1/k",
        "row_square": "own**2 + (i - 1)*before**2",
        "weight": "kappa/i",
    }
    equations = {"holder": "s*kappa == h/R", "singular_value": "s**2 == 1 - 1/i"}
    lemmas = (
        identity("own - before", "1", definitions=definitions),
        identity("own + (i - 1)*before", "0", definitions=definitions),
        identity("row_square", "1 - 1/i", definitions=definitions),
        # rows i < k are orthogonal
        identity("own*before_k + (i - 1)*before*before_k", "0", definitions=definitions),
        positive("weight"),
        # G's own entry: sum of the row's multipliers
        identity("(i - 1)*weight", "kappa*own", definitions=definitions),
        identity("-weight", "kappa*before", definitions=definitions),
        # the row's share of the dual objective over m
        Lemma(
            "(i - 1)*weight == s*h/R", by="identity", multipliers={"singular_value": "-kappa", "holder": "s"}
        ),
    )
    positive_names = ("kappa", "s", "h", "R")
    return Derivation(
        parameters=(
            Parameter("i", minimum="2", integer=True),
            Parameter("k", minimum="3", integer=True),
            *(above(name) for name in positive_names),
        ),
        definitions=definitions,
        assumptions=equations,
        lemmas=lemmas,
    )


def sink_frobenius() -> Derivation:
    """Rows are independent: row i >= 2 is the min-norm vector of its constraints; sum (1-1/i) = T - H_T
    (C11)."""
    definitions = {
        "scale": "m*(i - 1)/i",  # row = scale·(e_1 - mean of its i-1 keys)
        "row_square": "scale**2*(1 + 1/(i - 1))",
        "weight": "scale/((i - 1)*W)",  # the i-1 multipliers of row i, W = ‖W‖_F, G = W/‖W‖_F
    }
    lemmas = (
        identity("scale*(1 + 1/(i - 1))", "m", definitions=definitions),
        identity("row_square", "m**2*(1 - 1/i)", definitions=definitions),
        positive("weight"),
        identity("m*(i - 1)*weight*W", "row_square", definitions=definitions),  # objective·W summed is ‖W‖_F²
        # induction step of sum = T - H_T, from 1 - H_1 = 0
        identity("(T + 1 - (H + 1/(T + 1))) - (T - H)", "1 - 1/(T + 1)"),
    )
    return Derivation(
        parameters=(
            Parameter("i", minimum="2", integer=True),
            TOKENS,
            MARGIN,
            Parameter("H"),
            above("W"),
        ),
        definitions=definitions,
        assumptions={},
        lemmas=lemmas,
    )


def sink_nuclear() -> Derivation:
    """Nuclear cost m (T-1)/sqrt(T), as without a mask: the multipliers 1/sqrt(T) on the *own* tokens
    suffice (C11).

    G = (1/sqrt T)[1, -I] has G G^T = (I + 11^T)/T on T-1 rows, with eigenvalues (1 + J)/T, J in {0, T-1}.
    """
    definitions = {
        "query_square": "1/(T - 1)",
        "key_square": "1 + 1/(T - 1)",
        "scale": "m/(query_square*key_square)",
        "weight": "1/w",
    }
    equations = {"root": "w**2 == T"}
    lemmas = (
        identity("scale*query_square*key_square", "m", definitions=definitions),
        identity("scale**2*query_square*key_square", "m**2*(T - 1)**2/T", definitions=definitions),
        positive("weight"),
        identity("weight**2*(1 + (T - 1))", "1", equations, definitions),
        Lemma(
            "1 - weight**2 >= 0",
            by="terms",
            terms=(("1", ("T - 1", "weight**2")),),
            multipliers={"root": "weight**2"},
        ),
        identity("(m*(T - 1)*weight)**2", "m**2*(T - 1)**2/T", equations, definitions),
    )
    return Derivation(
        parameters=(TOKENS, MARGIN, above("w")),
        definitions=definitions,
        assumptions=equations,
        lemmas=lemmas,
    )


def minimisers_differ() -> Derivation:
    """The rank-one sink's Frobenius norm squared exceeds the minimum by D_T = H_T - 2 + 1/T: 0 at T = 2,
    then growing (C11)."""
    definitions = {
        "excess": "(T - 1)**2/T - (T - H)",
        "next_excess": "T**2/(T + 1) - (T + 1 - (H + 1/(T + 1)))",
    }
    lemmas = (
        identity("excess", "H - 2 + 1/T", definitions=definitions),
        identity("next_excess - excess", "(T - 1)/(T*(T + 1))", definitions=definitions),
        positive("(T - 1)/(T*(T + 1))"),
        identity("1 + 1/2 - 2 + 1/2", "0"),
    )
    return Derivation(
        parameters=(TOKENS, Parameter("H")),
        definitions=definitions,
        assumptions={},
        lemmas=lemmas,
    )


def frobenius_sink_is_no_nuclear_minimiser() -> Derivation:
    """The nuclear multipliers' G = [1, -I]/sqrt(T) against the Frobenius minimiser F: they do not fit for T >= 3 (C11).

    <G,F> is the nuclear minimum m (T-1)/sqrt(T).  Were ‖F‖_1 as small, <G,F> = ‖F‖_1 with ‖G‖_∞ = 1 would make
    G^T F symmetric, as tr G^T F = ‖F‖_1 >= ‖G^T F‖_1.  Its entries (3,2) and (2,3) are one product each.
    """
    definitions = {
        "at_sink": "m*(1 - 1/i)",  # row i of F: at the sink and at its own token
        "at_own": "-m/i",
        "pairing": "(T - 1)*(at_sink/w - at_own/w)",  # each row of G F^T's diagonal is the same
        "entry_32": "-1/w*(-m/3)",  # column 3 of G has -1/w in row 3 alone, and F_32 = -m/3
        "entry_23": "-1/w*0",  # column 2 of G has -1/w in row 2 alone, and row 2 does not see token 3
    }
    lemmas = (
        identity("pairing", "m*(T - 1)/w", definitions=definitions),
        identity("entry_32 - entry_23", "m/(3*w)", definitions=definitions),
        positive("m/(3*w)"),
    )
    return Derivation(
        parameters=(
            Parameter("T", minimum="3", integer=True),
            Parameter("i", minimum="2", integer=True),
            above("m"),
            above("w"),
        ),
        definitions=definitions,
        assumptions={},
        lemmas=lemmas,
    )


def derivations() -> dict[str, Derivation]:
    """Every derivation of C11 by name."""
    return {
        "diagonal": diagonal(),
        "sink_frobenius": sink_frobenius(),
        "sink_nuclear": sink_nuclear(),
        "minimisers_differ": minimisers_differ(),
        "frobenius_sink_is_no_nuclear_minimiser": frobenius_sink_is_no_nuclear_minimiser(),
    }
