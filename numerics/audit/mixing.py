"""A block's real attention mixed toward a pattern: cosines obtained, and what O1m predicts for them.

With r_i = s_i n_i (up to what the norm removes) and V_h = W_O W_V Γ on the normalised tokens n,

    C y_i / s_i = n_i + sum_h sum_j (a^h_ij / s_i) C V_h n_j + C c / s_i ,

c the constant that biases add.  O1m is applied to the weights a^h_ij / s_i with n's own mean, covariance and trace; the
sink enters with its own vector.  What the prediction leaves out: neighbouring tokens are correlated, and A depends on
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float

from numerics.audit.drift import factored_statistics, value_factors
from numerics.checkpoint.rebuild import mix_values
from numerics.checkpoint.record import LayerPass, LayerWeights
from numerics.checkpoint.stream import Stream, stream
from numerics.moments import HeadStatistics, mean_off_diagonal, moment_cosines, noise_gram
from numerics.oversmoothing_embeddings import EmpiricalModel, empirical_model

__all__ = [
    "TARGETS",
    "BlockStep",
    "Comparison",
    "MixPoint",
    "compare",
    "equal_budget",
    "head_changes",
    "mix",
    "mix_points",
    "target_attention",
]

TARGETS = {
    "uniform": "every visible key alike",
    "sink": "the sink's key alone; rows that do not see it keep their attention",
    "diagonal": "the query's own key alone",
    "random": "control: a point drawn uniformly from the simplex of visible keys, at uniform's Frobenius distance",
    "random key": "control: one visible key drawn at random, at uniform's Frobenius distance",
}
CONTROLS = ("random", "random key")
Heads = Float[np.ndarray, "head token token"]


@dataclass(frozen=True)
class Comparison:
    """Mean cosine over pairs of content tokens after the block's residual step and norm (no gain).

    `predicted` is O1m's (None where a norm on the block's output makes the step non-linear); `pair_rms` the RMS over
    pairs of predicted minus measured, `pair_spread` the standard deviation of the measured ones, which a prediction
    must beat to say anything about single pairs.
    """

    measured: float
    predicted: float | None
    pair_rms: float | None
    pair_spread: float


@dataclass(frozen=True)
class MixPoint:
    """One point of the path A_t = (1-t) A + t U; `distance` is ‖A_t - A‖_F over all heads.

    `budget_met` is that distance over the one a control was asked for (1 for targets that are no controls).
    """

    target: str
    t: float
    distance: float
    budget_met: float
    result: Comparison


@dataclass(frozen=True, eq=False)
class BlockStep:
    """One block on one text: what does not depend on the attention put into it."""

    weights: LayerWeights
    layer: LayerPass
    sink: int = 0

    @cached_property
    def stream(self) -> Stream:
        return stream(self.weights, self.layer.residual)

    @cached_property
    def content(self) -> np.ndarray:
        return np.delete(np.arange(len(self.layer.residual)), self.sink)

    @cached_property
    def model(self) -> EmpiricalModel:
        return empirical_model(self.stream.normalised[self.content])

    @cached_property
    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        w_o, w_v = value_factors(self.weights)
        return w_o, w_v * self.weights.norm_gain

    @cached_property
    def statistics(self) -> HeadStatistics:
        return factored_statistics(*self.factors, self.model.covariance, self.model.direction, self.weights.norm)

    @cached_property
    def constant(self) -> Float[np.ndarray, " dim"]:
        """What biases add to every output: sum_h W_O (W_V b_norm + b_v) + b_o (rows of A sum to one)."""
        weights = self.weights
        inner = np.zeros(weights.w_v.shape[:2])
        if weights.norm_bias is not None:
            inner = inner + weights.w_v @ weights.norm_bias
        if weights.b_v is not None:
            inner = inner + weights.b_v
        total = sum(out @ inner[weights.key_value(head)] for head, out in enumerate(weights.w_o))
        return total if weights.b_o is None else total + weights.b_o

    def centred(self, rows: np.ndarray) -> np.ndarray:
        return rows - rows.mean(axis=1, keepdims=True) if self.weights.norm == "layer" else rows

    def outputs(self, attention: Heads) -> Float[np.ndarray, "token dim"]:
        """What the block adds to the stream under this attention, any norm on its output included."""
        added = mix_values(self.weights, self.layer.inputs, np.asarray(attention, dtype=np.float64))
        if self.weights.post_norm_gain is not None:
            size = np.sqrt(np.mean(added**2, axis=1, keepdims=True) + self.weights.norm_eps)
            added = added / size * self.weights.post_norm_gain
        return added

    def measured(self, attention: Heads) -> Float[np.ndarray, "content content"]:
        after = self.centred(self.layer.residual + self.outputs(attention))[self.content]
        return moment_cosines(after @ after.T)

    def predicted(self, attention: Heads) -> Float[np.ndarray, "content content"] | None:
        """O1m's cosines; None when the block's output is normalised before it is added."""
        if self.weights.post_norm_gain is not None:
            return None
        content, model, (w_o, w_v) = self.content, self.model, self.factors
        mean = model.scale * np.sqrt(model.rho) * model.direction
        common = np.einsum("hdr,hr->hd", w_o, w_v @ mean)
        sunk = np.einsum("hdr,hr->hd", w_o, w_v @ self.stream.normalised[self.sink])
        rows = np.asarray(attention, dtype=np.float64)[:, content] / self.stream.scale[content][:, None]
        inner, to_sink = rows[:, :, content], rows[:, :, self.sink]
        expected = (
            mean + inner.sum(axis=2).T @ common + to_sink.T @ sunk + self.constant / self.stream.scale[content][:, None]
        )
        expected = self.centred(expected)
        noise = (
            model.scale**2
            * (1 - model.rho)
            * noise_gram(inner, self.statistics.t0, self.statistics.tau, self.statistics.phi)
        )
        return moment_cosines(expected @ expected.T + noise)


def target_attention(
    name: str, visible: Bool[np.ndarray, "token token"], attention: Heads, sink: int, seed: int
) -> Heads:
    """The pattern `name` of `TARGETS` for every head, on the visible keys. Raises ValueError for another name."""
    size = len(visible)
    shape = np.shape(attention)
    if name == "uniform":
        rows = visible / visible.sum(axis=1, keepdims=True)
    elif name == "diagonal":
        rows = np.eye(size)
    elif name == "sink":
        return np.where(visible[:, sink][:, None], np.eye(size)[sink], attention)
    elif name in CONTROLS:
        drawn = np.random.default_rng(seed).exponential(size=shape) * visible
        if name == "random key":
            drawn = (drawn == drawn.max(axis=2, keepdims=True)).astype(np.float64)
        return drawn / drawn.sum(axis=2, keepdims=True)
    else:
        raise ValueError(f"expected a target among {', '.join(TARGETS)}, got {name!r}; choose one of them")
    return np.broadcast_to(rows, shape)


def mix(attention: Heads, target: Heads, t: float | Float[np.ndarray, " head"]) -> Heads:
    """(1-t) A + t U, t one number or one per head."""
    share = np.broadcast_to(np.asarray(t, dtype=np.float64), len(attention))[:, None, None]
    return (1 - share) * attention + share * target


def equal_budget(attention: Heads, wanted: Heads, target: Heads) -> Float[np.ndarray, " head"]:
    """Per head, the t at which mixing toward `target` moves as far in Frobenius norm as `wanted` is away, at most 1."""
    far = np.linalg.norm(wanted - attention, axis=(1, 2))
    reach = np.linalg.norm(target - attention, axis=(1, 2))
    return np.minimum(np.divide(far, reach, out=np.ones_like(far), where=reach > 0), 1.0)


def compare(step: BlockStep, attention: Heads) -> Comparison:
    """Measured and predicted cosines of one attention in one block."""
    measured, predicted = step.measured(attention), step.predicted(attention)
    pairs = ~np.eye(len(measured), dtype=bool)
    gap = None if predicted is None else float(np.sqrt(np.mean((predicted - measured)[pairs] ** 2)))
    return Comparison(
        mean_off_diagonal(measured),
        None if predicted is None else mean_off_diagonal(predicted),
        gap,
        float(measured[pairs].std()),
    )


def mix_points(step: BlockStep, t: Sequence[float], seed: int) -> list[MixPoint]:
    """The real attention (target "none", t = 0), then every target at every t in (0, 1].

    The controls move each head exactly as far as uniform does at that t, where they can reach that far.
    """
    own = np.asarray(step.layer.attention, dtype=np.float64)
    visible = step.layer.visible
    uniform = target_attention("uniform", visible, own, step.sink, seed)
    points = [MixPoint("none", 0.0, 0.0, 1.0, compare(step, own))]
    for name in TARGETS:
        target = target_attention(name, visible, own, step.sink, seed)
        for share in t:
            wanted = mix(own, uniform, share)
            moved = mix(own, target, equal_budget(own, wanted, target) if name in CONTROLS else share)
            distance, budget = float(np.linalg.norm(moved - own)), float(np.linalg.norm(wanted - own))
            met = distance / budget if name in CONTROLS and budget > 0 else 1.0
            points.append(MixPoint(name, float(share), distance, met, compare(step, moved)))
    return points


def head_changes(step: BlockStep) -> list[tuple[float, float | None]]:
    """Per head: the change of the mean cosine, measured and predicted, when that head alone becomes uniform."""
    own = np.asarray(step.layer.attention, dtype=np.float64)
    uniform = target_attention("uniform", step.layer.visible, own, step.sink, 0)
    before = compare(step, own)
    changes = []
    for head in range(len(own)):
        alone = np.zeros(len(own))
        alone[head] = 1.0
        after = compare(step, mix(own, uniform, alone))
        predicted = None if after.predicted is None or before.predicted is None else after.predicted - before.predicted
        changes.append((after.measured - before.measured, predicted))
    return changes
