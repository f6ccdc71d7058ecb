"""What `sinkproof simulate` does: settings read from text, theory's curve and the simulation's intervals side by
side."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from matplotlib.figure import Figure
from scipy import stats

from numerics.attention import (
    banded_attention, block_attention, causal_uniform_attention, diagonal_attention, mixed_attention,
    require_row_stochastic, sink_attention, uniform_attention)
from numerics.concentration import pair_law
from numerics.moments import (
    DriftStatistics, drift_statistics, input_cosine, mean_off_diagonal, mix_curve, mix_maximum, moment_cosines,
    require_rho)
from numerics.plots_oversmoothing import depth_figure, histogram_edges, histogram_figure, mix_figure
from numerics.simulate import IsotropicValue, simulate_depth, simulate_step, structured_value
from proofs_check.inputs import MAX_ENTRIES, SUFFIXES, BadInput, one_matrix, split_name

SCHEMA = "sinkproof/simulate/1"
LIMIT_NOTE = (
    "Theory is the moment cosine; the mean of a cosine differs from it by O(1/d) per pair, and by O(1/T) more in "
              "averages over pairs that share tokens.")
DEPTH_NOTE = "The recursion is the d -> infinity limit for V that is isotropic and fresh in each layer."
Step = Callable[[str], None]


@dataclass(frozen=True)
class Value:
    """V as asked for: a matrix, or tau and phi of a fresh isotropic one."""

    text: str
    tau: float
    phi: float
    matrix: np.ndarray | None
    isotropic: bool  # a multiple of the identity, or fresh and isotropic

    def for_simulation(self) -> np.ndarray | IsotropicValue:
        return IsotropicValue(self.tau, self.phi) if self.matrix is None else self.matrix


@dataclass(frozen=True)
class Settings:
    """One setting of the simulation, checked."""

    num_tokens: int
    dim: int
    rho: float
    value: Value
    norm: str
    draws: int
    seed: int
    confidence: float
    memory: int  # bytes

    def __post_init__(self) -> None:
        require_rho(self.rho)
        affordable(self.num_tokens, "tokens")
        for name, least in (("num_tokens", 2), ("dim", 1), ("draws", 2)):
            if getattr(self, name) < least:
                raise BadInput(f"expected {name} of at least {least}, got {getattr(self, name)}; "
                               + {"num_tokens": "a cosine needs a pair", "dim": "embeddings need a dimension",
                                  "draws": "an interval needs two draws"}[name])
        if not 0 < self.confidence < 1:
            raise BadInput(f"expected a confidence between 0 and 1, got {self.confidence}; 0.99 is the default")

    def arguments(self) -> dict[str, object]:
        return {"rho": self.rho, "dim": self.dim, "norm": self.norm, "draws": self.draws, "seed": self.seed,
                "confidence": self.confidence, "memory_cap": self.memory}

    def title(self) -> str:
        return (f"T = {self.num_tokens}, d = {self.dim}, ρ = {self.rho:g}, V {self.value.text}, {self.norm} norm, "
                f"{self.draws} draws")


@dataclass(frozen=True)
class Outcome:
    """The table, what goes beside it into the JSON, and the picture."""

    columns: tuple[str, ...]
    rows: tuple[tuple[float, ...], ...]
    results: tuple[dict, ...]
    extra: dict[str, object]
    figure: Figure

    def table(self) -> str:
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([format(value, ".12g") for value in row] for row in self.rows)
        return stream.getvalue()


def numbers(text: str, what: str, count: int | None = None) -> list[float]:
    """Comma-separated finite numbers."""
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        raise BadInput(
            f"expected {what} as numbers separated by commas, got '{text}'; write for example 0,0.5,1") from None
    if not all(map(math.isfinite, found)) or (count is not None and len(found) != count):
        raise BadInput(
            f"expected {count or 'finite'} number{'s' if count != 1 else ''} for {what}, got '{text}'; correct them")
    return found


def affordable(size: int, what: str) -> int:
    """The size of a square matrix, if it may be made."""
    if size**2 > MAX_ENTRIES:
        raise BadInput(f"expected at most {math.isqrt(MAX_ENTRIES)} {what}, got {size}; use fewer {what}")
    return size


def is_file(text: str) -> bool:
    return split_name(text)[0].suffix in SUFFIXES


def read_value(text: str, dim: int | None) -> tuple[Value, int]:
    """V and the dimension: scaled:B, drift:D, random:TAU,PHI, structured:ALPHA,BETA, or a file with a (d, d) matrix."""
    with np.errstate(over="ignore"):  # said below
        value, size = _named_value(text, dim)
    if not math.isfinite(value.phi):
        raise BadInput(f"expected V with a finite mean square tr(VᵀV)/d, got {text}, whose squares exceed float64; "
                       "give a smaller V")
    return value, size


def _named_value(text: str, dim: int | None) -> tuple[Value, int]:
    if is_file(text):
        matrix = one_matrix(text, "V")[0].astype(np.float64)
        if matrix.shape[0] != matrix.shape[1] or dim not in (None, len(matrix)):
            wanted = "(d, d)" if dim is None else f"({dim}, {dim})"
            raise BadInput(
                f"expected V of shape {wanted}, got {matrix.shape}; rows are outputs, and d is the tokens' dimension")
        return Value(text, float(np.trace(matrix)) / len(matrix), float(np.sum(matrix**2)) / len(matrix), matrix,
                     False), \
            len(matrix)
    size = affordable(512 if dim is None else dim, "dimensions")
    kind, _, rest = text.partition(":")
    if kind == "drift":
        (drift,) = numbers(rest, "the drift", 1)
        if not drift >= -1:
            raise BadInput(f"expected a drift of at least -1, got {drift:g}; 1 + D is a mean of squares")
        beta = math.sqrt(1 + drift) - 1
    elif kind == "scaled":
        (beta,) = numbers(rest, "the multiple of the identity", 1)
    if kind in ("drift", "scaled"):
        return Value(text, beta, beta * beta, beta * np.eye(max(size, 1)), True), size
    if kind == "random":
        tau, phi = numbers(rest, "tau and phi", 2)
        IsotropicValue(tau, phi)
        return Value(text, tau, phi, None, True), size
    if kind == "structured":
        alpha, beta = numbers(rest, "alpha and beta", 2)
        matrix = structured_value(np.eye(max(size, 1))[0], alpha, beta)
        return Value(text, float(np.trace(matrix)) / size, float(np.sum(matrix**2)) / size, matrix, False), size
    raise BadInput(
        f"expected V as scaled:B, drift:D, random:TAU,PHI, structured:ALPHA,BETA or an array file, got '{text}'; "
                   "choose one of these")


def read_attention(text: str, num_tokens: int | None) -> np.ndarray:
    """A (T, T): uniform, diagonal, sink, causal, mix:T, banded:W, block:K, or a file with rows on the simplex."""
    if is_file(text):
        matrix = one_matrix(text, "attention")[0]
        if matrix.shape[0] != matrix.shape[1] or num_tokens not in (None, len(matrix)):
            wanted = "(T, T)" if num_tokens is None else f"({num_tokens}, {num_tokens})"
            raise BadInput(f"expected attention of shape {wanted}, got {matrix.shape}; query axis first")
        return np.asarray(require_row_stochastic(matrix))
    size = affordable(64 if num_tokens is None else num_tokens, "tokens")
    kind, _, rest = text.partition(":")
    if kind == "mix":
        (t,) = numbers(rest, "t", 1)
        if not 0 <= t <= 1:
            raise BadInput(f"expected t in [0, 1], got {t:g}; t=1 is uniform attention")
        return np.asarray(mixed_attention(size, t))
    if kind in ("banded", "block"):
        (width,) = numbers(rest, f"the size of a {'band' if kind == 'banded' else 'block'}", 1)
        if width != int(width) or width < 1:
            raise BadInput(f"expected a whole number of at least 1 after '{kind}:', got '{rest}'; 1 is the diagonal")
        if kind == "banded":
            return np.asarray(banded_attention(size, int(width)))
        sizes = [int(width)] * (size // int(width)) + ([size % int(width)] if size % int(width) else [])
        return np.asarray(block_attention(sizes))
    patterns = {"uniform": uniform_attention, "diagonal": diagonal_attention, "sink": sink_attention,
                "causal": causal_uniform_attention}
    if text not in patterns:
        raise BadInput(
            f"expected attention as {', '.join(patterns)}, mix:T, banded:W, block:K or an array file, got '{text}'; "
                       "choose one of these")
    return np.asarray(patterns[text](size))


def statistics_of(settings: Settings) -> DriftStatistics:
    """O1's statistics with u the first axis and R = I/d; for a fresh V their means over V.

    For V = tau I + s G/sqrt(d), E(I+V)^T M (I+V) = (1+tau)^2 M + s^2 tr(M)/d I, and the like.
    """
    value, dim = settings.value, settings.dim
    u = np.eye(dim)[0]
    if value.matrix is not None:
        return drift_statistics(value.matrix, direction=u, norm=settings.norm)
    kept = 1.0 if settings.norm == "rms" else 1.0 - 1.0 / dim  # tr C/d, and ‖Cu‖^2 for an axis u
    g = kept * ((1 + value.tau) ** 2 + value.phi - value.tau**2)
    return DriftStatistics(kept, kept, g, kept * value.tau, kept * value.phi, kept * (2 * value.tau + value.phi))


def simulate_mix(settings: Settings, points: Sequence[float], step: Step) -> Outcome:
    """The cosine along A_t = (1-t)I + t 11^T/T, with t* (O4)."""
    s, t = statistics_of(settings), np.array(points)
    with np.errstate(invalid="ignore", divide="ignore"):
        theory = mix_curve(t, settings.num_tokens, settings.rho, s)
        curve_t = np.linspace(0, 1, 201)
        curve = mix_curve(curve_t, settings.num_tokens, settings.rho, s)
    if not np.all(np.isfinite(theory)):
        raise BadInput(
            "expected outputs that are not 0, got the degenerate case (rho g, D) = (0, -t0), where the diagonal's "
                       "output vanishes; choose another V or a positive rho")
    runs = []
    for point in points:
        attention = np.asarray(mixed_attention(settings.num_tokens, point))
        runs.append(simulate_step(attention, settings.value.for_simulation(), **settings.arguments()).mean_cosine)
        step(f"t = {point:g}")
    mean, half = (np.array([float(getattr(run, name)) for run in runs]) for name in ("mean", "half_width"))
    peak, before = mix_maximum(s.tau, max(s.phi, 0.0)), input_cosine(settings.rho, s)
    figure = mix_figure(t, curve_t, curve, mean, half, peak, before, settings.title(), settings.confidence)
    return _compared("t", t, theory, mean, half,
                     {"statistics": asdict(s), "t_star": peak, "input_cosine": before}, figure)


def depth_recursion(
    attention: np.ndarray, tau: float, phi: float, rho: float, layers: int, null_token: int | None = None
) -> np.ndarray:
    """Mean pair cosines of layers 0..L for any A: K -> K + tau(AN + NA^T) + phi A N A^T, normalised (O8).

    E over a fresh isotropic V, the d -> infinity limit; N is K without the null token's direction. For uniform A it is
    the odds recursion.
    """
    gram = rho + (1 - rho) * np.eye(len(attention))
    curve = [mean_off_diagonal(gram)]
    for _ in range(layers):
        seen = gram
        if null_token is not None:
            seen = gram - np.outer(gram[:, null_token], gram[null_token]) / gram[null_token, null_token]
        linear = attention @ seen
        gram = moment_cosines(gram + tau * (linear + linear.T) + phi * linear @ attention.T)
        curve.append(mean_off_diagonal(gram))
    return np.array(curve)


def simulate_layers(settings: Settings, attention: np.ndarray, layers: int, null_sink: bool, step: Step) -> Outcome:
    """Mean pair cosines over layers against the recursion."""
    value = settings.value
    if not value.isotropic:
        raise BadInput(
            f"expected an isotropic V for depth (random:TAU,PHI, scaled:B or drift:D), got '{value.text}'; one "
                       "matrix in all layers is a power iteration, about which the recursion says nothing")
    if layers < 1:
        raise BadInput(f"expected at least one layer, got {layers}; use 'mix' or 'histogram' for a single step")
    null = 0 if null_sink else None
    theory = depth_recursion(attention, value.tau, value.phi, settings.rho, layers, null)
    if not np.all(np.isfinite(theory)):
        raise BadInput("expected outputs that are not 0, got V = -1 on what a token attends; choose another V")
    run = simulate_depth(attention, value.for_simulation(), layers, null_token=null, **settings.arguments())
    step(f"{layers} layers")
    figure = depth_figure(theory, run.mean_cosine.mean, run.lower, run.upper, settings.title())
    extra = {"tau": value.tau, "phi": value.phi, "drift": 2 * value.tau + value.phi, "null_sink": null_sink,
             "quantiles": {"levels": [0.05, 0.95], "lower": run.lower.tolist(), "upper": run.upper.tolist()},
             "note": DEPTH_NOTE}
    return _compared("layer", np.arange(layers + 1), theory, run.mean_cosine.mean, run.mean_cosine.half_width,
                     extra, figure)


def simulate_pair(settings: Settings, attention: np.ndarray, pair: tuple[int, int], step: Step) -> Outcome:
    """The cosines of one pair over draws of the tokens, V fixed, against the law O2 predicts to first order."""
    value, dim = settings.value, settings.dim
    matrix = value.matrix
    if matrix is None:  # one draw of V, which the law needs
        noise = np.random.default_rng(settings.seed).standard_normal((dim, dim)) / math.sqrt(dim)
        matrix = value.tau * np.eye(dim) + math.sqrt(value.phi - value.tau**2) * noise
    if pair[0] == pair[1] or not 0 <= min(pair) <= max(pair) < settings.num_tokens:
        raise BadInput(
            f"expected two different tokens between 0 and {settings.num_tokens - 1}, got {pair[0]},{pair[1]}; "
                       "count tokens from 0")
    law = pair_law(attention, matrix, settings.rho, pair, norm=settings.norm)
    run = simulate_step(attention, matrix, queries=np.array(pair), **settings.arguments())
    step("draws")
    cosines = run.mean_cosines
    edges = histogram_edges(cosines)
    counts, _ = np.histogram(cosines, edges)
    expected = counts * 0.0
    if law.deviation > 0:
        expected = len(cosines) * np.diff(stats.norm.cdf(edges, law.cosine, law.deviation))
    mean, half = float(run.mean_cosine.mean), float(run.mean_cosine.half_width)
    result = {"setting": {"pair": list(pair)}, "theory": law.cosine, "mean": mean,
              "interval": [mean - half, mean + half],
              "deviation": {"theory": law.deviation, "measured": float(cosines.std(ddof=1))}}
    return Outcome(("left", "right", "count", "predicted"), tuple(zip(edges[:-1], edges[1:], counts, expected)),
                   (result,),
                   {"note": LIMIT_NOTE}, histogram_figure(cosines, law.cosine, law.deviation, settings.title()))


def _compared(name: str, setting: np.ndarray, theory: np.ndarray, mean: np.ndarray, half: np.ndarray, extra: dict,
              figure: Figure) -> Outcome:
    rows = tuple(zip(setting.tolist(), theory.tolist(), mean.tolist(), (mean - half).tolist(), (mean + half).tolist()))
    results = tuple({"setting": {name: value}, "theory": curve, "mean": centre, "interval": [low, high]}
                    for value, curve, centre, low, high in rows)
    return Outcome((name, "theory", "mean", "lower", "upper"), rows, results, {"note": LIMIT_NOTE, **extra}, figure)
