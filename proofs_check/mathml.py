"""Prints a formula of the kernel's language as presentation MathML, which browsers draw without a network.

The input is the text that the kernel evaluates (`proofs_check/kernel/formula.py`), parsed by the kernel's own parser,
so that nothing stands between what is checked and what is drawn.  Notation: ``a * b`` is written side by side (entry by
entry for lists), ``A @ B`` as A · B, ``dot(a, b)`` as ⟨a, b⟩, ``outer(a, b)`` as a ⊗ b, ``len(Q)`` as #Q, ``x[i]`` and
``x_i`` as a subscript, ``range`` as bounds, `all` and `any` as quantifiers, and the predicates about hulls and norms as
the statements that they decide: 0 ∉ conv(v), dist(0, conv v) ≥ b, ‖W‖_p ≤ c.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from html import escape

from proofs_check.kernel.formula import parse

QUANTIFIED, OR, AND, NOT, RELATION, SUM, BIG, PRODUCT, SIGN, POWER, ATOM = range(11)
GREEK = dict(zip(
    "alpha beta gamma delta epsilon eps eta theta kappa lam mu nu rho sigma tau phi omega pi Sigma".split(),
    "α β γ δ ϵ ε η θ κ λ μ ν ρ σ τ φ ω π Σ".split()))
RELATIONS = {ast.Lt: "&lt;", ast.LtE: "≤", ast.Gt: "&gt;", ast.GtE: "≥", ast.Eq: "=", ast.NotEq: "≠",
             ast.In: "∈", ast.NotIn: "∉"}
NAMED = {"exp": "exp", "log": "log", "cos": "cos", "sin": "sin", "trace": "tr", "flat": "vec", "sign": "sgn"}
OPEN = '<math displaystyle="true">'
TALL = ("<mfrac", "<msqrt", "<munder", "<mtable")
THIN = '<mspace width="0.17em"/>'


def mathml(formula: str) -> str:
    """The formula as one `<math displaystyle="true">` element.

    Raises ValueError, or `Rejected` where the kernel cannot parse the text, for what is not a formula of the language.
    """
    return f"{OPEN}{_node(parse(formula))[0]}</math>"


def definition(name: str, formula: str) -> str:
    """``name := formula`` as one `<math displaystyle="true">` element; raises as `mathml` does."""
    return f"{OPEN}<mrow>{identifier(name)}<mo>≔</mo>{_node(parse(formula))[0]}</mrow></math>"


def identifier(name: str) -> str:
    """A name: Greek letters by their names, what follows an underscore as subscripts."""
    first, *rest = name.split("_")
    if not first or not all(rest):
        return f"<mi>{escape(name)}</mi>"
    base = f"<mi>{escape(GREEK.get(first, first))}</mi>"
    if not rest:
        return base
    below = _commas([f"<mn>{item}</mn>" if item.isdigit() else f"<mi>{escape(GREEK.get(item, item))}</mi>"
                     for item in rest])
    return f"<msub>{base}{_row(below, len(rest) > 1)}</msub>"


def _row(content: str, needed: bool = True) -> str:
    return f"<mrow>{content}</mrow>" if needed else content


def _fenced(content: str, opening: str = "(", closing: str = ")") -> str:
    """Between brackets, which grow with fractions, roots, sums and tables and else keep the size of letters."""
    fixed = "" if any(mark in content for mark in TALL) else ' stretchy="false"'
    return f"<mrow><mo{fixed}>{opening}</mo>{content}<mo{fixed}>{closing}</mo></mrow>"


def _commas(items: Sequence[str]) -> str:
    return "<mo>,</mo>".join(items)


def _at(node: ast.expr, level: int) -> str:
    """The node as an operand that must bind at least as tightly as `level`."""
    text, own = _node(node)
    return text if own >= level else _fenced(text)


def _plain(node: ast.expr) -> str:
    return _node(node)[0]


def _node(node: ast.expr) -> tuple[str, int]:
    """(MathML, how tightly its outermost sign binds)."""
    handler = _HANDLERS.get(type(node))
    if handler is None:
        raise ValueError(f"expected a formula of the kernel's language, got {type(node).__name__}")
    return handler(node)


def _constant(node: ast.Constant) -> tuple[str, int]:
    if isinstance(node.value, (bool, str)):
        return f"<mtext>{escape(str(node.value).lower())}</mtext>", ATOM
    return f"<mn>{node.value}</mn>", ATOM


def _name(node: ast.Name) -> tuple[str, int]:
    return identifier(node.id), ATOM


def _unary(node: ast.UnaryOp) -> tuple[str, int]:
    if isinstance(node.op, ast.Not):
        return _row(f"<mo>¬</mo>{_at(node.operand, ATOM)}"), NOT
    if not isinstance(node.op, ast.USub):
        raise ValueError(f"expected a sign of the kernel's language, got {type(node.op).__name__}")
    return _row(f"<mo>−</mo>{_at(node.operand, PRODUCT)}"), SIGN if _single(node.operand) else SUM


def _single(node: ast.expr) -> bool:
    return not isinstance(node, (ast.BinOp, ast.UnaryOp))


def _boolean(node: ast.BoolOp) -> tuple[str, int]:
    level, sign = (AND, "∧") if isinstance(node.op, ast.And) else (OR, "∨")
    spaced = f'<mo lspace="0.5em" rspace="0.5em">{sign}</mo>'
    return _row(spaced.join(_at(item, level + 1) for item in node.values)), level


def _compare(node: ast.Compare) -> tuple[str, int]:
    parts = [_at(node.left, SUM)]
    for operation, item in zip(node.ops, node.comparators):
        if type(operation) not in RELATIONS:
            raise ValueError(f"expected a relation of the kernel's language, got {type(operation).__name__}")
        # `i in range(a, b)` lists a set; elsewhere the sides of a relation are values
        side = _set(item) if isinstance(operation, (ast.In, ast.NotIn)) else _at(item, SUM)
        parts.append(f"<mo>{RELATIONS[type(operation)]}</mo>{side}")
    return _row("".join(parts)), RELATION


def _binary(node: ast.BinOp) -> tuple[str, int]:
    left, right, kind = node.left, node.right, type(node.op)
    if kind in (ast.Add, ast.Sub):
        sign, signed = "+" if kind is ast.Add else "−", isinstance(right, ast.UnaryOp)
        return _row(f"{_at(left, SUM)}<mo>{sign}</mo>{_at(right, POWER if signed else BIG)}"), SUM
    if kind is ast.Div:
        return f"<mfrac>{_row(_plain(left))}{_row(_plain(right))}</mfrac>", POWER
    if kind is ast.Pow:
        base = _at(left, ATOM)
        return f"<msup>{_row(base)}{_row(_plain(right))}</msup>", POWER
    if kind is ast.MatMult:
        # mixing the two products keeps its brackets: entry by entry is not associative with rows by columns
        chain = isinstance(left, ast.BinOp) and isinstance(left.op, ast.MatMult)
        return _row(f"{_at(left, PRODUCT if chain else SIGN)}<mo>·</mo>{_at(right, POWER)}"), PRODUCT
    if kind is ast.Mult:
        matrices = isinstance(left, ast.BinOp) and isinstance(left.op, ast.MatMult)
        between = "<mo>×</mo>" if _starts_with_digit(right) else f"<mo>&#x2062;</mo>{THIN}"
        return _row(f"{_at(left, POWER if matrices else PRODUCT)}{between}{_at(right, POWER)}"), PRODUCT
    raise ValueError(f"expected an operator of the kernel's language, got {kind.__name__}")


def _starts_with_digit(node: ast.expr) -> bool:
    while isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Pow, ast.Div)):
        if isinstance(node.op, ast.Div):
            return True  # a fraction beside a number reads as a mixed number
        node = node.left
    return isinstance(node, ast.Constant)


def _ifexp(node: ast.IfExp) -> tuple[str, int]:
    rows: list[str] = []
    rest: ast.expr = node
    while isinstance(rest, ast.IfExp):
        rows.append(_case(_plain(rest.body), f"<mtext>if&#xa0;</mtext>{_plain(rest.test)}"))
        rest = rest.orelse
    rows.append(_case(_plain(rest), "<mtext>otherwise</mtext>"))
    return f'<mrow><mo>{{</mo><mtable columnalign="left">{"".join(rows)}</mtable></mrow>', NOT


def _case(value: str, when: str) -> str:
    return f"<mtr><mtd>{_row(value)}</mtd><mtd>{_row(when)}</mtd></mtr>"


def _list(node: ast.List | ast.Tuple) -> tuple[str, int]:
    rows = [item.elts for item in node.elts if isinstance(item, ast.List)]
    if rows and len(rows) == len(node.elts) and len({len(row) for row in rows}) == 1 and rows[0]:
        cells = "".join(
            "<mtr>" + "".join(f"<mtd>{_row(_plain(cell))}</mtd>" for cell in row) + "</mtr>" for row in rows
        )
        return _fenced(f"<mtable>{cells}</mtable>", "[", "]"), ATOM
    return _fenced(_commas([_plain(item) for item in node.elts])), ATOM


def _subscript(node: ast.Subscript) -> tuple[str, int]:
    indices: list[ast.expr] = []
    table: ast.expr = node
    while isinstance(table, ast.Subscript):
        indices[:0] = table.slice.elts if isinstance(table.slice, ast.Tuple) else [table.slice]
        table = table.value
    base, below = _at(table, ATOM), _commas([_plain(item) for item in indices])
    if isinstance(table, ast.Name) and "_" in table.id:
        base = _fenced(base)  # the entry i of A_t, not the entry t, i of A
    return f"<msub>{base}{_row(below)}</msub>", ATOM


def _comprehension(node: ast.ListComp | ast.GeneratorExp) -> tuple[str, int]:
    """A family (f)_{i∈Q}; a list of lists is the matrix [f]_{i∈Q; j∈K}."""
    inner, levels = node.elt, [_clauses(node.generators)]
    while isinstance(inner, ast.ListComp):
        levels.append(_clauses(inner.generators))
        inner = inner.elt
    fences = "()" if len(levels) == 1 else "[]"
    return f"<msub>{_fenced(_plain(inner), *fences)}{_row('<mo>;</mo>'.join(levels))}</msub>", ATOM


def _clauses(generators: Sequence[ast.comprehension]) -> str:
    """What the variables range over: ``i ∈ Q, 0 ≤ j < T, j ≠ i``; neighbours with one range share it."""
    groups: list[tuple[list[str], str, str]] = []
    for clause in generators:
        variable = _plain(clause.target)  # several names are a tuple, which has its brackets
        before, after = "", f"<mo>∈</mo>{_set(clause.iter)}"
        if bounds := _bounds(clause.iter):
            before, after = f"{bounds[0]}<mo>≤</mo>", f"<mo>&lt;</mo>{bounds[1]}"
        if groups and groups[-1][1:] == (before, after):
            groups[-1][0].append(variable)
        else:
            groups.append(([variable], before, after))
        groups += [([_at(test, AND)], "", "") for test in clause.ifs]
    return _commas([f"{before}{_commas(names)}{after}" for names, before, after in groups])


def _bounds(node: ast.expr) -> tuple[str, str] | None:
    """The ends of a `range` with step 1."""
    if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "range" or len(node.args) not in (1, 2):
        return None
    low = _at(node.args[0], SUM) if len(node.args) == 2 else "<mn>0</mn>"
    return low, _at(node.args[-1], SUM)


def _set(node: ast.expr) -> str:
    bounds = _bounds(node)
    if not bounds:
        return _at(node, SUM)
    return _fenced(_commas([bounds[0], "<mo>…</mo>", _less_one(node.args[-1])]), "{", "}")


def _less_one(node: ast.expr) -> str:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and getattr(node.right, "value", None) == 1:
        return _plain(node.left)
    if isinstance(node, ast.Constant):
        return f"<mn>{node.value - 1}</mn>"
    return f"{_at(node, SUM)}<mo>−</mo><mn>1</mn>"


def _call(node: ast.Call) -> tuple[str, int]:
    if not isinstance(node.func, ast.Name) or node.keywords:
        raise ValueError("expected a call of a named function, got another; see proofs_check/kernel/functions.py")
    special = _CALLS.get((node.func.id, len(node.args)))
    found = special(*node.args) if special else None
    return found or _function(node.func.id, *node.args)


def _function(name: str, *arguments: ast.expr) -> tuple[str, int]:
    inside = _commas([_plain(item) for item in arguments])
    return _row(f"<mi>{escape(NAMED.get(name, name))}</mi><mo>&#x2061;</mo>{_fenced(inside)}"), POWER


def _quantifier(sign: str) -> Callable[[ast.expr], tuple[str, int] | None]:
    def build(values: ast.expr) -> tuple[str, int] | None:
        if not isinstance(values, ast.GeneratorExp):
            return None
        over = _row(_clauses(values.generators))
        return _row(f'<mo rspace="0.1em">{sign}</mo>{over}<mo rspace="0.4em">:</mo>{_plain(values.elt)}'), QUANTIFIED
    return build


def _over(sign: str) -> Callable[[ast.expr], tuple[str, int]]:
    """A sum, minimum or maximum over what a family ranges over."""
    def build(values: ast.expr) -> tuple[str, int]:
        if isinstance(values, (ast.GeneratorExp, ast.ListComp)):
            return _row(f"<munder>{sign}{_row(_clauses(values.generators))}</munder>{THIN}{_at(values.elt, BIG)}"), BIG
        return _row(f"{sign}{THIN}{_at(values, POWER)}"), BIG
    return build


def _implication(sign: str) -> Callable[[ast.expr, ast.expr], tuple[str, int]]:
    return lambda left, right: (
        _row(f'{_at(left, OR)}<mo lspace="0.5em" rspace="0.5em">{sign}</mo>{_at(right, OR)}'), QUANTIFIED)


def _hull(relation: str) -> Callable[[ast.expr, ast.expr, ast.expr], tuple[str, int]]:
    def build(rows: ast.expr, bound: ast.expr, key: ast.expr) -> tuple[str, int]:
        distance = f"<mi>dist</mi><mo>&#x2061;</mo>{_fenced(_commas(['<mn>0</mn>', _conv(rows)]))}"
        return _row(f"{distance}<mo>{relation}</mo>{_at(bound, SUM)}"), RELATION
    return build


def _conv(rows: ast.expr) -> str:
    return f"<mi>conv</mi><mo>&#x2061;</mo>{_fenced(_plain(rows))}"


def _norm(matrix: ast.expr, exponent: ast.expr, bound: ast.expr, key: ast.expr) -> tuple[str, int]:
    index = "<mi>∞</mi>" if isinstance(exponent, ast.Constant) and exponent.value == "inf" else _row(_plain(exponent))
    return _row(f"<msub>{_fenced(_plain(matrix), '‖', '‖')}{index}</msub><mo>≤</mo>{_at(bound, SUM)}"), RELATION


_CALLS: dict[tuple[str, int], Callable[..., tuple[str, int] | None]] = {
    ("all", 1): _quantifier("∀"), ("any", 1): _quantifier("∃"),
    ("sum", 1): _over("<mo>∑</mo>"), ("min", 1): _over("<mi>min</mi>"), ("max", 1): _over("<mi>max</mi>"),
    ("implies", 2): _implication("⇒"), ("iff", 2): _implication("⇔"),
    ("abs", 1): lambda value: (_fenced(_plain(value), "|", "|"), ATOM),
    ("len", 1): lambda values: (_row(f'<mo lspace="0" rspace="0">#</mo>{_at(values, ATOM)}'), POWER),
    ("range", 1): lambda stop: (_set(ast.Call(ast.Name("range"), [stop], [])), ATOM),
    ("range", 2): lambda start, stop: (_set(ast.Call(ast.Name("range"), [start, stop], [])), ATOM),
    ("sqrt", 1): lambda value: (f"<msqrt>{_row(_plain(value))}</msqrt>", ATOM),
    ("dot", 2): lambda left, right: (_fenced(f"{_plain(left)}<mo>,</mo>{_plain(right)}", "⟨", "⟩"), ATOM),
    ("outer", 2): lambda left, right: (_row(f"{_at(left, POWER)}<mo>⊗</mo>{_at(right, POWER)}"), SIGN),
    ("transpose", 1): lambda matrix: (f"<msup>{_row(_at(matrix, ATOM))}<mo>⊤</mo></msup>", POWER),
    ("eye", 1): lambda size: (f"<msub><mi>I</mi>{_row(_plain(size))}</msub>", ATOM),
    ("psd", 1): lambda matrix: (_row(f"{_at(matrix, SUM)}<mo>⪰</mo><mn>0</mn>"), RELATION),
    ("separable", 2): lambda rows, key: (_row(f"<mn>0</mn><mo>∉</mo>{_conv(rows)}"), RELATION),
    ("hull_distance_at_least", 3): _hull("≥"), ("hull_distance_at_most", 3): _hull("≤"),
    ("norm_at_most", 4): _norm,
}
_HANDLERS: dict[type, Callable[..., tuple[str, int]]] = {
    ast.Constant: _constant, ast.Name: _name, ast.UnaryOp: _unary, ast.BoolOp: _boolean, ast.Compare: _compare,
    ast.BinOp: _binary, ast.IfExp: _ifexp, ast.List: _list, ast.Tuple: _list, ast.Subscript: _subscript,
    ast.ListComp: _comprehension, ast.GeneratorExp: _comprehension, ast.Call: _call,
}
