"""The ledger: that hypotheses can be met, that each is needed, that bounds are attained, and that neighbours fall."""

from __future__ import annotations

from proofs_check.certificates import certificate, instances_body
from proofs_check.claim import Claim
from proofs_check.engines.gathering import Context, Gathered


def ledger(claim: Claim, context: Context) -> Gathered:
    """Certificates for every instance that the claim's parts and variants name."""
    found = Gathered()

    def add(part, role: str, kind: str, instance, subject: str = "") -> None:
        body = instances_body(part, [instance])
        found.certificates.append(certificate(claim, part.name, role, kind, "ledger", body, subject))

    for part in claim.parts:
        if part.satisfiable is not None:
            add(part, "satisfiable", "instances", part.satisfiable)
        if part.attained is not None:
            add(part, "attained", "instances", part.attained)
        for subject, counterexample in part.subjects().items():
            if counterexample is not None:
                add(part, "dropped", "counterexample", counterexample, subject)
    for variant in claim.variants:
        add(variant.part, "refuted", "counterexample", variant.counterexample)
    return found
