"""G6: a sink head under rotary positions, what rotation leaves of its margin; no half-space is needed."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from numerics.rope import g6_factor, g6_head, rope_logits
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.building import these
from proofs_check.claims.geometry.building import witnesses
from proofs_check.claims.geometry.derivations import rotated_margin
from proofs_check.claims.geometry.rotary import (
    drawn_head, head_instance, one_token, powers, rotary_family, turns,
)
from proofs_check.engines.derivations import symbolic_part

# x: tokens, sink in row 0; p: integer positions; rot[m] = R_{m theta} with rational entries; u: a unit
# vector; W_Q = u q^T, W_K = (R_phi u) k^T; logit l_ij = kappa x_i^T W_Q^T R_{(p_j - p_i) theta} W_K x_j.
VARIABLES = {"x": "matrix", "p": "integers", "rot": "matrices", "n": "integer", "q": "vector", "k": "vector",
             "alpha": "scalar", "mu": "scalar", "kappa": "scalar", "u": "vector", "Q": "set", "K": "set"}
SHARED = {
    "turn": "[[rot[b - a] if b >= a else transpose(rot[a - b]) for b in p] for a in p]",
    "W_Q": "outer(u, q)",
    "W_K": "outer(R_phi @ u, k)",
    "logits": "[[kappa * dot(W_Q @ x[i], turn[i][j] @ (W_K @ x[j])) for j in range(len(x))] for i in "
              "range(len(x))]",
}
CAUSAL_DEFINITIONS = {
    "R_phi": "rot[n] if dot(k, x[0]) >= 0 else rot[0]", **SHARED,
    "margins": "[logits[i][0] - logits[i][j] for i in Q for j in K if p[j] <= p[i]]",
    "bound": "kappa * alpha * mu * rot[n][0][0]",
}
BOTH_DEFINITIONS = {
    "R_phi": "rot[n] if dot(k, x[0]) >= 0 else transpose(rot[n])", **SHARED,
    "margins": "[logits[i][0] - logits[i][j] for i in Q for j in K]",
    "bound": "kappa * alpha * mu * rot[2 * n][0][0]",
}
ROTATION = (
    "rot[0] == eye(2) and rot[1][0][0] == rot[1][1][1] and rot[1][0][1] == -rot[1][1][0] and "
    "rot[1][0][0] ** 2 + rot[1][1][0] ** 2 == 1 and all(rot[m + 1] == rot[m] @ rot[1] for m in "
    "range(len(rot) - 1))")
ACUTE = "all(rot[m][0][0] > 0 and rot[m][1][0] >= 0 for m in range({} + 1))"
THIRD, HALF = turns(Fraction(1, 3), 4), turns(Fraction(1, 2), 2)  # cos theta = 4/5 and 3/5
STILL, OPPOSITE = turns(0, 2), powers([[-1, 0], [0, -1]], 2)
SHRINKING = powers([[Fraction(1, 2), 0], [0, Fraction(1, 2)]], 2)


def hypotheses(largest: str) -> tuple[Hypothesis, ...]:
    """Both masks take the same hypotheses but for the largest angle; every counterexample serves both."""
    return (
        Hypothesis("scale positive", "kappa > 0", "kappa > 0", one_token(0, -10, STILL, 1, kappa=-1)),
        Hypothesis("rotations", "rot[m] = R_{m theta}", ROTATION, one_token(2, 1, SHRINKING, 1)),
        Hypothesis("acute", f"theta >= 0 and {largest.replace('*', '')} theta < pi/2, step by step: each "
                   "R_(m theta) up to there has a positive cosine and no negative sine", ACUTE.format(largest),
                   one_token(0, -10, OPPOSITE, 1)),
        Hypothesis("sink first", "p_s <= p_i", "all(p[0] <= place for place in p)",
                   one_token(10, 9, THIRD, 1, p=(1, 0)) if largest != "n" else
                   head_instance([[0, 10], [1, 9], [1, 9]], [1, 0, 1], THIRD, 1, [1, 0], [0, 1], 1, 1,
                                 queries=[2])),
        Hypothesis("distances", "no two positions are more than n apart",
                   "all(a - b <= n for a in p for b in p)", one_token(10, 9, THIRD, 0)),
        Hypothesis("alpha positive", "alpha > 0", "alpha > 0",
                   one_token(0, -10, STILL, 1, a=Fraction(-1, 2), alpha=-1)),
        Hypothesis("mu positive", "mu > 0", "mu > 0", one_token(0, Fraction(1, 2), STILL, 1, a=10, mu=-1)),
        Hypothesis("queries", "<q, x_i> >= alpha on Q", "all(dot(q, x[i]) >= alpha for i in Q)",
                   one_token(1, 0, STILL, 1, a=0)),
        Hypothesis("keys", "<k, x_s - x_j> >= mu on K", "all(dot(k, x[0] - x[j]) >= mu for j in K)",
                   one_token(1, 1, STILL, 1)),
        Hypothesis("unit", "|u| = 1", "dot(u, u) == 1", one_token(1, 0, STILL, 1, u=(0, 0))),
    )


def slack(values: Mapping[str, object], bidirectional: bool) -> float:
    """The head and the logits of `numerics`, in floats and with its own u = (1, 0)."""
    x, p = values["x"], np.array(values["p"])
    theta = float(np.arctan2(values["rot"][1][1, 0], values["rot"][1][0, 0]))
    head = g6_head(values["q"], values["k"], x[0], theta, values["n"], bidirectional)
    table = np.asarray(rope_logits(x, head.w_q, head.w_k, p, theta, values["kappa"]))
    margins = [table[i, 0] - table[i, j] for i in values["Q"] for j in values["K"]
               if bidirectional or p[j] <= p[i]]
    bound = values["kappa"] * values["alpha"] * values["mu"] * g6_factor(theta, values["n"], bidirectional)
    return float(min(margins) - bound) if margins else 1.0


TEXT = ("Sink first, distances at most n, <q, x_i> >= alpha > 0 on Q, <k, x_s - x_j> >= mu > 0 on K: W_Q = u "
        "q^T, W_K = (R_phi u) k^T with {} gives every margin at least kappa alpha mu {}. The angle is given "
        "by rational rotations (cos, sin with cos^2 + sin^2 = 1, such as 4/5, 3/5) and their powers, so the "
        "instances are exact; positions are integers.")
CAUSAL = Part(
    name="causal",
    text="Causal mask, n theta < pi/2. " + TEXT.format("phi = n theta if <k, x_s> >= 0 and 0 otherwise",
                                                       "cos(n theta)"),
    variables=VARIABLES, definitions=CAUSAL_DEFINITIONS, hypotheses=hypotheses("n"),
    conclusions=("all(margin >= bound for margin in margins)",), attainment="min(margins) == bound",
    satisfiable=one_token(2, 1, THIRD, 1), attained=one_token(0, -1, THIRD, 1),
    instances=lambda seed: rotary_family(seed, 1), strategy=lambda: drawn_head(1),
    numeric=lambda values: slack(values, False),
)
BOTH = Part(
    name="bidirectional",
    text="No mask, 2 n theta < pi/2. " + TEXT.format("phi = n theta with the sign of <k, x_s> (+ at zero)",
                                                     "cos(2 n theta)")
         + " The bound is met, for theta > 0, only where the sink is a query or a token shares its position.",
    variables=VARIABLES, definitions=BOTH_DEFINITIONS, hypotheses=hypotheses("2 * n"),
    conclusions=CAUSAL.conclusions, attainment=CAUSAL.attainment,
    satisfiable=one_token(2, 1, THIRD, 1),
    attained=head_instance([[1, 0], [1, -1]], [0, 1], THIRD, 1, [1, 0], [0, 1], 1, 1, queries=[0]),
    instances=lambda seed: rotary_family(seed, 2), strategy=lambda: drawn_head(2),
    numeric=lambda values: slack(values, True),
)


def symbolic_instance(sigma: object, tau: object, u_s: object, u_j: object, u_n: object,
                      a: object = 1) -> Instance:
    return Instance({"kappa": 1, "a": a, "alpha": 1, "mu": 1, "sigma": sigma, "tau": tau, "u_s": u_s,
                     "u_j": u_j, "u_n": u_n})


QUARTER, MIDDLE = Fraction(1, 4), Fraction(1, 2)
PAIR = ("One query and one key, all real angles: a = <q, x_i> >= alpha, sigma = <k, x_s> {}, tau = <k, x_j> "
        "<= sigma - mu, and the angles of sink and key from the query's axis enter by the tangents of their "
        "halves, {}. Then kappa a (sigma cos_s - tau cos_j) >= kappa alpha mu cos_n. With a phase as in "
        "'causal' or 'bidirectional' the sink, being first, has the {} angle, and the largest is n theta or "
        "2 n theta.")
PAIR_POSITIVE = symbolic_part(
    lambda: rotated_margin("positive"), "one pair, sink score not negative",
    PAIR.format(">= 0", "0 <= u_s <= u_j <= u_n < 1", "smallest"),
    attainment="kappa * a * (c_s * sigma - c_j * tau) == kappa * alpha * mu * c_n",
    satisfiable=symbolic_instance(2, 1, QUARTER, MIDDLE, MIDDLE),
    attained=symbolic_instance(0, -1, QUARTER, MIDDLE, MIDDLE),
    counterexamples={"query": symbolic_instance(1, 0, 0, 0, 0, a=0), "key": symbolic_instance(1, 1, 0, 0, 0),
                     "order": symbolic_instance(10, 9, MIDDLE, 0, MIDDLE),
                     "largest angle": symbolic_instance(0, -1, 0, MIDDLE, 0)})
PAIR_NEGATIVE = symbolic_part(
    lambda: rotated_margin("negative"), "one pair, sink score not positive",
    PAIR.format("<= 0", "0 <= u_j <= u_s <= u_n < 1", "largest"),
    attainment="kappa * a * (c_s * sigma - c_j * tau) == kappa * alpha * mu * c_n",
    satisfiable=symbolic_instance(-1, -2, MIDDLE, QUARTER, MIDDLE),
    attained=symbolic_instance(-1, -2, MIDDLE, MIDDLE, MIDDLE),
    counterexamples={"query": symbolic_instance(0, -1, 0, 0, 0, a=0),
                     "key": symbolic_instance(-1, -1, 0, 0, 0),
                     "order": symbolic_instance(-1, -2, 0, MIDDLE, MIDDLE),
                     "largest angle": symbolic_instance(0, -1, MIDDLE, MIDDLE, 0)})

# Without a phase only cosines occur: u^T R_{m theta} u = cos(m theta) = C[m], exact by Chebyshev's recursion.
COSINES = Hypothesis("cosines", "C[m] = cos(m theta)",
                     "C[0] == 1 and abs(C[1]) <= 1 and all(C[m + 2] == 2 * C[1] * C[m + 1] - C[m] for m in "
                     "range(len(C) - 2))")
SIXTY = Hypothesis("sixty degrees", "theta = pi/3", "2 * C[1] == 1")
PLAIN = {"x": "matrix", "p": "integers", "C": "vector", "q": "vector", "k": "vector"}
PLAIN_DEFINITIONS = {
    "logits": "[[dot(q, x[i]) * dot(k, x[j]) * C[abs(p[j] - p[i])] for j in range(len(x))] for i in "
              "range(len(x))]",
    "margins": "[logits[i][0] - logits[i][j] for i in range(1, len(x)) for j in range(1, len(x))]",
    "causal": "[logits[i][0] - logits[i][j] for i in range(1, len(x)) for j in range(1, len(x)) if p[j] <= "
              "p[i]]",
}
COS_PI_3 = [1, Fraction(1, 2), Fraction(-1, 2)]
TWO_SIDED = Instance({"x": [[0, 1], [1, 0], [-1, 0]], "p": [0, 1, 2], "C": COS_PI_3, "q": [1, 0],
                      "k": [0, 1]},
                     witnesses(queries=[[1, 0], [-1, 0]]))
NOT_NECESSARY = Part(
    name="half-space not necessary", quantifier="exists",
    text="x_s = e2, x_1 = e1, x_2 = -e1 at positions 0, 1, 2 with theta = pi/3 and W_Q = u e1^T, W_K = u "
         "e2^T: every margin is 1/2, with or without a causal mask, though zero is in the queries' hull. "
         "(theta enters by its exact cosines.)",
    variables=PLAIN, definitions=PLAIN_DEFINITIONS,
    conclusions=(COSINES.formula, SIXTY.formula, "all(2 * margin == 1 for margin in margins)",
                 "not separable([x[i] for i in range(1, len(x))], 'queries')"),
    satisfiable=TWO_SIDED, instances=lambda seed: iter([TWO_SIDED]), cases=(these(TWO_SIDED),),
)

LOST = one_token(10, 9, THIRD, 1)
NEEDS_PHASE = Part(
    name="without the phase", quantifier="exists",
    text="cos theta = 4/5, <q, x_1> = 1, <k, x_s> = 10 and <k, x_1> = 9 at positions 0 and 1: everything that "
         "the causal head asks for holds, and without its phase (phi = 0) the margin is 10*4/5 - 9 = -1: the "
         "head loses the sink.",
    variables=VARIABLES, definitions={**CAUSAL_DEFINITIONS, "R_phi": "rot[0]"},
    conclusions=(*[item.formula for item in CAUSAL.hypotheses], "any(margin < 0 for margin in margins)"),
    satisfiable=LOST, instances=lambda seed: iter([LOST]), cases=(these(LOST),),
)

VARIANTS = (
    CAUSAL.vary("G1's necessity under RoPE", "trap",
                "A head with positive margins at all content queries, here with rotary positions, needs the "
                "queries in an open half-space.",
                TWO_SIDED, variables=PLAIN, definitions=PLAIN_DEFINITIONS,
                hypotheses=(COSINES, Hypothesis("sink head", "all margins are positive",
                                                "all(margin > 0 for margin in margins)")),
                conclusions=("separable([x[i] for i in range(1, len(x))], 'queries')",)),
    CAUSAL.vary("no phase", "trap",
                "Without the phase (phi = 0) the head of G4 still sees the sink: theta = pi/3, x_s = (1, 0), "
                "x_1 = (3/5, 4/5), q = k = x_s, distance 1.",
                Instance({"x": [[1, 0], [Fraction(3, 5), Fraction(4, 5)]], "p": [0, 1], "C": COS_PI_3,
                          "q": [1, 0], "k": [1, 0]}),
                variables=PLAIN, definitions=PLAIN_DEFINITIONS,
                hypotheses=(COSINES, SIXTY,
                            Hypothesis("queries", "<q, x_i> > 0",
                                       "all(dot(q, x[i]) > 0 for i in range(1, len(x)))"),
                            Hypothesis("keys", "<k, x_s - x_j> > 0",
                                       "all(dot(k, x[0] - x[j]) > 0 for j in range(1, len(x)))"),
                            Hypothesis("short", "distances at most 1, below pi/2", "p == [0, 1]")),
                conclusions=("all(margin > 0 for margin in causal)",)),
    CAUSAL.vary("rotation costs nothing", "constant moved", "Every margin is at least kappa alpha mu.",
                one_token(0, -1, THIRD, 1),
                conclusions=("all(margin >= kappa * alpha * mu for margin in margins)",)),
    CAUSAL.vary("one percent more", "constant moved",
                "Every margin is at least 1.01 kappa alpha mu cos(n theta).", one_token(0, -1, THIRD, 1),
                conclusions=("all(margin >= 101 * bound / 100 for margin in margins)",)),
    CAUSAL.vary("phase backwards", "flip inequality", "phi = -n theta for a sink score that is not negative.",
                one_token(10, 9, THIRD, 1),
                definitions={**CAUSAL_DEFINITIONS,
                             "R_phi": "transpose(rot[n]) if dot(k, x[0]) >= 0 else rot[0]"}),
    CAUSAL.vary("phase for negative scores", "drop hypothesis",
                "phi = n theta whatever the sign of <k, x_s>.",
                one_token(-9, -10, HALF, 1), definitions={**CAUSAL_DEFINITIONS, "R_phi": "rot[n]"}),
    CAUSAL.vary("any angle", "trap", "n theta < pi/2 is not needed: cos(n theta) may be negative.",
                one_token(0, -10, OPPOSITE, 1), drop=("acute",)),
    BOTH.vary("causal factor", "wrong mask", "Without a mask the factor is cos(n theta) all the same.",
              head_instance([[0, 0], [1, -1], [1, -1]], [0, 0, 1], THIRD, 1, [1, 0], [0, 1], 1, 1),
              definitions={**BOTH_DEFINITIONS, "bound": "kappa * alpha * mu * rot[n][0][0]"}),
    BOTH.vary("causal phase", "wrong mask", "Without a mask phi = 0 will do for a negative sink score.",
              head_instance([[0, -9], [1, -10], [1, -10]], [0, 0, 1], THIRD, 1, [1, 0], [0, 1], 1, 1),
              definitions={**BOTH_DEFINITIONS, "R_phi": "rot[n] if dot(k, x[0]) >= 0 else rot[0]"}),
)

CLAIM = Claim(
    id="G6", title="A sink head under rotary positions", family="geometry",
    statement="One rotary plane, sink first, distances at most n, <q, x_i> >= alpha > 0, <k, x_s - x_j> >= "
              "mu > 0: a rank-one head with a phase has margins of at least kappa alpha mu cos(n theta) "
              "(causal, n theta < pi/2) or kappa alpha mu cos(2 n theta) (bidirectional, 2 n theta < pi/2); "
              "both are sharp, the second with the sink among the queries or two tokens at one position. "
              "Without the phase the head can lose the sink. Under RoPE the half-space of G1 "
              "is not necessary.",
    parts=(CAUSAL, BOTH, PAIR_POSITIVE, PAIR_NEGATIVE, NOT_NECESSARY, NEEDS_PHASE), variants=VARIANTS,
    # For one pair the inequality is proved for all reals; for whole heads the evidence is exact instances.
    required="PROVED ON", required_formal="PROVED ON",
    scope_notes=(
        "One plane turning by theta per position; a head of many planes can use its slowest. RoPE breaks the "
        "necessity in G1 and G3 and the lower bounds C1 and C3, not the sufficiency shown here.",
        "For angles the instances use rational rotations; that the cosine falls on [0, pi/2] is taken from "
        "analysis.",
    ),
)
