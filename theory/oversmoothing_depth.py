"""O6, O8, O9: a sink's constant output, the odds recursion over depth, and values that counteract the smoothing."""

from __future__ import annotations

from theory.oversmoothing_lemmas import (
    DRIFT, MEAN_ENERGY, PHI, RHO, TAU, TOKENS, by_terms, cosine, diagonal, identity, inverse, orthant,
    same_sign, uniform)
from theory.statements import Derivation, Parameter, above


def null_sink() -> Derivation:
    """O6, second part: A = 1e_sᵀ with w = Vx_s on exchangeable tokens, T >= 2, ρ < 1 (RMSNorm, no gain).

    r2 = r², b = ⟨w, x_i⟩, w2 = ‖w‖²; the new cosine is 1 − r²(1−ρ)/(r² + 2b + ‖w‖²), raised iff ‖w‖² + 2b > 0, kept
    when w = 0.  LayerNorm: the same with centred tokens and Cw for w.  That x_i + w ≠ 0 needs no hypothesis: by
    ‖(x_1+w) + (x_2+w)‖² >= 0 its square norm is at least r²(1−ρ)/2.
    """
    parameters = (Parameter("rho", minimum="-1", maximum="1", open_max=True), above("r2"),
                  Parameter("b"), Parameter("w2", minimum="0"))
    definitions = {"after_diag": "r2 + 2*b + w2", "after_off": "r2*rho + 2*b + w2"}
    conclusions = (
        by_terms("after_diag - r2*(1 - rho)/2 >= 0", ("1/4", "2*after_diag + 2*after_off")),
        identity("after_off/after_diag", "1 - r2*(1 - rho)/(r2 + 2*b + w2)"),
        same_sign("after_off/after_diag - rho", "w2 + 2*b", "(1 - rho)/after_diag"),
    )
    lemmas = (
        by_terms("after_diag > 0", ("1/4", "2*after_diag + 2*after_off"), ("1/2", "r2", "1 - rho")),
        inverse("after_diag"), by_terms("(1 - rho)/after_diag > 0", ("1 - rho", "1/(after_diag)")), *conclusions)
    return Derivation(parameters, definitions, {"pair": "2*after_diag + 2*after_off >= 0"}, lemmas,
                      tuple(lemma.formula for lemma in conclusions))


_ISOTROPIC = {"g": "1 + drift", "t0": "1"}  # d → ∞ with fresh isotropic V: t0 = 1 and g = ‖(1+V)u‖² → 1 + D
_FRESH = (TOKENS, RHO, TAU, PHI)
_NOT_DEAD = {"energy": "1 + drift > 0"}


def depth_recursion() -> Derivation:
    """O8, one layer: odds = ρ/(1−ρ) satisfy o' + 1/T = (1+D)(o + 1/T) under uniform attention, o' = o under diagonal.

    A null sink leaves every token as it is.  The second route conditions on the tokens: for a fresh V with
    E⟨Vx, y⟩ = τ⟨x, y⟩ and E⟨Vx, Vy⟩ = φ⟨x, y⟩, only the Gram matrix of the layer's input matters, so the recursion
    also holds where the tokens are no longer of the model's form (after uniform attention the z_i are correlated).
    `after_*` is that route, with ⟨x_i, x̄⟩ = ‖x̄‖² = ρ + (1−ρ)/T.  1 + D > 0 excludes V = −1, where diagonal gives 0.
    """
    definitions = {"drift": "2*tau + phi"} | _ISOTROPIC | {"total": "t0 + drift"} | MEAN_ENERGY | uniform() | \
        diagonal() | {
        "mean": "rho + (1 - rho)/T",
        "after_diag": "1 + 2*tau*mean + phi*mean",
        "after_off": "rho + 2*tau*mean + phi*mean",
    }
    conclusions = (
        identity("uniform_diag", "after_diag"),
        identity("uniform_off", "after_off"),
        identity("after_off/(after_diag - after_off) + 1/T", "(1 + drift)*(rho/(1 - rho) + 1/T)"),
        identity(f"{cosine('diagonal')}", "rho"),
    )
    lemmas = (orthant("1/T > 0"), by_terms("diagonal_diag > 0", ("1 + drift",)), *conclusions)
    return Derivation(_FRESH, definitions, _NOT_DEAD, lemmas, tuple(lemma.formula for lemma in conclusions))


