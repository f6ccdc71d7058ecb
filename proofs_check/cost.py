"""What a pattern costs on a user's embeddings: two-sided bounds, each an `exists` part that the kernel replays.

General constraint sets (C3): W = left·rightᵀ satisfies every row and has norm at most `upper`; a dual λ >= 0 with
‖G‖_{p*} <= 1 has objective at least `lower`.  The sink in margin form (C1): the two distances, from both sides; the
cost is m/(δ_Q δ_K) for every norm at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np

from numerics.constraints import Constraints, diagonal_constraints, sink_constraints
from numerics.gordan import UNCONFIRMED
from numerics.hull import distance_to_hull, min_norm_point
from numerics.minimum_norm import MinimumNorm, contradiction, minimum_norm
from numerics.schatten import dual_exponent, exponent
from numerics.sink_cost import why_not_bounded
from proofs_check.alternative import MOST_EXACT_ENTRIES, cloud_witness, gordan_witness
from proofs_check.certificates import whole_directory, write_cloud
from proofs_check.claim import Claim, Instance, Part
from proofs_check.clouds import SLACK, Stored, distance_bounds, distance_witnesses, replayed
from proofs_check.inputs import BadInput, Tokens

# Beyond this many pair constraints the exact replay of a general set takes more than a few minutes.
MOST_PAIRS = 70_000
SCOPE_NOTES = (
    "The lower bounds speak of logits x_iᵀ W x_j with the given embeddings, κ = 1 (divide by κ): RoPE and query biases "
    "break them for a trained head (G6).",
    "The bounds hold in exact arithmetic for the given floating-point embeddings, each taken as the rational it is.",
)


@dataclass
class Cost:
    """Bounds lower <= min ‖W‖_p <= upper for one pattern and norm; `infeasible` is proved, never a failure.

    `reason` says in words why there is no W, or why the bounds stayed open; empty where they are bounded.
    """

    pattern: str
    norm: str
    form: str
    lower: float | None
    upper: float | None
    status: str
    rank: int = 0
    seconds: float = 0.0
    grade: str = "float_certified"
    certificate: str = ""
    reason: str = ""
    w_qk: np.ndarray | None = None
    part: Part | None = None
    instance: Instance | None = None

    def row(self) -> dict:
        return {name: getattr(self, name) for name in ("pattern", "norm", "form", "lower", "upper", "status", "rank",
                                                       "seconds", "grade", "certificate", "reason")}


@dataclass(frozen=True)
class Request:
    """What is asked: a pattern in a norm, in margin or mass form, causal or not."""

    pattern: str
    norm: str
    margin: float | None
    mass: float | None
    causal: bool = False
    tolerance: float = 1e-4
    time_limit: float = 60.0

    @property
    def form(self) -> str:
        return f"margin {self.margin:g}" if self.margin is not None else f"mass {self.mass:g}"

    @property
    def name(self) -> str:
        return f"{self.pattern} {self.norm}"


def costs(tokens: Tokens, requests: list[Request], out: Path,
          progress: Callable[[str], None] = lambda step: None, clock: Callable[[], float] = lambda: 0.0) -> list[Cost]:
    """Solve every request, write certificates, replay them.  Where none is accepted the grade stays the solver's."""
    if any(request.pattern == "sink" for request in requests) and tokens.sink is None:
        raise BadInput("expected a sink for the sink pattern, got none; name it with --sink KEY or --sink ROW")
    directory = out / "certificates" / "cost"
    with whole_directory(directory) as filling:
        stored, found = partial(write_cloud, filling), []
        for request in requests:
            progress(request.name)
            start = clock()
            cost = _solve(tokens, request, stored)
            cost.seconds = clock() - start
            found.append(cost)
        proved = [cost for cost in found if cost.part is not None]
        claim = Claim(id="cost", title="Cheapest patterns on the user's embeddings", family="cost",
                      statement=f"Bounds on min ‖W‖_p for the tokens of {Path(tokens.source).name}.",
                      parts=tuple(cost.part for cost in proved), scope_notes=SCOPE_NOTES, source="the user's arrays")
        records = replayed(filling, claim, [cost.instance for cost in proved], progress)
    for cost, (name, grade) in zip(proved, records):
        if grade is not None:
            cost.certificate, cost.grade = str(Path("certificates") / "cost" / name), grade
    return found


