"""C5: where the sink is cheaper than the diagonal, in margin and in mass form, with the critical exponent."""

from __future__ import annotations

from fractions import Fraction
from math import log

from proofs_check.claim import Claim, Hypothesis, Instance, Part, Variant
from proofs_check.claims.building import settings
from proofs_check.claims.costs.building import (
    CERTIFICATE_VARIABLES, DIAGONAL_MATRICES, ONE_SINGULAR_VALUE, SINK_MATRICES, diagonal_certificate,
    exchangeable, listed,
    mean, number_fact, sink_certificate)
from proofs_check.claims.derived import derived, false_formula
from proofs_check.claims.exact import add, axis, dot, outer
from theory import costs_boundary

HALF = Fraction(1, 2)
WORDS = {
    "exponent": "N² <= T - 1: N = (T-1)^(1/p) with p >= 2", "log_grows": "s > d: log T > log(T-1)",
    "D_lower": "D = log(T²/(T²-1)) >= 1/T²: log(1+x) >= x/(1+x)", "D_upper": "D <= 1/(T²-1): log(1+x) <= x",
    "D_falls": "D falls in T: D1 > D2 for T1 < T2", "A_grows": "A = log(T²/(T+1)) grows in T",
    "normalised": "w² |q̄|²|k̄|² = 1", "late": "(T-1)^(2/p) rho c > (1-rho)²: T is large enough",
    "log_step": "g (T-1) <= 1: g = log(T/(T-1)) <= 1/(T-1), from log(1+x) <= x",
}
RATE = {"T": 3, "p": 1, "B": 1, "C": 1, "D": Fraction(1, 8)}
BOUNDED = {"T": 3, "r": 1, "m": 1, "N": 2, "c": 1, "rho": HALF}
MASS = {"T": 4, "L": 0, "a": 1, "g": 0}

GENERAL = derived(
    costs_boundary.general, "boundary",
    "C4's costs for every T, p: diagonal² - sink² has the sign of (T-1)^{2/p} rho_T(sigma²-2beta+rho_T) - "
    "(1-rho)², N = (T-1)^{1/p}, q² = rho_T, k² = sigma²-2beta+rho_T, e = 1-rho.", words=WORDS,
    satisfiable={"T": 2, "r": 1, "m": 1, "N": 1, "k": 1, "q": HALF})
SQUARES = derived(costs_boundary.squares, "squares", "Two positive costs compare as their squares do.",
                  satisfiable={"diagonal": 1, "sink": 2})
NUCLEAR = derived(
    costs_boundary.orthonormal_nuclear, "orthonormal, nuclear",
    "p = 1, orthonormal, T >= 3: (T-1)² > T²/(T+1), the sink wins. (T = 2: 1 < 4/3, see 'from Frobenius on' "
    "for the losing side and the refuted variants.)", satisfiable={"T": 3})
FROBENIUS = derived(
    costs_boundary.orthonormal_from_frobenius_on, "from Frobenius on",
    "p >= 2, orthonormal, every T >= 2: sink² = T²/(T+1) > N², the sink loses; at p = 2 the ratio of squares "
    "is T²/(T²-1). In mass form, sink margin s = L + log T, diagonal margin d = L + log(T-1) >= 0: it loses "
    "a fortiori. At T = 2, N = 1 for every p, so the sink loses for every p.",
    words=WORDS, satisfiable={"T": 2, "N": 1, "s": 1, "d": 0},
    counterexamples={"exponent": {"T": 3, "N": 2, "s": 1, "d": HALF},
                     "log_grows": {"T": 2, "N": 1, "s": HALF, "d": 1}})
EXPONENT = derived(
    costs_boundary.critical_exponent_rate, "critical exponent",
    "Orthonormal, T >= 3, p > 0: with B = log(T-1), D = log(T²/(T²-1)), A = B + D = log(T²/(T+1)), log T = A "
    "+ C, the sink is cheaper iff 2B/p > A iff p < p_c = 2B/A; 2 - p_c = 2D/A; and, given 1/T² <= D <= 1/(T²-1) "
    "(D_lower, D_upper), 2/(T² log T) < 2 - p_c < 2/((T²-1) log(T-1)).",
    words=WORDS, satisfiable=RATE,
    counterexamples={"D_lower": {**RATE, "D": Fraction(1, 100)}, "D_upper": {**RATE, "D": 1}})
