"""What an audit means: for each hypothesis the share of layers or heads where it holds, and the claims that apply."""

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


def meaning(document: dict) -> list[Finding]:
    """Every hypothesis of G, E, O and C that can be looked at on a checkpoint; words of measurement, not of proof."""
    condition = main_condition(document)
    layers = document["layers"]
    heads = [(layer, head) for layer in layers for head in layer["heads"]]
    length = next(
        run["tokens"] for run in document["text"]["runs"] if run["measured"] and run["condition"] == condition
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
        ("G1", "G2", "G3"),
        space("queries"),
        "certified; read it beside the chance level",
    )
    if "keys" in layers[0]["half_space"]:
        over(
            "layers",
            "G",
            "the sink's input is outside the hull of the content inputs",
            ("G1",),
            space("keys"),
            "certified; with a query bias this alone decides",
        )
        over(
            "layers",
            "G",
            "both: a position-free sink head exists on the pooled tokens",
            ("G1", "G2", "C1"),
            lambda layer: None if None in (both := (space("queries")(layer), space("keys")(layer))) else all(both),
        )
        over(
            "layers",
            "G",
            "all ⟨x_s, x_i⟩ have one strict sign and the norm has no bias",
            ("G4",),
            lambda layer: (
                None if space("alignment")(layer) is None else space("alignment")(layer) and not layer["norm_bias"]
            ),
            "sufficient for a sink head, not necessary",
        )
    over(
        "layers",
        "G",
        f"tokens without gain lie on the sphere to {SPHERE:g} in ‖n‖²/d",
        ("G3", "G4"),
        lambda layer: layer["tokens"][condition]["sphere"] <= SPHERE,
        "the norm's epsilon moves them off it",
    )
    over(
        "layers",
        "G",
        "a rotary plane turns by less than π/2 over the first text",
        ("G6",),
        lambda layer: layer["planes"][condition]["slow"] > 0,
        "of the layers with RoPE",
        [layer for layer in layers if layer["rotary"]],
    )
    over(
        "heads",
        "E",
        "the pooled content values lie in an open half-space",
        ("E2", "E3", "E8"),
        lambda layer, head: head["value_half_space"]["holds"],
        "certified; read it beside the chance level",
    )
    over(
        "heads",
        "E",
        "the content values of every measured text lie in an open half-space",
        ("E2", "E3", "E8"),
        lambda layer, head: head["values"][condition]["half_space"] == 1.0,
        "float64; few tokens make this likely by chance",
    )
    over(
        "heads",
        "E",
        "the content values of a text are linearly independent",
        ("E1", "E5", "E6", "S1"),
        lambda layer, head: head["values"][condition]["rank"] == head["values"][condition]["count"],
        "impossible for more content tokens than the head dimension",
    )
    over(
        "heads",
        "E",
        "v_s = 0",
        ("E1", "E2", "S1", "O6"),
        lambda layer, head: head["values"][condition]["norm_ratio"] == 0,
    )
    over(
        "heads",
        "E",
        f"‖v_s‖ <= {SMALL_VALUE:g} mean‖v_j‖",
        ("E3",),
        lambda layer, head: head["values"][condition]["norm_ratio"] <= SMALL_VALUE,
        "our threshold; ‖v_s‖ enters E3 as η",
    )
    over(
        "heads",
        "E",
        "the content values have rank at least 2",
        ("M1",),
        lambda layer, head: head["values"][condition]["rank"] >= 2,
        "attention moves information between tokens",
    )
    over(
        "heads",
        "O",
        "D > 0 (the head's drift in the stream)",
        ("O3", "O7"),
        lambda layer, head: linear(layer, lambda tau, phi: 2 * tau + phi > 0, head),
        "then uniform smooths more than the diagonal in O's model",
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
            ("O4",),
            lambda layer, head, test=test: linear(layer, test, head),
            "for this head alone, in O's model",
        )
    over(
        "layers",
        "O",
        "D > 0 for all heads sharing one attention",
        ("O1m", "O3"),
        lambda layer: linear(layer, lambda tau, phi: 2 * tau + phi > 0),
    )
    over(
        "layers",
        "O",
        "uniform attention would raise the cosine above the input's",
        ("O5",),
        raises,
        f"ρ(g - g0) + (1-ρ)D/T > 0 at T = {length}, in O's model",
    )
    over(
        "layers",
        "O",
        "uniform against diagonal: measured order as the sign of D says",
        ("O3",),
        sign,
        "measured on the texts, whose tokens are not O's model",
    )
    for target in ("uniform", "sink", "diagonal"):
        over(
            "layers",
            "O",
            f"mixing toward {target}: the measured change has the predicted sign",
            ("O1m",),
            lambda layer, target=target: agree(moved(layer, target)),
            "t = 1",
        )
    over(
        "heads",
        "O",
        "one head made uniform: the measured change has the predicted sign",
        ("O1m",),
        lambda layer, head: agree(head["uniform_change"]),
    )
    over(
        "heads",
        "C",
        "the cost is a lower bound for this head's scale ‖W_QK‖",
        ("C1", "C2", "C3", "C6"),
        lambda layer, head: head["bound_applies"],
        "RoPE, query biases, qk-norm and soft caps break it (G6)",
    )
    over(
        "layers",
        "C",
        "the diagonal costs more than the sink on the real cloud, nuclear norm",
        ("C1", "C3", "C6"),
        lambda layer: None if layer["costs"]["ratio"] is None else layer["costs"]["ratio"][0] > 1,
        "certified bounds, position-free heads",
    )
    over(
        "heads",
        "P",
        f"mean mass on row 0 above {SINK:g}, row 0 excluded",
        ("P0", "G5"),
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
