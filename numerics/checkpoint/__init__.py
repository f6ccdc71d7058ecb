"""Real checkpoints: loading, extraction with its check, interventions; torch and transformers are the extra `models`.

`open_checkpoint` opens what a user has on disk; `Checkpoint.run` hands each layer's record to a visitor;
`check_extraction` says whether the record gives back what the model computed.
"""

from numerics.checkpoint.engine import MissingModels
from numerics.checkpoint.loading import memory_needed, open_checkpoint
from numerics.checkpoint.model import Checkpoint
from numerics.checkpoint.rebuild import Agreement, ExtractionError, check_extraction, rebuild
from numerics.checkpoint.record import LayerPass, LayerWeights, Rotation

__all__ = [
    "Agreement",
    "Checkpoint",
    "ExtractionError",
    "LayerPass",
    "LayerWeights",
    "MissingModels",
    "Rotation",
    "check_extraction",
    "memory_needed",
    "open_checkpoint",
    "rebuild",
]
