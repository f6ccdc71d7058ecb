"""Which hypotheses of G, E, S and M hold on a user's embeddings, each answer with a certificate.

Every check is an `exists` part of one claim about the user's arrays (stored as sidecars beside the certificates), so
the kernel replays the answers like any other claim.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from numerics.hull import distance_to_hull, min_norm_point
from numerics.wendel import chance_in_half_space, log10_chance_in_half_space
from proofs_check.alternative import cloud_witness
from proofs_check.certificates import whole_directory, write_cloud
from proofs_check.claim import Claim, Instance, Part
from proofs_check.clouds import SLACK, Stored, distance_bounds, distance_witnesses, replayed
from proofs_check.inputs import Tokens

ROPE = ("Under RoPE a half-space is sufficient for a sink head, not necessary (G6): a failed G check does not rule a "
        "sink out.")
BIAS = ("With a query bias a sink needs only that x_s is outside the keys' hull (G1): the half-space of the queries is "
        "not needed.")
RANK = ("V = W_VO has rank at most the head dimension, so independence of values (E1, E5, E6, S1) cannot hold for more "
        "content tokens than that; the half-space hypotheses (E2, E3) are what applies.")
WENDEL = ("The chance is Wendel's: so many isotropic points lie in a half-space with that probability; a half-space "
          "below that level is a finding, one at a chance near 1 is automatic.")


@dataclass
class Check:
    """One hypothesis on the user's arrays: the answer, bounds on its margin, and the part that proves it."""

    key: str  # short name of the part and of its certificate
    hypothesis: str
    holds: bool | None
    margin_lower: float | None = None
    margin_upper: float | None = None
    margin_means: str = ""
    chance: str | None = None
    part: Part | None = None
    witnesses: dict = field(default_factory=dict)
    certificate: str = ""
    grade: str = ""

    def row(self) -> dict:
        return {"id": self.key.split()[0]} | {name: getattr(self, name) for name in (
            "key", "hypothesis", "holds", "margin_lower", "margin_upper", "margin_means", "chance", "certificate",
            "grade")}


def inspect(tokens: Tokens, values: np.ndarray | None, sink_value: np.ndarray | None, out: Path,
            progress: Callable[[str], None] = lambda step: None) -> list[Check]:
    """Run every check that the given arrays allow, write the certificates, replay them, and return the checks.

    A check whose certificate the kernel does not accept comes back undecided (`holds` None).
    """
    directory = out / "certificates" / "inspect"
    with whole_directory(directory) as filling:
        stored = partial(write_cloud, filling)
        checks = list(_token_checks(tokens, stored, progress))
        if values is not None:
            checks += _value_checks(values, sink_value, stored, progress)
        certify(checks, filling, Claim(
            id="inspect", title="Hypotheses on the user's embeddings", family="inspect",
            statement=f"What holds for the arrays of {Path(tokens.source).name}.",
            parts=tuple(check.part for check in checks if check.part is not None),
            scope_notes=scope_notes(checks), source="the user's arrays"), Path("certificates") / "inspect", progress)
    return checks


def scope_notes(checks: list[Check]) -> tuple[str, ...]:
    """What must be said beside these checks and their answers: nothing about one that did not run."""
    failed = {check.key for check in checks if not check.holds}
    notes = ((ROPE, any(key.startswith("G") for key in failed)),
             (BIAS, "G1 queries" in failed and any(check.key == "G1 keys" for check in checks)),
             (RANK, any(check.key == "E1 independence" for check in checks)),
             (WENDEL, any(check.chance is not None for check in checks)))
    return tuple(note for note, wanted in notes if wanted)


def not_checked(tokens: Tokens, has_values: bool) -> list[str]:
    """What the arrays given do not allow, and the option that would."""
    lines = []
    if tokens.sink is None:
        lines.append("the sink against the keys' hull, whether a sink head exists, alignment (G1, G2, G4): "
                     "name the sink with --sink KEY or --sink ROW")
    if not has_values:
        lines.append("independence, half-space and rank of the values (E1 to E4, M1): give them with --values FILE")
    elif tokens.sink_row is None:
        lines.append("the sink's value (E3, E4): name the sink by its row, --sink ROW, and give its value in that row "
                     "of --values")
    return lines


def certify(checks: list[Check], filling: Path, claim: Claim, shown: Path,
            progress: Callable[[str], None] = lambda step: None) -> None:
    """Write the checks' certificates into `filling` and replay them; a check that the kernel does not accept is
    undecided.

    `shown` is the directory's name as the checks report it, relative to the output directory.
    """
    proved = [check for check in checks if check.part is not None]
    records = replayed(filling, claim, [Instance({}, check.witnesses) for check in proved], progress)
    for check, (name, grade) in zip(proved, records):
        if grade is not None:
            check.certificate, check.grade = str(shown / name), grade
        else:
            check.holds, check.margin_lower, check.margin_upper = None, None, None


