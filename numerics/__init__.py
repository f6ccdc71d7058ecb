"""What the numbers say: pure functions on float64 arrays (numpy, jax, cvxpy).

    >>> import numpy as np
    >>> from numerics import diagonal_cost, sink_cost
    >>> tokens = np.eye(5)[:4]
    >>> f"{sink_cost(tokens, np.eye(5)[4], margin=1.0).upper:.4f}"
    '1.7889'
    >>> f"{diagonal_cost(tokens, 'nuclear', margin=1.0).upper:.2f}"
    '3.00'

The functions that a user wants are named in `FACE` and can be imported from here; each is loaded, with the module it
stands in, when it is first asked for. `notes/library.md` lists them with their signatures.

Importing this room switches jax to 64-bit floats: in 32 bits a softmax whose logit gap is 17 already rounds
1 - max(a) to zero, and every strict inequality of the theory would be decided by rounding.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

import jax

jax.config.update("jax_enable_x64", True)

if TYPE_CHECKING:  # for type checkers and editors; a test holds these lines to FACE
    from numerics.attention import (
        causal_mask,
        causal_uniform_attention,
        diagonal_attention,
        logits,
        mixed_attention,
        sink_attention,
        softmax_attention,
        uniform_attention,
    )
    from numerics.constraints import diagonal_constraints, sink_constraints
    from numerics.diagonal_bound import diagonal_bound, diagonal_cost
    from numerics.embeddings import load_paragraph, load_pool
    from numerics.gordan import representable, sink_pairs
    from numerics.hull import distance_to_hull, min_norm_point
    from numerics.layer import layer_norm, one_step, rms_norm
    from numerics.minimum_norm import minimum_norm
    from numerics.moments import (
        depth_curve,
        drift_statistics,
        mean_off_diagonal,
        mix_curve,
        moment_cosines,
        o1_gram,
    )
    from numerics.schatten import schatten_norm
    from numerics.simulate import IsotropicValue, simulate_depth, simulate_step, structured_value
    from numerics.sink_cost import sink_cost
    from numerics.sink_metrics import column_mass, diagonal_mass, importance, sink_score
    from numerics.tasks import copy_paste, diagonal_task, inverse_bigram, sink_task, task_cost
    from numerics.value_cost import value_cost
    from numerics.wendel import chance_in_half_space

# Module by module, in the order of the library page.
FACE = {
    "layer": ("one_step", "rms_norm", "layer_norm"),
    "attention": ("logits", "softmax_attention", "causal_mask", "uniform_attention", "causal_uniform_attention",
                  "diagonal_attention", "sink_attention", "mixed_attention"),
    "hull": ("min_norm_point", "distance_to_hull"),
    "gordan": ("representable", "sink_pairs"),
    "wendel": ("chance_in_half_space",),
    "sink_cost": ("sink_cost",),
    "diagonal_bound": ("diagonal_cost", "diagonal_bound"),
    "minimum_norm": ("minimum_norm",),
    "constraints": ("sink_constraints", "diagonal_constraints"),
    "value_cost": ("value_cost",),
    "schatten": ("schatten_norm",),
    "tasks": ("task_cost", "sink_task", "diagonal_task", "inverse_bigram", "copy_paste"),
    "moments": ("drift_statistics", "o1_gram", "moment_cosines", "mean_off_diagonal", "mix_curve", "depth_curve"),
    "simulate": ("simulate_step", "simulate_depth", "IsotropicValue", "structured_value"),
    "sink_metrics": ("sink_score", "column_mass", "importance", "diagonal_mass"),
    "embeddings": ("load_paragraph", "load_pool"),
}
_HOME = {name: module for module, names in FACE.items() for name in names}

__all__ = list(_HOME)


class _Room(ModuleType):
    """Four functions have the name of their module; importing the module must not put it in the function's place."""

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, ModuleType) and name in _HOME:
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Room


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'numerics' has no attribute {name!r}")
    value = getattr(import_module(f"numerics.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
