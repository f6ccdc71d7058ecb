"""S2: how the output of a head at row i responds to token j, ∂o_i/∂x_j, as identities between rational
functions.

With e_k = exp(ℓ_ik) > 0 and S = Σ_k e_k the output o = Σ_k e_k v_k / S is rational in the e_k, and the only
analytic facts used are the chain rule and d e^ℓ = e^ℓ dℓ. What is left is algebra, and it is handed over
twice:

* entry by entry for *every* number of tokens and every dimension: the keys that do not take part enter only
  through sums (`rest` = Σ e_k, `rest_v` = Σ e_k v_kc, ...), which are free parameters;
* for small symbolic sizes in full, with sympy's own derivative of the softmax on one side.

Row i is fixed throughout, so its logits' weights W_ik may depend on k: with W_ik = W_Qᵀ R_{(p_k−p_i)θ} W_K
the entrywise statements are those of RoPE.
"""

from __future__ import annotations

import sympy

from theory.statements import Derivation, Lemma, Parameter, above, text


def _derivation(parameters: tuple[Parameter, ...], definitions: dict[str, str],
                *identities: str) -> Derivation:
    """Identities only: each is its own lemma and a conclusion."""
    return Derivation(parameters, definitions, {}, tuple(Lemma(item, "identity") for item in identities),
                      identities)


def _free(*names: str) -> tuple[Parameter, ...]:
    return tuple(Parameter(name) for name in names)


def softmax_rule() -> Derivation:
    """∂a_k/∂ℓ_m = a_k(δ_km − a_m), without a limit: what scaling e_m by r > 0 does to a_k, up to second order
    in r − 1.

    A change of ℓ_m by h scales e_m by r = e^h = 1 + h + O(h²), so the coefficient of r − 1 is the derivative.
    `e_k`, `e_m` are two weights before normalisation and `rest` is the sum of all others: any number of keys.
    """
    parameters = (above("e_k"), above("e_m"),
                  Parameter("rest", minimum="0"),
                  above("r"))
    definitions = {
        "total": "e_k + e_m + rest", "moved": "e_k + r*e_m + rest",
        "a_k": "e_k/total", "a_m": "e_m/total", "a_k_moved": "e_k/moved", "a_m_moved": "r*e_m/moved",
    }
    return _derivation(
        parameters, definitions,
        "a_k_moved - a_k == (r - 1)*a_k*(0 - a_m) + (r - 1)**2*a_k*a_m*e_m/moved",
        "a_m_moved - a_m == (r - 1)*a_m*(1 - a_m) - (r - 1)**2*a_m*(1 - a_m)*e_m/moved",
    )


def other_token() -> Derivation:
    """Entry (c, b) of ∂o_i/∂x_j for j ≠ i: a_ij[V_cb + κ(v_jc − o_c)·g_b], g = W_ijᵀx_i, for every T and d.

    Only key j reacts: ∂ℓ_ij/∂x_jb = κ·g_b and ∂v_jc/∂x_jb = V_cb.  The left side is the quotient rule for
    o_c = (e_j·v_jc + rest_v)/(e_j + rest).
    """
    parameters = (above("e_j"), above("rest"),
                  *_free("v_jc", "rest_v", "V_cb", "kappa", "g_b"))
    definitions = {
        "total": "e_j + rest", "a_j": "e_j/total", "o_c": "(e_j*v_jc + rest_v)/total",
        "d_e_j": "e_j*kappa*g_b",
        "quotient_rule": "(d_e_j*v_jc + e_j*V_cb)/total - (e_j*v_jc + rest_v)*d_e_j/total**2",
    }
    return _derivation(parameters, definitions, "quotient_rule == a_j*(V_cb + kappa*(v_jc - o_c)*g_b)")


