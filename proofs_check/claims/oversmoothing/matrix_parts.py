"""O3, O4 and O5 as statements about matrices; without Rocq they are checked on instances only."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from proofs_check.claim import Hypothesis, Instance
from proofs_check.claims.building import Choose, Shape
from proofs_check.claims.oversmoothing.matrices import (
    COVARIANCE, DIAGONAL, HALF, MIXED, PLAIN, RHO, TOKENS, UNIFORM, VARIABLES, WORDS, as_numbers, build, cosine_of,
    drift, input_slack, mix, part, sign_slack, with_slope, without_image)
from proofs_check.claims.oversmoothing.patterns import before, mix_cosine, same_sign

QUARTER = Fraction(1, 4)
#: S = -1 is no covariance: energies turn negative, and so may the factor in front of the drift
NO_COVARIANCE = {"S": [[-1]], "V": [[-4]], "rho": QUARTER, "T": 3}
SAME_TOKEN = {"j": 0}

# Without `nondegenerate` the diagonal's output may be 0, where no cosine exists; Rocq's division by 0 gives 0 there.
SIGN = part(
    "sign, matrices", "cos_uniform - cos_diagonal has the sign of D = 2 tau + phi." + WORDS,
    {**UNIFORM, **DIAGONAL}, MIXED,
    ("sign(cos_uniform - cos_diagonal) == sign(D)",), PLAIN,
    {"covariance": NO_COVARIANCE, "rho": {"rho": 1}, "two tokens": SAME_TOKEN}, build, sign_slack)

PATH = {**cosine_of("s", mix("s")), **cosine_of("t", mix("t"))}
ON_PATH = {**VARIABLES, "s": "scalar", "t": "scalar"}
ORDERED = Hypothesis("ordered", "0 <= s < t <= 1", "0 <= s and s < t and t <= 1")
PLAIN_PATH = {**PLAIN, "s": 0, "t": 1}
POSITIVE_PHI = Hypothesis("positive phi", "phi > 0", "0 < phi")


def at_two(instance: Instance, choose: Choose) -> Instance:
    """With 0 <= s < t <= 1."""
    s = choose(0, 7)
    return Instance({**instance.values, "s": Fraction(s, 8), "t": Fraction(choose(s + 1, 8), 8)})


def build_path(choose: Choose, shape: Shape) -> Instance:
    return at_two(build(choose, shape), choose)


def build_rising(choose: Choose, shape: Shape) -> Instance:
    return at_two(with_slope(choose, shape, Fraction(choose(1, 6), 4)), choose)


def build_falling(choose: Choose, shape: Shape) -> Instance:
    return at_two(with_slope(choose, shape, -Fraction(choose(1, 3), 4)), choose)


def build_peak(choose: Choose, shape: Shape) -> Instance:
    return Instance({**with_slope(choose, shape, -Fraction(choose(5, 12), 4)).values, "t": Fraction(choose(0, 8), 8)})


def build_flat(choose: Choose, shape: Shape) -> Instance:
    return at_two(without_image(choose, shape), choose)


def gap(values: Mapping[str, object]) -> float:
    numbers = as_numbers(values)
    return mix_cosine(numbers, values["t"]) - mix_cosine(numbers, values["s"])


def secant_slack(values: Mapping[str, object]) -> float:
    numbers, s, t = as_numbers(values), values["s"], values["t"]
    quantity = (t - s) * (2 * numbers["tau"] + (2 - s - t) * numbers["phi"])
    return same_sign(gap(values), 0.0 if abs(quantity) < 1e-9 else quantity)


def peak_slack(values: Mapping[str, object]) -> float:
    numbers = as_numbers(values)
    peak = 1 + numbers["tau"] / numbers["phi"]
    return min(peak, 1 - peak, mix_cosine(numbers, peak) - mix_cosine(numbers, values["t"]) + 1e-12)


NEEDED = {"rho": {"rho": 1}, "two tokens": SAME_TOKEN}
EYE = [[1, 0], [0, 1]]


def indefinite(first: object, u: list[int], **path: object) -> dict[str, object]:
    """S = diag(1, -9), V = diag(first, 0): both tokens have negative "square norm", while the mean's is positive."""
    return {"K": EYE, "S": [[1, 0], [0, -9]], "V": [[first, 0], [0, 0]], "u": u, "rho": HALF, "T": 2, **path}