def depth_any_gram() -> Derivation:
    """O8, one layer on tokens of any Gram matrix with ones on and ρ off the diagonal, −1/(T−1) <= ρ < 1.

    The parameter is mean = ⟨x_i, x̄⟩ = ‖x̄‖² = ρ + (1−ρ)/T in [0, 1), which is that range of ρ; `next_mean` is the same
    for the outputs at norm one.  It is in [0, 1) again, so the step can be repeated whatever the sign of D, although
    ρ itself may turn negative.
    """
    parameters = (TOKENS, Parameter("mean", minimum="0", maximum="1", open_max=True), TAU, PHI)
    definitions = {
        "drift": "2*tau + phi", "rho": "(T*mean - 1)/(T - 1)",
        "after_diag": "1 + 2*tau*mean + phi*mean", "after_off": "rho + 2*tau*mean + phi*mean",
        "kept_diag": "1 + 2*tau + phi", "kept_off": "rho + 2*tau*rho + phi*rho",
    }
    next_mean = "(after_diag + (T - 1)*after_off)/(T*after_diag)"
    conclusions = (
        identity("mean", "rho + (1 - rho)/T"),
        identity("after_off/(after_diag - after_off) + 1/T", "(1 + drift)*(rho/(1 - rho) + 1/T)"),
        by_terms(f"{next_mean} >= 0", ("1 + drift", "mean", "1/(after_diag)")),
        by_terms(f"1 - {next_mean} > 0", ("1 - mean", "1/(after_diag)")),
        identity("kept_off/kept_diag", "rho"),
    )
    lemmas = (
        orthant("1/T > 0"), orthant("T - 1 > 0"), inverse("T - 1"),
        by_terms("1 - rho > 0", ("T", "1 - mean", "1/(T - 1)")),
        by_terms("after_diag - after_off > 0", ("1 - rho",)),
        by_terms("kept_diag > 0", ("1 + drift",)),
        by_terms("after_diag > 0", ("1 - mean",), ("1 + drift", "mean")), inverse("after_diag"), *conclusions)
    return Derivation(parameters, definitions, _NOT_DEAD, lemmas, tuple(lemma.formula for lemma in conclusions))


def depth_closed_form() -> Derivation:
    """O8, L layers: o_L + 1/T = (1+D)^L(o_0 + 1/T), by induction with power = (1+D)^L as a parameter.

    `shift` is o_0 + 1/T >= 0: odds from −1/T on, which is the range of `depth_any_gram` and is kept.
    """
    definitions = {"start": "shift - 1/T", "odds": "power*(start + 1/T) - 1/T",
                   "next": "(1 + drift)*(odds + 1/T) - 1/T"}
    conclusions = (
        identity("1*(start + 1/T) - 1/T", "start"),
        identity("next", "power*(1 + drift)*(start + 1/T) - 1/T"),
        by_terms("next + 1/T >= 0", ("power", "1 + drift", "shift")),
    )
    parameters = (TOKENS, Parameter("shift", minimum="0"), Parameter("drift", minimum="-1", open_min=True),
                  Parameter("power", minimum="0"))
    return Derivation(parameters, definitions, {}, conclusions, tuple(lemma.formula for lemma in conclusions))


