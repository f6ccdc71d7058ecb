"""Numbers of an audit drawn together over heads, layers and conditions, for the page, the table and the pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from proofs_check.audit.meaning import SMALL_VALUE, main_condition

Table = tuple[list[str], list[list[str]]]


def heads_of(document: dict) -> Iterator[tuple[dict, dict]]:
    return ((layer, head) for layer in document["layers"] for head in layer["heads"])


def grid(document: dict, value: Callable[[dict, dict], float | None]) -> np.ndarray:
    """Layers by heads, NaN where a number does not exist."""
    return np.array(
        [
            [np.nan if (found := value(layer, head)) is None else found for head in layer["heads"]]
            for layer in document["layers"]
        ],
        dtype=np.float64,
    )


def share(flags: list[bool]) -> float | None:
    return float(np.mean(flags)) if flags else None


def number(value: float | None, digits: int = 3) -> str:
    """A number for a table: three significant digits, a dash where there is none."""
    return "–" if value is None or not np.isfinite(value) else f"{value:.{digits}g}"


def fixed(value: float | None, digits: int = 2) -> str:
    return "–" if value is None or not np.isfinite(value) else f"{value:.{digits}f}"


def conditions(document: dict) -> list[str]:
    return list(document["layers"][0]["tokens"])


def score_table(document: dict) -> Table:
    """Share of heads whose mean score over texts is strictly above each threshold, by condition and convention."""
    names = list(document["conventions"]["scores"])
    thresholds = document["conventions"]["thresholds"]
    rows = []
    for condition in conditions(document):
        row = [condition, str(len(document["layers"][0]["heads"][0]["scores"][condition][names[0]]["sequences"]))]
        for name in names:
            means = [head["scores"][condition][name]["mean"] for _, head in heads_of(document)]
            row.append(" / ".join(fixed(share([mean > threshold for mean in means])) for threshold in thresholds))
        rows.append(row)
    return ["condition", "sequences", *(name.replace("_", " ") for name in names)], rows


def layer_table(document: dict) -> Table:
    """One row per layer: cosines, half-space and its chance, drift, what uniform attention does, scores, costs."""
    condition = main_condition(document)
    columns = [
        "layer",
        "cos gain",
        "cos plain",
        "pairs",
        "half-space margin",
        "chance",
        "D",
        "uniform: measured",
        "predicted",
        "mass",
        "diagonal",
        "sink cost",
        "diagonal cost",
    ]
    rows = []
    for layer in document["layers"]:
        tokens, space = layer["tokens"][condition], layer["half_space"]["queries"]
        point = next(item for item in layer["mixing"][condition] if (item["target"], item["t"]) == ("uniform", 1.0))
        scores = [head["scores"][condition] for head in layer["heads"]]
        rows.append(
            [
                str(layer["layer"]),
                fixed(tokens["gain"]["mean"]),
                fixed(tokens["plain"]["mean"]),
                fixed(tokens["pairs_plain"]),
                {True: number(space["margin_lower"]), False: "none", None: "undecided"}[space["holds"]],
                layer["half_space"]["chance"],
                number(layer["drift"]["stream_measured"]["drift"]),
                fixed(point["measured_change"], 3),
                fixed(point["predicted_change"], 3),
                fixed(float(np.mean([item["mass_without_row_0"]["mean"] for item in scores]))),
                fixed(float(np.mean([item["diagonal_without_row_0"]["mean"] for item in scores]))),
                bounds(layer["costs"]["sink"]),
                bounds(layer["costs"]["diagonal"]),
            ]
        )
    return columns, rows


def bounds(cost: dict) -> str:
    """Certified bounds as one entry: the common value where they agree to three digits."""
    if cost["lower"] is None and cost["upper"] is None:
        return cost["status"]
    low, high = number(cost["lower"]), number(cost["upper"])
    return low if low == high else f"{low} .. {high}"


def mixing_table(document: dict, condition: str) -> Table:
    """O1m's predicted change of the mean pair cosine beside the measured one, over layers, for every target and t."""
    points: dict[tuple[str, float], list[dict]] = {}
    for layer in document["layers"]:
        for point in layer["mixing"].get(condition, []):
            if point["target"] != "none":
                points.setdefault((point["target"], point["t"]), []).append(point)
    rows = []
    for (target, t), found in points.items():
        measured = np.array([point["measured_change"] for point in found])
        row = [target, f"{t:g}", fixed(float(measured.mean()), 4), fixed(float(np.sqrt(np.mean(measured**2))), 4)]
        known = [point for point in found if point["predicted_change"] is not None]
        if known:
            gap = np.array([point["predicted_change"] - point["measured_change"] for point in known])
            row += [
                fixed(float(np.mean([point["predicted_change"] for point in known])), 4),
                fixed(float(np.sqrt(np.mean(gap**2))), 4),
                f"{sum((item['predicted_change'] > 0) == (item['measured_change'] > 0) for item in known)} of "
                f"{len(known)}",
                fixed(float(np.mean([point["pair_rms"] for point in known])), 3),
            ]
        else:
            row += ["–"] * 4
        rows.append(
            [
                *row,
                fixed(float(np.mean([point["pair_spread"] for point in found])), 3),
                fixed(float(np.mean([point["budget_met"] for point in found]))),
            ]
        )
    return [
        "target",
        "t",
        "mean change",
        "RMS change",
        "predicted mean",
        "RMS error",
        "sign agrees",
        "RMS over pairs",
        "spread of pairs",
        "budget met",
    ], rows


