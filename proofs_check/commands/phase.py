"""`sinkproof phase`: where the sink is cheaper than the diagonal, over two chosen axes, with certified points."""

from __future__ import annotations

import json
import math
from pathlib import Path

import click

from proofs_check.certificates import write_whole
from proofs_check.display import Steps, show_table

SCHEMA = "sinkproof/phase/2"
AXES = ("T", "p", "rho", "beta", "sigma", "eps", "fraction")
RANGES = {"T": (3.0, 48.0), "p": (1.0, 4.0), "rho": (0.0, 0.9), "beta": (-0.9, 0.9), "sigma": (0.1, 3.0),
          "eps": (0.001, 0.5),
          "fraction": (0.02, 0.98)}
GRID, COPY_GRID = 181, 41  # columns and rows; a copy-paste cost is a small convex program, not a formula
NOTE = ("Colour and boundary are {source}; every marked point is decided by certified bounds from the solvers on "
        "explicit exchangeable tokens. White: no such tokens or no sink.")
SOURCES = {"diagonal": "C5's closed form",
           "self": "C10's closed form where every constraint is tight, and its five-variable program with a duality "
                   "gap below 1e-6 elsewhere (real numbers of copiers between the computed points, at least 1 and at "
                   "most T-1)"}


@click.command(epilog="Example: sinkproof phase --x T --y p --rho 0        Copy-paste: sinkproof phase --x fraction "
                      "--y rho -p 1")
@click.option("--x", "x_axis", type=click.Choice(AXES), default="T", show_default=True, help="Horizontal axis.")
@click.option("--y", "y_axis", type=click.Choice(AXES), default="rho", show_default=True, help="Vertical axis.")
@click.option("--x-range", metavar="A,B", help="Ends of the horizontal axis.")
@click.option("--y-range", metavar="A,B", help="Ends of the vertical axis.")
@click.option("-T", "--num-tokens", "tokens", type=click.IntRange(3, 256), default=16, show_default=True)
@click.option("-p", "--exponent", type=float, default=2.0, show_default=True,
              help="Schatten exponent (1 nuclear, 2 Frobenius).")
@click.option("--rho", type=float, default=0.0, show_default=True, help="⟨x_i, x_j⟩ of unit tokens, in [0, 0.99].")
@click.option("--beta", type=float, default=0.0, show_default=True, help="⟨x_s, x_i⟩.")
@click.option("--sigma", type=float, default=1.0, show_default=True, help="‖x_s‖.")
@click.option("--eps", type=float, help="Mass form with mass 1 - eps, eps in (0, 1/2].  [default: margin form]")
@click.option("--fraction", type=float,
              help="Copy-paste: this fraction of the queries copies, the others are off at the sink or at "
              "themselves (C10).")
@click.option("--weight", type=float, metavar="A",
              help="Compare A·‖W_QK‖ + ‖W_VO‖, orthonormal targets, instead of ‖W_QK‖.")