def _solve(tokens: Tokens, request: Request, stored: Stored) -> Cost:
    content = tokens.content
    if request.pattern == "sink" and request.margin is not None:
        return _sink_margin(content, tokens.sink.astype(np.float64), request, stored)
    exact = content.astype(np.float64)
    level = {"margin": request.margin, "mass": request.mass}
    if request.pattern == "sink":
        constraints = sink_constraints(exact, tokens.sink.astype(np.float64), causal=request.causal, **level)
    else:
        constraints = diagonal_constraints(exact, causal=request.causal, **level)
    if constraints.num_constraints > MOST_PAIRS * 4:
        raise BadInput(f"expected at most {MOST_PAIRS * 4} pairs of query and competitor, got "
                       f"{constraints.num_constraints}; give fewer tokens (the sink in margin form has no such limit)")
    answer = minimum_norm(constraints, _norm(request.norm), tolerance=request.tolerance, time_limit=request.time_limit)
    cost = _general(constraints, answer, request, stored)
    if cost.status == "infeasible" and answer.method == "gordan":
        cost.reason = _in_file_rows(tokens, constraints, answer, cost.reason, request.pattern == "sink")
    return cost


def _in_file_rows(tokens: Tokens, constraints: Constraints, answer: MinimumNorm, reason: str, has_sink: bool) -> str:
    """The solver's sentence about a contradiction, with the file's rows for its indices."""
    rows = tokens.file_rows()
    names = [f"row {row}" for row in rows]
    keys = ["the sink", *names] if has_sink else names
    said = contradiction(constraints, int(answer.dual_row[0]), int(answer.dual_key[0]), len(answer.dual_row),
                         names.__getitem__, keys.__getitem__)
    return said + " (rows of the file, counting from 0)" + (UNCONFIRMED if reason.endswith(UNCONFIRMED) else "")


def _norm(name: str) -> str | float:
    return name if name in ("nuclear", "frobenius", "spectral") else float(name)


def _sink_margin(content: np.ndarray, sink: np.ndarray, request: Request, stored: Stored) -> Cost:
    """C1 (and G1 for a causal mask, which buys nothing): two distances, each from both sides."""
    queries, keys = min_norm_point(content), distance_to_hull(sink, content)
    cloud = stored(content)
    constants = {"tokens": cloud, "sink": [float(entry) for entry in sink]}
    variables = {"tokens": "cloud", "sink": "vector"}
    name = f"sink {request.norm}"
    if "contains_zero" in (queries.status, keys.status):
        at_queries = queries.status == "contains_zero"
        rows, found, shift = ("tokens", queries, None) if at_queries else ("tokens - sink", keys, sink)
        cost = Cost("sink", request.norm, request.form, math.inf, math.inf, "infeasible",
                    reason=why_not_bounded(queries, keys))
        separated, witness = cloud_witness(content, shift, found)
        if separated:
            return _below_rounding(cost)
        if separated is False:
            cost.reason = cost.reason.removesuffix(UNCONFIRMED)
            cost.part = Part(name=name, text="no W gives the sink a positive margin (G1)", quantifier="exists",
                             variables=variables, constants=constants, conclusions=(f"not separable({rows}, 'hull')",))
            cost.instance = Instance({}, {"hull": witness})
        return cost
    if "undecided" in (queries.status, keys.status):
        return Cost("sink", request.norm, request.form, 0.0, math.inf, "undecided",
                    reason=why_not_bounded(queries, keys))
    q, k = distance_bounds(queries), distance_bounds(keys)
    lower, upper = request.margin / (q[1] * k[1]) * (1 - SLACK), request.margin / (q[0] * k[0]) * (1 + SLACK)
    scalars = {"margin": request.margin, "q_low": q[0], "q_high": q[1], "k_low": k[0], "k_high": k[1],
               "lower": lower, "upper": upper}
    cost = Cost("sink", request.norm, request.form, lower, upper, "bounded", rank=1)
    cost.part = Part(
        name=name,
        text="lower <= m/(dist(0, conv queries)·dist(sink, conv keys)) <= upper, the least ‖W‖_p for every p (C1)",
        quantifier="exists", variables=variables | dict.fromkeys(scalars, "scalar"), constants=constants | scalars,
        conclusions=("q_low > 0 and k_low > 0", "hull_distance_at_least(tokens, q_low, 'q normal')",
                     "hull_distance_at_most(tokens, q_high, 'q weights')",
                     "hull_distance_at_least(tokens - sink, k_low, 'k normal')",
                     "hull_distance_at_most(tokens - sink, k_high, 'k weights')",
                     "lower * q_high * k_high <= margin and upper * q_low * k_low >= margin"))
    cost.instance = Instance({}, {
        f"{label} {what}": witness for label, found in (("q", queries), ("k", keys))
        for what, witness in distance_witnesses(found).items()})
    left = queries.normal / queries.margin
    cost.w_qk = np.outer(left, -request.margin * keys.normal / keys.margin)
    return cost


