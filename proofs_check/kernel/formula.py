"""The formula language: a subset of Python expressions, evaluated exactly on one instance.

Scalars are rationals; `exp`, `log`, `sqrt`, `cos`, `sin`, `pi` give balls that contain the true value.  A comparison
of balls that overlap is *undecided* and rejects the certificate; it is never guessed.  Lists are vectors, lists of
lists matrices; `+ - * /` act entry by entry, `@` multiplies, `sum(... for i in Q)` and `all(...)` range over
index sets.  Nothing is searched for: the predicates about hulls and norms read what proves them from the
certificate's witnesses.
"""

from __future__ import annotations

import ast
import operator
from keyword import iskeyword

from flint import arb, ctx, fmpq

from proofs_check.kernel.encoding import Cloud, Rejected, TooMuch, need
from proofs_check.kernel.functions import BALL_UNITS, FUNCTIONS, MAX_STEPS, MAX_STEPS_IN_ALL, NATIVE_PER_UNIT
from proofs_check.kernel.values import (Shifted, Undecided, bits, cleared_bits, compare, is_number, multiply, shape,
                                        units)

PAGE = "see notes/formulas.md"
MAX_POWER = 4096
PRECISIONS = (128, 512, 2048)
_SIGNS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
_RELATIONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_REDUCTIONS = ("all", "any", "sum", "min", "max")
_KEYED = ("separable", "hull_distance_at_least", "hull_distance_at_most", "norm_at_most")


def parse(text: str) -> ast.expr:
    need(isinstance(text, str) and len(text) <= 20_000, "a formula is a text of at most 20,000 characters")
    # a comment would be read as part of the statement, and Python takes many letters for one of ASCII
    need(text.isascii() and "#" not in text, "a formula is written in ASCII, without comments")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Rejected(f"not a formula: {text[:60]!r}") from None


class Spent:
    """The steps that one certificate has taken so far, over all its instances or boxes."""

    def __init__(self) -> None:
        self.steps = 0

    def charge(self, steps: int) -> None:
        self.steps += steps
        need(self.steps <= MAX_STEPS_IN_ALL, "the certificate takes too many steps in all", TooMuch)


