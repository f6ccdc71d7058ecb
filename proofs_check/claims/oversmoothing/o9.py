"""O9: values that counteract the smoothing: exact instances, and the regions of (alpha, beta)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np

from numerics.moments import drift_statistics
from numerics.simulate import structured_value
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.building import Choose
from proofs_check.claims.derived import drawn, false_formula, points
from proofs_check.claims.oversmoothing.derived import derived
from theory.oversmoothing import DERIVATIONS
from theory.oversmoothing_depth import COUNTERACTIONS

HALF = Fraction(1, 2)
AXIS = [1, 0, 0]
TOKENS = [[Fraction(3, 5), Fraction(4, 5), 0], [Fraction(3, 5), 0, Fraction(4, 5)]]


def at(alpha: object, beta: object) -> Instance:
    return Instance({"x": TOKENS, "u": AXIS, "alpha": alpha, "beta": beta})


# Two tokens of one norm, V = alpha uu^T + beta (I - uu^T); the cosine of the outputs, which RMSNorm keeps.
STEP = {
    "d": "len(u)", "T": "len(x)", "along": "outer(u, u)", "V": "alpha * along + beta * (eye(d) - along)",
    "y_uniform": "x + [[1 / T for j in range(T)] for i in range(T)] @ x @ transpose(V)",
    "y_diagonal": "x + x @ transpose(V)",
    "cos_input": "dot(x[0], x[1]) / sqrt(dot(x[0], x[0]) * dot(x[1], x[1]))",
    **{f"cos_{name}": f"dot(y_{name}[0], y_{name}[1]) / sqrt(dot(y_{name}[0], y_{name}[0]) * dot(y_{name}[1], "
                      f"y_{name}[1]))"
       for name in ("uniform", "diagonal")},
}
HYPOTHESES = (
    Hypothesis("unit direction", "‖u‖ = 1", "u @ u == 1"),
    Hypothesis("two tokens of one norm", "T = 2, ‖x_1‖ = ‖x_2‖ > 0",
               "T == 2 and dot(x[0], x[0]) == dot(x[1], x[1]) and dot(x[0], x[0]) > 0"),
    Hypothesis("alike along u", "⟨u, x_1⟩ = ⟨u, x_2⟩", "dot(u, x[0]) == dot(u, x[1])"),
)
ORDERS = {
    "input": ("cos_uniform < cos_input", "cos_uniform > cos_diagonal"),
    "diagonal": ("cos_uniform < cos_diagonal", "cos_uniform > cos_input"),
    "both": ("cos_uniform < cos_input", "cos_uniform < cos_diagonal"),
}


def order_part(which: str, text: str) -> Part:
    example = at(*map(Fraction, COUNTERACTIONS[which]))

    def one(seed: int) -> Iterator[Instance]:
        yield example

    return Part(name=f"below {which}", text=text, quantifier="exists",
                variables={"x": "matrix", "u": "vector", "alpha": "scalar", "beta": "scalar"}, definitions=STEP,
                hypotheses=HYPOTHESES, conclusions=ORDERS[which], satisfiable=example, instances=one)


# An instance is asked for, not a rule, so no hypothesis can be dropped against a counterexample.
BELOW = (
    order_part("input",
               "There are tokens and V = alpha uu^T + beta(I - uu^T) with the output cosine under uniform attention "
                        "below the input's, yet above the one under diagonal attention."),
    order_part("diagonal",
               "There are tokens and such a V with uniform attention below diagonal attention, yet above the "
                           "input's cosine."),
    order_part("both", "There are tokens and such a V with uniform attention below both."),
)
MOMENTS = tuple(
    derived(DERIVATIONS["O9"][f"below {which}"], f"moments below {which}",
            f"At alpha = {COUNTERACTIONS[which][0]}, beta = {COUNTERACTIONS[which][1]}, T = 2, rho = 9/25: G_ii and "
            f"G_ij of O1 "
            "with g = (1+alpha)^2, t0 = 1, tau = beta, phi = beta^2 are the inner products of the outputs of the "
            "explicit tokens, and the moment cosines are ordered as in the instance.", satisfiable={})
    for which in COUNTERACTIONS)


def region_point(choose: Choose) -> dict[str, object]:
    return {"T": choose(2, 9), "rho": Fraction(choose(0, 9), 10), "alpha": Fraction(choose(-9, 9), 4),
            "beta": Fraction(choose(-9, 9), 4)}


def region_slack(values: Mapping[str, object]) -> float:
    """The statistics of the actual V on the noise's space (R along an axis orthogonal to u) against the two
    polynomials."""
    alpha, beta, rho, tokens = (values[name] for name in ("alpha", "beta", "rho", "T"))
    u = np.array([1.0, 0.0, 0.0])
    s = drift_statistics(structured_value(u, alpha, beta), np.diag([0.0, 0.5, 0.5]), u)
    against_input = rho * (s.g - s.g0) + (1 - rho) * s.drift / tokens
    return 1e-9 - max(abs(s.drift - beta * (2 + beta)),
                      abs(against_input - rho * alpha * (2 + alpha) - (1 - rho) * beta * (2 + beta) / tokens))


REGIONS = derived(
    DERIVATIONS["O9"]["regions"], "regions",
    "For z orthogonal to u and isotropic there, g0 = t0 = 1, g = (1+alpha)^2, tau = beta, phi = beta^2: D = "
    "beta(2+beta), and O5's quantity rho(g-g0) + (1-rho)D/T = rho alpha(2+alpha) + (1-rho) beta(2+beta)/T. So by O3 "
    "and O5 uniform attention is below the diagonal's cosine iff beta(2+beta) < 0, and below the input's iff the "
    "second is negative.",
    satisfiable={"T": 2, "rho": HALF, "alpha": -1, "beta": Fraction(1, 4)},
    instances=points(region_point), strategy=drawn(region_point), numeric=region_slack)


def universal(name: str, operator: str, text: str, example: Instance, conclusion: str):
    return BELOW[0].vary(name, operator, text, example, quantifier="forall", conclusions=(conclusion,), instances=None)


VARIANTS = (
    universal("never below the input", "trap", "uniform attention never ends below the input's cosine",
              at(-1, Fraction(1, 4)), "cos_uniform >= cos_input"),
    universal("never below the diagonal", "trap", "dense attention always smooths more than diagonal attention",
              at(1, -1),
              "cos_uniform >= cos_diagonal"),
    universal("one comparison decides the other", "trap",
              "uniform is below the input's cosine exactly when it is below the "
              "diagonal's: the drift decides both", at(-1, Fraction(1, 4)),
              "iff(cos_uniform < cos_input, cos_uniform < cos_diagonal)"),
    universal("only by removing u", "wrong converse", "uniform ends below the input's cosine only if alpha < 0",
              at(0, -1),
              "implies(cos_uniform < cos_input, alpha < 0)"),
    universal("any negative beta", "constant moved", "uniform is below the diagonal's cosine whenever beta < 0",
              at(0, -3),
              "implies(beta < 0, cos_uniform < cos_diagonal)"),
    false_formula(REGIONS, "drift without the square", "exponent moved", "D = 2 beta",
                  {"T": 2, "rho": 0, "alpha": 0, "beta": 1}, conclusions=("drift == 2*beta",)),
)

CLAIM = Claim(
    id="O9", title="Values that counteract the smoothing exist", family="oversmoothing",
    statement="With V = alpha uu^T + beta(I - uu^T): exact instances where uniform attention ends below the input's "
              "cosine only, below the diagonal's only, below both.",
    parts=(*BELOW, *MOMENTS, REGIONS), variants=VARIANTS, uses=("O1", "O3", "O5"), required="SUPPORTED",
    scope_notes=("The instances have two tokens of one norm, so RMSNorm keeps the cosine of the outputs.",),
)
