"""Half-spaces of pooled tokens and of their values: certified answers, Wendel's level, and clouds to compare with."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from numerics.audit.values import value_coordinates
from numerics.checkpoint.record import LayerWeights
from numerics.hull import min_norm_point
from proofs_check.certificates import whole_directory, write_cloud
from proofs_check.claim import Claim
from proofs_check.inspect import Check, alignment_check, certify, chance, hull_check

SCOPE = (
    "Rows are the model's float32 pre-attention inputs, gain applied, distinct rows of all texts pooled; "
    "the sink is apart.",
    "Under RoPE a half-space of the queries is sufficient for a sink head, not necessary (G6).",
    "With a query bias only the distance of the sink from the keys' hull is needed (G1).",
)


def half_spaces(
    layer: int,
    weights: LayerWeights,
    content: np.ndarray,
    sink: np.ndarray | None,
    without_bos: np.ndarray | None,
    out: Path,
    seed: int,
) -> dict:
    """Certified checks on the pooled content rows (float32) and on each key/value head's values; certificates in `out`.

    `sink` None leaves out what needs a sink embedding common to all texts (a model without BOS).
    """
    rows = np.unique(content, axis=0)
    dim = rows.shape[1]
    shown = Path("certificates") / f"audit-layer-{layer:03d}"
    with whole_directory(out / shown) as filling:
        stored = partial(write_cloud, filling)
        cloud = stored(rows)
        checks = [
            hull_check("G1 queries", "0 is not in the hull of the content tokens' inputs", rows, cloud, None, dim)
        ]
        if sink is not None:
            exact = sink.astype(np.float64)
            checks += [
                hull_check(
                    "G1 keys", "the sink's input is not in the hull of the content tokens'", rows, cloud, exact, None
                ),
                alignment_check(rows, cloud, exact),
            ]
        values, ranks, compared = [], [], []
        for group, found in enumerate(value_coordinates(weights, rows)):
            narrow = found.astype(np.float32)
            ranks.append(int(np.linalg.matrix_rank(found)))
            values.append(
                hull_check(
                    f"E2 values {group}",
                    f"0 is not in the hull of W_V x_j, key/value head {group}",
                    narrow,
                    stored(narrow),
                    None,
                    max(ranks[-1], 1),
                )
            )
            compared.append(None if (alike := same_moments(found, seed)) is None else uncertified(alike)["holds"])
        certify(
            [*checks, *values],
            filling,
            Claim(
                id=f"audit-layer-{layer:03d}",
                title=f"Half-spaces in layer {layer}",
                family="audit",
                statement="What holds for the stored rows.",
                parts=tuple(check.part for check in (*checks, *values) if check.part is not None),
                scope_notes=SCOPE,
                source="rows extracted from a checkpoint",
            ),
            shown,
        )
    named = {check.key.removeprefix("G1 ").removeprefix("G4 "): answer(check) for check in checks}
    return named | {
        "count": len(content),
        "distinct": len(rows),
        "dim": dim,
        "twice_dim": 2 * dim,
        "chance": chance(len(rows), dim),
        "values": [
            answer(check)
            | {"rank": rank, "count": len(rows), "chance": check.chance, "same_mean_and_covariance": alike}
            for check, rank, alike in zip(values, ranks, compared, strict=True)
        ],
        "without_bos": None if without_bos is None else uncertified(np.unique(without_bos, axis=0)),
        "controls": controls(rows, seed),
    }


def answer(check: Check) -> dict:
    return {
        "holds": check.holds,
        "margin_lower": check.margin_lower,
        "margin_upper": check.margin_upper,
        "margin_means": check.margin_means,
        "grade": check.grade,
        "certificate": check.certificate,
    }


def uncertified(rows: np.ndarray) -> dict:
    """The solver's float64 answer, rounding of its own check included, with no certificate kept."""
    found = min_norm_point(rows)
    holds = {"separated": True, "contains_zero": False, "undecided": None}[found.status]
    return {
        "holds": holds,
        "distance_lower": found.distance_lower,
        "distance_upper": found.distance_upper,
        "distinct": len(rows),
        "chance": chance(*rows.shape),
        "mean_norm": float(np.linalg.norm(rows.astype(np.float64), axis=1).mean()),
    }


def controls(rows: np.ndarray, seed: int) -> dict:
    """Gaussian clouds of the same size: isotropic, and with the measured mean and covariance."""
    alike = same_moments(rows, seed)
    return {
        "isotropic": uncertified(np.random.default_rng(seed).standard_normal(rows.shape)),
        "same_mean_and_covariance": None if alike is None else uncertified(alike),
    }


def same_moments(rows: np.ndarray, seed: int) -> np.ndarray | None:
    """As many Gaussian rows with the rows' own mean and covariance; None where there are too few to estimate it."""
    if len(rows) <= rows.shape[1]:
        return None
    wide = rows.astype(np.float64)
    mean = wide.mean(axis=0)
    _, scale, axes = np.linalg.svd(wide - mean, full_matrices=False)
    drawn = np.random.default_rng(seed).standard_normal(rows.shape)
    return mean + (drawn * (scale / np.sqrt(len(rows) - 1))) @ axes
