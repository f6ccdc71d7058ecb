"""O2: the cosine after the layer is close to the moment cosine: what is deterministic in it, and what is a
probability."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np

from numerics.concentration import PairLaw, cosine_bound_as_stated, pair_law
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.derived import false_formula
from proofs_check.claims.oversmoothing.derived import derived
from proofs_check.claims.oversmoothing.model import FORM, false_model_statement, instance, moments_under
from theory.oversmoothing_lemmas import by_terms, orthant
from theory.statements import Derivation, Parameter

HALF = Fraction(1, 2)
#: the exponent at which the probabilistic parts are sampled: the bounds fail with probability 6e^-11 = 1.0e-4 at most
EXPONENT = 11


def moments_to_cosine() -> Derivation:
    """Three second moments off by at most e = qm, q <= 1, move the cosine by at most 2q, m <= min(G_ii, G_jj).

    G_ii = m + a, G_jj = m + c, s = sqrt(G_ii G_jj); the observed h_ii = G_ii + mq·d_ii and so on, with w = sqrt(h_ii
    h_jj). h_ij/w - G_ij/s = (h_ij - G_ij)/s + (h_ij/w)(s - w)/s, where |h_ij| <= w, m <= s and (1-q)s <= w <= (1+q)s.
    """
    unit = {"minimum": "-1", "maximum": "1"}
    parameters = (Parameter("m", "0", open_min=True), Parameter("a", "0"), Parameter("c", "0"),
                  Parameter("q", "0", "1"),
                  Parameter("d_ii", **unit), Parameter("d_ij", **unit), Parameter("d_jj", **unit), Parameter("G_ij"),
                  Parameter("s", "0", open_min=True), Parameter("w", "0", open_min=True))
    definitions = {"G_ii": "m + a", "G_jj": "m + c", "h_ii": "G_ii + m*q*d_ii", "h_jj": "G_jj + m*q*d_jj",
                   "h_ij": "G_ij + m*q*d_ij"}
    assumptions = {"root of G": "s**2 == G_ii*G_jj", "root of h": "w**2 == h_ii*h_jj",
                   "Cauchy-Schwarz above": "w - h_ij >= 0", "Cauchy-Schwarz below": "w + h_ij >= 0"}
    over = "(1/((1 + q)*s + w))"
    under = "(1/(w + (1 - q)*s))"
    conclusions = (
        by_terms("2*q - (h_ij/w - G_ij/s) >= 0", ("q", "s - m", "1/s"), ("q", "m", "1 - d_ij", "1/s"),
                 ("1/2", "w - h_ij", "1/w", "(1 + q)*s - w", "1/s"),
                 ("1/2", "w + h_ij", "1/w", "w - (1 - q)*s", "1/s")),
        by_terms("2*q + (h_ij/w - G_ij/s) >= 0", ("q", "s - m", "1/s"), ("q", "m", "1 + d_ij", "1/s"),
                 ("1/2", "w + h_ij", "1/w", "(1 + q)*s - w", "1/s"),
                 ("1/2", "w - h_ij", "1/w", "w - (1 - q)*s", "1/s")),
    )
    lemmas = (
        by_terms("s - m >= 0", ("m", "a", "1/(s + m)"), ("m", "c", "1/(s + m)"), ("a", "c", "1/(s + m)"),
                 multipliers={"root of G": "1/(s + m)"}),
        orthant("a + m*(1 - d_ii) >= 0"), orthant("a + m*(1 + d_ii) >= 0"), orthant("c + m*(1 - d_jj) >= 0"),
        orthant("c + m*(1 + d_jj) >= 0"), orthant("h_ii >= 0"), orthant("h_jj >= 0"),
        by_terms("(1 + q)*s - w >= 0", ("q", "a + m*(1 - d_ii)", "1 + q", "G_jj", over),
                 ("q", "c + m*(1 - d_jj)", "h_ii", over),
                 multipliers={"root of G": f"(1 + q)**2*{over}", "root of h": f"-{over}"}),
        by_terms("w - (1 - q)*s >= 0", ("q", "a + m*(1 + d_ii)", "h_jj", under),
                 ("q", "c + m*(1 + d_jj)", "1 - q", "G_ii", under),
                 multipliers={"root of h": f"{under}", "root of G": f"-(1 - q)**2*{under}"}),
        *conclusions,
    )
    return Derivation(parameters, definitions, assumptions, lemmas, tuple(lemma.formula for lemma in conclusions))


def stated_follows() -> Derivation:
    """4[sqrt(1-rho^2) y + (1-rho) y^2] <= 2(2 + sqrt 6) y for y = sqrt(x/d) <= 1; of sqrt 6 only >= 2 is used."""
    parameters = (Parameter("rho", "0", "1"), Parameter("root", "0", "1"), Parameter("y", "0", "1"),
                  Parameter("six", "2"))
    lemma = by_terms("2*(2 + six)*y - 4*(root*y + (1 - rho)*y**2) >= 0", ("4", "y", "1 - root"), ("2", "y", "six - 2"),
                     ("4", "y", "1 - y"), ("4", "rho", "y", "y"))
    return Derivation(parameters, {}, {}, (lemma,), (lemma.formula,))


CLOSE = {"m": 1, "a": 0, "c": 0, "q": Fraction(1, 20), "d_ii": -1, "d_ij": 1, "d_jj": -1,
         "G_ij": Fraction(9, 10), "s": 1,
         "w": Fraction(19, 20)}
TO_COSINE = derived(
    moments_to_cosine, "from moments to the cosine",
    "If the three second moments h_ii, h_ij, h_jj of a draw are within e = qm of G_ii, G_ij, G_jj, with 0 < m <= G_ii, "
    "G_jj and q <= 1, then |h_ij/sqrt(h_ii h_jj) - G_ij/sqrt(G_ii G_jj)| <= 2q = 2e/m. (For q > 1 the bound exceeds 2 "
    "and says nothing.) s and w are the two square roots, both positive.",
    satisfiable=CLOSE,
    words={"root of G": "s = sqrt(G_ii G_jj)", "root of h": "w = sqrt(h_ii h_jj)",
           "Cauchy-Schwarz above": "h_ij <= w, the draw's own Cauchy-Schwarz", "Cauchy-Schwarz below": "h_ij >= -w"},
    counterexamples={
        "root of G": {**CLOSE, "G_ij": Fraction(19, 20), "d_ij": 0, "s": 19},
        "root of h": {**CLOSE, "w": 19},
        "Cauchy-Schwarz above": {**CLOSE, "G_ij": 10},
        "Cauchy-Schwarz below": {**CLOSE, "G_ij": -10, "d_ij": -1}},
)
FOLLOWS = derived(
    stated_follows, "the stated bound follows",
    "With y = sqrt(x/d) <= 1, root = sqrt(1-rho^2) <= 1 and six = sqrt 6 >= 2: 2b^2 times [sqrt((1-rho^2)x/d) + "
    "(1-rho)x/d], doubled over G_min, is at most 2(2 + sqrt 6) b^2 sqrt(x/d)/G_min; and 6e^-x <= 9e^-x.",
    satisfiable={"rho": 0, "root": 1, "y": 1, "six": Fraction(5, 2)})

# One draw z of N(0, I/d); token 0 and token 1 are the pair. K is B_p B_q^T of notes/O2.md for the pair's rows of A.
DRAW = {
    "T": "len(z)", "d": "len(u)", **FORM, "x_tokens": "[sqrt(rho) * u + sqrt(1 - rho) * row for row in z]",
    "y": "x_tokens + A @ x_tokens @ transpose(V)", "h": "[[y[p] @ M @ y[q] for q in range(2)] for p in range(2)]",
    "t0": "trace(M) / d", "tau": "trace(M @ V + transpose(V) @ M) / (2 * d)", "phi": "trace(transpose(V) @ M @ V) / d",
    "g": "(u + V @ u) @ M @ (u + V @ u)",
    "G": "[[rho * g + (1 - rho) * ((t0 if p == q else 0) + (A[p][q] + A[q][p]) * tau "
         "+ dot(A[p], A[q]) * phi) for q in range(2)] for p in range(2)]",
}
WORST = {"b": "1 + v", "e": "2 * b ** 2 * (sqrt((1 - rho ** 2) * x / d) + (1 - rho) * x / d)"}
OWN = {
    "K": "[[C @ ((eye(d) if p == q else 0 * eye(d)) + A[q][p] * transpose(V) + A[p][q] * V "
         "+ dot(A[p], A[q]) * (V @ transpose(V))) @ C for q in range(2)] for p in range(2)]",
    "mean": "sqrt(rho) * (C @ (u + V @ u))",
    "square": "[[((1 - rho) / d) ** 2 * (trace(K[p][p] @ K[q][q]) + trace(K[p][q] @ K[p][q])) / 2 for q in range(2)] "
              "for p in range(2)]",
    "line": "[[(1 - rho) / d * (mean @ (K[p][p] + K[p][q] + K[q][p] + K[q][q]) @ mean) for q in range(2)] for p in "
            "range(2)]",
    "e": "[[2 * sqrt((square[p][q] + line[p][q] / 2) * x) + 2 * sqrt(square[p][q]) * x for q in range(2)] for p in "
         "range(2)]",
}
DRAW_HYPOTHESES = (
    Hypothesis("simplex", "rows of A are nonnegative and sum to one",
               "all(sum(row) == 1 and all(w >= 0 for w in row) for row in A)"),
    Hypothesis("rho", "0 <= rho < 1", "0 <= rho and rho < 1"),
    Hypothesis("unit direction", "‖u‖ = 1", "u @ u == 1"),
    Hypothesis("no gain", "the gain is one", "all(entry == 1 for entry in gain)"),
    Hypothesis("exponent", "0 < x <= d", "0 < x and x <= d"),
)
POSITIVE_MOMENTS = Hypothesis("positive moments", "G_min = min(G_ii, G_jj) > 0", "min(G[0][0], G[1][1]) > 0")
NORM_BOUND = Hypothesis("norm of V", "‖V‖_∞ <= v",
                        "v >= 0 and psd(v ** 2 * eye(d) - transpose(V) @ V)")
VARIABLES = {"A": "matrix", "V": "matrix", "u": "vector", "gain": "vector", "centred": "integer", "rho": "scalar",
             "z": "matrix", "x": "scalar"}
EVENT = (" (The formula is the event for one draw z, whose rows are independent N(0, I/d); the claim is about its "
         "probability, which exact replay cannot decide: independent draws support it, and notes/O2.md has the proof. "
         "So no instance can show a hypothesis to be needed either: those listed are the ones under which the event's "
         "probability is bounded.)")
QUIET = {"A": [[HALF, HALF], [HALF, HALF]], "V": [[1, 0], [0, 0]], "u": [1, 0], "gain": [1, 1], "centred": 0,
         "rho": Fraction(9, 25), "z": [[HALF, HALF], [-HALF, HALF]], "x": 1}


def setting(seed: int, index: int, dims: tuple[int, ...] = (16, 24)) -> dict[str, object]:
    """A random (T, d, rho, A, V, norm), each different, and one Gaussian draw."""
    rng = np.random.default_rng([seed, index])
    size, dim = int(rng.integers(2, 6)), int(rng.choice(dims))
    attention = rng.dirichlet(np.full(size, 0.5), size=size)
    w_vo = rng.uniform(0, 1) * rng.standard_normal((dim, dim)) / np.sqrt(dim) + rng.uniform(-0.5, 1) * np.eye(dim)
    direction = rng.standard_normal(dim)
    return {"A": attention, "V": w_vo, "u": direction / np.linalg.norm(direction), "rho": float(rng.uniform(0, 0.95)),
            "norm": str(rng.choice(["rms", "layer"])), "z": rng.standard_normal((size, dim)) / np.sqrt(dim)}


def observed(s: dict[str, object]) -> np.ndarray:
    """<Cy_p, Cy_q>/d for the pair 0, 1 of the draw."""
    x = np.sqrt(s["rho"]) * s["u"] + np.sqrt(1 - s["rho"]) * s["z"]
    y = (x + s["A"] @ x @ s["V"].T)[:2]
    y = y - y.mean(axis=1, keepdims=True) if s["norm"] == "layer" else y
    return y @ y.T


@cache
def violations(seed: int, trials: int) -> tuple[int, int, int]:
    """How many of the independent trials, each with its own setting and draw, fall outside each of the three events."""
    counts = np.zeros(3, dtype=int)
    for index in range(trials):
        s = setting(seed, index)
        law = pair_law(s["A"], s["V"], s["rho"], (0, 1), s["u"], s["norm"])
        counts += [not inside for inside in events(s, law, observed(s))]
    return tuple(int(count) for count in counts)


def trials_of(event: int):
    """(independent trials, violations) of one of the three events."""
    return lambda seed, trials: (trials, violations(seed, trials)[event])


def events(s: dict[str, object], law: PairLaw, h: np.ndarray, scale: float = 1.0) -> tuple[bool, bool, bool]:
    """Is the draw inside the worst-case bound, the one by its own variance, the stated one, each times `scale`?

    The middle one has |S|_F where the proof has |S| <= |S|_F.
    """
    dim, b = len(s["u"]), 1 + np.linalg.norm(s["V"], 2)
    errors = np.abs(h - law.gram)[[0, 0, 1], [0, 1, 1]]
    worst = 2 * b**2 * (np.sqrt((1 - s["rho"] ** 2) * EXPONENT / dim) + (1 - s["rho"]) * EXPONENT / dim)
    own = 2 * np.sqrt(law.variance_factor * EXPONENT) + 2 * own_frobenius(s) * EXPONENT
    stated, _ = cosine_bound_as_stated(EXPONENT, dim, b - 1, min(law.gram[0, 0], law.gram[1, 1]))
    moved = abs(h[0, 1] / np.sqrt(h[0, 0] * h[1, 1]) - law.cosine)
    return bool(np.all(errors <= scale * worst)), bool(np.all(errors <= scale * own)), bool(moved <= scale * stated)


def own_frobenius(s: dict[str, object]) -> np.ndarray:
    """|S|_F of the entries 00, 01, 11, from S = (1-rho)/d sym(B_p^T B_q) written out as a matrix."""
    size, dim = s["z"].shape
    centre = np.eye(dim) - (1 / dim if s["norm"] == "layer" else 0)
    rows = [np.concatenate([centre @ (np.eye(dim) * (p == k) + s["A"][p, k] * s["V"]) for k in range(size)], axis=1)
            for p in (0, 1)]
    scale = (1 - s["rho"]) / dim
    forms = [scale * (rows[p].T @ rows[q] + rows[q].T @ rows[p]) / 2 for p, q in ((0, 0), (0, 1), (1, 1))]
    return np.array([np.linalg.norm(form) for form in forms])


ENTRIES = Part(
    name="moments deviate little", quantifier="probability",
    text="With b = 1 + ‖V‖_∞ and e = 2b^2[sqrt((1-rho^2)x/d) + (1-rho)x/d], the three second moments of a pair are "
         "within e of G except with probability at most 6e^-x." + EVENT,
    variables={**VARIABLES, "v": "scalar"}, definitions={**DRAW, **WORST}, hypotheses=(*DRAW_HYPOTHESES, NORM_BOUND),
    conclusions=("all(abs(h[p][q] - G[p][q]) <= e for p in range(2) for q in range(2))",),
    satisfiable=Instance({**QUIET, "v": 1}), sampled=trials_of(0),
)
BY_VARIANCE = Part(
    name="moments deviate by their own variance", quantifier="probability",
    text="The sharper form: entry pq is within 2 sqrt(v_pq x) + 2|S_pq|_F x of G_pq, where 2v_pq = 2|S_pq|_F^2 + "
         "|l_pq|^2 is its variance, except with probability at most 6e^-x for all three." + EVENT,
    variables=VARIABLES, definitions={**DRAW, **OWN}, hypotheses=DRAW_HYPOTHESES,
    conclusions=("all(abs(h[p][q] - G[p][q]) <= e[p][q] for p in range(2) for q in range(2))",),
    satisfiable=Instance(QUIET), sampled=trials_of(1),
)
STATED = Part(
    name="cosine as stated", quantifier="probability",
    text="G_min > 0: P(|cos(y_i,y_j) - G_ij/sqrt(G_ii G_jj)| > 2(2+sqrt 6) b^2 sqrt(x/d)/G_min) <= 9e^-x." + EVENT,
    variables={**VARIABLES, "v": "scalar"}, definitions={**DRAW, "b": "1 + v"},
    hypotheses=(*DRAW_HYPOTHESES, NORM_BOUND, POSITIVE_MOMENTS),
    conclusions=("abs(h[0][1] / sqrt(h[0][0] * h[1][1]) - G[0][1] / sqrt(G[0][0] * G[1][1])) "
                 "<= 2 * (2 + sqrt(6)) * b ** 2 * sqrt(x / d) / min(G[0][0], G[1][1])",),
    satisfiable=Instance({**QUIET, "v": 1}), sampled=trials_of(2),
)

FIRST, SECOND = TO_COSINE.conclusions
#: T = 2, d = 1, z = ±1, rho = 9/25, V = 0: x_i is 7/5 or -1/5, so the cosine is 1 or -1, evenly
COINS = instance([[0]], [1], Fraction(9, 25), [[[a], [b]] for a in (1, -1) for b in (1, -1)])
VARIANTS = (
    false_model_statement(
        "the moment cosine is the mean cosine", "trap",
        "In the model E cos(y_1, y_2) is the moment cosine exactly, in every dimension", COINS,
        ["sum(case[0] @ M @ case[1] / sqrt((case[0] @ M @ case[0]) * (case[1] @ M @ case[1])) for case in y_now) / "
         "len(z) == E_now[0][1] / E_now[0][0]"], moments_under("now", "eye(T)")),
    false_formula(TO_COSINE, "half the constant", "constant moved", "the cosine moves by at most q = e/m", CLOSE,
                  conclusions=(FIRST.replace("2*q", "q"),)),
    false_formula(TO_COSINE, "the larger moment", "wrong matrix", "the cosine moves by at most 2e/max(G_ii, G_jj)",
                  {**CLOSE, "a": 3, "s": 2, "q": HALF, "d_ii": 1, "d_ij": 1, "d_jj": -1, "G_ij": HALF,
                   "w": Fraction(3, 2)},
                  conclusions=("2*m*q/G_ii - (h_ij/w - G_ij/s) >= 0",)),
    false_formula(TO_COSINE, "only the off-diagonal error", "drop hypothesis",
                  "the cosine moves by at most |h_ij - G_ij|/m, whatever h_ii and h_jj", {**CLOSE, "d_ij": 0},
                  conclusions=("q*d_ij - (h_ij/w - G_ij/s) >= 0",)),
    false_formula(FOLLOWS, "beyond x = d", "drop hypothesis",
                  "the stated bound follows for x > d too (y = sqrt(x/d) > 1)",
                  {"rho": 0, "root": 1, "y": 3, "six": Fraction(5, 2)}, bounds={"y": {"minimum": ["0", "1"]}}),
    ENTRIES.vary("every draw", "drop hypothesis",
                 "the three second moments are within e of G on every draw, at x = 1/100",
                 Instance({**QUIET, "v": 1, "x": Fraction(1, 100), "z": [[3, 0], [0, 3]]}), quantifier="forall"),
)

CLAIM = Claim(
    id="O2", title="The cosine is close to the moment cosine", family="oversmoothing",
    statement="i != j, 0 <= rho < 1, no gain, A on the simplex, z_i independent N(0, I/d). With b = 1 + "
              "‖V‖_∞, G_min = min(G_ii, G_jj) > 0, 0 < x <= d: P(|cos(y_i,y_j) - G_ij/sqrt(G_ii G_jj)| > "
              "2(2+sqrt 6) b^2 sqrt(x/d)/G_min) <= 9e^-x; sharper, 4b^2[sqrt((1-rho^2)x/d) + "
              "(1-rho)x/d]/G_min except with probability 6e^-x.",
    parts=(TO_COSINE, FOLLOWS, ENTRIES, BY_VARIANCE, STATED), variants=VARIANTS,
    required="SUPPORTED", required_formal="SUPPORTED",
    scope_notes=(
        "The probabilistic parts are sampled at x = 11, where the bounds allow 1.0e-4: no violation in n draws bounds "
                 "the probability of one, and nothing more. The worst-case bound is loose, so the form with its own "
                 "variance is sampled beside it.",),
)
