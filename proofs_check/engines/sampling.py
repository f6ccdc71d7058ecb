"""Independent trials: with none of n violating, the violation probability is bounded at a stated confidence."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from proofs_check.certificates import certificate
from proofs_check.claim import Claim
from proofs_check.engines.gathering import Context, Gathered
from proofs_check.verdict import Trouble

TRIALS = {"quick": 1000, "full": 10_000}
CONFIDENCE = Fraction(99, 100)
_RESOLUTION = 10**6


def sampling(claim: Claim, context: Context) -> Gathered:
    """One record per part with `sampled`: (1 - b)^n <= 1 - confidence for the bound b, or a suspect."""
    found = Gathered()
    for part in claim.parts:
        if part.sampled is None:
            continue
        trials, violations = part.sampled(context.seed, TRIALS[context.profile])
        if violations:
            found.troubles.append(
                Trouble(part.name, "suspect", f"part '{part.name}': {violations} of {trials} independent "
                                          "trials violate it in floating point"))
            continue
        bound = Fraction(ceil(_RESOLUTION * (1 - float(1 - CONFIDENCE) ** (1 / trials))) + 1, _RESOLUTION)
        found.certificates.append(certificate(claim, part.name, "evidence", "sampling", "sampling", {
            "trials": str(trials), "seed": str(context.seed),
            "probability_at_most": [str(bound.numerator), str(bound.denominator)],
            "confidence": [str(CONFIDENCE.numerator), str(CONFIDENCE.denominator)]}))
    return found
