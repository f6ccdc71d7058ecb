"""The definitions inside the derivations mean what they say: compared with explicit attention matrices."""

import random

import pytest
import sympy

from theory.oversmoothing import DERIVATIONS
from theory.oversmoothing_blocks import equal_blocks, merging_blocks, transfer_between_blocks
from theory.oversmoothing_depth import COUNTERACTIONS, depth_recursion
from theory.oversmoothing_lemmas import diagonal, mixed, uniform

R = sympy.Rational


def _gram(attention: sympy.Matrix, model: dict) -> sympy.Matrix:
    """O1, entry by entry, from an explicit attention matrix."""
    size = attention.rows
    square = attention * attention.T
    rho = model["rho"]
    return sympy.Matrix(size, size, lambda i, j: rho * model["g"] + (1 - rho) * (
        int(i == j) * model["t0"] + (attention[i, j] + attention[j, i]) * model["tau"] + square[i, j] * model["phi"]))


def _values(definitions: dict[str, str], values: dict) -> dict:
    known = {name: sympy.sympify(v) for name, v in values.items()}
    for name, formula in definitions.items():
        known[name] = sympy.sympify(formula, locals=known)
    return known


def _sides(formula: str, known: dict) -> tuple[sympy.Expr, sympy.Expr]:
    left, right = formula.split(" == ")
    return sympy.sympify(left, locals=known), sympy.sympify(right, locals=known)


def _model(seed: int) -> dict:
    rng = random.Random(seed)
    t0, phi = R(rng.randint(1, 5), 3), R(rng.randint(1, 9), 4)
    return {"rho": R(rng.randint(1, 8), 9), "g": R(rng.randint(0, 9), 4), "t0": t0, "phi": phi,
            "tau": R(rng.randint(-9, 9), 10) * min(t0, phi)}


def _blocks(sizes: list[int]) -> sympy.Matrix:
    return sympy.diag(*[sympy.ones(k, k) / k for k in sizes])


def _pair_sum(gram: sympy.Matrix) -> float:
    size = gram.rows
    return float(
        sum(gram[i, j] / sympy.sqrt(gram[i, i] * gram[j, j]) for i in range(size) for j in range(size) if i != j))


@pytest.mark.parametrize("tokens", [2, 3, 5])
@pytest.mark.parametrize("t", [R(0), R(1, 3), R(1)])
def test_the_mix_entries_are_those_of_the_matrix(tokens, t):
    model = _model(tokens)
    attention = (1 - t) * sympy.eye(tokens) + t * sympy.ones(tokens, tokens) / tokens
    expected = _gram(attention, model)
    known = _values(mixed("x", "t"), model | {"T": tokens, "t": t})
    assert known["x_diag"] == expected[0, 0] and known["x_off"] == expected[0, 1]
    ends = {R(0): diagonal("x"), R(1): uniform("x")}
    if t in ends:
        end = _values(ends[t], model | {"T": tokens})
        assert (end["x_diag"], end["x_off"]) == (known["x_diag"], known["x_off"])


