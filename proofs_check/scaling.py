"""Symbolic exponents (replayed by the kernel) beside measured ones: what `sinkproof scale` tabulates and draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path

from numerics.scaling import Point
from numerics.scaling_fit import Fit, Symbolic, fit_exponent
from proofs_check.claim import Claim
from proofs_check.engines.derivations import lemma_table, symbolic_part
from proofs_check.kernel.symbolic import check_derivation
from theory.scaling import PATTERNS, Cell, Order, describe, qk_order, spectral_order, table, total_order, value_order
from theory.scaling_bounds import scaling_bounds

SCHEMA = "sinkproof/scale/1"
NORMS = {1: "nuclear", 2: "frobenius", math.inf: "spectral"}
VERDICTS = ("", "consistent", "not identifiable", "inconsistent")
OMEGAS = {"1": Fraction(0), "sqrt": Fraction(1, 2), "inverse-sqrt": Fraction(-1, 2)}
NOTES = (
    "Symbolic orders hold for every T >= 4 with constants free of T, each replayed by the kernel as two polynomial "
    "inequalities; the measured ones are fits over a finite range and prove nothing.",
    "The measured exponent of a sum is that of its steeper side, log factor divided out; 'slope' is the plain slope of the "
    "total over the upper half of the sizes, which moves from one side's exponent to the other's.",
    "Every point lies between certified bounds at unit norm, kappa = 1, unit targets; other cost models rescale it by exact "
    "powers of d = T.",
    "Independent unit tokens, d = T: m(T-1)/λ_max(XHXᵀ) <= nuclear cost <= md/(1-max⟨x_i,x_j⟩) for any draw; that this is of "
    "order T uses λ_max bounded and the maximum away from 1, which holds for most draws and is not proved here. No order "
    "is derived for their sink.",
)
Brackets = dict[int, list[tuple[float, float]]]


@dataclass(frozen=True)
class Row:
    """One line of the table of exponents."""

    pattern: str
    norm: str
    cloud: str
    cell: dict[str, str]
    order: Order | None
    proved: bool
    fit: Fit
    slope: float  # of the total itself, log factor included, over the upper half of the sizes
    brackets: Brackets

    def document(self) -> dict:
        return {"pattern": self.pattern, "norm": self.norm, "cloud": self.cloud, **self.cell,
                "symbolic": "" if self.order is None else str(self.order),
                "symbolic_exponent": None if self.order is None else float(self.order.exponent),
                "symbolic_log": None if self.order is None else self.order.log,
                "symbolic_replayed": self.proved, "measured": self.fit.measured, "slope": self.slope, "interval": list(self.fit.interval),
                "corrected_interval": list(self.fit.corrected), "local": list(self.fit.local),
                "held_out": dict(self.fit.held_out), "verdict": self.fit.verdict or "no symbolic exponent"}


@cache
def order_replays(cell: Cell, pattern: str) -> bool:
    """Whether the kernel accepts the two inequalities that say the cell's order; raises its refusal."""
    derivation = scaling_bounds(cell, pattern)
    part = symbolic_part(lambda: derivation, "order", "two-sided bounds")
    claim = Claim(id="scale", title="order", family="costs", statement="", parts=(part,))
    check_derivation(claim.document()["parts"][0], [lemma_table(item) for item in derivation.lemmas])
    return True


def brackets(points: Sequence[Point], cloud: str, side: str, pattern: str, norm: str, form: str) -> Brackets:
    """(lower, upper) of every draw, by T; the sink's QK side is one number for every norm."""
    wanted = "every" if (side, pattern) == ("qk", "sink") else norm
    found: Brackets = {}
    for point in points:
        job = point.job
        if (job.cloud, job.side, job.pattern, job.norm, job.form) == (cloud, side, pattern, wanted, form):
            found.setdefault(job.tokens, []).append((point.lower, point.upper))
    return found


def side_costs(points: Sequence[Point], cell: Cell, pattern: str, cloud: str) -> tuple[Brackets, Brackets]:
    """The measured QK and value sides in a cost model with d = T: rescaled exactly."""
    sides = (("qk", NORMS[cell.exponent], cell.form, cell.qk_power), ("value", NORMS[cell.value_exponent], "", cell.value_power))
    return tuple({size: [(size ** (cell.growth * power / 2) * low, size ** (cell.growth * power / 2) * high) for low, high in found]
                  for size, found in brackets(points, cloud, side, pattern, norm, form).items()}
                 for side, norm, form, power in sides)


def combined(cell: Cell, qk: Brackets, value: Brackets) -> Brackets:
    """The total: a sum, a product, or the QK side alone; sizes that lack a side are left out."""
    if cell.combination == "qk":
        return qk
    join = (lambda a, b: a + b) if cell.combination == "sum" else (lambda a, b: a * b)
    return {size: [(join(a, c), join(b, d)) for (a, b), (c, d) in zip(qk[size], value[size], strict=True)]
            for size in qk if size in value}


