"""`sinkproof scale`: how costs grow with T, measured between certified bounds, beside the derived exponents."""

from __future__ import annotations

import json
import math
from contextlib import nullcontext
from pathlib import Path

import click

from proofs_check.certificates import write_whole
from proofs_check.display import Steps, show_table

CLOUDS = ("orthonormal", "correlated", "fading", "touching", "common", "independent", "real")
NORMS = ("nuclear", "frobenius", "spectral")
QUICK_SIZES, FULL_SIZES = "8,16,32,48,64,96,128,192", "16,32,64,128,192,256,384,512"
QUICK_DRAWN = 96  # the largest T of random tokens in a quick run: they take most of the time
POINT_COLUMNS = ("T", "pattern", "norm", "lower", "upper", "cloud", "rho", "decay", "beta", "sigma", "source", "side",
                 "form", "level", "draw", "gap", "seconds")
EXPONENT_COLUMNS = ("cloud", "d", "r", "kappa", "omega", "p", "p_value", "form", "combination", "values", "pattern",
                    "symbolic",
                    "symbolic_replayed", "measured", "interval", "corrected_interval", "slope", "verdict", "local",
                    "log")


@click.command(epilog="Example: sinkproof scale --quick        Overnight: sinkproof scale --jobs 2 --out scale-full")
@click.option("--quick", is_flag=True, help="T up to 192 (random tokens: 96) and two draws: under three minutes.")
@click.option("--cloud", "clouds", type=click.Choice(CLOUDS), multiple=True,
              help="Tokens (repeatable).  [default: orthonormal, correlated, independent]")
@click.option("--sizes", metavar="T,T,...", help=f"At least four.  [default: {FULL_SIZES}; quick: {QUICK_SIZES}]")
@click.option("--norm", "norms", type=click.Choice(NORMS), multiple=True,
              help="Schatten norms (repeatable).  [default: all three]")
@click.option("--form", "forms", type=click.Choice(["margin", "mass"]), multiple=True,
              help="Repeatable.  [default: both]")
@click.option("--margin", type=float, default=1.0, show_default=True)
@click.option("--mass", type=float, default=0.9, show_default=True, help="In [1/2, 1).")
@click.option("--omega", "omegas", type=click.Choice(["1", "sqrt", "inverse-sqrt"]), multiple=True, default=("1",),
              show_default=True, help="Norm of the targets: 1, √d or 1/√d (repeatable).")
@click.option("--rho", type=float, default=0.3, show_default=True,
              help="For correlated, touching and common; fading: c in c T^-decay.")
@click.option("--decay", default="1/2", show_default=True,
              help="For fading: ρ = rho T^-decay, a number above 0 such as 1/2 or 1.5.")
@click.option("--beta", type=float, default=0.0, show_default=True, help="⟨x_s, x_i⟩, for correlated and common.")
@click.option("--sigma", type=float, default=1.0, show_default=True, help="‖x_s‖, for correlated, fading and common.")
@click.option("--tokens", "file", metavar="FILE[:KEY]",
              help="Embeddings for real.  [default: the packaged pool of SmolLM2's layer 15]")
@click.option("--sink", metavar="KEY|ROW", help="Their sink: an array of the same file, or a row.")
@click.option("--values", type=click.Choice(["null", "free"]), default="null", show_default=True,
              help="Whether the sink's value side has V x_s = 0.")
@click.option("--growth", type=click.IntRange(1, 4), default=1, show_default=True,
              help="d = T^growth, for exchangeable tokens.")
@click.option("--draws", type=click.IntRange(1), help="Draws of random and of real tokens.  [default: 4; quick: 2]")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True)
@click.option("--tolerance", type=float, default=1e-3, show_default=True, help="Relative gap at which a point is done.")
@click.option("--time-limit", type=float, default=3600.0, show_default=True, metavar="SECONDS", help="For one point.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option("--scheduler", metavar="ADDRESS",
              help="Measure on an existing Dask cluster instead, e.g. tcp://127.0.0.1:8786.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("sinkproof-out"),
              show_default=True,
              help="Where scale-*.csv, .parquet, .png, scale.json and the points go; the same folder resumes.")