def depth_contraction() -> Derivation:
    """O8 at τ = 0: 1−ρ contracts by 1/(1 + φ(ρ + (1−ρ)/T)) per layer, strictly slower than 1/(1+φ) while ρ < 1, φ > 0.

    At 1/T = 0 the factor is 1/(1+φρ).  `inv` is 1/T, so the limit is the case inv = 0.
    """
    parameters = (RHO, above("phi"), Parameter("inv", minimum="0", maximum="1/2"))
    definitions = {"mean": "rho + (1 - rho)*inv", "after_diag": "1 + phi*mean", "after_off": "rho + phi*mean"}
    conclusions = (
        identity("1 - after_off/after_diag", "(1 - rho)/(1 + phi*(rho + (1 - rho)*inv))"),
        by_terms("1/after_diag - 1/(1 + phi) > 0", ("phi", "1 - rho", "1 - inv", "1/(after_diag)", "1/(1 + phi)")),
        identity("1/after_diag - 1/(1 + phi)", "(1 - rho)*phi*(1 - inv)/(after_diag*(1 + phi))"),
    )
    lemmas = (orthant("after_diag > 0"), inverse("after_diag"), orthant("1 - inv > 0"), *conclusions)
    return Derivation(parameters, definitions, {}, lemmas, tuple(lemma.formula for lemma in conclusions))


# V = αuuᵀ + β(1−uuᵀ) on the rational tokens x_i = (3/5)u + (4/5)e_i, i = 1, 2, u, e_1, e_2 orthonormal (d = 3,
# T = 2, ρ = 9/25): t0 = g0 = 1, g = (1+α)², τ = β, φ = β²
COUNTERACTIONS = {
    "input": ("-1", "1/4"),
    "diagonal": ("1", "-1"),
    "both": ("-1/2", "-1"),
}


def counteraction(below: str) -> Derivation:
    """O9: uniform attention below the input's cosine only, below the diagonal's only, or below both.

    The instance is exact twice over: in moments, and on two deterministic tokens of R³ (all tokens of one norm, so
    the moment cosine is the cosine).
    """
    alpha, beta = COUNTERACTIONS[below]
    values = {"alpha": alpha, "beta": beta, "T": "2", "rho": "9/25", "g": "(1 + alpha)**2", "t0": "1", "tau": "beta",
              "phi": "beta**2"} | DRIFT | uniform() | diagonal()
    # the same from the tokens: y_i = x_i + V(x_1 + x_2)/2 has u-component 3(1+α)/5, e_i-component 4(1 + β/2)/5 and
    # 2β/5 on the other
    values |= {
        "vector_diag": "(3*(1 + alpha)/5)**2 + (4*(1 + beta/2)/5)**2 + (2*beta/5)**2",
        "vector_off": "(3*(1 + alpha)/5)**2 + 2*(4*(1 + beta/2)/5)*(2*beta/5)",
    }
    to_input = f"{cosine('uniform')} - rho"
    to_diagonal = f"{cosine('uniform')} - {cosine('diagonal')}"
    conclusions = (
        identity("uniform_diag", "vector_diag"),
        identity("uniform_off", "vector_off"),
        orthant(f"{'' if below == 'diagonal' else '-'}({to_input}) > 0"),
        orthant(f"{'' if below == 'input' else '-'}({to_diagonal}) > 0"),
    )
    return Derivation((), values, {}, conclusions, tuple(lemma.formula for lemma in conclusions))


def counteraction_regions() -> Derivation:
    """O9 for all α, β: with z ⊥ u, isotropic there, uniform is below the diagonal iff β(2+β) < 0 and below the input
    iff ρα(2+α) + (1−ρ)β(2+β)/T < 0 (where the outputs are not all 0)."""
    parameters = (TOKENS, RHO, Parameter("alpha"), Parameter("beta"))
    definitions = {"g": "(1 + alpha)**2", "g0": "1", "t0": "1", "tau": "beta", "phi": "beta**2"} | DRIFT
    conclusions = (
        identity("drift", "beta*(2 + beta)"),
        identity("rho*(g - g0) + (1 - rho)*drift/T", "rho*alpha*(2 + alpha) + (1 - rho)*beta*(2 + beta)/T"),
    )
    return Derivation(parameters, definitions, {}, conclusions, tuple(lemma.formula for lemma in conclusions))
