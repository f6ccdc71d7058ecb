"""E5: a head that is off in several contexts with no common content token is a sink there, and the sink's
value is zero."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.building import Choose, Shape, agreement, entry, family, independent, searched, vector
from proofs_check.claims.exact import combine, zeros

F = Fraction
HALF = F(1, 2)


def at(v: list, v_s: list, A: list, a_s: list, contexts: list, **witnesses: dict) -> Instance:
    return Instance({"v": v, "v_s": v_s, "A": A, "a_s": a_s, "contexts": contexts}, witnesses)


def build(choose: Choose, shape: Shape) -> Instance:
    """Contexts without a common token; heads that are sinks, off wherever the sink's value allows it, or
    arbitrary."""
    tokens, count = shape.tokens, choose(1, 3)
    v = independent(choose, tokens, shape)
    sets = [[j for j in range(tokens) if choose(0, 3)] for _ in range(count)]
    for j in range(tokens):
        missing = choose(0, count - 1)
        sets[missing] = [k for k in sets[missing] if k != j]
    # v_s = −Σ b_j v_j with b >= 0: a context that holds the support of b can be switched off without being a
    # sink
    b = [F(choose(0, 1) * choose(1, 3), 2) for _ in range(tokens)] if choose(0, 1) else zeros(tokens)
    v_s = [-value for value in combine(b, v, len(v[0]))]
    rows, sink = [], []
    for members in sets:
        if all(j in members or b[j] == 0 for j in range(tokens)):
            rows.append([value / (1 + sum(b)) for value in b])
        elif choose(0, 1):
            rows.append(zeros(tokens))
        else:
            rows.append([entry(choose, shape.kind) if j in members else 0 for j in range(tokens)])
        sink.append(1 - sum(map(F, rows[-1])))
    return at(v, v_s, rows, sink, [[r, j] for r, members in enumerate(sets) for j in members])


def slack(values: Mapping[str, object]) -> float:
    """Largest output over the contexts against the distance from "v_s = 0 and every row is e_s"."""
    outputs = values["A"] @ values["v"] + np.outer(values["a_s"], values["v_s"])
    away = np.concatenate([values["v_s"], values["A"].ravel(), values["a_s"] - 1.0])
    return agreement(float(np.abs(outputs).max()), float(np.abs(away).max()))


WEIGHTS = Hypothesis("weights on the contexts", "the content weights of context r live on S_r",
                     "all(A[r][j] == 0 or [r, j] in contexts for r in range(len(A)) for j in range(len(v)))",
                     at([[1]], [-1], [[HALF]], [HALF], []))
INDEPENDENT = Hypothesis("independent family", "the content values are independent as a family",
                         "rank(v) == len(v)",
                         at([[0], [0]], [0], [[1, 0], [0, 1]], [0, 0], [[0, 0], [1, 1]]))
SUM = Hypothesis("sum one", "the weights of every context sum to one (signs free)",
                 "all(a_s[r] + sum(A[r]) == 1 for r in range(len(A)))", at([[1]], [1], [[0]], [0], []))
APART = Hypothesis("no common token", "∩ S_r is empty",
                   "not any(all([r, j] in contexts for r in range(len(A))) for j in range(len(v)))",
                   at([[1]], [-1], [[HALF]], [HALF], [[0, 0]]))
SOME = Hypothesis("some context", "k >= 1", "len(A) >= 1", at([], [1], [], [], []))
OUTPUTS = {"outputs": "[[sum(A[r][j] * v[j][c] for j in range(len(v))) + a_s[r] * v_s[c] for c in "
                      "range(len(v_s))] for r in range(len(A))]"}
CONCLUSION = ("implies(all(entry == 0 for row in outputs for entry in row), all(entry == 0 for entry in v_s) "
              "and all(a_s[r] == 1 and all(entry == 0 for entry in A[r]) for r in range(len(A))))")

IDENTIFIED = Part(
    name="all contexts",
    text="Content values independent, one v_s for all contexts, weights of sum one on contexts S_1..S_k "
         "with no common content token: if all outputs are zero, then v_s = 0 and every weight vector is "
         "e_s.",
    variables={"v": "matrix: n d", "v_s": "vector: d", "A": "matrix: k n", "a_s": "vector: k", "contexts": "pairs"},
    definitions=OUTPUTS,
    hypotheses=(INDEPENDENT, WEIGHTS, SUM, APART, SOME),
    conclusions=(CONCLUSION,),
    satisfiable=at([[1, 0], [0, 1]], [0, 0], [[0, 0], [0, 0]], [1, 1], [[0, 0], [1, 1]]),
    instances=family(build), strategy=searched(build), numeric=slack,
)


def build_common(choose: Choose, shape: Shape) -> Instance:
    return Instance({"w": vector(choose, shape)})


COMMON = Part(
    name="sharp",
    text="A content key c that is in every context allows v_s = −v_c: with v_c = w and weights ½ on c and ½ "
         "on the sink the weights sum to one and the output is zero.",
    variables={"w": "vector"},
    definitions={"values": "[w, [-entry for entry in w]]", "a": "[1 / 2, 1 / 2]"},
    conclusions=("sum(a) == 1 and all(entry == 0 for entry in a @ values)",),
    satisfiable=Instance({"w": [1]}),
    instances=family(build_common), strategy=searched(build_common),
    numeric=lambda values: -float(np.abs(0.5 * values["w"] + 0.5 * -values["w"]).max()),
)

CLAIM = Claim(
    id="E5", title="Several contexts identify the sink", family="equivalence",
    statement="Content values independent as a family, the same v_j and v_s in every context; k>=1 contexts "
              "with weights of sum one (signs free), output 0, content parts without a common token: v_s = "
              "0 and every weight vector is e_s. Sharp: a common content token c allows v_s = −v_c.",
    parts=(IDENTIFIED, COMMON),
    variants=(
        IDENTIFIED.vary("one context", "trap", "E5 with a single context, whatever it holds",
                        at([[1]], [-1], [[HALF]], [HALF], [[0, 0]]),
                        hypotheses=(INDEPENDENT, WEIGHTS, SUM,
                                    Hypothesis("one context", "k = 1", "len(A) == 1"))),
        IDENTIFIED.vary("common token allowed", "drop hypothesis",
                        "E5 with contexts that share a content token",
                        at([[1]], [-1], [[HALF], [HALF]], [HALF, HALF], [[0, 0], [1, 0]]), drop=("no "
                                                                                                 "common "
                                                                                                 "token",)),
        IDENTIFIED.vary("contexts differ", "drop hypothesis",
                        "E5 with contexts that merely differ from each other",
                        at([[1, 0], [0, 1]], [-1, 0], [[HALF, 0], [HALF, 0]], [HALF, HALF],
                           [[0, 0], [1, 0], [1, 1]]),
                        hypotheses=(INDEPENDENT, WEIGHTS, SUM, SOME, Hypothesis(
                            "contexts differ", "no two contexts are equal",
                            "all(any(not iff([r, j] in contexts, [q, j] in contexts) for j in range(len(v))) "
                            "for r in range(len(A)) for q in range(r))"))),
        IDENTIFIED.vary("half-space", "drop hypothesis", "E5 with a half-space in place of independence",
                        at([[1], [2]], [-1], [[HALF, 0], [0, F(1, 3)]], [HALF, F(2, 3)], [[0, 0], [1, 1]],
                           hull={"normal": [1]}),
                        hypotheses=(Hypothesis("half-space", "0 is not in the hull of the content values",
                                               "separable(v, 'hull')"), WEIGHTS, SUM, APART, SOME)),
        IDENTIFIED.vary("a sink for each context", "wrong matrix",
                        "E5 with a sink's value that may change with the context",
                        Instance({"v": [[1, 0], [0, 1]], "V_s": [[-1, 0], [0, -1]],
                                  "A": [[HALF, 0], [0, HALF]],
                                  "a_s": [HALF, HALF], "contexts": [[0, 0], [1, 1]]}),
                        variables={"v": "matrix", "V_s": "matrix", "A": "matrix", "a_s": "vector",
                                   "contexts": "pairs"},
                        definitions={"outputs": "[A[r] @ v + a_s[r] * V_s[r] for r in range(len(A))]"},
                        conclusions=("implies(all(entry == 0 for row in outputs for entry in row), "
                                     "all(a_s[r] == 1 and all(entry == 0 for entry in V_s[r]) for r in "
                                     "range(len(A))))",)),
        IDENTIFIED.vary("weights of any sum", "drop hypothesis", "E5 without Σa = 1",
                        at([[1]], [1], [[0]], [0], []), drop=("sum one",)),
        COMMON.vary("same sign", "flip inequality", "a common token allows v_s = +v_c with positive weights",
                    Instance({"w": [1]}), definitions={**COMMON.definitions, "values": "[w, w]"}),
    ),
    scope_notes=("V = W_VO has rank at most the head dimension, so no more than d_h content values can be "
                 "independent.",),
)
