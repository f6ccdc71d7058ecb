"""Copy-paste on orthonormal tokens, for every number of copying and of switched-off queries (C10).

n queries copy from n different content keys, f are off; with the sink there are n + f + 1 = 1/u² keys.  Off at the
sink, W/m = PH with P the 0-1 matrix of favoured keys and H the centring over keys.  What commutes with permuting the
copiers and permuting the off queries has few different entries; they are the names below.
"""

from __future__ import annotations

from theory.costs_lemmas import identity, positive
from theory.statements import Derivation, Lemma, Parameter

COPIERS = Parameter("n", minimum="1", integer=True)
OFF = Parameter("f", minimum="1", integer=True)
ROOT = Parameter("u", minimum="0", open_min=True)
SUM = Parameter("y", minimum="0", open_min=True)
EQUATIONS = {"radical": "y**2 == f + 2*f*u + u**2", "keys": "n*u**2 == 1 - (f + 1)*u**2"}

# G, a copier's entry at its own key, at another copied key, at a key nobody copies, at the sink; an off query's entry
# at a copied key, at another content key, at the sink.  S, the factor in W/m = S G: copier with itself, with another
# copier, with an off query; off query with off query.
ENTRIES = {
    "cc": "(n - 1 + (u**2 + f*u*(1 + u))/y)/n", "co": "cc - 1", "cu": "-u*(1 + u)/y", "cs": "-u**2/y",
    "oc": "-u**2/y", "ou": "-u*(1 + f*u)/(f*y)", "os": "(1 + u - u**2)/y",
    "S1": "1 - 1/n + u*((f + 1)*u + f)/(n*y)", "S2": "S1 - 1", "S3": "-u**2/y", "S4": "(1 + u - u**2)/y",
    "cost": "n - 1 + y",
}


def equal(left: str, right: str) -> Lemma:
    return identity(left, right, EQUATIONS, ENTRIES)


def sink_switch() -> Derivation:
    """The nuclear cost m(n − 1 + y) with the sink as switch: W/m = S G, and −G off the favoured keys is the dual."""
    products = [
        equal("S1*cc + (n - 1)*S2*co + f*S3*oc", "1 - u**2"),
        equal("S1*co + S2*cc + (n - 2)*S2*co + f*S3*oc", "-u**2"),
        equal("(S1 + (n - 1)*S2)*cu + f*S3*ou", "-u**2"), equal("(S1 + (n - 1)*S2)*cs + f*S3*os", "-u**2"),
        equal("S3*(cc + (n - 1)*co) + f*S4*oc", "-u**2"), equal("n*S3*cu + f*S4*ou", "-u**2"),
        equal("n*S3*cs + f*S4*os", "1 - u**2"),
    ]
    gram = [
        equal("cc**2 + (n - 1)*co**2 + f*cu**2 + cs**2", "1"), equal("2*cc*co + (n - 2)*co**2 + f*cu**2 + cs**2", "0"),
        equal("(cc + (n - 1)*co)*oc + f*cu*ou + cs*os", "0"), equal("n*oc**2 + f*ou**2 + os**2", "1/f"),
    ]
    sums = [
        equal("cc + (n - 1)*co + f*cu + cs", "0"), equal("n*oc + f*ou + os", "0"), equal("n*cc + f*os", "cost"),
        equal("n*S1 + f*S4", "cost"), equal("(S1 + (n - 1)*S2)*f*S4 - n*f*S3**2", "f*u"),
        equal("(S1 + (n - 1)*S2)*y", "u*((f + 1)*u + f)"),
    ]
    below = [Lemma(f"-{name} > 0", by="orthant") for name in ("cu", "cs", "oc", "ou")]
    # −co has the sign of y − X, X = u² + fu(1 + u), which is that of y² − X², which is positive
    level = "u**2 + f*u*(1 + u)"
    square, size = f"y**2 - ({level})**2", "n*u**2*(f*(1 + u)**2 + u**2)"
    last = [
        Lemma(f"1/(y + {level}) > 0", by="orthant"), equal("-co*n*y", f"y - ({level})"),
        Lemma(f"sign(y - ({level})) == sign({square})", by="factor", factor=f"1/(y + {level})"),
        equal(square, size), positive(size),
    ]
    lemmas = (*products, *gram, *sums, *below, *last)
    return Derivation((COPIERS, OFF, ROOT, SUM), ENTRIES, EQUATIONS, lemmas)


def switches_compared() -> Derivation:
    """Self as switch costs m(n + f − 1 + u), by the case of n + f copiers; it is dearer exactly when f > 1."""
    definitions = {"self_cost": "n + f - 1 + u", "sink_cost": "n - 1 + y"}
    lemmas = (
        Lemma("f/(f + u + y) > 0", by="orthant"),
        identity("(self_cost - sink_cost)*(f + u + y)", "f*(f - 1)", EQUATIONS, definitions),
    )
    return Derivation((COPIERS, OFF, ROOT, SUM), definitions, EQUATIONS, lemmas)


def self_switch() -> Derivation:
    """Every query favours a content key of its own (n of them copy or stay): nuclear cost m(n − 1 + u), u = 1/√(n +
    1)."""
    definitions = {"own": "1 - (1 - u)/n", "other": "own - 1", "sink": "-u", "S1": "1 - (1 - u)/n", "S2": "S1 - 1",
                   "cost": "n - 1 + u"}
    equations = {"keys": "n*u**2 == 1 - u**2"}

    def same(left: str, right: str) -> Lemma:
        return identity(left, right, equations, definitions)

    lemmas = (
        same("S1*own + (n - 1)*S2*other", "1 - u**2"), same("S1*other + S2*own + (n - 2)*S2*other", "-u**2"),
        same("(S1 + (n - 1)*S2)*sink", "-u**2"),
        same("own**2 + (n - 1)*other**2 + "
             "sink**2", "1"), same("2*own*other + (n - 2)*other**2 + sink**2", "0"),
        same("own + (n - 1)*other + sink", "0"), same("n*own", "cost"), same("n*S1", "cost"),
        same("S1 + (n - 1)*S2", "u"), Lemma("-sink > 0", by="orthant"), same("-other*(1 + u)", "u**2"),
        positive("u**2"),
    )
    return Derivation((COPIERS, ROOT), definitions, equations, lemmas)


def frobenius() -> Derivation:
    """Frobenius cost m T/√(T+1) for every assignment and either switch: rows do not interact."""
    definitions = {"own": "1 - 1/(T + 1)", "other": "-1/(T + 1)", "weight": "1/((T + 1)*cost)"}
    equations = {"square": "cost**2*(T + 1) == T**2"}
    lemmas = (
        identity("own - other", "1", {}, definitions),
        identity("T*(own**2 + T*other**2)", "cost**2", equations, definitions),
        Lemma("weight > 0", by="orthant"),
        identity("T*weight*cost", "own", equations, definitions),
        identity("-weight*cost", "other", equations, definitions),
        identity("T*T*weight", "cost", equations, definitions),
    )
    parameters = (Parameter("T", minimum="1", integer=True), Parameter("cost", minimum="0", open_min=True))
    return Derivation(parameters, definitions, equations, lemmas)
