"""Attacks on the kernel that must fail: each is a way in which a false statement could have been accepted."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import random
import struct
from itertools import product
from pathlib import Path

import pytest
from flint import arb, ctx, fmpq, fmpq_mat

from proofs_check.kernel import (CERTIFICATE_SCHEMA, CLAIM_SCHEMA, Malformed, Rejected, Replayed, digest, read_json,
                                 replay)
from proofs_check.kernel.encoding import Cloud, integer_row, read_integer, read_number
from proofs_check.kernel.formula import Evaluator, Undecided, decide
from proofs_check.kernel.symbolic import Domain, check_cover, check_derivation

NAN, LINE = arb("nan"), arb(0, "inf")
ONE_X = {"name": "x", "minimum": ["0", "1"]}  # x >= 0, zero included


@pytest.fixture(autouse=True)
def precision():
    before, ctx.prec = ctx.prec, 128
    yield
    ctx.prec = before


def truth(text: str, definitions: list | None = None, witnesses: dict | None = None, **values: object) -> bool:
    return Evaluator(values, witnesses or {}, definitions or []).truth(text)


def part(*conclusions: str, **changes: object) -> dict:
    return {"name": "p", "text": "", "quantifier": "forall", "variables": [], "parameters": [], "constants": {},
            "definitions": [], "hypotheses": [], "conclusions": list(conclusions), "attainment": "",
            "formal": {}, **changes}


def named(*formulas: str) -> list:
    return [{"name": f"h{i}", "text": "", "formula": text} for i, text in enumerate(formulas)]


def attempt(statement: dict, kind: str, role: str, body: dict, directory: Path, variants: tuple = (),
            **changes: str) -> Replayed:
    claim = {"schema": CLAIM_SCHEMA, "id": "Z", "parts": [statement], "variants": list(variants), "uses": []}
    return replay(claim, {"schema": CERTIFICATE_SCHEMA, "claim": "Z", "claim_digest": digest(claim), "target": "p",
                          "role": role, "subject": "", "kind": kind, "engine": "test", "body": body, **changes},
                  directory)


def instances(*values: dict) -> dict:
    return {"instances": [{"values": item, "witnesses": {}} for item in values]}


SCALAR = part("x < 2", variables=[{"name": "x", "type": "scalar"}], hypotheses=named("x > 0"))


# ---- balls ----

@pytest.mark.parametrize("text", [
    "n == n", "n != n", "n < 1", "not (n < 1)", "min(n, 1) <= 1", "max(1, n) >= 1", "abs(n) >= 0", "0 * n == 0",
    "exp(n) > 0", "cos(n) <= 1 / 2", "sign(n) == 0", "n in [1]", "sum([n, 1]) > 0", "softmax([n, 1])[0] <= 1",
    "psd([[n]])", "1 / n == 0", "all(n > 0 for i in [1])", "implies(n > 0, False)", "iff(n > 0, n > 0)",
])
@pytest.mark.parametrize("value", [NAN, LINE], ids=["nan", "unbounded"])
def test_what_is_not_finite_decides_nothing(text: str, value: arb) -> None:
    with pytest.raises(Rejected):
        truth(text, n=value)


@pytest.mark.parametrize("text", ["sqrt(sin(0) - exp(0)) == 0", "sqrt(sin(0) - exp(0)) ** 2 < 0", "log(0) < 0",
                                  "(0 - 8) ** (1 / 3) == 0 - 2", "0 ** (0 - 1) > 0", "1 / (x - x) == 0"])
def test_a_value_outside_a_functions_domain_decides_nothing(text: str) -> None:
    with pytest.raises(Rejected):
        truth(text, x=fmpq(2))


def test_a_ball_is_never_found_equal_to_a_point_inside_it() -> None:
    inside = arb(1, 0.5)
    for text in ("b == 1", "b != 1", "b >= 1", "b <= 1", "b > 1", "b in [1]", "[b] == [1]", "[b] != [1]"):
        with pytest.raises(Rejected):
            truth(text, b=inside)


def test_an_undecided_part_of_a_statement_is_not_skipped_over() -> None:
    for text in ("b > 1 or True", "not (b > 1 and False)", "implies(b > 1, True)", "1 if b > 1 else 1",
                 "all(c > 1 for c in [b])"):
        with pytest.raises(Rejected):
            truth(text, b=arb(1, 0.5))


def test_a_low_precision_left_behind_changes_no_answer(tmp_path: Path) -> None:
    statement = part("x + sqrt(2) > 2", parameters=[{"name": "x", "minimum": ["1", "1"], "maximum": ["2", "1"]}])
    for bits in (2, 53, 4096):
        ctx.prec = bits
        assert attempt(statement, "cover", "evidence", {"splits": ["leaf"]}, tmp_path).grade == "enclosed"
        assert decide({"x": fmpq(3)}, [], [], ["exp(x) < 21", "exp(x) > 20"], {}) == (True, True, True)
        with pytest.raises(Rejected):
            decide({"x": fmpq(3)}, [], [], ["exp(x) == exp(x)"], {})


def test_a_root_that_a_higher_precision_finds_nonnegative_is_not_refused() -> None:
    near_zero = "sqrt(exp(x) - 1) > 0"  # x = 2^-200: at 128 bits the difference may be negative
    assert decide({"x": fmpq(1, 2**200)}, [], [], [near_zero], {}) == (True, True, True)
    with pytest.raises(Rejected, match="negative"):
        decide({"x": fmpq(-1, 2**200)}, [], [], [near_zero], {})


def test_an_overflow_does_not_show_that_a_hypothesis_is_dropped(tmp_path: Path) -> None:
    huge = "1" + "0" * 4000
    for text in ("exp(x) > 1", "exp(x)**2 > 1"):  # true at that x, though no ball can tell
        statement = part("x < 2", variables=[{"name": "x", "type": "scalar"}], hypotheses=named(text))
        with pytest.raises(Undecided):
            attempt(statement, "counterexample", "dropped", instances({"x": huge}), tmp_path, subject="h0")


def test_every_matrix_of_a_list_has_the_shape_that_is_declared(tmp_path: Path) -> None:
    variables = [{"name": "m", "type": "matrices", "shape": ["h", "d", "d"]}]
    statement = part("all(len(a) == 2 and len(a[0]) == 2 for a in m)", variables=variables)
    square, wide = [["1", "0"], ["0", "1"]], [["1", "0", "0"], ["0", "1", "0"]]
    assert attempt(statement, "instances", "evidence", instances({"m": [square, square]}), tmp_path).outcome == "holds"
    for listed in ([square, wide], [wide, square], [square, [["1"]]]):
        with pytest.raises(Rejected, match="does not have"):
            attempt(statement, "instances", "evidence", instances({"m": listed}), tmp_path)


# ---- names, laziness, language ----

@pytest.mark.parametrize(("text", "definitions"), [
    ("all(d > 0 for y in [1])", [["d", "y"]]), ("d == 1", [["d", "d"]]), ("d == 1", [["d", "e"], ["e", "d"]]),
    ("all(x == 5 for x in [5])", []), ("all(d == 5 for d in [5])", [["d", "1"]]),
    ("all(all(i == 2 for i in [2]) for i in [1])", []), ("all(len == 2 for len in [2])", []),
    ("all(i == 1 for i in [1]) and i == 1", []),
])
def test_a_name_means_one_thing(text: str, definitions: list) -> None:
    with pytest.raises(Rejected):
        truth(text, definitions, x=fmpq(1))


@pytest.mark.parametrize("name", ["pi", "all", "separable", "1x", "a b", ""])
def test_a_variable_cannot_take_a_reserved_name(name: str) -> None:
    with pytest.raises(Rejected):
        Evaluator({name: fmpq(1)}, {}, [])


@pytest.mark.parametrize("text", [
    "True == 1", "True + True == 2", "(x > 0) > 0", "x", "[True] == [True]", "x[0:1] == x", "(lambda: True)()",
    "x.p == 1", "(y := 1) == 1", "all(*[[True]])", "all([1])", "any([x])", "{x} == {x}", "x is x", "x // 1 == 1",
    "x == 1 # and x == 2", "ｘ == 1", "x == １", "x % 1 == 0", "+x == 1", "~x == 0",
    "'a' == 'a'", "1.0 == 1", "x[True] == 1", "[1][-1] == 1", "f'{x}' == '1'",
])
def test_python_outside_the_language_is_refused(text: str) -> None:
    with pytest.raises(Rejected):
        truth(text, x=fmpq(1))


@pytest.mark.parametrize("matrix", ["[[1, 2], [0, 1]]", "[[1, 2]]", "[]", "[[]]", "[[1], [1, 2]]"])
def test_only_a_square_symmetric_matrix_can_be_semidefinite(matrix: str) -> None:
    with pytest.raises(Rejected):
        truth(f"psd({matrix})")


def test_semidefiniteness_agrees_with_all_principal_minors() -> None:
    for a, b, c, d, e, f in product((0, 1, 2), (-1, 0, 1), (-1, 0, 1), (0, 1), (-1, 0, 1), (-1, 0, 1)):
        rows = [[a, b, c], [b, d, e], [c, e, f]]
        chosen = [[i for i in range(3) if mask >> i & 1] for mask in range(1, 8)]
        minors = [fmpq_mat([[rows[i][j] for j in some] for i in some]).det() for some in chosen]
        exact = [[fmpq(entry) for entry in row] for row in rows]
        assert truth("psd(m)", m=exact) is all(minor >= 0 for minor in minors)


# ---- hulls, norms, sidecars ----

@pytest.mark.parametrize("rows", ["[]", "[[]]", "[[], []]", "[1, 2]", "[[1], [1, 2]]", "[[sqrt(2)]]"])
@pytest.mark.parametrize("witness", [{"normal": []}, {"normal": ["1"]},
                                     {"weights": [["0", "1"]]}, {"basis": ["0", "1"]}])
def test_a_hull_of_no_or_ragged_or_enclosed_rows_has_no_answer(rows: str, witness: dict) -> None:
    with pytest.raises(Rejected):
        truth(f"separable({rows}, 'k')", witnesses={"k": witness})


@pytest.mark.parametrize("text", ["hull_distance_at_least(r, 2, 'zero')", "hull_distance_at_least(r, 0 - 1, 'u')",
                                  "hull_distance_at_least(r, 2, 'u')", "hull_distance_at_most(r, 0 - 3, 'w')",
                                  "hull_distance_at_most(r, 1 / 2, 'w')",
                                  "separable(r, 'zero')", "separable(r, 'both')",
                                  "not separable(r, 'nothing')", "not separable(r, 'negative')"])
def test_a_witness_shows_no_more_than_it_does(text: str) -> None:
    witnesses = {"zero": {"normal": ["0", "0"]}, "u": {"normal": ["1", "0"]}, "w": {"weights": [["0", "1"]]},
                 "both": {"normal": ["1", "0"], "weights": [["0", "1"]]}, "nothing": {"weights": []},
                 "negative": {"weights": [["0", "1"], ["1", "-1"]]}}
    with pytest.raises(Rejected):
        truth(text, witnesses=witnesses, r=[[fmpq(1), fmpq(0)], [fmpq(1), fmpq(0)]])


def test_no_decomposition_shows_a_norm_below_the_true_one() -> None:
    rng = random.Random(3)
    for exponent, norm in (("1", 4), ("'inf'", 3), ("3/2", fmpq(335, 100))):  # of diag(3, 1)
        for _ in range(60):
            side = [[[str(int(i == j) * 50 + rng.randint(-3, 3)), "1"] for j in range(2)] for i in range(2)]
            scaled = [[[str(fmpq(int(n), 50).p), str(fmpq(int(n), 50).q)] for n, _ in row] for row in side]
            values = [str(rng.randint(0, 4)) for _ in range(2)]
            witness = {"left": scaled, "right": scaled, "values": values}
            with pytest.raises(Rejected):
                truth(f"norm_at_most(m, {exponent}, {norm} - 1 / 100, 'k')", witnesses={"k": witness},
                      m=[[fmpq(3), fmpq(0)], [fmpq(0), fmpq(1)]])


def test_scaled_rows_are_exact_for_every_finite_float() -> None:
    rng = random.Random(5)
    special = [0.0, -0.0, 5e-324, -5e-324, 2.0**-1022, 1.7976931348623157e308, 1.0, -2.0**-1074 * 3, 2.0**971]
    drawn = [struct.unpack("<d", rng.randbytes(8))[0] for _ in range(400)]
    pool = special + [value for value in drawn if value - value == 0.0]
    for _ in range(500):
        row = tuple(rng.choice(pool) for _ in range(rng.randint(1, 4)))
        integers, scale = integer_row(row)
        assert [fmpq(top, scale) for top in integers] == [fmpq(*value.as_integer_ratio()) for value in row]


def cloud(directory: Path, dtype: str, shape: list[str], raw: bytes) -> Cloud:
    sha = hashlib.sha256(raw).hexdigest()
    (directory / f"{sha}.bin").write_bytes(raw)
    return Cloud({"sidecar": sha, "dtype": dtype, "shape": shape}, directory, "x")


@pytest.mark.parametrize(("dtype", "raw"), [("float16", b"\x01\x7c"), ("float16", b"\x00\xfc"),
                                            ("float32", b"\x01\x00\x80\x7f"),
                                            ("float64", b"\x01\x00\x00\x00\x00\x00\xf0\x7f"),
                                            ("float64", b"\x00\x00\x00\x00\x00\x00\xf0\xff")])
def test_every_nan_and_infinity_of_a_sidecar_is_refused(tmp_path: Path, dtype: str, raw: bytes) -> None:
    rows = cloud(tmp_path, dtype, ["1", "1"], raw)
    for text in ("independent(r)", "separable(r, 'k')", "r[0][0] == r[0][0]", "rank(matrix(r)) == 1"):
        with pytest.raises(Rejected):
            truth(text, witnesses={"k": {"normal": ["1"]}}, r=rows)


@pytest.mark.parametrize("shape", [["0", "1"], ["1", "0"], ["-1", "-1"], ["1"], ["1", "1", "1"],
                                   ["2", "1"], ["01", "1"]])
def test_a_sidecar_has_two_positive_sizes_that_fit(tmp_path: Path, shape: list[str]) -> None:
    with pytest.raises(Rejected):
        cloud(tmp_path, "float64", shape, struct.pack("<d", 1.0))


def test_a_cloud_is_the_same_instance_in_every_width_of_its_floats(tmp_path: Path) -> None:
    statement = part("len(r[0]) > 0", variables=[{"name": "r", "type": "cloud"}])

    def stored(dtype: str, *entries: float) -> dict:
        raw = struct.pack(f"<{len(entries)}{'d' if dtype == 'float64' else 'f'}", *entries)
        return {"sidecar": cloud(tmp_path, dtype, ["2", "1"], raw).sha, "dtype": dtype, "shape": ["2", "1"]}

    wide = stored("float64", 1.0, 0.0)
    for twin in (stored("float32", 1.0, 0.0), stored("float64", 1.0, -0.0)):
        with pytest.raises(Rejected, match="listed twice"):
            attempt(statement, "instances", "evidence", instances({"r": wide}, {"r": twin}), tmp_path)
    both = instances({"r": wide}, {"r": {**wide, "shape": ["1", "2"]}})
    assert attempt(statement, "instances", "evidence", both, tmp_path).scope == "instances: 2"


def test_a_rank_modulo_a_prime_never_shows_dependence(tmp_path: Path) -> None:
    rows = cloud(tmp_path, "float64", ["2", "2"], struct.pack("<4d", 2.0**61, 1.0, 1.0, 1.0))  # determinant 2^61 - 1
    for text in ("independent(r)", "not independent(r)"):
        with pytest.raises(Undecided):
            truth(text, r=rows)
    assert truth("rank(matrix(r)) == 2", r=rows)


# ---- numbers and files ----

@pytest.mark.parametrize("text", ["１", "+1", " 1", "1\n", "01", "-0", "1_0", "0x10", "1e5", "nan", "inf", "0x1p+1024",
                                  "0x1.0P+0", "0X1p+0", "0x1p0", "", "-"])
def test_a_number_has_one_plain_form(text: str) -> None:
    with pytest.raises((Malformed, OverflowError)):
        read_number(text, "x")
    with pytest.raises(Malformed):
        read_integer(text, "x")


@pytest.mark.parametrize("pair", [["1", "0"], ["1", "-2"], ["2", "4"], ["0", "2"], ["1"],
                                  ["1", "2", "3"], [["1"], "2"]])
def test_a_rational_is_in_lowest_terms_over_a_positive_number(pair: list) -> None:
    with pytest.raises(Malformed):
        read_number(pair, "x")


@pytest.mark.parametrize("text", ['{"a":"1","a":"2"}', '{"a":{"b":"","b":""}}', '{"a":true}', '{"a":null}', '{"a":1}',
                                  '{"a":NaN}', '{"a":-Infinity}', '[]', '"a"', '\ufeff{}', "{", "[" * 10**5])
def test_a_file_holds_text_lists_and_objects_without_repeated_keys(tmp_path: Path, text: str) -> None:
    (tmp_path / "cert-a.json").write_text(text, encoding="utf-8")
    with pytest.raises(Malformed):
        read_json(tmp_path / "cert-a.json")


# ---- derivations and covers ----

def derive(conclusion: str, by: str, assumptions: tuple = (), definitions: list | None = None,
           parameters: list | None = None, before: tuple = (), **data: object) -> None:
    check_derivation(part(conclusion, parameters=parameters or [ONE_X, {"name": "z"}], hypotheses=named(*assumptions),
                          definitions=definitions or []), [*before, {"formula": conclusion, "by": by, **data}])


UNIT = [[["1", "1"], []]]
UNSOUND = {
    "cancelling a factor that may vanish": lambda: derive("x**2 / x == x", "identity"),
    "a zero times what is undefined": lambda: derive("0 * (1 / x) == 0", "identity"),
    "dividing by zero itself": lambda: derive("1 / (z - z) == 0", "identity"),
    "dividing by an unknown square": lambda: derive("1 / z**2 > 0", "orthant"),
    "a negative power of what may vanish": lambda: derive("x**-1 * x == 1", "identity"),
    "dividing by what is only >= 0": lambda: derive("z / z == 1", "identity", ("z >= 0",)),
    "dividing by a factor of a non-strict product": lambda: derive("z / z == 1", "identity", ("x * z >= 0",)),
    "dividing by what an absurd assumption names": lambda: derive("z / z == 1", "identity", ("0 > 0",)),
    "an undefined definition that nobody uses": lambda: derive("x >= 0", "orthant", definitions=[["t", "1 / z"]]),
    "an undefined assumption": lambda: derive("x >= 0", "orthant", ("1 / z > 0",)),
    "assumptions that define each other": lambda: derive("x >= 0", "orthant", ("1/z > 0", "z/(z*z) > 0")),
    "a circle of definitions": lambda: derive("t == u", "identity", definitions=[["t", "u"], ["u", "t"]]),
    "a definition of a parameter": lambda: derive("x > 5", "orthant", definitions=[["x", "6"]]),
    "a definition made twice": lambda: derive("t > 5", "orthant", definitions=[["t", "6"], ["t", "7"]]),
    "strict from a closed range": lambda: derive("x > 0", "terms", terms=[[["1", "1"], ["x"]]]),
    "strict from a non-strict product": lambda: derive(
        "x*z > 0", "terms", ("x*z >= 0",), terms=[[["1", "1"], ["x*z"]]]),
    "strict from an even power of zero": lambda: derive("z**2 > 0", "terms", terms=[[["1", "1"], ["z**2"]]]),
    "an odd power as a square": lambda: derive("z**3 >= 0", "terms", terms=[[["1", "1"], ["z**3"]]]),
    "a negative coefficient": lambda: derive("0 - x >= 0", "terms", terms=[[["-1", "1"], ["x"]]]),
    "a zero coefficient": lambda: derive("z - z >= 0", "terms", terms=[[["0", "1"], ["z"]]]),
    "terms of another sum": lambda: derive("z >= 0", "terms", terms=UNIT),
    "an inequality as a multiplier": lambda: derive("z == 0", "identity", ("z >= 0",), multipliers={"h0": "1"}),
    "a lemma as a multiplier": lambda: derive("x == 0", "identity", multipliers={"x >= 0": "1"},
                                              before=({"formula": "x >= 0", "by": "orthant"},)),
    "signs by an identity": lambda: derive("sign(z) == sign(z)", "identity"),
    "signs by a factor that may vanish": lambda: derive("sign(x*z) == sign(z)", "factor", factor="x"),
    "signs by a factor that may be negative": lambda: derive("sign(z**3) == sign(z)", "factor", factor="z**2"),
    "a chain of relations": lambda: derive("x >= 0 > 1", "orthant"),
    "an unequal": lambda: derive("x != 0", "identity"),
    "an unknown reason": lambda: derive("x >= 0", "obvious"),
    "free terms of odd degree between them": lambda: derive("x*z + z**2 + 1 > 0", "orthant"),
    "strict off one face only": lambda: derive("x + y > 0", "orthant", parameters=[ONE_X, {**ONE_X, "name": "y"}]),
    "an empty range": lambda: derive("x > x", "orthant", parameters=[{**ONE_X, "maximum": ["0", "1"]}]),
    "a flag that is no flag": lambda: derive("x > 0", "orthant", parameters=[{**ONE_X, "open_min": "True"}]),
}


@pytest.mark.parametrize("name", UNSOUND)
def test_an_unsound_step_of_a_derivation_is_rejected(name: str) -> None:
    with pytest.raises(Rejected):
        UNSOUND[name]()


def test_a_conclusion_needs_its_own_lemma() -> None:
    for lemma in ("x + 1 >= 0", "0 <= x", "x >= 0 - 1"):
        with pytest.raises(Rejected):
            check_derivation(part("x >= 0", parameters=[ONE_X]), [{"formula": lemma, "by": "orthant"}])


def test_the_sign_rule_agrees_with_the_values_on_the_domain() -> None:
    rng, seen = random.Random(7), 0
    for _ in range(700):
        tables = []
        for name in "xy"[:rng.randint(1, 2)]:
            ends = {"minimum": rng.choice([None, "-1", "0", "1"]), "maximum": rng.choice([None, "2", "3"]),
                    "open_min": rng.choice(["true", "false"]), "open_max": rng.choice(["true", "false"])}
            tables.append({"name": name} | {key: text for key, text in ends.items() if text is not None})
        domain = Domain(tables)
        polynomial = domain.ring.constant(rng.choice([0, 0, 1, -1]))
        for _ in range(rng.randint(1, 3)):
            term = domain.ring.constant(rng.choice([1, 2, -1]))
            for variable, (low, high, _, _) in zip(domain.ring.gens(), domain.bounds.values()):
                factors = [variable * variable]
                factors += [] if low is None else [variable - low]
                factors += [] if high is None else [high - variable]
                for _ in range(rng.randint(0, 2)):
                    term *= rng.choice(factors)
            polynomial += term
        sign, strict = domain.sign(polynomial)
        seen += sign != 0
        choices = []
        for low, high, open_min, open_max in domain.bounds.values():
            bottom, top = fmpq(-4) if low is None else low, fmpq(4) if high is None else high
            ends = [bottom] * (not open_min or low is None) + [top] * (not open_max or high is None)
            inside = [bottom + (top - bottom) * fmpq(k, 8) for k in range(1, 8)]
            choices.append(ends + inside + [fmpq(0)] * bool(bottom < 0 < top))
        for point in product(*choices) if sign else ():
            value = sum((coefficient * fmpq_product(point, exponents)
                         for exponents, coefficient in polynomial.to_dict().items()), fmpq(0))
            assert sign * value > 0 or (value == 0 and not strict), (tables, polynomial, point)
    assert seen > 100


def fmpq_product(point: tuple, exponents: tuple) -> fmpq:
    result = fmpq(1)
    for entry, exponent in zip(point, exponents):
        result *= entry ** int(exponent)
    return result


BOX = [{"name": "x", "minimum": ["0", "1"], "maximum": ["1", "1"]}]


@pytest.mark.parametrize(("conclusion", "splits"), [
    ("x > 0", ["leaf"]), ("x >= 0", ["leaf", "leaf"]), ("x >= 0 - 1", []), ("x >= 0 - 1", ["x", "leaf"]),
    ("x >= 0 - 1", ["y"]), ("x == x", ["leaf"]), ("1 / x > 0", ["leaf"]), ("sqrt(x - 1/2) >= 0", ["leaf"]),
    ("not (x > 2) and x < 1/2", ["x", "leaf", "leaf"]), ("x in [0]", ["leaf"]),
    ("x", ["leaf"]), ("log(x) <= 0", ["leaf"]),
])
def test_a_cover_shows_no_more_than_its_boxes_do(conclusion: str, splits: list[str]) -> None:
    with pytest.raises(Rejected):
        check_cover(part(conclusion, parameters=BOX), splits)


def test_a_cover_has_hypotheses_of_its_own_never() -> None:
    with pytest.raises(Rejected):
        check_cover(part("x <= 1", parameters=BOX, hypotheses=named("x > 2")), ["leaf"])


# ---- roles and records ----

GOOD, BAD, OUTSIDE = instances({"x": "1"}), instances({"x": "3"}), instances({"x": "-1"})


@pytest.mark.parametrize(("kind", "role", "body", "changes"), [
    ("instances", "evidence", {"instances": []}, {}), ("instances", "evidence", BAD, {}),
    ("instances", "evidence", OUTSIDE, {}), ("instances", "satisfiable", BAD, {}), ("instances", "attained", GOOD, {}),
    ("instances", "refuted", BAD, {}), ("instances", "dropped", BAD, {"subject": "h0"}),
    ("counterexample", "evidence", GOOD, {}), ("counterexample", "refuted", GOOD, {}),
    ("counterexample", "refuted", OUTSIDE, {}), ("counterexample", "refuted", BAD, {"subject": "h0"}),
    ("counterexample", "dropped", BAD, {}), ("counterexample", "dropped", BAD, {"subject": "h1"}),
    ("counterexample", "refuted", BAD, {"target": "q"}), ("instances", "evidence", GOOD, {"target": "v"}),
    ("instances", "satisfiable", instances({"x": "1"}, {"x": ["1", "2"]}), {}),
    ("instances", "evidence", instances({"x": "1"}, {"x": "1"}), {}),
    ("instances", "evidence", instances({"x": "1", "y": "1"}), {}), ("instances", "evidence", instances({}), {}),
    ("search", "satisfiable", {"examples": "5"}, {}), ("search", "evidence", {"examples": "0"}, {}),
    ("search", "evidence", {"examples": "-5"}, {}), ("derivation", "evidence", {"lemmas": []}, {}),
    ("cover", "evidence", {"splits": ["leaf"]}, {}), ("oracle", "evidence", {}, {}), ("formal", "evidence", {}, {}),
    ("instances", "evidence", GOOD, {"claim_digest": "0" * 64}), ("instances", "evidence", GOOD, {"claim": "Y"}),
    ("float", "evidence", {"residual": "1", "tolerance": "1", "cases": "1"}, {}),
    ("sampling", "evidence", {"trials": "5", "probability_at_most": ["1", "2"], "confidence": ["99", "100"]}, {}),
])
def test_a_certificate_cannot_take_a_role_it_does_not_fill(tmp_path: Path, kind, role, body, changes) -> None:
    with pytest.raises(Rejected):
        attempt(SCALAR, kind, role, body, tmp_path, ({**SCALAR, "name": "v"},), **changes)


def test_two_statements_cannot_share_a_name(tmp_path: Path) -> None:
    with pytest.raises(Rejected):
        attempt(SCALAR, "instances", "evidence", GOOD, tmp_path, (SCALAR,))
    assert attempt(SCALAR, "instances", "evidence", GOOD, tmp_path).outcome == "holds"


def test_a_replayed_record_is_not_changed_into_a_stronger_one(tmp_path: Path) -> None:
    record = attempt(SCALAR, "instances", "evidence", GOOD, tmp_path)
    with pytest.raises(TypeError):
        dataclasses.replace(record, grade="kernel")
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.grade = "kernel"


@pytest.mark.parametrize(("source", "change"), [
    ('Definition s := "Theorem t : True.".', {}), ("(* (* *) Theorem t : True. *)", {}),
    ('(* "*)" Theorem t : True. *)', {}),
    ('Definition s := "(*". Theorem t : True. Axiom a : True. Definition u := "*)".', {}),
    ("Theorem t' : True.", {}), ("Theorem tt : True.", {}), ("Definition t := 0.", {}),
    ("Theorem t : True. Admitted.", {}),
    ("Unset Guard\n  Checking. Theorem t : True.", {}), ("#[bypass_check(guard)] Theorem t : True.", {}),
    ("Local Axiom a : True. Theorem t : True.", {}), ("Theorem t : True.", {"assumptions": "Axioms:"}),
    ("Theorem t : True.", {"theorem": "u"}), ("Theorem t : True.", {"sources": {}}),
    ("Theorem t : True.", {"toolchain": {}}),
])
def test_a_formal_record_is_about_the_pinned_theorem_without_escapes(tmp_path: Path, source: str, change: dict) -> None:
    sha = hashlib.sha256(source.encode()).hexdigest()
    (tmp_path / f"{sha}.v").write_text(source)
    pinned = {"theorem": "t", "file": "A.v", "sources": {"A.v": sha}}
    body = {"theorem": "t", "sources": {"A.v": sha}, "toolchain": {"rocq": "9"},
            "assumptions": "Closed under the global context"}
    with pytest.raises(Rejected):
        attempt({**SCALAR, "formal": pinned}, "formal", "evidence", {**body, **change}, tmp_path)


def test_a_certificate_read_from_a_file_is_the_one_that_is_digested(tmp_path: Path) -> None:
    record = attempt(SCALAR, "instances", "evidence", GOOD, tmp_path)
    (tmp_path / "c.json").write_text(json.dumps(GOOD, indent=3))
    again = attempt(SCALAR, "instances", "evidence", read_json(tmp_path / "c.json"), tmp_path)
    assert record.certificate_digest == again.certificate_digest
    assert record.scope == "instances: 1"
