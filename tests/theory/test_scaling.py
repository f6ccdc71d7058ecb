"""C8's exponents: derivations replayed by the independent reader, and the order against the exact cost at huge T."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf

import pytest
import sympy
from derivation_checker import check, rejects

from theory.costs_exchangeable import diagonal_cost, sink_cost
from theory.costs_lemmas import expand_definitions
from theory.costs_value import last_eigenvalue, value_cost
from theory.scaling import GEOMETRIES, PATTERNS, Cell, Order, describe, table, total_order
from theory.scaling_bounds import example, scaling_bounds
from theory.scaling_independent import derivations

HALF = Fraction(1, 2)
CELLS = table(geometries=GEOMETRIES) + table(geometries=("fading",), decay=Fraction(3, 2)) + table(target=HALF,
    combinations=("sum",)) + [
    Cell(growth=2, geometry="correlated", exponent=2, value_exponent=2, form="mass")]
# a prime to the table's sides
SOME = [cell for index, cell in enumerate(CELLS) if index % (41 if cell.geometry == "fading" else 7) == 0]


def exact_cost(cell: Cell, pattern: str, tokens: sympy.Expr) -> sympy.Expr:
    """The cost by C4's and C7's formulas at rho = 1/3, j = m = 1, L = 0 and a sink per geometry."""
    d = tokens**cell.growth
    r, kappa, omega = (d ** sympy.Rational(power) for power in (str(cell.norm), str(-cell.scale), str(cell.target)))
    third = sympy.Rational(1, 3)
    fading = third * tokens ** -sympy.Rational(str(cell.decay))
    rho, beta, sigma = {"orthonormal": (0, 0, 1), "correlated": (third, 0, 1),
                        "touching": (third, third, sympy.sqrt(third)),
                        "fading": (fading, 0, 1)}[
        cell.geometry]
    rho, beta, sigma = sympy.sympify(rho), sympy.sympify(beta), sympy.sympify(sigma)
    p = {inf: sympy.oo}.get(cell.exponent, cell.exponent)
    margin = 1 if cell.form == "margin" else sympy.log(tokens if pattern == "sink" else tokens - 1)
    if pattern == "sink":
        qk = sink_cost(tokens, r, rho, beta, sigma, margin) / kappa
    else:
        qk = diagonal_cost(tokens, r, rho, margin, p) / kappa
    last = last_eigenvalue(tokens, rho, beta, sigma, null_sink=pattern == "sink")
    value = value_cost(tokens, r, rho, last, omega, {inf: sympy.oo}.get(cell.value_exponent, cell.value_exponent))
    return {"qk": qk, "sum": qk + value, "product": qk * value}[cell.combination]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_order_is_that_of_the_exact_cost_at_huge_t(pattern):
    """cost/(T^a (log T)^b) changes by less than a tenth from 10^60 to 10^120, where log T doubles and T^(1/2) does
    not."""
    for cell in CELLS:
        order, ratios = total_order(cell, pattern), []
        for power in (60, 120):
            tokens = sympy.Integer(10) ** power
            reference = tokens ** sympy.Rational(str(order.exponent)) * sympy.log(tokens) ** order.log
            ratios.append(sympy.N(exact_cost(cell, pattern, tokens) / reference, 30))
        assert abs(ratios[1] / ratios[0] - 1) < 0.1, (cell, pattern)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_second_reader_accepts_the_derivations(pattern):
    for cell in SOME:
        check(scaling_bounds(cell, pattern))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_constants_are_free_of_t_and_log_t(pattern):
    for cell in SOME:
        found = scaling_bounds(cell, pattern)
        for name in ("low", "high"):
            symbols = {str(item) for item in expand_definitions(name, found.definitions).free_symbols}
            assert symbols <= {"j", "m", "L", "h", "c", "s2", "K"}, (cell, pattern, symbols)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_example_of_a_cell_meets_its_equations(pattern):
    for cell in SOME:
        found, values = scaling_bounds(cell, pattern), example(cell, pattern)
        point = {sympy.Symbol(name): sympy.Rational(value) for name, value in values.items()}
        assert set(values) == {item.name for item in found.parameters}
        for formula in found.assumptions.values():
            left, relation, right = formula.partition(" == ") if "==" in formula else formula.partition(" >= ")
            gap = expand_definitions(f"({left}) - ({right})", found.definitions).subs(point)
            assert gap == 0 if relation == " == " else gap >= 0


@pytest.mark.parametrize("pattern, moved", [("sink", 1), ("diagonal", 1), ("sink", -1), ("diagonal", -1)])
def test_a_derivation_with_its_exponent_moved_by_a_half_is_rejected(pattern, moved):
    found = scaling_bounds(Cell(), pattern)
    half = total_order(Cell(), pattern).half
    change = lambda text: text.replace(f"*t**{half}", f"*t**{half + moved}")  # noqa: E731
    wrong = replace(found, lemmas=tuple(replace(item, formula=change(item.formula)) for item in found.lemmas),
                    conclusions=tuple(map(change, found.conclusions)))
    assert not rejects(found) and rejects(wrong)


def test_the_cell_of_the_claim_gives_one_and_three_halves_and_its_neighbours_do_not():
    both = lambda **changes: tuple(str(total_order(Cell(**changes), pattern)) for pattern in PATTERNS)  # noqa: E731
    assert both() == ("T", "T^(3/2)")
    assert both(exponent=2, value_exponent=2) == ("T", "T")
    assert both(scale=Fraction(0)) == ("T", "T")
    assert both(scale=Fraction(0), combination="product", value_exponent=2) == ("T", "T^(3/2)")
    assert both(norm=HALF) == ("T^(1/2)", "T^(1/2)")
    assert both(norm=HALF, target=-HALF) == ("1", "T^(1/2)")
    assert both(norm=HALF, target=HALF) == ("T", "T")
    assert both(geometry="correlated") == ("T", "T^(3/2)")
    assert both(geometry="correlated", combination="qk") == ("T^(1/2)", "T^(3/2)")
    assert both(geometry="fading", decay=HALF, combination="qk") == ("T^(3/4)", "T^(3/2)")
    assert both(geometry="fading", decay=HALF) == ("T", "T^(3/2)")
    assert both(geometry="fading", decay=Fraction(2), combination="qk") == both(combination="qk") == ("T", "T^(3/2)")
    assert both(form="mass") == ("T log T", "T^(3/2) log T")


def test_orders_compare_powers_first_and_logs_second():
    assert Order(2) < Order(2, 1) < Order(2, 0, HALF) < Order(2, 1, HALF) < Order(3) and Order(1) * Order(1,
        1) == Order(2, 1)
    assert [str(Order(*item)) for item in ((0,), (0, 1), (-1,), (4,), (3, 1), (1, 0, HALF))] == ["1", " log T".strip(),
        "T^(-1/2)", "T^2", "T^(3/2) log T", "T^(3/4)"]


@pytest.mark.parametrize("changes", [{"geometry": "random"}, {"exponent": 3}, {"form": "soft"}, {"combination": "max"},
                                     {"norm": Fraction(1, 3)}, {"growth": 0}, {"geometry": "fading"}, {"decay": HALF}])
def test_a_cell_outside_the_models_is_one_sentence(changes):
    with pytest.raises(ValueError, match="expected .* got .*;"):
        Cell(**changes)


def test_the_table_has_every_combination_once_and_words_for_each():
    cells = table()
    assert len(cells) == len(set(cells)) == 144
    assert describe(cells[0]) == {"d": "T", "r": "1", "kappa": "1", "omega": "1", "rho": "0", "geometry": "orthonormal",
                                  "p": "1",
                                  "p_value": "1", "form": "margin", "values": "null", "combination": "QK + VO"}


@pytest.mark.parametrize("name", ["lower_bound", "upper_bound", "common_direction"])
def test_a_second_reader_accepts_the_bounds_for_any_tokens_and_refuses_them_without_an_assumption(name):
    found = derivations()[name]
    check(found)
    for key in found.assumptions:
        assert rejects(replace(found, assumptions={k: v for k, v in found.assumptions.items() if k != key}))