INCREASES = derived(
    costs_boundary.critical_exponent_increases, "critical exponent increases",
    "Given that D = log(T²/(T²-1)) falls and A = log(T²/(T+1)) grows in T (D_falls, A_grows): 2 - p_c = 2D/A falls in "
    "T. So p_c grows, to 2 by the upper bound of 'critical exponent': each p < 2 is won by the sink from one T on.",
    words=WORDS, satisfiable={"A1": 1, "A2": 2, "D1": 2, "D2": 1},
    counterexamples={"D_falls": {"A1": 1, "A2": 2, "D1": 1, "D2": 3},
                     "A_grows": {"A1": 3, "A2": 1, "D1": 2, "D2": 1}})
AMONG = derived(
    costs_boundary.sink_among_tokens, "sink among the tokens",
    "The sink is one of T orthonormal tokens, all T queries, the T-1 other keys: |q̄|² = 1/T, |k̄|² = "
    "1+1/(T-1), rank-one W with all margins m and norm m√(T-1) in every p, equal multipliers with the same "
    "objective: it is the Frobenius diagonal's cost, cheaper for p < 2 (T >= 3), dearer for p > 2.",
    words=WORDS, satisfiable={"T": 2, "m": 1, "w": 1},
    counterexamples={"normalised": {"T": 2, "m": 1, "w": 2}})
BOUNDED_SINK = derived(
    costs_boundary.bounded_sink, "bounded sink",
    "0 < rho < 1 and c = sigma²-2beta+rho > 0 fixed: sink² < m²/(r⁴ rho c) at every T, and the sink wins "
    "once (T-1)^{2/p} rho c > (1-rho)², for every p < ∞.", words=WORDS, satisfiable=BOUNDED,
    counterexamples={"late": {**BOUNDED, "N": Fraction(1, 10)}})
UNBOUNDED = derived(
    costs_boundary.unbounded_sink, "unbounded sink",
    "beta = rho = sigma²: m² T/(r⁴(1-rho)) <= sink² <= m² T/(r⁴ rho(1-rho)), of order T; the sink is cheaper iff "
    "T(1-rho) < N² rho_T, at p = 2 iff (2rho-1)T(T-1) > 1-rho.",
    words=WORDS, satisfiable={"T": 2, "r": 1, "m": 1, "N": 1, "rho": HALF})
MASS_NUCLEAR = derived(
    costs_boundary.mass_nuclear, "mass form, nuclear",
    "p = 1, orthonormal, T >= 4, L >= 0 (eps <= 1/2): with a = log(T-1) >= log 3 > 1 and g = log(T/(T-1)) <= "
    "1/(T-1), (L+a)²(T-1)² > (L+a+g)² T²/(T+1): the sink wins, so T >= 4 suffices for every eps <= 1/2. a >= "
    "1 is the parameter's range; see 'log 3'.",
    words=WORDS, satisfiable=MASS, counterexamples={"log_step": {**MASS, "g": 10}})
MASS_THREE = derived(
    costs_boundary.mass_three_tokens, "mass form, three tokens",
    "p = 1, T = 3: sink 3(L+log 3)/2, diagonal 2(L+log 2): the sink is cheaper iff L > 3 log 3 - 4 log 2 = "
    "log(27/16), eps < 16/43. (b = log 2, c = log 3.)", satisfiable={"L": 0, "b": 1, "c": 1})
LOG_3 = number_fact("log 3", "log 3 > 1, and 3 log 3 - 4 log 2 > 0, so at eps = 1/2 (L = 0) three tokens do "
    "not suffice.",
                    "log(3) > 1 and 3*log(3) - 4*log(2) > 0")

