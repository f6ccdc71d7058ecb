"""What an audit means: for each hypothesis the share of layers or heads where it holds, and the claims that apply.

A row names a claim only where every hypothesis of it that is measured holds at once.  O3, O4, O5 and O7 compare
attention without a mask, and O1m's tokens are uncorrelated with A fixed, which no checkpoint's are: the rows that come
from them say so in words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass

from proofs_check.audit.text import WITH, WITHOUT

# Our thresholds, named in every row that uses them.
SPHERE, SMALL_VALUE, SINK = 1e-3, 0.3, 0.3


@dataclass(frozen=True)
class Finding:
    """A hypothesis, counted over layers or heads: `holds` of `of`, `undecided` among the rest."""

    family: str
    hypothesis: str
    unit: str
    holds: int
    undecided: int
    of: int
    claims: tuple[str, ...]
    note: str

    def row(self) -> dict:
        return asdict(self) | {"claims": list(self.claims), "fraction": self.holds / self.of if self.of else None}


def main_condition(document: dict) -> str:
    """The condition that pools, costs and drifts come from: with BOS where the model has one."""
    return WITH if WITH in document["layers"][0]["tokens"] else WITHOUT


def one_sign(cosines: dict) -> int:
    """The strict sign that all of them have, from their extremes over the measured texts; 0 when they have none."""
    return (cosines["least"] > 0) - (cosines["greatest"] < 0)


def meaning(document: dict) -> list[Finding]:
    """Every hypothesis of G, E, O and C that can be looked at on a checkpoint; words of measurement, not of proof."""
    condition = main_condition(document)
    layers = document["layers"]
    heads = [(layer, head) for layer in layers for head in layer["heads"]]
    length = next(
        run["tokens"] - (condition == WITH)
        for run in document["text"]["runs"]
        if run["measured"] and run["condition"] == condition
    )
    found: list[Finding] = []

    def over(
        unit: str,
        family: str,
        hypothesis: str,
        claims: tuple[str, ...],
        test: Callable[..., bool | None],
        note: str = "",
        among: Iterable | None = None,
    ) -> None:
        units = list((layers if unit == "layers" else heads) if among is None else among)
        answers = [test(item) if unit == "layers" else test(*item) for item in units]
        found.append(
            Finding(
                family,
                hypothesis,
                unit,
                sum(answer is True for answer in answers),
                sum(answer is None for answer in answers),
                len(answers),
                claims,
                note,
            )
        )

    def space(name: str) -> Callable[[dict], bool | None]:
        return lambda layer: layer["half_space"][name]["holds"] if name in layer["half_space"] else None

    def both(layer: dict) -> bool | None:
        answers = space("queries")(layer), space("keys")(layer)
        return None if None in answers else all(answers)

    def spherical(layer: dict) -> bool:
        return layer["tokens"][condition]["sphere"] <= SPHERE and not layer["norm_bias"]

    def linear(layer: dict, test: Callable[[float, float], bool], head: dict | None = None) -> bool | None:
        """A test of (τ, φ) of the stream; undecided where the block's output is normalised before it is added."""
        found = (layer if head is None else head)["drift"]["stream_measured"]
        return None if layer["output_norm"] else test(found["tau"], found["phi"])

    def sign(layer: dict) -> bool | None:
        if layer["output_norm"]:
            return None
        moved = {point["target"]: point for point in layer["mixing"][condition] if point["t"] == 1.0}
        gap = moved["uniform"]["measured"] - moved["diagonal"]["measured"]
        return (gap > 0) == (layer["drift"]["stream_measured"]["drift"] > 0)

    def raises(layer: dict) -> bool | None:
        if layer["output_norm"]:
            return None
        item = layer["drift"]["stream_measured"]
        return item["rho"] * (item["g"] - item["g0"]) + (1 - item["rho"]) * item["drift"] / length > 0

    def agree(point: dict) -> bool | None:
        if point["predicted"] is None or point["measured"] is None:
            return None
        return (point["measured"] > 0) == (point["predicted"] > 0)

    def moved(layer: dict, target: str) -> dict:
        point = next(item for item in layer["mixing"][condition] if (item["target"], item["t"]) == (target, 1.0))
        return {"measured": point["measured_change"], "predicted": point["predicted_change"]}

    over(
        "layers",
        "G",
        "the pooled content inputs lie in an open half-space",
        (),
        space("queries"),
        "one of G1's two conditions; certified; read it beside the chance level",
    )
    if "keys" in layers[0]["half_space"]:
        over(
            "layers",
            "G",
            "the sink's input is outside the hull of the content inputs",
            (),
            space("keys"),
            "the other condition of G1; certified; with a query bias this alone decides",
        )
        over(
            "layers",
            "G",
            "both: a position-free sink head exists on the pooled tokens",
            ("G1", "G2", "C1"),
            both,
            "C1's cost for all pairs of query and key, without a mask",
        )
        over(
            "layers",
            "G",
            f"all ⟨x_s, x_i⟩ of the pool have one strict sign, no norm bias, ‖n‖²/d is 1 to {SPHERE:g}",
            ("G4",),
            lambda layer: None if space("alignment")(layer) is None else space("alignment")(layer) and spherical(layer),
            "sufficient for a sink head, not necessary",
        )
        over(
            "layers",
            "G",
            "the same on the measured texts alone",
            ("G4",),
            lambda layer: one_sign(layer["tokens"][condition]["gain"]) != 0 and spherical(layer),
            "float64; the sign may be negative",
        )
    over(
        "layers",
        "G",
        f"tokens without gain lie on the sphere to {SPHERE:g} in ‖n‖²/d",
        ("G3",),
        lambda layer: layer["tokens"][condition]["sphere"] <= SPHERE,
        "to that accuracy; the norm's epsilon moves them off it",
    )
    over(
        "layers",
        "G",
        "a rotary plane turns by less than π/2 over the first text, and both conditions of G1 hold",
        ("G6",),
        lambda layer: both(layer) if layer["planes"][condition]["slow"] > 0 else False,
        "of the layers with RoPE",
        [layer for layer in layers if layer["rotary"]],
    )
    over(
        "heads",
        "E",
        "the pooled content values lie in an open half-space",
        ("E3", "E8"),
        lambda layer, head: head["value_half_space"]["holds"],
        "E8's second part; its first part and E2 ask for v_s = 0 too; certified; read it beside the Gaussian clouds",
    )
    over(
        "heads",
        "E",
        "the content values of every measured text lie in an open half-space",
        ("E3", "E8"),
        lambda layer, head: head["values"][condition]["half_space"] == 1.0,
        "E8's second part, as above; float64; few tokens make this likely by chance",
    )
    over(
        "heads",
        "E",
        "the content values of a text are linearly independent",
        ("E5",),
        lambda layer, head: head["values"][condition]["rank"] == head["values"][condition]["count"],
        "E1 and S1 ask for v_s = 0 too; impossible for more content tokens than the head dimension",
    )
    over(
        "heads",
        "E",
        "v_s = 0",
        ("E2", "O6"),
        lambda layer, head: head["values"][condition]["norm_ratio"] == 0,
        "E1, S1 and E8's first part ask for it too",
    )
    over(
        "heads",
        "E",
        f"‖v_s‖ <= {SMALL_VALUE:g} mean‖v_j‖",
        (),
        lambda layer, head: head["values"][condition]["norm_ratio"] <= SMALL_VALUE,
        "our threshold; ‖v_s‖ enters E3 as η, where the values have a half-space",
    )
    over(
        "heads",
        "E",
        "rank(CV) is at least 2, seen from the rank of the content values",
        ("M1",),
        lambda layer, head: head["values"][condition]["rank"] - (layer["norm"] == "layer") >= 2,
        "M1(c): attention moves information between tokens; under LayerNorm C may take one from the rank",
    )
    over(
        "heads",
        "O",
        "D > 0 (the head's drift in the stream)",
        (),
        lambda layer, head: linear(layer, lambda tau, phi: 2 * tau + phi > 0, head),
        "compares uniform with the diagonal, not with the real attention; O3 and O7 would apply without the mask",
    )
    for words, test in (
        ("τ >= 0: the cosine rises all along the mix", lambda tau, phi: tau >= 0),
        ("-φ < τ < 0: a maximum inside the mix", lambda tau, phi: -phi < tau < 0),
        ("τ <= -φ: the cosine falls along the mix", lambda tau, phi: tau <= -phi),
    ):
        over(
            "heads",
            "O",
            words,
            (),
            lambda layer, head, test=test: linear(layer, test, head),
            "from the diagonal to uniform, this head alone; O4 would apply without the mask",
        )
    over(
        "layers",
        "O",
        "D > 0 for all heads sharing one attention",
        (),
        lambda layer: linear(layer, lambda tau, phi: 2 * tau + phi > 0),
        "O3 would apply without the mask",
    )
    over(
        "layers",
        "O",
        "uniform attention would raise the cosine above the input's",
        (),
        raises,
        f"ρ(g - g0) + (1-ρ)D/T > 0 at T = {length} content tokens; O5 would apply without the mask",
    )
    over(
        "layers",
        "O",
        "uniform against diagonal: measured order as the sign of D says",
        (),
        sign,
        "measured on the texts under the causal mask: neither O's tokens nor O3's attention",
    )
    for target in ("uniform", "sink", "diagonal"):
        over(
            "layers",
            "O",
            f"mixing toward {target}: the measured change has the predicted sign",
            (),
            lambda layer, target=target: agree(moved(layer, target)),
            "O1m's prediction, t = 1",
        )
    over(
        "heads",
        "O",
        "one head made uniform: the measured change has the predicted sign",
        (),
        lambda layer, head: agree(head["uniform_change"]),
        "O1m's prediction",
    )
    over(
        "heads",
        "C",
        "the sink's cost at margin 1 is a lower bound for this head's scale ‖W_QK‖",
        ("C1",),
        lambda layer, head: head["bound_applies"],
        "a mask, a margin below 1, RoPE (G6), query biases, qk-norm and soft caps break it",
    )
    over(
        "layers",
        "C",
        "the diagonal costs more than the sink on the real cloud, nuclear norm",
        ("C1", "C3", "C6"),
        lambda layer: None if layer["costs"]["ratio"] is None else layer["costs"]["ratio"][0] > 1,
        "certified bounds; position-free heads, all pairs of query and key",
    )
    over(
        "heads",
        "P",
        f"mean mass on row 0 above {SINK:g}, row 0 excluded",
        ("P0",),
        lambda layer, head: head["scores"][condition]["mass_without_row_0"]["mean"] > SINK,
        condition,
    )
    over(
        "heads",
        "P",
        f"diagonal mass above {SINK:g}, row 0 excluded",
        ("P0",),
        lambda layer, head: head["scores"][condition]["diagonal_without_row_0"]["mean"] > SINK,
        condition,
    )
    return found
