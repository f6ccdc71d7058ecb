"""C4, C5, C7, C7g, C9, C11, C12, C13: headlines, false neighbours, and what their certificates rest on."""

from __future__ import annotations

from fractions import Fraction

import pytest

from proofs_check.claim import Instance, Part
from proofs_check.claims import claim_by_id
from proofs_check.claims.costs import c4, c7, c9, c9_aligned, c9_crossings, c9_witness, c13
from proofs_check.claims.costs.building import (
    cover_splits, covered, exact_root, exchangeable, lowest_terms, over_reals, sink_certificate)
from proofs_check.engines.gathering import examine_instance
from proofs_check.kernel.encoding import Rejected
from proofs_check.kernel.symbolic import check_cover
from theory.costs_bigram import sink_default_cost
from theory.costs_bigram_witness import witness
from theory.costs_causal import diagonal

HEADLINES = {**dict.fromkeys(("C4", "C5", "C7", "C9", "C11", "C12"), "PROVED"), "C13": "PROVED ON", "C7g": "PROVED ON"}
IDS = tuple(HEADLINES)
ZERO = Fraction(0)


def statement_of(claim_id: str, part: Part) -> dict:
    return {table["name"]: table for table in claim_by_id(claim_id).document()["parts"]}[part.name]


@pytest.mark.slow
@pytest.mark.parametrize("name", IDS)
def test_a_cost_claim_reaches_its_headline_without_rocq(run, name):
    result = run[1][name]
    assert not result.rejected and not result.troubles
    assert result.verdict.headline == HEADLINES[name] == result.claim.required == result.claim.required_formal


@pytest.mark.slow
def test_the_bigram_claim_is_proved_for_every_n(run):
    assert run[1]["C9"].verdict.scope == "as stated"


@pytest.mark.slow
def test_what_rests_on_words_has_a_dagger(run):
    rows = {row["id"]: row["reduction_in_words"] for row in run[2]["claims"]}
    assert all(rows[name] for name in ("C4", "C5", "C9", "C11", "C12")) and not rows["C7g"]


@pytest.mark.slow
def test_every_false_neighbour_is_refuted_and_the_traps_are_among_them(run):
    rows = {row["id"]: row["neighbours"] for row in run[2]["claims"]}
    assert all(row["survivors"] == [] and row["planted"] == row["killed"] >= 3 for row in rows.values())
    traps = {item["name"] for row in rows.values() for item in row["listed"] if item["operator"] == "trap"}
    assert traps >= {"rho for rho_T", "sinks are cheaper", "always consistent", "sink always cheaper",
                     "crossing by the ansatz", "ansatz optimal for every n", "circle of two tokens",
                     "own token left out", "slope on small T"}


@pytest.mark.slow
def test_the_proofs_for_all_t_are_derivations(run):
    for name, parts in (("C4", ("sink", "diagonal", "mass")),
                        ("C5", ("boundary", "critical exponent", "from Frobenius on")),
                        ("C7", ("interpolant",)), ("C11", ("diagonal", "sink, Frobenius", "sink, nuclear"))):
        kinds = {(record.target, record.kind) for _, record in run[1][name].replayed if record.scope == "as stated"}
        assert all((part, "derivation") in kinds for part in parts)


def test_a_certificate_moved_by_a_hair_is_refused(tmp_path):
    part, statement = c4.SINK_ON_MATRICES, statement_of("C4", c4.SINK_ON_MATRICES)
    good = sink_certificate(*exchangeable(3, 1, 2, 1, 3, 0, 1))
    assert examine_instance(part, statement, good, tmp_path) == (True, True)
    hair = Fraction(1, 10**30)
    for name in ("W", "lam"):
        table = [list(row) for row in good.values[name]]
        table[0][0] += hair
        assert examine_instance(part, statement, Instance({**good.values, name: table}), tmp_path)[1] is False
    for name in ("s", "t", "m"):
        moved = Instance({**good.values, name: good.values[name] + hair})
        assert examine_instance(part, statement, moved, tmp_path)[1] is False


def test_hull_distances_that_are_not_rational_are_refused_with_the_fix():
    with pytest.raises(ValueError, match="choose hull distances that are rational"):
        exact_root(Fraction(2))


def test_a_cover_is_found_where_the_statement_holds_and_not_where_it_fails():
    box = ({"name": "x", "minimum": ["0", "1"], "maximum": ["1", "1"]},)
    true = covered(Part(name="p", text="", parameters=box, conclusions=("exp(x) > x",)))
    splits = true.splits()
    table = {"parameters": [dict(item) for item in box], "hypotheses": [], "definitions": [],
             "conclusions": list(true.conclusions)}
    check_cover(table, splits)
    with pytest.raises(Rejected):
        check_cover({**table, "conclusions": ["exp(x) > 2*x + 1"]}, splits)
    with pytest.raises(ValueError, match="shrink the box"):
        cover_splits(Part(name="p", text="", parameters=box, conclusions=("exp(x) > 1",)), limit=50)


def test_bounds_are_written_in_lowest_terms_and_integers_can_be_relaxed():
    assert {item.minimum for item in lowest_terms(c9.costs_bigram_beyond.sink_wins_mixed)().parameters} == {
        "76/5"}
    assert [item.integer for item in diagonal().parameters[:2]] == [True, True]
    assert [item.integer for item in over_reals(diagonal, "i")().parameters[:2]] == [False, True]


@pytest.mark.parametrize(("length", "cycles", "cheaper"), [
    (20, 4, True), (20, 5, False), (99, 1, True), (100, 1, False), (9, 11, True), (9, 12, False), (6, 16, True),
    (6, 17, False)])
