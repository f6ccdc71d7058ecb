"""Parts about a user's rows of floats: where the rows go, two-sided distances with their witnesses, and the replay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from numerics.hull import MinNormPoint
from proofs_check.certificates import certificate, instances_body, write_claim
from proofs_check.claim import Claim, Instance
from proofs_check.kernel import replay_files

# How far the stated bounds stay outside the solver's, so that exact arithmetic confirms them.
SLACK = 2.0**-40

# The constant by which a part refers to an array: `partial(write_cloud, directory)`, or the numbers themselves.
Stored = Callable[[np.ndarray], object]


def distance_bounds(found: MinNormPoint) -> tuple[float, float]:
    """(lower, upper) for the distance of zero from the hull, `SLACK` apart from the solver's own."""
    return found.distance_lower * (1 - SLACK), found.distance_upper * (1 + SLACK)


def distance_witnesses(found: MinNormPoint) -> dict[str, dict]:
    """What `hull_distance_at_least` reads ("normal") and what `hull_distance_at_most` reads ("weights")."""
    return {"normal": {"normal": [float(entry) for entry in found.normal]},
            "weights": {"weights": {int(i): float(w) for i, w in zip(found.support, found.weights)}}}


def replayed(filling: Path, claim: Claim, witnesses: list[Instance], progress: Callable[[str], None]
             ) -> list[tuple[str, str | None]]:
    """Write the claim with one certificate a part, and replay: each one's file name and its grade, None if refused.

    `witnesses` holds an instance for each of the claim's parts, in their order; `filling` is the directory.
    """
    names = write_claim(filling, claim, [
        certificate(claim, part.name, "evidence", "instances", claim.id, instances_body(part, [item]))
        for part, item in zip(claim.parts, witnesses, strict=True)])
    progress("kernel replay")
    grades = {name: record.grade for name, record in replay_files(filling, names)[0]}
    return [(name, grades.get(name)) for name in names]
