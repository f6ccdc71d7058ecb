"""What is claimed, as data: reading and pinning `theorems.json` (its form is described in `gate`)."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from .rocq import sha256

HERE = Path(__file__).resolve().parent
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_']*\Z")


@dataclass(frozen=True)
class Entry:
    """One line of `theorems.json`: the theorem that stands for a part of a claim.

    `extra`: the theorem is proved beyond what the claims say; no claim has a part of this name.
    """

    claim: str
    part: str
    file: str
    theorem: str
    satisfiable: str = ""
    extra: bool = False


def read_list(directory: Path = HERE) -> tuple[dict[str, str], tuple[Entry, ...]]:
    """Read `theorems.json`: the pinned digest of each source, and the theorems.

    Raises ValueError, with one sentence, when the file is not what the module's docstring describes.
    """
    path = directory / "theorems.json"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        sources = {str(file): str(digest) for file, digest in data["sources"].items()}
        entries = tuple(Entry(**line) for line in data["theorems"])
    except (OSError, KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
        raise ValueError(f"expected sources and theorems in theorems.json, got {error!r}; restore its form") from error
    for file in sources:
        if not (file.endswith(".v") and NAME.match(file[:-2])):
            raise ValueError(f"expected names such as Geometry.v as sources of theorems.json, got {file!r}; rename it")
    seen = set()
    for entry in entries:
        if entry.file not in sources:
            raise ValueError(f"expected {entry.theorem} in a file that sources of theorems.json lists, got "
                             f"{entry.file}; list it")
        for name in (entry.theorem, entry.satisfiable or "none"):
            if not NAME.match(name):
                raise ValueError(f"expected identifiers of Rocq in theorems.json, got {name!r}; correct it")
        if not entry.claim or (entry.claim, entry.part) in seen:
            raise ValueError(f"expected each part of a named claim once in theorems.json, got {entry.part!r} of "
                             f"{entry.claim!r} twice or unnamed; correct it")
        if not isinstance(entry.extra, bool):
            raise ValueError(f"expected true or false as extra of {entry.theorem} in theorems.json, got "
                             f"{entry.extra!r}; correct it")
        seen.add((entry.claim, entry.part))
    return sources, entries


def pin(directory: Path = HERE) -> None:
    """Write the digests of the sources on disk into `theorems.json`."""
    path = directory / "theorems.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    for file in data["sources"]:
        if (directory / file).is_file():
            data["sources"][file] = sha256((directory / file).read_bytes())
    temporary = path.with_suffix(".json.new")
    temporary.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(temporary, path)
