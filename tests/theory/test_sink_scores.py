"""P0's derivations hold for every T, by two independent checkers, and their bounds are the best ones."""

from __future__ import annotations

from dataclasses import replace

import pytest
from derivation_checker import NotProved, check

from theory import sink_scores
from theory.statements import Parameter

RECIPES = (sink_scores.diagonal_passes_late, sink_scores.diagonal_fails_before, sink_scores.diagonal_at_high_threshold,
           sink_scores.causal_uniform_step, sink_scores.causal_uniform_step_without_first_row)


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_derivation_is_accepted_by_the_independent_checker(recipe):
    check(recipe())


@pytest.mark.parametrize(("recipe", "parameter"), [
    (sink_scores.diagonal_passes_late, Parameter("n", "1", "4", integer=True)),
    (sink_scores.diagonal_fails_before, Parameter("n", "3", integer=True)),
    (sink_scores.diagonal_at_high_threshold, Parameter("n", "1", integer=True)),
    (sink_scores.causal_uniform_step, Parameter("H", "0")),
    (sink_scores.causal_uniform_step_without_first_row, Parameter("H", "3/2"))])
def test_a_wider_range_is_not_proved(recipe, parameter):
    true = recipe()
    wider = tuple(parameter if item.name == parameter.name else item for item in true.parameters)
    with pytest.raises(NotProved):
        check(replace(true, parameters=wider))
