"""O3, O4, O5: uniform against diagonal, along the mix, and against the input, as sign theorems for every T >= 2.

All three rest on one computation.  Along A_t = (1−t)I + t·11ᵀ/T put m = ρg + (1−ρ)(t0+D)/T, the energy of the token
mean, which does not depend on t, and q_t = t0 + 2(1−t)τ + (1−t)²φ, the energy of one token about the mean.  Then
G_ij = m − (1−ρ)q_t/T and G_ii = m + (1−ρ)(1−1/T)q_t, so the moment cosine is a decreasing function of q_t when m > 0.
"""

from __future__ import annotations

from theory.oversmoothing_lemmas import (
    DRIFT, ENERGY, G, G0, MEAN_ENERGY, MEAN_ENERGY_POSITIVE, MODEL, NONDEGENERATE, PHI, RHO, SIZE_LEMMAS, T0, TAU,
    TOKENS, by_terms, cosine, diagonal, difference_factor, difference_factor_positive, identity, inverse, mixed,
    orthant, same_sign, uniform)
from theory.statements import Derivation, Lemma, Parameter, above

_T0_POSITIVE = above("t0")
_UNIFORM_DIAG_POSITIVE = by_terms("uniform_diag > 0", ("mean_energy",), ("1 - rho", "t0", "T - 1", "1/T"))


def uniform_against_diagonal() -> Derivation:
    """O3: cos_uniform − cos_diagonal has the sign of D for every T >= 2, outside (ρg, D) = (0, −t0).

    The gap is (1−ρ)·D·m/(G^uniform_ii·G^diagonal_ii); t0 = 0 is allowed.
    """
    gap = f"{cosine('uniform')} - {cosine('diagonal')}"
    factor = difference_factor("uniform", "diagonal")
    conclusions = (same_sign(gap, "drift", factor), identity(gap, f"{factor}*drift"))
    lemmas = (
        *SIZE_LEMMAS,
        MEAN_ENERGY_POSITIVE,
        _UNIFORM_DIAG_POSITIVE,
        by_terms("diagonal_diag > 0", ("1 - rho", "rho*g + total"), ("rho", "rho*g")),
        inverse("uniform_diag"),
        inverse("diagonal_diag"),
        difference_factor_positive("uniform", "diagonal"),
        *conclusions,
    )
    return Derivation(MODEL, DRIFT | MEAN_ENERGY | uniform() | diagonal(), NONDEGENERATE, lemmas,
                      tuple(lemma.formula for lemma in conclusions))


# --- O4 ------------------------------------------------------------------------------------------------------------

def _residual(t: str) -> str:
    return f"t0 + 2*(1 - ({t}))*tau + (1 - ({t}))**2*phi"


def _residual_energy(name: str, t: str) -> dict[str, str]:
    """The energy q_t >= 0 as a named assumption: it is tr(R(1+cV)ᵀM(1+cV)) at c = 1−t."""
    return {f"energy_{name}": f"{_residual(t)} >= 0"}


def _mix_positive(name: str, t: str) -> tuple[Lemma, Lemma]:
    return by_terms(f"{name}_diag > 0", ("mean_energy",), ("1 - rho", "T - 1", "1/T", _residual(t))), \
        inverse(f"{name}_diag")


def _along_mix(parameters: tuple[Parameter, ...], t: str, s: str, extra: dict[str, str],
               lemmas: tuple[Lemma, ...], conclusions: tuple[Lemma, ...]) -> Derivation:
    """A statement about cos_t − cos_s, with the shared definitions, assumptions and positivity lemmas in front."""
    shared = (*SIZE_LEMMAS, MEAN_ENERGY_POSITIVE, *_mix_positive("at_t", t), *_mix_positive("at_s", s),
              difference_factor_positive("at_t", "at_s"))
    return Derivation(
        parameters, extra | DRIFT | MEAN_ENERGY | mixed("at_t", t) | mixed("at_s", s),
        NONDEGENERATE | _residual_energy("t", t) | _residual_energy("s", s),
        (*shared, *lemmas, *conclusions), tuple(lemma.formula for lemma in conclusions))


_MIX_GAP = f"{cosine('at_t')} - {cosine('at_s')}"
_MIX_FACTOR = difference_factor("at_t", "at_s")
_UNIT = {"minimum": "0", "maximum": "1"}


def mix_secant() -> Derivation:
    """O4 without calculus: cos_t − cos_s has the sign of (t−s)·(2τ + (2−s−t)φ) for all s, t in [0, 1]."""
    secant = "(t - s)*(2*tau + (2 - s - t)*phi)"
    conclusions = (identity(_MIX_GAP, f"{_MIX_FACTOR}*{secant}"), same_sign(_MIX_GAP, secant, _MIX_FACTOR))
    return _along_mix((*MODEL, Parameter("t", **_UNIT), Parameter("s", **_UNIT)), "t", "s", {}, (), conclusions)


