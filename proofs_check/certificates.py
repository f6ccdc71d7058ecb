"""Writes certificates: one directory per claim, put in place whole or not at all."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from proofs_check.claim import Claim, Instance, Part, encode_instance
from proofs_check.kernel import CERTIFICATE_SCHEMA, canonical, digest


def certificate(claim: Claim, target: str, role: str, kind: str, engine: str, body: Mapping[str, object],
                subject: str = "") -> dict:
    """The content of a certificate file."""
    return {"schema": CERTIFICATE_SCHEMA, "claim": claim.id, "claim_digest": digest(claim.document()),
            "target": target, "role": role, "subject": subject, "kind": kind, "engine": engine, "body": dict(body)}


def instances_body(part: Part, instances: list[Instance]) -> dict:
    return {"instances": [encode_instance(part, item) for item in instances]}


def write_cloud(directory: Path, array: np.ndarray) -> dict:
    """Store rows of floats as a sidecar named by its sha256; returns the value that refers to it."""
    if array.dtype not in (np.float16, np.float32, np.float64):
        raise ValueError(f"expected float16, float32 or float64 rows, got {array.dtype}; convert them first")
    raw = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    sha = hashlib.sha256(raw.data).hexdigest()
    write_whole(directory / f"{sha}.bin", raw.tobytes())
    return {"sidecar": sha, "dtype": str(array.dtype), "shape": [str(size) for size in array.shape]}


def write_whole(path: Path, content: bytes) -> None:
    """Write under a temporary name, then rename: a reader never sees half a file."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@contextmanager
def whole_directory(path: Path) -> Iterator[Path]:
    """A directory to fill, renamed to `path` (replacing it) when the block ends well, removed otherwise."""
    made = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=".writing-"))
    os.chmod(temporary, 0o755)
    discarded: Path | None = None
    try:
        yield temporary
        if path.exists():
            discarded = Path(tempfile.mkdtemp(dir=path.parent, prefix=".writing-"))
            os.replace(path, discarded / "old")
        os.replace(temporary, path)
        if discarded is not None:
            shutil.rmtree(discarded)
    except BaseException:
        if discarded is not None:  # what was there comes back, unless the new one is in place already
            if (discarded / "old").exists() and not path.exists():
                os.replace(discarded / "old", path)
            shutil.rmtree(discarded, ignore_errors=True)
        shutil.rmtree(temporary, ignore_errors=True)
        for folder in made:  # a failure leaves no empty folders either
            with suppress(OSError):
                folder.rmdir()
        raise


def write_claim(directory: Path, claim: Claim, certificates: list[dict]) -> list[str]:
    """Write `claim.json` and the certificates; returns the certificates' file names."""
    (directory / "claim.json").write_bytes(canonical(claim.document()))
    names = []
    for item in certificates:
        label = "-".join(filter(None, (item["engine"], item["target"], item["role"], item["subject"])))
        name = f"cert-{_slug(label)}.json"
        if name in names:
            name = f"cert-{_slug(label)}-{digest(item)[:8]}.json"
        (directory / name).write_bytes(canonical(item))
        names.append(name)
    return names


def _slug(text: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in text.lower())
