"""E6: in a head that attains its independent targets, a hard switch is a sink."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.building import Choose, Shape, agreement, entry, family, independent, positive, searched
from proofs_check.claims.exact import axis, combine, zeros

F = Fraction
HALF = F(1, 2)


def at(rows: list, b: list, A: list, contexts: list) -> Instance:
    """Row 0 of `rows` is the sink's value, rows 1..T the content values; A and b have T+1 columns."""
    return Instance({"rows": rows, "b": b, "A": A, "contexts": contexts})


def values_with_relation(choose: Choose, shape: Shape) -> tuple[list, int, list]:
    """(rows, m, c): T rows independent, row m the combination c of the others (c[m] = −1)."""
    base = independent(choose, shape.tokens, shape)
    m = choose(0, shape.tokens) * choose(0, 1)
    c = [F(choose(-2, 2) * choose(0, 1), 2) for _ in range(shape.tokens)]
    rows = base[:m] + [combine(c, base, len(base[0]))] + base[m:]
    return rows, m, c[:m] + [F(-1)] + c[m:]


def targets(choose: Choose, shape: Shape, m: int) -> list:
    """Weights b whose targets b·rows are independent: unit lower triangular on the rows other than m."""
    others = [k for k in range(shape.tokens + 1) if k != m]
    b = []
    for line, pivot in enumerate(others):
        row = zeros(shape.tokens + 1)
        for k in others[:line]:
            row[k] = entry(choose, "integer")
        row[pivot] = 1
        b.append(row)
    return b


def build(choose: Choose, shape: Shape) -> Instance:
    """Contexts with at most the sink in common; weights from the relation among the rows where a context
    allows it."""
    tokens, count = shape.tokens, choose(1, 3)
    rows, m, relation = values_with_relation(choose, shape)
    total = sum(relation)
    sets = [[0] * (choose(0, 9) > 0) + [j for j in range(1, tokens + 1) if choose(0, 3)]
            for _ in range(count)]
    for j in range(1, tokens + 1):
        missing = choose(0, count - 1)
        sets[missing] = [k for k in sets[missing] if k != j]
    A = []
    for members in sets:
        members = members or [0]
        if total != 0 and all(j in members or relation[j] == 0 for j in range(tokens + 1)):
            A.append([value / total for value in relation])
            continue
        row = [entry(choose, "fraction") if j in members else 0 for j in range(tokens + 1)]
        row[members[0]] += 1 - sum(map(F, row))
        A.append(axis(tokens + 1, 0) if 0 in members and choose(0, 1) else row)
    return at(rows, targets(choose, shape, m), A,
              [[r, j] for r, members in enumerate(sets) for j in (members or [0])])


def slack(values: Mapping[str, object]) -> float:
    """Outputs vanish exactly when every row of A is e_s and v_s = 0; the content values are then
    independent."""
    rows, A = values["rows"], values["A"]
    off = float(np.abs(A @ rows).max())
    away = max(float(np.abs(A - np.eye(len(rows))[0]).max()), float(np.abs(rows[0]).max()))
    content = np.linalg.svd(rows[1:], compute_uv=False)
    return agreement(off, away) if off > 1e-12 else min(-away, float(content[-1]) - 1e-9)


INDEPENDENT = Hypothesis(
    "independent targets", "the T targets t_j = b_j·rows are independent, T the number of content tokens",
    "len(b) == len(rows) - 1 and rank([weights @ rows for weights in b]) == len(b)",
    at([[0], [0]], [[0, 0]], [[1, 0]], [[0, 0]]))
WEIGHTS = Hypothesis("weights on the contexts", "row r of A lives on S_r",
                     "all(A[r][j] == 0 or [r, j] in contexts for r in range(len(A)) for j in "
                     "range(len(rows)))",
                     at([[-1], [1]], [[0, 1]], [[HALF, HALF]], [[0, 0]]))
SUM = Hypothesis("sum one", "every row of A sums to one (signs free)", "all(sum(row) == 1 for row in A)",
                 at([[0], [1]], [[0, 1]], [[0, 0]], [[0, 0]]))
