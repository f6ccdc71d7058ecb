"""C5: where the sink is cheaper than the diagonal, for exchangeable and orthonormal tokens, margin and mass
form.

Costs are compared through their squares, which are rational in T, r, q, k, N (see `costs_exchangeable`).
Logarithms enter as names with the two facts about them that are used: x/(1+x) <= log(1+x) <= x, and log 3 >
1.
"""

from __future__ import annotations

import sympy

from theory.costs_exchangeable import KEY_DISTANCE, MARGIN, RADIUS, TOKENS
from theory.costs_lemmas import identity, positive, same_sign
from theory.statements import Derivation, Lemma, Parameter, above

POWER = above("N")  # (T-1)^(1/p)
LOG_ODDS = Parameter("L", minimum="0")


def critical_exponent(tokens: sympy.Expr, log_odds: sympy.Expr | None = None) -> sympy.Expr:
    """Orthonormal tokens, T >= 3: the sink is cheaper exactly for p < p_c (C5).

    p_c = 2 log(T-1)/log(T²/(T+1)) in margin form; in mass form (L = log((1-eps)/eps) >= 0)
    p_c = log(T-1)/log(T (L + log T)/(sqrt(T+1) (L + log(T-1)))), which may lie below 1.
    """
    ratio = tokens / sympy.sqrt(tokens + 1)
    if log_odds is not None:
        ratio = ratio * (log_odds + sympy.log(tokens)) / (log_odds + sympy.log(tokens - 1))
    return sympy.log(tokens - 1) / sympy.log(ratio)


def general() -> Derivation:
    """Sink cheaper iff (1-rho)² < (T-1)^(2/p) rho_T (sigma² - 2 beta + rho_T), for every p (C5)."""
    definitions = {
        "e": "T*(1 - q**2)/(T - 1)",  # 1 - rho at rho_T = q²
        "sink_square": "m**2/(r**4*q**2*k**2)",
        "diagonal_square": "m**2*N**2/(r**4*e**2)",
    }
    sign = same_sign(
        "diagonal_square - sink_square", "N**2*q**2*k**2 - e**2", factor="m**2/(r**4*e**2*q**2*k**2)"
    )
    return Derivation(
        parameters=(
            TOKENS,
            RADIUS,
            MARGIN,
            POWER,
            KEY_DISTANCE,
            above("q", maximum="1"),
        ),
        definitions=definitions,
        assumptions={},
        lemmas=sign,
        conclusions=(sign[1].formula,),
    )


def squares() -> Derivation:
    """Two positive costs compare as their squares do."""
    sign = same_sign("diagonal - sink", "diagonal**2 - sink**2", factor="1/(diagonal + sink)")
    return Derivation((above("diagonal"), above("sink")), {}, {}, sign, (sign[1].formula,))


def orthonormal_nuclear() -> Derivation:
    """p = 1, T >= 3: m T/sqrt(T+1) < m (T-1) (C5)."""
    lemma = positive("(T - 1)**2 - T**2/(T + 1)")
    return Derivation((Parameter("T", minimum="3", integer=True),), {}, {}, (lemma,), (lemma.formula,))


def orthonormal_from_frobenius_on() -> Derivation:
    """p >= 2, that is N² <= T-1: the sink loses for every T >= 2, in margin form and a fortiori in mass
    form (C5).

    The squares differ by at least m²/(T+1); at p = 2 the ratio of squares is T²/(T²-1).  In mass form the
    sink's margin s = L + log T exceeds the diagonal's d = L + log(T-1) >= 0.
    """
    assumptions = {"exponent": "T - 1 - N**2 >= 0", "log_grows": "s - d > 0"}
    definitions = {"sink_square": "T**2/(T + 1)", "frobenius_square": "T - 1"}
    excess = Lemma(
        "sink_square - N**2 > 0", by="terms", terms=(("1", ("T - 1 - N**2",)), ("1", ("1/(T + 1)",)))
    )
    sum_lemma = positive("s + d")
    mass = Lemma(
        "s**2*sink_square - d**2*N**2 > 0",
        by="terms",
        terms=(("1", ("s - d", "s + d", "sink_square")), ("1", ("d**2", "sink_square - N**2"))),
    )
    ratio = identity("sink_square/frobenius_square", "T**2/(T**2 - 1)", definitions=definitions)
    return Derivation(
        parameters=(TOKENS, POWER, above("s"), Parameter("d", minimum="0")),
        definitions=definitions,
        assumptions=assumptions,
        lemmas=(excess, sum_lemma, mass, ratio),
        conclusions=(excess.formula, mass.formula, ratio.formula),
    )


