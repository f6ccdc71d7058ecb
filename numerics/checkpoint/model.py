"""An opened checkpoint: its sizes, its tokenizer, its weights layer by layer, and passes over a text.

A pass hands each layer to a visitor as it is computed and keeps nothing: memory stays near the model's own size.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from numerics.checkpoint.engine import engine
from numerics.checkpoint.families import Family, layer_weights
from numerics.checkpoint.memory import attention_bytes, require_memory
from numerics.checkpoint.rebuild import mix_values
from numerics.checkpoint.record import LayerPass, LayerWeights, Rotation

__all__ = ["Checkpoint"]

Visitor = Callable[[LayerPass], None]


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A decoder-only transformer in float32 with its tokenizer; `numerics.checkpoint.open_checkpoint` makes it.

    `context` is the longest text in tokens; `bos_id` is None when the tokenizer names no BOS token.  `model` (the base
    model, without the output layer) and `tokenizer` are transformers' objects.
    """

    name: str
    family: str
    layers: int
    heads: int
    kv_heads: int
    dim: int
    head_dim: int
    context: int
    vocabulary: int
    bos_id: int | None
    model: Any
    tokenizer: Any
    places: Family

    def encode(self, text: str) -> list[int]:
        """Token ids of `text`, without any special token that the tokenizer would add."""
        return self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]

    def decode(self, token: int) -> str:
        """The text of one token id."""
        return self.tokenizer.decode([token])

    def weights(self, layer: int) -> LayerWeights:
        """The attention block of one layer in float64; raises ValueError for a layer that does not exist."""
        self._require_layer(layer)
        return layer_weights(self.places, self._blocks[layer], self.model.config, layer)

    def run(
        self, ids: Sequence[int], visit: Visitor, layers: Collection[int] | None = None
    ) -> Float[np.ndarray, "token dim"]:
        """One forward pass in float32; `visit` is called with each layer (of `layers`, if given) as it is computed.

        The pass starts at position 0 with exactly these ids: put `bos_id` first for a text with BOS.  Returns the
        hidden states after the last norm, in float64.  Raises ValueError for no ids, ids outside the vocabulary, a
        text longer than the context or needing more memory than is free, or a layer that does not exist.
        """
        return self._pass(ids, visit, layers)

    def run_with(
        self,
        ids: Sequence[int],
        layer: int,
        attention: Float[np.ndarray, "head token token"],
        visit: Visitor,
        *,
        layers: Collection[int] | None = None,
        residual: Float[np.ndarray, "token dim"] | None = None,
    ) -> Float[np.ndarray, "token dim"]:
        """The pass of `run` with one layer's attention replaced: its heads mix values by `attention`, query first.

        Everything after that layer sees the change.  That layer's own visit has the given attention and the output it
        makes.  With `residual`, the stream before that layer as an earlier pass of the same ids saw it
        (`LayerPass.residual`), the layers before it are neither computed again nor visited.

        Returns the hidden states after the last norm, in float64.  Raises ValueError as `run` does, and for arrays of
        another shape or with NaN.  Any finite weights are taken: rows need not lie on the simplex.
        """
        return self._pass(ids, visit, layers, replaced=(layer, attention), residual=residual)

    @property
    def _blocks(self) -> Any:
        return getattr(self.model, self.places.blocks)

    def _pass(
        self,
        ids: Sequence[int],
        visit: Visitor,
        layers: Collection[int] | None,
        replaced: tuple[int, np.ndarray] | None = None,
        residual: np.ndarray | None = None,
    ) -> np.ndarray:
        torch, count = engine().torch, self._require_ids(ids)
        wanted = range(self.layers) if layers is None else layers
        for layer in (*wanted, *(() if replaced is None else replaced[:1])):
            self._require_layer(layer)
        if replaced is not None:
            _require_array("attention", replaced[1], (self.heads, count, count))
        start = 0
        with _Hooks() as hooks:
            if residual is not None:
                _require_array("residual", residual, (count, self.dim))
                start = replaced[0]
                stream = torch.as_tensor(residual, dtype=torch.float32)[None]
                hooks.skip(self._blocks[:start], self._blocks[start], stream)
            for layer in range(start, self.layers):
                new = replaced[1] if replaced is not None and layer == replaced[0] else None
                if layer in wanted or new is not None:
                    self._watch(hooks, layer, visit if layer in wanted else None, new)
            with torch.inference_mode():
                states = self.model(input_ids=torch.tensor([list(ids)]), use_cache=False).last_hidden_state
        return states[0].double().numpy()

    def _watch(self, hooks: _Hooks, layer: int, visit: Visitor | None, new: np.ndarray | None) -> None:
        """Hook one block: hand what it computes to `visit`; with `new` attention it goes on from that."""
        block, seen = self._blocks[layer], {}

        def on_norm(module: Any, given: tuple, inputs: Any) -> None:
            seen["residual"], seen["inputs"] = _numpy(given[0]), _numpy(inputs)

        def on_attention(module: Any, given: tuple, named: dict, made: tuple) -> tuple | None:
            output, attention = made
            if new is not None:
                weights = self.weights(layer)
                mixed = mix_values(weights, seen["inputs"], np.asarray(new, dtype=np.float64))
                output, attention = output.new_tensor(mixed)[None], attention.new_tensor(new)[None]
            if visit is not None:
                visit(LayerPass(layer, seen["residual"], seen["inputs"], _numpy(attention), _numpy(output),
                                _visible(named["attention_mask"]), _rotation(named.get("position_embeddings"))))
            seen.clear()
            return None if new is None else (output, attention)

        hooks.add(getattr(block, self.places.norm).register_forward_hook(on_norm))
        hooks.add(getattr(block, self.places.attention).register_forward_hook(on_attention, with_kwargs=True))

    def _require_ids(self, ids: Sequence[int]) -> int:
        count = len(ids)
        if count == 0:
            raise ValueError("expected at least one token, got none; give a text that is not empty")
        if count > self.context:
            raise ValueError(f"expected at most {self.context} tokens, the context of {self.name}, got {count};"
                             " give a shorter text or a smaller length")
        if not (min(ids) >= 0 and max(ids) < self.vocabulary):
            raise ValueError(f"expected token ids in 0..{self.vocabulary - 1}, got {min(ids)}..{max(ids)};"
                             f" encode the text with the tokenizer of {self.name}")
        require_memory(attention_bytes(self.heads, count), f"attention over {count} tokens", "give a shorter text")
        return count

    def _require_layer(self, layer: int) -> None:
        if not 0 <= layer < self.layers:
            raise ValueError(f"expected a layer in 0..{self.layers - 1}, got {layer}; choose a layer of"
                             f" {self.name}")


