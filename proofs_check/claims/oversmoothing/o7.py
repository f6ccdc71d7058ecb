"""O7: block-uniform attention: the mean off-diagonal cosine as blocks get denser."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from numerics.attention import block_attention
from numerics.moments import mean_off_diagonal, moment_cosines, o1_gram
from proofs_check.claim import Claim, Hypothesis, Instance
from proofs_check.claims.building import Choose, Shape
from proofs_check.claims.derived import drawn, false_formula, points
from proofs_check.claims.oversmoothing.derived import derived, statistics
from proofs_check.claims.oversmoothing.matrices import (
    COVARIANCE, NONDEGENERATE, RHO, VARIABLES, WORDS, as_numbers, build, drift, gram_of, part)
from proofs_check.claims.oversmoothing.matrices import PLAIN as MATRIX_POINT
from proofs_check.claims.oversmoothing.model import false_model_statement, moments_under
from proofs_check.claims.oversmoothing.patterns import REMOVES_NOISE, SCOPE, on_two_axes, same_sign
from theory.oversmoothing import DERIVATIONS

HALF = Fraction(1, 2)
RECIPES = DERIVATIONS["O7"]
WHERE = (" In a block of size k: G_ii = rho g + (1-rho)(t0 + D/k), G_ij = rho g + (1-rho)D/k inside and rho g across; "
         "D = 2 tau + phi; the cosine is G_ij/sqrt(G_ii G_jj).")
MERGED = (
    " Here shared = rho g, noise = (1-rho) t0, pull = (1-rho) D, h(k) = shared + noise + pull/k = G_ii in a block of "
          "size k, and pairs inside a block have G_ij = shared + pull/k, across blocks shared.")
PLAIN = {"k": 1, "e": 1, "rest": 0, "rho": HALF, "g": 1, "t0": 1, "tau": 0, "phi": 1}


def block_mean(sizes: list[int], rho: float, g: float, t0: float, tau: float, phi: float) -> float:
    """The mean off-diagonal moment cosine of block attention, entry by entry."""
    return mean_off_diagonal(moment_cosines(o1_gram(np.asarray(block_attention(sizes)), rho, g, t0, tau, phi)))


def equal_point(choose: Choose) -> dict[str, object]:
    """Sizes k < k+e that both divide T."""
    k, multiple, blocks = choose(1, 3), choose(2, 3), choose(1, 2)
    return {"k": k, "e": k * (multiple - 1), "rest": k * multiple * (blocks - 1), **statistics(choose)}


def equal_slack(values: Mapping[str, object]) -> float:
    k, large = int(values["k"]), int(values["k"] + values["e"])
    tokens = large + int(values["rest"])
    if tokens % k or tokens % large:
        return 0.0
    model = [values[name] for name in ("rho", "g", "t0", "tau", "phi")]
    gap = block_mean([large] * (tokens // large), *model) - block_mean([k] * (tokens // k), *model)
    return same_sign(gap, 2 * values["tau"] + values["phi"])


EQUAL = derived(
    RECIPES["equal blocks"], "gap between block sizes",
    "For equal blocks of sizes k and k+e among T = k+e+rest tokens the difference of the mean off-diagonal cosines is "
    "(1-rho) T m e D/(k (k+e)(T-1) h(k) h(k+e)), m = rho g + (1-rho)(t0+D)/T: it has the sign of D. The mean is over "
    "the k-1 partners inside and the T-k across." + WHERE,
    satisfiable=PLAIN,
    # outside every model: rho g + t0 + D is a sum of two energies
    counterexamples={"nondegenerate": {"k": 1, "e": 1, "rest": 1, "rho": 0, "g": 0, "t0": 0, "tau": -1, "phi": 0}},
    instances=points(equal_point), strategy=drawn(equal_point), numeric=equal_slack)


def merging_point(choose: Choose) -> dict[str, object]:
    """Merge blocks 1 and 1: h(1) and h(2) are rational squares by choice, which fixes pull and shared + noise.

    pull = 2(h(1) - h(2)), shared + noise = 2h(2) - h(1), and noise + pull >= 0 means shared <= h(1).
    """
    root = Fraction(choose(4, 8), 4)
    merged = root * Fraction(choose(6, 10), 8)
    pull, total = 2 * (root**2 - merged**2), 2 * merged**2 - root**2
    shared = min(total, root**2) * Fraction(choose(0, 4), 4)
    return {"a": 1, "b": 1, "shared": shared, "noise": total - shared, "pull": pull, "w_a": 1 / root, "w_b": 1 / root,
            "w_m": 1 / merged, "others": Fraction(choose(0, 3)) / root}


def merging_slack(values: Mapping[str, object]) -> float:
    """The change of the mean, with `others` as single tokens, others·sqrt(h(1)) of them."""
    singles = round(values["others"] / values["w_a"])
    sizes = [1] * singles
    model = (0.5, 2 * values["shared"], 2 * values["noise"], 0.0, 2 * values["pull"])
    if values["pull"] < 0:  # phi >= 0: put the drift into tau
        model = (0.5, 2 * values["shared"], 2 * values["noise"], values["pull"], 0.0)
    return same_sign(block_mean([2, *sizes], *model) - block_mean([1, 1, *sizes], *model), values["pull"])


MERGING = derived(
    RECIPES["merging"], "merging",
    "Merging two blocks of any sizes a, b >= 1 changes T(T-1) times the mean off-diagonal cosine by a positive "
    "multiple of pull: it rises iff D > 0 and falls iff D < 0, whatever the other blocks (others = sum of k/sqrt(h(k)) "
    "over them)." + MERGED,
    satisfiable={"a": 1, "b": 1, "shared": Fraction(1, 4), "noise": Fraction(1, 4), "pull": Fraction(7, 2), "w_a": HALF,
                 "w_b": HALF, "w_m": Fraction(2, 3), "others": 0},
    # no counterexample without `energy` is known where the three w are real; the one without `nondegenerate` needs
    # sizes between 1 and 2 (h(1) = 0 there, which for whole sizes leaves no real w_a or w_b beside it)
    counterexamples={
        "nondegenerate": {"a": Fraction(7, 5), "b": Fraction(7, 5), "shared": 0, "noise": 14, "pull": -14, "w_a": HALF,
                          "w_b": HALF, "w_m": Fraction(1, 3), "others": 0},
        "root_a": {"a": 1, "b": 1, "shared": 1, "noise": 0, "pull": 0, "w_a": HALF, "w_b": 1, "w_m": 1, "others": 0},
        "root_b": {"a": 1, "b": 1, "shared": 1, "noise": 0, "pull": 0, "w_a": 1, "w_b": HALF, "w_m": 1, "others": 0},
        "root_m": {"a": 1, "b": 1, "shared": 1, "noise": 0, "pull": 0, "w_a": 1, "w_b": 1, "w_m": 2, "others": HALF}},
    instances=points(merging_point), strategy=drawn(merging_point), numeric=merging_slack)


def transfer_point(choose: Choose) -> dict[str, object]:
    noise = Fraction(choose(1, 6), 3)
    return {"k": Fraction(choose(2, 9), 2), "e": Fraction(choose(0, 6), 2), "shared": Fraction(choose(0, 6), 4),
            "noise": noise, "pull": noise * Fraction(choose(-4, 8), 4)}


TRANSFER = derived(
    RECIPES["transfer"], "transfer",
    "At a fixed number of blocks T(T-1) times the mean is rho g (sum S)^2 + sum f over block sizes >= 1, S(k) = "
    "k/sqrt(h(k)) and f(k) = k(k-1)(shared + pull/k)/h(k) - shared k^2/h(k). The formulas: f has the second difference "
    "2e^2 pull^2 (noise + pull)/(l l l) >= 0, l(k) = k h(k), so f is convex; N = S^2 = k^3/l has slope N' and bend N'' "
    "(the remainder of second order is e^3 times a bounded quantity), and 2 N N'' - N'^2 = 3 pull^2 k^4/l^4 >= 0, so S "
    "is convex. Hence the mean is Schur-convex in the sizes, for D of either sign." + MERGED,
    satisfiable={"k": 1, "e": 1, "shared": HALF, "noise": HALF, "pull": -HALF / 2},
    # `nondegenerate` excludes l(1) = 0 only, where f is not defined
    counterexamples={"energy": {"k": 1, "e": 1, "shared": 1, "noise": 0, "pull": -HALF}},
    instances=points(transfer_point), strategy=drawn(transfer_point))

MEAN = (
    "sum(G_{0}[p][q] / sqrt(G_{0}[p][p] * G_{0}[q][q]) for p in range(T) for q in range(T) if p != q) / (T * (T - 1))")
BLOCKS = {
    **gram_of("small", "[[(1 / k if labels[p] == labels[q] else 0) for q in range(T)] for p in range(T)]"),
    **gram_of("large", "[[(1 / m if coarser[p] == coarser[q] else 0) for q in range(T)] for p in range(T)]"),
    "mean_small": MEAN.format("small"), "mean_large": MEAN.format("large"),
}
SIZED = "len({0}) == T and all(sum((1 if {0}[p] == {0}[q] else 0) for q in range(T)) == {1} for p in range(T))"


def build_blocks(choose: Choose, shape: Shape) -> Instance:
    """Neighbours in blocks of size k, and every l-th token in one of size m > k, for k, m dividing T."""
    values = dict(build(choose, shape).values)
    k, multiple, blocks = choose(1, 2), choose(2, 3), choose(1, 2)
    m, tokens = k * multiple, k * multiple * blocks
    del values["i"], values["j"]
    return Instance({**values, "T": tokens, "k": k, "m": m, "labels": [p // k for p in range(tokens)],
                     "coarser": [p % blocks for p in range(tokens)]})


def blocks_slack(values: Mapping[str, object]) -> float:
    numbers, tokens, k, m = as_numbers(values), int(values["T"]), int(values["k"]), int(values["m"])
    model = [numbers[name] for name in ("rho", "g", "t0", "tau", "phi")]
    D = drift(numbers)
    return same_sign(block_mean([m] * (tokens // m), *model) - block_mean([k] * (tokens // k), *model),
                     0.0 if abs(D) < 1e-9 else D)


ONE_BLOCK = {**{name: value for name, value in MATRIX_POINT.items() if name not in ("i", "j")}, "k": 1, "m": 2,
             "labels": [0, 1], "coarser": [0, 0]}
# Without `nondegenerate` a token's output may be 0, where no cosine exists; T >= 2 follows from k < m, and is Rocq's.
BLOCK_MATRICES = part(
    "equal blocks, matrices",
    "For two partitions of T >= 2 tokens into blocks of equal sizes k < m, not necessarily of "
    "neighbours, given by labels: the mean off-diagonal cosine at m minus that at k has the sign of D = 2 tau + phi."
    + WORDS,
    BLOCKS, (COVARIANCE, RHO, Hypothesis("two or more tokens", "T >= 2", "T >= 2"), NONDEGENERATE,
             Hypothesis("blocks of size k", "labels name blocks of size k", SIZED.format("labels", "k")),
             Hypothesis("blocks of size m", "coarser labels name blocks of size m", SIZED.format("coarser", "m")),
             Hypothesis("sizes", "k < m", "k < m")),
    ("sign(mean_large - mean_small) == sign(D)",), ONE_BLOCK,
    {"covariance": {"S": [[-1]], "V": [[-4]], "rho": Fraction(1, 4), "T": 3, "m": 3, "labels": [0, 1, 2],
                    "coarser": [0, 0, 0]},
     "rho": {"rho": 1}, "blocks of size k": {"labels": [0, 0], "k": 1},
     "blocks of size m": {"coarser": [0, 1], "V": [[-Fraction(3, 2)]]},
     "sizes": {"k": 2, "labels": [0, 0]}}, build_blocks, blocks_slack,
    {**{name: kind for name, kind in VARIABLES.items() if name not in ("i", "j")}, "k": "integer", "m": "integer",
     "labels": "integers", "coarser": "integers"})

TWO = "[[(1 / 2 if (i < 2) == (j < 2) else 0) for j in range(T)] for i in range(T)]"
THREE = "[[(0 if (i < 3) != (j < 3) else 1 / 3 if i < 3 else 1) for j in range(T)] for i in range(T)]"
MEANS = {
    **moments_under("two", TWO.replace("(i < 2) == (j < 2)", "(i < 2 and j < 2) or (i >= 2 and j >= 2)")),
    **moments_under("three", THREE.replace("(i < 3) != (j < 3)", "(i < 3 and j >= 3) or (i >= 3 and j < 3)")),
    **{f"mean_{name}": f"sum(E_{name}[i][j] / sqrt(E_{name}[i][i] * E_{name}[j][j]) for i in range(T) for j in "
                       f"range(T) "
                       "if i != j) / (T * (T - 1))" for name in ("two", "three")},
}
GAP_SIGN = EQUAL.conclusions[1]

VARIANTS = (
    false_model_statement(
        "unequal blocks with D < 0", "trap",
        "In the model of four tokens with D < 0, blocks of size 3 (3 and 1) have no larger mean cosine than blocks of "
        "size 2",
        on_two_axes(REMOVES_NOISE, rho=HALF, tokens=4), ["implies(D < 0, mean_three <= mean_two)"], MEANS),
    false_model_statement(
        "denser blocks always smooth more", "trap",
        "In the model, the mean cosine of uniform attention on four tokens is at least that of blocks of size 2",
        on_two_axes(REMOVES_NOISE, rho=Fraction(9, 25), tokens=4), ["mean_all >= mean_two"],
        {**MEANS, **moments_under("all", "[[1 / T for j in range(T)] for i in range(T)]"), "mean_all":
         MEANS["mean_two"].replace("_two", "_all")}),
    false_formula(EQUAL, "opposite sign", "flip inequality", "the mean falls with the block size iff D > 0", PLAIN,
                  conclusions=(GAP_SIGN.replace("sign(drift)", "sign(-drift)"),)),
    false_formula(EQUAL, "tau alone", "constant moved", "the sign is that of tau", {**PLAIN, "tau": -Fraction(1, 4)},
                  conclusions=(GAP_SIGN.replace("sign(drift)", "sign(tau)"),)),
    false_formula(EQUAL, "rho up to one", "drop hypothesis", "O7 for rho <= 1", {**PLAIN, "rho": 1},
                  bounds={"rho": {"minimum": ["0", "1"], "maximum": ["1", "1"]}}),
    false_formula(EQUAL, "T for T - 1", "T for T-1", "the gap with T in place of T - 1", PLAIN,
                  conclusions=(
                      EQUAL.conclusions[0].replace("*(T - 1)*small_diag*large_diag", "*T*small_diag*large_diag"),)),
    false_formula(TRANSFER, "concave for D < 0", "flip inequality", "the second difference of f has the sign of D",
                  {"k": 1, "e": 1, "shared": HALF, "noise": HALF, "pull": -HALF / 2},
                  conclusions=(f"sign({TRANSFER.conclusions[1].removesuffix(' >= 0')}) == sign(pull)",)),
)

CLAIM = Claim(
    id="O7", title="Denser blocks smooth more iff the drift is positive", family="oversmoothing",
    statement="Block-uniform attention, 0 <= rho < 1, (rho g, D) not (0, -t0). Equal blocks of size k | T: "
              "the mean off-diagonal cosine increases in k iff D > 0, decreases iff D < 0. Merging two blocks "
              "of any sizes raises it iff D > 0, lowers it iff D < 0. At a fixed number of blocks it is "
              "Schur-convex in the sizes, for either sign of D.",
    parts=(EQUAL, MERGING, TRANSFER, BLOCK_MATRICES), variants=VARIANTS, uses=("O1",), required="PROVED ON",
    scope_notes=(*SCOPE,
                 "With D < 0 and a last block that is shorter the mean need not fall with the block size: moving a "
                 "token between blocks is no merging (see the variant).",
                 "The formulas of 'transfer' are the convexity of f and of S; that they make the mean Schur-convex is "
                 "the standard argument for sums of a convex function, said in words."),
)