def _general(constraints: Constraints, answer: MinimumNorm, request: Request, stored: Stored) -> Cost:
    cost = Cost(request.pattern, request.norm, request.form, answer.lower, answer.upper, answer.status,
                rank=answer.rank, reason=answer.reason)
    if answer.status == "infeasible":
        return _infeasible(constraints, request, cost)
    if answer.left.shape[1]:
        cost.w_qk = answer.w_qk
        cost.rank = int(np.linalg.matrix_rank(cost.w_qk))
    if answer.status != "bounded" or constraints.num_constraints > MOST_PAIRS or answer.left.shape[1] == 0:
        return cost
    p = exponent(_norm(request.norm))
    cost.lower, cost.upper = answer.lower * (1 - SLACK), answer.upper * (1 + SLACK)
    cost.part, cost.instance = bounds_part(constraints, answer, p, cost.lower, cost.upper, request.name, stored)
    return cost


def bounds_part(constraints: Constraints, answer: MinimumNorm, p: float, lower: float, upper: float, name: str,
                stored: Stored) -> tuple[Part, Instance]:
    """lower <= min ‖W‖_p <= upper for a constraint set: W and λ are the certificate's, everything else the claim's."""
    is_margin = constraints.margin is not None
    rows, keys = np.nonzero(constraints.competitors)
    levels = constraints.margin if is_margin else constraints.mass
    constants = {
        "query_cloud": stored(constraints.queries), "key_cloud": stored(constraints.keys),
        "row_query": constraints.row_query, "favoured": constraints.favoured, "competitors": list(zip(rows, keys)),
        "level": [float(level) for level in levels], "lower": lower, "upper": upper,
    }
    variables = {"query_cloud": "cloud", "key_cloud": "cloud", "row_query": "integers", "favoured": "integers",
                 "competitors": "pairs",
                 "level": "vector", "lower": "scalar", "upper": "scalar", "left": "matrix", "right": "matrix",
                 "dual": "matrix"}
    dual = np.zeros(constraints.competitors.shape)
    dual[answer.dual_row, answer.dual_key] = answer.dual_weight
    definitions = {
        "all_queries": "matrix(query_cloud)",
        "queries": "[all_queries[i] for i in row_query]",
        "keys": "matrix(key_cloud)",
        "logits": "(queries @ left) @ transpose(keys @ right)",
        "totals": "[sum(row) for row in dual]",
        "signed": "[[(totals[r] if k == favoured[r] else 0) - dual[r][k] for k in range(len(keys))] "
                  "for r in range(len(row_query))]",
        "dual_matrix": "transpose(queries) @ (signed @ keys)",
    }
    feasible = ("all(logits[r][favoured[r]] - logits[r][k] >= level[r] for r, k in competitors)" if is_margin else
                "all(sum(exp(logits[r][k] - logits[r][favoured[r]]) for s, k in competitors if s == r) <= (1 - "
                "level[r]) / level[r] for r in range(len(row_query)))")
    objective = ("sum(level[r] * totals[r] for r in range(len(row_query)))" if is_margin else
                 "sum(totals[r] * log(level[r] / (1 - level[r])) + totals[r] * log(totals[r]) for r in "
                 "range(len(row_query)) if totals[r] > 0) - sum(dual[r][k] * log(dual[r][k]) for r, k in competitors "
                 "if dual[r][k] > 0)")
    primal, svd = _norm_statement("left @ transpose(right)", p, "upper", "primal", answer.w_qk,
                                  (answer.left, answer.right))
    dual_part, dual_svd = _norm_statement("dual_matrix", dual_exponent(p), "1", "dual",
                                          constraints.queries[constraints.row_query].T @ constraints.signed(dual)
                                          @ constraints.keys, None)
    conclusions = [feasible, primal]
    if lower > 0:
        conclusions += ["all(entry >= 0 for row in dual for entry in row)",
                        "sum(totals) == sum(dual[r][k] for r, k in competitors)", dual_part, f"{objective} >= lower"]
    text = ("W satisfies every row and ‖W‖_p <= upper; λ >= 0 on the competitors has ‖G‖_{p*} <= 1 and "
            "objective >= lower (C3)")
    part = Part(name=name, text=text, quantifier="exists", variables=variables, constants=constants,
                definitions=definitions,
                conclusions=tuple(conclusions))
    values = {"left": answer.left.tolist(), "right": answer.right.tolist(), "dual": dual.tolist()}
    return part, Instance(values, {**svd, **dual_svd})


