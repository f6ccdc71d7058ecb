"""The formula language in words: what is written, what it means, and a true example of each construct and function.

Each example is a formula that the kernel finds true (tests/proofs_check/test_formulas_page.py); a name in the kernel
or in `proofs_check/claim.py` without words here makes the page notes/formulas.md fail.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from proofs_check.kernel import encoding, formula, functions, separation, symbolic, values


@dataclass(frozen=True)
class Row:
    """One line of a table: how it is written, what it means, and a formula that is true, with its witnesses."""

    form: str
    meaning: str
    example: str
    witnesses: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


#: by the kind of node that Python's parser makes of the text, in lower case
CONSTRUCTS = {
    "constant": (Row("`2`, `True`, `False`", "an integer, a truth value; write 1/2 for a half", "1/2 + 1/2 == 1"),),
    "name": (
        Row("`x`", "a variable, a parameter, a definition, or a name bound by `for`, which must hide no other",
            "all(x == 1 for x in [1, 1])"),
        Row("`pi`", "π, a ball", "3 < pi < 22/7"),
    ),
    "list": (Row("`[a, b]`", "a vector; a list of lists of one length is a matrix, row by row",
                 "[[1, 2], [3, 4]][1] == [3, 4]"),),
    "tuple": (Row("`(a, b)`", "the same as a list", "(1, 2) == [1, 2]"),),
    "unaryop": (
        Row("`-a`", "negative, entry by entry", "-[1, 2] == [-1, -2]"),
        Row("`not s`", "negation of a statement", "not 1 > 2"),
    ),
    "boolop": (
        Row("`s and t`", "both; t is not evaluated where s is false", "not (1 > 2 and 1/0 == 1)"),
        Row("`s or t`", "at least one; t is not evaluated where s is true", "1 < 2 or 1/0 == 1"),
    ),
    "ifexp": (Row("`a if s else b`", "a where s is true, otherwise b; the other one is not evaluated",
                  "(3 if 1 < 2 else 1/0) == 3"),),
    "compare": (
        Row("`a < b`, `<=`, `>`, `>=`", "between numbers; may be chained", "1 < 2 <= 2 and 3 > 2 >= 2"),
        Row("`a == b`, `!=`", "between numbers, vectors or matrices", "[1, 2] == [1, 4/2] and 1 != 2"),
        Row("`a in Q`, `not in`", "membership of an exact value in a list or range",
            "2 in [1, 2] and 3 not in range(3)"),
    ),
    "binop": (
        Row("`a + b`, `-`, `*`, `/`", "entry by entry; a number goes with every entry, vectors need one length",
            "[1, 2] + [3, 4] - 1 == [3, 5] and 2 * [1, 2] / 4 == [1/2, 1]"),
        Row("`A @ b`", "matrix product; a vector is a row on the left and a column on the right",
            "[[1, 2], [3, 4]] @ [1, 1] == [3, 7] and [1, 2] @ [3, 4] == 11"),
        Row("`a ** b`", "power of a number; a fractional power needs a positive base and is a ball",
            "2**-2 == 1/4 and 2**(1/2) < 1415/1000"),
    ),
    "subscript": (Row("`x[i]`, `A[i, j]`", "entry, row, entry of a matrix; counted from 0, never from the end",
                      "[5, 6][0] == 5 and [[1, 2], [3, 4]][1, 0] == 3"),),
    "listcomp": (Row("`[a for i in Q if s]`", "a list; several `for` and `if` nest, `for i, j in P` takes pairs apart",
                     "[i * j for i, j in [[1, 2], [3, 4]] if i > 1] == [12]"),),
    "generatorexp": (Row("`f(a for i in Q)`", "for one argument, most of all of `sum`, `min`, `max`, `all`, `any`",
                         "sum(i * j for i in range(3) for j in range(3) if i != j) == 4"),),
    "call": (Row("`f(a, b)`", "one of the functions below, by position; no others can be called", "abs(1 - 3) == 2"),),
}

FUNCTIONS = {
    "all": Row("`all(s for i in Q)`", "for all: true on an empty list; stops at the first false",
               "all(i < 3 for i in range(3)) and all([])"),
    "any": Row("`any(s for i in Q)`", "there is one: false on an empty list; stops at the first true",
               "any(i == 2 for i in range(3)) and not any([])"),
    "sum": Row("`sum(v)`", "of numbers, vectors or matrices; 0 for an empty list", "sum([[1, 2], [3, 4]]) == [4, 6]"),
    "min": Row("`min(v)`, `min(a, b)`", "least of at least one number", "min(2, 1/2) == 1/2 == min([1/2, 1])"),
    "max": Row("`max(v)`, `max(a, b)`", "largest of at least one number", "max(2, 1/2) == 2 == max([2, 1])"),
    "abs": Row("`abs(a)`", "absolute value of a number", "abs(-3/2) == 3/2"),
    "sign": Row("`sign(a)`", "-1, 0 or 1", "sign(-2) == -1 and sign(0) == 0"),
    "len": Row("`len(v)`", "number of entries; of rows for a matrix", "len([[1, 2, 3], [4, 5, 6]]) == 2"),
    "range": Row("`range(n)`, `range(a, b)`, `range(a, b, step)`", "the integers from 0 or a, below n or b",
                 "[i for i in range(1, 6, 2)] == [1, 3, 5]"),
    "exp": Row("`exp(a)`", "e^a, a ball", "271/100 < exp(1) < 272/100"),
    "log": Row("`log(a)`", "natural logarithm of a positive number, a ball", "693/1000 < log(2) < 694/1000"),
    "cos": Row("`cos(a)`", "cosine, a ball", "cos(pi / 3) < 501/1000"),
    "sin": Row("`sin(a)`", "sine, a ball", "sin(pi / 6) > 499/1000"),
    "sqrt": Row("`sqrt(a)`", "square root; exact where it is rational, otherwise a ball",
                "sqrt(9/4) == 3/2 and sqrt(2) < 1415/1000"),
    "softmax": Row("`softmax(v)`", "e^{v_j} / Σ_k e^{v_k}, balls", "softmax([0, 0, 1])[2] > 57/100"),
    "dot": Row("`dot(a, b)`", "inner product of two vectors of one length", "dot([1, 2], [3, 4]) == 11"),
    "outer": Row("`outer(a, b)`", "the matrix with entries a_i b_j", "outer([1, 2], [3, 4]) == [[3, 4], [6, 8]]"),
    "flat": Row("`flat(A)`", "the entries, row after row", "flat([[1, 2], [3, 4]]) == [1, 2, 3, 4]"),
    "transpose": Row("`transpose(A)`", "rows become columns", "transpose([[1, 2]]) == [[1], [2]]"),
    "trace": Row("`trace(A)`", "sum of the diagonal of a square matrix", "trace([[1, 2], [3, 4]]) == 5"),
    "eye": Row("`eye(n)`", "the identity matrix", "eye(2) == [[1, 0], [0, 1]]"),
    "rank": Row("`rank(A)`", "of an exact matrix; 0 for an empty list", "rank([[1, 2], [2, 4]]) == 1"),
    "psd": Row("`psd(A)`", "is an exact symmetric matrix positive semidefinite? Others are rejected",
               "psd([[2, 1], [1, 2]]) and not psd([[1, 2], [2, 1]])"),
    "independent": Row("`independent(rows)`", "linearly independent as a family: a repeated row makes it false",
                       "independent([[1, 0], [1, 1]]) and not independent([[1, 0], [1, 0]])"),
    "matrix": Row("`matrix(cloud)`", "a variable of type cloud as a matrix, up to the longest range", ""),
    "implies": Row("`implies(s, t)`", "t is not evaluated where s is false", "implies(1 > 2, 1/0 == 1)"),
    "iff": Row("`iff(s, t)`", "both true or both false", "iff(1 < 2, 2 < 3)"),
    "separable": Row(
        "`separable(rows, 'k')`",
        "some u has ⟨u, row⟩ > 0 for every row; equivalently 0 is not in their convex hull. The witness decides",
        "separable([[1, 0], [1, 1]], 'k') and not separable([[1], [-2]], 'no')",
        {"k": {"normal": [1, 0]}, "no": {"weights": {0: 2, 1: 1}}}),
    "hull_distance_at_least": Row(
        "`hull_distance_at_least(rows, b, 'k')`",
        "dist(0, conv rows) >= b; rejected, not false, where the witness does not show it",
        "hull_distance_at_least([[3, 4], [6, 8]], 5, 'k')", {"k": {"normal": [3, 4]}}),
    "hull_distance_at_most": Row(
        "`hull_distance_at_most(rows, b, 'k')`",
        "dist(0, conv rows) <= b; rejected, not false, where the witness does not show it",
        "hull_distance_at_most([[1, 1], [1, -1]], 1, 'k')", {"k": {"weights": {0: 1, 1: 1}}}),
    "norm_at_most": Row(
        "`norm_at_most(A, p, b, 'k')`",
        "Schatten norm: ‖A‖_p <= b for p >= 1 or 'inf'; rejected, not false, where it is not shown",
        "norm_at_most([[3, 0], [0, 4]], 1, 7001/1000, 'k') and norm_at_most([[3, 0], [0, 4]], 2, 5, 'none')",
        {"k": {"left": [[1, 0], [0, 1]], "values": [3, 4], "right": [[1, 0], [0, 1]]}}),
}

WITNESSES = {
    "normal": "a vector u: ⟨u, row⟩ > 0 on every row (`separable` is true), or ≥ b‖u‖ (`hull_distance_at_least`)",
    "weights": "positive numbers by row, of any sum: their convex combination is 0 (`separable` is false), or at most "
               "b long (`hull_distance_at_most`)",
    "basis": "d + 1 row numbers: the one combination of these rows that is 0, with weights of sum 1, is shown by balls "
             "to have positive weights (`separable` is false)",
    "left, values, right": "an approximate singular value decomposition A ≈ L diag(s) Rᵀ; its residuals are bounded by "
                           "balls. p = 2 needs none",
}

#: what a variable of that type is given as in an `Instance`, and what it is; a cloud is made by `inspect` and `cost`
KINDS: dict[str, tuple[object, str]] = {
    "integer": (3, "an integer"),
    "set": ((0, 2), "integers, none twice: indices, counted from 0"),
    "integers": ((1, 1, 2), "integers in an order, repeated or not"),
    "pairs": (((0, 1), (2, 1)), "pairs of integers, none twice"),
    "scalar": (0.5, "a rational number: int, Fraction or float"),
    "vector": ((1, 2), "numbers"),
    "matrix": (((1, 2), (3, 4)), "rows of one length"),
    "matrices": ((((1, 2),), ((3, 4),)), "matrices, each with rows of one length"),
    "cloud": (None, "many float rows in a file beside the certificate, named by its sha256"),
}

READ_AS = {
    "forall": "whenever the hypotheses hold, the conclusions do",
    "exists": "some instance meets hypotheses and conclusions; it needs to be shown, and where the part has `cases`, "
              "one for each of them",
    "probability": "the conclusions are an event whose probability the text bounds; sampled, never proved by instances",
}

OPERATOR_WORDS = {
    "flip inequality": "an inequality, or a sign, the other way round",
    "strict for non-strict": "< for <=, > for >=, or the other way round: false where the bound is attained",
    "T for T-1": "a count that is off by one: T for T - 1, a pair or a token too many or too few",
    "p for p*": "a Schatten exponent for its dual, or for another one",
    "swap sink and diagonal": "the formula of one pattern for the other",
    "drop hypothesis": "the same conclusions with a hypothesis left out; `vary(..., drop=(\"name\",))`",
    "constant moved": "a number that is wrong: a factor 2, a threshold, one per cent",
    "transpose": "a matrix or product with the sides exchanged",
    "wrong mask": "other pairs of query and key: the own token left out, a causal mask forgotten",
    "wrong matrix": "another matrix or quantity in its place: a trace of the wrong one, in-degrees for out-degrees",
    "centroid for min-norm point": "the mean of a cloud for the point of its hull nearest to zero",
    "missing square root": "a square for the quantity itself, or the quantity for its root",
    "exponent moved": "an exponent or a rate that is wrong",
    "wrong converse": "the converse or the negation: necessary taken for sufficient, sometimes for never",
    "trap": "any other false version that looks right",
}

#: one example for each reason: (parameters, assumptions, formula, the rest of the lemma), see `theory.statements.Lemma`
REASONS = {
    "identity": ("an equality whose numerator is the zero polynomial, once equality assumptions times `multipliers` "
                 "are subtracted",
                 (("x", "0"),), {"so far": "x == 2"}, "x**2 == 4", {"multipliers": {"so far": "x + 2"}}),
    "orthant": ("an inequality whose numerator and denominator have coefficients of one sign, the bounds put in",
                (("T", "2"),), {}, "T**2 - T - 1 > 0", {}),
    "terms": ("left minus right is a sum of positive numbers times squares and known nonnegative expressions",
              (("x", None), ("y", None)), {}, "x**2 + y**2 - 2*x*y >= 0", {"terms": [["1", ["(x - y)**2"]]]}),
    "factor": ("`sign(a) == sign(b)`: a = factor · b, and the factor is positive",
               (("x", None), ("y", "0")), {}, "sign(x * (y + 1)) == sign(x)", {"factor": "y + 1"}),
}

#: a relation on a box, {parameter: (low, high)}, and the bisection tree that proves it
COVER = ({"x": ("0", "1")}, "exp(x) > 4*x/3", ("x", "leaf", "leaf"))

LIMITS = {
    "MAX_POWER": (formula, "largest integer exponent"),
    "PRECISIONS": (formula, "bits of the balls, tried one after the other"),
    "MAX_STEPS": (functions, "steps for one instance, about a microsecond each; long numbers and matrices count more"),
    "MAX_STEPS_IN_ALL": (functions, "steps for all instances, or all boxes, of a certificate"),
    "MAX_RANGE": (functions, "longest range; entries of a cloud that `matrix` takes"),
    "MAX_BITS": (values, "bits of one number"),
    "BASIS_PRECISION": (separation, "bits of the balls that check a basis"),
    "MAX_TERMS": (symbolic, "terms of a polynomial in a derivation"),
    "MAX_WORK": (symbolic, "work of one operation on polynomials, a product being terms times terms times words"),
    "MAX_TOTAL": (symbolic, "work of all operations of a derivation"),
    "COVER_PRECISION": (symbolic, "bits of the balls of a cover"),
    "MAX_FILE": (encoding, "bytes of a certificate file"),
    "MAX_SIDECAR": (encoding, "bytes of a cloud's file"),
}

#: what a reader of Python might expect, and is refused
REFUSED = (
    ("0.5", "0.5 == 1/2", "no decimal point: write 1/2"),
    ("1e3", "1e3 == 1000", "nor an exponent: write 10**3"),
    ("'text'", "'a' == 'a'", "texts are keys of witnesses and 'inf' only"),
    ("x[-1]", "[1, 2][-1] == 2", "indices count from 0"),
    ("x[1:]", "[1, 2][1:] == [2]", "no slices: [x[i] for i in range(1, len(x))]"),
    ("x.T", "[[1]].T == [[1]]", "no attributes: transpose(x)"),
    ("max(v, key=f)", "max([1], key=len) == 1", "no named arguments"),
    ("lambda, :=", "(lambda: 1)() == 1", "definitions have a place of their own in a part"),
    ("a // b, a % b", "7 // 2 == 3", "no integer division; round by hand in the instance"),
    ("a is b", "1 is 1", "=="),
    ("{...}", "1 in {1, 2}", "lists only"),
)
