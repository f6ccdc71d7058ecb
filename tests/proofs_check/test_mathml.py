"""Formulas as MathML: what is drawn, read back by an independent reader, has the value of what the kernel checks."""

from __future__ import annotations

import ast
import math
import random
from xml.etree import ElementTree

import pytest

from proofs_check.claims import all_claims
from proofs_check.kernel import Rejected
from proofs_check.mathml import GREEK, definition, mathml
from proofs_check.report_page.claims import DRAWN

ELEMENTS = {
    "math",
    "mrow",
    "mi",
    "mn",
    "mo",
    "mtext",
    "mspace",
    "msub",
    "msup",
    "mfrac",
    "msqrt",
    "munder",
    "mtable",
    "mtr",
    "mtd",
}
SIGNS = {"−": "-", "\u2062": "*", "×": "*", "·": "@", "=": "==", "≤": "<=", "≥": ">=", "≠": "!=", "\u2061": ""}
NAMES = {letter: name for name, letter in GREEK.items()}


def parts() -> list[tuple[str, str]]:
    """(claim id, formula) for every formula of every statement and false variant that is short enough to be drawn."""
    found = {}
    for claim in all_claims():
        for part in [*claim.parts, *(item.part for item in claim.variants)]:
            for text in [
                *part.definitions.values(),
                *(item.formula for item in part.hypotheses),
                *part.conclusions,
                part.attainment,
            ]:
                if text and len(text) <= DRAWN:
                    found[claim.id, text] = None
    return list(found)


FORMULAS = parts()


def shown(element: ElementTree.Element) -> str:
    """What a reader sees, on one line: rows add no brackets of their own, since they draw none."""
    inner = [shown(child) for child in element]
    match element.tag:
        case "msub" | "msup":
            return f"{inner[0]}{'_' if element.tag == 'msub' else '^'}{{{inner[1]}}}"
        case "mfrac":
            return f"{{{inner[0]}}}/{{{inner[1]}}}"
        case "msqrt":
            return f"√{{{''.join(inner)}}}"
        case "munder":
            return f"{inner[0]}[{inner[1]}] "
        case "mtable":
            return "; ".join(inner)
        case "mtr":
            return ", ".join(inner)
        case "mspace":
            return ""
    return {"\u2062": " ", "\u2061": ""}.get(element.text, element.text or "") + "".join(inner)


def linear(text: str) -> str:
    return shown(ElementTree.fromstring(mathml(text)))


@pytest.mark.parametrize(
    ("formula", "seen"),
    [
        ("sum(v[i] * b**(i + 1) for i in range(n))", "∑[0≤i<n] v_{i} b^{i+1}"),
        ("sum(a @ b for i in Q for j in range(i, n + 1) if j != i) + c", "∑[i∈Q,i≤j<n+1,j≠i] a·b+c"),
        ("sum(a + b for i in Q) * 2", "(∑[i∈Q] (a+b))×2"),
        ("all(sigma * dot(x[s], x[i]) > 0 for i in Q)", "∀i∈Q:σ ⟨x_{s},x_{i}⟩>0"),
        ("all(x[i] @ W @ x[j] >= m for i in range(T) for j in range(T) if i != j)", "∀0≤i,j<T,i≠j:x_{i}·W·x_{j}≥m"),
        ("any(abs(e) != 0 for e in row) and not separable(v, 'k')", "(∃e∈row:|e|≠0)∧¬(0∉conv(v))"),
        ("norm_at_most(left @ transpose(right), 'inf', upper, 'primal')", "‖left·right^{⊤}‖_{∞}≤upper"),
        ("norm_at_most(W, 3 / 2, c, 'W')", "‖W‖_{{3}/{2}}≤c"),
        ("hull_distance_at_least(x, d, 'k')", "dist(0,conv(x))≥d"),
        ("[[1, 0], [rho, -t]]", "[1, 0; ρ, −t]"),
        ("[[A[i][j] for j in range(d)] for i in Q]", "[A_{i,j}]_{i∈Q;0≤j<d}"),
        ("[x[i] for i, j in P]", "(x_{i})_{(i,j)∈P}"),
        ("iff(a == b, implies(c < d, e in range(1, 5)))", "a=b⇔(c<d⇒e∈{1,…,4})"),
        ("1 if i == j else rho if i < j else 0", "{1, if\xa0i=j; ρ, if\xa0i<j; 0, otherwise"),
        ("min([sqrt(a) for a in b]) <= max(a, b)", "min[a∈b] √{a}≤max(a,b)"),
        ("rank(G) == len(G[0]) and psd(eye(T) - outer(u, u))", "rank(G)=#G_{0}∧I_{T}−u⊗u⪰0"),
        ("(a - b) - (c - d)", "a−b−(c−d)"),
        ("a - (b + c) / d", "a−{b+c}/{d}"),
        ("(a / b) ** 2", "({a}/{b})^{2}"),
        ("-a ** 2", "−a^{2}"),
        ("(-a) ** 2", "(−a)^{2}"),
        ("a * (b @ c)", "a (b·c)"),
        ("a * b @ c", "(a b)·c"),
        ("a - -b", "a−(−b)"),
        ("A_t[i]", "(A_{t})_{i}"),
        ("at_t_diag", "at_{t,diag}"),
        ("exp(-lam) * pi", "exp(−λ) π"),
    ],
)
def test_a_formula_looks_like_mathematics(formula: str, seen: str) -> None:
    assert linear(formula) == seen


