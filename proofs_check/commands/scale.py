"""`sinkproof scale`: how costs grow with T, measured between certified bounds and compared with the derived exponents."""

from __future__ import annotations

import json
import math
from pathlib import Path

import click

from proofs_check.certificates import write_whole
from proofs_check.display import Steps, show_table

CLOUDS = ("orthonormal", "correlated", "touching", "independent")
NORMS = ("nuclear", "frobenius", "spectral")
QUICK_SIZES, FULL_SIZES = "8,16,32,48,64,96,128,192", "16,32,64,128,192,256,384,512"
QUICK_INDEPENDENT = 96  # the largest T of random tokens in a quick run: they take most of the time
POINT_COLUMNS = ("T", "pattern", "norm", "lower", "upper", "cloud", "side", "form", "level", "draw", "gap", "seconds")
EXPONENT_COLUMNS = ("cloud", "r", "kappa", "omega", "p", "p_value", "form", "combination", "pattern", "symbolic",
                    "symbolic_replayed", "measured", "interval", "corrected_interval", "slope", "verdict", "local")


@click.command(epilog="Example: sinkproof scale --quick        Overnight: sinkproof scale --jobs 2 --out scale-full")
@click.option("--quick", is_flag=True, help="T up to 192 (independent tokens: 96) and two draws: under three minutes.")
@click.option("--cloud", "clouds", type=click.Choice(CLOUDS), multiple=True,
              help="Tokens (repeatable).  [default: orthonormal, correlated, independent]")
@click.option("--sizes", metavar="T,T,...", help=f"At least four.  [default: {FULL_SIZES}; quick: {QUICK_SIZES}]")
@click.option("--norm", "norms", type=click.Choice(NORMS), multiple=True, help="Schatten norms (repeatable).  [default: all three]")
@click.option("--form", "forms", type=click.Choice(["margin", "mass"]), multiple=True, help="Repeatable.  [default: both]")
@click.option("--margin", type=float, default=1.0, show_default=True)
@click.option("--mass", type=float, default=0.9, show_default=True, help="In [1/2, 1).")
@click.option("--omega", "omegas", type=click.Choice(["1", "sqrt", "inverse-sqrt"]), multiple=True, default=("1",),
              show_default=True, help="Norm of the targets: 1, √d or 1/√d (repeatable).")
