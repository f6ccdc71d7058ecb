"""Derivations for G5 and G6: rational functions of named parameters, with reasons that the kernel checks."""

from __future__ import annotations

from theory.statements import Derivation, Lemma, Parameter

EPSILON = Parameter("eps", "0", "1", open_min=True, open_max=True)


def more_is_not_needed() -> Derivation:
    """Two competitors with e^-m = 2l/3 and l/3, l = eps/(1 - eps): mass 1 - eps, a margin below L + log 2."""
    return Derivation(
        parameters=(EPSILON,), definitions={"l": "eps / (1 - eps)"}, assumptions={},
        lemmas=(Lemma("1 / (1 + 2 * l / 3 + l / 3) == 1 - eps", by="identity"),
                Lemma("2 * l / 3 > l / 2", by="orthant")),
        conclusions=("1 / (1 + 2 * l / 3 + l / 3) == 1 - eps", "2 * l / 3 > l / 2"),
    )


def enough_for_the_mass() -> Derivation:
    """The bound 1/(1 + n e^-m) at m = L + log n, where e^-m = eps/((1 - eps) n)."""
    statement = "1 / (1 + n * t) == 1 - eps"
    return Derivation(
        parameters=(EPSILON, Parameter("n", "1", integer=True)), definitions={"t": "eps / ((1 - eps) * n)"},
        assumptions={}, lemmas=(Lemma(statement, by="identity"),), conclusions=(statement,),
    )


def rotated_margin(sink_score: str) -> Derivation:
    """G6 for one query and one key: angles by the tangents u of their halves, cos = (1 - u^2)/(1 + u^2).

    u_s belongs to the sink, u_j to the key, u_n to the largest angle allowed.  A sink score of known sign has
    its cosine on the favourable side of the key's: u_s <= u_j for sigma >= 0, u_j <= u_s for sigma <= 0.
    """
    favoured = sink_score == "positive"
    low, high = ("u_s", "u_j") if favoured else ("u_j", "u_s")
    square = "((1 + u_s ** 2) * (1 + u_j ** 2))"
    lead = "c_s - c_j >= 0" if favoured else "c_j - c_s >= 0"
    conclusion = "kappa * a * (c_s * sigma - c_j * tau) >= kappa * alpha * mu * c_n"
    return Derivation(
        parameters=(
            Parameter("kappa", "0", open_min=True), Parameter("a", "0"),
            Parameter("alpha", "0", open_min=True),
            Parameter("mu", "0", open_min=True),
            Parameter("sigma", "0") if favoured else Parameter("sigma", None, "0"), Parameter("tau"),
            Parameter("u_s", "0"), Parameter("u_j", "0"), Parameter("u_n", "0", "1", open_max=True),
        ),
        definitions={name: f"(1 - {u} ** 2) / (1 + {u} ** 2)" for name, u in
                     (("c_s", "u_s"), ("c_j", "u_j"), ("c_n", "u_n"))},
        assumptions={"query": "a >= alpha", "key": "sigma - tau >= mu", "order": f"{high} >= {low}",
                     "largest angle": f"u_n >= {high}"},
        lemmas=(
            Lemma(lead, by="terms", terms=(("2", (f"{high} - {low}", f"{high} + {low}", f"1 / {square}")),)),
            Lemma("u_n - u_j >= 0", by="terms", terms=(("1", ("u_n - u_j",)),) if favoured else
                  (("1", ("u_n - u_s",)), ("1", ("u_s - u_j",)))),
            Lemma("c_j - c_n >= 0", by="terms",
                  terms=(("2", ("u_n - u_j", "u_n + u_j", "1 / ((1 + u_n ** 2) * (1 + u_j ** 2))")),)),
            Lemma("c_n > 0", by="orthant"),
            Lemma("c_j > 0", by="terms", terms=(("1", ("c_j - c_n",)), ("1", ("c_n",)))),
            Lemma(conclusion, by="terms", terms=(
                ("1", ("kappa", "a", *(("c_s - c_j", "sigma") if favoured else ("c_j - c_s", "-sigma")))),
                ("1", ("kappa", "a", "c_j", "sigma - tau - mu")),
                ("1", ("kappa", "a", "mu", "c_j - c_n")),
                ("1", ("kappa", "mu", "c_n", "a - alpha")),
            )),
        ),
        conclusions=(conclusion,),
    )
