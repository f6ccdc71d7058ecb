"""Engines gather evidence for a claim's parts and hand over certificates; none of them judges."""

from proofs_check.engines.derivations import derivations
from proofs_check.engines.formal import formal
from proofs_check.engines.gathering import Context, Gathered
from proofs_check.engines.ledger import ledger
from proofs_check.engines.instances import instances
from proofs_check.engines.sampling import sampling
from proofs_check.engines.search import search

ENGINES = {"ledger": ledger, "instances": instances, "search": search, "sampling": sampling,
           "derivation": derivations, "formal": formal}

__all__ = ["ENGINES", "Context", "Gathered"]