def fit_total(cell: Cell, pattern: str, qk: Brackets, value: Brackets, shift: float, order: Order | None, seed: int) -> Fit:
    """The exponent of a total: of a sum, that of its steeper side, because a sum's own slope is a moving average of both.

    The verdict of a sum is the worse of its sides'.
    """
    def symbolic(item: Order | None) -> Symbolic | None:
        return None if item is None else Symbolic(float(item.exponent), item.log, shift)

    if cell.combination != "sum":
        return fit_exponent(combined(cell, qk, value), symbolic(order), seed=seed)
    sides = (fit_exponent(qk, symbolic(qk_order(cell, pattern)), seed=seed),
             fit_exponent(value, symbolic(value_order(cell)), seed=seed))
    steeper = max(sides, key=lambda fit: fit.measured)
    return replace(steeper, verdict=max((fit.verdict for fit in sides), key=VERDICTS.index))


def exponent_rows(points: Sequence[Point], clouds: Sequence[str], levels: dict[str, float], omegas: Sequence[str],
                  norms: Sequence[str], seed: int) -> list[Row]:
    """The whole table for the measured clouds: every cell and pattern that has at least four sizes."""
    rows = []
    for cloud in clouds:
        for cell in (_independent_cells(levels) if cloud == "independent" else _cells(cloud, levels, omegas)):
            if NORMS[cell.exponent] not in norms:
                continue
            for pattern in PATTERNS:
                qk, value = side_costs(points, cell, pattern, cloud)
                costs = combined(cell, qk, value)
                if len(costs) < 4:
                    continue
                order, proved = _order(cell, pattern, cloud)
                shift = math.log(levels["mass"] / (1 - levels["mass"])) if cell.form == "mass" else 0.0
                words = describe(cell) | ({"rho": "random", "geometry": "independent, d = T"} if cloud == "independent" else {})
                fit = fit_total(cell, pattern, qk, value, shift, order, seed)
                slope = fit_exponent(costs, None, seed=seed).measured
                rows.append(Row(pattern, NORMS[cell.exponent], cloud, words, order, proved, fit, slope, costs))
    return rows


def _cells(cloud: str, levels: dict[str, float], omegas: Sequence[str]) -> list[Cell]:
    shared = {"geometries": (cloud,), "forms": tuple(levels)}
    cells = table(**shared, combinations=("sum", "product"), target=OMEGAS[omegas[0]])
    for omega in omegas[1:]:
        cells += table(**shared, combinations=("sum", "product"), target=OMEGAS[omega])
    return cells + table(**shared, combinations=("qk",))


def _independent_cells(levels: dict[str, float]) -> list[Cell]:
    return [Cell(scale=Fraction(0), exponent=exponent, form=form, combination="qk") for form in levels for exponent in NORMS]


def _order(cell: Cell, pattern: str, cloud: str) -> tuple[Order | None, bool]:
    if cloud != "independent":
        return total_order(cell, pattern), order_replays(cell, pattern)
    if pattern == "sink":
        return None, False
    return Order(spectral_order(cell.exponent), int(cell.form == "mass")), False


def find(rows: Sequence[Row], **wanted: str) -> Row | None:
    """The first row with these entries."""
    return next((row for row in rows if all(row.document()[key] == value for key, value in wanted.items())), None)


def point_record(point: Point) -> dict:
    """A point for people and for JSON: design.md's fields first."""
    job = point.job
    return {"T": job.tokens, "pattern": job.pattern, "norm": job.norm, "lower": point.lower, "upper": point.upper,
            "cloud": job.cloud, "side": job.side, "form": job.form, "level": job.level, "draw": job.draw, "gap": point.gap,
            "seconds": round(point.seconds, 3)}


def pictures(rows: Sequence[Row], out: Path, write) -> list[str]:
    """One log-log picture per cloud: unit norm, margin form; bounds, fit and theory for each norm."""
    from numerics.scaling_plots import png, scaling_figure

    names = []
    for cloud in dict.fromkeys(row.cloud for row in rows):
        chosen = {"kappa": "1", "combination": "QK"} if cloud == "independent" else {"kappa": "1/√d", "combination": "QK + VO"}
        panels = []
        for norm in NORMS.values():
            curves = {}
            for pattern in PATTERNS:
                row = find(rows, cloud=cloud, pattern=pattern, norm=norm, r="1", form="margin", omega="1", **chosen)
                if row is not None:
                    exponent = None if row.order is None else float(row.order.exponent)
                    curves[pattern] = (row.brackets, row.slope, exponent)
            if curves:
                panels.append((norm, curves))
        if panels:
            title = f"{cloud}, r = 1, κ = {chosen['kappa']}, ω = 1, margin form, {chosen['combination']}"
            name = f"scale-{cloud}.png"
            write(out / name, png(scaling_figure(panels, title)))
            names.append(name)
    return names
