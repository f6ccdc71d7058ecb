"""Readers of bytes, one target each: whatever the bytes, the answer is an array, a value or the one kind of refusal."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random

INSTRUMENTED = ["proofs_check.kernel", "proofs_check.inputs", "zipfile", "json", "numpy.lib.format",
                "numpy.lib._format_impl", "numpy.lib._npyio_impl"]
ENDINGS = {"npy": ".npy", "npz": ".npz", "safetensors": ".safetensors", "json": ".json", "formula": "", "replay": ""}


def arrays(path: Path) -> Callable[[bytes], None]:
    """The user's arrays: `read_tokens` gives finite floats or a `BadInput` of one line."""
    import numpy as np

    from proofs_check.inputs import BadInput, read_tokens

    def target(raw: bytes) -> None:
        path.write_bytes(raw)
        for name, sink in ((str(path), None), (str(path), "0"), (f"{path}:x", "s")):
            try:
                tokens = read_tokens(name, sink)
            except BadInput as refusal:
                if len(str(refusal).splitlines()) != 1 or "expected" not in str(refusal):
                    raise AssertionError(f"not one sentence: {refusal}") from None
            else:
                if not (tokens.content.ndim == 2 and np.isfinite(tokens.content).all() and len(tokens.content) >= 2):
                    raise AssertionError("tokens that are none were accepted")

    return target


def certificate_json(path: Path) -> Callable[[bytes], None]:
    """The kernel's JSON: what is accepted survives being written and read once more, everything else is `Malformed`."""
    from proofs_check.kernel import Malformed, canonical, read_json

    def target(raw: bytes) -> None:
        path.write_bytes(raw)
        try:
            value = read_json(path)
        except Malformed:
            return
        path.write_bytes(canonical(value))
        if read_json(path) != value:
            raise AssertionError("another value after one more reading")

    return target


def formulas(_path: Path) -> Callable[[bytes], None]:
    """The formula language: a decision with booleans, or what `replay` turns into a rejection."""
    from flint import fmpq

    from proofs_check.kernel.encoding import Rejected
    from proofs_check.kernel.formula import decide

    values = {"x": fmpq(1, 3), "y": [fmpq(1), fmpq(2)], "z": [[fmpq(1), fmpq(0)], [fmpq(0), fmpq(1)]], "n": 3}

    def target(raw: bytes) -> None:
        text = raw.decode("utf-8", "surrogateescape")
        try:
            found = decide(dict(values), [["s", text]], [], [text, "s == s"], {"w": {"normal": ["1", "1"]}})
        except (Rejected, ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError):
            return
        if not all(isinstance(item, bool) for item in found):
            raise AssertionError("a decision that is none")

    return target


def replays(path: Path) -> Callable[[bytes], None]:
    """A changed claim with its certificates, changed as the bytes say: `check` keeps the command line's promises."""
    from fuzz_commands import emptied
    from fuzz_files import certificate_folder, sound_claim
    from fuzz_oracle import findings, run, tree

    base = sound_claim()

    class Bytes(Random):
        """A `Random` that reads its bits from given bytes, zeros after their end."""

        def __init__(self, raw: bytes):
            super().__init__()
            self.raw, self.position = raw, 0

        def getrandbits(self, count: int) -> int:
            size = (count + 7) // 8
            found = self.raw[self.position:self.position + size].ljust(size, b"\0")
            self.position += size
            return int.from_bytes(found, "little") & ((1 << count) - 1)

        def random(self) -> float:
            return self.getrandbits(16) / 65536

    def target(raw: bytes) -> None:
        folder = emptied(path.with_suffix(".d"))
        certificate_folder(Bytes(raw), folder, base)
        before = tree(folder)
        arguments = ["check", str(folder)]
        found = findings(arguments, folder, before, run(arguments, folder), False)
        if found:
            raise AssertionError(found[0])

    return target


TARGETS = {"npy": arrays, "npz": arrays, "safetensors": arrays, "json": certificate_json, "formula": formulas,
           "replay": replays}


def seeds(name: str, count: int) -> list[bytes]:
    """Starting points: what the makers of `fuzz_files` make for the target."""
    from fuzz_files import MAKERS, change_json, dumped, formula, sound_claim

    if ENDINGS[name] in MAKERS:
        return [MAKERS[ENDINGS[name]](Random(seed)) for seed in range(count)]
    if name == "formula":
        return [formula(Random(seed)).encode() for seed in range(count)]
    if name == "json":
        claim = json.loads(sound_claim()["claim.json"])
        return [dumped(Random(seed), change_json(Random(seed), claim)) for seed in range(count)]
    return [Random(seed).randbytes(200) for seed in range(count)]


def fuzz_bytes(name: str, seconds: float, seed: int) -> int:
    """Let atheris look for bytes that break the target's promise; it ends the process, with 0 when there were none."""
    try:
        import atheris
    except ModuleNotFoundError:
        print("fuzzing: expected the package atheris, found none; install it, or fuzz without it: 'commands' and "
              "'check'", file=sys.stderr)
        return 3
    with atheris.instrument_imports(include=INSTRUMENTED):
        import proofs_check.inputs
        import proofs_check.kernel  # noqa: F401
    folder = Path(tempfile.mkdtemp())
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, raw in enumerate(seeds(name, 200)):
        (corpus / str(number)).write_bytes(raw)
    target = TARGETS[name](folder / f"x{ENDINGS[name]}")
    warnings.simplefilter("error")
    os.chdir(folder)  # a finding is written there
    print(f"{name}: findings are kept in {folder}", flush=True)
    atheris.Setup([sys.argv[0], str(corpus), f"-max_total_time={int(seconds)}", f"-seed={seed + 1}", "-timeout=60",
                   "-rss_limit_mb=6000", "-max_len=4096", "-print_final_stats=1"], target)
    atheris.Fuzz()
    return 0
