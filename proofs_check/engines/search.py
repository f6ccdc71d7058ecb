"""Property-based search: hypothesis draws instances that satisfy the hypotheses by construction, and shrinks a hit."""

from __future__ import annotations

import hypothesis
from hypothesis import HealthCheck, Phase, settings

from proofs_check.certificates import certificate, instances_body
from proofs_check.claim import Claim, Instance, Part
from proofs_check.engines.agreement import compare_routes
from proofs_check.engines.gathering import Context, Gathered, examine_instance


class _Violation(Exception):
    """Carries the violating instance out of hypothesis; after shrinking, the last one raised is the smallest."""

    def __init__(self, instance: Instance):
        super().__init__("the conclusions fail")
        self.instance = instance


def search(claim: Claim, context: Context) -> Gathered:
    """One record per part with a strategy: nothing found in so many examples, or a counterexample."""
    found = Gathered()
    statements = {table["name"]: table for table in claim.document()["parts"]}
    for part in claim.parts:
        if part.strategy is None:
            continue
        instance, examples = find_violation(part, statements[part.name], context, found)
        if instance is not None:
            found.certificates.append(certificate(claim, part.name, "refuted", "counterexample", "search",
                                                  instances_body(part, [instance])))
        elif examples:
            found.certificates.append(certificate(claim, part.name, "evidence", "search", "search",
                                                  {"examples": str(examples), "seed": str(context.seed)}))
    return found


def find_violation(part: Part, statement: dict, context: Context, found: Gathered) -> tuple[Instance | None, int]:
    """(a shrunk violating instance or None, how many examples met the hypotheses)."""
    met, slacks = 0, []

    @hypothesis.seed(context.seed)
    @settings(max_examples=context.examples, deadline=None, database=None, print_blob=False,
              phases=(Phase.generate, Phase.shrink), suppress_health_check=list(HealthCheck),
              verbosity=hypothesis.Verbosity.quiet)
    @hypothesis.given(part.strategy())
    def probe(instance: Instance) -> None:
        nonlocal met
        meets, concludes = examine_instance(part, statement, instance, context.directory)
        hypothesis.assume(meets)
        met += 1
        compare_routes(part, instance, concludes, found, slacks)
        if not concludes:
            raise _Violation(instance)

    try:
        probe()
    except _Violation as violation:
        return violation.instance, met
    return None, met
