"""Figures of family O: theory's curve and the simulation's band, regions of O4, depth, real embeddings.

Every function returns a matplotlib `Figure` and draws what it is given; nothing is computed here but `notes_figures`,
which regenerates the notes' pictures: ``python -m numerics.plots_oversmoothing DIRECTORY``.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from scipy import stats

from numerics.attention import causal_uniform_attention, diagonal_attention, sink_attention, uniform_attention
from numerics.embeddings import load_paragraph
from numerics.moments import depth_curve, drift_statistics
from numerics.oversmoothing_embeddings import MixComparison, compare_mix, empirical_model
from numerics.simulate import DepthSimulation, IsotropicValue, simulate_depth

__all__ = [
    "depth_figure",
    "depth_patterns",
    "embeddings_figure",
    "histogram_edges",
    "histogram_figure",
    "mix_figure",
    "notes_figures",
    "patterns_figure",
    "png",
    "regions_figure",
    "smollm2_head_statistics",
    "smollm2_mixes",
]

THEORY, SIMULATION, MUTED = "#1b4f9c", "#c8501e", "#7a7a7a"
PATTERNS = {"uniform": "#c8501e", "diagonal": "#1b4f9c", "null sink": "#2e8b57"}
SIZE, DPI = (6.4, 4.0), 110


def png(figure: Figure) -> bytes:
    """The figure as PNG bytes, without a date, so that equal figures are equal files."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=DPI, metadata={"Software": None})
    return stream.getvalue()