EXPONENT_VARIABLES = {"T": "integer", "below": "scalar", "above": "scalar"}


def bracket(tokens: int) -> Instance:
    """p_c(T) between two decimals 2·10^-11 apart."""
    value = Fraction(round(2 * log(tokens - 1) / log(tokens**2 / (tokens + 1)) * 10**12), 10**12)
    gap = Fraction(1, 10**11)
    return Instance({"T": tokens, "below": value - gap, "above": value + gap})


BRACKETED = (3, 4, 5, 6, 10, 30, 100, 1000, 10_000)
BRACKETS = [bracket(tokens) for tokens in BRACKETED]
ON_BOTH_SIDES = Part(
    name="critical exponent on both sides", quantifier="exists",
    text="For T = 3, 4, 5, 6, 10, 30, 100, 1000, 10000 (listed): at `below` the orthonormal sink T/√(T+1) "
         "costs less than the diagonal (T-1)^{1/p}, at `above` more, and they are 2·10^-11 apart: p_c(T) "
         "lies between (the diagonal falls in p). The logarithmic facts used in 'critical exponent' hold at "
         "these T too.",
    variables=EXPONENT_VARIABLES,
    conclusions=("T / sqrt(T + 1) < (T - 1) ** (1 / below)", "T / sqrt(T + 1) > (T - 1) ** (1 / above)",
                 "1 < below and below < above and above < 2 and above - below <= 2 / 10**11",
                 "1 / T**2 < log(T**2 / (T**2 - 1)) and log(T**2 / (T**2 - 1)) < 1 / (T**2 - 1)"),
    satisfiable=BRACKETS[0], instances=listed(BRACKETS), cases=settings("T", [(tokens,) for tokens in BRACKETED]))
MASS_SIDES = ((4, HALF, 1), (5, HALF, 1), (40, HALF, 1), (3, Fraction(37, 100), 1), (3, Fraction(38, 100), 0),
              (3, HALF, 0), (2, Fraction(1, 10**9), 0))  # T, eps, side
MASS_BOUNDARY = Part(
    name="mass form on both sides", quantifier="exists",
    text="p = 1, orthonormal, by balls, for the listed (T, eps, side): side = 1 where the sink (L+log "
         "T)T/√(T+1) is cheaper than the diagonal (L+log(T-1))(T-1), 0 where it is not: side 1 for T = 4, 5, 40 "
         "at eps = 1/2 and T = 3 at eps = 0.37; side 0 for T = 3 at eps = 0.38 and 1/2 and T = 2 at eps = 10^-9.",
    variables={"T": "integer", "eps": "scalar", "side": "integer"}, definitions={"L": "log((1 - eps) / eps)"},
    conclusions=("iff((L + log(T)) * T / sqrt(T + 1) < (L + log(T - 1)) * (T - 1), side == 1)",),
    satisfiable=Instance({"T": 4, "eps": HALF, "side": 1}),
    instances=listed([Instance({"T": tokens, "eps": eps, "side": side}) for tokens, eps, side in MASS_SIDES]),
    cases=settings("T eps side", MASS_SIDES))


def token_sink(size: int) -> Instance:
    """One of `size` orthonormal tokens as sink, all tokens queries; multipliers 1 on every pair."""
    tokens = [[Fraction(v) for v in axis(size, i)] for i in range(size)]
    query, key = mean(tokens), add(tokens[0], mean(tokens[1:]), -1)
    squares = dot(query, query), dot(key, key)
    return Instance({"x": tokens, "W": outer(query, key, 1 / (squares[0] * squares[1])), "m": 1,
                     "t": size * (size - 1) * squares[0] * squares[1]})


