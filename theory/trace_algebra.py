"""A small exact algebra for second moments of y = (1⊗1 + Σ_h A_h⊗V_h) x, for every size and every matrix at once.

An operator on (token index) ⊗ (embedding) is a finite sum of pairs of words: a *token word* in A, Aᵀ, J = 11ᵀ and an
*embedding word* in V, Vᵀ, M, R, U = uuᵀ, both over noncommuting letters.  Nothing here knows T or d, so an equality
of two normal forms holds for all of them.  The only facts used are

* A J = J and J Aᵀ = J            (row sums 1; this is the only place where they enter),
* tr(WZ) = tr(ZW), tr(W) = tr(Wᵀ) (so the trace of a word depends on its class under rotation and reversal),
* M, R, U symmetric.

Expectation enters once, as E xxᵀ/d = ρ·J⊗U + (1−ρ)·1⊗R, which is the hypothesis of O1 that the z_i are mean zero,
pairwise uncorrelated and of one covariance R.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import sympy


@dataclass(frozen=True, order=True)
class Letter:
    """One matrix symbol; `head` labels a summed head index, `transposed` is ignored by symmetric letters."""

    name: str
    head: str = ""
    transposed: bool = False
    symmetric: bool = False

    @property
    def T(self) -> Letter:
        return self if self.symmetric else replace(self, transposed=not self.transposed)

    def __str__(self) -> str:
        return self.name + (f"_{self.head}" if self.head else "") + ("'" if self.transposed else "")


Word = tuple[Letter, ...]

ALL_ONES = Letter("J", symmetric=True)
FORM = Letter("M", symmetric=True)
COVARIANCE = Letter("R", symmetric=True)
DIRECTION = Letter("U", symmetric=True)


def attention(head: str = "") -> Letter:
    return Letter("A", head)


def value(head: str = "") -> Letter:
    return Letter("V", head)


def transpose(word: Word) -> Word:
    return tuple(letter.T for letter in reversed(word))


def token_normal_form(word: Word, row_sums_one: bool = True) -> Word:
    """Apply A J = J and J Aᵀ = J until neither applies; each step shortens the word, so this ends."""
    letters = list(word)
    position = 0
    while row_sums_one and position + 1 < len(letters):
        left, right = letters[position], letters[position + 1]
        if left.name == "A" and not left.transposed and right == ALL_ONES:
            del letters[position]
        elif left == ALL_ONES and right.name == "A" and right.transposed:
            del letters[position + 1]
        else:
            position += 1
            continue
        position = 0
    return tuple(letters)


def trace_normal_form(word: Word) -> Word:
    """The least word among all rotations of the word and of its transpose: equal traces get equal forms."""
    if not word:
        return word
    return min(w[k:] + w[:k] for w in (word, transpose(word)) for k in range(len(w)))


@dataclass(frozen=True)
class Operator:
    """Σ coefficient · (token word) ⊗ (embedding word)."""

    terms: Mapping[tuple[Word, Word], sympy.Expr] = field(default_factory=dict)

    def __add__(self, other: Operator) -> Operator:
        total = dict(self.terms)
        for key, coefficient in other.terms.items():
            total[key] = total.get(key, sympy.Integer(0)) + coefficient
        return Operator(total)

    def __matmul__(self, other: Operator) -> Operator:
        total: dict[tuple[Word, Word], sympy.Expr] = {}
        for (left_token, left_word), a in self.terms.items():
            for (right_token, right_word), b in other.terms.items():
                key = (left_token + right_token, left_word + right_word)
                total[key] = total.get(key, sympy.Integer(0)) + a * b
        return Operator(total)

    @property
    def T(self) -> Operator:
        return Operator({(transpose(token), transpose(word)): c for (token, word), c in self.terms.items()})


def pair(token: Word, word: Word, coefficient: sympy.Expr | int = 1) -> Operator:
    return Operator({(token, word): sympy.sympify(coefficient)})


@dataclass(frozen=True)
class Gram:
    """A token-by-token matrix Σ coefficient · tr(embedding word) · (token word), in normal form."""

    terms: Mapping[tuple[Word, Word], sympy.Expr]

    def __sub__(self, other: Gram) -> Gram:
        total = dict(self.terms)
        for key, coefficient in other.terms.items():
            total[key] = total.get(key, sympy.Integer(0)) - coefficient
        return Gram({key: c for key, c in total.items() if sympy.expand(c) != 0})

    def is_zero(self) -> bool:
        return not any(sympy.expand(c) != 0 for c in self.terms.values())


def gram(entries: Mapping[tuple[Word, Word], sympy.Expr | int], row_sums_one: bool = True) -> Gram:
    """Collect (token word, trace word) pairs into normal form.

    A word with one head label carries the implicit Σ over that head, and its name is a dummy: it becomes h.  A word
    with two carries the double sum, in which the token word tells the two apart.
    """
    total: dict[tuple[Word, Word], sympy.Expr] = {}
    for (token, word), coefficient in entries.items():
        token = token_normal_form(token, row_sums_one)
        labels = list(dict.fromkeys(letter.head for letter in token + word if letter.head))
        if len(labels) == 1:
            token, word = (tuple(replace(x, head="h" if x.head else "") for x in w) for w in (token, word))
        key = (token, trace_normal_form(word))
        total[key] = total.get(key, sympy.Integer(0)) + coefficient
    return Gram({key: sympy.expand(c) for key, c in total.items() if sympy.expand(c) != 0})


def second_moment(rho: sympy.Expr) -> Operator:
    """E xxᵀ/d = ρ·J⊗U + (1−ρ)·1⊗R for x_i = √d(√ρ u + √(1−ρ) z_i)."""
    return pair((ALL_ONES,), (DIRECTION,), rho) + pair((), (COVARIANCE,), 1 - rho)


def step(head: str = "") -> Operator:
    """One attention step with its residual: y = (1⊗1 + A⊗V) x; with a label, Σ over that head is understood."""
    return pair((), ()) + pair((attention(head),), (value(head),))


def expected_gram(rho: sympy.Expr, heads: bool = False, row_sums_one: bool = True) -> Gram:
    """E ⟨M y_i, y_j⟩/d as a matrix over (i, j): the partial trace of M·(step)(E xxᵀ/d)(step)ᵀ."""
    left, right = (step("h"), step("k")) if heads else (step(), step())
    moment = left @ second_moment(rho) @ right.T
    return gram({(token, word + (FORM,)): c for (token, word), c in moment.terms.items()}, row_sums_one)