class Evaluator:
    """Evaluates formulas over one instance.  `enclosed` says whether any ball took part."""

    def __init__(self, values: dict, witnesses: dict, definitions: list):
        self.values = dict(values)
        self.witnesses = witnesses
        self.pending: dict[str, str] = {}  # definitions not evaluated yet; they see no bound variable
        self.bound: dict[str, object] = {}
        self.enclosed = False
        self.steps = 0
        for item in definitions:
            need(isinstance(item, list) and len(item) == 2, "a definition is a name with a formula")
            need(item[0] not in self.values and item[0] not in self.pending, f"'{item[0]}' is defined twice")
            self.pending[item[0]] = item[1]
        for name in (*self.values, *self.pending):
            need(usable_name(name), f"{name!r} cannot be used as a name")

    def spend_native(self, entries: int, *matrices: list) -> None:
        """Count exact elimination, whose entries are quotients of minors over a common denominator."""
        length = max((len(row) for matrix in matrices for row in matrix), default=1)
        self.spend_entries(entries, length * max(map(cleared_bits, matrices)), *matrices)

    def spend_product(self, entries: int, *matrices: list) -> None:
        """Count a product done by flint: whole numbers over a common denominator, as long as both factors together."""
        self.spend_entries(entries, sum(map(cleared_bits, matrices)), *matrices)

    def spend_entries(self, entries: int, size: int, *matrices: list) -> None:
        self.spend(sum(len(row) for matrix in matrices for row in matrix) + entries * units(size) // NATIVE_PER_UNIT)

    def truth(self, text: str) -> bool:
        value = self.evaluate(parse(text))
        need(isinstance(value, bool), f"expected a statement, found a value: {text[:60]!r}")
        return value

    def ball(self, value: object) -> arb:
        need(is_number(value), "expected a number")
        self.enclosed = True
        self.spend(BALL_UNITS)
        return arb(value)

    def spend(self, units: int) -> None:
        """Count work, about a microsecond a unit, so that no certificate takes much longer to check than to write."""
        self.steps += units
        need(self.steps <= MAX_STEPS, "the formula takes too many steps on this instance", TooMuch)

    def evaluate(self, node: ast.expr) -> object:
        self.spend(1)
        handler = getattr(self, f"_{type(node).__name__.lower()}", None)
        need(handler is not None, f"{type(node).__name__} is not part of the formula language, {PAGE}")
        return handler(node)

    def _constant(self, node: ast.Constant) -> object:
        need(isinstance(node.value, (bool, int)), "constants are integers, True or False")
        return node.value

    def _name(self, node: ast.Name) -> object:
        if node.id == "pi":
            self.enclosed = True
            return arb.pi()
        if node.id in self.bound:
            return self.bound[node.id]
        if node.id in self.pending:
            text, outer, self.bound = self.pending.pop(node.id), self.bound, {}
            self.values[node.id] = self.evaluate(parse(text))
            self.bound = outer
        need(node.id in self.values, f"unknown name '{node.id}'")
        return self.values[node.id]

    def _list(self, node: ast.List) -> list:
        return [self.evaluate(item) for item in node.elts]

    def _tuple(self, node: ast.Tuple) -> list:
        return [self.evaluate(item) for item in node.elts]

    def _unaryop(self, node: ast.UnaryOp) -> object:
        value = self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            need(isinstance(value, bool), "'not' takes a statement")
            return not value
        need(isinstance(node.op, ast.USub), "the only sign is '-'")
        return self.entrywise(operator.sub, 0, value)

    def _boolop(self, node: ast.BoolOp) -> bool:
        stop = isinstance(node.op, ast.Or)
        for item in node.values:
            value = self.evaluate(item)
            need(isinstance(value, bool), "'and' and 'or' take statements")
            if value is stop:
                return stop
        return not stop

    def _ifexp(self, node: ast.IfExp) -> object:
        test = self.evaluate(node.test)
        need(isinstance(test, bool), "'if' takes a statement")
        return self.evaluate(node.body if test else node.orelse)

    def _compare(self, node: ast.Compare) -> bool:
        left = self.evaluate(node.left)
        for operation, item in zip(node.ops, node.comparators):
            right = self.evaluate(item)
            if isinstance(operation, (ast.In, ast.NotIn)):
                need(isinstance(right, (list, range)), "'in' takes an exact value and an index set")
                self.spend(len(right))
                need(self.holds_no_ball(left) and (isinstance(right, range) or self.holds_no_ball(right)),
                     "'in' takes an exact value and an index set")
                holds = (left in right) is isinstance(operation, ast.In)
            else:
                need(type(operation) in _RELATIONS, f"this relation is not part of the formula language, {PAGE}")
                holds = self.related(left, _RELATIONS[type(operation)], right)
            if not holds:
                return False
            left = right
        return True

    def holds_no_ball(self, value: object) -> bool:
        """Equality of balls may be undecided, so membership is for exact values only."""
        self.spend(1)
        return all(map(self.holds_no_ball, value)) if isinstance(value, list) else isinstance(value, (int, fmpq))

    def related(self, left: object, relation: str, right: object) -> bool:
        self.spend(1)
        if isinstance(left, list) and isinstance(right, list) and relation in ("==", "!="):
            same = len(left) == len(right) and all(self.related(a, "==", b) for a, b in zip(left, right))
            return same is (relation == "==")
        return compare(left, relation, right)

    def entrywise(self, operation, left: object, right: object) -> object:
        if isinstance(left, Shifted) or isinstance(left, Cloud):
            need(operation is operator.sub and isinstance(right, list), "a cloud can only be shifted by a vector")
            return Shifted(left, right)
        if isinstance(left, list) and isinstance(right, list):
            need(len(left) == len(right), "lengths do not fit")
            return [self.entrywise(operation, a, b) for a, b in zip(left, right)]
        if isinstance(left, list):
            return [self.entrywise(operation, item, right) for item in left]
        if isinstance(right, list):
            return [self.entrywise(operation, left, item) for item in right]
        need(is_number(left) and is_number(right), "arithmetic takes numbers, vectors and matrices")
        self.spend(units(bits(left) + bits(right)))
        if isinstance(left, arb) or isinstance(right, arb):
            left, right = arb(left), arb(right)
        elif operation is operator.truediv:
            left, right = fmpq(left), fmpq(right)
        if operation is operator.truediv:
            need(compare(right, "!=", 0), "division by zero")
        return operation(left, right)

    def _binop(self, node: ast.BinOp) -> object:
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        if isinstance(node.op, ast.MatMult):
            return self.product(left, right)
        if isinstance(node.op, ast.Pow):
            return self.power(left, right)
        need(type(node.op) in _SIGNS, f"this operator is not part of the formula language, {PAGE}")
        return self.entrywise(_SIGNS[type(node.op)], left, right)

    def product(self, left: object, right: object) -> object:
        need(isinstance(left, list) and isinstance(right, list) and bool(left) and bool(right),
             "'@' takes vectors and matrices")
        left_flat, right_flat = not isinstance(left[0], list), not isinstance(right[0], list)
        left, right = [left] if left_flat else left, [[item] for item in right] if right_flat else right
        (rows, inner), (_, columns) = shape(left), shape(right)
        self.spend_product(rows * inner * columns, left, right)
        result = multiply(left, right)
        if right_flat:
            result = [row[0] for row in result]
        return result[0] if left_flat else result

    def power(self, base: object, exponent: object) -> object:
        need(is_number(base) and is_number(exponent), "'**' takes numbers")
        if isinstance(exponent, fmpq) and exponent.q == 1:
            exponent = int(exponent.p)
        if isinstance(exponent, int):
            need(abs(exponent) <= MAX_POWER, f"powers up to {MAX_POWER} only", TooMuch)
            if exponent < 0:
                return self.entrywise(operator.truediv, 1, self.power(base, -exponent))
            if not isinstance(base, arb):
                self.spend(units(bits(base) * exponent))
                return fmpq(base) ** exponent
            if not base.is_finite():
                raise Undecided("a power of a value that is not finite")
            result = arb(1)  # by multiplication: flint's power of a ball around zero is not a number
            for bit in bin(exponent)[2:]:
                result = result * result * base if bit == "1" else result * result
            return result
        need(compare(base, ">", 0), "a fractional power needs a positive base")
        return self.ball(base) ** self.ball(exponent)

    def _subscript(self, node: ast.Subscript) -> object:
        table, index = self.evaluate(node.value), self.evaluate(node.slice)
        for position in index if isinstance(index, list) else [index]:
            if isinstance(position, fmpq) and position.q == 1:
                position = int(position.p)
            need(type(position) is int, "an index is an integer")
            if isinstance(table, Cloud):
                self.spend(table.columns)
                table = table.exact_row(position)
                continue
            need(isinstance(table, (list, range)) and 0 <= position < len(table), f"index {position} is out of range")
            table = table[position]
        return table

    def generate(self, element: ast.expr, clauses: list[ast.comprehension]):
        if not clauses:
            yield self.evaluate(element)
            return
        clause, rest = clauses[0], clauses[1:]
        values = self.evaluate(clause.iter)
        need(isinstance(values, (list, range)), "'for' runs over an index set or a list")
        targets = clause.target.elts if isinstance(clause.target, ast.Tuple) else [clause.target]
        need(all(isinstance(target, ast.Name) for target in targets), "'for' binds plain names")
        names = [target.id for target in targets]
        need(all(usable_name(name) for name in names) and len(set(names)) == len(names)
             and not any(name in taken for name in names for taken in (self.bound, self.pending, self.values)),
             f"{names} would hide another name")
        for value in values:
            items = value if isinstance(clause.target, ast.Tuple) else [value]
            need(isinstance(items, list) and len(items) == len(names), "'for' binds as many names as there are parts")
            self.bound.update(zip(names, items))
            try:
                tests = [self.evaluate(test) for test in clause.ifs]
                need(all(isinstance(test, bool) for test in tests), "'if' takes a statement")
                if all(tests):
                    yield from self.generate(element, rest)
            finally:
                for name in names:
                    self.bound.pop(name, None)

    def _listcomp(self, node: ast.ListComp) -> list:
        return list(self.generate(node.elt, node.generators))

    def _generatorexp(self, node: ast.GeneratorExp) -> list:
        return list(self.generate(node.elt, node.generators))

    def _call(self, node: ast.Call) -> object:
        need(isinstance(node.func, ast.Name) and not node.keywords,
             f"only a function of the formula language is called, and by position, {PAGE}")
        name = node.func.id
        if name not in FUNCTIONS:
            raise Rejected(f"unknown function '{name}'; there are {', '.join(sorted(FUNCTIONS))}, {PAGE}")
        if name in ("implies", "iff"):
            need(len(node.args) == 2, f"{name} takes two statements")
            first = self.evaluate(node.args[0])
            second = True if name == "implies" and first is False else self.evaluate(node.args[1])
            need(isinstance(first, bool) and isinstance(second, bool), f"{name} takes two statements")
            return second if name == "implies" else first is second
        if name in _REDUCTIONS and len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp):
            # lazy, so that all and any stop early
            arguments = [self.generate(node.args[0].elt, node.args[0].generators)]
        else:
            arguments = [item.value if name in _KEYED and isinstance(item, ast.Constant) and isinstance(item.value, str)
                         else self.evaluate(item) for item in node.args]
        try:
            return FUNCTIONS[name](self, *arguments)
        except (TypeError, ValueError, ZeroDivisionError, AttributeError, IndexError):
            raise Rejected(f"{name}: arguments of the wrong number, type or value") from None


