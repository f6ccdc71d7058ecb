"""M1(c) needs rank(CV) >= 2: in dimension one a softmax head can leave its output unmoved by another
token."""

from __future__ import annotations

from theory.statements import Derivation, Lemma, Parameter, above


def rank_one_head() -> Derivation:
    """d = 1, W = V = κ = 1, x_i = 1, x_s = 0: the step before the norm is positive for every x_j = t, so y_i
    = +1.

    Up to its positive denominator that step is E·(1+1) + 1·(1+0) + q·(1+t), with E = e^{ℓ_ii} > 0 and q =
    e^{ℓ_ij} = e^t, about which only 1 − t <= e^{−t} = 1/q is used.
    """
    step = "2*E + 1 + q*(1 + t)"
    positive = Lemma(f"{step} > 0", "terms", terms=(("2", ("E",)), ("1", ("1 - q*(1 - t)",)), ("2", ("q",))))
    parameters = (above("E"), above("q"), Parameter("t"))
    return Derivation(parameters, {}, {"exponential": "1 - q*(1 - t) >= 0"}, (positive,), (positive.formula,))
