"""The generated table of notes/reading-guide.md: what a run demands of each claim, and the evidence its parts have."""

from __future__ import annotations

from proofs_check.claim import Claim, Part, formal_theorem

KINDS = ("formal", "derivation", "cover", "instances", "sampling", "search", "float")


def kinds(claim: Claim, part: Part) -> list[str]:
    """The kinds of evidence that the engines can gather for a part."""
    sources = {"formal": formal_theorem(claim.id, part.name), "derivation": part.derivation, "cover": part.splits,
               "instances": part.instances, "sampling": part.sampled, "search": part.strategy, "float": part.numeric}
    return [kind for kind in KINDS if sources[kind]]


def demands(claims: tuple[Claim, ...]) -> str:
    """One row per claim, in the order of the theory."""
    lines = ["| claim | with Rocq | without | evidence, by number of parts |", "|---|---|---|---|"]
    for claim in claims:
        found = [kind for part in claim.parts for kind in kinds(claim, part)]
        counts = ", ".join(f"{kind} {found.count(kind)}" for kind in KINDS if kind in found)
        lines.append(f"| [{claim.id}]({claim.id}.md) {claim.title} | {claim.required_formal} | {claim.required} "
                     f"| {counts} of {len(claim.parts)} |")
    return "\n".join(lines) + "\n"
