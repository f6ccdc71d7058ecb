"""Rocq's answer for the parts that have a theorem: the gate builds once per process, each claim takes its own."""

from __future__ import annotations

import shutil
from functools import cache

from proofs_check.certificates import certificate
from proofs_check.claim import Claim, formal_theorem
from proofs_check.engines.gathering import Context, Gathered
from proofs_check.formal.gate import HERE, GateResult, default_cache, run_gate
from proofs_check.formal.rocq import RocqMissing
from proofs_check.verdict import Trouble


@cache
def gate_result() -> GateResult | None:
    """The gate's result, or None where Rocq is not installed."""
    try:
        return run_gate(cache=default_cache())
    except RocqMissing:
        return None


def formal(claim: Claim, context: Context) -> Gathered:
    """A certificate per part whose theorem the gate accepted; without Rocq nothing, which the report says."""
    found = Gathered()
    wanted = {part.name: formal_theorem(claim.id, part.name) for part in claim.parts}
    wanted = {name: theorem for name, theorem in wanted.items() if theorem}
    result = gate_result() if wanted else None
    if result is None:
        return found
    accepted = {(report.claim, report.part): report for report in result.accepted}
    for name, theorem in wanted.items():
        report = accepted.get((claim.id, name))
        if report is None:
            found.troubles.append(
                Trouble(name, "error", f"part '{name}': the gate rejects the theorem {theorem['theorem']}"))
            continue
        for file, sha in theorem["sources"].items():
            shutil.copyfile(HERE / file, context.directory / f"{sha}.v")
        found.certificates.append(certificate(claim, name, "evidence", "formal", "rocq", {
            "theorem": report.theorem, "assumptions": report.assumptions,
            "sources": theorem["sources"], "toolchain": dict(result.versions)}))
    return found
