"""Turning sympy expressions into lemmas whose reason polynomial arithmetic can replay.

The cost claims all need the same three moves: an identity modulo named equations (a radical, the eigenvalue
of 11^T, a pair of conjugate powers), a sign that is visible after shifting each parameter to its bound, and
the equality of two signs through a positive factor.  Only the data of each move is produced here; whether
the data proves the lemma is for the kernel to say.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

import sympy

from theory.statements import Lemma, text


def identity(
    left: str | sympy.Expr,
    right: str | sympy.Expr,
    equations: Mapping[str, str] | None = None,
    definitions: Mapping[str, str] | None = None,
) -> Lemma:
    """Prove left == right modulo the named equations, with multipliers found by polynomial division.

    The numerator of left - right is divided by the equations' polynomials; the quotients over the
    denominator are the multipliers.  `definitions` are expanded (in reverse order) before dividing and kept
    folded in the formula. Raises ValueError when the division leaves a remainder, i.e. when this route does
    not prove the identity.
    """
    left_text, right_text = _as_text(left), _as_text(right)
    difference = expand_definitions(f"({left_text}) - ({right_text})", definitions or {})
    numerator, denominator = sympy.fraction(sympy.together(difference))
    numerator = sympy.expand(numerator)
    formula = f"{left_text} == {right_text}"
    if numerator == 0:
        return Lemma(formula, by="identity")
    labels = list(equations or {})
    sides = [sympy.fraction(sympy.together(_difference(equations[k], definitions or {}))) for k in labels]
    if not sides:
        raise ValueError(
            f"expected an identity, got {formula} with a nonzero difference; name the equation it needs"
        )
    tops = [top for top, _ in sides]
    for order, generators in (
        ("lex", _leading_first([equations[k] for k in labels], numerator, *tops)),
        ("grevlex", ()),
    ):
        quotients, remainder = sympy.reduced(numerator, tops, *generators, order=order)
        if remainder == 0:
            break
    if remainder != 0:
        raise ValueError(
            f"expected {formula} modulo {labels}, got the remainder {remainder}; add the missing equation"
        )
    multipliers = {
        k: text(sympy.factor(q * bottom / denominator))
        for k, q, (_, bottom) in zip(labels, quotients, sides)
        if q != 0
    }
    return Lemma(formula, by="identity", multipliers=multipliers)


def positive(expression: str | sympy.Expr) -> Lemma:
    """State expression > 0 by the orthant rule."""
    return Lemma(f"{_as_text(expression)} > 0", by="orthant")


def nonnegative(expression: str | sympy.Expr) -> Lemma:
    """State expression >= 0 by the orthant rule."""
    return Lemma(f"{_as_text(expression)} >= 0", by="orthant")


def same_sign(
    left: str | sympy.Expr, right: str | sympy.Expr, factor: str | sympy.Expr
) -> tuple[Lemma, Lemma]:
    """State that factor > 0 (orthant) and that left == factor * right, so that both have one sign."""
    factor_text = _as_text(factor)
    return (
        Lemma(f"{factor_text} > 0", by="orthant"),
        Lemma(f"sign({_as_text(left)}) == sign({_as_text(right)})", by="factor", factor=factor_text),
    )


def expand_definitions(expression: str, definitions: Mapping[str, str]) -> sympy.Expr:
    """Substitute definitions, last one first, into an expression of the formula language."""
    result = _parse(expression)
    for name in reversed(list(definitions)):
        result = result.subs(sympy.Symbol(name), _parse(definitions[name]))
    return result


def _leading_first(equations: list[str], *polynomials: sympy.Expr) -> list[sympy.Symbol]:
    """Generators with the left sides' names first, so that each equation rewrites its left side."""
    present = {str(symbol): symbol for symbol in set().union(*(p.free_symbols for p in polynomials))}
    first = [name for equation in equations for name in sorted(_identifiers(equation.split("==")[0]))]
    ordered = dict.fromkeys([*first, *sorted(present)])
    return [present[name] for name in ordered if name in present]


def _difference(equation: str, definitions: Mapping[str, str]) -> sympy.Expr:
    left, right = equation.split("==")
    return expand_definitions(f"({left}) - ({right})", definitions)


def _parse(expression: str) -> sympy.Expr:
    # Names such as N, S, E, beta and gamma are parameters here, not sympy's functions and constants.
    names = {token: sympy.Symbol(token) for token in _identifiers(expression)}
    return sympy.sympify(expression, locals=names)


def _identifiers(expression: str) -> set[str]:
    return {
        node.id for node in ast.walk(ast.parse(expression.strip(), mode="eval")) if isinstance(node, ast.Name)
    }


def _as_text(expression: str | sympy.Expr) -> str:
    return expression if isinstance(expression, str) else text(expression)
