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
from importlib import import_module
from keyword import iskeyword

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat, nmod_mat

from proofs_check.kernel.encoding import Cloud, Rejected, integer_row, need

MAX_STEPS = 5_000_000
MAX_POWER = 4096
PRIME = 2**61 - 1
PRECISIONS = (128, 512, 2048)
_SIGNS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
_RELATIONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


class Undecided(Rejected):
    """Two balls overlap, so the comparison has no certain answer at this precision."""


def parse(text: str) -> ast.expr:
    need(isinstance(text, str) and len(text) <= 20_000, "a formula is a text of at most 20,000 characters")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Rejected(f"not a formula: {text[:60]!r}") from None


def is_number(value: object) -> bool:
    return isinstance(value, (int, fmpq, arb)) and not isinstance(value, bool)


def holds_no_ball(value: object) -> bool:
    """Equality of balls may be undecided, so membership is for exact values only."""
    return all(map(holds_no_ball, value)) if isinstance(value, list) else isinstance(value, (int, fmpq))


def compare(left: object, relation: str, right: object) -> bool:
    """Decide a relation between two numbers, or raise `Undecided`."""
    need(is_number(left) and is_number(right), "only numbers can be compared")
    if not isinstance(left, arb) and not isinstance(right, arb):
        left, right = fmpq(left), fmpq(right)
        return bool({"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right,
                     "==": left == right, "!=": left != right}[relation])
    left, right = arb(left), arb(right)
    need(left.is_finite() and right.is_finite(), "a comparison met a value that is not finite")
    if relation in ("==", "!="):
        if left < right or left > right:
            return relation == "!="
        if left.is_exact() and right.is_exact():
            return relation == "=="
        raise Undecided("two enclosures overlap, so equality is undecided")
    forward, backward = {"<": (left < right, left >= right), "<=": (left <= right, left > right),
                         ">": (left > right, left <= right), ">=": (left >= right, left < right)}[relation]
    if forward or backward:
        return bool(forward)
    raise Undecided(f"two enclosures overlap, so '{relation}' is undecided")


def shape(matrix: object) -> tuple[int, int]:
    need(isinstance(matrix, list) and all(isinstance(row, list) for row in matrix), "expected a matrix")
    need(len(matrix) > 0 and len({len(row) for row in matrix}) == 1, "a matrix needs rows of one length")
    return len(matrix), len(matrix[0])


def exact(matrix: list) -> bool:
    return not any(isinstance(entry, arb) for row in matrix for entry in row)


def flint_matrix(matrix: list, enclosed: bool) -> fmpq_mat | arb_mat:
    rows, columns = shape(matrix)
    need(all(is_number(entry) for row in matrix for entry in row), "a matrix holds numbers only")
    convert = arb if enclosed else fmpq
    return (arb_mat if enclosed else fmpq_mat)(rows, columns, [convert(entry) for row in matrix for entry in row])


def multiply(left: list, right: list) -> list:
    """Matrix product of two lists of rows, exact when both are."""
    enclosed = not (exact(left) and exact(right))
    need(shape(left)[1] == shape(right)[0], "matrix shapes do not fit")
    return (flint_matrix(left, enclosed) * flint_matrix(right, enclosed)).tolist()


