"""O7: block-uniform attention, the mean off-diagonal moment cosine as blocks get denser.

A token in a block of size k has a_ii = a_ij = (AAᵀ)_ii = (AAᵀ)_ij = 1/k inside the block and 0 across, so
G_ii = h(k) = ρg + (1−ρ)(t0 + D/k), G_ij = ρg + (1−ρ)D/k inside and ρg across.
"""

from __future__ import annotations

from theory.oversmoothing_lemmas import (
    DRIFT, G, MEAN_ENERGY, MEAN_ENERGY_POSITIVE, NONDEGENERATE, PHI, RHO, SIZE_LEMMAS, T0, TAU, by_terms,
    gram_entries, identity, inverse, orthant, same_sign)
from theory.statements import Derivation, Parameter


def _block(name: str, size: str) -> dict[str, str]:
    return gram_entries(name, f"1/({size})", f"1/({size})", f"1/({size})", f"1/({size})")


def _equal_mean(name: str, size: str) -> str:
    """The mean over j≠i: k−1 partners inside the block, T−k across."""
    return f"(({size} - 1)*{name}_off + (T - {size})*rho*g)/((T - 1)*{name}_diag)"


def equal_blocks() -> Derivation:
    """O7: for equal blocks the mean off-diagonal cosine rises with the block size iff D > 0, falls iff D < 0.

    Compared are sizes k >= 1 and k + e, e >= 1, with T = k + e + rest tokens.  Nothing needs k | T beyond
    the formula for the mean, so the lemma holds for real sizes too.
    """
    sizes = (Parameter("k", minimum="1", integer=True), Parameter("e", minimum="1", integer=True),
             Parameter("rest", minimum="0", integer=True))
    large = "(k + e)"
    gap = f"{_equal_mean('large', large)} - {_equal_mean('small', 'k')}"
    factor = f"(1 - rho)*T*mean_energy*e/(k*{large}*(T - 1)*small_diag*large_diag)"

    def positive(name: str, size: str):  # h(k) = (1−ρ)(ρg + total)/k + ρg(1 − (1−ρ)/k) + (1−ρ)t0(1 − 1/k)
        return by_terms(f"{name}_diag > 0", ("1 - rho", "rho*g + total", f"1/{size}"),
                        ("rho*g", f"1 - (1 - rho)/{size}"), ("1 - rho", "t0", f"({size} - 1)/{size}"))

    conclusions = (identity(gap, f"{factor}*drift"), same_sign(gap, "drift", factor))
    lemmas = (
        *SIZE_LEMMAS, MEAN_ENERGY_POSITIVE, positive("small", "k"), positive("large", large), inverse("small_diag"),
        inverse("large_diag"), orthant(f"T*e/(k*{large}*(T - 1)) > 0"),
        by_terms(f"{factor} > 0", ("1 - rho", "mean_energy", f"T*e/(k*{large}*(T - 1))", "1/(small_diag)",
                                   "1/(large_diag)")),
        *conclusions,
    )
    definitions = {"T": "k + e + rest"} | DRIFT | MEAN_ENERGY | _block("small", "k") | _block("large", large)
    return Derivation((*sizes, RHO, G, T0, TAU, PHI), definitions, NONDEGENERATE, lemmas,
                      tuple(lemma.formula for lemma in conclusions))


# Merging and transfers.  Only three combinations of the statistics occur, so they are the parameters here:
# shared = ρg, noise = (1−ρ)t0, pull = (1−ρ)D, with sign(pull) = sign(D).
_SHARED = Parameter("shared", minimum="0")
_NOISE = Parameter("noise", minimum="0")
_PULL = Parameter("pull")
_ENERGY = {"energy": "noise + pull >= 0"}
_NONDEGENERATE = {"nondegenerate": "shared + noise + pull > 0"}


def _diag(size: str) -> str:
    return f"shared + noise + pull/({size})"


def _within(size: str) -> str:
    """Σ of the moment cosines over ordered pairs inside one block."""
    return f"({size})*(({size}) - 1)*(shared + pull/({size}))/({_diag(size)})"


