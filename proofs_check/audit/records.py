"""Records of a checkpoint on disk: arrays beside their scalars, so that a worker without torch can take up a layer."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import TypeVar

import numpy as np

from numerics.checkpoint.record import LayerPass, LayerWeights, Rotation

Record = TypeVar("Record", LayerPass, LayerWeights)


def save_record(path: Path, record: LayerPass | LayerWeights) -> None:
    """Arrays as float32 where that loses nothing (the models compute in float32), scalars as JSON in the same file."""
    arrays, scalars = {}, {}
    for field in fields(record):
        value = getattr(record, field.name)
        if isinstance(value, Rotation):
            arrays["rotation_cos"], arrays["rotation_sin"] = value.cos, value.sin
        elif isinstance(value, np.ndarray):
            narrow = value.astype(np.float32) if value.dtype == np.float64 else value
            arrays[field.name] = narrow if np.array_equal(narrow, value) else value
        else:
            scalars[field.name] = value
    np.savez(path, scalars=np.frombuffer(json.dumps(scalars).encode(), dtype=np.uint8), **arrays)


def load_record(path: Path, kind: type[Record]) -> Record:
    """The record as it was, floating-point arrays in float64."""
    with np.load(path, allow_pickle=False) as archive:
        values = json.loads(archive["scalars"].tobytes())
        rotation = {name: archive[name] for name in archive.files if name.startswith("rotation_")}
        for name in set(archive.files) - {"scalars", *rotation}:
            array = archive[name]
            values[name] = array.astype(np.float64) if array.dtype.kind == "f" else array
    if rotation:
        values["rotation"] = Rotation(
            rotation["rotation_cos"].astype(np.float64), rotation["rotation_sin"].astype(np.float64)
        )
    return kind(**values)
