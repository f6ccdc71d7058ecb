"""Derived parts of family O: what the assumptions of its derivations mean, and statistics that some model has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from proofs_check.claim import Part
from proofs_check.claims import derived as shared
from proofs_check.claims.building import Choose

#: what the assumptions of the derivations mean in the model
WORDS = {
    "nondegenerate": "rho g + t0 + D > 0: both are >= 0 in every model, so this excludes (rho g, D) = (0, -t0), where "
                     "the diagonal's output is 0",
    "energy": "t0 + D >= 0: it is the energy tr R(1+V)^T M(1+V)",
    "energy_t": "t0 + 2(1-t) tau + (1-t)^2 phi >= 0: it is an energy, tr R(1+cV)^T M(1+cV) at c = 1-t",
    "energy_s": "the same energy at s",
    "root_a": "w_a = 1/sqrt(h(a)), the scale of a token in a block of size a",
    "root_b": "w_b = 1/sqrt(h(b))",
    "root_m": "w_m = 1/sqrt(h(a+b))",
    "pair": "‖(x_1 + w) + (x_2 + w)‖^2 >= 0",
}


def derived(recipe: Callable, name: str, text: str, *, words: Mapping[str, str] | None = None, **extra: object) -> Part:
    """`claims.derived.derived`, with this family's words for the assumptions."""
    return shared.derived(recipe, name, text, words={**WORDS, **(words or {})}, **extra)


def statistics(choose: Choose) -> dict[str, Fraction]:
    """(rho, g, t0, tau, phi) that some model has: tau^2 <= t0 phi, outside the degenerate case."""
    root_t0, root_phi = (Fraction(choose(low, 6), choose(1, 4)) for low in (1, 0))
    tau = root_t0 * root_phi * Fraction(choose(-6, 6), 7)  # so that 1 + cV never kills z
    return {"rho": Fraction(choose(0, 9), 10), "g": Fraction(choose(0, 8), 3), "t0": root_t0**2, "tau": tau,
            "phi": root_phi**2}
