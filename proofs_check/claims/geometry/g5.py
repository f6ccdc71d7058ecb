"""G5: from margins to attention mass and back, without the logarithms: e^-margin is a positive number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from numerics.attention import softmax_attention
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.geometry.derivations import enough_for_the_mass, more_is_not_needed
from proofs_check.engines.derivations import symbolic_part

# z_s = e^(logit of the sink), z_j = e^(logit of key j): the margin m_j = l_s - l_j is -log(z_j/z_s), and
# every tuple of positive numbers comes from logits.  So the statements below are about margins, with t = e^-m
# and e^-L = eps/(1 - eps).
DEFINITIONS = {"mass": "zs / (zs + sum(z))", "ratios": "[weight / zs for weight in z]"}
SINK = Hypothesis("sink positive", "z_s > 0", "zs > 0")
KEYS = Hypothesis("keys positive", "z_j > 0", "all(weight > 0 for weight in z)")
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def needed(item: Hypothesis, counterexample: Instance) -> Hypothesis:
    return Hypothesis(item.name, item.text, item.formula, counterexample)


def bound_instance(zs: object, z: list, t: object) -> Instance:
    return Instance({"zs": zs, "z": z, "t": t})


def mass_instance(zs: object, z: list, eps: object) -> Instance:
    return Instance({"zs": zs, "z": z, "eps": eps})


def weights(seed: int) -> Iterator[tuple[object, list]]:
    """(z_s, z): no key, one, ties, many; integers, fractions, float64 values of exp."""
    yield from ((1, []), (1, [1]), (Fraction(2, 3), [Fraction(1, 5)]), (3, [1, 1, 1]), (1, [1, 1, HALF]))
    rng = np.random.default_rng(seed)
    for case in range(50):
        size = int(rng.integers(1, 8))
        if case % 3 == 2:
            yield float(np.exp(rng.normal())), np.exp(2 * rng.normal(size=size)).tolist()
        else:
            z = [Fraction(int(top), int(bottom)) for top, bottom in rng.integers(1, 9, size=(size, 2))]
            yield int(rng.integers(1, 9)), ([z[0]] * size if case % 5 == 0 else z)


def largest_ratio(zs: object, z: list) -> Fraction:
    return max((Fraction(weight) / Fraction(zs) for weight in z), default=Fraction(1))


def missing_mass(zs: object, z: list) -> Fraction:
    total = sum(map(Fraction, z), Fraction(0))
    return total / (Fraction(zs) + total)


def bound_family(seed: int) -> Iterator[Instance]:
    """The tight t = max z_j/z_s, and looser ones."""
    for index, (zs, z) in enumerate(weights(seed)):
        yield bound_instance(zs, z, largest_ratio(zs, z) * (1 if index % 2 else Fraction(5, 4)))


def mass_family(seed: int) -> Iterator[Instance]:
    """eps at the missing mass, above it, and well below 1."""
    for index, (zs, z) in enumerate(weights(seed)):
        missing = missing_mass(zs, z)
        yield mass_instance(zs, z, missing if index % 2 else (1 + missing) / 2)


def any_mass_family(seed: int) -> Iterator[Instance]:
    """The same, and masses that are too small."""
    for index, instance in enumerate(mass_family(seed)):
        values = instance.values
        yield instance if index % 3 else mass_instance(values["zs"], values["z"], values["eps"] / 2)


def positive_numbers() -> st.SearchStrategy[Fraction]:
    return st.builds(Fraction, st.integers(1, 40), st.integers(1, 12))


@st.composite
def drawn_bound(draw: st.DrawFn) -> Instance:
    zs, z = draw(positive_numbers()), draw(st.lists(positive_numbers(), max_size=6))
    return bound_instance(zs, z, largest_ratio(zs, z) + draw(st.sampled_from((0, HALF, 3))))


@st.composite
def drawn_mass(draw: st.DrawFn) -> Instance:
    """eps from the missing mass up, below one."""
    zs, z = draw(positive_numbers()), draw(st.lists(positive_numbers(), max_size=6))
    missing = missing_mass(zs, z)
    part = draw(st.sampled_from((Fraction(0), HALF, Fraction(1, 8))))
    return mass_instance(zs, z, missing + (1 - missing) * part)


@st.composite
def drawn_any_mass(draw: st.DrawFn) -> Instance:
    zs, z = draw(positive_numbers()), draw(st.lists(positive_numbers(), max_size=6))
    return mass_instance(zs, z, draw(st.integers(-4, 11).map(lambda n: Fraction(n, 12))))


def float_mass(values: Mapping[str, object]) -> float:
    """The sink's mass by softmax of the logits, at the temperature 1."""
    logits = np.log(np.concatenate([[values["zs"]], values["z"]]))
    return float(softmax_attention(logits[None, :])[0, 0])