FALLING = {**PLAIN_PATH, "V": [[-HALF]]}
PEAKED = {**PLAIN, "V": [[-2]], "t": 0}
SECANT = part(
    "secant, matrices",
    "For all s and t: cos_t - cos_s has the sign of (t-s)(2 tau + (2-s-t) phi), with A_t = (1-t)I + "
    "t 11^T/T." + WORDS, PATH, MIXED, ("sign(cos_t - cos_s) == sign((t - s) * (2 * tau + (2 - s - t) * phi))",),
    PLAIN_PATH,
    {"covariance": NO_COVARIANCE, **NEEDED}, build_path, secant_slack, ON_PATH)

INCREASING = part(
    "increasing in t, matrices", "phi > 0 and tau >= 0: cos_s < cos_t for 0 <= s < t <= 1." + WORDS, PATH,
    (*MIXED, POSITIVE_PHI, Hypothesis("slope at the end", "tau >= 0", "tau >= 0"), ORDERED), ("cos_s < cos_t",),
    PLAIN_PATH,
    {"covariance": indefinite(1, [1, 0]), **NEEDED, "positive phi": {"V": [[0]]},
     "slope at the end": {"V": [[-HALF]]}, "ordered": {"s": 1}},
    build_rising, gap, ON_PATH)

DECREASING = part(
    "decreasing in t, matrices", "phi > 0 and tau <= -phi: cos_t < cos_s for 0 <= s < t <= 1." + WORDS, PATH,
    (*MIXED, POSITIVE_PHI, Hypothesis("slope at the start", "tau <= -phi", "tau <= -phi"), ORDERED), ("cos_t < cos_s",),
    FALLING, {"covariance": indefinite(-HALF, [2, 2]), **NEEDED, "positive phi": {"V": [[0]]},
     "slope at the start": {"V": [[1]]}, "ordered": {"s": 1}},
    build_falling, lambda values: -gap(values), ON_PATH)

MAXIMUM = part(
    "peak at t*, matrices",
    "phi > 0 and -phi < tau < 0: t* = 1 + tau/phi is strictly between 0 and 1, and cos_t < cos_t* for "
    "every t other than t*." + WORDS,
    {"peak": "1 + tau / phi", **cosine_of("t", mix("t")), **cosine_of("peak", mix("peak"))},
    (*MIXED, Hypothesis("slopes", "0 < phi and -phi < tau < 0", "0 < phi and -phi < tau and tau < 0")),
    ("0 < peak and peak < 1", "implies(t != peak, cos_t < cos_peak)"), PEAKED,
    {"covariance": indefinite(-2, [2, 2], t=QUARTER), **NEEDED, "slopes": {"V": [[1]]}},
    build_peak, peak_slack, {**VARIABLES, "t": "scalar"})

CONSTANT = part(
    "constant in t, matrices",
    "phi = 0: cos_t = cos_s for all s and t (tau = 0 then, because S is positive semidefinite)."
    + WORDS, PATH, (*MIXED, Hypothesis("no phi", "phi = 0", "phi == 0")), ("cos_t == cos_s",),
    {**PLAIN_PATH, "V": [[0]]},
    {"covariance": {"K": EYE, "S": [[1, 0], [0, -1]], "V": [[1, 0], [0, -1]], "u": [1, 0], "rho": HALF},
     "no phi": {"V": [[1]]}},
    # tau = phi = 0 leaves G the same along the path, whatever rho and the tokens: those two are Rocq's, not needed
    build_flat, lambda values: 1e-9 - abs(gap(values)), ON_PATH)

O4_PARTS = (SECANT, INCREASING, DECREASING, MAXIMUM, CONSTANT)