@click.option("--all", "everything", is_flag=True, help="Print every cost model's row, not a summary.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def scale(quick: bool, clouds: tuple[str, ...], sizes: str | None, norms: tuple[str, ...], forms: tuple[str, ...],
          margin: float, mass: float, omegas: tuple[str, ...], rho: float, decay: str, beta: float, sigma: float,
          file: str | None,
          sink: str | None, values: str, growth: int, draws: int | None, seed: int, tolerance: float, time_limit: float,
          jobs: int, scheduler: str | None, out: Path, everything: bool, as_json: bool) -> int:
    """Sweep T, fit exponents, and set them beside the ones derived for every cost model (C8).

    \b
    Every finished point is a file, so an interrupted sweep goes on where it stopped.
    Exit 1 when a measured exponent is inconsistent with the symbolic one or a point missed the tolerance, 3 when
    --scheduler needs a package that is not installed.
    """
    from numerics.scaling import sweep_jobs
    from numerics.scaling_clouds import DRAWN
    from numerics.sweep import local_processes, run_sweep
    from proofs_check.cluster import dask_cluster
    from proofs_check.inputs import BadInput
    from proofs_check.scaling import SCHEMA, exponent_rows, notes_on, pictures, point_record, summary
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
        raise BadInput(f"expected 0 < rho < 1, sigma > 0, sigma² - 2 beta + rho > 0 and beta² <= rho sigma², got rho "
                       f"{rho:g}, beta {beta:g}, sigma {sigma:g}; the exponents of the correlated cloud are derived "
                       "for these only")
    levels = {form: margin if form == "margin" else mass for form in forms}
    pool = read_pool(file, sink) if "real" in clouds else None
    if pool is None and (file or sink):
        raise BadInput("expected --cloud real beside --tokens or --sink, got other clouds; add it")
    geometries = read_geometries(clouds, rho, read_decay(decay), beta, sigma, pool)
    work = []
    for geometry in geometries:
        here = [size for size in chosen if not (quick and sizes is None and geometry.cloud in DRAWN
                                                and size > QUICK_DRAWN)]
        if geometry.cloud == "real":
            if sizes is not None and chosen[-1] > len(pool.tokens):
                raise BadInput(f"expected sizes up to the {len(pool.tokens)} tokens given, got {chosen[-1]}; choose "
                               "smaller --sizes")
            here = [size for size in here if size <= len(pool.tokens)]
        work += sweep_jobs((geometry,), here, tuple(norms), levels, draws=draws or (2 if quick else 4),
                           dim=0 if pool is None else pool.tokens.shape[1], seed=seed, tolerance=tolerance,
                           time_limit=time_limit)
    work.sort(key=lambda job: job.tokens)
    folder = out / "scale-points"
    points = []
    measuring = (nullcontext(local_processes(jobs, folder, write_whole)) if scheduler is None
                 else dask_cluster(scheduler))
    with measuring as execute, Steps(len(work), as_json) as steps:
        for point in run_sweep(work, folder, write_whole, execute, clouds=lambda job: drawn(pool, job)):
            points.append(point)
            steps.step(str(point.job))
    points.sort(key=lambda point: point.job)
    rows = exponent_rows(points, geometries, levels, omegas, norms, seed, growth=growth, null=values == "null")
    names = pictures(rows, out, write_whole)
    wide = [point for point in points if not point.gap <= tolerance]
    document = {"schema": SCHEMA, "settings": {"clouds": list(clouds), "sizes": list(chosen), "norms": list(norms),
                                               "levels": levels,
                                               "rho": rho, "decay": decay, "beta": beta, "sigma": sigma, "seed": seed,
                                               "tolerance": tolerance, "omegas": list(omegas), "values": values,
                                               "growth": growth,
                                               "tokens": file},
                "points": [point_record(point) for point in points], "exponents": [row.document() for row in rows],
                "wide": len(wide), "pictures": names, "notes": notes_on(clouds)}
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    tables = [*write_table(out / "scale-points", POINT_COLUMNS, document["points"]),
              *write_table(out / "scale-exponents", EXPONENT_COLUMNS, document["exponents"])]
    write_whole(out / "scale.json", text.encode())
    if as_json:
        print(text)
    else:
        if everything:
            keys = ("r", "kappa", "omega", "p", "p_value", "form", "combination")
            show_table("exponents of T", ("tokens", "r", "κ", "ω", "p", "p of V", "form", "cost", "pattern", "symbolic",
                                          "measured", "interval", "slope", "verdict"),
                       [(row.cloud, *(row.cell[key] for key in keys), row.pattern,
                         "" if row.order is None else str(row.order), f"{row.fit.measured:z.3f}",
                         f"{row.fit.interval[0]:z.3f} .. {row.fit.interval[1]:z.3f}", f"{row.slope:z.3f}",
                         row.fit.verdict) for row in rows])
        else:
            show_table("exponents of T", ("tokens", "cost", "pattern", "rows", "largest |measured - symbolic|",
                                          "verdicts"), summary(rows))
            print(f"{len(rows)} rows drawn together; --all prints each, scale-exponents.csv has them.")
        print(f"{len(points)} points, largest gap {max((point.gap for point in points), default=0):.1e}; symbolic "
              f"orders replayed by the kernel: {sum(row.proved for row in rows)} of {len(rows)}.")
        for note in document["notes"]:
            print(f"Note: {note}")
        print(f"Tables and pictures in {out}: scale.json, {', '.join([*tables, *names])}")
    return 1 if wide or any(row.fit.verdict == "inconsistent" for row in rows) else 0


