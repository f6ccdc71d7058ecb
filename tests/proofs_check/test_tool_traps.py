"""Where sympy, mpmath, numpy, scipy, SCS, Clarabel, hypothesis and jax are known to mislead, and what we say there.

Each test first shows the tool's answer, or that this version no longer gives it; the second half, that the pipeline
does not repeat the error, is asserted either way.
"""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import cvxpy
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
import sympy
from flint import arb, fmpq
from scipy.optimize import linprog

from numerics.attention import softmax_attention
from proofs_check.alternative import gordan_witness
from proofs_check.certificates import certificate, instances_body
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.engines.agreement import compare_routes
from proofs_check.engines.gathering import Context, Gathered
from proofs_check.engines.search import find_violation
from proofs_check.falsify import attack
from proofs_check.kernel import Rejected, replay
from proofs_check.kernel.formula import Undecided, decide
from proofs_check.kernel.symbolic import check_derivation
from proofs_check.verdict import judge

X = sympy.symbols("x")


def kernel_says(formula: str, **values: object) -> bool:
    """The kernel's decision of one statement; raises `Undecided` or `Rejected` where it has none."""
    exact = {name: listed(value) for name, value in values.items()}
    return decide(exact, [], [], [formula], {})[1]


def listed(value: object) -> object:
    return [listed(item) for item in value] if isinstance(value, list) else fmpq(*Fraction(value).as_integer_ratio())


def own(*parts: Part) -> Claim:
    return Claim("trap", "", "test", "", parts)


def test_sympy_cancels_a_divisor_that_can_be_zero_and_the_kernel_does_not():
    assert (X / X).subs(X, 0) == 1
    with pytest.raises(Rejected, match="division by zero"):
        kernel_says("x / x == 1", x=0)
    part = Part(name="p", text="", parameters=({"name": "x", "minimum": ["-1", "1"], "maximum": ["1", "1"]},),
                conclusions=("x/x == 1",))
    with pytest.raises(Rejected, match="divisor"):
        check_derivation(own(part).document()["parts"][0], [{"formula": "x/x == 1", "by": "identity"}])


def test_sympys_limit_takes_one_side_and_the_search_looks_at_both():
    assert sympy.limit(sympy.Abs(X) / X, X, 0) == 1
    part = Part(name="p", text="", variables={"x": "scalar"}, hypotheses=(Hypothesis("not zero", "", "x != 0"),),
                conclusions=("abs(x) / x == 1",), satisfiable=Instance({"x": 1}))
    found = attack(own(part), part, "", 200)
    assert found.outcome == "refuted" and found.instance.values["x"] < 0


def test_sympys_rank_of_floats_rounds_and_the_kernel_takes_floats_as_the_rationals_they_are():
    rows = [[0.1, 0.3], [0.1 * 3, 0.9]]
    told = sympy.Matrix(rows).rank()
    exact = Fraction(rows[0][0]) * Fraction(rows[1][1]) - Fraction(rows[0][1]) * Fraction(rows[1][0])
    assert told in (1, 2) and exact != 0
    assert kernel_says("rank(m) == 2", m=rows)


def test_numpys_rank_has_a_tolerance_and_the_kernel_has_none():
    rows = [[1.0, 1.0], [1.0, 1.0 + 2.0**-52]]
    assert np.linalg.matrix_rank(np.array(rows)) == 1
    assert kernel_says("independent(m)", m=rows)


def test_sympy_chops_a_positive_number_to_zero_and_the_kernel_does_not():
    assert sympy.N(sympy.sqrt(10**40 + 1) - 10**20, chop=True) == 0
    assert float(sympy.sqrt(10**40 + 1)) == 1e20
    assert kernel_says("sqrt(10**40 + 1) - 10**20 > 0")


def test_sympy_takes_a_nearby_number_for_an_integer_and_the_kernel_separates_them():
    near = 262537412640768744
    assert sympy.nsimplify(sympy.exp(sympy.pi * sympy.sqrt(163)).evalf(20), tolerance=1e-10) == near
    assert kernel_says(f"exp(pi * sqrt(163)) < {near}") and kernel_says(f"exp(pi * sqrt(163)) != {near}")


def test_an_equality_of_balls_is_undecided_where_floats_say_no_and_a_tolerance_says_yes():
    assert math.sqrt(2.0) ** 2 != 2.0 and math.isclose(math.sqrt(2.0) ** 2, 2.0)
    with pytest.raises(Undecided):
        kernel_says("sqrt(2) * sqrt(2) == 2")


