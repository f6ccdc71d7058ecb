"""C8 for any tokens of unit norm: the diagonal's nuclear cost lies between m(T-1)/lambda and m d/(1 - top).

lambda = lambda_max(X H X^T) and top = max_{i != j} <x_i, x_j>.  For independent uniform unit tokens with d = T lambda
stays bounded and top tends to 0 (random matrix theory, not proved here), so that cost is of order T.
"""

from __future__ import annotations

from theory.statements import Derivation, Lemma, Parameter


def _open(name: str) -> Parameter:
    return Parameter(name, minimum="0", open_min=True)


def lower_bound() -> Derivation:
    """‖W‖_1 >= m (T-1)/lambda: the T(T-1) margins add up to T <X H X^T, W>, which Hölder bounds (C3's uniform dual)."""
    lemma = Lemma(
        "cost - m*(T - 1)/lam >= 0", by="terms",
        terms=(("1", ("T*lam*cost - total_margin", "1/(T*lam)")), ("1", ("total_margin - m*T*(T - 1)", "1/(T*lam)"))))
    return Derivation(
        (Parameter("T", minimum="2", integer=True), _open("m"), _open("lam"), Parameter("cost", minimum="0"),
         Parameter("total_margin")),
        {}, {"margins": "total_margin - m*T*(T - 1) >= 0", "hoelder": "T*lam*cost - total_margin >= 0"},
        (lemma,), (lemma.formula,))


def upper_bound() -> Derivation:
    """W = m/(1 - top)·I has every margin m(1 - <x_i,x_j>)/(1 - top) >= m; it is positive definite with trace m d/(1 - top)."""
    lemmas = (
        Lemma("scale > 0", by="orthant"),
        Lemma("scale*(1 - inner) - m >= 0", by="terms", terms=(("1", ("top - inner", "m/(1 - top)")),)),
        Lemma("scale*d == m*d/(1 - top)", by="identity"))
    return Derivation(
        (_open("m"), Parameter("d", minimum="1", integer=True), Parameter("top", maximum="1", open_max=True), Parameter("inner")),
        {"scale": "m/(1 - top)"}, {"largest": "top - inner >= 0"}, lemmas, tuple(item.formula for item in lemmas))


def derivations() -> dict[str, Derivation]:
    """Both bounds by name."""
    return {"lower_bound": lower_bound(), "upper_bound": upper_bound()}