def bound_slack(values: Mapping[str, object]) -> float:
    return float_mass(values) - 1 / (1 + len(values["z"]) * values["t"])


def iff_slack(values: Mapping[str, object]) -> float:
    """Both sides as slacks: their product is positive when they agree."""
    first = float_mass(values) - (1 - values["eps"])
    ratios = np.sum(values["z"]) / values["zs"]
    return first * float(values["eps"] / (1 - values["eps"]) - ratios)


def margin_slack(values: Mapping[str, object]) -> float:
    """min_j m_j - L on logits: the margin itself, not its exponential."""
    if len(values["z"]) == 0:
        return 1.0
    margins = np.log(values["zs"]) - np.log(values["z"])
    return float(margins.min() - np.log((1 - values["eps"]) / values["eps"]))


BOUND = Part(
    name="bound and equality",
    text="If each of the n other keys has margin at least m, z_j/z_s <= t = e^-m, the sink's mass is at "
         "least 1/(1 + n e^-m), with equality if and only if all n margins equal m.",
    variables={"zs": "scalar", "z": "vector", "t": "scalar"},
    definitions={**DEFINITIONS, "bound": "1 / (1 + len(z) * t)"},
    hypotheses=(needed(SINK, bound_instance(-1, [2], 0)), needed(KEYS, bound_instance(1, [-2], 0)),
                Hypothesis("margins", "z_j/z_s <= t", "all(ratio <= t for ratio in ratios)",
                           bound_instance(1, [2], 1))),
    conclusions=("mass >= bound", "iff(mass == bound, all(ratio == t for ratio in ratios))"),
    attainment="mass == bound", satisfiable=bound_instance(1, [HALF, THIRD], 1),
    attained=bound_instance(1, [1, 1], 1),
    instances=bound_family, strategy=drawn_bound, numeric=bound_slack,
)

MASS = Part(
    name="mass, iff",
    text="The sink has mass at least 1 - eps if and only if the e^-m_j sum to at most eps/(1 - eps) = e^-L.",
    variables={"zs": "scalar", "z": "vector", "eps": "scalar"}, definitions=DEFINITIONS,
    hypotheses=(needed(SINK, mass_instance(-1, [2], HALF)), needed(KEYS, mass_instance(1, [-2], HALF)),
                Hypothesis("eps below one", "eps < 1", "eps < 1", mass_instance(1, [1], 2))),
    conclusions=("iff(mass >= 1 - eps, sum(ratios) <= eps / (1 - eps))",),
    satisfiable=mass_instance(1, [1], HALF), instances=any_mass_family, strategy=drawn_any_mass,
    numeric=iff_slack,
)