APART = Hypothesis("only the sink in common", "∩ S_r ⊆ {s}",
                   "not any(all([r, j] in contexts for r in range(len(A))) for j in range(1, len(rows)))",
                   at([[-1], [1]], [[0, 1]], [[HALF, HALF]], [[0, 0], [0, 1]]))
SOME = Hypothesis("some context", "k >= 1", "len(A) >= 1", at([[1]], [], [], []))
NAMES = {"rows": "matrix: n d", "b": "matrix: t n", "A": "matrix: k n", "contexts": "pairs"}
OFF = "all(entry == 0 for row in A for entry in row @ rows)"

IDENTIFIED = Part(
    name="optimal heads",
    text="If each of T independent targets is a combination b_j of the T+1 values and rows of A of sum one "
         "live on contexts with at most the sink in common, then zero outputs in all of them force every "
         "row of A to be e_s, v_s = 0 and the content values to be independent.",
    variables=NAMES,
    definitions={"content": "[rows[j] for j in range(1, len(rows))]"},
    hypotheses=(INDEPENDENT, WEIGHTS, SUM, APART, SOME),
    conclusions=(f"implies({OFF}, all(row == eye(len(rows))[0] for row in A) and all(entry == 0 for entry in "
                 f"rows[0]) "
                 "and rank(content) == len(content))",),
    satisfiable=at([[0, 0], [1, 0], [0, 1]], [[0, 1, 0], [0, 0, 1]], [[1, 0, 0], [1, 0, 0]],
                   [[0, 0], [0, 1], [1, 0], [1, 2]]),
    instances=family(build), strategy=searched(build), numeric=slack,
)


def build_softmax(choose: Choose, shape: Shape) -> Instance:
    """Positive weights on contexts that see a content key, from values that have a relation or none."""
    tokens, count = shape.tokens, choose(2, 3)
    rows, m, _ = values_with_relation(choose, shape)
    sets = [[0] + [j for j in range(1, tokens + 1) if choose(0, 2)] for _ in range(count)]
    for j in range(1, tokens + 1):
        missing = choose(1, count - 1)
        sets[missing] = [k for k in sets[missing] if k != j]
    seen = choose(1, tokens)
    sets[0] = sorted({*sets[0], seen})
    A = []
    for members in sets:
        weights = positive(choose, len(members))
        A.append([weights[members.index(j)] if j in members else 0 for j in range(tokens + 1)])
    return at(rows, targets(choose, shape, m), A, [[r, j] for r, members in enumerate(sets) for j in members])


FINITE = Part(
    name="finite logits",
    text="As above with every visible weight positive (softmax of finite logits) and a content key visible "
         "in some context: the outputs are not all zero, so the copying loss is not zero.",
    variables=NAMES,
    hypotheses=(
        Hypothesis("independent targets", INDEPENDENT.text, INDEPENDENT.formula,
                   at([[0], [0]], [[0, 0]], [[HALF, HALF], [1, 0]], [[0, 0], [0, 1], [1, 0]])),
        Hypothesis("finite logits", "a weight is positive where its key is visible and zero elsewhere",
                   "all((A[r][j] > 0) if [r, j] in contexts else (A[r][j] == 0) for r in range(len(A)) "
                   "for j in range(len(rows)))",
                   at([[0], [1]], [[0, 1]], [[1, 0], [1, 0]], [[0, 0], [0, 1], [1, 0]])),
        # Its counterexample is a row that sees no key at all: visible weights that are positive could be
        # rescaled.
        Hypothesis("sum one", SUM.text, SUM.formula,
                   at([[-1], [1]], [[0, 1]], [[HALF, HALF], [0, 0]], [[0, 0], [0, 1]])),
        Hypothesis("only the sink in common", APART.text, APART.formula,
                   at([[-1], [1]], [[0, 1]], [[HALF, HALF]], [[0, 0], [0, 1]])),
        Hypothesis("a content key is seen", "some context sees a content key",
                   "any([r, j] in contexts for r in range(len(A)) for j in range(1, len(rows)))",
                   at([[0], [1]], [[0, 1]], [[1, 0]], [[0, 0]])),
    ),
    conclusions=(f"not {OFF}",),
    satisfiable=at([[0], [1]], [[0, 1]], [[HALF, HALF], [1, 0]], [[0, 0], [0, 1], [1, 0]]),
    instances=family(build_softmax), strategy=searched(build_softmax),
    numeric=lambda values: float(np.abs(values["A"] @ values["rows"]).max()),
)

