"""C8 for any tokens of unit norm: the diagonal's nuclear cost lies between m(T-1)/lambda and m d/(1 - top).

lambda = lambda_max(X H X^T) and top = max_{i != j} <x_i, x_j>.  For independent uniform unit tokens with d = T lambda
stays bounded and top tends to 0 (random matrix theory, not proved here), so that cost is of order T.  Unit tokens that
have a direction in common cost a sink that sees them alike O(1), for every T and every such cloud.
"""

from __future__ import annotations

from theory.statements import Derivation, Lemma, Parameter, above


def lower_bound() -> Derivation:
    """‖W‖_1 >= m (T-1)/lambda: the T(T-1) margins add up to T <X H X^T, W>, which Hölder bounds (C3's uniform dual)."""
    lemma = Lemma(
        "cost - m*(T - 1)/lam >= 0", by="terms",
        terms=(("1", ("T*lam*cost - total_margin", "1/(T*lam)")), ("1", ("total_margin - m*T*(T - 1)", "1/(T*lam)"))))
    return Derivation(
        (Parameter("T", minimum="2", integer=True), above("m"), above("lam"), Parameter("cost", minimum="0"),
         Parameter("total_margin")),
        {}, {"margins": "total_margin - m*T*(T - 1) >= 0", "hoelder": "T*lam*cost - total_margin >= 0"},
        (lemma,), (lemma.formula,))


def upper_bound() -> Derivation:
    """W = m/(1 - top)·I has every margin m(1 - <x_i,x_j>)/(1 - top) >= m; it is positive definite with trace m d/(1 -
    top)."""
    lemmas = (
        Lemma("scale > 0", by="orthant"),
        Lemma("scale*(1 - inner) - m >= 0", by="terms", terms=(("1", ("top - inner", "m/(1 - top)")),)),
        Lemma("scale*d == m*d/(1 - top)", by="identity"))
    return Derivation(
        (above("m"), Parameter("d", minimum="1", integer=True), Parameter("top", maximum="1", open_max=True),
         Parameter("inner")),
        {"scale": "m/(1 - top)"}, {"largest": "top - inner >= 0"}, lemmas, tuple(item.formula for item in lemmas))


def common_direction() -> Derivation:
    """The sink's cost, any p, on unit tokens with <u, x_i> = sqrt(rho), ||u|| = 1, and <x_s, x_i> = beta.

    For y in the tokens' hull rho <= <u,y>² <= |y|² <= 1 and |x_s - y|² = sigma² - 2 beta + |y|², so the same point is
    nearest to 0 and to x_s: with D = delta_Q² and e = sigma² - 2 beta + rho, C1 is cost² D (D + e - rho) = m².
    """
    lemmas = (
        Lemma("D*(D + e - rho) > 0", by="orthant"),
        Lemma("cost - m/(1 + e) >= 0", by="terms",
              terms=(("1", ("1/(D*(D + e - rho)) - 1/(1 + e)**2", "m**2/(cost + m/(1 + e))")),),
              multipliers={"nearest": "1/(D*(D + e - rho)*(cost + m/(1 + e)))"}),
        Lemma("m*(1 + 1/(rho*e)) - cost >= 0", by="terms",
              terms=(("1", ("(1 + 1/(rho*e))**2 - 1/(D*(D + e - rho))", "m**2/(cost + m*(1 + 1/(rho*e)))")),),
              multipliers={"nearest": "-1/(D*(D + e - rho)*(cost + m*(1 + 1/(rho*e))))"}))
    return Derivation(
        (above("rho", maximum="1"), above("e"), above("m"), above("cost"),
         Parameter("a", minimum="0", maximum="1")),
        {"D": "rho + a*(1 - rho)"}, {"nearest": "cost**2*D*(D + e - rho) == m**2"}, lemmas,
        tuple(item.formula for item in lemmas[1:]))


def derivations() -> dict[str, Derivation]:
    """All of them by name."""
    return {"lower_bound": lower_bound(), "upper_bound": upper_bound(), "common_direction": common_direction()}
