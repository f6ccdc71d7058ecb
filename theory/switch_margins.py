"""E8: the bound on the least margin has no log n, for every number of keys and every mass, as rational
identities."""

from __future__ import annotations

from theory.statements import Derivation, Lemma, Parameter, above


def least_margin_is_sharp() -> Derivation:
    """n >= 2 keys with values 1, v_s = 0 (γ = 1, η = 0): an ω-switch, ω = δ, whose least margin is near
    log((1−δ)/δ).

    One key has e^{-m} = (1−τ)·δ/(1−δ), the n−1 others share the rest, τ·δ/(1−δ): the content mass is exactly
    δ, and the least margin comes as close to log((1−δ)/δ) as τ is small, although n is given.
    """
    parameters = (Parameter("n", minimum="2", integer=True),
                  above("delta", maximum="1"),
                  above("tau", maximum="1"))
    definitions = {"bound": "delta/(1 - delta)", "first": "(1 - tau)*bound", "other": "tau*bound/(n - 1)",
                   "total": "first + (n - 1)*other"}
    lemmas = (Lemma("first > 0", "orthant"), Lemma("other > 0", "orthant"), Lemma("1 + total > 0", "orthant"),
              Lemma("total/(1 + total) == delta", "identity"), Lemma("first == (1 - tau)*bound", "identity"))
    conclusions = tuple(lemma.formula for lemma in lemmas if lemma.formula != "1 + total > 0")
    return Derivation(parameters, definitions, {}, lemmas, conclusions)