CLAIM = Claim(
    id="E6", title="In an optimal copying head a hard switch is a sink", family="equivalence",
    statement="𝒱 has rows v_s, v_1..v_T. If each of T independent targets is t_j = b_j𝒱 for some weights "
              "b_j, and contexts S_1..S_k (k>=1) have weights on S_r with Σ = 1, output 0, ∩S_r ⊆ {s}: "
              "every a^r = e_s, v_s = 0 and v_1..v_T are independent. Finite-logit softmax never attains "
              "that when an off row sees a content key.",
    parts=(IDENTIFIED, FINITE),
    variants=(
        IDENTIFIED.vary("one target fewer", "T for T-1", "E6 with T−1 independent targets",
                        at([[0], [0]], [], [[1, 0]], [[0, 0]]),
                        hypotheses=(Hypothesis("T−1 targets", "T−1 independent targets",
                                               INDEPENDENT.formula.replace(
                            "len(rows) - 1", "len(rows) - 2")), WEIGHTS, SUM, APART, SOME)),
        IDENTIFIED.vary("different targets", "drop hypothesis",
                        "E6 with targets that are nonzero and pairwise different only",
                        at([[-1], [1], [2]], [[0, 1, 0], [0, 0, 1]], [[HALF, HALF, 0], [F(2, 3), 0, F(1, 3)]],
                           [[0, 0], [0, 1], [1, 0], [1, 2]]),
                        hypotheses=(Hypothesis(
                            "different targets", "nonzero and pairwise different",
                            "len(b) == len(rows) - 1 and all(any(entry != 0 for entry in weights @ rows) "
                            "for weights in b) and all(b[j] @ rows != b[k] @ rows for j in range(len(b)) "
                            "for k in range(j))"),
                            WEIGHTS, SUM, APART, SOME)),
        IDENTIFIED.vary("pairs of contexts", "drop hypothesis",
                        "E6 with each two contexts sharing at most the sink (void for one context)",
                        at([[-1], [1]], [[0, 1]], [[HALF, HALF]], [[0, 0], [0, 1]]),
                        hypotheses=(INDEPENDENT, WEIGHTS, SUM, SOME, Hypothesis(
                            "pairs", "S_r ∩ S_q ⊆ {s} for r ≠ q",
                            "not any([r, j] in contexts and [q, j] in contexts for r in range(len(A)) "
                            "for q in range(r) for j in range(1, len(rows)))"))),
        IDENTIFIED.vary("weights of any sum", "drop hypothesis", "E6 without Σ = 1, as for sigmoid attention",
                        at([[1], [1]], [[0, 1]], [[0, 0]], [[0, 0]]), drop=("sum one",)),
        IDENTIFIED.vary("common content token", "drop hypothesis", "E6 with a content token in every context",
                        at([[-1], [1]], [[0, 1]], [[HALF, HALF], [HALF, HALF]],
                           [[0, 0], [0, 1], [1, 0], [1, 1]]),
                        drop=("only the sink in common",)),
        IDENTIFIED.vary("self instead of sink", "swap sink and diagonal",
                        "outputs vanish exactly when every row of A is e_1",
                        at([[0], [1]], [[0, 1]], [[1, 0]], [[0, 0]]),
                        conclusions=(f"iff({OFF}, all(row == eye(len(rows))[1] for row in A))",)),
        FINITE.vary("finite logits, common token", "drop hypothesis", "finite logits never switch off",
                    at([[-1], [1]], [[0, 1]], [[HALF, HALF]], [[0, 0], [0, 1]]), drop=("only the sink in "
                                                                                       "common",)),
    ),
    scope_notes=("Holds over any field; replayed here over the rationals.",
                 "V = W_VO has rank at most the head dimension, so no more than d_h targets can be "
                 "independent."),
)