def merging_blocks() -> Derivation:
    """O7: merging two blocks of any sizes a, b raises the mean off-diagonal cosine iff D > 0, lowers it iff D < 0.

    `w_x` = 1/√h(x), so that the cosine across blocks x, y is ρg·w_x·w_y; `others` = Σ k·w_k over the blocks left
    alone, which pair with the merged ones across.  `gain` is T(T−1) times the change of the mean.  The sign statement
    holds for D of both signs, because block sizes are at least 1.
    """
    sizes = {"a": "a", "b": "b", "m": "(a + b)"}
    parameters = (Parameter("a", minimum="1"), Parameter("b", minimum="1"), _SHARED, _NOISE, _PULL,
                  *(Parameter(f"w_{x}", minimum="0", open_min=True) for x in "abm"),
                  Parameter("others", minimum="0"))
    definitions = {f"h_{x}": _diag(size) for x, size in sizes.items()}
    gain = (f"{_within('a + b')} - {_within('a')} - {_within('b')}"
            " + shared*(2*others*((a + b)*w_m - a*w_a - b*w_b) - 2*a*b*w_a*w_b)")
    # (a+b)·w_m − a·w_a − b·w_b = pull·lift_root, and the block terms change by pull·(noise + pull)·lift_block
    # and shared·(...)², by partial fractions in h
    scale = "a*b/((a + b)*h_m)"
    lift_root = f"{scale}*(1/(a*h_a*(w_m + w_a)) + 1/(b*h_b*(w_m + w_b)))"
    lift_block = f"{scale}*(1/(a*h_a) + 1/(b*h_b))"
    weights = "((a + b)*w_m + a*w_a + b*w_b + 2*others)"
    x, y = f"{lift_root}*{weights}", lift_block
    factor = f"shared*{x} + (noise + pull)*{y}"

    def root(u: str) -> str:  # the equality assumptions enter w_m − w_u = (1/h_m − 1/h_u)/(w_m + w_u) this way
        return f"{u}*shared*{weights}/(w_m + w_{u})"

    multipliers = {
        "root_m": f"({root('a')} + {root('b')} - shared*(a + b)**2)/h_m",
        "root_a": f"(shared*a**2 - {root('a')})/h_a",
        "root_b": f"(shared*b**2 - {root('b')})/h_b",
    }
    positive = tuple(by_terms(f"h_{u} > 0", ("shared + noise + pull", f"1/{size}"),
                              ("shared + noise", f"({size} - 1)/{size}")) for u, size in sizes.items())
    roots = tuple(orthant(f"1/({u}*(w_m + w_{u})) > 0") for u in "ab")
    pieces = tuple(by_terms(f"1/({u}*h_{u}*(w_m + w_{u})) > 0", (f"1/({u}*(w_m + w_{u}))", f"1/(h_{u})")) for u in "ab")
    blocks = tuple(by_terms(f"1/({u}*h_{u}) > 0", (f"1/{u}", f"1/(h_{u})")) for u in "ab")
    lemmas = (
        orthant("shared + noise >= 0"), *positive, *(inverse(f"h_{u}") for u in sizes), *roots, *pieces, *blocks,
        by_terms(f"{scale} > 0", ("a*b/(a + b)", "1/(h_m)")),
        by_terms(f"{lift_root} > 0", (scale, "1/(a*h_a*(w_m + w_a))"), (scale, "1/(b*h_b*(w_m + w_b))")),
        by_terms(f"{x} > 0", (lift_root, weights)),
        by_terms(f"{y} > 0", (scale, "1/(a*h_a)"), (scale, "1/(b*h_b)")),
        by_terms(f"{x} + {y} > 0", (x,), (y,)),
        inverse(f"{x} + {y}"),
        # shared·X + (noise+pull)·Y > 0 although either weight may vanish: it is
        # [(shared+noise+pull)XY + shared·X² + (noise+pull)Y²]/(X+Y)
        by_terms(f"{factor} > 0", ("shared + noise + pull", x, y, f"1/({x} + {y})"),
                 ("shared", f"({x})**2", f"1/({x} + {y})"), ("noise + pull", f"({y})**2", f"1/({x} + {y})")),
        identity(gain, f"({factor})*pull", multipliers),
        same_sign(f"({factor})*pull", "pull", factor),
    )
    return Derivation(parameters, definitions,
                      _ENERGY | _NONDEGENERATE | {f"root_{u}": f"w_{u}**2*h_{u} == 1" for u in sizes}, lemmas,
                      (lemmas[-2].formula, lemmas[-1].formula))


