"""Family O: which derivations make up which claim, and which exact counterexamples refute which false version."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from theory import oversmoothing_traps as traps
from theory.oversmoothing_blocks import (
    equal_blocks, merging_blocks, transfer_between_blocks, unequal_blocks_counterexample)
from theory.oversmoothing_depth import (
    COUNTERACTIONS, counteraction, counteraction_regions, depth_any_gram, depth_closed_form, depth_contraction,
    depth_recursion, null_sink)
from theory.oversmoothing_moments import drift_is_an_energy_difference, o1_holds, o1_instance, o1m_holds
from theory.oversmoothing_signs import (
    mix_constant, mix_decreasing, mix_increasing, mix_maximum, mix_secant, mix_slope, uniform_against_diagonal,
    uniform_against_input, uniform_against_input_at_equal_g, uniform_against_input_in_the_limit)
from theory.statements import Derivation

__all__ = ["DERIVATIONS", "SYMBOLIC", "TRAPS"]

Recipe = Callable[[], Derivation]

#: claim id → name → derivation; a claim's derivations are all needed
DERIVATIONS: Mapping[str, Mapping[str, Recipe]] = {
    "O1": {f"T={t}, d={d}": partial(o1_instance, t, d) for t, d in ((1, 1), (1, 2), (2, 1), (2, 2), (3, 2), (2, 3))},
    "O1m": {"T=2, d=2, two heads": partial(o1_instance, 2, 2, 2),
            "T=2, d=1, three heads": partial(o1_instance, 2, 1, 3)},
    "O3": {"sign": uniform_against_diagonal},
    "O4": {"secant": mix_secant, "slope": mix_slope, "increasing": mix_increasing, "decreasing": mix_decreasing,
           "maximum": mix_maximum, "constant": mix_constant},
    "O5": {"sign": uniform_against_input, "equal g": uniform_against_input_at_equal_g,
           "limit": uniform_against_input_in_the_limit},
    "O6": {"sink with a value": null_sink},
    "O7": {"equal blocks": equal_blocks, "merging": merging_blocks, "transfer": transfer_between_blocks},
    "O8": {"one layer": depth_recursion, "any Gram matrix": depth_any_gram, "all layers": depth_closed_form,
           "contraction": depth_contraction},
    "O9": {f"below {which}": partial(counteraction, which) for which in COUNTERACTIONS}
    | {"regions": counteraction_regions},
}

#: identities of normal forms in the trace algebra: every T, d and matrix at once, but sympy's word only
SYMBOLIC: Mapping[str, Mapping[str, Callable[[], bool]]] = {
    "O1": {"single head": o1_holds, "drift": drift_is_an_energy_difference},
    "O1m": {"heads": o1m_holds},
}

#: claim id → false version → derivation of its exact counterexample
TRAPS: Mapping[str, Mapping[str, Recipe]] = {
    "O1": {"A depends on z": traps.attention_depending_on_z,
           "t0 -> 1 under LayerNorm": traps.own_trace_under_layer_norm,
           "A'A for AA'": traps.transposed_product, "row sums below 1": traps.substochastic_rows},
    "O3": {"dense always smooths more": traps.dense_attention_may_smooth_less,
           "degenerate case": traps.degenerate_case},
    "O4": {"the mix is monotone": traps.mix_need_not_be_monotone},
    "O5": {"the drift decides against the input": traps.drift_does_not_decide_against_input},
    "O6": {"the sink's value is not null": traps.null_sink_needs_a_null_value,
           "LayerNorm without centred tokens": traps.null_sink_under_layer_norm_needs_centred_tokens},
    "O7": {"unequal blocks with D < 0": unequal_blocks_counterexample},
    "O8": {"1/(1+phi) at every layer": traps.contraction_is_not_constant,
           "one V in all layers": traps.same_value_matrix_in_every_layer},
}
