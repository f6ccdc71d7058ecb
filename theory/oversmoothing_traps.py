"""False versions of the O claims, each with its smallest exact counterexample as a derivation the kernel replays.

A counterexample is a set of numbers (definitions without parameters) and the strict inequality between the false
formula's value and the true one.  True values of expectations are written out from the definition (`oversmoothing_
moments.o1_instance` proves the formula they instantiate).
"""

from __future__ import annotations

from theory.oversmoothing_lemmas import DRIFT, MEAN_ENERGY, cosine, diagonal, identity, mixed, orthant, uniform
from theory.statements import Derivation


def _numbers(definitions: dict[str, str], *statements: str) -> Derivation:
    lemmas = tuple(orthant(s) if "==" not in s else identity(*s.split(" == ")) for s in statements)
    return Derivation((), definitions, {}, lemmas, statements)


def attention_depending_on_z() -> Derivation:
    """O1 with A a function of the tokens: T = 2, d = 1, z_i = ±1, ρ = 0, V = 1, every query attends the larger token.

    E y_1y_2 = E[x_1x_2 + (x_1+x_2)·max + max²] = 0 + 1 + 1 = 2; O1 at the mean attention (uniform) says 3/2.
    """
    cases = ("(1 + 1)*(1 + 1)", "(1 + 1)*(-1 + 1)", "(-1 + 1)*(1 + 1)", "(-1 - 1)*(-1 - 1)")
    return _numbers({"true_value": f"({' + '.join(cases)})/4", "o1": "(1/2 + 1/2)*1 + (1/4 + 1/4)*1"},
                    "true_value == 2", "true_value - o1 > 0")


def own_trace_under_layer_norm() -> Derivation:
    """O1 with t0 replaced by 1 under LayerNorm: d = 2, R = I/2, C = I − 11ᵀ/2, V = 0, ρ = 0: E‖Cx‖²/d = tr(RC) = ½."""
    return _numbers({"true_value": "1/2*(1 - 1/2) + 1/2*(1 - 1/2)", "false_value": "1"}, "false_value - true_value > 0")


def transposed_product() -> Derivation:
    """O1 with AᵀA for AAᵀ: T = 2, causal A = [[1, 0], [½, ½]], d = 1, V = 1, ρ = 0: E y_1² = 4, not 1 + 2 + 5/4."""
    return _numbers({"true_value": "(1 + 1)**2", "false_value": "1 + 2*1*1 + (1**2 + (1/2)**2)*1"},
                    "false_value - true_value > 0")


def substochastic_rows() -> Derivation:
    """O1 with row sums below 1: T = d = 1, a = 0, u = V = 1, ρ = ½, z = ±1: E y² = 1, O1 says ½·4 + ½ = 5/2."""
    return _numbers({"rho": "1/2", "true_value": "rho*(1 + 0)**2 + (1 - rho)*1",
                     "false_value": "rho*(1 + 1)**2 + (1 - rho)*1"}, "false_value - true_value > 0")


def dense_attention_may_smooth_less() -> Derivation:
    """"Dense attention always smooths more" (O3): T = 2, ρ = ½, g = t0 = 1, τ = −1, φ = 1 (V = −1 on z, 0 on u)."""
    values = {"T": "2", "rho": "1/2", "g": "1", "t0": "1", "tau": "-1", "phi": "1"}
    return _numbers(values | DRIFT | uniform() | diagonal(), f"{cosine('diagonal')} - ({cosine('uniform')}) > 0")


def drift_does_not_decide_against_input() -> Derivation:
    """"The drift decides whether uniform exceeds the input" (O5): D > 0 and yet the cosine falls, because g < g0.

    T = 2, ρ = ½, g0 = t0 = 1, V = −uuᵀ + ¼(1−uuᵀ): g = 0, τ = ¼, φ = 1/16, D = 9/16.
    """
    values = {"T": "2", "rho": "1/2", "g": "0", "t0": "1", "tau": "1/4", "phi": "1/16"}
    return _numbers(values | DRIFT | uniform(), "drift > 0", f"rho - ({cosine('uniform')}) > 0")


def mix_need_not_be_monotone() -> Derivation:
    """"Mixing toward uniform is monotone" (O4): T = 2, ρ = ½, g = t0 = 1, τ = −½, φ = 1, so t* = ½ and D = 0."""
    values = {"T": "2", "rho": "1/2", "g": "1", "t0": "1", "tau": "-1/2", "phi": "1"}
    return _numbers(values | DRIFT | mixed("at_half", "1/2") | uniform() | diagonal(),
                    f"{cosine('at_half')} - ({cosine('uniform')}) > 0",
                    f"{cosine('at_half')} - ({cosine('diagonal')}) > 0")


def degenerate_case() -> Derivation:
    """O3, O4, O7 without their exclusion: at (ρg, D) = (0, −t0) the diagonal's G_ii is 0 and no cosine exists.

    ρ = 0, V = −1 (τ = −1, φ = 1, t0 = 1): G_ii = 0 for diagonal attention, while uniform gives −1/(T−1) = −1.
    """
    values = {"T": "2", "rho": "0", "g": "0", "t0": "1", "tau": "-1", "phi": "1"}
    return _numbers(values | DRIFT | MEAN_ENERGY | diagonal() | uniform(), "diagonal_diag == 0", "mean_energy == 0",
                    f"{cosine('uniform')} == -1")


def contraction_is_not_constant() -> Derivation:
    """O8 with 1/(1+φ) at every layer: T = 2, ρ = 0, τ = 0, φ = 1: 1−ρ contracts by 1/(1 + ½) = 2/3, not ½."""
    return _numbers({"T": "2", "rho": "0", "phi": "1", "true_value": "1/(1 + phi*(rho + (1 - rho)/T))",
                     "false_value": "1/(1 + phi)"}, "true_value == 2/3", "true_value - false_value > 0")


def same_value_matrix_in_every_layer() -> Derivation:
    """O8 with one V in all layers is power iteration: T → ∞, uniform, V = diag(1, −1), u = (3/5, 4/5), two layers.

    The common part √ρu becomes √ρ(1+V)u per layer and the rest is untouched: o_2 = o_0·‖(1+V)²u‖² = o_0·144/25.
    With the statistics τ = 0, φ = 1 of V the fresh recursion gives o_0·(1+1)² = 4o_0.
    """
    return _numbers({"true_value": "(2*2*3/5)**2 + (0*0*4/5)**2", "false_value": "(1 + 1)**2"},
                    "true_value == 144/25", "true_value - false_value > 0")


def null_sink_needs_a_null_value() -> Derivation:
    """O6 without Vx_s = 0: r = 1, ρ = 0, w = Vx_s with ⟨w, x_i⟩ = 0 and ‖w‖² = 1: cosine ½ instead of 0."""
    return _numbers({"after": "1 - 1/(1 + 0 + 1)"}, "after == 1/2", "after > 0")


def null_sink_under_layer_norm_needs_centred_tokens() -> Derivation:
    """O6, first part, under LayerNorm without centred tokens: x = (1, 0), (0, 1) go from cosine 0 to −1, o_i = 0."""
    return _numbers({"before": "1*0 + 0*1", "after_diag": "(1/2)**2 + (-1/2)**2",
                     "after_off": "(1/2)*(-1/2) + (-1/2)*(1/2)"}, "after_off/after_diag == -1",
                    "before - after_off/after_diag > 0")