def read_sizes(text: str) -> tuple[int, ...]:
    """Sizes from a comma list; one sentence for anything but at least four distinct integers above 3."""
    from proofs_check.inputs import BadInput

    try:
        sizes = tuple(sorted({int(item) for item in text.split(",")}))
    except ValueError:
        raise BadInput("expected sizes as integers separated by commas, got "
                       f"'{text}'; for example 8,16,32,64") from None
    if len(sizes) < 4 or sizes[0] < 4:
        raise BadInput(f"expected at least four different sizes of at least 4, got '{text}'; an exponent needs a range "
                       "of T")
    return sizes


def drawn(pool, job):
    """The rows of a real cloud; the others are made where they are measured."""
    return pool.draw(job.tokens, job.seed, job.draw) if job.geometry.cloud == "real" else None


def read_decay(text: str) -> float:
    """A positive number of at most two decimals or a fraction as simple."""
    from fractions import Fraction

    from proofs_check.inputs import BadInput

    try:
        decay = Fraction(text)
    except (ValueError, ZeroDivisionError):
        decay = Fraction(0)
    if not (0 < decay <= 8 and decay.denominator <= 100):
        raise BadInput(f"expected a decay above 0 and at most 8 with a denominator up to 100, got '{text}'; for "
                       "example 1/2")
    return float(decay)


def read_pool(file: str | None, sink: str | None):
    """The embeddings that "real" draws from: the user's, or the packaged pool."""
    from numerics.embeddings import load_pool
    from numerics.scaling_clouds import Reservoir
    from proofs_check.inputs import BadInput, read_tokens

    if file is None:
        if sink is not None:
            raise BadInput("expected --tokens beside --sink, got a sink alone; the packaged pool has its own")
        pool = load_pool()
        return Reservoir(pool.tokens, pool.sink)
    if sink is None:
        raise BadInput("expected a sink for these tokens, got none; name it with --sink KEY or --sink ROW")
    tokens = read_tokens(file, sink)
    if len(tokens.content) < 16:
        raise BadInput(f"expected at least 16 content tokens to subsample, got {len(tokens.content)}; an exponent "
                       "needs a range of T")
    return Reservoir(tokens.content, tokens.sink)


def read_geometries(clouds: tuple[str, ...], rho: float, decay: float, beta: float, sigma: float, pool) -> list:
    """One geometry per cloud with the parameters it has, so that a point is not measured again for one it has not."""
    from numerics.scaling_clouds import Geometry

    known = {"correlated": {"rho": rho, "beta": beta, "sigma": sigma},
             "fading": {"rho": rho, "decay": decay, "sigma": sigma},
             "touching": {"rho": rho}, "common": {"rho": rho, "beta": beta, "sigma": sigma},
             "real": {"source": pool.digest if pool is not None else ""}}
    return [Geometry(cloud, **known.get(cloud, {})) for cloud in dict.fromkeys(clouds)]
