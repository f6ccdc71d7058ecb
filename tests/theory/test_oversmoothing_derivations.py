"""Every lemma of family O is replayed here by a second checker, built on sympy's sparse fraction fields.

It shares no code with the kernel: strict positivity is decided by evaluating at the corners of the domain rather than
by supports of monomials, and divisors by factoring.
"""

import ast
from dataclasses import replace
from itertools import product

import pytest
import sympy
from sympy import QQ
from sympy.polys.fields import FracField
from sympy.polys.orderings import lex

from theory.oversmoothing import DERIVATIONS, TRAPS
from theory.oversmoothing_blocks import equal_blocks, transfer_between_blocks
from theory.oversmoothing_signs import mix_maximum, mix_slope, uniform_against_diagonal, uniform_against_input
from theory.statements import Derivation, Lemma, Parameter


class Invalid(Exception):
    pass


class Replay:
    def __init__(self, derivation: Derivation):
        self.parameters = derivation.parameters or (Parameter("unused"),)
        self.field = FracField([p.name for p in self.parameters], QQ, lex)
        self.names = {p.name: x for p, x in zip(self.parameters, self.field.gens)}
        self.known: list[tuple[object, bool]] = []
        self.equal: dict[str, object] = {}
        for p in self.parameters:
            if p.minimum is not None:
                self.known.append((self.names[p.name] - sympy.Rational(p.minimum), p.open_min))
            if p.maximum is not None:
                self.known.append((sympy.Rational(p.maximum) - self.names[p.name], p.open_max))
        waiting = [("define", *item) for item in derivation.definitions.items()]
        waiting += [("assume", *item) for item in derivation.assumptions.items()]
        while waiting:  # an assumption may need a definition, a definition's divisor an assumption
            left = []
            for what, name, formula in waiting:
                try:
                    if what == "define":
                        self.names[name] = self.value(ast.parse(formula, mode="eval").body)
                    else:
                        relation, a, b = self.relation(formula)
                        if relation == "==":
                            self.equal[name] = a - b
                        else:
                            self.known.append((a - b, relation == ">"))
                except (Invalid, KeyError):
                    left.append((what, name, formula))
            if len(left) == len(waiting):
                raise Invalid(left[0])
            waiting = left

    def relation(self, formula: str):
        node = ast.parse(formula, mode="eval").body
        assert isinstance(node, ast.Compare) and len(node.ops) == 1
        symbol = {ast.Eq: "==", ast.Gt: ">", ast.GtE: ">="}[type(node.ops[0])]
        left, right = node.left, node.comparators[0]
        if isinstance(left, ast.Call):
            assert left.func.id == right.func.id == "sign" and symbol == "=="
            return "sign", self.value(left.args[0]), self.value(right.args[0])
        return symbol, self.value(left), self.value(right)

    def expression(self, formula: str):
        return self.value(ast.parse(formula, mode="eval").body)

    def value(self, node):
        match node:
            case ast.Constant(value=int() as number):
                return self.field(number)
            case ast.Name(id=name):
                return self.names[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.value(operand)
            case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() as power)):
                return self.value(left) ** power
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return self.value(left) / self.nonzero(self.value(right))
            case ast.BinOp(left=left, op=op, right=right):
                a, b = self.value(left), self.value(right)
                return {ast.Add: a + b, ast.Sub: a - b, ast.Mult: a * b}[type(op)]
        raise Invalid(ast.dump(node))

    def nonzero(self, value):
        for factor, _ in value.numer.factor_list()[1]:
            by_known = any(strict and k.numer.rem(factor) == 0 for k, strict in self.known)
            if not by_known and not self.orthant_sign(factor)[1]:
                raise Invalid(f"may vanish: {factor}")
        if value == 0:
            raise Invalid("division by zero")
        return value

    def orthant_sign(self, polynomial):
        """(s, strict): every coefficient has sign s once each parameter is written by its distances to its bounds."""
        poly = sympy.Poly(polynomial.as_expr(), *map(sympy.Symbol, (p.name for p in self.parameters)), domain=QQ)
        corners = []
        for p in self.parameters:
            x, u = sympy.Symbol(p.name), sympy.Symbol(f"u_{p.name}")
            low, high = (None if b is None else sympy.Rational(b) for b in (p.minimum, p.maximum))
            if low is not None and high is not None:
                degree = sympy.degree(poly.as_expr(), x) if poly.as_expr().has(x) else 0
                expr = sympy.expand(poly.as_expr().subs(x, (low + high * u) / (1 + u)) * (1 + u) ** degree)
                ends = [e for e, is_open in ((low, p.open_min), (high, p.open_max)) if not is_open]
                corners.append(ends or [(low + high) / 2])
                poly = sympy.Poly(sympy.cancel(expr), *poly.gens, u)
            elif low is not None or high is not None:
                line = low + u if low is not None else high - u
                is_open = p.open_min if low is not None else p.open_max
                corners.append([line.subs(u, 1 if is_open else 0)])
                poly = sympy.Poly(poly.as_expr().subs(x, line), *poly.gens, u)
            else:
                corners.append([sympy.Integer(0)])
                if any(m[poly.gens.index(x)] % 2 for m in poly.monoms()):
                    return 0, False
        signs = {sympy.sign(c) for c in poly.coeffs()}
        if len(signs) != 1 or signs == {0}:
            return 0, False
        names = [p.name for p in self.parameters]
        strict = all(polynomial.as_expr().subs(dict(zip(names, corner))) != 0 for corner in product(*corners))
        return int(signs.pop()), strict

    def nonnegative(self, formula: str):
        value = self.expression(formula)
        for known, strict in sorted(self.known, key=lambda item: not item[1]):
            if value == known:
                return value, strict
        node = ast.parse(formula, mode="eval").body
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and node.right.value % 2 == 0:
            try:
                self.nonzero(value)
            except Invalid:
                return value, False
            return value, True
        return value, self.orthant(value)

    def orthant(self, value) -> bool:
        (top, strict), (bottom, defined) = self.orthant_sign(value.numer), self.orthant_sign(value.denom)
        if value != 0 and not (top * bottom == 1 and defined):
            raise Invalid(f"no sign seen: {value}")
        return value != 0 and strict

    def check(self, lemma: Lemma) -> None:
        relation, a, b = self.relation(lemma.formula)
        gap = a - b - sum(self.expression(m) * self.equal[name] for name, m in lemma.multipliers.items())
        if lemma.by == "identity":
            if relation != "==" or gap != 0:
                raise Invalid(f"not an identity: {lemma.formula}")
            return
        if lemma.by == "factor":
            factor = self.expression(lemma.factor)
            if relation != "sign" or a != factor * b:
                raise Invalid(f"factor does not fit: {lemma.formula}")
            if not any(strict and factor == k for k, strict in self.known) and not self.orthant(factor):
                raise Invalid(f"factor not known positive: {lemma.factor}")
            return
        if lemma.by == "orthant":
            strict = self.orthant(gap)
        else:
            total, strict = self.field(0), False
            for weight, factors in lemma.terms:
                weight = sympy.Rational(weight)
                if not weight > 0:
                    raise Invalid("a weight must be positive")
                parts = [self.nonnegative(f) for f in factors]
                term = self.field(QQ(weight.p, weight.q))
                for value, _ in parts:
                    term *= value
                total, strict = total + term, strict or all(s for _, s in parts)
            if total != gap:
                raise Invalid(f"the terms do not add up: {lemma.formula}")
        if relation not in (">", ">=") or (relation == ">" and not strict):
            raise Invalid(f"not strict: {lemma.formula}")
        self.known.append((a - b, relation == ">"))


