"""What is imported from `numerics` takes lists, whole numbers, narrow floats, and refuses the rest in one sentence."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import numerics
from numerics import (
    IsotropicValue,
    causal_mask,
    causal_uniform_attention,
    chance_in_half_space,
    column_mass,
    copy_paste,
    depth_curve,
    diagonal_attention,
    diagonal_bound,
    diagonal_constraints,
    diagonal_cost,
    diagonal_mass,
    diagonal_task,
    distance_to_hull,
    drift_statistics,
    importance,
    inverse_bigram,
    layer_norm,
    logits,
    mean_off_diagonal,
    min_norm_point,
    minimum_norm,
    mix_curve,
    mixed_attention,
    moment_cosines,
    o1_gram,
    one_step,
    representable,
    rms_norm,
    schatten_norm,
    simulate_depth,
    simulate_step,
    sink_attention,
    sink_constraints,
    sink_cost,
    sink_pairs,
    sink_score,
    sink_task,
    softmax_attention,
    structured_value,
    task_cost,
    uniform_attention,
    value_cost,
)
from numerics.arguments import real_array, real_arrays, row_number, whole_number
from numerics.jacobian import BilinearLogits, autodiff_jacobian, closed_form_jacobian, jacobian_norm_bound
from numerics.rope import g6_head, llama_rope_logits

X = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]])  # two tokens in three dimensions, whole entries
SINK, V, A = np.array([0.0, 0.0, 3.0]), np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]), np.eye(2)
DRIFT = drift_statistics(V)
BAD_ARRAYS = {
    "a vector": np.ones(3), "a stack": X[None], "no token": np.empty((0, 3)), "no dimension": np.empty((2, 0)),
    "NaN": np.nan * X, "infinity": np.full((2, 3), np.inf), "complex": 1j * X, "booleans": X > 0,
    "words": [["a", "b"], ["c", "d"]], "rows of unequal length": [[1.0, 2.0], [3.0]], "None": None,
}
NORMLESS = {"schatten_norm": ("no token", "no dimension")}  # a matrix without entries has norm 0
READ_IN_BLOCKS = ("min_norm_point", "distance_to_hull", "representable")  # in the types that numpy itself knows
SENTENCE = r"(?s)expected .*[^.], (got|found) .*; .*[^.]"

# Each function of one array (T, d) with its other arguments in place.
OF_TOKENS = {
    "one_step": lambda x: one_step(x, A, V),
    "logits": lambda x: logits(x, V),
    "min_norm_point": lambda x: min_norm_point(x).point,
    "distance_to_hull": lambda x: distance_to_hull(SINK, x).point,
    "representable": lambda x: representable(x, 0, [[1, 1]]).w_qk,
    "sink_cost": lambda x: sink_cost(x, SINK, margin=1.0).upper,
    "diagonal_cost": lambda x: diagonal_cost(x, "frobenius", margin=1.0).upper,
    "diagonal_bound": lambda x: diagonal_bound(x, 1.5, margin=1.0),
    "sink_constraints": lambda x: sink_constraints(x, SINK, margin=1.0).keys,
    "diagonal_constraints": lambda x: diagonal_constraints(x, margin=1.0).keys,
    "minimum_norm": lambda x: minimum_norm(diagonal_constraints(x, margin=1.0), "frobenius").upper,
    "value_cost": lambda x: value_cost(x, A, "nuclear").upper,
    "schatten_norm": lambda x: schatten_norm(x, "nuclear"),
    "sink_task": lambda x: sink_task(x, SINK, A, margin=1.0).inputs,
    "diagonal_task": lambda x: diagonal_task(x, A, margin=1.0).inputs,
    "task_cost": lambda x: task_cost(diagonal_task(x, A, margin=1.0), "frobenius").upper,
    "inverse_bigram": lambda x: inverse_bigram(x, [1, 0], sink=SINK).inputs,
    "copy_paste": lambda x: copy_paste(x, SINK, [1, -1], margin=1.0).inputs,
    "simulate_step": lambda x: simulate_step(A, V, tokens=x, draws=1).second_moment.mean,
    "simulate_depth": lambda x: simulate_depth(A, V, 1, tokens=x, draws=1).curves,
}

# What else can be wrong: shapes that do not fit each other, options, numbers.
BAD_CALLS = {
    "one_step": [lambda: one_step(X, A, np.eye(2)), lambda: one_step(X, np.eye(3), V), lambda: one_step(X, A, V, "nuc"),
                 lambda: one_step(X, A, V, gain=[1.0]), lambda: one_step(X, A, V, None, SINK),
                 lambda: one_step(X, A, V, eps=-1.0)],
    "rms_norm": [lambda: rms_norm(3.0), lambda: rms_norm(X, np.ones(2)), lambda: rms_norm(X, eps=np.nan)],
    "layer_norm": [lambda: layer_norm(np.nan), lambda: layer_norm(X, None, np.ones(2)), lambda: layer_norm([])],
    "logits": [lambda: logits(X, np.eye(2))],
    "softmax_attention": [lambda: softmax_attention(np.ones(2)), lambda: softmax_attention(X, np.ones((2, 3))),
                          lambda: softmax_attention(X, causal_mask(2)), lambda: softmax_attention(np.nan * X)],
    "causal_mask": [lambda: causal_mask(2.5)],
    "uniform_attention": [lambda: uniform_attention(0)],
    "causal_uniform_attention": [lambda: causal_uniform_attention("two")],
    "diagonal_attention": [lambda: diagonal_attention(-1)],
    "sink_attention": [lambda: sink_attention(2, 2), lambda: sink_attention(2, 0.5), lambda: sink_attention(None)],
    "mixed_attention": [lambda: mixed_attention(2, 1.5), lambda: mixed_attention(2, np.nan)],
    "min_norm_point": [lambda: min_norm_point(X, tolerance=2.0), lambda: min_norm_point(X, pool_size=0),
                       lambda: min_norm_point(X, max_iterations=-1)],
    "distance_to_hull": [lambda: distance_to_hull(np.ones(2), X), lambda: distance_to_hull(X, X)],
    "representable": [lambda: representable(X, 5, [[1, 1]]), lambda: representable(X, 0, [[0.5, 1]]),
                      lambda: representable(X, 0, []), lambda: representable(X, 0, [[1, 0]])],
    "sink_pairs": [lambda: sink_pairs(3, 1.5, False), lambda: sink_pairs(2, 0, False, queries=[0.5]),
                   lambda: sink_pairs(2, 0, False, keys=[]), lambda: sink_pairs(0, 0, True)],
    "chance_in_half_space": [lambda: chance_in_half_space(2.5, 1), lambda: chance_in_half_space(3, 0)],
    "sink_cost": [lambda: sink_cost(X, np.ones(2), margin=1.0), lambda: sink_cost(X, SINK, np.ones((2, 2)), margin=1.0),
                  lambda: sink_cost(X, SINK), lambda: sink_cost(X, SINK, margin=-1.0),
                  lambda: sink_cost(X, SINK, mass=0.3), lambda: sink_cost(X, np.nan * SINK, margin=1.0)],
    "diagonal_cost": [lambda: diagonal_cost(X, "nuc", margin=1.0), lambda: diagonal_cost(X, 0.5, margin=1.0),
                      lambda: diagonal_cost(X, None, margin=1.0),
                      lambda: diagonal_cost(X, 1, margin=1.0, tolerance=0.0),
                      lambda: diagonal_cost(X, 1, margin=1.0, time_limit=np.nan),
                      lambda: diagonal_cost(X, 1, margin=1.0, max_iterations=0.5),
                      lambda: diagonal_cost(X, 1, margin=1.0, sink=np.ones(2))],
    "diagonal_bound": [lambda: diagonal_bound(X, "nuclear"), lambda: diagonal_bound(X, "nuclear", mass=1.0)],
    "minimum_norm": [lambda: minimum_norm(X, "nuclear")],
    "sink_constraints": [lambda: sink_constraints(X, SINK[:2], margin=1.0),
                         lambda: sink_constraints(X, None, margin=1.0),
                         lambda: sink_constraints(X, SINK, margin="one")],
    "diagonal_constraints": [lambda: diagonal_constraints(X, margin=1.0, mass=0.9),
                             lambda: diagonal_constraints(X, margin=[1.0, 2.0, 3.0])],
    "value_cost": [lambda: value_cost(X, np.eye(3), 1), lambda: value_cost(X, A, 1, null=np.nan * SINK),
                   lambda: value_cost(X, A, 1, null=A[0]), lambda: value_cost(X, A, 1, rank_tolerance=2.0)],
    "schatten_norm": [lambda: schatten_norm(X, "nuc"), lambda: schatten_norm(X, np.nan)],
    "task_cost": [lambda: task_cost(X, "nuclear"), lambda: task_cost(diagonal_task(X, A, margin=1.0), "nuc")],
    "sink_task": [lambda: sink_task(X, SINK, np.eye(3), margin=1.0)],
    "diagonal_task": [lambda: diagonal_task(X, [1.0], margin=1.0)],
    "inverse_bigram": [lambda: inverse_bigram(X, [0, 1]), lambda: inverse_bigram(X, [1.0, 0.0]),
                       lambda: inverse_bigram(X, [1, 0], sink=A[0]), lambda: inverse_bigram(X, [1, 0], margin=0.0)],
    "copy_paste": [lambda: copy_paste(X, SINK, [1], margin=1.0), lambda: copy_paste(X, A[0], [1, -1], margin=1.0),
                   lambda: copy_paste(X, SINK, [1, -1], off="out", margin=1.0),
                   lambda: copy_paste(X, SINK, [1, -1], contexts=A, margin=1.0),
                   lambda: copy_paste(X, SINK, [1, -1], contexts=A > 0, probabilities=[1.0], margin=1.0),
                   lambda: copy_paste(X, SINK, [1, -1], targets=np.eye(3), margin=1.0)],
    "drift_statistics": [lambda: drift_statistics(X), lambda: drift_statistics(V, np.eye(3)),
                         lambda: drift_statistics(V, direction=np.ones(3)), lambda: drift_statistics(V, norm="nuc"),
                         lambda: drift_statistics(V, gain=np.nan * SINK)],
    "o1_gram": [lambda: o1_gram(X, 0.0, 1.0, 1.0, 0.0, 0.0), lambda: o1_gram(A, 1.0, 1.0, 1.0, 0.0, 0.0),
                lambda: o1_gram(A, 0.0, 1.0, 1.0, np.nan, 0.0)],
    "moment_cosines": [lambda: moment_cosines(X), lambda: moment_cosines([1.0])],
    "mean_off_diagonal": [lambda: mean_off_diagonal(X), lambda: mean_off_diagonal([[1.0]])],
    "mix_curve": [lambda: mix_curve(2.0, 3, 0.0, DRIFT), lambda: mix_curve(0.5, 1, 0.0, DRIFT),
                  lambda: mix_curve(0.5, 3, np.nan, DRIFT)],
    "depth_curve": [lambda: depth_curve(1.0, 0.0, 2), lambda: depth_curve(0.5, -2.0, 2),
                    lambda: depth_curve(0.5, 0.0, 1.5), lambda: depth_curve(0.5, 0.0, 2, 0),
                    lambda: depth_curve(0.5, np.nan, 2)],
    "simulate_step": [lambda: simulate_step(A, X), lambda: simulate_step(A, 3.0), lambda: simulate_step([], V),
                      lambda: simulate_step(A, V, queries=[5]), lambda: simulate_step(A, V, queries=[1]),
                      lambda: simulate_step(A, V, queries=1), lambda: simulate_step(A, V, tokens="cauchy"),
                      lambda: simulate_step([[1.0]], V),
                      lambda: simulate_step(A, V, draws=1.5), lambda: simulate_step(A, V, null_token=0.5),
                      lambda: simulate_step(A, V, norm="nuc"), lambda: simulate_step(A, V, gain=[1.0]),
                      lambda: simulate_step(A, V, confidence=np.nan), lambda: simulate_step(A, V, dim=2)],
    "simulate_depth": [lambda: simulate_depth(A, V, 0), lambda: simulate_depth(A, [V, V], 3)],
    "IsotropicValue": [lambda: IsotropicValue(2.0, 1.0), lambda: IsotropicValue(np.nan, 1.0),
                       lambda: IsotropicValue(0.0, np.inf)],
    "structured_value": [lambda: structured_value([1.0, 1.0], 1.0, 1.0), lambda: structured_value([1.0], np.nan, 1.0)],
    "sink_score": [lambda: sink_score([]), lambda: sink_score([A], measure="x"), lambda: sink_score([A], threshold=2.0),
                   lambda: sink_score([A], key=7), lambda: sink_score(A), lambda: sink_score([1.0])],
    "column_mass": [lambda: column_mass(X), lambda: column_mass(2.0 * A)],
    "importance": [lambda: importance(np.ones((2, 3)) / 3.0)],
    "diagonal_mass": [lambda: diagonal_mass([[1.0]], first_row=False)],
}


def test_every_function_of_the_face_is_tried():
    without_arguments = {"load_paragraph", "load_pool"}
    assert set(OF_TOKENS) | set(BAD_CALLS) == set(numerics.__all__) - without_arguments


@pytest.mark.parametrize("name", OF_TOKENS)
def test_a_bad_array_is_refused_in_one_sentence(name):
    for kind, bad in BAD_ARRAYS.items():
        if kind in NORMLESS.get(name, ()):
            assert OF_TOKENS[name](bad) == 0.0
        else:
            with pytest.raises(ValueError, match=SENTENCE):
                OF_TOKENS[name](bad)


@pytest.mark.parametrize("name", BAD_CALLS)
def test_a_bad_call_is_refused_in_one_sentence(name):
    for call in BAD_CALLS[name]:
        with pytest.raises(ValueError, match=SENTENCE):
            call()


@pytest.mark.parametrize("name", OF_TOKENS)
def test_lists_whole_numbers_and_narrow_floats_give_the_float64_answer(name):
    wanted = np.asarray(OF_TOKENS[name](X))
    narrow = [X.tolist(), X.astype(np.int64), X.astype(np.float32), X.astype(np.float16)]
    for same in narrow + ([] if name in READ_IN_BLOCKS else [jnp.asarray(X, jnp.bfloat16)]):
        got = np.asarray(OF_TOKENS[name](same))
        assert got.dtype == wanted.dtype == np.float64
        np.testing.assert_array_equal(got, wanted)


def test_equal_words_are_equal_sizes_and_tracers_pass():
    x, v, nothing = real_arrays(("x", X, "token dim"), ("v", V.tolist(), "dim dim"), ("gain", None, "dim?"))
    assert x is X and v.dtype == np.float64 and nothing is None
    assert real_array("stack", np.ones((5, 4, 3)), "*batch 4 3").shape == (5, 4, 3)
    with pytest.raises(ValueError, match=r"expected v of shape \(dim, dim\), dim = 3 as in x, got shape \(2, 2\)"):
        real_arrays(("x", X, "token dim"), ("v", A, "dim dim"))
    with pytest.raises(ValueError, match=r"expected x of shape \(2\), got shape \(3,\)"):
        real_array("x", SINK, "2")
    traced = jax.jit(lambda t: real_array("t", t, "token dim").sum())(np.array([[np.nan, 1]], dtype=np.float32))
    assert traced.dtype == np.float64 and np.isnan(traced)  # entries are not looked at inside a transformation
    with pytest.raises(ValueError, match="one axis for each"):
        jax.jit(lambda t: real_array("t", t, "token dim"))(SINK)


@pytest.mark.parametrize("call", [
    lambda: closed_form_jacobian(X, BilinearLogits(V), np.eye(2)),
    lambda: autodiff_jacobian(X[0], BilinearLogits(V), V),
    lambda: jacobian_norm_bound(X, BilinearLogits(V), V, np.eye(3) > 0),
    lambda: llama_rope_logits(X, np.ones((2, 3)), np.ones((4, 3))),
    lambda: llama_rope_logits(X, np.ones((2, 3)), np.ones((2, 3)), positions=[0]),
    lambda: g6_head(SINK, SINK, SINK[:2], 0.1, 1),
])
def test_shapes_that_do_not_fit_are_one_sentence_beyond_the_face(call):
    with pytest.raises(ValueError, match=SENTENCE):
        call()


def test_numbers_of_rows_are_pythons_own():
    assert type(whole_number("n", np.int8(5), 1, "")) is int and type(row_number("i", np.uint8(2), 3)) is int
    assert chance_in_half_space(np.int64(200), np.int64(10)) == chance_in_half_space(200, 10)