def network_table(document: dict) -> Table:
    """Replaced attention through the rest of the network: change of the content cosine, next layer and at the end."""
    network = document["network"]
    points: dict[tuple[str, float], list[tuple[float | None, float]]] = {}
    for item in network["layers"]:
        following = item["layer"] + 1
        for point in item["points"]:
            after = None if point["next"] is None else point["next"] - network["entering"][following]
            points.setdefault((point["target"], point["t"]), []).append((after, point["final"] - network["final"]))
    rows = []
    for (target, t), found in points.items():
        after = np.array([item[0] for item in found if item[0] is not None])
        final = np.array([item[1] for item in found])
        together = [item for item in found if item[0] is not None]
        rows.append(
            [
                target,
                f"{t:g}",
                fixed(float(after.mean()), 4),
                fixed(float(final.mean()), 4),
                fixed(float(np.abs(final).max()), 3),
                f"{sum((a > 0) == (b > 0) for a, b in together)} of {len(together)}",
            ]
        )
    return [
        "target",
        "t",
        "mean change, next layer",
        "mean change, final",
        "largest |change|, final",
        "same sign",
    ], rows


def value_table(document: dict) -> Table:
    """Values by condition: ‖v_s‖ against ‖v_j‖, half-spaces of a text's values, outputs, correlation with 1 - a_s."""
    rows = []
    for condition in conditions(document):
        values = [head["values"][condition] for _, head in heads_of(document)]
        ratios = [item["norm_ratio"] for item in values if item["norm_ratio"] is not None]
        correlations = [item["correlation"] for item in values if item["correlation"] is not None]
        rows.append(
            [
                condition,
                fixed(float(np.median(ratios))),
                fixed(share([ratio <= SMALL_VALUE for ratio in ratios])),
                fixed(float(np.mean([item["half_space"] or 0.0 for item in values]))),
                fixed(float(np.median([item["output_ratio"] for item in values]))),
                fixed(float(np.median(correlations))) if correlations else "–",
            ]
        )
    return [
        "condition",
        "median ‖v_s‖/mean‖v_j‖",
        f"heads at or below {SMALL_VALUE:g}",
        "texts whose values lie in a half-space",
        "median ‖o‖/mean‖v‖",
        "median correlation of 1 - a_s with ‖o‖",
    ], rows


def drift_table(document: dict) -> Table:
    """Signs of D and τ for every variant."""
    rows = []
    for name in document["conventions"]["drift"]:
        found = [head["drift"][name] for _, head in heads_of(document) if name in head["drift"]]
        if found:
            rows.append(
                [
                    name,
                    fixed(share([item["drift"] > 0 for item in found])),
                    fixed(share([item["tau"] < 0 for item in found])),
                    number(float(np.median([item["drift"] for item in found]))),
                    number(float(np.median([item["tau"] for item in found]))),
                    number(float(np.median([item["phi"] for item in found]))),
                ]
            )
    return ["variant", "heads with D > 0", "heads with τ < 0", "median D", "median τ", "median φ"], rows