def hull_check(key: str, hypothesis: str, points: np.ndarray, cloud: dict, shift: np.ndarray | None,
               chance_dimension: int | None) -> Check:
    """dist(0, conv rows) > 0 with two-sided bounds, or zero in the hull, or undecided."""
    found = min_norm_point(points) if shift is None else distance_to_hull(shift, points)
    check = Check(key, hypothesis, None, margin_means="distance of zero from the hull")
    if chance_dimension is not None:
        check.chance = chance(len(points), chance_dimension)
    constants: dict[str, object] = {"rows": cloud}
    variables = {"rows": "cloud"}
    rows = "rows"
    if shift is not None:
        constants["away"], variables["away"], rows = [float(entry) for entry in shift], "vector", "rows - away"
    if found.status == "separated":
        check.holds = True
        check.margin_lower, check.margin_upper = distance_bounds(found)
        constants |= {"lower": check.margin_lower, "upper": check.margin_upper}
        variables |= {"lower": "scalar", "upper": "scalar"}
        conclusions = (f"lower > 0 and hull_distance_at_least({rows}, lower, 'normal')",
                       f"hull_distance_at_most({rows}, upper, 'weights')")
        check.witnesses = distance_witnesses(found)
    else:
        separated, witness = cloud_witness(points, shift, found)
        if separated is None:
            return check
        check.holds = separated
        check.margin_lower, check.margin_upper = (None, None) if separated else (0.0, 0.0)
        conclusions = (f"separable({rows}, 'hull')" if separated else f"not separable({rows}, 'hull')",)
        check.witnesses = {"hull": witness}
    check.part = Part(name=key, text=hypothesis, quantifier="exists", variables=variables,
                      constants=constants, conclusions=conclusions)
    return check


def chance(points: int, dimension: int) -> str:
    """Wendel's probability as text: exact value rounded, or a power of ten."""
    if log10_chance_in_half_space(points, dimension) < -12:
        return f"10^{log10_chance_in_half_space(points, dimension):.0f}"
    return f"{float(chance_in_half_space(points, dimension)):.6g}"


def _token_checks(tokens: Tokens, stored: Stored, progress: Callable[[str], None]):
    content, sink = tokens.content, tokens.sink
    cloud = stored(content)
    dim = content.shape[1]
    progress("half-space of the queries")
    queries = hull_check("G1 queries", "0 is not in the hull of the queries (content tokens)", content, cloud,
                         None, dim)
    yield queries
    if sink is None:
        return
    exact_sink = sink.astype(np.float64)
    progress("half-space with the sink among the queries")
    everything = np.vstack([sink[None].astype(content.dtype) if sink.dtype == content.dtype else exact_sink[None],
                            content])
    yield hull_check("G1 queries with sink", "0 is not in the hull of the queries, the sink among them", everything,
                     stored(everything), None, dim)
    progress("distance of the sink from the keys' hull")
    keys = hull_check("G1 keys", "the sink is not in the hull of the keys", content, cloud, exact_sink, None)
    keys.margin_means = "distance of the sink from the keys' hull"
    yield keys
    yield _both("G1 head", "a sink head exists: some W has margin 1 for every content query and key", queries, keys)
    yield _both("G2 causal", "a causal sink head exists, the sink first and each token's own key among its competitors",
                queries, keys)
    progress("alignment signs")
    yield alignment_check(content, cloud, exact_sink)


def _both(key: str, hypothesis: str, queries: Check, keys: Check) -> Check:
    """G1: representable iff both distances are positive; a causal mask changes nothing (a full row, a full column)."""
    check = Check(key, hypothesis, None)
    if queries.part is None or keys.part is None:
        return check
    check.holds = bool(queries.holds and keys.holds)
    # the failing side alone refutes, both sides together prove
    used = [item for item in (queries, keys) if check.holds or item.holds is False]
    if check.holds:
        for bound in ("margin_lower", "margin_upper"):
            ours, theirs = getattr(queries, bound), getattr(keys, bound)
            setattr(check, bound, ours * theirs if ours and theirs else None)
        check.margin_means = "largest margin of a W with norm 1, every Schatten norm (C1)"
    constants, variables, conclusions, witnesses = {}, {}, [], {}
    for label, item in (("q", queries), ("k", keys)):
        if item not in used:
            continue
        kind, = {"hull"} & set(item.witnesses) or {"normal"}
        rows = f"{label}_rows - {label}_away" if "away" in item.part.constants else f"{label}_rows"
        for name in ("rows", "away"):
            if name in item.part.constants:
                constants[f"{label}_{name}"] = item.part.constants[name]
                variables[f"{label}_{name}"] = item.part.variables[name]
        witnesses[label] = item.witnesses[kind]
        conclusions.append(f"separable({rows}, '{label}')" if item.holds else f"not separable({rows}, '{label}')")
    check.part = Part(name=key, text=hypothesis, quantifier="exists", variables=variables,
                      constants=constants, conclusions=tuple(conclusions))
    check.witnesses = witnesses
    return check