def usable_name(name: object) -> bool:
    """ASCII identifiers that are no keyword and hide nothing of the language."""
    return isinstance(name, str) and name.isascii() and name.isidentifier() and not iskeyword(name) \
        and name not in FUNCTIONS and name != "pi"


def decide(values: dict, definitions: list, hypotheses: list[str], conclusions: list[str], witnesses: dict,
           dropped: str | None = None, spent: Spent | None = None) -> tuple[bool, bool, bool]:
    """(all hypotheses true, all conclusions true, balls took part), raising the precision while undecided.

    Definitions may be undefined (a division by zero, say) where the hypotheses fail, so they are made when first used.
    A `dropped` hypothesis must not be shown true, or the instance refutes the statement as it stands.  It may be
    undefined, or lack its witness: that the statement without it is false follows from the rest alone, and that it
    fails here from the statement itself where that is proved.  What it takes is charged to `spent`.
    """
    before, spent = ctx.prec, spent or Spent()
    try:
        for precision in PRECISIONS:
            ctx.prec = precision
            evaluator = Evaluator(values, witnesses, definitions)
            try:
                meets = all(evaluator.truth(statement) for statement in hypotheses)
                concludes = meets and all(evaluator.truth(statement) for statement in conclusions)
                need(dropped is None or not _holds(values, witnesses, definitions, dropped),
                     "the instance meets the hypothesis it is said to drop")
                return meets, concludes, evaluator.enclosed
            except Undecided:
                if precision == PRECISIONS[-1]:
                    raise
            except RecursionError:
                raise Rejected("a formula is nested too deeply") from None
            finally:
                spent.charge(evaluator.steps)
    finally:
        ctx.prec = before
    raise AssertionError("unreachable")


def _holds(values: dict, witnesses: dict, definitions: list, statement: str) -> bool:
    """Is the statement shown true?  Undefined or without a witness is not shown; undecided or too long is neither."""
    try:
        return Evaluator(values, witnesses, definitions).truth(statement)
    except (Undecided, TooMuch):
        raise
    except Rejected:
        return False