def unequal_blocks_counterexample() -> Derivation:
    """O7's trap: with D < 0 and unequal blocks, larger blocks can raise the mean cosine.

    T = 4, V = −(I−uuᵀ), z ⊥ u (so t0 = g = 1, τ = −1, φ = 1, D = −1), ρ = ½: shared = noise = ½, pull = −½.  Block
    size 2 gives blocks (2, 2) and mean 5/9; block size 3 gives (3, 1) and ½(2/5 + √(3/5)), which is larger.  It is a
    transfer, not a merging.  `w` = √(3/5) = shared·w_3·w_1.
    """
    values = {"shared": "1/2", "noise": "1/2", "pull": "-1/2"}
    two = f"(2*({_within('2')}) + 2*4*shared/({_diag('2')}))/12"
    three = f"({_within('3')} + {_within('1')} + 2*3*w)/12"
    lemmas = (
        identity("w**2", f"shared**2/(({_diag('3')})*({_diag('1')}))", {"root": "1"}),
        identity(two, "5/9"),
        orthant("1/(w + 32/45) > 0"),
        # w − 32/45 = (w² − (32/45)²)/(w + 32/45) and 3/5 − (32/45)² = 191/2025
        by_terms("w - 32/45 > 0", ("191/2025", "1/(w + 32/45)"), multipliers={"root": "1/(w + 32/45)"}),
        by_terms(f"{three} - {two} > 0", ("1/2", "w - 32/45")),
    )
    return Derivation((Parameter("w", minimum="0"),), values, {"root": "w**2 == 3/5"}, lemmas,
                      (lemmas[0].formula, lemmas[-1].formula))


def transfer_between_blocks() -> Derivation:
    """O7 (Schur-convexity): at a fixed number of blocks, unequal sizes have the larger mean, for either sign of D.

    T(T−1) times the mean is F = ρg·(Σ S(k_b))² + Σ f(k_b) over the blocks, with S(k) = k/√h(k) > 0 and
    f(k) = within(k) − ρg·S(k)².  F is Schur-convex on sizes >= 1 because f and S are convex there: f by its second
    difference, S because N = S² = k³/l, l = k·h(k), has 2NN'' − N'² = 3·pull²·k⁴/l⁴ >= 0.  `slope` and `bend` are
    N' and N'': the remainder of the expansion to second order is e³ times a bounded quantity.
    """
    parameters = (Parameter("k", minimum="1"), Parameter("e", minimum="0"), _SHARED, _NOISE, _PULL)
    sizes = {"low": "k", "mid": "(k + e)", "high": "(k + 2*e)"}
    f = {x: f"{_within(size)} - shared*{size}**2/({_diag(size)})" for x, size in sizes.items()}
    second_difference = f"{f['high']} - 2*({f['mid']}) + {f['low']}"
    slope = "k**2*(2*l_low + pull)/l_low**2"
    bend = "2*k*(l_low**2 + l_low*pull + pull**2)/l_low**3"
    square = "k**3/l_low"
    positive = tuple(by_terms(f"l_{x} > 0", ("shared + noise + pull",), ("shared + noise", f"{size} - 1"))
                     for x, size in sizes.items())
    conclusions = (
        identity(second_difference, "2*e**2*pull**2*(noise + pull)/(l_low*l_mid*l_high)"),
        by_terms(f"{second_difference} >= 0", ("2*e**2", "pull**2", "noise + pull", "1/(l_low)", "1/(l_mid)",
                                               "1/(l_high)")),
        identity(f"(k + e)**3/l_mid - {square} - e*{slope} - e**2*{bend}/2", "e**3*pull**3/(l_low**3*l_mid)"),
        identity(f"2*({square})*({bend}) - ({slope})**2", "3*pull**2*k**4/l_low**4"),
    )
    lemmas = (orthant("shared + noise >= 0"), *positive, *(inverse(f"l_{x}") for x in sizes), *conclusions)
    return Derivation(parameters, {f"l_{x}": f"{size}*(shared + noise) + pull" for x, size in sizes.items()},
                      _ENERGY | _NONDEGENERATE, lemmas, tuple(lemma.formula for lemma in conclusions))