def replay(derivation: Derivation) -> None:
    state = Replay(derivation)
    for lemma in derivation.lemmas:
        state.check(lemma)
    proved = {lemma.formula for lemma in derivation.lemmas}
    if not derivation.conclusions or not set(derivation.conclusions) <= proved:
        raise Invalid("a conclusion is not a lemma")


ALL = {f"{claim}: {name}": recipe for table in (DERIVATIONS, TRAPS) for claim, group in table.items()
       for name, recipe in group.items()}


SLOW = ("O7: merging", "O1: T=2, d=3", "O1: T=3, d=2", "O1m: T=2, d=2, two heads")


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in ALL])
def test_every_lemma_is_as_claimed(name):
    replay(ALL[name]())


def _changed(derivation: Derivation, index: int, **changes) -> Derivation:
    lemmas = list(derivation.lemmas)
    lemmas[index] = replace(lemmas[index], **changes)
    return replace(derivation, lemmas=tuple(lemmas), conclusions=(lemmas[index].formula,))


def _find(derivation: Derivation, by: str) -> int:
    return max(i for i, lemma in enumerate(derivation.lemmas) if lemma.by == by)


@pytest.mark.parametrize("recipe", [uniform_against_diagonal, uniform_against_input, mix_slope, mix_maximum])
def test_a_flipped_sign_in_a_conclusion_is_rejected(recipe):
    derivation = recipe()
    index = _find(derivation, "factor")
    left, right = derivation.lemmas[index].formula.split(" == sign(")
    with pytest.raises(Invalid):
        replay(_changed(derivation, index, formula=f"{left} == sign(-({right})"))


