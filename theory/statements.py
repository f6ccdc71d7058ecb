"""The form in which `theory` hands a derivation over: parameters, assumptions, and lemmas with their reasons.

A derivation made with sympy is only as good as sympy, so nothing in this room ends at `simplify(...) == 0`.  What is
handed over instead is a list of lemmas about rational functions of named parameters, each with the data that makes it
checkable by polynomial arithmetic alone; the kernel replays them without sympy.  Formulas are strings in the kernel's
language, which is a subset of Python expressions (`sympy.sstr` prints into it): rational numbers, parameters,
`+ - * / **` with integer powers, and the relations `==`, `>=`, `>`, `sign(a) == sign(b)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import sympy


@dataclass(frozen=True)
class Parameter:
    """A real (or integer) parameter with rational bounds; `None` means unbounded on that side.

    `open_min` / `open_max` exclude the end point.  The kernel treats an integer parameter as a real one, so a lemma
    holds on the whole interval, not only at the integers.
    """

    name: str
    minimum: str | None = None
    maximum: str | None = None
    open_min: bool = False
    open_max: bool = False
    integer: bool = False


@dataclass(frozen=True)
class Lemma:
    """One relation between rational functions of the parameters, with the reason why it holds on the whole domain.

    `by` is one of

    * ``"identity"``: `formula` is ``a == b``; the numerator of a - b, after subtracting
      sum_k multipliers[k]·(lhs_k - rhs_k) over equality assumptions named k, is the zero polynomial;
    * ``"orthant"``: `formula` is ``a > b`` or ``a >= b``; substituting each parameter by its bound plus a nonnegative
      variable (lo + u, hi - u, or (lo + hi·u)/(1 + u)) leaves numerator and denominator of a - b with coefficients of
      one sign;
    * ``"terms"``: a - b == sum_k c_k · prod(factors_k) with rational c_k > 0, where each factor is ``(e)**2`` for any
      e, or an expression already known to be >= 0 or > 0: a parameter bound (``T - 2``), an assumption, an earlier
      lemma's left minus right side.  The relation is strict when some term has only strictly positive factors (a square
      counts as one where its base is shown nonzero, as a divisor would have to be);
    * ``"factor"``: `formula` is ``sign(a) == sign(b)``; a == factor·b identically, with factor > 0 an earlier lemma.

    Every divisor that occurs must itself be shown positive (or negative) by the orthant rule or by an earlier lemma.
    """

    formula: str
    by: str
    terms: tuple[tuple[str, tuple[str, ...]], ...] = ()
    factor: str | None = None
    multipliers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Derivation:
    """A symbolic claim with its proof: definitions (in order), assumptions by name, and lemmas in order.

    `conclusions` are the formulas that the claim consists of; each must be one of the lemmas.  Left out, they are all
    of the lemmas.
    """

    parameters: tuple[Parameter, ...]
    definitions: Mapping[str, str]
    assumptions: Mapping[str, str]
    lemmas: tuple[Lemma, ...]
    conclusions: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.conclusions is None:
            object.__setattr__(self, "conclusions", tuple(lemma.formula for lemma in self.lemmas))


def above(name: str, minimum: str = "0", maximum: str | None = None) -> Parameter:
    """A parameter in the open interval from `minimum`; up to `maximum`, also excluded, if one is given."""
    return Parameter(name, minimum, maximum, open_min=True, open_max=maximum is not None)


def text(expression: sympy.Expr) -> str:
    """Print a sympy expression in the kernel's formula language."""
    return sympy.sstr(expression, full_prec=False)