def _axes(title: str, x: str, y: str):
    figure = Figure(figsize=SIZE, layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#e6e6e6", linewidth=0.6)
    return figure, axes


def mix_figure(
    t: Float[np.ndarray, " point"], curve_t: Float[np.ndarray, " curve"], curve: Float[np.ndarray, " curve"],
    mean: Float[np.ndarray, " point"], half_width: Float[np.ndarray, " point"], peak: float | None, before: float,
    title: str, confidence: float,
) -> Figure:
    """The cosine along A_t = (1-t)I + t 11^T/T: moment cosine as a curve, simulated means with intervals, t* marked."""
    figure, axes = _axes(title, "t  (0: diagonal, 1: uniform)", "mean pair cosine")
    axes.axhline(before, color=MUTED, linestyle=":", linewidth=1, label="input's moment cosine")
    axes.plot(curve_t, curve, color=THEORY, label="moment cosine (O1)")
    axes.errorbar(t, mean, yerr=half_width, fmt="o", markersize=3.5, capsize=3, color=SIMULATION,
                  label=f"simulated mean, {confidence:.1%} interval")
    if peak is not None:
        axes.axvline(peak, color=THEORY, linestyle="--", linewidth=1)
        axes.annotate(f"t* = {peak:.3g}", (peak, 0.03), xycoords=("data", "axes fraction"),
                      xytext=(-4 if peak > 0.5 else 4, 0), textcoords="offset points",
                      ha="right" if peak > 0.5 else "left", color=THEORY, fontsize=9)
    axes.legend(frameon=False, fontsize=8)
    return figure


def depth_figure(
    theory: Float[np.ndarray, " depth"], mean: Float[np.ndarray, " depth"], lower: Float[np.ndarray, " depth"],
    upper: Float[np.ndarray, " depth"], title: str,
) -> Figure:
    """Mean pair cosine over layers: the recursion for d -> infinity, the simulated mean, and 5-95% of the draws."""
    figure, axes = _axes(title, "layer", "mean pair cosine")
    layers = np.arange(len(theory))
    axes.fill_between(layers, lower, upper, color=SIMULATION, alpha=0.2, linewidth=0, label="5-95% of draws")
    axes.plot(layers, mean, "o", markersize=3.5, color=SIMULATION, label="simulated mean")
    axes.plot(layers, theory, color=THEORY, label="recursion, d → ∞ (O8)")
    axes.legend(frameon=False, fontsize=8)
    return figure


def histogram_figure(
    cosines: Float[np.ndarray, " draw"], cosine: float, deviation: float, title: str
) -> Figure:
    """Simulated cosines of one pair against the normal law with O1's mean and the delta-method deviation (O2)."""
    figure, axes = _axes(title, "cosine of the pair", "density")
    axes.hist(cosines, bins=histogram_edges(cosines), density=True, color=SIMULATION, alpha=0.45, label="draws")
    if deviation > 0:
        grid = np.linspace(min(cosines.min(), cosine - 4 * deviation), max(cosines.max(), cosine + 4 * deviation), 400)
        axes.plot(grid, stats.norm.pdf(grid, cosine, deviation), color=THEORY, label="predicted, to first order")
    axes.axvline(cosine, color=THEORY, linestyle="--", linewidth=1, label="moment cosine")
    axes.legend(frameon=False, fontsize=8)
    return figure


def histogram_edges(cosines: Float[np.ndarray, " draw"]) -> Float[np.ndarray, " edge"]:
    """Bin edges by numpy's rule; at most 80 bins."""
    edges = np.histogram_bin_edges(cosines, "auto")
    return edges if len(edges) <= 81 else np.linspace(edges[0], edges[-1], 81)


def regions_figure(
    heads: Mapping[str, tuple[Float[np.ndarray, " head"], Float[np.ndarray, " head"]]], title: str
) -> Figure:
    """The (tau, phi) plane at t0 = 1 with O4's regions, and one numbered point per head; phi on a log scale."""
    figure, axes = _axes(title, "τ = tr R(V + Vᵀ)/2", "φ = tr R VᵀV")
    tau, phi = (np.concatenate([pair[k] for pair in heads.values()]) for k in (0, 1))
    high = 1.2 * max(1.0, np.abs(tau).max())
    bottom, top = 0.5 * min(phi.min(), 0.1), 3 * phi.max()
    grid = np.linspace(-high, high, 800)
    least = np.maximum(grid**2, bottom)  # tau^2 <= t0 phi
    slope = np.where(grid < 0, -grid, np.nan)
    regions = (
        (np.where(grid >= 0, least, np.nan), top, "#f3c9b5", "rises along the mix: τ ≥ 0"),
        (np.maximum(least, 2 * slope), top, "#f8e6c8", "peaks at t*, uniform above diagonal: −φ < 2τ < 0"),
        (np.maximum(least, slope), 2 * slope, "#d9e8d2", "peaks at t*, uniform below diagonal: −φ < τ < −φ/2"),
        (np.where(grid < 0, least, np.nan), slope, "#c3d5ee", "falls along the mix: τ ≤ −φ"),
        (np.full_like(grid, bottom), least, "#ececec", "no V: φ < τ²"),
    )
    for lower, upper, colour, label in regions:
        upper = np.broadcast_to(upper, grid.shape)
        axes.fill_between(grid, lower, upper,
                          where=np.nan_to_num(lower, nan=np.inf) < np.nan_to_num(upper, nan=-np.inf),
                          color=colour, linewidth=0, label=label)
    for (name, points), marker, fill in zip(heads.items(), "oD", ("black", "white")):
        axes.plot(*points, marker, color="black", markersize=4, label=name, markerfacecolor=fill)
        for head, point in enumerate(zip(*points) if marker == "o" else ()):  # the others lie too close to be numbered
            axes.annotate(str(head), point, xytext=(4, 3), textcoords="offset points", fontsize=8)
    axes.set_yscale("log")
    axes.set_xlim(-high, high)
    axes.set_ylim(bottom, top)
    figure.legend(frameon=False, fontsize=7, loc="outside lower center", ncols=2)
    return figure


def patterns_figure(curves: Mapping[str, tuple[Float[np.ndarray, " depth"], DepthSimulation]], title: str) -> Figure:
    """Depth curves of several patterns: recursion (line), simulated mean (points) and 5-95% of draws (band)."""
    figure, axes = _axes(title, "layer", "mean pair cosine")
    for place, (name, (theory, run)) in enumerate(curves.items()):
        colour, layers = PATTERNS[name], np.arange(len(theory))
        axes.fill_between(layers, run.lower, run.upper, color=colour, alpha=0.15, linewidth=0)
        axes.plot(layers, theory, color=colour, linewidth=1.2, linestyle="--" if place == 2 else "-",
                  label=f"{name}: recursion")
        every = layers[place % 2 :: 2] if place else layers
        axes.plot(every, run.mean_cosine.mean[every], "os^"[place], markersize=3.5, color=colour,
                  label=f"{name}: simulated")
    axes.set_ylim(0, 1)
    axes.legend(frameon=False, fontsize=8)
    return figure


def embeddings_figure(comparisons: Mapping[str, MixComparison], title: str) -> Figure:
    """Measured and predicted mean cosine of real embeddings along mixes of their own attention toward a pattern."""
    figure, axes = _axes(title, "t  (0: the layer's own attention, 1: the target)",
                         "mean pair cosine of content tokens")
    for (name, run), colour in zip(comparisons.items(), (SIMULATION, THEORY, "#2e8b57")):
        axes.plot(run.t, run.measured, "o", markersize=3.5, color=colour, label=f"{name}: measured")
        axes.plot(run.t, run.predicted, color=colour, label=f"{name}: predicted (O1m)")
    first = next(iter(comparisons.values()))
    axes.axhline(first.input_cosine, color=MUTED, linestyle=":", linewidth=1, label="before the layer")
    axes.set_ylim(min(run.measured.min() for run in comparisons.values()) - 0.1, 1.0)
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    return figure


def smollm2_head_statistics() -> dict[str, tuple[Float[np.ndarray, " head"], Float[np.ndarray, " head"]]]:
    """(tau, phi) of layer 15's heads on the packaged paragraph's content tokens (C = I, t0 = 1), in two conventions.

    The model adds V x to the same x that attention reads; a pre-norm layer adds it to the residual stream r, whose
    normalised form x = Gamma r/rms(r) attention reads.  The second convention takes r for the token and V Gamma/rms(r),
    at the root mean square of rms(r), for the value matrix.
    """
    paragraph = load_paragraph()
    residual = paragraph.residual[1:].astype(np.float64)
    gain = paragraph.norm_gain / np.sqrt(np.mean(residual**2))
    tokens = {"head, added to x as in the model": (paragraph.inputs[15][1:], np.ones(len(gain))),
              "head, added to the residual stream": (residual, gain)}
    found = {}
    for name, (x, scale) in tokens.items():
        model = empirical_model(x)
        heads = [drift_statistics(head.w_vo * scale, model.covariance, model.direction) for head in paragraph.heads]
        found[name] = (np.array([s.tau for s in heads]), np.array([s.phi for s in heads]))
    return found


def depth_patterns(
    num_tokens: int = 64, dim: int = 512, rho: float = 0.1, phi: float = 0.25, layers: int = 24, draws: int = 64,
    seed: int = 0,
) -> dict[str, tuple[Float[np.ndarray, " depth"], DepthSimulation]]:
    """Recursion and simulation of uniform, diagonal and null-sink attention with a fresh V of tau = 0 in every
    layer."""
    value = IsotropicValue(0.0, phi)
    uniform = depth_curve(rho, phi, layers, num_tokens)
    kept = np.full(layers + 1, rho)
    settings = {"uniform": (uniform, uniform_attention(num_tokens), None),
                "diagonal": (kept, diagonal_attention(num_tokens), None),
                "null sink": (kept, sink_attention(num_tokens), 0)}
    return {name: (theory, simulate_depth(np.asarray(attention), value, layers, rho=rho, dim=dim, null_token=null,
                                          draws=draws, seed=seed))
            for name, (theory, attention, null) in settings.items()}


def smollm2_mixes(points: int = 11) -> dict[str, MixComparison]:
    """Layer 15's nine heads on the packaged paragraph, mixed toward uniform and toward causal uniform attention."""
    paragraph = load_paragraph()
    attention = paragraph.attention[15].astype(np.float64)
    attention /= attention.sum(axis=-1, keepdims=True)  # float16 rows sum to one up to 1e-3
    tokens, values = paragraph.inputs[15], np.stack([head.w_vo for head in paragraph.heads])
    t = np.linspace(0, 1, points)
    targets = {"toward uniform": uniform_attention(len(tokens)),
               "toward causal uniform": causal_uniform_attention(len(tokens))}
    return {name: compare_mix(tokens, attention, values, t, np.asarray(target), sink=0)
            for name, target in targets.items()}


def notes_figures() -> Iterator[tuple[str, Figure]]:
    """The pictures of the notes by file name."""
    yield "O4-regions.png", regions_figure(smollm2_head_statistics(),
                                           "O4's regions, and the nine heads of SmolLM2's layer 15")
    yield "O8-depth.png", patterns_figure(
        depth_patterns(), "Fresh V with τ = 0, φ = 1/4 per layer; T = 64, d = 512, ρ = 0.1, 64 draws")
    yield "O1-embeddings.png", embeddings_figure(
        smollm2_mixes(), "SmolLM2 layer 15, all heads mixed: O1m's prediction and the measured cosines")


def main(arguments: list[str]) -> int:
    """Write the notes' pictures into a directory (default notes/pictures)."""
    directory = Path(arguments[0] if arguments else "notes/pictures")
    directory.mkdir(parents=True, exist_ok=True)
    for name, figure in notes_figures():
        (directory / name).write_bytes(png(figure))
        print(directory / name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