def alignment_check(content: np.ndarray, cloud: dict, sink: np.ndarray) -> Check:
    """G4: all <x_s, x_i> have one strict sign; the margin is min |<x_s, x_i>|/‖x_s‖."""
    products = content.astype(np.float64) @ sink
    check = Check("G4 alignment", "all <x_s, x_i> have one strict sign", None,
                  margin_means="min |<x_s, x_i>| / ‖x_s‖")
    constants: dict[str, object] = {"rows": cloud, "sink": [float(entry) for entry in sink]}
    variables = {"rows": "cloud", "sink": "vector"}
    low, high = int(products.argmin()), int(products.argmax())
    if products[low] > 0 or products[high] < 0:
        sign = 1 if products[low] > 0 else -1
        smallest = float(np.abs(products).min()) / float(np.linalg.norm(sink))
        rounding = 4 * content.shape[1] * np.finfo(float).eps * float(np.abs(content).max() * np.abs(sink).sum())
        lower = smallest * (1 - SLACK) - rounding / float(np.linalg.norm(sink))
        check.holds, check.margin_lower, check.margin_upper = True, max(lower, 0.0), smallest * (1 + SLACK) + rounding
        constants["lower"], variables["lower"] = check.margin_lower, "scalar"
        conclusions = ("hull_distance_at_least(rows, lower, 'normal')", "separable(rows, 'normal')")
        check.witnesses = {"normal": {"normal": [sign * float(entry) for entry in sink]}}
    else:
        check.holds = False
        constants |= {"low": low, "high": high}
        variables |= {"low": "integer", "high": "integer"}
        conclusions = ("dot(rows[low], sink) <= 0 and dot(rows[high], sink) >= 0",)
    check.part = Part(name=check.key, text=check.hypothesis, quantifier="exists", variables=variables,
                      constants=constants, conclusions=conclusions)
    return check


def _value_checks(values: np.ndarray, sink_value: np.ndarray | None, stored: Stored,
                  progress: Callable[[str], None]) -> list[Check]:
    cloud = stored(values)
    rank = int(np.linalg.matrix_rank(values.astype(np.float64)))
    progress("half-space of the values")
    half_space = hull_check("E2 values", "0 is not in the hull of the content values", values, cloud, None, rank)
    checks = [_independence(values, cloud), half_space]
    if sink_value is not None:
        checks.append(_null_sink(values, sink_value))
        progress("all visible values")
        everything = np.vstack([sink_value[None], values])
        checks.append(
            hull_check("E4 all values", "0 is not in the hull of all visible values, the sink's included", everything,
                       stored(everything), None, None))
    checks.append(_rank_two(values, cloud))
    return checks


def _independence(values: np.ndarray, cloud: dict) -> Check:
    check = Check("E1 independence", "the content values are linearly independent as a family (E1, S1)", None)
    count, dim = values.shape
    full = int(np.linalg.matrix_rank(values.astype(np.float64))) == count
    if count > dim or full:
        check.holds = count <= dim
        check.part = Part(name=check.key, text=check.hypothesis, quantifier="exists",
                          variables={"rows": "cloud"}, constants={"rows": cloud},
                          conclusions=("independent(rows)" if check.holds else "not independent(rows)",))
    return check


def _null_sink(values: np.ndarray, sink_value: np.ndarray) -> Check:
    """v_s = 0 exactly or not; the margin is ‖v_s‖ over the mean content norm."""
    check = Check("E3 null sink", "v_s = 0 (E1, E2); otherwise ‖v_s‖ enters E3 as η", bool((sink_value == 0).all()))
    ratio = float(np.linalg.norm(sink_value.astype(np.float64))
                  / np.linalg.norm(values.astype(np.float64), axis=1).mean())
    check.margin_lower = check.margin_upper = ratio
    check.margin_means = "‖v_s‖ / mean ‖v_j‖, measured in float64"
    statement = "all(entry == 0 for entry in sink)"
    check.part = Part(name=check.key, text=check.hypothesis, quantifier="exists", variables={"sink": "vector"},
                      constants={"sink": [float(entry) for entry in sink_value]},
                      conclusions=(statement if check.holds else f"not {statement}",))
    return check


def _rank_two(values: np.ndarray, cloud: dict) -> Check:
    """M1(c): two values whose centred versions are not parallel show rank(CV) >= 2, for LayerNorm and so for
    RMSNorm."""
    check = Check("M1 rank", "rank(CV) >= 2 (M1c), so that CV ≠ 0 (M1b); C centres, as for LayerNorm", None)
    centred = values.astype(np.float64) - values.astype(np.float64).mean(axis=1, keepdims=True)
    first = int(np.linalg.norm(centred, axis=1).argmax())
    direction = centred[first] / max(np.linalg.norm(centred[first]), np.finfo(float).tiny)
    rest = np.linalg.norm(centred - np.outer(centred @ direction, direction), axis=1)
    second = int(rest.argmax())
    if rest[second] > 1e-6 * np.linalg.norm(centred[first]):
        check.holds = True
        centre = "[entry - sum(rows[{0}]) / len(rows[{0}]) for entry in rows[{0}]]"
        check.part = Part(name=check.key, text=check.hypothesis, quantifier="exists",
                          variables={"rows": "cloud", "first": "integer", "second": "integer"},
                          constants={"rows": cloud, "first": first, "second": second},
                          conclusions=(f"rank([{centre.format('first')}, {centre.format('second')}]) == 2",))
    return check
