"""`sinkproof phase`: where the sink is cheaper than the diagonal, over two chosen axes, with certified points."""

from __future__ import annotations

import json
import math
from pathlib import Path

import click

from proofs_check.certificates import write_whole
from proofs_check.display import Steps, show_table

SCHEMA = "sinkproof/phase/1"
AXES = ("T", "p", "rho", "beta", "sigma", "eps")
RANGES = {"T": (3.0, 48.0), "p": (1.0, 4.0), "rho": (0.0, 0.9), "beta": (-0.9, 0.9), "sigma": (0.1, 3.0), "eps": (0.001, 0.5)}
GRID = 181
NOTE = ("Colour and boundary are C5's closed form; every marked point is decided by certified bounds from the solvers on explicit "
        "exchangeable tokens. White: no such tokens or no sink.")


@click.command(epilog="Example: sinkproof phase --x T --y p --rho 0        Mass form: sinkproof phase --x rho --y eps -T 8 -p 2")
@click.option("--x", "x_axis", type=click.Choice(AXES), default="T", show_default=True, help="Horizontal axis.")
@click.option("--y", "y_axis", type=click.Choice(AXES), default="rho", show_default=True, help="Vertical axis.")
@click.option("--x-range", metavar="A,B", help="Ends of the horizontal axis.")
@click.option("--y-range", metavar="A,B", help="Ends of the vertical axis.")
@click.option("-T", "--num-tokens", "tokens", type=click.IntRange(3, 256), default=16, show_default=True)
@click.option("-p", "--exponent", type=float, default=2.0, show_default=True, help="Schatten exponent (1 nuclear, 2 Frobenius).")
@click.option("--rho", type=float, default=0.0, show_default=True, help="⟨x_i, x_j⟩ of unit tokens, in [0, 0.99].")
@click.option("--beta", type=float, default=0.0, show_default=True, help="⟨x_s, x_i⟩.")
@click.option("--sigma", type=float, default=1.0, show_default=True, help="‖x_s‖.")
@click.option("--eps", type=float, help="Mass form with mass 1 - eps, eps in (0, 1/2].  [default: margin form]")
@click.option("--points", "count", type=click.IntRange(2, 2000), default=50, show_default=True, help="Random points to certify.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("sinkproof-out"), show_default=True,
              help="Where phase-X-Y.png, .csv, .parquet and .json go.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def phase(x_axis: str, y_axis: str, x_range: str | None, y_range: str | None, tokens: int, exponent: float, rho: float,
          beta: float, sigma: float, eps: float | None, count: int, seed: int, out: Path, as_json: bool) -> int:
    """Draw the exact boundary of C5 and check it on both sides with certified costs.

    Exit 1 when a point contradicts the closed form or its bounds overlap.
    """
    import numpy as np

    from numerics.scaling_phase import boundary, certify, log_advantage, sample_sides
    from numerics.scaling_plots import phase_figure, png
    from proofs_check.inputs import BadInput
    from proofs_check.tables import write_table

    if x_axis == y_axis:
        raise click.UsageError(f"expected two different axes, got {x_axis} twice; choose --x and --y from {', '.join(AXES)}")
    fixed = {"T": float(tokens), "p": exponent, "rho": rho, "beta": beta, "sigma": sigma, "eps": eps}
    for name, value in fixed.items():
        if value is not None and name not in (x_axis, y_axis):
            require_inside(name, value)
    axes = {x_axis: read_range(x_axis, x_range), y_axis: read_range(y_axis, y_range)}
    columns, rows = (np.linspace(*axes[name], GRID) for name in (x_axis, y_axis))
    advantage = log_advantage({**fixed, x_axis: columns[None, :], y_axis: rows[:, None]})
    advantage = np.broadcast_to(advantage, (GRID, GRID))
    if not np.isfinite(advantage).any():
        raise BadInput("expected tokens that exist somewhere on the map, got none; raise sigma or lower |beta| "
                       "(sigma² rho_T >= beta² is needed)")
    curve = boundary((x_axis, columns), (y_axis, rows), fixed)
    settings = sample_sides(axes, fixed, count, seed)
    found = []
    with Steps(len(settings), as_json) as steps:
        for setting in settings:
            found.append(certify(setting))
            steps.step(f"{x_axis} = {setting[x_axis]:.4g}, {y_axis} = {setting[y_axis]:.4g}: {found[-1].verdict}")
    records = [{**point.setting, "sink_lower": point.sink[0], "sink_upper": point.sink[1], "diagonal_lower": point.diagonal[0],
                "diagonal_upper": point.diagonal[1], "closed_form": point.closed_form, "verdict": point.verdict,
                "agrees": point.agrees} for point in found]
    form = "margin form" if eps is None and "eps" not in axes else "mass form"
    rest = ", ".join(f"{name} = {value:g}" for name, value in fixed.items() if name not in axes and value is not None)
    title = f"{form}, {rest}"
    document = {"schema": SCHEMA, "axes": {name: list(ends) for name, ends in axes.items()},
                "fixed": {name: value for name, value in fixed.items() if name not in axes}, "form": form, "seed": seed,
                "boundary": [list(point) for point in curve], "points": records, "note": NOTE,
                "agree": sum(point.agrees for point in found)}
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    figure = phase_figure(columns, rows, advantage, [(point.setting[x_axis], point.setting[y_axis], point.verdict) for point in found],
                          (x_axis, y_axis), title)
    out.mkdir(parents=True, exist_ok=True)
    stem = f"phase-{x_axis}-{y_axis}"
    write_whole(out / f"{stem}.png", png(figure))
    write_table(out / stem, list(records[0]), records)
    write_whole(out / f"{stem}.json", text.encode())
    if as_json:
        print(text)
    else:
        show_table(title, (x_axis, y_axis, "sink", "diagonal", "log(diagonal/sink)", "certified", "agrees"),
                   [(f"{point.setting[x_axis]:.5g}", f"{point.setting[y_axis]:.5g}", f"{point.sink[0]:.6g} .. {point.sink[1]:.6g}",
                     f"{point.diagonal[0]:.6g} .. {point.diagonal[1]:.6g}", f"{point.closed_form:+.2e}", point.verdict,
                     "yes" if point.agrees else "NO") for point in found])
        cheaper = {side: sum(point.verdict == side for point in found) for side in ("sink", "diagonal", "open")}
        print(f"{document['agree']} of {len(found)} points agree with the closed form: sink cheaper at {cheaper['sink']}, diagonal at "
              f"{cheaper['diagonal']}, open {cheaper['open']}; nearest to the boundary {min(abs(p.closed_form) for p in found):.1e}.")
        print(f"Note: {NOTE}")
        print(f"Picture, table and JSON: {out / stem}.png, .csv, .parquet, .json")
    return 0 if all(point.agrees for point in found) else 1


def require_inside(name: str, value: float) -> None:
    """One sentence for a value outside what the map is made for."""
    from numerics.scaling_phase import AXES as LIMITS
    from proofs_check.inputs import BadInput

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
