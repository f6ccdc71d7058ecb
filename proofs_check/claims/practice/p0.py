"""P0: the published sink scores on exact patterns: which score passes which threshold, for which T."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from numerics.sink_metrics import column_mass, importance
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.derived import derived, false_formula
from proofs_check.claims.exact import Matrix, identity
from theory import sink_scores

LENGTHS = 40


def uniform(size: int) -> Matrix:
    return [[Fraction(1, size)] * size for _ in range(size)]


def banded(size: int, width: int) -> Matrix:
    """Row i is uniform over its own key and the width - 1 before it, as far as they exist."""
    return [[Fraction(1, min(i + 1, width)) if i - width < j <= i else 0 for j in range(size)] for i in range(size)]


def causal_uniform(size: int) -> Matrix:
    return banded(size, size)


def sink(size: int) -> Matrix:
    return [[1] + [0] * (size - 1) for _ in range(size)]


def at(rows: Matrix, **more: int) -> Instance:
    return Instance({"A": rows, **more})


def lengths(pattern: Callable[[int], Matrix]) -> Callable[[int], Iterator[Instance]]:
    return lambda seed: (at(pattern(size)) for size in range(1, LENGTHS + 1))


def drawn(pattern: Callable[[int], Matrix]) -> Callable[[], st.SearchStrategy[Instance]]:
    return lambda: st.integers(1, LENGTHS).map(lambda size: at(pattern(size)))


def close(found: np.ndarray, expected: object) -> float:
    """Slack of an equality between computed and stated scores."""
    return 1e-9 - float(np.max(np.abs(found - expected)))


def agreeing(expected: Callable[[int], object], measure: Callable = importance) -> Callable[[Mapping], float]:
    return lambda values: close(measure(values["A"]), expected(len(values["A"])))


def harmonic(size: int) -> float:
    return float(np.sum(1.0 / np.arange(1, size + 1)))


SCORES = {
    "T": "len(A)",
    "column": "[sum(A[i][k] for i in range(T)) for k in range(T)]",
    "mass": "column[0] / T",
    "score": "[column[k] / (T - k) for k in range(T)]",
}
HARMONIC = {**SCORES, "H": "[sum(1 / (i + 1) for i in range(n)) for n in range(T + 1)]",
            "without_first": "(column[0] - A[0][0]) / (T - 1)"}


def pattern(name: str, text: str, entry: str, wrong: Matrix, conclusions: tuple[str, ...], example: Matrix,
            **extra: object) -> Part:
    """A part about one pattern: `entry` is a_ij, and `wrong` is attention of another pattern."""
    hypothesis = Hypothesis("pattern", f"a_ij = {entry}",
                            f"all(A[i][j] == ({entry}) for i in range(T) for j in range(T))",
                            at(wrong))
    return Part(name=name, text=text, variables={"A": "matrix"}, hypotheses=(hypothesis,), conclusions=conclusions,
                satisfiable=at(example), **{"definitions": SCORES, **extra})


DIAGONAL = pattern(
    "diagonal",
    "A = I: key k = 0..T-1 scores 1/(T-k), above 0.3 exactly at the last three positions and above 0.8 at the "
    "last; the mass on token 1 is 1/T.",
    "1 if i == j else 0", sink(5),
    ("all(score[k] == 1 / (T - k) for k in range(T))", "all(iff(score[k] > 3/10, k >= T - 3) for k in range(T))",
     "all(iff(score[k] > 4/5, k == T - 1) for k in range(T))", "mass == 1 / T"),
    identity(5), instances=lengths(identity), strategy=drawn(identity),
    numeric=agreeing(lambda size: 1.0 / (size - np.arange(size))))
UNIFORM = pattern(
    "uniform",
    "A = 11^T/T, no mask: every key has mass 1/T, above 0.3 iff T <= 3 and above 0.8 iff T = 1; the importance "
    "score is 1/(T-k), that of a diagonal.",
    "1 / T", sink(2),
    ("all(entry == 1 for entry in column)", "iff(mass > 3/10, T <= 3)", "iff(mass > 4/5, T == 1)",
     "all(score[k] == 1 / (T - k) for k in range(T))"),
    uniform(4), instances=lengths(uniform), strategy=drawn(uniform),
    numeric=agreeing(lambda size: 1.0 / size, column_mass))
CAUSAL = pattern(
    "causal uniform",
    "a_ij = 1/i for j <= i: token 1 has mass H_T/T, above 0.3 iff T <= 9 and above 0.8 iff T = 1. With row "
    "1 excluded (T >= 2) it is (H_T - 1)/(T - 1), above 0.3 iff T <= 5 and never above 0.8. Key k scores (H_T - "
    "H_k)/(T-k).",
    "1 / (i + 1) if j <= i else 0", sink(10),
    ("mass == H[T] / T", "iff(mass > 3/10, T <= 9)", "iff(mass > 4/5, T == 1)",
     "implies(T >= 2, without_first == (H[T] - 1) / (T - 1) and iff(without_first > 3/10, T <= 5) and without_first <= "
     "4/5)",
     "all(score[k] == (H[T] - H[k]) / (T - k) for k in range(T))"),
    causal_uniform(9), definitions=HARMONIC, instances=lengths(causal_uniform), strategy=drawn(causal_uniform),
    numeric=agreeing(lambda size: np.array([(harmonic(size) - harmonic(k)) / (size - k) for k in range(size)])))
SINK = pattern(
    "pure sink",
    "a_i1 = 1: token 1 scores 1 by mass and by importance, with or without row 1, and no other key scores.",
    "1 if j == 0 else 0", identity(2),
    ("mass == 1", "score[0] == 1", "all(score[k] == 0 for k in range(1, T))", "implies(T >= 2, without_first == 1)"),
    sink(3), definitions=HARMONIC, instances=lengths(sink), strategy=drawn(sink),
    numeric=agreeing(lambda size: np.arange(size) == 0))

BAND_ENTRY = "(1 / min(i + 1, w) if i - w < j and j <= i else 0)"
WIDTHS = [(size, width) for size in (1, 2, 3, 5, 8, 13, 21) for width in (1, 2, 3, 4, 7, 12, 30)]
BANDED = Part(
    name="banded",
    text="Row i uniform over its last min(i, w) keys: token 1 has mass H_min(w,T)/T, and every key w-1 <= k <= "
    "T-w scores 1/(T-k), as a diagonal does: a local head passes at 0.3 without any sink when the window fits.",
    variables={"A": "matrix", "w": "integer"},
    definitions=HARMONIC,
    hypotheses=(Hypothesis("width", "w >= 1", "w >= 1", at([[0]], w=0)),
                Hypothesis("pattern", f"a_ij = {BAND_ENTRY}",
                           "all(A[i][j] == " + BAND_ENTRY + " for i in range(T) for j in range(T))",
                           at(sink(2), w=1))),
    conclusions=("mass == H[min(w, T)] / T and H[min(w, T)] >= 1",
                 "all(score[k] == 1 / (T - k) for k in range(T) if k >= w - 1 and k <= T - w)"),
    satisfiable=at(banded(5, 2), w=2),
    instances=lambda seed: (at(banded(size, width), w=width) for size, width in WIDTHS),
    strategy=lambda: st.builds(lambda size, width: at(banded(size, width), w=width), st.integers(1, 12),
                               st.integers(1, 14)),
    numeric=lambda values: close(column_mass(values["A"])[0],
                                 harmonic(min(values["w"], len(values["A"]))) / len(values["A"])))

LATE = derived(sink_scores.diagonal_passes_late, "last three positions",
               "For every T: a column that sums to one, of key k with n = T - k <= 3, scores above 0.3.",
               satisfiable={"k": 2, "n": 3})
BEFORE = derived(sink_scores.diagonal_fails_before, "not before",
                 "For every T: a column that sums to one, of key k with n = T - k >= 4, scores below 0.3.",
                 satisfiable={"k": 0, "n": 4})
HIGH = derived(sink_scores.diagonal_at_high_threshold, "0.8 at the last position only",
               "For every T: a column that sums to one, of any key but the last, scores below 0.8.",
               satisfiable={"k": 0, "n": 2})
STEP = derived(sink_scores.causal_uniform_step, "one more token",
               "For every T >= 1 and H >= 1: H/T falls when T grows by one and H by 1/(T+1), so H_T/T, once below a "
               "threshold (0.8 at T = 2, 0.3 at T = 10), stays below.", satisfiable={"T": 9, "H": Fraction(7129, 2520)})
STEP_WITHOUT = derived(sink_scores.causal_uniform_step_without_first_row, "one more token, first row excluded",
                       "For every T >= 4 and H >= H_4 = 25/12: (H-1)/(T-1) falls in the same way; it is below 0.3 at T "
                       "= 6.",
                       satisfiable={"T": 4, "H": Fraction(25, 12)})

TWO_SEQUENCES = Part(
    name="two sequences", text="", variables={"scores": "vector"},
    hypotheses=(Hypothesis("range", "scores are between 0 and 1", "all(0 <= s and s <= 1 for s in scores)"),),
    conclusions=("True",))
CLAIM = Claim(
    id="P0", title="Sink scores on exact patterns", family="practice",
    statement="Importance of key k = 0..T-1 is (1/(T-k)) sum_i a_ik, mass on token 1 is (1/T) sum_i a_i1; passing is "
              "strictly above the threshold. A purely diagonal head passes the importance score at 0.3 in the last "
              "three positions and not before; causal uniform attention has mass H_T/T on token 1, above 0.3 for T <= "
              "9 and above 0.8 for T = 1; the same exactly for uniform, pure sink and banded attention, with the first "
              "row included or not.",
    parts=(DIAGONAL, UNIFORM, CAUSAL, SINK, BANDED, LATE, BEFORE, HIGH, STEP, STEP_WITHOUT),
    variants=(
        DIAGONAL.vary("last four positions", "constant moved", "A diagonal passes at 0.3 in the last four positions",
                      at(identity(4)), conclusions=("all(iff(score[k] > 3/10, k >= T - 4) for k in range(T))",)),
        DIAGONAL.vary("divisor T", "trap", "A diagonal scores 1/T at every position", at(identity(2)),
                      conclusions=("all(score[k] == 1 / T for k in range(T))",)),
        DIAGONAL.vary("diagonal passes nowhere", "swap sink and diagonal", "A diagonal has no key above 0.3",
                      at(identity(1)),
                      conclusions=("all(score[k] <= 3/10 for k in range(T))",)),
        CAUSAL.vary("mass one over T", "wrong mask", "Causal uniform attention has mass 1/T on token 1",
                    at(causal_uniform(2)),
                    conclusions=("mass == 1 / T",)),
        CAUSAL.vary("ten tokens", "T for T-1", "H_T/T is above 0.3 for T <= 10", at(causal_uniform(10)),
                    conclusions=("iff(mass > 3/10, T <= 10)",)),
        CAUSAL.vary("first row does not matter", "trap", "Leaving the first row out changes no verdict at 0.3",
                    at(causal_uniform(6)), conclusions=("implies(T >= 2, iff(mass > 3/10, without_first > 3/10))",)),
        UNIFORM.vary("every key alike", "trap", "Uniform attention without a mask gives every key the same importance",
                     at(uniform(2)), conclusions=("all(score[k] == score[0] for k in range(T))",)),
        BANDED.vary("mass of the whole row", "wrong mask", "Banded attention has mass H_T/T on token 1",
                    at(banded(2, 1), w=1),
                    conclusions=("mass == H[T] / T",)),
        false_formula(BEFORE, "before includes three", "strict for non-strict", "n = T - k >= 3 scores below 0.3",
                      {"k": 0, "n": 3},
                      bounds={"n": {"minimum": ["3", "1"], "integer": "true"}}),
        false_formula(STEP_WITHOUT, "from two tokens on", "drop hypothesis",
                      "(H-1)/(T-1) falls for T >= 2 and H >= 3/2",
                      {"T": 5, "H": Fraction(3, 2)},
                      bounds={"T": {"minimum": ["2", "1"], "integer": "true"}, "H": {"minimum": ["3", "2"]}}),
        TWO_SEQUENCES.vary("mean decides as most sequences do", "trap", "The mean passes 0.8 iff most sequences do",
                           Instance({"scores": [1, 1, 0]}),
                           conclusions=("iff(sum(scores) / len(scores) > 4/5, 2 * sum(1 for s in scores if s > 4/5) > "
                                        "len(scores))",)),
    ),
    required="PROVED ON", required_formal="PROVED ON",
    scope_notes=(
        "The scores published differ in threshold (0.3 or 0.8), in whether the first row counts, and in whether each "
                 "sequence or the mean is compared; a number without its convention says little.",),
)