def test_float_sums_lose_a_token_and_the_kernel_keeps_it():
    values = [1e16, 1.0, -1e16]
    assert sum(values) == 0.0
    assert kernel_says("sum(v) == 1", v=values)


def test_interval_exp_of_mpmath_can_miss_the_value_and_the_kernels_balls_do_not():
    tiny, before = float.fromhex("0x1.44be9048aa980p-30"), mpmath.iv.prec
    try:
        mpmath.iv.prec = 15
        upper = mpmath.iv.exp(mpmath.iv.mpf(tiny)).b
    finally:
        mpmath.iv.prec = before
    truth = arb(fmpq(*tiny.as_integer_ratio())).exp()
    misled = bool(truth > arb(float(upper)))
    assert misled or float(upper) > 1.0  # a version that rounds outward contains the value
    assert kernel_says("exp(x) > 1 and exp(x) > 1 + x", x=tiny)


def test_softmax_in_32_bits_loses_the_other_key_at_a_gap_of_17():
    logits = np.array([[17.0, 0.0]])
    assert 1.0 - float(jax.nn.softmax(jnp.asarray(logits, dtype=jnp.float32)).max()) == 0.0
    assert jnp.asarray(logits).dtype == jnp.float64  # importing numerics switched 64 bits on
    assert 1.0 - float(softmax_attention(logits).max()) == pytest.approx(math.exp(-17), rel=1e-3)
    assert kernel_says("softmax(z)[0] < 1", z=[17, 0]) and kernel_says("softmax(z)[0] < 1", z=[700, 0])


def test_a_linear_programme_is_feasible_within_a_tolerance_and_gordans_alternative_is_exact():
    rows = [[1.0, 1e-9], [-1.0, 1e-9]]
    told = linprog([0, 0], A_eq=np.vstack([np.array(rows).T, np.ones(2)]), b_eq=[0, 0, 1], bounds=(0, None))
    assert told.status == 0  # "weights of zero exist"
    separated, witness = gordan_witness(rows)
    assert separated and all(sum(Fraction(a) * b for a, b in zip(row, witness["normal"])) > 0 for row in rows)


def test_numpys_cholesky_accepts_an_indefinite_matrix_and_the_kernel_does_not():
    rows = [[7.0, 1.0], [1.0, 1.0 / 7.0]]
    assert Fraction(rows[0][0]) * Fraction(rows[1][1]) < 1  # so the determinant is negative
    told = np.linalg.cholesky(np.array(rows))
    assert np.all(np.isfinite(told)) and float(np.linalg.eigvalsh(np.array(rows))[0]) >= 0.0
    assert kernel_says("not psd(m)", m=rows)


def test_jax_reads_past_the_end_of_an_array_and_the_kernel_refuses():
    assert int(jnp.arange(3)[7]) == 2
    with pytest.raises(Rejected):
        kernel_says("v[7] == 2", v=[0, 1, 2])


def test_clarabel_calls_an_infimum_optimal_that_is_not_attained_and_no_rounding_of_its_point_replays():
    """Least x with [[x, 1], [1, y]] positive semidefinite: every x > 0 will do, 0 will not."""
    gram = cvxpy.Variable((2, 2), PSD=True)
    problem = cvxpy.Problem(cvxpy.Minimize(gram[0, 0]), [gram[0, 1] == 1])
    problem.solve(solver="CLARABEL")
    assert problem.status == "optimal" and abs(problem.value) < 1e-6
    y = Fraction(float(gram.value[1, 1])).limit_denominator(10)
    assert kernel_says("not psd(m)", m=[[0, 1], [1, y]])
    part = Part(name="p", text="", variables={"x": "scalar", "y": "scalar"},
                hypotheses=(Hypothesis("psd", "", "psd([[x, 1], [1, y]])"),),
                conclusions=("x > 0",), satisfiable=Instance({"x": 1, "y": 1}))
    assert attack(own(part), part, "", 300).outcome == "nothing found"


MONOMIALS = [(i, j) for i in range(5) for j in range(5 - i)]
MOTZKIN = {(4, 2): 1, (2, 4): 1, (0, 0): 1, (2, 2): -3}


def gram_places() -> dict[tuple[int, int], list[tuple[int, int]]]:
    places: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for a, left in enumerate(MONOMIALS):
        for b, right in enumerate(MONOMIALS):
            places.setdefault((left[0] + right[0], left[1] + right[1]), []).append((a, b))
    return places