@click.option("--rho", type=float, default=0.3, show_default=True, help="For correlated and touching.")
@click.option("--beta", type=float, default=0.0, show_default=True, help="⟨x_s, x_i⟩, for correlated.")
@click.option("--sigma", type=float, default=1.0, show_default=True, help="‖x_s‖, for correlated.")
@click.option("--draws", type=click.IntRange(1), help="Draws of independent tokens.  [default: 4; quick: 2]")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True)
@click.option("--tolerance", type=float, default=1e-3, show_default=True, help="Relative gap at which a point is done.")
@click.option("--time-limit", type=float, default=3600.0, show_default=True, metavar="SECONDS", help="For one point.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("sinkproof-out"), show_default=True,
              help="Where scale-*.csv, .parquet, .png, scale.json and the points go; the same folder resumes.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def scale(quick: bool, clouds: tuple[str, ...], sizes: str | None, norms: tuple[str, ...], forms: tuple[str, ...],
          margin: float, mass: float, omegas: tuple[str, ...], rho: float, beta: float, sigma: float, draws: int | None,
          seed: int, tolerance: float, time_limit: float, jobs: int, out: Path, as_json: bool) -> int:
    """Sweep T, fit exponents, and set them beside the ones derived for every cost model (C8).

    \b
    Every finished point is a file, so an interrupted sweep goes on where it stopped.
    Exit 1 when a measured exponent is inconsistent with the symbolic one or a point missed the tolerance.
    """
    from numerics.scaling import sweep_jobs
    from numerics.sweep import run_sweep
    from proofs_check.inputs import BadInput
    from proofs_check.scaling import NOTES, SCHEMA, exponent_rows, pictures, point_record
    from proofs_check.tables import write_table

    if not (0 < margin and math.isfinite(margin)):
        raise BadInput(f"expected a finite margin > 0, got {margin:g}; a margin is a strict preference")
    if not 0.5 <= mass < 1:
        raise BadInput(f"expected a mass of at least 1/2 and below 1, got {mass:g}; below 1/2 C2 is false in general")
    if not (0 < tolerance < 1 and time_limit > 0):
        raise BadInput(f"expected 0 < tolerance < 1 and a positive time limit, got {tolerance:g} and {time_limit:g}; "
                       "1e-3 and 3600 are the defaults")
    chosen = read_sizes(sizes or (QUICK_SIZES if quick else FULL_SIZES))
    clouds = clouds or ("orthonormal", "correlated", "independent")
    norms, forms = norms or NORMS, forms or ("margin", "mass")
    if not (0 < rho < 1 and sigma > 0 and sigma**2 - 2 * beta + rho > 0 and beta**2 <= rho * sigma**2):
        raise BadInput(f"expected 0 < rho < 1, sigma > 0, sigma² - 2 beta + rho > 0 and beta² <= rho sigma², got rho {rho:g}, "
                       f"beta {beta:g}, sigma {sigma:g}; the exponents of the correlated cloud are derived for these only")
    levels = {form: margin if form == "margin" else mass for form in forms}
    few = tuple(size for size in chosen if size <= QUICK_INDEPENDENT) if quick and sizes is None else chosen
    work = [job for cloud in clouds for job in sweep_jobs(
        (cloud,), few if cloud == "independent" else chosen, tuple(norms), levels, draws=draws or (2 if quick else 4), rho=rho,
        beta=beta, sigma=sigma, seed=seed, tolerance=tolerance, time_limit=time_limit)]
    work.sort(key=lambda job: job.tokens)
    out.mkdir(parents=True, exist_ok=True)
    points = []
    with Steps(len(work), as_json) as steps:
        for point in run_sweep(work, out / "scale-points", write_whole, workers=jobs):
            points.append(point)
            steps.step(f"T = {point.job.tokens}, {point.job.cloud}, {point.job.pattern}, {point.job.side} {point.job.norm}")
    points.sort(key=lambda point: point.job)
    rows = exponent_rows(points, clouds, levels, omegas, norms, seed)
    names = pictures(rows, out, write_whole)
    wide = [point for point in points if not point.gap <= tolerance]
    document = {"schema": SCHEMA, "settings": {"clouds": list(clouds), "sizes": list(chosen), "norms": list(norms), "levels": levels,
                                               "rho": rho, "beta": beta, "sigma": sigma, "seed": seed, "tolerance": tolerance,
                                               "omegas": list(omegas)},
                "points": [point_record(point) for point in points], "exponents": [row.document() for row in rows],
                "wide": len(wide), "pictures": names, "notes": list(NOTES)}
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    tables = [*write_table(out / "scale-points", POINT_COLUMNS, document["points"]),
              *write_table(out / "scale-exponents", EXPONENT_COLUMNS, document["exponents"])]
    write_whole(out / "scale.json", text.encode())
    if as_json:
        print(text)
    else:
        show_table("exponents of T", ("tokens", "r", "κ", "ω", "p", "p of V", "form", "cost", "pattern", "symbolic", "measured",
                                      "interval", "slope", "verdict"),
                   [(row.cloud, *(row.cell[key] for key in ("r", "kappa", "omega", "p", "p_value", "form", "combination")),
                     row.pattern, "" if row.order is None else str(row.order), f"{row.fit.measured:.3f}",
                     f"{row.fit.interval[0]:.3f} .. {row.fit.interval[1]:.3f}", f"{row.slope:.3f}", row.fit.verdict) for row in rows])
        print(f"{len(points)} points, largest gap {max((point.gap for point in points), default=0):.1e}; symbolic orders replayed "
              f"by the kernel: {sum(row.proved for row in rows)} of {len(rows)}.")
        for note in NOTES:
            print(f"Note: {note}")
        print(f"Tables and pictures in {out}: scale.json, {', '.join([*tables, *names])}")
    return 1 if wide or any(row.fit.verdict == "inconsistent" for row in rows) else 0


def read_sizes(text: str) -> tuple[int, ...]:
    """Sizes from a comma list; one sentence for anything but at least four distinct integers above 3."""
    from proofs_check.inputs import BadInput

    try:
        sizes = tuple(sorted({int(item) for item in text.split(",")}))
    except ValueError:
        raise BadInput(f"expected sizes as integers separated by commas, got '{text}'; for example 8,16,32,64") from None
    if len(sizes) < 4 or sizes[0] < 4:
        raise BadInput(f"expected at least four different sizes of at least 4, got '{text}'; an exponent needs a range of T")
    return sizes
