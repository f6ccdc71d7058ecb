"""Pictures of a sweep: log-log panels with certified bounds, fit and theory, and the phase maps of C5 and C10."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from numerics.plots_oversmoothing import png

__all__ = ["phase_figure", "png", "scaling_figure"]

COLOURS = {"sink": "#c8501e", "diagonal": "#1b4f9c"}
Curve = tuple[Mapping[int, Sequence[tuple[float, float]]], float, float | None]


def scaling_figure(panels: Sequence[tuple[str, Mapping[str, Curve]]], title: str) -> Figure:
    """One panel per norm.  A curve is (brackets by T, fitted slope, symbolic exponent or None).

    Bars reach from the least lower to the greatest upper bound over draws; the fit goes through the upper half's mean,
    the theory line through the largest T.
    """
    figure = Figure(figsize=(4.1 * len(panels) + 0.6, 3.9), layout="constrained")
    figure.suptitle(title, fontsize=10)
    for axes, (norm, curves) in zip(np.atleast_1d(figure.subplots(1, len(panels))), panels):
        for pattern, (costs, slope, exponent) in curves.items():
            sizes = np.array(sorted(costs), dtype=np.float64)
            low, high, middle = (np.array([pick(costs[int(size)]) for size in sizes]) for pick in (
                lambda found: min(a for a, _ in found), lambda found: max(b for _, b in found),
                lambda found: np.exp(np.mean([0.5 * np.log(a * b) for a, b in found]))))
            colour = COLOURS[pattern]
            errors = np.maximum(np.stack([middle - low, high - middle]), 0.0)
            axes.errorbar(sizes, middle, yerr=errors, fmt="o", markersize=4, capsize=3,
                          color=colour, label=f"{pattern}: certified bounds")
            half = len(sizes) // 2
            anchor = np.log(middle[half:]).mean() - slope * np.log(sizes[half:]).mean()
            axes.plot(sizes, np.exp(anchor + slope * np.log(sizes)), color=colour, linewidth=1,
                      label=f"measured, slope of the total {slope:z.3f}")
            if exponent is not None:
                axes.plot(sizes, middle[-1] * (sizes / sizes[-1]) ** exponent, color=colour, linestyle=":",
                          linewidth=1.6, label=f"theory, slope {exponent:g}")
        axes.set(xscale="log", yscale="log", xlabel="T", ylabel="cost")
        axes.set_title(norm, loc="left", fontsize=9)
        shown: list[float] = []
        for size in sizes:  # labels closer than this would run into each other
            if not shown or size >= 1.45 * shown[-1]:
                shown.append(size)
        axes.set_xticks(shown, [f"{size:.0f}" for size in shown])
        axes.minorticks_off()
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#e6e6e6", linewidth=0.6)
        axes.legend(frameon=False, fontsize=7)
    return figure


def phase_figure(
    x: Float[np.ndarray, " column"], y: Float[np.ndarray, " row"], advantage: Float[np.ndarray, "row column"],
    points: Sequence[tuple[float, float, str]], curve: Sequence[tuple[float, float]], names: tuple[str, str],
    title: str, other: str,
) -> Figure:
    """log(other/sink) as colour, its zero as the boundary, computed points by their verdict.

    ``other`` is "diagonal" or "self".  NaN in ``advantage`` marks values at which no tokens exist.  ``points`` are
    (x, y, "sink" | other | "open"); ``curve`` are points of the boundary itself, dots on the line drawn through the
    grid.
    """
    figure = Figure(figsize=(6.6, 4.6), layout="constrained")
    axes = figure.subplots()
    finite = advantage[np.isfinite(advantage)]
    limit = max(float(np.quantile(np.abs(finite), 0.95)), 1e-3) if finite.size else 1.0
    mesh = axes.pcolormesh(x, y, np.ma.masked_invalid(advantage), cmap="RdBu_r", vmin=-limit, vmax=limit,
                           shading="nearest", alpha=0.55, rasterized=True)
    figure.colorbar(mesh, ax=axes, label=f"log({other} cost / sink cost): red, sink cheaper")
    if finite.size and finite.min() < 0.0 < finite.max():
        axes.contour(x, y, np.ma.masked_invalid(advantage), levels=[0.0], colors="black", linewidths=1.6)
    if curve:
        axes.plot(*zip(*curve), ".", color="black", markersize=2.5, zorder=2)
    marks = (("sink", "^", COLOURS["sink"], "certified: sink cheaper"),
             (other, "s", COLOURS["diagonal"], f"certified: {other} cheaper"), ("open", "x", "black", "bounds overlap"))
    for verdict, marker, colour, label in marks:
        chosen = [(a, b) for a, b, found in points if found == verdict]
        if chosen:
            edge = {} if marker == "x" else {"edgecolors": "white", "linewidths": 0.7}
            axes.scatter(*zip(*chosen), marker=marker, s=30, color=colour, label=label, zorder=3, **edge)
    axes.set(xlabel=names[0], ylabel=names[1])
    axes.set_title(title, loc="left", fontsize=10)
    if points:
        axes.legend(frameon=True, fontsize=8, loc="best")
    return figure