def test_the_crossings_side_is_decided_with_nonnegative_rationals(length, cycles, cheaper):
    found = c9_witness.decide(length, cycles)
    assert found.self_is_cheaper is cheaper
    assert all(value >= 0 for value in (found.slacks or (*found.others, found.target, found.cross)))
    assert cheaper or sum(found.dual_row) == (cycles - 1) * length * found.cross


def test_the_fast_search_agrees_with_theorys_on_the_multipliers():
    fast, slow = c9_witness.decide(6, 17), witness(6, 17)
    assert float(fast.target) == pytest.approx(float(Fraction(slow.target)), abs=0.02)


@pytest.mark.parametrize("alignment", [ZERO, Fraction(1, 10), Fraction(1, 2)])
def test_the_searchs_sink_cost_is_theorys(alignment):
    for n in (2, 7, 100):
        value = float(sink_default_cost(n, alignment)) * float(1 - alignment**2)
        assert c9_witness.sink_cost(n, float(alignment)) == pytest.approx(value, rel=1e-12)


def test_tables_refuse_cases_of_the_other_side():
    with pytest.raises(ValueError, match="correct the list"):
        c9_witness.self_values([(100, 1, ZERO)])
    with pytest.raises(ValueError, match="correct the list"):
        c9_witness.sink_values([(99, 1, ZERO)])


@pytest.mark.parametrize(("sink", "case", "other"), [
    (False, (10, 1, ZERO), (100, 1, ZERO)), (True, (100, 1, ZERO), (10, 1, ZERO))])
def test_a_crossing_table_is_refused_with_a_row_that_shows_nothing(tmp_path, sink, case, other):
    values = (c9_witness.sink_values if sink else c9_witness.self_values)([case])
    part = c9_crossings.table("one", "", [case], (), sink)
    table = {"name": "one", "quantifier": "exists", "parameters": [], "constants": {}, "definitions": [],
             "variables": [{"name": name, "type": kind} for name, kind in part.variables.items()],
             "hypotheses": [], "conclusions": list(part.conclusions), "attainment": "", "formal": {}}
    assert examine_instance(part, table, Instance(values), tmp_path) == (True, True)
    row = values["rows"][0][0]
    flipped = [*row[:2], -row[2] + Fraction(1, 100), *row[3:]]
    assert examine_instance(part, table, Instance({**values, "rows": [[flipped]]}), tmp_path)[1] is False
    wrong = [1, 2, *[ZERO] * (other[0] - 2)] if not sink else [ZERO] * other[0]
    moved = Instance({**values, "lengths": [other[0]], "rows": [[wrong]]})
    assert examine_instance(part, table, moved, tmp_path)[1] is False


def test_the_table_of_crossings_covers_every_length_with_two_cycles_below_the_threshold():
    assert len(c9_crossings.LAST) == 112 - 4 + 1
    pairs = {case[:2] for case in (*c9_crossings.EQUAL_SELF_CASES, *c9_crossings.EQUAL_SINK_CASES)}
    assert pairs == {(l, k) for l in range(4, 225) for k in range(2, 225) if l * k < 225}


def test_the_aligned_tables_cover_every_pair_whose_self_default_is_cheaper_at_no_alignment():
    unaligned = {case[:2] for case in c9_crossings.EQUAL_SELF_CASES}
    for c, lasts in c9_aligned.EQUAL_LAST.items():
        assert {case[:2] for case in (*c9_aligned.CASES, *c9_aligned.SINK_CASES) if case[2] == c} == unaligned
        assert all(last <= most for last, most in zip(lasts, c9_crossings.LAST))


@pytest.mark.parametrize("c", [Fraction(1, 10), Fraction(1, 2)])
def test_the_fewest_two_cycles_are_those_of_a_count_with_theorys_costs(c):
    for threes, fewest in enumerate(c9_aligned.fewest_two_cycles(c)[:-2], start=1):
        def self_wins(twos: int, threes: int = threes) -> bool:
            n = 2 * twos + 3 * threes
            sink = float(sink_default_cost(n, c)) * float(1 - c**2)
            return 2 * n - 3 + (2 * 3**0.5 - 3) * threes < sink
        assert [self_wins(twos) for twos in range(fewest + 3)] == [False] * fewest + [True] * 3


def test_a_list_of_two_cycles_moved_by_one_is_refused(tmp_path):
    part, statement = c9_aligned.MIXTURES, statement_of("C9", c9_aligned.MIXTURES)
    values = dict(c9_aligned.FEWEST.values)
    assert examine_instance(part, statement, Instance(values), tmp_path) == (True, True)
    for step in (-1, 1):
        moved = [*values["hundredth"][:-1], values["hundredth"][-1] + step]
        assert examine_instance(part, statement, Instance({**values, "hundredth": moved}), tmp_path)[1] is False


def test_the_trade_off_point_solves_its_three_radical_equations():
    point = c13.pythagorean()
    t, c = point["T"], point["c"]
    spread = (1 - c**2) / t
    assert t >= 2 and point["P"] ** 2 == c**2 + spread and point["Q"] ** 2 == (1 + c) ** 2 + spread
    assert point["R"] ** 2 == 1 - c**2
    assert c13.excess(10**3, 3, 0.09) < 0 < c13.excess(10**3, 3, 0.11)
    assert c13.leading_slack({"w": 10**3, "regime": 3}) > 0


def test_value_maps_send_tokens_to_targets_exactly():
    case = c7.CASES[4].values
    images = [[sum(a * b for a, b in zip(row, token)) for row in case["V"]] for token in (*case["x"], case["sink"])]
    size = len(case["x"])
    assert images == [[case["omega"] * int(i == j) for i in range(size)] for j in range(size)] + [[0] * size]
