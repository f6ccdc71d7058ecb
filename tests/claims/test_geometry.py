"""G1 to G6: each reaches its headline, every false neighbour falls; facts they rest on, checked apart."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from importlib import resources

import numpy as np
import pytest

from numerics.attention import softmax_attention
from numerics.rope import g6_factor, g6_head, rope_logits
from proofs_check.alternative import gordan_witness
from proofs_check.claim import Instance, formal_theorem
from proofs_check.claims import claim_by_id
from proofs_check.claims.exact import dot, minus
from proofs_check.claims.geometry import g1, g2, g3, g4, g5, g6
from proofs_check.claims.geometry.building import pair_rows, token_tables
from proofs_check.claims.geometry.spheres import affine, sphere_tables
from proofs_check.engines.gathering import examine_instance, to_float
from proofs_check.report import exit_code, report_document
from proofs_check.verify import EXAMPLES

IDS = ("G1", "G2", "G3", "G4", "G5", "G6")
THEOREMS = json.loads((resources.files("proofs_check") / "formal" / "theorems.json").read_text())["theorems"]


@pytest.mark.slow
@pytest.mark.parametrize("name", IDS)
def test_a_geometry_claim_is_proved_on_its_instances_without_rocq(run, name):
    result = run[1][name]
    assert not result.rejected and not result.troubles
    assert result.verdict.headline == "PROVED ON" == result.claim.required
    assert result.verdict.grade == "exact"
    assert int(result.verdict.scope.removeprefix("instances: ")) >= 30


@pytest.mark.slow
def test_every_false_neighbour_of_the_family_is_refuted(run):
    rows = {row["id"]: row["neighbours"] for row in run[2]["claims"]}
    assert all(row["survivors"] == [] and row["planted"] == row["killed"] >= 3 for row in rows.values())
    traps = {item["name"] for row in rows.values() for item in row["listed"] if item["operator"] == "trap"}
    assert traps >= {
        "no queries", "no keys", "infinitely many queries", "affine half-space", "sink among the keys",
        "own token left out", "rank one for every P", "one gain is zero", "norm with epsilon",
        "sink off the sphere",
        "not positive is enough", "x_s x_s^T after the gain", "L + log n", "G1's necessity under RoPE",
        "no phase"}


@pytest.mark.slow
def test_strategies_construct_instances_that_meet_the_hypotheses(searches):
    for part, examples in searches:
        assert len(examples) == (part.strategy is not None)
        assert all(count >= EXAMPLES["quick"] * 3 // 4 for count in examples)


@pytest.mark.slow
def test_the_ledger_leaves_open_only_what_is_known_not_to_be_needed(unneeded):
    assert unneeded == {
        ("G2", "causal mask", "a content token"), ("G3", "iff", "queries exist"),
        ("G3", "distance", "r positive"),
        *[("G4", part, name) for part in ("margin", "minimum") for name in ("gain invertible", "no bias")],
        *[("G1", part, name) for part in ("rank one suffices", "sufficiency, rank at most one")
          for name in ("queries exist", "keys exist")],
        *[("G4", "minimum", name) for name in ("sink apart", "queries exist", "keys exist")]}


@pytest.mark.slow
def test_a_run_that_must_only_reach_the_headlines_without_rocq_ends_well(run, monkeypatch):
    monkeypatch.setattr("proofs_check.report.environment", lambda: {"rocq": ""})
    assert exit_code(report_document(list(run[1].values()), run[0])) == 0


def test_only_parts_about_whole_rotary_heads_and_derivations_may_lack_a_formal_theorem():
    missing = {(name, part.name) for name in IDS for part in claim_by_id(name).parts
               if part.derivation is None and not formal_theorem(name, part.name)}
    assert missing == {("G4", "not necessary"), ("G6", "causal"), ("G6", "bidirectional"),
                       ("G6", "half-space not necessary"), ("G6", "without the phase")}


def test_every_formal_theorem_of_the_family_belongs_to_a_part():
    named = {(entry["claim"], entry["part"]) for entry in THEOREMS if entry["claim"] in IDS}
    assert named <= {(name, part.name) for name in IDS for part in claim_by_id(name).parts}


@pytest.mark.parametrize("part, hypothesis", [
    (g1.SEPARATORS, "queries on one side"), (g3.OFF_HULL, "one sphere"), (g3.OFF_HULL, "sink apart"),
    (g3.DISTANCE, "mu below"), (g3.DISTANCE, "sink on the sphere"), (g4.MARGIN, "aligned"),
    (g4.MARGIN, "one sphere"),
    (g4.MINIMUM, "one sphere"), (g4.SIGN, "aligned"), (g5.BOUND, "margins"), (g5.EACH, "mass"),
    (g6.CAUSAL, "keys"),
    (g6.CAUSAL, "queries"), (g6.BOTH, "keys")])
def test_the_float_route_too_sees_the_conclusion_fail_without_a_hypothesis(part, hypothesis):
    (instance,) = [item.counterexample for item in part.hypotheses if item.name == hypothesis]
    assert part.numeric(to_float(part, instance)) <= 1e-9


def test_token_tables_hold_every_kind_of_case_the_claims_must_meet():
    tables = list(token_tables(0))
    sizes = [(len(x) - 1, len(x[0])) for x in tables]
    assert {1, 2} <= {count for count, _ in sizes}
    assert any(dim < count for count, dim in sizes) and any(dim > count for count, dim in sizes)
    assert any(row in x[1:i] for x in tables for i, row in enumerate(x) if i > 1)
    assert any(isinstance(entry, float) and entry != int(entry) for x in tables for row in x for entry in row)
    answers = [gordan_witness([row for row in x[1:]])[0] for x in tables]
    assert min(sum(answers), len(answers) - sum(answers)) >= 20
    assert [list(map(list, x)) for x in token_tables(0)] == tables != list(token_tables(1))


def test_g1_fails_for_infinitely_many_queries_whatever_the_number_w(tmp_path):
    (variant,) = [item for item in g1.VARIANTS if item.part.name == "infinitely many queries"]
    statement = {table["name"]: table for table in claim_by_id("G1").document()["variants"]}[variant.part.name]
    for w in (Fraction(1), Fraction(7, 2), 30):
        for size, holds in ((math.floor(w), True), (math.floor(w) + 1, False)):
            section = Instance({"w": w, "N": size})
            assert examine_instance(variant.part, statement, section, tmp_path) == (True, holds)


def test_g2_needs_rank_two_where_the_example_says_so():
    x, pairs = g2.RANK_TWO, g2.CONNECTED
    answer, witness = gordan_witness(pair_rows(x, 0, pairs))
    w = np.array(witness["normal"], dtype=float).reshape(2, 2)
    assert answer and np.linalg.matrix_rank(w) == 2
    # the pairs connect all of 1..3, so a rank-one form would separate the three queries from zero
    assert gordan_witness(x[1:]) == (False,
                                     {"weights": {0: Fraction(1, 5), 1: Fraction(2, 5), 2: Fraction(2, 5)}})
    grid = [(math.cos(t), math.sin(t)) for t in np.linspace(0, 2 * math.pi, 73)[:-1]]
    best = max(min(dot(a, x[i]) * dot(b, minus(x[0], x[j])) for i, j in pairs) for a in grid for b in grid)
    assert best <= 0


def test_g4_margins_are_the_same_with_a_bias():
    """The statement sets b = 0; the margin formula does not need it."""
    seen = 0
    for n, gain, b in sphere_tables(3, floats=False):
        x, k = affine(n, gain, b), g4.dual_sink(gain, n[0])
        for i in range(len(n)):
            for j in range(1, len(n)):
                square = dot(minus(n[0], n[j]), minus(n[0], n[j]))
                assert dot(x[i], x[0]) * dot(k, minus(x[0], x[j])) == dot(x[0], x[i]) * square / 2
        seen += any(b)
    assert seen >= 10


def test_g4_the_raw_outer_product_prefers_a_key_to_the_sink_after_a_gain():
    (trap,) = [item for item in g4.VARIANTS if item.part.name == "x_s x_s^T after the gain"]
    values = trap.counterexample.values
    x = affine(values["n"], values["G"], values["b"])
    assert dot(x[0], minus(x[0], x[1])) == Fraction(-8, 25)
    assert all(dot(x[0], row) > 0 for row in x)


@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize("eps", [0.5, 0.1, 1e-3])
def test_g5_margins_of_l_plus_log_n_give_the_mass_exactly(count, eps):
    level = math.log((1 - eps) / eps) + math.log(count)
    mass = float(softmax_attention(np.array([[level] + [0.0] * count]))[0, 0])
    assert mass == pytest.approx(1 - eps, abs=1e-12)
    short = float(softmax_attention(np.array([[level - 0.01] + [0.0] * count]))[0, 0])
    assert short < 1 - eps


@pytest.mark.parametrize("bidirectional", [False, True])
def test_g6_heads_keep_their_margin_at_angles_that_are_not_rational(bidirectional):
    rng = np.random.default_rng(11)
    for case in range(40):
        size, n = int(rng.integers(1, 6)), int(rng.integers(1, 30))
        theta = rng.uniform(0, 1) * math.pi / 2 / (n * (2 if bidirectional else 1))
        x = rng.normal(size=(size + 1, 3))
        x[1:, 0] = np.abs(x[1:, 0]) + 0.1
        x[0, 2] = x[1:, 2].max() + 0.3
        x[:, 2] += (0, -5)[case % 2]
        p = np.concatenate([[0], rng.integers(0, n + 1, size=size)])
        q, k = np.array([1.0, 0, 0]), np.array([0, 0, 1.0])
        head = g6_head(q, k, x[0], theta, n, bidirectional)
        table = np.asarray(rope_logits(x, head.w_q, head.w_k, p, theta))
        bound = x[1:, 0].min() * (x[0, 2] - x[1:, 2]).min() * g6_factor(theta, n, bidirectional)
        margins = [table[i, 0] - table[i, j] for i in range(1, size + 1) for j in range(1, size + 1)
                   if bidirectional or p[j] <= p[i]]
        assert min(margins) >= bound - 1e-12


def test_g6_two_opposite_queries_see_the_sink_by_one_half_at_sixty_degrees():
    x = np.array([[0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]])
    w_q, w_k = np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 0.0]])
    table = np.asarray(rope_logits(x, w_q, w_k, np.arange(3), math.pi / 3))
    assert table[1:, 0] - table[1:, 1] == pytest.approx([0.5, 0.5])
    assert table[1:, 0] - table[1:, 2] == pytest.approx([0.5, 0.5])


def test_a_variant_is_not_refuted_by_an_instance_that_meets_its_conclusion(tmp_path):
    claim = claim_by_id("G1")
    statements = {table["name"]: table for table in claim.document()["variants"]}
    (variant,) = [item for item in claim.variants if item.part.name == "queries alone"]
    harmless = g1.product_instance([[2], [1]], [1], [1])
    assert examine_instance(variant.part, statements["queries alone"], harmless, tmp_path) == (True, True)
    assert examine_instance(variant.part, statements["queries alone"], variant.counterexample,
                            tmp_path) == (True, False)
