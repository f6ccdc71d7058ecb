"""Pictures of a sweep: log-log panels with draws, fit and theory, and the phase maps of C5 and C10."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from numerics.plots_oversmoothing import png
from numerics.scaling_fit import upper_half

__all__ = ["Curve", "label_log_axis", "log_ticks", "phase_figure", "png", "scaling_figure"]

COLOURS = {"sink": "#c8501e", "diagonal": "#1b4f9c"}


@dataclass(frozen=True)
class Curve:
    """What one pattern costs: (lower, upper) of every draw by T, the slope of the fit, the symbolic exponent if any."""

    brackets: Mapping[int, Sequence[tuple[float, float]]]
    slope: float
    exponent: float | None


def scaling_figure(panels: Sequence[tuple[str, Mapping[str, Curve]]], title: str) -> Figure:
    """One panel per norm, with its title.

    Bars reach from the least lower to the greatest upper bound over draws, which is their spread as soon as there are
    several; the fit is drawn over the sizes it was fitted to, through their mean, the theory line through the largest
    T.
    """
    figure = Figure(figsize=(4.3 * len(panels) + 0.6, 5.1), layout="constrained")
    figure.suptitle(title, fontsize=10)
    for axes, (name, curves) in zip(np.atleast_1d(figure.subplots(1, len(panels))), panels):
        axes.set(xscale="log", yscale="log", xlabel="T", ylabel="cost")
        for pattern, curve in curves.items():
            _draw(axes, pattern, curve)
        axes.set_title(name, loc="left", fontsize=8)
        sizes = sorted({size for curve in curves.values() for size in curve.brackets})
        shown: list[int] = []
        for size in sizes:  # labels closer than an eighth of the axis would run into each other
            if not shown or size >= (sizes[-1] / sizes[0]) ** 0.125 * shown[-1]:
                shown.append(size)
        axes.set_xticks(shown, [str(size) for size in shown])
        label_log_axis(axes)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#e6e6e6", linewidth=0.6)
        # below the axes, where it hides no point
        axes.legend(frameon=False, fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.13))
    return figure


def _draw(axes: Axes, pattern: str, curve: Curve) -> None:
    found = [curve.brackets[size] for size in sorted(curve.brackets)]
    sizes = np.array(sorted(curve.brackets), dtype=np.float64)
    middle = np.array([np.exp(np.mean([0.5 * np.log(low * high) for low, high in draws])) for draws in found])
    ends = np.array([(min(low for low, _ in draws), max(high for _, high in draws)) for draws in found])
    errors = np.maximum(np.stack([middle - ends[:, 0], ends[:, 1] - middle]), 0.0)
    width = max(high / low - 1.0 for draws in found for low, high in draws)
    spread = "range over draws, each " if max(map(len, found)) > 1 else ""
    axes.errorbar(sizes, middle, yerr=errors, fmt="o", markersize=4, capsize=3, color=COLOURS[pattern],
                  label=f"{pattern}: {spread}certified to {100.0 * width:.1g}%")
    fitted = upper_half(len(sizes))
    t = sizes[fitted]
    anchor = np.log(middle[fitted]).mean() - curve.slope * np.log(t).mean()
    axes.plot(t, np.exp(anchor + curve.slope * np.log(t)), color=COLOURS[pattern], linewidth=1,
              label=f"fit to these points, T ≥ {t[0]:.0f}: slope {curve.slope:z.3f}")
    if curve.exponent is not None:
        axes.plot(sizes, middle[-1] * (sizes / sizes[-1]) ** curve.exponent, color=COLOURS[pattern], linestyle=":",
                  linewidth=1.6, label=f"theory, slope {curve.exponent:g}")


def label_log_axis(axes: Axes) -> None:
    """Round ticks on a logarithmic y axis, which reaches over a factor of 2 at least: equal values look equal."""
    low, high = axes.get_ylim()
    if high < 2.0 * low:
        middle = math.sqrt(low * high)
        low, high = middle / math.sqrt(2.0), middle * math.sqrt(2.0)
        axes.set_ylim(low, high)
    ticks = log_ticks(low, high)
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def log_ticks(low: float, high: float) -> list[float]:
    """Round values in [low, high], 0 < low < high, for a log axis: powers of ten, or more where two are not there."""
    for factors in ((1,), (1, 2, 5), tuple(range(1, 10))):
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        ticks = [factor * 10.0**power for power in powers for factor in factors if low <= factor * 10.0**power <= high]
        if len(ticks) >= 2:
            return ticks
    return [float(tick) for tick in MaxNLocator(4).tick_values(low, high) if low <= tick <= high]


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
