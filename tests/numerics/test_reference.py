import math

import numpy as np
import pytest

from numerics.constraints import diagonal_constraints
from numerics.minimum_norm import certified
from numerics.reference import reference_minimum_norm


@pytest.mark.parametrize("norm", [1.0, 2.0, math.inf])
@pytest.mark.parametrize("levels", [{"margin": 1.0}, {"mass": 0.8}])
def test_the_reference_finds_the_closed_form_and_its_answer_proves_bounds(norm, levels):
    count = 4
    level = levels.get("margin") or math.log(4.0) + math.log(count - 1)
    c = diagonal_constraints(np.eye(count), **levels)
    solution = reference_minimum_norm(c, norm)
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(level * (count - 1) ** (1 / norm), rel=1e-6)
    proved = certified(c, norm, solution.w_qk, solution.dual)
    assert proved.lower <= solution.value * (1 + 1e-6) and proved.gap <= 1e-4


def test_a_wrong_dual_proves_a_weaker_bound_and_a_wrong_matrix_none():
    c = diagonal_constraints(np.eye(3), margin=1.0)
    solution = reference_minimum_norm(c, 1.0)
    crooked = solution.dual * np.array([[1.0], [1.0], [3.0]])
    assert certified(c, 1.0, solution.w_qk, crooked).lower < 0.95 * solution.value
    assert certified(c, 1.0, -solution.w_qk, solution.dual).status == "undecided"


def test_infeasible_is_the_references_word_too():
    solution = reference_minimum_norm(diagonal_constraints(np.ones((2, 2)), margin=1.0), 2.0)
    assert "infeasible" in solution.status and solution.w_qk is None and solution.dual is None


def test_general_exponents_are_refused():
    with pytest.raises(ValueError, match="nuclear, Frobenius or spectral"):
        reference_minimum_norm(diagonal_constraints(np.eye(2), margin=1.0), 1.5)