def mix_slope() -> Derivation:
    """O4: d cos/dt has the sign of τ + (1−t)φ on [0, 1]; the positive factor is 2(1−ρ)m/G_ii².

    G_ii and G_ij are quadratic in t; that `*_slope` are their derivatives is itself a lemma: the remainder
    G(s) − G(t) − (s−t)·slope is (s−t)² times a quantity free of s.
    """
    slopes = {
        "diag_slope": "-2*(1 - rho)*(1 - 1/T)*(tau + (1 - t)*phi)",
        "off_slope": "2*(1 - rho)*(tau + (1 - t)*phi)/T",
        "diag_bend": "(1 - rho)*(1 - 1/T)*phi",
        "off_bend": "-(1 - rho)*phi/T",
    }
    derivatives = tuple(
        identity(f"at_s_{part} - at_t_{part} - (s - t)*{part}_slope", f"(s - t)**2*{part}_bend")
        for part in ("diag", "off"))
    quotient_rule = "(off_slope*at_t_diag - at_t_off*diag_slope)/at_t_diag**2"
    factor = "2*(1 - rho)*mean_energy/at_t_diag**2"
    positive = Lemma(f"{factor} > 0", "terms",
                     terms=(("2", ("1 - rho", "mean_energy", "1/(at_t_diag)", "1/(at_t_diag)")),))
    conclusions = (*derivatives, identity(quotient_rule, f"{factor}*(tau + (1 - t)*phi)"),
                   same_sign(quotient_rule, "tau + (1 - t)*phi", factor))
    return _along_mix((*MODEL, Parameter("t", **_UNIT), Parameter("s", **_UNIT)), "t", "s", slopes, (positive,),
                      conclusions)


_PHI_POSITIVE = above("phi")
_NO_SIGNS = (TOKENS, RHO, G, T0)


def mix_increasing() -> Derivation:
    """O4, φ > 0 and τ >= 0: cos_s < cos_t for 0 <= s < t <= 1, with t = s + (1−s)w."""
    parameters = (*_NO_SIGNS, Parameter("tau", minimum="0"), _PHI_POSITIVE,
                  Parameter("s", **_UNIT, open_max=True), Parameter("w", **_UNIT, open_min=True))
    t = "s + (1 - s)*w"
    rise = "(1 - s)*w*(2*tau + (1 - s)*(2 - w)*phi)"
    lemmas = (orthant(f"{rise} > 0"),)
    conclusion = by_terms(f"{_MIX_GAP} > 0", (_MIX_FACTOR, rise))
    return _along_mix(parameters, t, "s", {}, lemmas, (conclusion,))


def mix_decreasing() -> Derivation:
    """O4, φ > 0 and τ <= −φ, written τ = −φ−e: cos_s > cos_t for 0 <= s < t <= 1."""
    parameters = (*_NO_SIGNS, Parameter("e", minimum="0"), _PHI_POSITIVE,
                  Parameter("s", **_UNIT, open_max=True), Parameter("w", **_UNIT, open_min=True))
    t = "s + (1 - s)*w"
    fall = "(1 - s)*w*(2*e + (2*s + (1 - s)*w)*phi)"
    conclusion = by_terms(f"{cosine('at_s')} - {cosine('at_t')} > 0", (_MIX_FACTOR, fall))
    return _along_mix(parameters, t, "s", {"tau": "-phi - e"}, (orthant(f"{fall} > 0"),), (conclusion,))


def mix_maximum() -> Derivation:
    """O4, φ > 0 and −φ < τ < 0: t* = 1 + τ/φ is in (0, 1) and cos is largest there, strictly.

    With p = t*, τ = −(1−p)φ, and cos_p − cos_s is a positive factor times φ(p−s)².
    """
    parameters = (*_NO_SIGNS, Parameter("p", **_UNIT, open_min=True, open_max=True), _PHI_POSITIVE,
                  Parameter("s", **_UNIT))
    lemmas = (by_terms(f"{_MIX_FACTOR}*phi > 0", (_MIX_FACTOR, "phi")),)
    conclusions = (
        identity("1 + tau/phi", "p"),
        same_sign(_MIX_GAP, "(p - s)**2", f"{_MIX_FACTOR}*phi"),
        by_terms(f"{_MIX_GAP} >= 0", (_MIX_FACTOR, "phi", "(p - s)**2")),
    )
    return _along_mix(parameters, "p", "s", {"tau": "-(1 - p)*phi"}, lemmas, conclusions)