@pytest.mark.parametrize("wrong", ["2*tau + 2*phi", "tau + phi", "2*tau - phi"])
def test_a_wrong_drift_is_rejected(wrong):
    derivation = uniform_against_diagonal()
    with pytest.raises(Invalid):
        replay(replace(derivation, definitions={**derivation.definitions, "drift": wrong}))


def test_a_constant_off_by_one_percent_is_rejected():
    derivation = mix_slope()
    index = _find(derivation, "identity")
    left, right = derivation.lemmas[index].formula.split(" == ")
    with pytest.raises(Invalid):
        replay(_changed(derivation, index, formula=f"{left} == 101*({right})/100"))


@pytest.mark.parametrize("recipe, assumption", [
    (uniform_against_diagonal, "nondegenerate"), (mix_slope, "nondegenerate"), (mix_slope, "energy_t"),
    (uniform_against_input, "energy"), (equal_blocks, "nondegenerate"), (transfer_between_blocks, "energy")])
def test_every_assumption_is_used(recipe, assumption):
    derivation = recipe()
    kept = {name: formula for name, formula in derivation.assumptions.items() if name != assumption}
    assert len(kept) == len(derivation.assumptions) - 1
    with pytest.raises(Invalid):
        replay(replace(derivation, assumptions=kept))


def test_o5_needs_a_positive_own_trace():
    derivation = uniform_against_input()
    closed = tuple(replace(p, open_min=False) if p.name == "t0" else p for p in derivation.parameters)
    with pytest.raises(Invalid):
        replay(replace(derivation, parameters=closed))


def test_o4_needs_a_positive_phi_for_strict_monotonicity():
    derivation = DERIVATIONS["O4"]["increasing"]()
    closed = tuple(replace(p, open_min=False) if p.name == "phi" else p for p in derivation.parameters)
    with pytest.raises(Invalid):
        replay(replace(derivation, parameters=closed))


def test_a_missing_multiplier_is_rejected():
    derivation = TRAPS["O7"]["unequal blocks with D < 0"]()
    index = next(i for i, lemma in enumerate(derivation.lemmas) if lemma.multipliers)
    with pytest.raises(Invalid):
        replay(_changed(derivation, index, multipliers={}))


def test_a_negative_weight_is_rejected():
    derivation = uniform_against_diagonal()
    index = next(i for i, lemma in enumerate(derivation.lemmas) if lemma.terms)
    terms = tuple((f"-{weight}", factors) for weight, factors in derivation.lemmas[index].terms)
    with pytest.raises(Invalid):
        replay(_changed(derivation, index, terms=terms))


def test_a_conclusion_without_a_lemma_is_rejected():
    with pytest.raises(Invalid):
        replay(replace(uniform_against_diagonal(), conclusions=("drift >= 0",)))


def test_a_divisor_that_may_vanish_is_rejected():
    with pytest.raises(Invalid):
        replay(Derivation((Parameter("x", minimum="0"),), {}, {}, (Lemma("x/x == 1", "identity"),), ("x/x == 1",)))
