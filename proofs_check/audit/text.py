"""The texts of an audit: paragraphs, what is prepended, and every sequence that is run through the model."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from proofs_check.inputs import BadInput

PACKAGED = "numerics/data/paragraphs.txt"
LONGEST_TEXT = 2**24  # bytes
WITH, WITHOUT, SHUFFLED = "with BOS", "without BOS", "with BOS, content shuffled"


@dataclass(frozen=True)
class Run:
    """One run: `condition` names how it was made; `sink` is always row 0 (BOS, or the first token without it)."""

    name: str
    condition: str
    ids: tuple[int, ...]
    bos: bool
    pooled: bool  # its rows join the layer's pool of content tokens
    measured: bool  # attention and cosines are measured, not only the pool filled


@dataclass(frozen=True)
class Paragraphs:
    """Paragraphs of a text and where they came from."""

    source: str
    digest: str
    texts: tuple[str, ...]


def read_paragraphs(path: Path | None) -> Paragraphs:
    """Paragraphs are separated by empty lines; a paragraph's lines are joined by blanks. None: the packaged text."""
    if path is None:
        raw, source = (resources.files("numerics") / "data" / "paragraphs.txt").read_bytes(), "packaged paragraphs"
    else:
        if not path.is_file():
            raise BadInput(f"expected a text file, found no file '{path}'; check the path")
        if path.stat().st_size > LONGEST_TEXT:
            raise BadInput(
                f"expected a text of at most {LONGEST_TEXT // 2**20} MiB, got {path.stat().st_size} bytes in '{path}'; "
                "give a part of it"
            )
        raw, source = path.read_bytes(), path.name
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(
            f"expected UTF-8 text in '{path}', got a byte that is not at position {error.start}; save it as UTF-8"
        ) from None
    blocks = [" ".join(block.split()) for block in "\n".join(line.rstrip() for line in text.splitlines()).split("\n\n")]
    texts = tuple(block for block in blocks if block)
    if not texts:
        raise BadInput(f"expected some text in '{path}', got none; write a few paragraphs separated by empty lines")
    return Paragraphs(source, hashlib.sha256(raw).hexdigest(), texts)


def plan(
    paragraphs: Paragraphs,
    encode: Callable[[str], Sequence[int]],
    bos: int | None,
    context: int,
    *,
    measured: int,
    lengths: Sequence[int] | None,
    seed: int,
) -> list[Run]:
    """Every sequence of the audit, in the order in which they are run.

    The first `measured` paragraphs are measured with BOS, without, and with their content shuffled (a control); all
    paragraphs fill the pools; the joined paragraphs are cut at each length.  Without a BOS token there is no run with
    it. Raises BadInput for a paragraph or length that does not fit the context, or too few tokens.
    """
    ids = [tuple(int(token) for token in encode(text)) for text in paragraphs.texts]
    room = context - (bos is not None)
    for number, tokens in enumerate(ids, 1):
        if len(tokens) > room:
            raise BadInput(
                f"expected paragraphs of at most {room} tokens (the model's context of {context}"
                f"{' less BOS' if bos is not None else ''}), got {len(tokens)} in paragraph {number} of "
                f"{paragraphs.source}; split it by an empty line"
            )
    ids = [tokens for tokens in ids if len(tokens) >= 4]
    if not ids:
        raise BadInput(
            f"expected a paragraph of at least four tokens in {paragraphs.source}, got none; give a longer text"
        )
    chosen = min(measured, len(ids))
    start = () if bos is None else (bos,)
    found: list[Run] = []
    for number, tokens in enumerate(ids):
        own = number < chosen
        if bos is not None:
            found.append(Run(f"with-{number}", WITH, start + tokens, True, True, own))
        found.append(Run(f"without-{number}", WITHOUT, tokens, False, True, own))
        if own:
            order = list(tokens)
            random.Random(seed + number).shuffle(order)
            found.append(
                Run(
                    f"shuffled-{number}",
                    SHUFFLED if bos is not None else f"{WITHOUT}, content shuffled",
                    start + tuple(order),
                    bos is not None,
                    False,
                    True,
                )
            )
    joined = tuple(token for tokens in ids for token in tokens)
    for length in _lengths(lengths, len(joined) + len(start), context):
        if bos is not None:
            found.append(
                Run(f"length-{length}", f"{WITH}, {length} tokens", start + joined[: length - 1], True, False, True)
            )
        if length <= len(joined):
            found.append(
                Run(f"length-{length}-without", f"{WITHOUT}, {length} tokens", joined[:length], False, False, True)
            )
    return found


def _lengths(asked: Sequence[int] | None, available: int, context: int) -> list[int]:
    if asked is None:
        return [length for length in (16, 64, 256, 512) if length <= min(available, context)]
    for length in asked:
        if length < 4:
            raise BadInput(f"expected lengths of at least 4 tokens, got {length}; cosines and ranks need some content")
        if length > context:
            raise BadInput(
                f"expected lengths of at most the model's context of {context} tokens, got {length}; ask for less"
            )
        if length > available:
            raise BadInput(
                f"expected lengths of at most the text's {available} tokens, got {length}; give a longer text"
            )
    return sorted(set(asked))
