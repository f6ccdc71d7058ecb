"""Symbolic exponents (replayed by the kernel) beside measured ones: what `sinkproof scale` tabulates and draws."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path

from numerics.scaling import Point
from numerics.scaling_clouds import Geometry
from numerics.scaling_fit import Fit, Symbolic, fit_exponent
from proofs_check.claim import Claim
from proofs_check.engines.derivations import lemma_table, symbolic_part
from proofs_check.kernel.symbolic import check_derivation
from theory.scaling import PATTERNS, Cell, Order, describe, qk_order, spectral_order, table, total_order, value_order
from theory.scaling_bounds import scaling_bounds
from theory.scaling_independent import common_direction
from theory.statements import Derivation

SCHEMA = "sinkproof/scale/2"
NORMS = {1: "nuclear", 2: "frobenius", math.inf: "spectral"}
VERDICTS = ("", "consistent", "not identifiable", "inconsistent")
# Clouds that are no exchangeable Gram matrix: their cells have r and kappa 1 and few symbolic orders.
OTHERS = {"common": {"geometry": "common direction"},
          "independent": {"rho": "random", "geometry": "independent, d = T"},
          "real": {"d": "given", "r": "own", "rho": "measured", "geometry": "real embeddings"}}
OMEGAS = {"1": Fraction(0), "sqrt": Fraction(1, 2), "inverse-sqrt": Fraction(-1, 2)}
NOTES = (
    "Symbolic orders hold for every T >= 4 with constants free of T, each replayed by the kernel as two polynomial "
    "inequalities; the measured ones are fits over a finite range and prove nothing.",
    "The measured exponent of a sum is that of its steeper side where an order is derived, log factor divided out; "
    "'slope' is the plain slope of the total over the upper half of the sizes, which moves from one side's exponent to "
    "the other's.",
    "Every point lies between certified bounds at kappa = 1 and unit targets (generated clouds: unit norm); other cost "
    "models rescale it by exact powers of d.",
)
CLOUD_NOTES = {
    "independent": "Independent unit tokens, d = T: m(T-1)/λ_max(XHXᵀ) <= nuclear cost <= md/(1-max⟨x_i,x_j⟩) for any "
                   "draw; that this is of order T uses λ_max bounded and the maximum away from 1, which holds for most "
                   "draws and is not proved here. No order is derived for their sink.",
    "common": "A common direction: the sink's QK side is between m/(1+e) and m(1+1/(ρe)), e = σ²-2β+ρ, for every T and "
              "draw (from C1, replayed by the kernel); its diagonal is bounded as for independent tokens, and no order "
              "is derived for its value side or its mass form.",
    "real": "Real embeddings have no symbolic exponent: nothing is derived for them, and d does not grow with T.",
}
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
                "symbolic_replayed": self.proved, "measured": self.fit.measured, "slope": self.slope,
                "interval": list(self.fit.interval),
                "corrected_interval": list(self.fit.corrected), "local": list(self.fit.local),
                "held_out": dict(self.fit.held_out), "log": self.fit.log,
                "verdict": self.fit.verdict or "no symbolic exponent"}


def replays(derivation: Derivation) -> bool:
    """True when the kernel accepts every lemma; raises its refusal."""
    part = symbolic_part(lambda: derivation, "order", "two-sided bounds")
    claim = Claim(id="scale", title="order", family="costs", statement="", parts=(part,))
    check_derivation(claim.document()["parts"][0], [lemma_table(item) for item in derivation.lemmas])
    return True


@cache
def order_replays(cell: Cell, pattern: str) -> bool:
    """Whether the kernel accepts the two inequalities that say the cell's order; raises its refusal."""
    return replays(scaling_bounds(cell, pattern))


def brackets(points: Sequence[Point], cloud: str, side: str, pattern: str, norm: str, form: str) -> Brackets:
    """(lower, upper) of every draw, by T; the sink's QK side is one number for every norm."""
    wanted = "every" if (side, pattern) == ("qk", "sink") else norm
    found: Brackets = {}
    for point in points:
        job = point.job
        if (job.geometry.cloud, job.side, job.pattern, job.norm, job.form) == (cloud, side, pattern, wanted, form):
            found.setdefault(job.tokens, []).append((point.lower, point.upper))
    return found