def python(element: ElementTree.Element) -> str:
    """The drawn formula as Python, read with the precedence of mathematics and nothing but what is drawn."""
    inner = [python(child) for child in element]
    match element.tag:
        case "mi":
            return NAMES.get(element.text, element.text)
        case "mn":
            return element.text
        case "mo":
            return SIGNS.get(element.text, element.text)
        case "msub":
            return (
                inner[0]
                + "_"
                + "_".join(NAMES.get(leaf.text, leaf.text) for leaf in element[1].iter() if leaf.tag in ("mi", "mn"))
            )
        case "msup":
            return f"{inner[0]}**({inner[1]})"
        case "mfrac":
            return f"(({inner[0]})/({inner[1]}))"
        case "msqrt":
            return f"sqrt({''.join(inner)})"
    return "".join(inner)


def is_arithmetic(text: str) -> bool:
    kept = (
        ast.BinOp,
        ast.UnaryOp,
        ast.Compare,
        ast.Name,
        ast.Constant,
        ast.operator,
        ast.unaryop,
        ast.cmpop,
        ast.Load,
        ast.Call,
    )
    nodes = list(ast.walk(ast.parse(text.strip(), mode="eval").body))
    return all(isinstance(node, kept) and not isinstance(node, (ast.MatMult, ast.Not, ast.In)) for node in nodes) \
        and all(node.func.id == "sqrt" for node in nodes if isinstance(node, ast.Call))


def values(text: str, names: dict[str, float]) -> list[complex]:
    """Both sides of each relation, or the one value."""
    body = ast.parse(text.strip(), mode="eval").body
    sides = [body.left, *body.comparators] if isinstance(body, ast.Compare) else [body]
    known = {**names, "sqrt": lambda value: complex(value) ** 0.5, "pi": math.pi}
    return [
        complex(eval(compile(ast.Expression(side), "formula", "eval"), {"__builtins__": {}}, known)) for side in sides
    ]


def relations(text: str) -> list[str]:
    body = ast.parse(text.strip(), mode="eval").body
    return [type(item).__name__ for item in getattr(body, "ops", [])]


def differences(formulas: list[tuple[str, str]], draw=mathml) -> list[tuple[str, str]]:
    rng = random.Random(0)
    wrong = []
    for claim, text in formulas:
        read = python(ElementTree.fromstring(draw(text)))
        names = {
            node.id: rng.uniform(0.6, 1.7)
            for node in ast.walk(ast.parse(text.strip(), mode="eval"))
            if isinstance(node, ast.Name)
        }
        try:
            before, after = values(text, names), values(read, names)
        except (OverflowError, NameError, SyntaxError):
            before, after = [0], [1]
        close = len(before) == len(after) and all(abs(a - b) <= 1e-9 * (1 + abs(a)) for a, b in zip(before, after))
        if not close or relations(text) != relations(read):
            wrong.append((claim, text))
    return wrong


def test_every_arithmetic_formula_of_the_claims_read_back_has_its_value() -> None:
    chosen = [(claim, text) for claim, text in FORMULAS if is_arithmetic(text)]
    assert len(chosen) > 500
    assert differences(chosen) == []


@pytest.mark.parametrize(
    ("formula", "wrong"),
    [("a - (b - c)", "a - b - c"), ("(a + b) * c", "a + b * c"), ("a ** 2", "a * 2"), ("a < b", "a <= b")],
)
def test_the_reader_sees_a_formula_drawn_wrongly(formula: str, wrong: str) -> None:
    assert differences([("", formula)], lambda text: mathml(wrong)) == [("", formula)]


def test_every_formula_of_the_claims_is_well_formed_mathml_of_few_elements() -> None:
    used = {element.tag for _, text in FORMULAS for element in ElementTree.fromstring(mathml(text)).iter()}
    assert used == ELEMENTS


def test_different_formulas_of_a_claim_look_different() -> None:
    drawn: dict[tuple[str, str], str] = {}
    clashes = []
    for claim, text in FORMULAS:
        key = ast.dump(ast.parse(text.strip(), mode="eval"))
        if drawn.setdefault((claim, linear(text)), key) != key:
            clashes.append((claim, text))
    # a witness's key is not drawn, so formulas that differ in it alone look the same
    assert [item for item in clashes if "separable" not in item[1] and "norm_at_most" not in item[1]] == []


def test_a_definition_names_what_it_defines() -> None:
    assert shown(ElementTree.fromstring(definition("rho_T", "rho + 1"))) == "ρ_{T}≔ρ+1"


def test_text_in_a_formula_is_escaped() -> None:
    assert ElementTree.fromstring(mathml("'<b>&'"))[0].text == "<b>&"


@pytest.mark.parametrize(
    "text", ["x +", "lambda x: x", "f(x=1)", "x.y", "a // b", "a is b", "+a", "~a", "{1: 2}", "f(x)(y)"]
)
def test_what_is_no_formula_is_refused(text: str) -> None:
    with pytest.raises((ValueError, Rejected)):
        mathml(text)
