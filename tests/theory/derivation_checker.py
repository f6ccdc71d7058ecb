"""An independent reading of `theory.statements`: checks every lemma with sympy's polynomial fields, not the kernel.

Raises `NotProved` with the first lemma that does not follow.  Written from the documentation of `Lemma` alone.
"""

from __future__ import annotations

import ast
from fractions import Fraction
from functools import cache
from itertools import product

from sympy import QQ
from sympy.polys.fields import FracElement, field
from sympy.polys.rings import PolyElement

from theory.statements import Derivation, Lemma, Parameter


class NotProved(AssertionError):
    """A lemma, a divisor or a conclusion that the given reasons do not establish."""


class Reader:
    def __init__(self, derivation: Derivation):
        self.parameters = {p.name: p for p in derivation.parameters} or {"unused": Parameter("unused")}
        if len(self.parameters) < len(derivation.parameters):
            raise NotProved("two parameters have one name")
        self.field, *generators = field(tuple(self.parameters), QQ)
        self.names: dict[str, FracElement] = dict(zip(self.parameters, generators))
        self.known: list[tuple[FracElement, bool]] = []
        self.equations: dict[str, FracElement] = {}
        self.values: dict[str, FracElement] = {}
        for parameter, x in zip(self.parameters.values(), generators):
            if parameter.minimum is not None:
                self.known.append((x - _rational(parameter.minimum), parameter.open_min))
            if parameter.maximum is not None:
                self.known.append((-x + _rational(parameter.maximum), parameter.open_max))
        waiting = [(name, text, False) for name, text in derivation.definitions.items()]
        waiting += [(name, text, True) for name, text in derivation.assumptions.items()]
        while waiting:
            postponed = []
            for name, text, assumed in waiting:
                try:
                    if assumed:
                        self._assume(name, text)
                    else:
                        self.names[name] = self.read(text)
                except (NotProved, KeyError):
                    postponed.append((name, text, assumed))
            if len(postponed) == len(waiting):
                raise NotProved(f"cannot read {postponed[0]}")
            waiting = postponed

    def _assume(self, name: str, text: str) -> None:
        relation, left, right = self.relation(text)
        if relation == "==":
            self.equations[name] = left - right
        else:
            self.known.append((left - right, relation == ">"))

    def relation(self, text: str) -> tuple[str, FracElement, FracElement]:
        node = ast.parse(text, mode="eval").body
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            raise NotProved(f"not one relation: {text}")
        left, right = node.left, node.comparators[0]
        relation = {ast.Eq: "==", ast.Gt: ">", ast.GtE: ">="}[type(node.ops[0])]
        if isinstance(left, ast.Call):
            left, right, relation = left.args[0], right.args[0], "sign"
        return relation, self._value(left), self._value(right)

    def read(self, text: str) -> FracElement:
        return self._value(ast.parse(text, mode="eval").body)

    def _value(self, node: ast.expr) -> FracElement:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return self.field(node.value)
        if isinstance(node, ast.Name):
            return self.names[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._value(node.operand)
        if not isinstance(node, ast.BinOp):
            raise NotProved(f"not in the formula language: {ast.dump(node)[:80]}")
        # what is known only grows, so an expression that was once defined stays so, with the same value
        key = ast.dump(node)
        if key not in self.values:
            self.values[key] = self._operation(node)
        return self.values[key]

    def _operation(self, node: ast.BinOp) -> FracElement:
        left = self._value(node.left)
        if isinstance(node.op, ast.Pow):
            exponent = ast.literal_eval(node.right)
            if exponent < 0:
                self._need_nonzero(left)
            return left**exponent
        right = self._value(node.right)
        if isinstance(node.op, ast.Div):
            self._need_nonzero(right)
            return left / right
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        raise NotProved(f"not in the formula language: {ast.dump(node.op)}")

    def _need_nonzero(self, divisor: FracElement) -> None:
        if divisor == 0:
            raise NotProved("division by zero")
        for factor, _ in divisor.numer.factor_list()[1]:
            if self.sign(factor)[1]:
                continue
            if any(strict and not expression.numer.rem(factor) for expression, strict in self.known):
                continue
            raise NotProved(f"the divisor {factor} has no known sign")

    def sign(self, polynomial: PolyElement) -> tuple[int, bool]:
        """(sign, strict) on the whole domain when the shifted coefficients show it, else (0, False)."""
        if not polynomial:
            return 0, False
        terms: dict[tuple[int, ...], Fraction] = {
            monomial: Fraction(int(c.numerator), int(c.denominator)) for monomial, c in polynomial.terms()
        }
        tops = []
        for index, parameter in enumerate(self.parameters.values()):
            top = max(monomial[index] for monomial in terms)
            tops.append(top)
            shifted: dict[tuple[int, ...], Fraction] = {}
            for monomial, coefficient in terms.items():
                for power, c in enumerate(_shifted_power(parameter, monomial[index], top)):
                    if c:
                        key = monomial[:index] + (power,) + monomial[index + 1 :]
                        shifted[key] = shifted.get(key, Fraction(0)) + coefficient * c
            terms = {key: c for key, c in shifted.items() if c}
        free = [i for i, p in enumerate(self.parameters.values()) if p.minimum is None and p.maximum is None]
        if (
            any(monomial[i] % 2 for monomial in terms for i in free)
            or len({c > 0 for c in terms.values()}) != 1
        ):
            return 0, False
        places = [_places(p, top) for p, top in zip(self.parameters.values(), tops)]
        strict = all(
            any(all(at is None or power == at for power, at in zip(monomial, face)) for monomial in terms)
            for face in product(*places)
        )
        return (1 if next(iter(terms.values())) > 0 else -1), strict

    def _is_nonnegative(self, text: str) -> tuple[FracElement, bool]:
        value = self.read(text)
        facts = [strict for expression, strict in self.known if expression == value]
        if facts:
            return value, any(facts)
        numerator, denominator = self.sign(value.numer), self.sign(value.denom)
        if numerator[0] * denominator[0] == 1 and denominator[1]:
            return value, numerator[1]
        node = ast.parse(text, mode="eval").body
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Pow)
            and ast.literal_eval(node.right) % 2 == 0
        ):
            try:
                self._need_nonzero(value)
            except NotProved:
                return value, False
            return value, True
        raise NotProved(f"the factor {text} is not known to be nonnegative")

    def check(self, lemma: Lemma) -> None:
        relation, left, right = self.relation(lemma.formula)
        difference = left - right
        for name, multiplier in lemma.multipliers.items():
            difference -= self.read(multiplier) * self.equations[name]
        if lemma.by == "identity":
            if relation != "==" or difference != 0:
                raise NotProved(f"not an identity: {lemma.formula}")
        elif lemma.by == "factor":
            factor, strict = self._is_nonnegative(lemma.factor or "0")
            if relation != "sign" or not strict or left != factor * right:
                raise NotProved(f"the factor does not prove {lemma.formula}")
        elif lemma.by == "orthant":
            numerator, denominator = self.sign(difference.numer), self.sign(difference.denom)
            good = numerator[0] * denominator[0] == 1 and denominator[1]
            good = good and (numerator[1] if relation == ">" else relation == ">=")
            if not (good or (relation == ">=" and difference == 0)):
                raise NotProved(f"coefficients of both signs: {lemma.formula}")
            self.known.append((left - right, relation == ">"))
        elif lemma.by == "terms":
            total, some_strict = self.field(0), False
            for coefficient, factors in lemma.terms:
                if not Fraction(coefficient) > 0:
                    raise NotProved(f"a coefficient is not positive: {lemma.formula}")
                term, strict = self.field(1) * _rational(coefficient), True
                for text in factors:
                    value, is_strict = self._is_nonnegative(text)
                    term, strict = term * value, strict and is_strict
                total, some_strict = total + term, some_strict or strict
            if relation not in (">", ">=") or total != difference or (relation == ">" and not some_strict):
                raise NotProved(f"the terms do not prove {lemma.formula}")
            self.known.append((left - right, relation == ">"))
        else:
            raise NotProved(f"unknown reason {lemma.by}")