def side_costs(points: Sequence[Point], cell: Cell, pattern: str, cloud: str) -> tuple[Brackets, Brackets]:
    """The measured QK and value sides in a cost model with d = T^growth: rescaled exactly."""
    values = "sink" if pattern == "sink" and cell.null else "diagonal"  # V x_s = 0 or not
    sides = (("qk", pattern, NORMS[cell.exponent], cell.form, cell.qk_power),
             ("value", values, NORMS[cell.value_exponent], "", cell.value_power))
    return tuple({size: [(size ** (cell.growth * power / 2) * low, size ** (cell.growth * power / 2) * high)
                         for low, high in found]
                  for size, found in brackets(points, cloud, side, kind, norm, form).items()}
                 for side, kind, norm, form, power in sides)


def combined(cell: Cell, qk: Brackets, value: Brackets) -> Brackets:
    """The total: a sum, a product, or the QK side alone; sizes that lack a side are left out."""
    if cell.combination == "qk":
        return qk
    join = (lambda a, b: a + b) if cell.combination == "sum" else (lambda a, b: a * b)
    return {size: [(join(a, c), join(b, d)) for (a, b), (c, d) in zip(qk[size], value[size], strict=True)]
            for size in qk if size in value}


def fit_total(cell: Cell, pattern: str, qk: Brackets, value: Brackets, shift: float, order: Order | None,
              seed: int) -> Fit:
    """The exponent of a total; of a sum, that of its steeper side: a sum's own slope is a moving average of both.

    The verdict of a sum is the worse of its sides'.
    """
    def symbolic(item: Order | None) -> Symbolic | None:
        return None if item is None else Symbolic(float(item.exponent), item.log, shift)

    if cell.combination != "sum" or order is None:
        return fit_exponent(combined(cell, qk, value), symbolic(order), seed=seed)
    sides = (fit_exponent(qk, symbolic(qk_order(cell, pattern)), seed=seed),
             fit_exponent(value, symbolic(value_order(cell)), seed=seed))
    steeper = max(sides, key=lambda fit: fit.measured)
    return replace(steeper, verdict=max((fit.verdict for fit in sides), key=VERDICTS.index))


def exponent_rows(points: Sequence[Point], geometries: Sequence[Geometry], levels: dict[str, float],
                  omegas: Sequence[str],
                  norms: Sequence[str], seed: int, *, growth: int = 1, null: bool = True) -> list[Row]:
    """The whole table for the measured clouds: every cell and pattern that has at least four sizes."""
    rows = []
    for geometry in geometries:
        for cell in _cells(geometry, levels, omegas, growth, null):
            if NORMS[cell.exponent] not in norms:
                continue
            for pattern in PATTERNS:
                qk, value = side_costs(points, cell, pattern, geometry.cloud)
                costs = combined(cell, qk, value)
                if len(costs) < 4:
                    continue
                order, proved = _order(cell, pattern, geometry.cloud)
                shift = math.log(levels["mass"] / (1 - levels["mass"])) if cell.form == "mass" else 0.0
                words = describe(cell) | OTHERS.get(geometry.cloud, {})
                fit = fit_total(cell, pattern, qk, value, shift, order, seed)
                slope = fit_exponent(costs, None, seed=seed).measured
                rows.append(Row(pattern, NORMS[cell.exponent], geometry.cloud, words, order, proved, fit, slope, costs))
    return rows


def _cells(geometry: Geometry, levels: dict[str, float], omegas: Sequence[str], growth: int, null: bool) -> list[Cell]:
    """Every cost model of a geometry; the clouds of `OTHERS` are measured at r = kappa = 1 only."""
    shared = {"forms": tuple(levels), "null": null}
    if geometry.cloud in OTHERS:
        combinations = ("qk",) if geometry.cloud == "independent" else ("qk", "sum", "product")
        return table(norms=(Fraction(0),), scales=(Fraction(0),), geometries=("correlated",), combinations=combinations,
                     **shared)
    shared |= {"geometries": (geometry.cloud,), "growth": growth,
               "decay": Fraction(geometry.decay).limit_denominator(100)}
    cells = [cell for omega in omegas for cell in table(combinations=("sum", "product"), target=OMEGAS[omega],
                                                        **shared)]
    return cells + table(combinations=("qk",), **shared)