def test_scs_finds_the_motzkin_polynomial_a_sum_of_squares_and_no_rounding_of_its_gram_matrix_replays(tmp_path):
    size, places = len(MONOMIALS), gram_places()
    gram = cvxpy.Variable((size, size), PSD=True)
    equations = [sum(gram[a, b] for a, b in where) == MOTZKIN.get(power, 0) for power, where in places.items()]
    problem = cvxpy.Problem(cvxpy.Minimize(0), equations)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver="SCS", eps=1e-3)
    assert problem.status in ("optimal", "optimal_inaccurate", "infeasible", "infeasible_inaccurate")
    proposed = gram.value if gram.value is not None else np.eye(size)
    part = Part(name="sum of squares", text="the Motzkin polynomial has a positive semidefinite Gram matrix",
                quantifier="exists",
                variables={"Q": "matrix"}, conclusions=(
                    *(" + ".join(f"Q[{a}][{b}]" for a, b in where) + f" == {MOTZKIN.get(power, 0)}"
                      for power, where in places.items()),
                    "psd(Q)"))
    claim = own(part)
    symmetric = (proposed + proposed.T) / 2
    for denominator in (1, 2, 3, 4, 6, 12, 60, 1024, 2**20, 2**40):
        rounded = [[Fraction(round(float(entry) * denominator), denominator) for entry in row] for row in symmetric]
        item = certificate(claim, part.name, "evidence", "instances", "test",
                           instances_body(part, [Instance({"Q": rounded})]))
        with pytest.raises(Rejected):
            replay(claim.document(), item, tmp_path)


CENTRE = (Fraction(137, 100), Fraction(-59, 100))


def drawn_point() -> st.SearchStrategy[Instance]:
    number = st.integers(-20_000, 20_000).map(lambda value: Fraction(value, 10_000))
    return st.tuples(number, number).map(lambda pair: Instance({"x": list(pair)}))


def distance(values) -> object:
    return jnp.sum((values["x"] - jnp.array([float(entry) for entry in CENTRE])) ** 2) - 1e-5


def test_hypothesis_misses_a_small_ball_which_supports_nothing_as_proved_and_falls_to_the_optimiser(tmp_path):
    """The ball fills 2e-6 of the square: drawn examples are not evidence of measure."""
    part = Part(name="ball", text="", variables={"x": "vector"}, strategy=drawn_point, numeric=distance,
                satisfiable=Instance({"x": [0, 0]}),
                conclusions=("(x[0] - 137/100)**2 + (x[1] + 59/100)**2 >= 1/100000",))
    claim = own(part)
    statement = claim.document()["parts"][0]
    violation, examples = find_violation(part, statement, Context(tmp_path, examples=400), Gathered())
    assert violation is None and examples >= 300
    record = replay(claim.document(), certificate(claim, "ball", "evidence", "search", "search",
                                                  {"examples": str(examples), "seed": "0"}), tmp_path)
    assert record.grade == "searched" and judge(claim, [record], [], {}).headline not in ("PROVED", "PROVED ON")
    found = attack(claim, part, "", 2000)
    assert found.outcome == "refuted" and math.dist([float(v) for v in found.instance.values["x"]],
                                                    map(float, CENTRE)) < 0.0032


def test_a_solvers_own_tolerance_cannot_be_passed_off_as_agreement(tmp_path):
    claim = own(Part(name="p", text="", variables={"x": "scalar"}, conclusions=("x == x",)))
    item = certificate(claim, "p", "evidence", "float", "test", {
        "residual": (1e-4).hex(), "tolerance": (1e-3).hex(), "cases": "1"})
    with pytest.raises(Rejected, match="1e-6"):
        replay(claim.document(), item, tmp_path)


def test_nan_passes_a_careless_comparison_and_no_gate_of_the_pipeline(tmp_path):
    assert not math.nan > 1e-6  # "if violation > tolerance: reject" accepts
    part = Part(name="p", text="", variables={"x": "scalar"}, conclusions=("x == x",), numeric=lambda values: math.nan)
    found, slacks = Gathered(), []
    compare_routes(part, Instance({"x": 1}), True, found, slacks)
    assert slacks == [] and found.troubles[0].kind == "error"
    claim = own(part)
    item = certificate(claim, "p", "evidence", "float", "test", {"residual": "nan", "tolerance": (1e-7).hex(),
                                                                 "cases": "1"})
    with pytest.raises(Rejected):
        replay(claim.document(), item, tmp_path)