OWN_TRACE = Hypothesis("own trace", "t0 > 0", "t0 > 0")
AGAINST_INPUT = (COVARIANCE, RHO, TOKENS, OWN_TRACE)
ENTRIES = {"G_input": "[[rho * g0 + (1 - rho) * (t0 if p == q else 0) for q in range(T)] for p in range(T)]",
           "cos_input": "G_input[i][j] / sqrt(G_input[i][i] * G_input[j][j])"}
LIMIT_VALUE = {"limit": "rho * g / (rho * g + (1 - rho) * t0)"}
NULL_COVARIANCE = {"S": [[0]]}


def limit_value(numbers: Mapping[str, object]) -> float:
    shared = numbers["rho"] * numbers["g"]
    return shared / (shared + (1 - numbers["rho"]) * numbers["t0"])


def limit_slack(values: Mapping[str, object]) -> float:
    numbers = as_numbers(values)
    bound = 2 * abs(drift(numbers)) / (numbers["t0"] * numbers["T"])
    return bound - abs(mix_cosine(numbers, 1.0) - limit_value(numbers)) + 1e-12


def limit_sign_slack(values: Mapping[str, object]) -> float:
    numbers = as_numbers(values)
    quantity = numbers["g"] - numbers["g0"]
    return same_sign(limit_value(numbers) - before(numbers), 0.0 if abs(quantity) < 1e-9 else quantity)


def build_common(choose: Choose, shape: Shape) -> Instance:
    return Instance({**build(choose, shape).values, "rho": Fraction(choose(1, 9), 10)})


# t0 > 0 alone makes G_ii > 0 follow from G_ij > 0, and so orders cos_uniform and the input's cosine wherever both are
# defined: `covariance` only keeps G_ii from 0 there, and the limit's sign does not need it. At t0 = 0 the bound divides
# by 0.
INPUT_SIGN = part(
    "sign, matrices", "t0 > 0: cos_uniform - cos_input has the sign of rho(g-g0) + (1-rho)D/T; the input has "
    "G_ij = rho g0 + (1-rho) delta_ij t0." + WORDS, {**UNIFORM, **ENTRIES}, AGAINST_INPUT,
    ("sign(cos_uniform - cos_input) == sign(rho * (g - g0) + (1 - rho) * D / T)",), PLAIN,
    {"rho": {"rho": 1}, "two tokens": SAME_TOKEN, "own trace": NULL_COVARIANCE}, build, input_slack)

LIMIT_DISTANCE = part(
    "distance from the limit, matrices", "t0 > 0: |cos_uniform - rho g/(rho g + (1-rho) t0)| <= 2|D|/(t0 T)." + WORDS,
    {**UNIFORM, **LIMIT_VALUE}, AGAINST_INPUT, ("abs(cos_uniform - limit) <= 2 * abs(D) / (t0 * T)",), PLAIN,
    {"covariance": {"K": EYE, "S": [[2, 0], [0, -1]], "V": [[0, 0], [0, Fraction(7, 10)]], "u": [1, 0], "rho": 0},
     "rho": {"rho": Fraction(-5, 4)}, "two tokens": {**SAME_TOKEN, "V": [[0]]}}, build, limit_slack)

LIMIT_SIGN = part(
    "sign of the limit, matrices", "0 < rho < 1, t0 > 0: rho g/(rho g + (1-rho) t0) - cos_input has the sign of g - g0."
    + WORDS, {**ENTRIES, **LIMIT_VALUE},
    (COVARIANCE, Hypothesis("rho", "0 < rho < 1", "0 < rho and rho < 1"), TOKENS, OWN_TRACE),
    ("sign(limit - cos_input) == sign(g - g0)",), PLAIN,
    {"rho": {"rho": 0}, "two tokens": SAME_TOKEN, "own trace": NULL_COVARIANCE}, build_common, limit_sign_slack)

O5_PARTS = (INPUT_SIGN, LIMIT_DISTANCE, LIMIT_SIGN)