def own_token() -> Derivation:
    """Entry (c, b) of ∂o_i/∂x_i: the formula of `other_token` with j = i, plus κ·Σ_k a_ik v_kc(s_kb − Σ_l
    a_il s_lb).

    Here s_k = W_ik x_k, so that ∂ℓ_ik/∂x_ib = κ·s_kb + δ_ik·κ·g_b. Keys other than i enter through the sums
    `rest` = Σ e_k, `rest_v` = Σ e_k v_kc, `rest_s` = Σ e_k s_kb, `rest_vs` = Σ e_k v_kc s_kb.
    """
    parameters = (above("e_i"), Parameter("rest", minimum="0"),
                  *_free("v_ic", "rest_v", "s_ib", "rest_s", "rest_vs", "V_cb", "kappa", "g_b"))
    definitions = {
        "total": "e_i + rest", "a_i": "e_i/total", "o_c": "(e_i*v_ic + rest_v)/total",
        "mean_s": "(e_i*s_ib + rest_s)/total", "mean_vs": "(e_i*v_ic*s_ib + rest_vs)/total",
        "d_total": "kappa*(e_i*s_ib + rest_s) + e_i*kappa*g_b",
        "d_top": "kappa*(e_i*v_ic*s_ib + rest_vs) + e_i*kappa*g_b*v_ic + e_i*V_cb",
        "quotient_rule": "d_top/total - (e_i*v_ic + rest_v)*d_total/total**2",
        "added": "kappa*(mean_vs - o_c*mean_s)",
    }
    return _derivation(parameters, definitions,
                       "quotient_rule == a_i*(V_cb + kappa*(v_ic - o_c)*g_b) + added")


def explicit_jacobian(tokens: int = 2, dim: int = 2) -> Derivation:
    """All entries of ∂o_i/∂x_j, i = 0, for symbolic tokens, W, V, κ: sympy's derivative against the closed
    form.

    For j = 0 the added term is κ(VΣWᵀ)_cb with Σ the attention-weighted covariance of the tokens. Sympy
    differentiates o_c = Σ_k e^{ℓ_k} v_kc / Σ_k e^{ℓ_k}; afterwards e^{ℓ_k} is replaced by the positive
    parameter e_k.
    """
    keys, axes = range(tokens), range(dim)
    x = [[sympy.Symbol(f"x_{k}{c}") for c in axes] for k in keys]
    w = [[sympy.Symbol(f"W_{b}{c}") for c in axes] for b in axes]
    v = [[sympy.Symbol(f"V_{b}{c}") for c in axes] for b in axes]
    kappa, e = sympy.Symbol("kappa"), [sympy.Symbol(f"e_{k}", positive=True) for k in keys]
    values = [[sum(v[c][b] * x[k][b] for b in axes) for c in axes] for k in keys]
    weights = [sympy.exp(kappa * sum(x[0][b] * w[b][c] * x[k][c] for b in axes for c in axes)) for k in keys]
    back = dict(zip(weights, e))

    total = sum(weights)
    definitions = {"total": text(sum(e))}
    definitions |= {f"a_{k}": f"e_{k}/total" for k in keys}
    definitions |= {f"v_{k}{c}": text(values[k][c]) for k in keys for c in axes}
    definitions |= {f"g_{b}": text(sum(w[k][b] * x[0][k] for k in axes)) for b in axes}
    definitions |= {f"o_{c}": " + ".join(f"a_{k}*v_{k}{c}" for k in keys) for c in axes}
    definitions |= {f"mean_{b}": " + ".join(f"a_{k}*x_{k}{b}" for k in keys) for b in axes}
    definitions |= {f"Sigma_{b}{c}": " + ".join(f"a_{k}*x_{k}{b}*x_{k}{c}"
                                                for k in keys) + f" - mean_{b}*mean_{c}"
                    for b in axes for c in axes}
    identities = []
    for c in axes:
        output = sum(weight * value[c] for weight, value in zip(weights, values)) / total
        for j in keys:
            for b in axes:
                derivative = sympy.diff(output, x[j][b]).xreplace(back)
                closed = f"a_{j}*(V_{c}{b} + kappa*(v_{j}{c} - o_{c})*g_{b})"
                if j == 0:
                    closed += " + kappa*(" + " + ".join(
                        f"V_{c}{m}*Sigma_{m}{n}*W_{b}{n}" for m in axes for n in axes) + ")"
                identities.append(f"{text(derivative)} == {closed}")
    names = [symbol.name for row in (*x, *w, *v) for symbol in row]
    parameters = (*(above(symbol.name) for symbol in e), *_free(*names, "kappa"))
    return _derivation(parameters, definitions, *identities)
