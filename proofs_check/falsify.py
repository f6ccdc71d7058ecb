"""Search for a counterexample to a claim, or to a claim without one of its hypotheses; shrink it, replay it, keep it.

Arms, in this order (see `arms.py`): counterexamples saved by earlier runs; constructed instances (built in, drawn by
hypothesis, put together variable by variable) and their generic changes, repaired and pushed past what is dropped; an
optimiser on the slack; independent samples, which alone carry a probability bound.  Nothing is reported as refuted that
the kernel has not replayed.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from pathlib import Path

from proofs_check.arms import Attack, Run
from proofs_check.certificates import whole_directory, write_claim
from proofs_check.claim import Claim, Part
from proofs_check.kernel import digest, read_json
from proofs_check.kernel.encoding import Rejected

CONFIDENCE = Fraction(95, 100)


def targets(claim: Claim, drop: str | None = None, part: str | None = None) -> list[tuple[Part, str]]:
    """(part, dropped hypothesis or "") to attack; ValueError names what there is when a name is unknown."""
    parts = [item for item in claim.parts if part in (None, item.name)]
    if not parts:
        raise ValueError(f"expected a part of {claim.id}, got {part!r}; its parts are "
                         f"{_listed(item.name for item in claim.parts)}")
    parts = [item for item in parts if item.quantifier == "forall" and "cloud" not in item.variables.values()]
    if drop is None:
        return [(item, "") for item in parts]
    found = [(item, drop) for item in parts if drop in item.subjects()]
    if not found:
        known = dict.fromkeys(name for item in parts for name in item.subjects())
        raise ValueError(f"expected a hypothesis of {claim.id} to drop, got {drop!r}; choose from {_listed(known)}")
    return found


def _listed(names) -> str:
    return ", ".join(repr(name) for name in names) or "none"


def attack(claim: Claim, part: Part, subject: str, budget: int, seed: int = 0, saved: Sequence[dict] = ()) -> Attack:
    """Run the arms until one hits; raises ValueError for a budget below 1."""
    if budget < 1:
        raise ValueError(f"expected a budget of at least 1 instance, got {budget}; give a positive number")
    run = Run(claim, part, subject, seed)
    some = max(budget // 4, 1)
    samples = max(some // 4, 1) if subject else some  # a bound is for the claim itself
    hit = (run.saved(saved) or run.built_in(budget) or run.searched(budget) or run.assembled(some)
           or run.changed(budget) or run.descended(some) or run.sampled(samples))
    if hit is not None:
        return hit
    bound = None
    if run.samples:
        bound = 1.0 - float(1 - CONFIDENCE) ** (1.0 / run.samples)
        bound = ceil(bound * 1e6) / 1e6
    if run.margin is not None:
        return run.attack("suspect", "optimiser", bound=bound)
    return run.attack("nothing found", "", bound=bound)


def counterexamples(out: Path, claim: str) -> Path:
    """Where the counterexamples of a claim are kept in an output directory."""
    return out / "counterexamples" / claim


def read_saved(directory: Path) -> list[dict]:
    """Certificates of counterexamples kept in a claim's folder; what cannot be read is passed over."""
    found = []
    for path in sorted(directory.glob("cert-*.json")):
        try:
            found.append(read_json(path))
        except Rejected:
            continue
    return found


def save(claim: Claim, attacks: Sequence[Attack], directory: Path) -> list[str]:
    """Put the new counterexamples beside the old ones of the same statement; returns the file names."""
    now = digest(claim.document())
    items = {(item["target"], item["subject"]): item for item in read_saved(directory)
             if item.get("claim_digest") == now}
    items.update({(item.part, item.subject): item.certificate for item in attacks if item.certificate is not None})
    if not items:
        return []
    with whole_directory(directory) as fresh:
        return write_claim(fresh, claim, list(items.values()))