@pytest.mark.parametrize("small, large, tokens", [(1, 2, 2), (1, 3, 3), (2, 3, 6), (2, 4, 4), (1, 2, 6)])
def test_the_equal_block_gap_is_the_difference_of_two_means(small, large, tokens):
    model = _model(tokens + small)
    derivation = equal_blocks()
    known = _values(derivation.definitions, model | {"k": small, "e": large - small, "rest": tokens - large})
    left, right = _sides(derivation.conclusions[0], known)
    means = [_pair_sum(_gram(_blocks([k] * (tokens // k)), model)) / (tokens * (tokens - 1)) for k in (large, small)]
    assert float(left) == pytest.approx(means[0] - means[1], abs=1e-12)
    assert left == right


@pytest.mark.parametrize("a, b, rest, sign", [(1, 1, [], 1), (1, 2, [3], 1), (2, 2, [1, 1], -1), (3, 1, [2], -1)])
def test_the_merging_gain_is_the_change_of_the_pair_sum(a, b, rest, sign):
    model = _model(a + b)
    model["tau"] = -model["phi"] / 2 + sign * min(model["t0"], model["phi"]) / 5
    rho = model["rho"]
    drift = 2 * model["tau"] + model["phi"]
    assert sympy.sign(drift) == sign
    values = {"a": a, "b": b, "shared": rho * model["g"], "noise": (1 - rho) * model["t0"], "pull": (1 - rho) * drift}
    height = {k: values["shared"] + values["noise"] + values["pull"] / k for k in {a, b, a + b, *rest}}
    values |= {"w_a": height[a]**R(-1, 2), "w_b": height[b]**R(-1, 2), "w_m": height[a + b]**R(-1, 2),
               "others": sum((k * height[k]**R(-1, 2) for k in rest), R(0))}
    derivation = merging_blocks()
    left, right = _sides(derivation.conclusions[0], _values(derivation.definitions, values))
    change = _pair_sum(_gram(_blocks([a + b, *rest]), model)) - _pair_sum(_gram(_blocks([a, b, *rest]), model))
    assert float(left) == pytest.approx(change, abs=1e-12)
    assert float(right) == pytest.approx(change, abs=1e-12)
    assert change * sign > 0


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("equal, unequal", [([2, 2], [3, 1]), ([2, 2, 2], [4, 1, 1]), ([3, 2], [4, 1])])
def test_unequal_blocks_of_one_number_have_the_larger_mean_for_either_drift(equal, unequal, sign):
    model = _model(3)
    model["tau"] = -model["phi"] / 2 + sign * min(model["t0"], model["phi"]) / 5
    assert _pair_sum(_gram(_blocks(unequal), model)) > _pair_sum(_gram(_blocks(equal), model))


def test_the_transfer_is_about_the_two_functions_that_make_up_the_pair_sum():
    """The pair sum is shared·(Σ S)² + Σ f over the blocks; the derivation's left side is the second difference of f."""
    model = _model(5)
    rho, drift = model["rho"], 2 * model["tau"] + model["phi"]
    shared, noise, pull = rho * model["g"], (1 - rho) * model["t0"], (1 - rho) * drift

    def s_square(k):
        return R(k) ** 2 / (shared + noise + pull / R(k))

    def f(k):
        return s_square(k) / k * (k - 1) * (shared + pull / R(k)) - shared * s_square(k)

    sizes = [4, 2, 1]
    split = shared * sum(sympy.sqrt(s_square(k)) for k in sizes) ** 2 + sum(map(f, sizes))
    assert float(split) == pytest.approx(_pair_sum(_gram(_blocks(sizes), model)), abs=1e-12)
    derivation = transfer_between_blocks()
    known = _values(derivation.definitions, {"k": 2, "e": 3, "shared": shared, "noise": noise, "pull": pull})
    left, right = _sides(derivation.conclusions[0], known)
    assert left == f(8) - 2 * f(5) + f(2) == right


def test_the_trap_is_the_mean_over_pairs_of_an_explicit_attention():
    model = {"rho": R(1, 2), "g": R(1), "t0": R(1), "tau": R(-1), "phi": R(1)}
    two, three = (_pair_sum(_gram(_blocks(sizes), model)) / 12 for sizes in ([2, 2], [3, 1]))
    assert two == pytest.approx(5 / 9)
    assert three == pytest.approx((2 / 5 + (3 / 5) ** 0.5) / 2)
    assert three > two


@pytest.mark.parametrize("below", COUNTERACTIONS)
def test_the_counteracting_values_act_on_explicit_tokens(below):
    alpha, beta = map(R, COUNTERACTIONS[below])
    tokens = sympy.Matrix([[R(3, 5), R(4, 5), 0], [R(3, 5), 0, R(4, 5)]])
    v = sympy.diag(alpha, beta, beta)

    def cosine(attention):
        out = tokens + attention * tokens * v.T
        gram = out * out.T
        assert gram[0, 0] == gram[1, 1] != 0
        return gram[0, 1] / gram[0, 0]

    uniform_value, diagonal_value = cosine(sympy.ones(2, 2) / 2), cosine(sympy.eye(2))
    assert (uniform_value < R(9, 25)) == (below in ("input", "both"))
    assert (uniform_value < diagonal_value) == (below in ("diagonal", "both"))
    known = _values(DERIVATIONS["O9"][f"below {below}"]().definitions, {})
    assert known["uniform_off"] / known["uniform_diag"] == uniform_value
    assert known["diagonal_off"] / known["diagonal_diag"] == diagonal_value


def test_the_depth_recursion_agrees_with_the_gram_matrix_of_correlated_tokens():
    """Two layers for an explicit Gram matrix: E over fresh V acts as K ↦ K + τ(AK + KAᵀ) + φAKAᵀ."""
    tokens, rho, tau, phi = 3, R(1, 4), R(1, 7), R(2, 3)
    a = sympy.ones(tokens, tokens) / tokens
    gram = sympy.Matrix(tokens, tokens, lambda i, j: 1 if i == j else rho)
    derivation = depth_recursion()
    for _ in range(2):
        known = _values(derivation.definitions, {"T": tokens, "rho": rho, "tau": tau, "phi": phi})
        gram = gram + tau * (a * gram + gram * a.T) + phi * a * gram * a.T
        gram = gram / gram[0, 0]
        assert gram[0, 1] == known["after_off"] / known["after_diag"]
        rho = gram[0, 1]
