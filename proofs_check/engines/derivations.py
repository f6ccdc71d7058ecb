"""Symbolic derivations from `theory`, handed to the kernel as lemmas with reasons."""

from __future__ import annotations

from fractions import Fraction

from proofs_check.certificates import certificate
from proofs_check.claim import Claim, Hypothesis, Part
from proofs_check.engines.gathering import Context, Gathered


def derivations(claim: Claim, context: Context) -> Gathered:
    """A certificate for every part that has a derivation or the splits of a ball cover."""
    found = Gathered()
    for part in claim.parts:
        if part.derivation is not None:
            found.certificates.append(certificate(claim, part.name, "evidence", "derivation", "derivation",
                                                  {"lemmas": [lemma_table(item) for item in part.derivation().lemmas]}))
        if part.splits is not None:
            found.certificates.append(certificate(claim, part.name, "evidence", "cover", "cover",
                                                  {"splits": list(part.splits())}))
    return found


def lemma_table(lemma) -> dict:
    table = {"formula": lemma.formula, "by": lemma.by}
    if lemma.terms:
        table["terms"] = [[_rational(weight), list(factors)] for weight, factors in lemma.terms]
    if lemma.factor is not None:
        table["factor"] = lemma.factor
    if lemma.multipliers:
        table["multipliers"] = dict(lemma.multipliers)
    return table


def _rational(text: str) -> list[str]:
    value = Fraction(text)
    return [str(value.numerator), str(value.denominator)]


def symbolic_part(derivation, name: str, text: str, **extra) -> Part:
    """A part whose statement is a derivation's: its parameters, definitions, assumptions and conclusions."""
    counterexamples = extra.pop("counterexamples", {})
    result = derivation()
    parameters = []
    for item in result.parameters:
        table = {"name": item.name}
        table.update({key: _rational(value) for key, value in (("minimum", item.minimum), ("maximum", item.maximum))
                      if value is not None})
        table.update({flag: "true" for flag in ("open_min", "open_max", "integer") if getattr(item, flag)})
        parameters.append(table)
    return Part(name=name, text=text, parameters=tuple(parameters), definitions=dict(result.definitions),
                hypotheses=tuple(Hypothesis(key, key, formula, counterexamples.get(key))
                                 for key, formula in result.assumptions.items()),
                conclusions=tuple(result.conclusions), derivation=derivation, **extra)
