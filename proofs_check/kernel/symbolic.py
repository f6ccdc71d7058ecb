"""Statements about rational functions of named parameters, proved for the whole domain by polynomial arithmetic.

A derivation is a list of lemmas, each with its reason (`identity`, `orthant`, `terms`, `factor`; see
`theory/statements.py`, which is what the producer reads; the checks here do not depend on it).  `cover` proves a
relation that contains exp, log or fractional powers, by ball arithmetic over boxes that tile the parameters' box.
"""

from __future__ import annotations

import ast
from itertools import product
from math import comb, prod

from flint import arb, ctx, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from proofs_check.kernel.encoding import Rejected, TooMuch, field, need, read_number
from proofs_check.kernel.formula import MAX_POWER, Evaluator, Spent, parse, usable_name
from proofs_check.kernel.values import MAX_BITS, Undecided, bits

MAX_TERMS = 200_000
MAX_WORK, MAX_TOTAL = 50_000_000, 500_000_000  # of one operation and of one derivation, a unit below a microsecond
COVER_PRECISION = 64


class Work:
    """Polynomial arithmetic whose work is estimated and counted before it is done; no derivation takes hours."""

    def __init__(self) -> None:
        self.done = 0

    def spend(self, units: int) -> None:
        self.done += max(1, units)
        need(units <= MAX_WORK, "a polynomial grew too large", TooMuch)
        need(self.done <= MAX_TOTAL, "the polynomials of this derivation are too many or too large", TooMuch)

    def times(self, left: fmpq_mpoly, right: fmpq_mpoly) -> fmpq_mpoly:
        """The product: about terms times terms times words of a coefficient."""
        words = 1 + (longest(left) + longest(right)) // 64
        self.spend(len(left) * len(right) * words)
        need(words <= MAX_BITS // 64 and all(a + b <= MAX_POWER for a, b in zip(left.degrees(), right.degrees())),
             "a polynomial grew too large", TooMuch)
        return left * right

    def power(self, base: fmpq_mpoly, exponent: int) -> fmpq_mpoly:
        """The power; its terms are at most so many as multinomials, or as exponents fit its box."""
        if len(base) > 1:
            box = prod(degree * exponent + 1 for degree in base.degrees())
            terms = min(comb(len(base) + exponent - 1, exponent), box)
            need(terms <= MAX_TERMS, "a polynomial grew too large", TooMuch)
            self.spend(terms * exponent * longest(base) // 64)
        need(longest(base) * exponent <= MAX_BITS and all(degree * exponent <= MAX_POWER for degree in base.degrees()),
             "a polynomial grew too large", TooMuch)
        return base**exponent

    def common_divisor(self, left: fmpq_mpoly, right: fmpq_mpoly) -> fmpq_mpoly:
        """The greatest one: about terms times degrees, and the cofactors, which can fill the box of the exponents."""
        words = 1 + max(longest(left), longest(right)) // 64
        box = max(map(box_of, (left, right))) if min(len(left), len(right)) > 1 else 0
        self.spend((len(left) + len(right)) * (1 + sum(left.degrees()) + sum(right.degrees())) * words + box // 4)
        return left.gcd(right)

    def lowest_terms(self, top: fmpq_mpoly, bottom: fmpq_mpoly) -> tuple[fmpq_mpoly, fmpq_mpoly]:
        common = self.common_divisor(top, bottom)
        return (top, bottom) if common.is_one() else (top // common, bottom // common)

    def factors(self, polynomial: fmpq_mpoly) -> list[fmpq_mpoly]:
        """The irreducible factors: about the box of the exponents and, as for two variables, the degree's cube."""
        self.spend(box_of(polynomial) + sum(polynomial.degrees()) ** 3 * (1 + longest(polynomial) // 64))
        return [factor for factor, _ in polynomial.factor()[1]]


class Fraction:
    """A quotient of polynomials; the denominator has been shown nonzero on the domain by whoever built it."""

    def __init__(self, top: fmpq_mpoly, bottom: fmpq_mpoly, work: Work):
        self.work = work
        self.top, self.bottom = work.lowest_terms(top, bottom)
        need(len(self.top) <= MAX_TERMS, "a polynomial grew too large", TooMuch)

    def __add__(self, other: Fraction) -> Fraction:
        times = self.work.times
        return Fraction(times(self.top, other.bottom) + times(other.top, self.bottom), times(self.bottom, other.bottom),
                        self.work)

    def __sub__(self, other: Fraction) -> Fraction:
        times = self.work.times
        return Fraction(times(self.top, other.bottom) - times(other.top, self.bottom), times(self.bottom, other.bottom),
                        self.work)

    def __mul__(self, other: Fraction) -> Fraction:
        times = self.work.times
        return Fraction(times(self.top, other.top), times(self.bottom, other.bottom), self.work)

    def __pow__(self, exponent: int) -> Fraction:
        return Fraction(self.work.power(self.top, exponent), self.work.power(self.bottom, exponent), self.work)

    def equals(self, other: Fraction) -> bool:
        times = self.work.times
        return bool((times(self.top, other.bottom) - times(other.top, self.bottom)).is_zero())


def box_of(polynomial: fmpq_mpoly) -> int:
    """How many terms a polynomial with these degrees can have."""
    return prod(degree + 1 for degree in polynomial.degrees())


def longest(polynomial: fmpq_mpoly) -> int:
    return max((bits(coefficient) for coefficient in polynomial.coeffs()), default=1)


class Domain:
    """Parameters with rational bounds: the set over which every lemma must hold."""

    def __init__(self, parameters: list):
        self.names, self.bounds, self.work = [], {}, Work()
        for table in parameters:
            name = field(table, "name", str, "parameter")
            need(usable_name(name) and name not in self.bounds, f"parameter '{name}' is repeated or not a name")
            low, high = (read_number(table[end], name) if end in table else None for end in ("minimum", "maximum"))
            need(low is None or high is None or bool(low < high), f"parameter '{name}' has an empty range")
            flags = [table.get(flag, "false") for flag in ("open_min", "open_max")]
            need(all(flag in ("true", "false") for flag in flags), f"parameter '{name}': open_min, open_max are flags")
            self.names.append(name)
            self.bounds[name] = (low, high, flags[0] == "true", flags[1] == "true")
        self.ring = fmpq_mpoly_ctx.get(tuple(self.names))
        self.variables = dict(zip(self.names, self.ring.gens()))
        # u_x, v_x >= 0 stand for the distances to the lower and the upper bound
        self.orthant = fmpq_mpoly_ctx.get(tuple(f"{side}_{name}" for name in self.names for side in "uv"))

    def constant(self, value: object) -> Fraction:
        return self.fraction(self.ring.constant(fmpq(value)))

    def fraction(self, polynomial: fmpq_mpoly) -> Fraction:
        return Fraction(polynomial, self.ring.constant(1), self.work)

    def sign(self, polynomial: fmpq_mpoly) -> tuple[int, bool]:
        """(s, strict): s·polynomial >= 0 on the domain by coefficient signs, and > 0 if strict; (0, False) if not seen.

        A bounded x becomes (lo·v + hi·u)/(u + v), made homogeneous; x >= lo becomes lo + u; a free x stays u and may
        occur in even powers only.  Strictness needs, for every face of the domain, a monomial that lives on it.
        """
        terms = polynomial.to_dict()
        if not terms:
            return 0, False
        gens = self.orthant.gens()
        degrees = polynomial.degrees()
        self.work.spend(len(terms) * box_of(polynomial)
                        + sum((degree + 1) ** 2 * (1 + degree // 64) for degree in degrees))  # the tables of powers
        powers = []
        for index, name in enumerate(self.names):
            low, high, _, _ = self.bounds[name]
            u, v, degree = gens[2 * index], gens[2 * index + 1], degrees[index]
            if low is not None and high is not None:
                table = [(low * v + high * u) ** k * (u + v) ** (degree - k) for k in range(degree + 1)]
            else:
                line = low + u if low is not None else high - v if high is not None else u
                table = [line**k for k in range(degree + 1)]
            powers.append(table)
        expanded = self.orthant.constant(0)
        for exponents, coefficient in terms.items():
            term = self.orthant.constant(coefficient)
            for table, exponent in zip(powers, exponents):
                term = term * table[exponent]
            expanded += term
        monomials = expanded.to_dict()
        need(len(monomials) <= MAX_TERMS, "a polynomial grew too large", TooMuch)
        free = [2 * index for index, name in enumerate(self.names) if self.bounds[name][:2] == (None, None)]
        if any(exponents[index] % 2 for exponents in monomials for index in free):
            return 0, False
        signs = {1 if coefficient > 0 else -1 for coefficient in monomials.values()}
        if len(signs) != 1:
            return 0, False
        faces = [self._faces(index, name) for index, name in enumerate(self.names) if degrees[index]]
        supports = [{i for i, exponent in enumerate(exponents) if exponent} for exponents in monomials]
        self.work.spend(prod(map(len, faces)) * len(supports))
        strict = all(any(support <= set().union(*face) for support in supports) for face in product(*faces))
        return signs.pop(), strict

    def _faces(self, index: int, name: str) -> list[set[int]]:
        """The smallest sets of orthant variables that can be positive together: one per closed end of the range."""
        low, high, open_min, open_max = self.bounds[name]
        u, v = 2 * index, 2 * index + 1
        if low is not None and high is not None:
            return [face for face, is_open in (({v}, open_min), ({u}, open_max)) if not is_open] or [{u, v}]
        if low is not None:
            return [{u} if open_min else set()]
        return [{v} if high is not None and open_max else set()]


class Prover:
    """Holds what is already known on the domain and checks one lemma after the other."""

    def __init__(self, part: dict):
        self.domain = Domain(field(part, "parameters", list, "part"))
        self.definitions: dict[str, Fraction] = {}
        self.known: list[tuple[Fraction, bool]] = []  # expressions >= 0, with a flag for > 0
        self.equalities: dict[str, Fraction] = {}
        for name, (low, high, open_min, open_max) in self.domain.bounds.items():
            x = self.domain.fraction(self.domain.variables[name])
            if low is not None:
                self.known.append((x - self.domain.constant(low), open_min))
            if high is not None:
                self.known.append((self.domain.constant(high) - x, open_max))
        definitions = list(field(part, "definitions", list, "part"))
        assumptions = {field(item, "name", str, "hypothesis"): field(item, "formula", str, "hypothesis")
                       for item in field(part, "hypotheses", list, "part")}
        need(len(assumptions) == len(part["hypotheses"]), "two hypotheses have one name")
        # An assumption may speak of definitions and a definition may divide by what an assumption makes positive,
        # so each is read as soon as everything it needs is there.
        pending = [("assume", name, text) for name, text in assumptions.items()]
        pending += [("define", name, text) for name, text in definitions]
        while pending:
            later = []
            for item in pending:
                try:
                    self._assume(*item[1:]) if item[0] == "assume" else self._define(*item[1:])
                except Rejected as reason:
                    later.append(item)
                    last = reason
            if len(later) == len(pending):
                raise last
            pending = later

    def _define(self, name: str, text: str) -> None:
        need(usable_name(name) and name not in self.domain.bounds and name not in self.definitions,
             f"'{name}' is defined twice")
        self.definitions[name] = self.expression(parse(text))

    def _assume(self, name: str, text: str) -> None:
        relation, left, right = self.relation(text)
        if relation == "==":
            self.equalities[name] = left - right
        else:
            need(relation in (">", ">="), f"assumption '{name}' must be '==', '>' or '>='")
            self.known.append((left - right, relation == ">"))

    def relation(self, text: str) -> tuple[str, Fraction, Fraction]:
        node = parse(text)
        need(isinstance(node, ast.Compare) and len(node.ops) == 1, f"expected one relation: {text[:80]!r}")
        names = {ast.Eq: "==", ast.Gt: ">", ast.GtE: ">=", ast.Lt: "<", ast.LtE: "<="}
        need(type(node.ops[0]) in names, f"this relation is not allowed: {text[:80]!r}")
        relation, left, right = names[type(node.ops[0])], node.left, node.comparators[0]
        if relation in ("<", "<="):
            relation, left, right = {"<": ">", "<=": ">="}[relation], right, left
        sides = [isinstance(side, ast.Call) for side in (left, right)]
        if any(sides):
            need(all(sides) and relation == "==" and all(isinstance(side.func, ast.Name) and side.func.id == "sign"
                 and len(side.args) == 1 and not side.keywords for side in (left, right)),
                 "'sign' occurs only as sign(a) == sign(b)")
            relation, left, right = "sign", left.args[0], right.args[0]
        return relation, self.expression(left), self.expression(right)

    def expression(self, node: ast.expr) -> Fraction:
        if isinstance(node, ast.Constant):
            need(type(node.value) is int, "constants are integers")
            return self.domain.constant(node.value)
        if isinstance(node, ast.Name):
            if node.id in self.definitions:
                return self.definitions[node.id]
            need(node.id in self.domain.variables, f"unknown parameter '{node.id}'")
            return self.domain.fraction(self.domain.variables[node.id])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self.domain.constant(0) - self.expression(node.operand)
        need(isinstance(node, ast.BinOp), "only + - * / ** occur in a derivation")
        left = self.expression(node.left)
        if isinstance(node.op, ast.Pow):
            exponent = node.right
            negative = isinstance(exponent, ast.UnaryOp) and isinstance(exponent.op, ast.USub)
            exponent = exponent.operand if negative else exponent
            need(isinstance(exponent, ast.Constant) and type(exponent.value) is int and exponent.value <= MAX_POWER,
                 "powers are small integers")
            return self.quotient(self.domain.constant(1), left**exponent.value) if negative else left**exponent.value
        right = self.expression(node.right)
        if isinstance(node.op, ast.Div):
            return self.quotient(left, right)
        operations = {ast.Add: left.__add__, ast.Sub: left.__sub__, ast.Mult: left.__mul__}
        need(type(node.op) in operations, "only + - * / ** occur in a derivation")
        return operations[type(node.op)](right)

    def quotient(self, left: Fraction, right: Fraction) -> Fraction:
        need(self.nonzero(right.top), "a divisor is not shown to be nonzero on the domain")
        times = self.domain.work.times
        return Fraction(times(left.top, right.bottom), times(left.bottom, right.top), self.domain.work)

    def nonzero(self, polynomial: fmpq_mpoly) -> bool:
        """Each irreducible factor has a sign on the domain, or is one of a known strictly positive expression."""
        if polynomial.is_zero():
            return False
        return all(self.domain.sign(factor)[1] or self._divides_known(factor)
                   for factor in self.domain.work.factors(polynomial))

    def _divides_known(self, factor: fmpq_mpoly) -> bool:
        """An irreducible factor divides what it has a divisor in common with."""
        return any(strict and not expression.top.is_constant()
                   and not self.domain.work.common_divisor(expression.top, factor).is_one()
                   for expression, strict in self.known)

    def lemma(self, table: dict) -> None:
        text, by = field(table, "formula", str, "lemma"), field(table, "by", str, "lemma")
        relation, left, right = self.relation(text)
        difference = left - right
        if by == "identity":
            need(relation == "==", f"'identity' proves equalities only: {text[:80]!r}")
            need(bool(self._reduced(difference, table).top.is_zero()), f"not an identity: {text[:80]!r}")
            return
        if by == "factor":
            need(relation == "sign", f"'factor' proves sign(a) == sign(b) only: {text[:80]!r}")
            factor = self.expression(parse(field(table, "factor", str, "lemma")))
            need(self.positive(factor), f"the factor is not known to be positive: {text[:80]!r}")
            need(left.equals(factor * right), f"the factor does not fit: {text[:80]!r}")
            return
        need(relation in (">", ">="), f"'{by}' proves inequalities only: {text[:80]!r}")
        if by == "orthant":
            (top, top_strict), (bottom, bottom_strict) = map(self.domain.sign, (difference.top, difference.bottom))
            holds = bool(difference.top.is_zero()) or (top * bottom == 1 and bottom_strict)
            strict = holds and top_strict
        else:
            need(by == "terms", f"unknown reason '{by}'")
            holds, strict = self._sum_of_terms(self._reduced(difference, table), field(table, "terms", list, "lemma"))
        need(holds and (strict or relation == ">="), f"'{by}' does not prove {text[:80]!r}")
        self.known.append((difference, relation == ">"))

    def positive(self, expression: Fraction) -> bool:
        if any(strict and expression.equals(known) for known, strict in self.known):
            return True
        (top, top_strict), (bottom, bottom_strict) = map(self.domain.sign, (expression.top, expression.bottom))
        return top * bottom == 1 and top_strict and bottom_strict

    def _reduced(self, difference: Fraction, table: dict) -> Fraction:
        for name, text in table.get("multipliers", {}).items():
            need(name in self.equalities, f"there is no equality assumption '{name}'")
            difference = difference - self.expression(parse(text)) * self.equalities[name]
        return difference

    def _sum_of_terms(self, difference: Fraction, terms: list) -> tuple[bool, bool]:
        total, strict = self.domain.constant(0), False
        for item in terms:
            need(isinstance(item, list) and len(item) == 2 and isinstance(item[1], list), "a term is [number, factors]")
            weight = read_number(item[0], "term")
            need(bool(weight > 0), "a term's coefficient must be positive")
            term, positive = self.domain.constant(weight), True
            for text in item[1]:
                factor, is_strict = self._nonnegative(text)
                term, positive = term * factor, positive and is_strict
            total, strict = total + term, strict or positive
        return total.equals(difference), strict

    def _nonnegative(self, text: str) -> tuple[Fraction, bool]:
        node = parse(text)
        value = self.expression(node)
        for known, strict in sorted(self.known, key=lambda item: not item[1]):
            if value.equals(known):
                return value, strict
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant) \
                and node.right.value % 2 == 0:
            return value, self.nonzero(value.top)
        top, top_strict = self.domain.sign(value.top)
        bottom, bottom_strict = self.domain.sign(value.bottom)
        need(top * bottom == 1 and bottom_strict, f"a factor is not known to be nonnegative: {text[:80]!r}")
        return value, top_strict


def check_derivation(part: dict, lemmas: list) -> None:
    """Every lemma follows from the ones before it, and every conclusion of the part is one of the lemmas."""
    conclusions = field(part, "conclusions", list, "part")
    need(len(conclusions) > 0, "a symbolic part needs at least one conclusion")
    prover, proved = Prover(part), set()
    for table in lemmas:
        prover.lemma(table)
        proved.add(ast.dump(parse(table["formula"])))
    for text in conclusions:
        need(ast.dump(parse(text)) in proved, f"no lemma proves the conclusion {text[:80]!r}")


def check_cover(part: dict, splits: list) -> None:
    """The relation holds on every leaf of a bisection tree of the box; the tree is listed in preorder."""
    domain = Domain(field(part, "parameters", list, "part"))
    need(all(low is not None and high is not None for low, high, *_ in domain.bounds.values()), "a cover needs a box")
    need(not part["hypotheses"], "a cover's hypotheses are its box and nothing else")
    need(len(part["conclusions"]) > 0, "a cover needs at least one conclusion")
    queue, previous, spent = list(reversed(splits)), ctx.prec, Spent()
    boxes = [{name: bound[:2] for name, bound in domain.bounds.items()}]
    ctx.prec = COVER_PRECISION
    try:
        while boxes:
            box = boxes.pop()
            need(bool(queue), "the cover ends before its boxes do")
            choice = queue.pop()
            if choice == "leaf":
                balls = {name: arb((low + high) / 2, 0).union(arb(low)).union(arb(high))
                         for name, (low, high) in box.items()}
                evaluator = Evaluator(balls, {}, part["definitions"])
                try:
                    need(all(evaluator.truth(text) for text in part["conclusions"]), "the conclusion fails on a box")
                except Undecided:
                    raise Rejected("the conclusion is undecided on a box of the cover") from None
                spent.charge(evaluator.steps)
                continue
            need(choice in box, f"cannot split along '{choice}'")
            low, high = box[choice]
            middle = (low + high) / 2
            boxes += [{**box, choice: (middle, high)}, {**box, choice: (low, middle)}]
        need(not queue, "the cover lists more boxes than there are")
    finally:
        ctx.prec = previous