def square_root(evaluator: Evaluator, value: object) -> fmpq | arb:
    need(is_number(value), "sqrt takes a number")
    if isinstance(value, arb):
        need(bool(value >= 0), "sqrt of a ball that may be negative")
        return value.sqrt()
    value = fmpq(value)
    need(bool(value >= 0), "sqrt of a negative number")
    (top, rest), (bottom, left) = value.p.sqrtrem(), value.q.sqrtrem()
    if rest == 0 and left == 0:
        return fmpq(top, bottom)
    return evaluator.ball(value).sqrt()


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

    def truth(self, text: str) -> bool:
        value = self.evaluate(parse(text))
        need(isinstance(value, bool), f"expected a statement, found a value: {text[:60]!r}")
        return value

    def ball(self, value: object) -> arb:
        need(is_number(value), "expected a number")
        self.enclosed = True
        return arb(value)

    def evaluate(self, node: ast.expr) -> object:
        self.steps += 1
        need(self.steps <= MAX_STEPS, "the formula takes too many steps on this instance")
        handler = getattr(self, f"_{type(node).__name__.lower()}", None)
        need(handler is not None, f"{type(node).__name__} is not part of the formula language")
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
                need(isinstance(right, (list, range)) and holds_no_ball(left) and holds_no_ball(list(right)),
                     "'in' takes an exact value and an index set")
                holds = (left in right) is isinstance(operation, ast.In)
            else:
                need(type(operation) in _RELATIONS, "this relation is not part of the formula language")
                holds = self.related(left, _RELATIONS[type(operation)], right)
            if not holds:
                return False
            left = right
        return True

    def related(self, left: object, relation: str, right: object) -> bool:
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
        need(type(node.op) in _SIGNS, "this operator is not part of the formula language")
        return self.entrywise(_SIGNS[type(node.op)], left, right)

    def product(self, left: object, right: object) -> object:
        need(isinstance(left, list) and isinstance(right, list) and bool(left) and bool(right),
             "'@' takes vectors and matrices")
        left_flat, right_flat = not isinstance(left[0], list), not isinstance(right[0], list)
        result = multiply([left] if left_flat else left, [[item] for item in right] if right_flat else right)
        if right_flat:
            result = [row[0] for row in result]
        return result[0] if left_flat else result

    def power(self, base: object, exponent: object) -> object:
        need(is_number(base) and is_number(exponent), "'**' takes numbers")
        if isinstance(exponent, fmpq) and exponent.q == 1:
            exponent = int(exponent.p)
        if isinstance(exponent, int):
            need(abs(exponent) <= MAX_POWER, f"powers up to {MAX_POWER} only")
            if exponent < 0:
                return self.entrywise(operator.truediv, 1, self.power(base, -exponent))
            need(not isinstance(base, arb) or base.is_finite(), "a power of a value that is not finite")
            return (base if isinstance(base, arb) else fmpq(base)) ** exponent
        need(compare(base, ">", 0), "a fractional power needs a positive base")
        return self.ball(base) ** self.ball(exponent)

    def _subscript(self, node: ast.Subscript) -> object:
        table, index = self.evaluate(node.value), self.evaluate(node.slice)
        for position in index if isinstance(index, list) else [index]:
            if isinstance(position, fmpq) and position.q == 1:
                position = int(position.p)
            need(type(position) is int, "an index is an integer")
            if isinstance(table, Cloud):
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
        need(isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS and not node.keywords,
             "unknown function in a formula")
        name = node.func.id
        if name in ("implies", "iff"):
            need(len(node.args) == 2, f"{name} takes two statements")
            first = self.evaluate(node.args[0])
            second = True if name == "implies" and first is False else self.evaluate(node.args[1])
            need(isinstance(first, bool) and isinstance(second, bool), f"{name} takes two statements")
            return second if name == "implies" else first is second
        if name in _REDUCTIONS and len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp):
            arguments = [self.generate(node.args[0].elt, node.args[0].generators)]  # lazy, so that all and any stop early
        else:
            arguments = [item.value if isinstance(item, ast.Constant) and isinstance(item.value, str) and name in _KEYED
                         else self.evaluate(item) for item in node.args]
        try:
            return FUNCTIONS[name](self, *arguments)
        except (TypeError, ValueError, ZeroDivisionError, AttributeError, IndexError):
            raise Rejected(f"{name}: arguments of the wrong number, type or value") from None


_REDUCTIONS = ("all", "any", "sum", "min", "max")
_KEYED = ("separable", "hull_distance_at_least", "hull_distance_at_most", "norm_at_most")


def usable_name(name: object) -> bool:
    """ASCII identifiers that are no keyword and hide nothing of the language."""
    return isinstance(name, str) and name.isascii() and name.isidentifier() and not iskeyword(name) \
        and name not in FUNCTIONS and name != "pi"


class Shifted:
    """A cloud with one exact vector subtracted from every row."""

    def __init__(self, cloud: Cloud, vector: list):
        need(isinstance(cloud, Cloud) and len(vector) == cloud.columns, "the shift has another length than the rows")
        self.cloud, self.vector = cloud, vector


def _statements(values) -> list[bool]:
    for value in values:
        need(isinstance(value, bool), "'all' and 'any' take statements")
        yield value


def _total(evaluator: Evaluator, values) -> object:
    total = 0
    for value in values:
        need(is_number(value) or isinstance(value, list), "'sum' takes numbers, vectors and matrices")
        total = value if type(total) is int and total == 0 else evaluator.entrywise(operator.add, total, value)
    return total


def _extreme(values, keep: str) -> object:
    values = list(values)
    need(bool(values) and all(is_number(value) for value in values), f"the {keep} of nothing")
    if any(isinstance(value, arb) for value in values):
        best = arb(values[0])
        for value in values[1:]:
            best = getattr(best, keep)(arb(value))
        return best
    return min(map(fmpq, values)) if keep == "min" else max(map(fmpq, values))


def _dot(evaluator: Evaluator, left: list, right: list) -> object:
    need(len(left) == len(right), "dot takes vectors of one length")
    return _total(evaluator, (evaluator.entrywise(operator.mul, a, b) for a, b in zip(left, right)))


def _softmax(evaluator: Evaluator, logits: list) -> list:
    weights = [evaluator.ball(value).exp() for value in logits]
    total = sum(weights, arb(0))
    return [weight / total for weight in weights]


def _range(evaluator: Evaluator, *ends: object) -> range:
    need(all(type(int(end)) is int and end == int(end) for end in ends), "range takes integers")
    result = range(*[int(end) for end in ends])
    need(len(result) <= MAX_STEPS, "a range is too long")
    return result