EACH = Part(
    name="mass gives each margin",
    text="Mass at least 1 - eps gives each single margin at least L: e^-m_j <= eps/(1 - eps).",
    variables=MASS.variables, definitions=DEFINITIONS,
    hypotheses=(needed(SINK, mass_instance(-4, [1, 1], -1)),
                needed(KEYS, mass_instance(1, [2, Fraction(-3, 2)], HALF)),
                Hypothesis("eps below one", "eps < 1", "eps < 1", mass_instance(1, [1], 2)),
                Hypothesis("mass", "the sink's mass is at least 1 - eps", "mass >= 1 - eps",
                           mass_instance(1, [2], HALF))),
    conclusions=("all(ratio <= eps / (1 - eps) for ratio in ratios)",),
    attainment="max(ratios) == eps / (1 - eps)", satisfiable=mass_instance(1, [THIRD, HALF], HALF),
    attained=mass_instance(1, [1], HALF), instances=mass_family, strategy=drawn_mass, numeric=margin_slack,
)

NOT_MORE = symbolic_part(
    more_is_not_needed, "not L + log n",
    "Margins of L + log n do not follow: for every eps two other keys with e^-m = 2l/3 and l/3, l = e^-L, "
    "leave the sink the mass 1 - eps exactly, and the first margin is below L + log 2.",
    satisfiable=Instance({"eps": THIRD}))

ENOUGH = symbolic_part(
    enough_for_the_mass, "L + log n is enough",
    "Margins of at least L + log n are enough for mass 1 - eps: there the bound 1/(1 + n e^-m) is 1 - eps "
    "exactly.",
    satisfiable=Instance({"eps": THIRD, "n": 2}))

VARIANTS = (
    EACH.vary("L + log n", "trap", "Mass at least 1 - eps gives each margin at least L + log n.",
              mass_instance(1, [Fraction(3, 4), Fraction(1, 4)], HALF),
              conclusions=("all(ratio <= eps / ((1 - eps) * len(z)) for ratio in ratios)",)),
    EACH.vary("margins of L give the mass", "wrong converse",
              "Margins of at least L give mass at least 1 - eps.",
              mass_instance(1, [1, 1], HALF),
              hypotheses=(*EACH.hypotheses[:3],
                          Hypothesis("margins", "each margin is at least L",
                                     "all(ratio <= eps / (1 - eps) for ratio in ratios)")),
              conclusions=("mass >= 1 - eps",)),
    BOUND.vary("one key fewer", "T for T-1", "Mass at least 1/(1 + (n - 1) e^-m).", bound_instance(1, [1], 1),
               conclusions=("mass >= 1 / (1 + (len(z) - 1) * t)",)),
    BOUND.vary("always strict", "strict for non-strict", "Mass above 1/(1 + n e^-m).",
               bound_instance(1, [1], 1),
               conclusions=("mass > bound",)),
    BOUND.vary("at most", "flip inequality", "Mass at most 1/(1 + n e^-m).", bound_instance(1, [HALF], 1),
               conclusions=("mass <= bound",)),
    BOUND.vary("one tight margin", "wrong converse", "Equality as soon as one margin equals m.",
               bound_instance(1, [1, HALF], 1),
               conclusions=("iff(mass == bound, any(ratio == t for ratio in ratios))",)),
    BOUND.vary("one percent more", "constant moved", "Mass at least 1.01/(1 + n e^-m).",
               bound_instance(1, [1], 1),
               conclusions=("mass >= 101 * bound / 100",)),
    MASS.vary("largest instead of sum", "wrong converse",
              "Mass at least 1 - eps if and only if the largest e^-m_j is at most eps/(1 - eps).",
              mass_instance(1, [1, 1], HALF),
              conclusions=("iff(mass >= 1 - eps, max(ratios) <= eps / (1 - eps))",)),
)

CLAIM = Claim(
    id="G5", title="Margins and attention mass", family="geometry",
    statement="Margin at least m against the n other keys that a row sees: a_is >= 1/(1 + n e^-m), with "
              "equality iff all n margins equal m. Mass at least 1 - eps gives each margin at least L = "
              "log((1 - eps)/eps), not L + log n.",
    parts=(BOUND, MASS, EACH, NOT_MORE, ENOUGH), variants=VARIANTS,
    scope_notes=("Softmax over the keys that the row sees, with finite logits; the scale kappa belongs to "
                 "the margins.",),
)