def critical_exponent_rate() -> Derivation:
    """1 < p < 2, T >= 3: sink cheaper iff p < p_c, and 2/(T² log T) < 2 - p_c < 2/((T²-1) log(T-1)) (C5).

    B = log(T-1), D = log(T²/(T²-1)), C = log((T+1)/T), so A = B + D = log(T²/(T+1)) and log T = A + C.
    """
    definitions = {"A": "B + D", "log_T": "A + C", "p_c": "2*B/A"}
    assumptions = {
        "D_lower": "D - 1/T**2 >= 0",
        "D_upper": "1/(T**2 - 1) - D >= 0",
    }
    exact = identity("2 - p_c", "2*D/A", definitions=definitions)
    sign = same_sign("2*B/p - A", "p_c - p", factor="A/p")
    lower = Lemma(
        "2 - p_c - 2/(T**2*log_T) > 0",
        by="terms",
        terms=(("2", ("D - 1/T**2", "1/A")), ("2", ("1/T**2", "C", "1/(A*log_T)"))),
    )
    upper = Lemma(
        "2/((T**2 - 1)*B) - (2 - p_c) > 0",
        by="terms",
        terms=(("2", ("1/(T**2 - 1) - D", "1/A")), ("2", ("1/(T**2 - 1)", "D", "1/(A*B)"))),
    )
    return Derivation(
        parameters=(
            Parameter("T", minimum="3", integer=True),
            above("p"),
            above("B"),
            above("C"),
            above("D"),
        ),
        definitions=definitions,
        assumptions=assumptions,
        lemmas=(exact, *sign, lower, upper),
        conclusions=(exact.formula, sign[1].formula, lower.formula, upper.formula),
    )


def critical_exponent_increases() -> Derivation:
    """2 - p_c = 2 D/A falls in T, because D falls and A grows; so each p < 2 is won by the sink from one T
    on (C5)."""
    lemma = Lemma(
        "2*D1/A1 - 2*D2/A2 > 0",
        by="terms",
        terms=(("2", ("D1 - D2", "1/A1")), ("2", ("D2", "A2 - A1", "1/(A1*A2)"))),
    )
    return Derivation(
        parameters=(above("A1"), above("A2"), above("D1"), above("D2")),
        definitions={},
        assumptions={"D_falls": "D1 - D2 > 0", "A_grows": "A2 - A1 > 0"},
        lemmas=(lemma,),
        conclusions=(lemma.formula,),
    )


def sink_among_tokens() -> Derivation:
    """Sink = one of T orthonormal tokens, all T queries, T-1 keys: m sqrt(T-1) for every p, the Frobenius
    diagonal's (C5)."""
    definitions = {
        "query_square": "1/T",
        "key_square": "1 + 1/(T - 1)",  # |x_s - mean of the others|² = <x_s - x_j, k̄>
        "scale": "m/(query_square*key_square)",
        "weight": "w/(T*(T - 1))",  # T(T-1) equal multipliers of sum w
    }
    equations = {"normalised": "w**2*query_square*key_square == 1"}
    lemmas = (
        identity("scale*query_square*key_square", "m", definitions=definitions),
        identity("scale**2*query_square*key_square", "m**2*(T - 1)", definitions=definitions),
        positive("weight"),
        identity("(m*T*(T - 1)*weight)**2", "m**2*(T - 1)", equations, definitions),
    )
    return Derivation(
        (TOKENS, MARGIN, above("w")), definitions, equations, lemmas)


def bounded_sink() -> Derivation:
    """Fixed rho in (0, 1) and c = sigma² - 2 beta + rho > 0: sink² <= m²/(r⁴ rho c) for every T, so it wins
    for p < oo (C5).

    Explicitly, once (T-1)^(2/p) rho c > (1-rho)².
    """
    definitions = {
        "rho_T": "rho + (1 - rho)/T",
        "sink_square": "m**2/(r**4*rho_T*(c + (1 - rho)/T))",
        "bound": "m**2/(r**4*rho*c)",
        "diagonal_square": "m**2*N**2/(r**4*(1 - rho)**2)",
    }
    bounded = positive("bound - sink_square")
    wins = Lemma(
        "diagonal_square - sink_square > 0",
        by="terms",
        terms=(
            ("1", ("N**2*rho*c - (1 - rho)**2", "m**2/(r**4*rho*c*(1 - rho)**2)")),
            ("1", ("bound - sink_square",)),
        ),
    )
    return Derivation(
        parameters=(
            TOKENS,
            RADIUS,
            MARGIN,
            POWER,
            above("c"),
            above("rho", maximum="1"),
        ),
        definitions=definitions,
        assumptions={"late": "N**2*rho*c - (1 - rho)**2 > 0"},
        lemmas=(bounded, wins),
        conclusions=(bounded.formula, wins.formula),
    )


