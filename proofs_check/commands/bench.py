"""`sinkproof bench`: our minimum-norm engine beside cvxpy's solvers, same instances, one run."""

from __future__ import annotations

import json
import math

import click

from proofs_check.display import Steps, show_table


@click.command(epilog="Example: sinkproof bench --profile quick")
@click.option("--profile", type=click.Choice(["quick", "full"]), default="quick", show_default=True,
              help="quick compares at T = d up to 32; full adds sizes that only our engine reaches.")
@click.option("--repeats", type=click.IntRange(1, 50), default=1, show_default=True, help="The fastest run counts.")
@click.option("--threads", type=click.IntRange(1, 256), default=1, show_default=True,
              help="Linear algebra threads, for all alike.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def bench(profile: str, repeats: int, threads: int, as_json: bool) -> int:
    """Time our engine and cvxpy's solvers on the same problems, to the same *certified* gap, and print the ratios.

    Exit 1 when our engine missed a case's gap.
    """
    from numerics.bench import bench as run_bench
    from numerics.bench import default_cases, ratio

    cases, rows = default_cases(profile), []
    with Steps(len(cases), as_json) as steps:
        for case in cases:
            steps.step(f"T = d = {case.num_tokens}, {case.norm}")
            rows += run_bench([case], repeats=repeats, threads=threads)
    table = [{"tokens": row.case.num_tokens, "dimension": row.case.dim, "norm": str(row.case.norm),
              "target": row.case.tolerance,
              "solver": row.solver, "setting": row.setting, "seconds": row.seconds, "gap": _finite(row.gap),
              "met": row.met,
              "lower": row.lower, "upper": _finite(row.upper), "peak_megabytes": row.peak_megabytes} for row in rows]
    ratios = [{"tokens": case.num_tokens, "norm": str(case.norm), "ratio": _finite(ratio(rows, case))}
              for case in cases if len(case.solvers) > 1]
    if as_json:
        print(json.dumps({"schema": "sinkproof/bench/1", "rows": table, "ratios": ratios}, indent=1))
    else:
        show_table("Diagonal pattern on independent unit tokens",
                   ("T=d", "norm", "target", "solver", "seconds", "certified gap", "MB"),
                   [(str(row["tokens"]), row["norm"], f"{row['target']:.0e}", row["solver"], f"{row['seconds']:.2f}",
                     f"{row['gap']:.1e}" if row["gap"] is not None else "none", f"{row['peak_megabytes']:.0f}")
                    for row in table])
        for item in ratios:
            said = "no other solver met the gap" if item["ratio"] is None else f"{item['ratio']:.1f} times as long"
            print(f"T = d = {item['tokens']}, {item['norm']}: the fastest other solver took {said}")
    return 0 if all(row.met for row in rows if row.solver == "sinkproof") else 1


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