def _order(cell: Cell, pattern: str, cloud: str) -> tuple[Order | None, bool]:
    """The symbolic order, if there is one, and whether the kernel replayed it."""
    if cloud not in OTHERS:
        return total_order(cell, pattern), order_replays(cell, pattern)
    if cloud == "real" or cell.combination != "qk":
        return None, False
    if pattern == "diagonal":
        return Order(spectral_order(cell.exponent), int(cell.form == "mass")), False
    return (Order(0), replays(common_direction())) if (cloud, cell.form) == ("common", "margin") else (None, False)


def notes_on(clouds: Sequence[str]) -> list[str]:
    """What must be said beside the numbers of these clouds."""
    return [*NOTES, *(text for cloud, text in CLOUD_NOTES.items() if cloud in clouds)]


def exponent_text(row: Row) -> str:
    """The measured exponent with its interval."""
    low, high = row.fit.interval
    return f"{row.fit.measured:z.3f} ({low:z.3f} .. {high:z.3f})"


def picture_words(row: Row) -> str:
    """A pattern's line above its panel: which exponent was measured, and the verdict, or that no order is derived."""
    steeper = row.order is not None and row.cell["combination"] == "QK + VO"
    verdict = row.fit.verdict or "no order derived"
    return f"{row.pattern}: {'steeper side' if steeper else 'exponent'} {exponent_text(row)}, {verdict}"


def summary(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """The rows of one cloud, cost and pattern drawn together, in the order of the table.

    Each is (cloud, cost, pattern, number of rows, largest |measured - symbolic exponent|, verdicts with their numbers).
    """
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.cloud, row.cell["combination"], row.pattern), []).append(row)
    found = []
    for key, members in groups.items():
        gaps = [abs(row.fit.measured - float(row.order.exponent)) for row in members if row.order is not None]
        verdicts = Counter(row.fit.verdict or "without symbolic exponent" for row in members)
        said = ", ".join(f"{count} {word}" for word, count in verdicts.items())
        found.append((*key, str(len(members)), f"{max(gaps):.3f}" if gaps else "", said))
    return found


def find(rows: Sequence[Row], **wanted: str) -> Row | None:
    """The first row with these entries."""
    return next((row for row in rows if all(row.document()[key] == value for key, value in wanted.items())), None)


def point_record(point: Point) -> dict:
    """A point for people and for JSON: the fields that tables lead with first."""
    job, geometry = point.job, point.job.geometry
    return {"T": job.tokens, "pattern": job.pattern, "norm": job.norm, "lower": point.lower, "upper": point.upper,
            "cloud": geometry.cloud, "rho": geometry.rho, "decay": geometry.decay, "beta": geometry.beta,
            "sigma": geometry.sigma,
            "source": geometry.source, "side": job.side, "form": job.form, "level": job.level, "draw": job.draw,
            "gap": point.gap,
            "seconds": round(point.seconds, 3)}


def pictures(rows: Sequence[Row], out: Path, write) -> list[str]:
    """One log-log picture per cloud: unit norm, margin form; bounds, fit and theory for each norm."""
    from numerics.scaling_plots import Curve, png, scaling_figure

    names = []
    for cloud in dict.fromkeys(row.cloud for row in rows):
        chosen = {"kappa": "1", "combination": "QK"} if cloud in OTHERS else {"kappa": "1/√d", "combination": "QK + VO"}
        panels = []
        for norm in NORMS.values():
            curves, exponents = {}, []
            for pattern in PATTERNS:
                row = find(rows, cloud=cloud, pattern=pattern, norm=norm, form="margin", omega="1",
                           r=OTHERS.get(cloud, {}).get("r", "1"), **chosen)
                if row is not None:
                    exponent = None if row.order is None else float(row.order.exponent)
                    curves[pattern] = Curve(row.brackets, row.slope, exponent)
                    exponents.append(picture_words(row))
            if curves:
                panels.append(("\n".join([norm, *exponents]), curves))
        if panels:
            values = "" if chosen["combination"] == "QK" else "ω = 1, "
            title = (f"{cloud}, r = {OTHERS.get(cloud, {}).get('r', '1')}, κ = {chosen['kappa']}, {values}margin form, "
                     f"{chosen['combination']}")
            if chosen["combination"] == "QK + VO":
                title += "\nabove each panel: the exponent of the steeper of QK and VO; the points and fits are totals"
            name = f"scale-{cloud}.png"
            write(out / name, png(scaling_figure(panels, title)))
            names.append(name)
    return names