def check(derivation: Derivation) -> None:
    """Raise `NotProved` unless every lemma follows from the ones before it and every conclusion is a lemma."""
    reader = Reader(derivation)
    if not derivation.conclusions:
        raise NotProved("a derivation needs a conclusion")
    for lemma in derivation.lemmas:
        reader.check(lemma)
    missing = set(derivation.conclusions) - {lemma.formula for lemma in derivation.lemmas}
    if missing:
        raise NotProved(f"no lemma for {missing}")


def rejects(derivation: Derivation) -> bool:
    """True when some step fails."""
    try:
        check(derivation)
    except (NotProved, KeyError):
        return True
    return False


def _rational(text: str) -> object:
    value = Fraction(text)
    return QQ(value.numerator, value.denominator)


def _binomial_power(constant: Fraction, slope: Fraction, exponent: int) -> list[Fraction]:
    result = [Fraction(1)]
    for _ in range(exponent):
        result = [
            (constant * result[k] if k < len(result) else 0) + (slope * result[k - 1] if k else 0)
            for k in range(len(result) + 1)
        ]
    return result


@cache
def _shifted_power(parameter: Parameter, exponent: int, top: int) -> list[Fraction]:
    """Coefficients in u of x^exponent, times (1 + u)^top when x runs over a bounded interval."""
    low = None if parameter.minimum is None else Fraction(parameter.minimum)
    high = None if parameter.maximum is None else Fraction(parameter.maximum)
    if low is not None and high is not None:
        first = _binomial_power(low, high, exponent)
        second = _binomial_power(Fraction(1), Fraction(1), top - exponent)
        result = [Fraction(0)] * (top + 1)
        for i, a in enumerate(first):
            for j, b in enumerate(second):
                result[i + j] += a * b
        return result
    if low is not None:
        return _binomial_power(low, Fraction(1), exponent)
    return _binomial_power(high or Fraction(0), Fraction(1 if high is None else -1), exponent)


def _places(parameter: Parameter, top: int) -> list[int | None]:
    """Exponents that survive at each closed end of the range; `None` (any exponent) stands for the interior."""
    ends: list[int | None] = [None]
    if parameter.minimum is None and parameter.maximum is None:
        return [0]
    if parameter.minimum is None:
        return ends if parameter.open_max else [0]
    if not parameter.open_min:
        ends.append(0)
    if parameter.maximum is not None and not parameter.open_max:
        ends.append(top)
    return ends
