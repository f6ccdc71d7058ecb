"""Building blocks of the oversmoothing derivations: the parameters, the entries of G for each pattern, lemma shapes.

The entries of G are written from O1 (`oversmoothing_moments`) with the pattern's own row sums counted out, never in a
simplified form: what simplifies is the business of the lemmas.
"""

from __future__ import annotations

from collections.abc import Mapping

from theory.statements import Lemma, Parameter

TOKENS = Parameter("T", minimum="2", integer=True)
RHO = Parameter("rho", minimum="0", maximum="1", open_max=True)
G = Parameter("g", minimum="0")
G0 = Parameter("g0", minimum="0")
T0 = Parameter("t0", minimum="0")
TAU = Parameter("tau")
PHI = Parameter("phi", minimum="0")
MODEL = (TOKENS, RHO, G, T0, TAU, PHI)

DRIFT = {"drift": "2*tau + phi", "total": "t0 + drift"}
MEAN_ENERGY = {"mean_energy": "rho*g + (1 - rho)*total/T"}

# total = tr(R(1+V)ᵀM(1+V)) is an energy (oversmoothing_moments.drift_is_an_energy_difference)
ENERGY = {"energy": "total >= 0"}
# both summands are nonnegative in every model, so this excludes (ρg, D) = (0, −t0) and nothing else; where it is
# assumed, `energy` itself is not needed
NONDEGENERATE = {"nondegenerate": "rho*g + total > 0"}


def gram_entries(name: str, own: str, other: str, row_square: str, row_product: str) -> dict[str, str]:
    """Definitions `name_diag`, `name_off` of G_ii and G_ij from a_ii, a_ij, (AAᵀ)_ii, (AAᵀ)_ij."""
    return {
        f"{name}_diag": f"rho*g + (1 - rho)*(t0 + 2*({own})*tau + ({row_square})*phi)",
        f"{name}_off": f"rho*g + (1 - rho)*(2*({other})*tau + ({row_product})*phi)",
    }


def two_valued(name: str, own: str, other: str) -> dict[str, str]:
    """G for an attention with a_ii = own and a_ij = other for all j≠i, so own + (T−1)·other = 1."""
    a, b = f"{name}_own", f"{name}_other"
    return {a: own, b: other} | gram_entries(name, a, b, f"{a}**2 + (T - 1)*{b}**2", f"2*{a}*{b} + (T - 2)*{b}**2")


def mixed(name: str, t: str) -> dict[str, str]:
    """G for A_t = (1−t)I + t·11ᵀ/T."""
    return two_valued(name, f"1 - ({t}) + ({t})/T", f"({t})/T")


def uniform(name: str = "uniform") -> dict[str, str]:
    return two_valued(name, "1/T", "1/T")


def diagonal(name: str = "diagonal") -> dict[str, str]:
    return two_valued(name, "1", "0")


def cosine(name: str) -> str:
    """The moment cosine of a pattern whose diagonal entries of G are equal: G_ij/√(G_ii·G_jj) = G_ij/G_ii."""
    return f"{name}_off/{name}_diag"


def identity(left: str, right: str, multipliers: Mapping[str, str] | None = None) -> Lemma:
    return Lemma(f"{left} == {right}", "identity", multipliers=multipliers or {})


def orthant(formula: str) -> Lemma:
    return Lemma(formula, "orthant")


def by_terms(formula: str, *products: tuple[str, ...], multipliers: Mapping[str, str] | None = None) -> Lemma:
    """`formula` because left − right is the sum of these products, each with coefficient 1."""
    return Lemma(formula, "terms", terms=tuple(("1", factors) for factors in products), multipliers=multipliers or {})


def inverse(positive: str) -> Lemma:
    """1/x > 0 for an x known to be > 0: it is x·(1/x)²."""
    return by_terms(f"1/({positive}) > 0", (positive, f"(1/({positive}))**2"))


def same_sign(left: str, right: str, factor: str) -> Lemma:
    return Lemma(f"sign({left}) == sign({right})", "factor", factor=factor)


SIZE_LEMMAS = (orthant("1/T > 0"), orthant("T - 1 > 0"), orthant("rho*g >= 0"))

# T·m = (1−ρ)(ρg + total) + (T−1+ρ)ρg: the energy of the token mean is positive outside the degenerate case
MEAN_ENERGY_POSITIVE = by_terms("mean_energy > 0", ("1 - rho", "rho*g + total", "1/T"), ("T - 1", "rho*g", "1/T"),
                                ("rho", "rho*g", "1/T"))


def difference_factor(left: str, right: str) -> str:
    """(1−ρ)·m/(G_ii·G_ii'): what every difference of two moment cosines on the mix path carries."""
    return f"(1 - rho)*mean_energy/{left}_diag/{right}_diag"


def difference_factor_positive(left: str, right: str) -> Lemma:
    return by_terms(f"{difference_factor(left, right)} > 0",
                    ("1 - rho", "mean_energy", f"1/({left}_diag)", f"1/({right}_diag)"))