def _psd(evaluator: Evaluator, matrix: list) -> bool:
    """Exact LDLᵀ elimination; a zero pivot of a positive semidefinite matrix has a zero row."""
    size = shape(matrix)[0]
    rows = [[fmpq(entry) for entry in row] for row in matrix]
    need(shape(matrix)[1] == size and all(rows[i][j] == rows[j][i] for i in range(size) for j in range(i)),
         "psd takes a symmetric matrix")
    for k in range(size):
        if rows[k][k] < 0 or (rows[k][k] == 0 and any(rows[k][j] != 0 for j in range(k, size))):
            return False
        for i in range(k + 1, size):
            if rows[k][k] != 0:
                ratio = rows[i][k] / rows[k][k]
                rows[i] = [a - ratio * b for a, b in zip(rows[i], rows[k])]
    return True


def _trace(evaluator: Evaluator, matrix: list) -> object:
    rows, columns = shape(matrix)
    need(rows == columns, "trace takes a square matrix")
    return _total(evaluator, (row[i] for i, row in enumerate(matrix)))


def _sign(evaluator: Evaluator, value: object) -> int:
    return int(compare(value, ">", 0)) - int(compare(value, "<", 0))


def _rank(evaluator: Evaluator, matrix: list) -> int:
    return 0 if not matrix else int(flint_matrix(matrix, False).rank())


def _independent(evaluator: Evaluator, rows: object) -> bool:
    """Linear independence as a family; for a cloud, full rank modulo a prime proves it."""
    if not isinstance(rows, Cloud):
        return len(rows) == 0 or _rank(evaluator, rows) == len(rows)
    if rows.rows > rows.columns:
        return False
    integers = []
    for block in rows.blocks():
        for row in block:
            integers += [value % PRIME for value in integer_row(row)[0]]
    if nmod_mat(rows.rows, rows.columns, integers, PRIME).rank() < rows.rows:
        raise Undecided("the rows look dependent, which a rank modulo a prime cannot prove")
    return True


def _matrix(evaluator: Evaluator, cloud: object) -> list:
    need(isinstance(cloud, Cloud) and cloud.rows * cloud.columns <= MAX_STEPS, "matrix takes a cloud of moderate size")
    scaled = (integer_row(row) for block in cloud.blocks() for row in block)
    return [[fmpq(value, scale) for value in values] for values, scale in scaled]


def _imported(module: str, name: str):
    """A predicate of another file, which needs this file's types and so can only be imported when it is used."""
    def call(evaluator: Evaluator, *arguments: object) -> bool:
        return getattr(import_module(f"proofs_check.kernel.{module}"), name)(evaluator, *arguments)
    return call


FUNCTIONS = {
    "all": lambda e, values: all(_statements(values)),
    "any": lambda e, values: any(_statements(values)),
    "sum": lambda e, values: _total(e, values),
    "min": lambda e, *values: _extreme(values[0] if len(values) == 1 else values, "min"),
    "max": lambda e, *values: _extreme(values[0] if len(values) == 1 else values, "max"),
    "abs": lambda e, value: abs(value) if is_number(value) else need(False, "abs takes a number"),
    "len": lambda e, values: len(values),
    "range": _range,
    "exp": lambda e, value: e.ball(value).exp(),
    "log": lambda e, value: e.ball(value).log() if compare(value, ">", 0) else need(False, "log of a value <= 0"),
    "cos": lambda e, value: e.ball(value).cos(),
    "sin": lambda e, value: e.ball(value).sin(),
    "sqrt": square_root,
    "dot": _dot,
    "outer": lambda e, left, right: [[e.entrywise(operator.mul, a, b) for b in right] for a in left],
    "flat": lambda e, matrix: [entry for row in matrix for entry in row],
    "transpose": lambda e, matrix: [list(column) for column in zip(*matrix, strict=True)],
    "trace": _trace,
    "eye": lambda e, size: [[int(i == j) for j in _range(e, size)] for i in _range(e, size)],
    "softmax": _softmax,
    "rank": _rank,
    "psd": _psd,
    "sign": _sign,
    "matrix": _matrix,
    "independent": _independent,
    "separable": _imported("separation", "separable"),
    "hull_distance_at_least": _imported("separation", "distance_at_least"),
    "hull_distance_at_most": _imported("separation", "distance_at_most"),
    "norm_at_most": _imported("norms", "norm_at_most"),
    "implies": None,
    "iff": None,
}


def decide(values: dict, definitions: list, hypotheses: list[str], conclusions: list[str], witnesses: dict,
           dropped: str | None = None) -> tuple[bool, bool, bool]:
    """(all hypotheses true, all conclusions true, balls took part), raising the precision while undecided.

    Definitions may be undefined (a division by zero, say) where the hypotheses fail, so they are made when first used.
    A `dropped` hypothesis must not be true, or the instance refutes the statement as it stands; it may be undefined.
    """
    before = ctx.prec
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
        ctx.prec = before
    raise AssertionError("unreachable")


def _holds(values: dict, witnesses: dict, definitions: list, statement: str) -> bool:
    """Is the statement shown true?  Undefined or without a witness is not shown; undecided stays undecided."""
    try:
        return Evaluator(values, witnesses, definitions).truth(statement)
    except Undecided:
        raise
    except Rejected:
        return False
