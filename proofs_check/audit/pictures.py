"""Pictures of an audit: layer × head heatmaps, curves over layers, what happens without BOS, and one head's page."""

from __future__ import annotations

import io

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure

from numerics.checkpoint.record import LayerPass, LayerWeights
from proofs_check.audit.meaning import SINK, main_condition
from proofs_check.audit.summary import conditions, grid

COLOURS = {
    "uniform": "tab:blue",
    "sink": "tab:orange",
    "diagonal": "tab:green",
    "random": "tab:grey",
    "random key": "tab:brown",
}


def png(figure: Figure) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=100)
    plt.close(figure)
    return stream.getvalue()


def heatmaps(document: dict) -> Figure:
    """Six layer × head panels; white where a number does not exist."""
    condition = main_condition(document)

    def log(value: float | None) -> float | None:
        return None if value is None or not value > 0 else float(np.log10(value))

    panels = [
        (
            "sink mass (row 0 excluded)",
            lambda layer, head: head["scores"][condition]["mass_without_row_0"]["mean"],
            "viridis",
            (0, 1),
        ),
        (
            "diagonal mass (row 0 excluded)",
            lambda layer, head: head["scores"][condition]["diagonal_without_row_0"]["mean"],
            "viridis",
            (0, 1),
        ),
        ("drift D, stream, measured R", lambda layer, head: head["drift"]["stream_measured"]["drift"], "RdBu_r", None),
        (
            "values: half-space margin (0: none)",
            lambda layer, head: head["value_half_space"]["margin_lower"],
            "magma",
            None,
        ),
        ("log10 of scale‖W_QK‖₁ / sink cost", lambda layer, head: log(head["norm_over_cost"]["sink"]), "cividis", None),
        ("‖v_s‖ / mean‖v_j‖", lambda layer, head: head["values"][condition]["norm_ratio"], "magma", None),
    ]
    figure, axes = plt.subplots(2, 3, figsize=(12, 9), layout="constrained")
    for axis, (title, value, colours, limits) in zip(axes.flat, panels):
        data = grid(document, value)
        known = data[np.isfinite(data)]
        options: dict = {"cmap": colours}
        if colours == "RdBu_r":  # white is zero, whatever the range
            low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
            options["norm"] = TwoSlopeNorm(0.0, min(low, -1e-6), max(high, 1e-6))
        elif limits is not None:
            options["vmin"], options["vmax"] = limits
        image = axis.imshow(data, aspect="auto", interpolation="nearest", origin="lower", **options)
        axis.set(title=title, xlabel="head", ylabel="layer")
        figure.colorbar(image, ax=axis)
    figure.suptitle(f"{document['model']['name']}, {condition}")
    return figure


def _legend_below(axis: plt.Axes) -> None:
    """Outside the frame, where it hides no curve."""
    axis.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, frameon=False)


def curves(document: dict) -> Figure:
    """Cosines, half-spaces and their controls, O1m against what happened, and costs, by layer."""
    condition, layers = main_condition(document), document["layers"]
    at = [layer["layer"] for layer in layers]
    figure, axes = plt.subplots(2, 2, figsize=(12, 10), layout="constrained")
    axis = axes[0, 0]
    for name, label, colour in (
        ("gain", "cos(x_s, x_i), gain applied", "tab:red"),
        ("plain", "cos(n_s, n_i), without gain", "tab:blue"),
    ):
        spreads = [layer["tokens"][condition][name] for layer in layers]
        axis.plot(at, [item["mean"] for item in spreads], color=colour, label=label)
        axis.fill_between(
            at, [item["least"] for item in spreads], [item["greatest"] for item in spreads], color=colour, alpha=0.15
        )
    for name, style in (("pairs_gain", "--"), ("pairs_plain", ":")):
        axis.plot(
            at,
            [layer["tokens"][condition][name] for layer in layers],
            "k" + style,
            label=f"content pairs, {'gain applied' if name == 'pairs_gain' else 'without gain'}",
        )
    axis.axhline(0, color="grey", linewidth=0.6)
    axis.set(title="cosines (band: least and greatest)", xlabel="layer")
    _legend_below(axis)

    axis = axes[0, 1]
    real = [layer["half_space"]["queries"]["margin_lower"] for layer in layers]
    axis.plot(
        at,
        [np.nan if value is None else value for value in real],
        "o-",
        markersize=3,
        label="content inputs (certified)",
    )
    for name, label in (
        ("same_mean_and_covariance", "Gaussian, same mean and covariance"),
        ("isotropic", "isotropic Gaussian, unit variance"),
    ):
        found = [layer["half_space"]["controls"][name] for layer in layers]
        axis.plot(at, [np.nan if item is None else item["distance_lower"] for item in found], "--", label=label)
    axis.set(title="half-space margin of the pooled inputs (0: none)", xlabel="layer")
    _legend_below(axis)

    axis = axes[1, 0]
    for target, colour in COLOURS.items():
        points = [
            next(item for item in layer["mixing"][condition] if (item["target"], item["t"]) == (target, 1.0))
            for layer in layers
        ]
        axis.plot(at, [item["measured_change"] for item in points], color=colour, label=f"{target}")
        if points[0]["predicted_change"] is not None:
            axis.plot(at, [item["predicted_change"] for item in points], "x", color=colour, markersize=4)
    axis.axhline(0, color="grey", linewidth=0.6)
    axis.set(title="change of the mean pair cosine, one layer replaced (×: O1m)", xlabel="layer")
    _legend_below(axis)

    axis = axes[1, 1]
    for pattern, colour in (("sink", "tab:orange"), ("diagonal", "tab:green")):
        for bound, style in (("lower", "-"), ("upper", ":")):
            axis.plot(
                at,
                [
                    np.nan if layer["costs"][pattern][bound] is None else layer["costs"][pattern][bound]
                    for layer in layers
                ],
                style,
                color=colour,
                label=f"{pattern}, {bound} bound",
            )
    norms = [
        float(np.median([head["logit_scale"] * head["w_qk"]["nuclear"] for head in layer["heads"]])) for layer in layers
    ]
    axis.plot(at, norms, "k--", label="median scale‖W_QK‖₁ of the heads")
    axis.set(title="cheapest W at margin 1 (nuclear) beside the heads' own", xlabel="layer", yscale="log")
    _legend_below(axis)
    return figure


