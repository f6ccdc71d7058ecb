"""C10: copy-paste, with the queries that do not copy switched off at the sink or at themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np

from numerics.minimum_norm import minimum_norm
from numerics.tasks import Task, copy_paste
from numerics.value_cost import value_cost
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.building import Later
from proofs_check.claims.costs.building_bounds import solved_part
from proofs_check.claims.costs.copying import frobenius, self_switch, sink_switch, switches_compared
from proofs_check.claims.derived import derived, false_formula

HALF = Fraction(1, 2)
# Three tokens and a sink with ρ = 9/25, β = −3/5, r = 5, σ = 1 (ρ = c², β = −c at c = 3/5), and orthonormal ones.
ALIGNED = np.array([[3.0, 4, 0, 0], [3, 0, 4, 0], [3, 0, 0, 4]]), np.array([-5.0, 0, 0, 0])
ORTHONORMAL = np.eye(4)[:3], np.eye(4)[3]
TOKENS = {"aligned": ALIGNED, "orthonormal": ORTHONORMAL}
SEEN = np.array([[True, True, True], [True, False, True]])  # two contexts: the copied key is missing in the second


@dataclass(frozen=True)
class Case:
    """One task: who copies what (−1: off), how it is switched off, the norm, and where the cheapest W_QK is claimed to
    be."""

    tokens: str
    assignment: Sequence[int]
    off: str
    p: float
    low: str
    high: str
    mass: float | None = None
    contexts: bool = False

    @property
    def name(self) -> str:
        norm = {1.0: "nuclear", 2.0: "Frobenius", np.inf: "spectral"}[self.p]
        form = f"mass {self.mass:g}" if self.mass else "margin 1"
        return (f"{self.tokens}, copies {list(self.assignment)}, off at {self.off}, {form}, {norm}"
                + (", two contexts" if self.contexts else ""))

    def task(self) -> Task:
        level = {"mass": self.mass} if self.mass else {"margin": 1.0}
        return copy_paste(*TOKENS[self.tokens], self.assignment, off=self.off,
                          contexts=SEEN if self.contexts else None, **level)

    def part(self) -> Part:
        return solved_part(self.task().attention, self.p, Fraction(self.low), Fraction(self.high), self.name,
                           f"Three {self.tokens} tokens and a sink; query i copies the key listed (−1: off), "
                           f"off queries attend to {'the sink' if self.off == 'sink' else 'themselves'}, "
                           f"each over all other keys: the cheapest W_QK is between {self.low} and "
                           f"{self.high}.")


CASES = (
    Case("aligned", (-1, -1, -1), "sink", 1.0, "0.031721", "0.031722"),
    Case("aligned", (-1, -1, -1), "self", 1.0, "0.135573", "0.135574"),
    Case("aligned", (1, -1, -1), "sink", 1.0, "0.077984", "0.077985"),
    Case("aligned", (1, -1, -1), "self", 1.0, "0.102317", "0.102318"),
    Case("aligned", (1, 2, -1), "sink", 1.0, "0.118709", "0.118710"),
    Case("aligned", (1, 2, -1), "self", 1.0, "0.102317", "0.102318"),
    Case("aligned", (1, 2, 0), "sink", 1.0, "0.135573", "0.135574"),
    Case("aligned", (1, 2, 0), "self", 1.0, "0.135573", "0.135574"),
    Case("aligned", (1, 2, -1), "sink", 2.0, "0.075571", "0.075572"),
    Case("aligned", (1, 2, -1), "self", 2.0, "0.079304", "0.079305"),
    Case("orthonormal", (1, -1, -1), "sink", 1.0, "2.061552", "2.061553"),
    Case("orthonormal", (1, -1, -1), "self", 1.0, "2.061552", "2.061553"),
    Case("orthonormal", (1, 0, -1), "sink", 1.0, "2.499999", "2.500001"),
    Case("orthonormal", (1, 0, -1), "self", 1.0, "2.499999", "2.500001"),
    Case("orthonormal", (2, 2, -1), "sink", 2.0, "1.499999", "1.500001"),
    Case("orthonormal", (2, 2, -1), "self", 2.0, "1.499999", "1.500001"),
    Case("aligned", (1, -1, -1), "sink", np.inf, "0.046692", "0.046693"),
    Case("aligned", (1, -1, -1), "self", np.inf, "0.073828", "0.073829"),
    Case("aligned", (1, -1, -1), "sink", 1.0, "0.169020", "0.169021", mass=0.75),
    Case("aligned", (1, -1, -1), "self", 1.0, "0.216490", "0.216491", mass=0.75),
    Case("aligned", (1, -1, -1), "sink", 1.0, "0.119925", "0.119926", contexts=True),
    Case("aligned", (1, -1, -1), "self", 1.0, "0.138539", "0.138540", contexts=True),
)


def value_part(off: str, low: str, high: str) -> Part:
    """The cheapest W_VO that outputs every content token, in nuclear norm; off at the sink its value must vanish."""
    tokens, sink = ALIGNED
    inputs = tokens if off == "self" else np.vstack([tokens, sink])
    targets = tokens if off == "self" else np.vstack([tokens, np.zeros(4)])

    def solve() -> tuple[dict, dict]:
        found = value_cost(tokens, tokens, 1.0, null=sink if off == "sink" else None)
        exact = [[Fraction(float(e)).limit_denominator(1024) for e in row] for row in found.w_vo]
        left, values, right = np.linalg.svd(found.w_vo)
        witness = {"left": left.tolist(), "values": values.tolist(), "right": right.T.tolist()}
        return {"V": exact, "Y": (found.dual * (1 - 2.0**-30)).tolist()}, {"V": witness}

    later = Instance(Later(lambda: solve()[0]), Later(lambda: solve()[1]))
    return Part(
        name=f"values, off at {off}", quantifier="exists",
        text=f"The aligned tokens, W_VO x_j = x_j{' and W_VO x_s = 0' if off == 'sink' else ''}: the least "
             f"nuclear norm is between {low} and {high}.",
        variables={"inputs": "matrix: n d", "targets": "matrix: n o", "low": "scalar", "high": "scalar",
                   "V": "matrix: o d", "Y": "matrix: o n"},
        constants={"inputs": inputs.tolist(), "targets": targets.tolist(), "low": Fraction(low),
                   "high": Fraction(high)},
        definitions={"U": "Y @ inputs"},
        conclusions=("inputs @ transpose(V) == targets", "norm_at_most(V, 1, high, 'V')",
                     "psd(eye(len(U[0])) - transpose(U) @ U)", "trace(Y @ targets) >= low"),
        satisfiable=later, instances=lambda seed: [later])


def rational_points(smallest_off: int) -> Iterator[dict]:
    """(n, f, u, y) with u = 1/s and y rational: s²f + 2fs + 1 must be a square; f = 1 always does, y = 1 + u."""
    for s in range(2, 12):
        for f in range(smallest_off, s * s - 1):
            root = isqrt(f * s * (s + 2) + 1)
            if root * root == f * s * (s + 2) + 1:
                yield {"n": s * s - 1 - f, "f": f, "u": Fraction(1, s), "y": Fraction(root, s)}


def table(copiers: int, off: int, switch: str) -> np.ndarray:
    """PH: query i favours key i, off queries the sink (last) or themselves."""
    count = copiers + off
    favoured = np.arange(count)
    if switch == "sink":
        favoured[copiers:] = count
    chosen = np.zeros((count, count + 1))
    chosen[np.arange(count), favoured] = 1
    return chosen - 1 / (count + 1)


def optimal_slack(w: np.ndarray, cost: float) -> float:
    """Float second route: ‖W‖_1 is the cost, and the polar factor of W is negative off the favoured keys."""
    left, values, right = np.linalg.svd(w, full_matrices=False)
    kept = values > 1e-9
    polar = left[:, kept] @ right[kept]
    return min(1e-9 - abs(float(values.sum()) - cost) / (1 + cost), -float(polar[w < 0].max()))


def sink_slack(values: Mapping[str, float]) -> float:
    n, f = int(values["n"]), int(values["f"])
    return optimal_slack(table(n, f, "sink"), n - 1 + values["y"])


def self_slack(values: Mapping[str, float]) -> float:
    return optimal_slack(table(int(values["n"]), 0, "self"), values["n"] - 1 + values["u"])


def compared_slack(values: Mapping[str, float]) -> float:
    """Both nuclear norms in floats: self is never cheaper."""
    costs = [float(np.linalg.svd(table(int(values["n"]), int(values["f"]), switch), compute_uv=False).sum())
             for switch in ("sink", "self")]
    return (costs[1] - costs[0]) / costs[1] + 1e-12


def frobenius_slack(values: Mapping[str, float]) -> float:
    size = int(values["T"])
    return 1e-9 - abs(float(np.linalg.norm(table(size - 1, 1, "sink"))) - values["cost"]) / (1 + values["cost"])


def instances_of(points: Callable[[], Iterable[dict]]) -> Callable[[int], Iterator[Instance]]:
    return lambda seed: (Instance(values) for values in points())


WORDS = {"keys": "n + f + 1 = 1/u² keys with the sink", "square": "cost = T/√(T+1)",
         "radical": "y² = f + 2fu + u²: y is the sum of the two singular values that the off queries change"}
FOUR = {"n": 2, "f": 1, "u": HALF, "y": Fraction(3, 2)}
SINK_SWITCH = derived(
    sink_switch, "sink as switch, orthonormal",
    "Orthonormal tokens and sink; n >= 1 queries copy from n different content keys, f >= 1 queries attend "
    "to the sink, margins m over all other keys. The logit table of W/m is PH: 1 − u² at the favoured key, "
    "−u² elsewhere, so every margin is m. It is S G (first seven identities) with S symmetric, positive "
    "semidefinite (S acts as 1 on centred copiers; the rest is 2 x 2 with positive diagonal and determinant "
    "fu) and of trace `cost`; G Gᵀ is a projector (next four), so ‖W‖_1 <= m·cost. G has zero row sums and "
    "is negative off the favoured keys, so −G there is λ >= 0 with dual matrix G, ‖G‖_∞ <= 1, and Σλ = n·cc "
    "+ f·os = cost: the nuclear cost is m(n − 1 + y).",
    words=WORDS, satisfiable=FOUR, counterexamples={"radical": {**FOUR, "y": 1}, "keys": {**FOUR, "n": 1}},
    instances=instances_of(lambda: rational_points(1)), numeric=sink_slack)
SELF_SWITCH = derived(
    self_switch, "self as switch, orthonormal",
    "The same tokens with every query on a content key of its own (n queries; copiers permute their own "
    "keys, the others stay on theirs), the sink a competitor: W/m = S G and λ = −G as before, nuclear cost "
    "m(n − 1 + u), u = 1/√(n + 1).",
    words=WORDS | {"keys": "n + 1 = 1/u² keys with the sink"}, satisfiable={"n": 3, "u": HALF},
    counterexamples={"keys": {"n": 2, "u": HALF}},
    instances=instances_of(lambda: ({"n": s * s - 1, "u": Fraction(1, s)} for s in range(2, 12))), numeric=self_slack)
COMPARED = derived(
    switches_compared, "the switches compared, orthonormal",
    "n queries copy among themselves, f >= 1 are off: self costs m(n + f − 1 + u), the sink m(n − 1 + y); "
    "the difference times a positive number is f(f − 1): equal at one off query, the sink is cheaper from "
    "two on, in nuclear norm.",
    # the number of keys is not needed: the difference contains it only through u
    words=WORDS, satisfiable=FOUR, counterexamples={"radical": {**FOUR, "y": 1}},
    instances=instances_of(lambda: rational_points(1)), numeric=compared_slack)
FROBENIUS = derived(
    frobenius, "Frobenius norm, orthonormal",
    "T queries, T + 1 orthonormal keys, any assignment and either switch: in Frobenius norm rows do not "
    "interact. A row that is own at the favoured key and other elsewhere has margin 1 and is a nonnegative "
    "combination of its T constraints, weight cost each: G = W/‖W‖. The cost is mT/√(T+1) whatever the "
    "fraction that copies.",
    words=WORDS, satisfiable={"T": 3, "cost": Fraction(3, 2)}, counterexamples={"square": {"T": 3, "cost": 1}},
    instances=instances_of(lambda: ({"T": s * s - 1, "cost": Fraction(s * s - 1, s)} for s in range(2, 12))),
    numeric=frobenius_slack)


def against_each_other() -> tuple[dict, dict]:
    """Multipliers of the task off at the sink, and factors of a W for the task off at itself."""
    tasks = {off: copy_paste(*ALIGNED, (1, 2, -1), off=off, margin=1.0).attention for off in ("sink", "self")}
    sink, own = (minimum_norm(tasks[off], 1.0, tolerance=1e-6) for off in ("sink", "self"))
    dual = np.zeros(tasks["sink"].competitors.shape)
    dual[sink.dual_row, sink.dual_key] = sink.dual_weight * (1 - 2.0**-20)
    return {"dual": dual.tolist(), "left": own.left.tolist(), "right": own.right.tolist()}, {}


TABLE = Part(
    name="", text="", variables={"W": "matrix: T N", "favoured": "integers: T"},
    definitions={"size": "len(W)"},
    hypotheses=(
        Hypothesis("keys", "T queries, and T content keys with the sink behind them", "len(W[0]) == size + 1"),
        Hypothesis("margins", "margin 1 of the favoured key over every other key, the sink (last) included",
                   "all(W[i][favoured[i]] - W[i][k] >= 1 for i in range(size) for k in range(size + 1) "
                   "if k != favoured[i])")),
    conclusions=("dot(flat(W), flat(W)) * (size + 1) >= size * size",))
VARIANTS = (
    Part(name="", text="",
         variables={"tokens": "matrix: N d", "dual": "matrix: T N", "left": "matrix: d r", "right": "matrix: d r"},
         constants={"tokens": np.vstack(ALIGNED).tolist()}).vary(
        "off by sink is always cheaper", "trap",
        "The nuclear norm of W_QK is no larger with the sink as switch. Three aligned tokens, the third off and "
        "copied by the second: no multipliers for the sink are worth more than a W that does with self.",
        Instance(Later(lambda: against_each_other()[0])),
        definitions={
            "logits": "tokens @ left @ transpose(tokens @ right)", "to_self": "[1, 2, 2]", "to_sink": "[1, 2, 3]",
            "G": "sum(dual[i][k] * outer(tokens[i], tokens[to_sink[i]] - tokens[k]) for i in range(3) for k "
                 "in range(4))"},
        hypotheses=(
            Hypothesis("self", "W has margin 1 with self as switch",
                       "all(logits[i][to_self[i]] - logits[i][k] >= 1 for i in range(3) for k in range(4) if "
                       "k != to_self[i])"),
            Hypothesis("multipliers", "λ >= 0, with no weight on the favoured keys",
                       "all(entry >= 0 for row in dual for entry in row) and all(dual[i][to_sink[i]] == 0 "
                       "for i in range(3))"),
            Hypothesis("dual norm", "‖G‖_∞ <= 1", "psd(eye(4) - transpose(G) @ G)")),
        conclusions=("sum(sum(row) for row in dual) ** 2 <= dot(flat(left), flat(left)) * dot(flat(right), "
                     "flat(right))",)),
    false_formula(COMPARED, "dearer with one off query", "strict for non-strict",
                  "Self is strictly dearer than the sink as soon as one query is off.", FOUR,
                  conclusions=("self_cost - sink_cost > 0",)),
    false_formula(COMPARED, "fraction one", "trap", "Self is strictly dearer also when every query copies "
                                                    "(nobody is off then).",
                  {"n": 3, "f": 0, "u": HALF, "y": HALF}, bounds={"f": {"minimum": ["0", "1"], "integer": "true"}},
                  conclusions=("self_cost - sink_cost > 0",)),
    TABLE.vary("margins over content keys only", "trap",
               "The sink need not be among a copier's competitors: the cost is the same.",
               Instance({"W": [[HALF, -HALF, 0], [-HALF, HALF, 0]], "favoured": [0, 1]}),
               hypotheses=(TABLE.hypotheses[0], Hypothesis(
                   "margins", "margin 1 over every other content key",
                   TABLE.hypotheses[1].formula.replace("range(size + 1)", "range(size)")))),
    TABLE.vary("every assignment alike", "p for p*",
               "In nuclear norm too every assignment costs T − 1 + 1/√(T+1) (‖W‖_1² is at most "
               "rank·‖W‖_F²): all copying one key is cheaper.",
               Instance({"W": [[Fraction(3, 4), *[-Fraction(1, 4)] * 3]] * 3, "favoured": [0, 0, 0]}),
               conclusions=("rank(W) * dot(flat(W), flat(W)) >= (size - 1 + 1 / sqrt(size + 1)) ** 2",)),
    TABLE.vary("any different keys with self", "trap",
               "With self as switch, whatever n different keys the first n queries copy (the others stay on theirs), "
               "the nuclear cost is T − 1 + 1/√(T+1), as when the copiers permute their own keys (‖W‖_1² is at most "
               "rank·‖W‖_F²): query 1 copies the key on which query 2 stays, and a single row does for both.",
               Instance(
                   {"W": [[-Fraction(1, 3), Fraction(2, 3), -Fraction(1, 3)]] * 2, "favoured": [1, 1], "copiers": 1}),
               variables={**TABLE.variables, "copiers": "integer"},
               hypotheses=(*TABLE.hypotheses, Hypothesis(
                   "different keys",
                   "the first n copy n different content keys, not their own; the others stay on theirs",
                   "1 <= copiers and copiers < size and all(0 <= favoured[i] and favoured[i] < size for i in "
                   "range(size)) and all(favoured[i] != i for i in range(copiers)) and all(favoured[i] == i for i in "
                   "range(copiers, size)) and all(favoured[i] != favoured[j] for i in range(copiers) for j in "
                   "range(copiers) if i != j)")),
               conclusions=("rank(W) * dot(flat(W), flat(W)) >= (size - 1 + 1 / sqrt(size + 1)) ** 2",)),
    Part(name="", text="", variables={"tokens": "matrix: T d", "sink": "vector: d", "V": "matrix: d d"}).vary(
        "nulling the sink is free", "constant moved", "Content outputs x_j and V x_s = 0 cost the √T of the "
                                                      "content alone (Frobenius, T + 1 independent tokens in "
                                                      "dimension T + 1, so V is the only one).",
        Instance({"tokens": ALIGNED[0].tolist(), "sink": ALIGNED[1].tolist(),
                  "V": [[0, *[Fraction(3, 4)] * 3], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]}),
        hypotheses=(Hypothesis("outputs", "V x_j = x_j", "tokens @ transpose(V) == tokens"),
                    Hypothesis("null", "V x_s = 0", "all(entry == 0 for entry in V @ sink)")),
        conclusions=("dot(flat(V), flat(V)) <= len(tokens)",)),
)

CLAIM = Claim(
    id="C10", title="Copy-paste: what switching off costs", family="costs",
    statement="Some queries copy from given keys, the rest attend to the sink or to themselves, all with "
              "margins over every other key. Orthonormal tokens: in Frobenius norm mT/√(T+1) for every "
              "assignment and either switch; in nuclear norm, n >= 1 queries copying from n different keys "
              "and f >= 1 off, m(n − 1 + √(f + 2f/√N + 1/N)) with the sink, N = n + f + 1; with self, when "
              "the copiers permute their own keys, m(n + f − 1 + 1/√N): in that case the two are equal at f = "
              "1 and the sink is cheaper from f = 2. (Where an off query's key is copied by another, self can "
              "cost less than that, and less than the sink.) On three tokens with an aligned sink the listed "
              "tasks cost what is stated: W_QK is cheaper with the sink in all of them that have an off "
              "query, except in nuclear norm where query 1 copies key 2, query 2 copies key 3 and query 3 is "
              "off: there self is cheaper; the two are equal when nobody is off. W_VO is dearer with the "
              "sink.",
    parts=(SINK_SWITCH, SELF_SWITCH, COMPARED, FROBENIUS, *(case.part() for case in CASES),
           value_part("sink", "3.639359", "3.639361"), value_part("self", "2.999999", "3.000001")),
    variants=VARIANTS, required="PROVED",
    scope_notes=(
        "The first four parts are for all n and f; that their identities amount to a feasible W and feasible "
        "multipliers is the argument in their texts and in notes/C10.md, as in C4. The others are about the "
        "tasks they name.",
        "A distribution over contexts matters only through its support: what must hold is what has positive "
        "probability.",
        "Costs are for logits x_iᵀWx_j, without RoPE and query bias; W_QK and W_VO are minimised apart (they "
        "do not interact).",
        "Not claimed here: aligned tokens other than the one listed cloud (r = 5, c = 3/5, three tokens); totals "
        "‖W_QK‖ + ‖W_VO‖, of which notes/C10.md has floating-point figures only; the cost with self when copiers leave "
        "their own keys, beyond the listed tasks.",
    ),
)