def unbounded_sink() -> Derivation:
    """beta = rho = sigma²: sink² = m² T/(r⁴ rho_T (1-rho)), between m² T/(r⁴ (1-rho)) and that over rho (C5).

    The sink is cheaper iff T (1-rho) < N² rho_T: for p < 2 from some T on, for p > 2 only below some T.  At
    p = 2 the sign is that of (2 rho - 1) T (T-1) - (1 - rho): from some T on for rho > 1/2, never for rho
    <= 1/2.
    """
    definitions = {
        "rho_T": "rho + (1 - rho)/T",
        "key": "rho - 2*rho + rho_T",
        "sink_square": "m**2/(r**4*rho_T*key)",
        "diagonal_square": "m**2*N**2/(r**4*(1 - rho)**2)",
    }
    order = Lemma(
        "sink_square - m**2*T/(r**4*(1 - rho)) >= 0",
        by="orthant",
    )
    at_most = Lemma("m**2*T/(r**4*rho*(1 - rho)) - sink_square >= 0", by="orthant")
    sign = same_sign(
        "diagonal_square - sink_square", "N**2*rho_T - T*(1 - rho)", factor="m**2/(r**4*rho_T*(1 - rho)**2)"
    )
    frobenius = identity(
        "T*((T - 1)*rho_T - T*(1 - rho))", "(2*rho - 1)*T*(T - 1) - (1 - rho)", definitions=definitions
    )
    return Derivation(
        parameters=(
            TOKENS,
            RADIUS,
            MARGIN,
            POWER,
            above("rho", maximum="1"),
        ),
        definitions=definitions,
        assumptions={},
        lemmas=(order, at_most, *sign, frobenius),
        conclusions=(order.formula, at_most.formula, sign[1].formula, frobenius.formula),
    )


def mass_nuclear() -> Derivation:
    """Mass form, p = 1, orthonormal: T >= 4 suffices for every eps <= 1/2 (C5).

    s = L + log(T-1) >= log 3 > 1 and g = log(T/(T-1)) <= 1/(T-1), so the sink's margin s + g is at most s
    T/(T-1).
    """
    definitions = {"s": "L + a", "stretched": "s*T/(T - 1)"}
    first = Lemma(
        "stretched - (s + g) >= 0",
        by="terms",
        terms=(
            ("1", ("L", "1/(T - 1)")),
            ("1", ("a - 1", "1/(T - 1)")),
            ("1", ("1 - g*(T - 1)", "1/(T - 1)")),
        ),
    )
    second = Lemma(
        "stretched**2 - (s + g)**2 >= 0",
        by="terms",
        terms=(("1", ("stretched - (s + g)", "stretched + s + g")),),
    )
    third = positive("s**2*(T - 1)**2 - stretched**2*T**2/(T + 1)")
    last = Lemma(
        "s**2*(T - 1)**2 - (s + g)**2*T**2/(T + 1) > 0",
        by="terms",
        terms=(
            ("1", ("s**2*(T - 1)**2 - stretched**2*T**2/(T + 1)",)),
            ("1", ("stretched**2 - (s + g)**2", "T**2/(T + 1)")),
        ),
    )
    return Derivation(
        parameters=(
            Parameter("T", minimum="4", integer=True),
            LOG_ODDS,
            Parameter("a", minimum="1"),
            Parameter("g", minimum="0"),
        ),
        definitions=definitions,
        assumptions={"log_step": "1 - g*(T - 1) >= 0"},
        lemmas=(first, second, third, last),
        conclusions=(last.formula,),
    )


def mass_three_tokens() -> Derivation:
    """Mass form, p = 1, T = 3: the sink is cheaper iff L > 3 log 3 - 4 log 2 = log(27/16), i.e. iff eps <
    16/43 (C5)."""
    definitions = {"sink": "3*(L + c)/2", "diagonal": "2*(L + b)"}  # b = log 2, c = log 3, sqrt(T+1) = 2
    lemmas = same_sign("diagonal - sink", "L - (3*c - 4*b)", factor="1/2")
    return Derivation((LOG_ODDS, above("b"), above("c")), definitions, {}, lemmas, (lemmas[1].formula,))


def derivations() -> dict[str, Derivation]:
    """Every derivation of C5 by name."""
    return {
        "general": general(),
        "squares": squares(),
        "orthonormal_nuclear": orthonormal_nuclear(),
        "orthonormal_from_frobenius_on": orthonormal_from_frobenius_on(),
        "critical_exponent_rate": critical_exponent_rate(),
        "critical_exponent_increases": critical_exponent_increases(),
        "sink_among_tokens": sink_among_tokens(),
        "bounded_sink": bounded_sink(),
        "unbounded_sink": unbounded_sink(),
        "mass_nuclear": mass_nuclear(),
        "mass_three_tokens": mass_three_tokens(),
    }