@click.option("--points", "count", type=click.IntRange(2, 2000), default=50, show_default=True,
              help="Random points to certify.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("sinkproof-out"),
              show_default=True,
              help="Where phase-X-Y.png, .csv, .parquet and .json go.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def phase(x_axis: str, y_axis: str, x_range: str | None, y_range: str | None, tokens: int, exponent: float, rho: float,
          beta: float, sigma: float, eps: float | None, fraction: float | None, weight: float | None, count: int,
          seed: int,
          out: Path, as_json: bool) -> int:
    """Draw the exact boundary of C5, or of C10 with a fraction, and check it on both sides with certified costs.

    \b
    Exit 1 when a point contradicts the closed form or its bounds overlap.
    """
    import numpy as np

    from numerics.scaling_phase import boundary, certify, log_advantage, sample_sides
    from numerics.scaling_plots import phase_figure, png
    from proofs_check.inputs import BadInput
    from proofs_check.tables import write_table

    if x_axis == y_axis:
        raise click.UsageError(f"expected two different axes, got {x_axis} twice; choose --x and --y from "
                               f"{', '.join(AXES)}")
    fixed = {"T": float(tokens), "p": exponent, "rho": rho, "beta": beta, "sigma": sigma, "eps": eps,
             "fraction": fraction,
             "weight": weight}
    for name, value in fixed.items():
        if value is not None and name not in (x_axis, y_axis):
            require_inside(name, value)
    other = "self" if fraction is not None or "fraction" in (x_axis, y_axis) else "diagonal"
    if other == "self" and (eps is not None or "eps" in (x_axis, y_axis)):
        raise BadInput("expected the margin form beside a fraction, got an eps; C10 has no exact cost in mass form, "
                       "leave eps out")
    if other == "self" and exponent == math.inf and "p" not in (x_axis, y_axis):
        raise BadInput("expected a finite exponent beside a fraction, got inf; choose p up to 64")
    axes = {x_axis: read_range(x_axis, x_range), y_axis: read_range(y_axis, y_range)}
    size, note = COPY_GRID if other == "self" else GRID, NOTE.format(source=SOURCES[other])
    columns, rows = (np.linspace(*axes[name], size) for name in (x_axis, y_axis))
    advantage = log_advantage({**fixed, x_axis: columns[None, :], y_axis: rows[:, None]})
    advantage = np.broadcast_to(advantage, (size, size))
    if not np.isfinite(advantage).any():
        raise BadInput("expected tokens that exist somewhere on the map, got none; raise sigma or lower |beta| "
                       "(sigma² rho_T >= beta² is needed"
                       + (", and a fraction between 1/T and 1 - 1/T)" if other == "self" else ")"))
    settings = sample_sides(axes, fixed, count, seed)
    if not settings:
        raise BadInput("expected settings at which the costs differ, got none among the random ones; widen the ranges "
                       "or change what is fixed")
    curve = boundary((x_axis, columns), (y_axis, rows), fixed)
    found = []
    with Steps(len(settings), as_json) as steps:
        for setting in settings:
            found.append(certify(setting))
            steps.step(f"{x_axis} = {setting[x_axis]:.4g}, {y_axis} = {setting[y_axis]:.4g}: {found[-1].verdict}")
    records = [{**point.setting, "sink_lower": point.sink[0], "sink_upper": point.sink[1],
                f"{other}_lower": point.diagonal[0],
                f"{other}_upper": point.diagonal[1], "closed_form": point.closed_form,
                "verdict": other if point.verdict == "diagonal" else point.verdict,
                "agrees": point.agrees} for point in found]
    form = "margin form" if eps is None and "eps" not in axes else "mass form"
    rest = ", ".join(f"{name} = {value:g}" for name, value in fixed.items() if name not in axes and value is not None)
    title = f"{form}, {rest}"
    document = {"schema": SCHEMA, "axes": {name: list(ends) for name, ends in axes.items()},
                "fixed": {name: value for name, value in fixed.items() if name not in axes}, "form": form,
                "against": other, "seed": seed,
                "boundary": [list(point) for point in curve], "points": records, "note": note,
                "agree": sum(point.agrees for point in found)}
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    figure = phase_figure(columns, rows, advantage, [(row[x_axis], row[y_axis], row["verdict"]) for row in records],
                          curve,
                          (x_axis, y_axis), title, other)
    out.mkdir(parents=True, exist_ok=True)
    stem = f"phase-{x_axis}-{y_axis}"
    write_whole(out / f"{stem}.png", png(figure))
    write_table(out / stem, list(records[0]), records)
    write_whole(out / f"{stem}.json", text.encode())
    if as_json:
        print(text)
    else:
        show_table(title, (x_axis, y_axis, "sink", other, f"log({other}/sink)", "certified", "agrees"),
                   [(f"{point.setting[x_axis]:.5g}", f"{point.setting[y_axis]:.5g}",
                     f"{point.sink[0]:.6g} .. {point.sink[1]:.6g}",
                     f"{point.diagonal[0]:.6g} .. {point.diagonal[1]:.6g}", f"{point.closed_form:+.2e}", row["verdict"],
                     "yes" if point.agrees else "NO") for point, row in zip(found, records)])
        cheaper = {side: sum(row["verdict"] == side for row in records) for side in ("sink", other, "open")}
        print(f"{document['agree']} of {len(found)} points agree with the closed form: sink cheaper at "
              f"{cheaper['sink']}, {other} at {cheaper[other]}, open {cheaper['open']}; nearest to the boundary "
              f"{min(abs(p.closed_form) for p in found):.1e}.")
        print(f"Note: {note}")
        print(f"Picture, table and JSON: {out / stem}.png, .csv, .parquet, .json")
    return 0 if all(point.agrees for point in found) else 1


def require_inside(name: str, value: float) -> None:
    """One sentence for a value outside what the map is made for."""
    from numerics.scaling_phase import AXES as LIMITS
    from proofs_check.inputs import BadInput

    if name == "weight":
        if not (0 < value < math.inf):
            raise BadInput(f"expected a finite weight above 0, got {value:g}; 1 weighs both sides alike")
        return
    low, high = LIMITS[name]
    if name == "p" and value == math.inf:
        return
    if not low <= value <= high:
        raise BadInput(f"expected {name} between {low:g} and {high:g}, got {value:g}; choose a value inside")


def read_range(name: str, text: str | None) -> tuple[float, float]:
    """The two ends of an axis, increasing and inside its limits."""
    from proofs_check.inputs import BadInput

    if text is None:
        return RANGES[name]
    try:
        low, high = (float(item) for item in text.split(","))
    except ValueError:
        raise BadInput(f"expected two numbers for the range of {name}, got '{text}'; for example {RANGES[name][0]:g},"
                       f"{RANGES[name][1]:g}") from None
    if not (low < high and math.isfinite(low) and math.isfinite(high)):
        raise BadInput(f"expected an increasing finite range of {name}, got '{text}'; put the smaller end first")
    require_inside(name, low)
    require_inside(name, high)
    return low, high
