"""Every sink score in use, for one head on one text; the convention is part of each name and is spelled out."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from numerics.sink_metrics import column_mass, diagonal_mass, importance

__all__ = ["CONVENTIONS", "head_scores"]

# name -> (measure, whether query row 0 counts); `sink_metrics.convention` gives each its sentence
CONVENTIONS = {
    "mass": ("mass", True),
    "mass_without_row_0": ("mass", False),
    "importance": ("importance", True),
    "importance_without_row_0": ("importance", False),
    "diagonal": ("diagonal", True),
    "diagonal_without_row_0": ("diagonal", False),
}


def head_scores(attention: Float[np.ndarray, "token token"], sink: int = 0) -> dict[str, float]:
    """The scores of key `sink` (mass, importance) and of the diagonal, by each of `CONVENTIONS`.

    The divisor of key 0's importance is the number of queries, so that for sink = 0 importance is the mass.
    Raises ValueError as `numerics.sink_metrics` does.  Claim P0.
    """
    columns = {"mass": column_mass, "importance": importance}
    return {
        name: diagonal_mass(attention, first_row=first_row)
        if measure == "diagonal"
        else float(columns[measure](attention, first_row=first_row)[sink])
        for name, (measure, first_row) in CONVENTIONS.items()
    }
