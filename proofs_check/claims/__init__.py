"""The claims of the theory, one package per family and one file per claim id.

A file defines `CLAIM`; the registry imports them by name, so a new file is a new claim.
"""

from proofs_check.claims.registry import FAMILIES, all_claims, claim_beside, claim_by_id, claim_ids, load_claims

__all__ = ["FAMILIES", "all_claims", "claim_beside", "claim_by_id", "claim_ids", "load_claims"]