def mix_constant() -> Derivation:
    """O4, φ = 0: then τ = 0, because τ² <= t0·φ (Cauchy–Schwarz for the form M under R), and cos is constant."""
    parameters = (*_NO_SIGNS, Parameter("t", **_UNIT), Parameter("s", **_UNIT))
    return _along_mix(parameters, "t", "s", {"tau": "0", "phi": "0"}, (), (identity(_MIX_GAP, "0"),))


# --- O5 ------------------------------------------------------------------------------------------------------------

_INPUT = {"input_diag": "rho*g0 + (1 - rho)*t0", "input_off": "rho*g0"}
_MEAN_ENERGY_NONNEGATIVE = by_terms("mean_energy >= 0", ("rho*g",), ("1 - rho", "total", "1/T"))


def uniform_against_input() -> Derivation:
    """O5: for t0 > 0 and T >= 2, uniform attention raises the cosine above the input's iff ρ(g−g0) + (1−ρ)D/T > 0."""
    return _against_input((TOKENS, RHO, G, G0, _T0_POSITIVE, TAU, PHI), {},
                          "rho*(g - g0) + (1 - rho)*drift/T", "(1 - rho)*t0/uniform_diag/input_diag", ())


def uniform_against_input_at_equal_g() -> Derivation:
    """O5 at g = g0: the sign is D's at every finite T >= 2."""
    scale = by_terms("(1 - rho)**2*t0/T/uniform_diag/input_diag > 0",
                     ("1 - rho", "1 - rho", "t0", "1/T", "1/(uniform_diag)", "1/(input_diag)"))
    return _against_input((TOKENS, RHO, G0, _T0_POSITIVE, TAU, PHI), {"g": "g0"}, "drift",
                          "(1 - rho)**2*t0/T/uniform_diag/input_diag", (scale,))


def _against_input(parameters: tuple[Parameter, ...], extra: dict[str, str], quantity: str, factor: str,
                   more: tuple[Lemma, ...]) -> Derivation:
    gap = f"{cosine('uniform')} - {cosine('input')}"
    scale = by_terms("(1 - rho)*t0/uniform_diag/input_diag > 0",
                     ("1 - rho", "t0", "1/(uniform_diag)", "1/(input_diag)"))
    conclusion = same_sign(gap, quantity, factor)
    lemmas = (*SIZE_LEMMAS, _MEAN_ENERGY_NONNEGATIVE, _UNIFORM_DIAG_POSITIVE, orthant("input_diag > 0"),
              inverse("uniform_diag"), inverse("input_diag"), scale, *more, conclusion)
    return Derivation(parameters, extra | DRIFT | MEAN_ENERGY | uniform() | _INPUT, ENERGY, lemmas,
                      (conclusion.formula,))


def uniform_against_input_in_the_limit() -> Derivation:
    """O5, T → ∞ and ρ > 0: the limit ρg/(ρg + (1−ρ)t0) exceeds the input's cosine iff g > g0.

    That it is the limit is a lemma with a rate: cos_uniform − limit = (1−ρ)²·t0·D/(T·G_ii·limit_ii), and
    G_ii >= (1−ρ)t0/2 for every T >= 2.
    """
    rho = above("rho", maximum="1")
    parameters = (TOKENS, rho, G, G0, _T0_POSITIVE, TAU, PHI)
    limit = {"limit_off": "rho*g", "limit_diag": "rho*g + (1 - rho)*t0"}
    gap = f"{cosine('limit')} - {cosine('input')}"
    factor = "rho*(1 - rho)*t0/limit_diag/input_diag"
    conclusions = (
        identity(f"{cosine('uniform')} - {cosine('limit')}", "(1 - rho)**2*t0*drift/T/uniform_diag/limit_diag"),
        by_terms("uniform_diag - (1 - rho)*t0/2 >= 0", ("mean_energy",), ("1 - rho", "t0", "1/2 - 1/T")),
        same_sign(gap, "g - g0", factor),
    )
    lemmas = (*SIZE_LEMMAS, orthant("1/2 - 1/T >= 0"), _MEAN_ENERGY_NONNEGATIVE, _UNIFORM_DIAG_POSITIVE,
              orthant("input_diag > 0"), orthant("limit_diag > 0"), orthant(f"{factor} > 0"), *conclusions)
    return Derivation(parameters, DRIFT | MEAN_ENERGY | uniform() | _INPUT | limit, ENERGY, lemmas,
                      tuple(lemma.formula for lemma in conclusions))