def _norm_statement(matrix: str, p: float, bound: str, key: str, value: np.ndarray,
                    factors: tuple[np.ndarray, np.ndarray] | None) -> tuple[str, dict]:
    """A formula for ‖matrix‖_p <= bound and its witness; balanced factors bound the nuclear norm without one (C0)."""
    if p == 1 and factors is not None:
        return ("sum(entry * entry for row in left for entry in row) * sum(entry * entry for row in right for entry in "
                "row) "
                f"<= {bound} * {bound}"), {}
    exponent_text = "'inf'" if math.isinf(p) else _fraction(p)
    if p == 2:
        return f"norm_at_most({matrix}, 2, {bound}, '{key}')", {}
    left, values, right = np.linalg.svd(value, full_matrices=False)
    keep = values > 1e-17 * values[0] if len(values) else slice(0)
    witness = {"left": left[:, keep].tolist(), "values": values[keep].tolist(), "right": right[keep].T.tolist()}
    return f"norm_at_most({matrix}, {exponent_text}, {bound}, '{key}')", {key: witness}


def _fraction(p: float) -> str:
    top, bottom = float(p).as_integer_ratio()
    return f"{top}/{bottom}"


def _below_rounding(cost: Cost) -> Cost:
    """What floats took for impossible and exact arithmetic does not: some W exists, too large for floats to find."""
    cost.lower, cost.upper, cost.status = 0.0, math.inf, "undecided"
    cost.reason = ("float64 sees no W, but exact arithmetic finds a direction that separates with a margin below"
                   " float64's rounding, so some W exists; rescale the coordinates, or drop near-duplicates")
    return cost


def _infeasible(constraints: Constraints, request: Request, cost: Cost) -> Cost:
    query, favoured, competitor = constraints.triples()
    if len(query) * constraints.queries.shape[1] ** 2 > MOST_EXACT_ENTRIES:
        return cost
    exact = [[Fraction(float(a)) * (Fraction(float(b)) - Fraction(float(c))) for a in constraints.queries[i]
              for b, c in zip(constraints.keys[f], constraints.keys[k])]
             for i, f, k in zip(query, favoured, competitor)]
    separated, witness = gordan_witness(exact)
    if separated:
        return _below_rounding(cost)
    cost.reason = cost.reason.removesuffix(UNCONFIRMED)
    part = Part(name=request.name, text="no W satisfies every row (Gordan weights)", quantifier="exists",
                variables={"queries": "matrix", "keys": "matrix", "query": "integers", "favoured": "integers",
                           "competitor": "integers"},
                constants={"queries": constraints.queries.tolist(), "keys": constraints.keys.tolist(), "query": query,
                           "favoured": favoured, "competitor": competitor},
                conclusions=("not separable([flat(outer(queries[query[n]], keys[favoured[n]] - keys[competitor[n]])) "
                             "for n in range(len(query))], 'pairs')",))
    cost.part, cost.instance = part, Instance({}, {"pairs": witness})
    return cost