AMONG_SIZES = range(2, 8)
AMONG_ON_MATRICES = Part(
    name="sink among the tokens on matrices", quantifier="exists",
    text="For T = 2..7 (listed) orthonormal tokens with token 1 as the sink: all margins of W are m = 1, W has "
         "rank one and ‖W‖_F² = T-1, and the equal multipliers give G = tW: W is cheapest for every p, at "
         "√(T-1).",
    variables={"x": "matrix", "W": "matrix", "m": "scalar", "t": "scalar"}, definitions={"T": "len(x)"},
    conclusions=("x @ transpose(x) == eye(T) and m == 1",
                 "all(x[i] @ W @ (x[0] - x[j]) == m for i in range(T) for j in range(1, T))", "rank(W) == 1",
                 "trace(transpose(W) @ W) == (T - 1) * m**2",
                 "t > 0 and sum(outer(x[i], x[0] - x[j]) for i in range(T) for j in range(1, T)) == t * W"),
    satisfiable=token_sink(2), instances=listed([token_sink(size) for size in AMONG_SIZES]),
    cases=settings("T", [(size,) for size in AMONG_SIZES]))


def both(case: tuple) -> Instance:
    """The sink's and the diagonal's certificates on one exchangeable family."""
    x, sink = exchangeable(*case)
    first, second = sink_certificate(x, sink).values, diagonal_certificate(x).values
    return Instance({"x": x, "sink": sink, "W": first["W"], "lam": first["lam"], "s": first["s"],
                     "t": first["t"],
                     "V": second["W"], "mu": second["lam"], "sd": second["s"], "td": second["t"], "m": 1})


def renamed(text: str) -> str:
    for old, new in (("margins", "margins_d"), ("lam", "mu"), ("W", "V"), ("G", "G_d"), ("count", "(T - 1)")):
        text = text.replace(old, new)
    return text.replace("s > 0", "sd > 0").replace("s**2", "sd**2").replace("t > 0",
        "td > 0").replace("t * V", "td * V")


BOTH_DEFINITIONS = {**SINK_MATRICES, "margins_d": DIAGONAL_MATRICES["margins"].replace("W", "V"),
                    "G_d": DIAGONAL_MATRICES["G"].replace("lam", "mu")}
CERTIFIED = Hypothesis("certificates", "W is the cheapest sink (one singular value s), V the cheapest "
    "diagonal (T-1 values sd): C4's certificates",
                       " and ".join(f"({text})" for text in (
                           *[line.replace("count", "1") for line in ONE_SINGULAR_VALUE],
                           *map(renamed, ONE_SINGULAR_VALUE))))
BOTH_VARIABLES = {**{key: kind for key, kind in CERTIFICATE_VARIABLES.items() if key != "count"},
                  "sink": "vector", "V": "matrix", "mu": "matrix",
                  "sd": "scalar", "td": "scalar"}
# common, own, along, across, off, shift
ALIGNED = (3, 2, 1, -2, 0, 0, 1)


def orthonormal(size: int) -> Instance:
    """Orthonormal tokens and sink; the product of the hull distances, √(T+1)/T, is rational at T = 3 and 8."""
    return both((size, 0, 1, 0, 1, 0, 0))


def false_comparison(name: str, operator: str, text: str, case: Instance, conclusion: str) -> Variant:
    part = Part(name=name, text=text, variables=BOTH_VARIABLES, definitions=BOTH_DEFINITIONS,
                hypotheses=(CERTIFIED,), conclusions=(conclusion,))
    return Variant(operator, case, part)