def bos_curves(document: dict) -> Figure:
    """Sink mass over layers by condition, and the share of sink heads by length with and without BOS."""
    layers, found = document["layers"], conditions(document)
    at = [layer["layer"] for layer in layers]
    figure, axes = plt.subplots(1, 2, figsize=(12, 4), layout="constrained")
    for condition in [name for name in found if not name.endswith(" tokens")]:
        means = [
            np.mean([head["scores"][condition]["mass_without_row_0"]["mean"] for head in layer["heads"]])
            for layer in layers
        ]
        axes[0].plot(at, means, label=condition)
    axes[0].set(title="mean mass on row 0 over heads (row 0 excluded)", xlabel="layer", ylim=(0, 1))
    axes[0].legend(fontsize=8)
    for start, style in (("with BOS, ", "o-"), ("without BOS, ", "s--")):
        points = []
        for condition in found:
            words = condition.removeprefix(start).split()
            if condition.startswith(start) and words[-1] == "tokens":
                scores = [head["scores"][condition] for layer in layers for head in layer["heads"]]
                points.append(
                    (
                        int(words[0]),
                        np.mean([item["mass_without_row_0"]["mean"] > SINK for item in scores]),
                        np.mean([item["diagonal_without_row_0"]["mean"] > SINK for item in scores]),
                    )
                )
        if points:
            lengths, sinks, diagonals = zip(*sorted(points))
            axes[1].plot(lengths, sinks, style, color="tab:orange", label=f"{start}sink mass above {SINK:g}")
            axes[1].plot(lengths, diagonals, style, color="tab:green", label=f"{start}diagonal mass above {SINK:g}")
            axes[1].set_xscale("log", base=2)
    axes[1].set(title="share of heads by length (row 0 excluded)", xlabel="tokens", ylim=(0, 1))
    if axes[1].has_data():
        axes[1].legend(fontsize=8)
    return figure


def head_picture(title: str, weights: LayerWeights, record: LayerPass, head: int, output_norms: np.ndarray) -> Figure:
    """One head on one text: attention (query first), output against sink mass, singular values of W_QK and W_VO."""
    attention, group = record.attention[head], weights.key_value(head)
    figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    image = axes[0].imshow(attention, cmap="viridis", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    axes[0].set(title="attention", xlabel="key (0 is the sink)", ylabel="query")
    figure.colorbar(image, ax=axes[0])
    axes[1].plot(1 - attention[1:, 0], output_norms[1:], ".", color="tab:blue")
    axes[1].set(title="output against mass not on the sink", xlabel="1 - a_s", ylabel="‖o‖", xlim=(-0.02, 1.02))
    for name, left, right in (
        ("W_QK", weights.w_q[head].T, weights.w_k[group].T),
        ("W_VO", weights.w_o[head], weights.w_v[group].T),
    ):
        core = np.linalg.qr(left, mode="r") @ np.linalg.qr(right, mode="r").T
        axes[2].semilogy(np.linalg.svd(core, compute_uv=False), ".-", label=name)
    axes[2].set(title="singular values", xlabel="index")
    axes[2].legend()
    figure.suptitle(title)
    return figure