class _Hooks:
    """Hooks and skipped blocks of one pass; leaving the context removes all of them, whatever happened."""

    def __init__(self) -> None:
        self._handles: list[Any] = []
        self._skipped: list[Any] = []

    def __enter__(self) -> _Hooks:
        return self

    def __exit__(self, *_: object) -> None:
        for handle in self._handles:
            handle.remove()
        for block in self._skipped:
            del block.forward

    def add(self, handle: Any) -> None:
        self._handles.append(handle)

    def skip(self, blocks: Any, entered: Any, stream: Any) -> None:
        """Let `blocks` pass on what they get, and `entered` start from `stream` instead."""
        for block in blocks:
            block.forward = lambda hidden_states, *_, **__: hidden_states  # shadows the class's method until `del`
            self._skipped.append(block)
        self.add(entered.register_forward_pre_hook(
            lambda module, given, named: ((stream, *given[1:]), named), with_kwargs=True))


def _require_array(name: str, array: np.ndarray, shape: tuple[int, ...]) -> None:
    if np.shape(array) != shape or not np.isfinite(array).all():
        found = np.shape(array) if np.shape(array) != shape else "NaN or infinity"
        raise ValueError(f"expected {name} of shape {shape} with finite entries, got {found}; build it for this"
                         " text and model")


def _visible(mask: Any) -> np.ndarray:
    """The model's own additive mask (batch, 1, query, key), 0 where a key is seen."""
    return (mask[0, 0] == 0).numpy()


def _rotation(tables: tuple[Any, Any] | None) -> Rotation | None:
    return None if tables is None else Rotation(cos=_numpy(tables[0]), sin=_numpy(tables[1]))


def _numpy(batch: Any) -> np.ndarray:
    """The only sequence of a batch, in float64."""
    return batch[0].double().numpy()