def control_table(document: dict) -> Table:
    """Half-spaces and costs of Gaussian clouds of the same size, beside the measured ones."""
    layers, rows = document["layers"], []

    def count(test: Callable[[dict], bool | None]) -> str:
        answers = [test(layer) for layer in layers]
        return f"{sum(answer is True for answer in answers)} of {sum(answer is not None for answer in answers)}"

    rows.append(
        [
            "half-space of the pooled inputs, measured (certified)",
            count(lambda layer: layer["half_space"]["queries"]["holds"]),
        ]
    )
    if layers[0]["half_space"]["without_bos"] is not None:
        rows.append(
            ["the same without BOS (float64)", count(lambda layer: layer["half_space"]["without_bos"]["holds"])]
        )
    rows.append(
        [
            "isotropic Gaussian cloud of that size (float64)",
            count(lambda layer: layer["half_space"]["controls"]["isotropic"]["holds"]),
        ]
    )
    rows.append(
        [
            "Gaussian cloud with the measured mean and covariance (float64)",
            count(
                lambda layer: (
                    None
                    if (found := layer["half_space"]["controls"]["same_mean_and_covariance"]) is None
                    else found["holds"]
                )
            ),
        ]
    )
    for name, words in (
        ("holds", "half-space of the pooled values, key/value heads (certified)"),
        ("same_mean_and_covariance", "Gaussian clouds with their mean and covariance (float64)"),
    ):
        answers = _value_answers(document, name)
        rows.append(
            [words, f"{sum(answer is True for answer in answers)} of {sum(answer is not None for answer in answers)}"]
        )
    both = [_value_answers(document, name) for name in ("holds", "same_mean_and_covariance")]
    known = [pair for pair in zip(*both, strict=True) if None not in pair]
    rows.append(
        ["key/value heads where both answers agree", f"{sum(real == alike for real, alike in known)} of {len(known)}"]
    )
    costs = document["controls"]["isotropic_costs"]
    rows.append(
        [
            f"isotropic cloud, {costs['count']} × {costs['dim']}, ‖x‖ ≈ 1: sink cost, diagonal cost, ratio (lower "
            "bound)",
            f"{bounds(costs['sink'])}; {bounds(costs['diagonal'])}; "
            f"{number(costs['ratio'][0]) if costs['ratio'] else '–'}",
        ]
    )

    def scaled(pattern: str, side: str, over: Callable[[list[float]], float]) -> str:
        """Costs at mean norm 1: a cost is divided by the square of a factor on all tokens."""
        found = [
            layer["costs"][pattern][side] * layer["costs"]["mean_norm"] ** 2
            for layer in layers
            if layer["costs"][pattern][side] is not None
        ]
        return number(float(over(found))) if found else "–"

    rows += [
        [
            "real clouds at mean ‖x‖ = 1 (median over layers): sink, diagonal (lower bounds)",
            f"{scaled('sink', 'lower', np.median)}; {scaled('diagonal', 'lower', np.median)}",
        ],
        [
            "the same: greatest upper bound of the sink, least lower bound of the diagonal",
            f"{scaled('sink', 'upper', max)}; {scaled('diagonal', 'lower', min)}",
        ],
    ]
    return ["cloud", "found"], rows


def _value_answers(document: dict, name: str) -> list[bool | None]:
    """One answer per key/value head."""
    return [
        answer
        for layer in document["layers"]
        for answer in {head["key_value_head"]: head["value_half_space"][name] for head in layer["heads"]}.values()
    ]


def head_rows(document: dict) -> list[dict]:
    """One flat record per layer and head, for Parquet and CSV."""
    condition, rows = main_condition(document), []
    for layer, head in heads_of(document):
        row = {
            "layer": layer["layer"],
            "head": head["head"],
            "key_value_head": head["key_value_head"],
            "cos_gain": layer["tokens"][condition]["gain"]["mean"],
            "cos_plain": layer["tokens"][condition]["plain"]["mean"],
            "queries_half_space": layer["half_space"]["queries"]["holds"],
            "queries_margin": layer["half_space"]["queries"]["margin_lower"],
            "values_half_space": head["value_half_space"]["holds"],
            "values_margin": head["value_half_space"]["margin_lower"],
        }
        for name, values in head["scores"][condition].items():
            row[name] = values["mean"]
        if "without BOS" in head["scores"]:
            row["mass_without_row_0_no_bos"] = head["scores"]["without BOS"]["mass_without_row_0"]["mean"]
        for variant, drift in head["drift"].items():
            row |= {f"{name}_{variant}": drift[name] for name in ("tau", "phi", "drift")}
        row |= {name: head["values"][condition][name] for name in ("norm_ratio", "rank", "output_ratio", "correlation")}
        row |= {f"w_qk_{name}": value for name, value in head["w_qk"].items()} | {
            f"w_vo_{name}": value for name, value in head["w_vo"].items()
        }
        row |= {
            "trace_vo": head["trace_vo"],
            "logit_scale": head["logit_scale"],
            "bound_applies": head["bound_applies"],
            "norm_over_sink_cost": head["norm_over_cost"]["sink"],
            "norm_over_diagonal_cost": head["norm_over_cost"]["diagonal"],
            "uniform_change": head["uniform_change"]["measured"],
            "uniform_change_predicted": head["uniform_change"]["predicted"],
            "margin_mean": None if head["margins"][condition] is None else head["margins"][condition]["mean"],
            "margin_least": None if head["margins"][condition] is None else head["margins"][condition]["least"],
        }
        rows.append(row)
    return rows