VARIANTS = (
    false_comparison("sinks are cheaper", "trap", "Whatever the norm and the alignment, the sink is cheaper: "
        "in Frobenius norm (orthonormal, T = 3: 3/2 > √2)",
                     orthonormal(3), "s**2 < (T - 1) * sd**2"),
    false_comparison("sinks are cheaper at eight tokens", "trap", "In Frobenius norm the sink is cheaper "
        "from some moderate T on (orthonormal, T = 8: 8/3 > √7)",
                     orthonormal(8), "T < 8 or s**2 < (T - 1) * sd**2"),
    false_comparison("sinks are never cheaper", "wrong converse", "The sink is never cheaper in nuclear norm",
                     orthonormal(3), "s >= (T - 1) * sd"),
    false_comparison("spectral norm too", "p for p*", "p = ∞: the sink is cheaper "
        "when it is at p = 1", orthonormal(3), "not (s < (T - 1) * sd) or s < sd"),
    false_comparison("diagonal wins in Frobenius norm", "trap", "In Frobenius norm the diagonal is "
        "always cheaper, also for an aligned sink", both(ALIGNED),
                     "s**2 >= (T - 1) * sd**2"),
    false_formula(NUCLEAR, "two tokens", "drop hypothesis", "p = 1, orthonormal: the sink wins "
        "for every T >= 2", {"T": 2},
                  bounds={"T": {"minimum": ["2", "1"], "integer": "true"}}),
    false_formula(EXPONENT, "rate without T squared", "exponent moved", "2 - p_c > 2/(T log T)",
                  {**RATE, "B": Fraction(7, 10), "C": Fraction(29, 100), "D": Fraction(117, 1000)},
                  conclusions=("2 - p_c > 2/(T*log_T)",)),
    false_formula(MASS_NUCLEAR, "three tokens in mass form", "constant moved",
        "T >= 3 suffices in mass form for every eps <= 1/2 (L = 0, a = log 2 < 7/10, g = log 3/2 > 2/5)",
                  {"T": 3, "L": 0, "a": Fraction(7, 10), "g": Fraction(2, 5)},
                  bounds={"T": {"minimum": ["3", "1"], "integer": "true"}, "a": {"minimum": ["1", "2"]}}),
    false_formula(UNBOUNDED, "always bounded", "trap", "At beta = rho = sigma² the sink's cost is bounded: "
        "sink² <= 4 m²/(r⁴ rho (1-rho)) for every T",
                  {"T": 100, "r": 1, "m": 1, "N": 1, "rho": HALF},
                  conclusions=("sink_square <= 4*m**2/(r**4*rho*(1 - rho))",)),
)

CLAIM = Claim(
    id="C5", title="Where the sink is cheaper", family="costs",
    statement="Under C4's conditions the sink is cheaper iff (1-rho)² < (T-1)^{2/p} "
              "rho_T(sigma²-2beta+rho_T). Orthonormal: at p = 1 iff T >= 3; for p >= 2 never (at p = 2 by the "
              "factor T/√(T²-1)); for T >= 3 iff p < p_c(T) = 2 log(T-1)/log(T²/(T+1)), with 2/(T² log T) < "
              "2-p_c < 2/((T²-1)log(T-1)) and p_c increasing to 2, given x/(1+x) <= log(1+x) <= x and that "
              "log(T²/(T²-1)) falls and log(T²/(T+1)) grows. Sink one of the T orthonormal tokens: "
              "m√(T-1) for every p. Fixed rho > 0 and sigma²-2beta+rho > 0: the sink's cost is bounded and "
              "wins for every p < ∞ from some T on; at beta = rho = sigma² it is of order √T. Mass form, "
              "orthonormal, p = 1: T >= 4 suffices for every eps <= 1/2 (given log(1+x) <= x), T = 3 iff eps < "
              "16/43, T = 2 never (log T > log(T-1)).",
    parts=(GENERAL, SQUARES, NUCLEAR, FROBENIUS, EXPONENT, INCREASES, AMONG, BOUNDED_SINK, UNBOUNDED,
           MASS_NUCLEAR, MASS_THREE, LOG_3, ON_BOTH_SIDES, MASS_BOUNDARY,
           AMONG_ON_MATRICES),
    variants=VARIANTS, uses=("C4",), required="PROVED", required_formal="PROVED",
    scope_notes=(
        "For all T: identities and signs in T and the named quantities; logarithms enter as names whose used "
        "facts (x/(1+x) <= log(1+x) <= x, monotonicity) are the named hypotheses, standard analysis. log 3 > "
        "1 and p_c at nine values of T are enclosed by balls.",
        "Not claimed here: the mass form's boundary for 1 < p < 2, and for tokens that are not orthonormal "
        "(notes/C5.md has the formulas).",
        "'Sinks are cheaper' needs a norm or an alignment: in Frobenius norm it is false for orthonormal "
        "tokens at every T."),
)
