"""Every engine that could kill a false neighbour, run on each neighbour by itself: which engine kills what.

What decides is the ledger's exact counterexample, which the kernel replays in every run.  The engines here do not see
it. Those that look for counterexamples hand over a certificate when they find one; a derivation of the true statement
must not go through for a false one; Rocq must not build a false theorem (`formal/mutants.json`, another set of false
statements).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from proofs_check.arms import Attack, Run
from proofs_check.claim import Claim, Variant
from proofs_check.engines.derivations import lemma_table
from proofs_check.formal.listing import read_list
from proofs_check.formal.mutants import read_mutants, run_mutants
from proofs_check.formal.rocq import RocqMissing, default_cache
from proofs_check.kernel.formula import parse
from proofs_check.kernel.symbolic import Prover, check_cover
from proofs_check.probing import ERRORS

# engine -> (arm, instances or evaluations spent on each neighbour)
ARMS: dict[str, tuple[Callable[[Run, int], Attack | None], int]] = {
    "instances": (Run.built_in, 40), "search": (Run.searched, 200), "assembled": (Run.assembled, 100),
    "changed": (Run.changed, 300), "optimiser": (Run.descended, 100), "samples": (Run.sampled, 25)}
NEEDS_BASES = ("changed", "optimiser")
BASES = 20
SHRINKS = 60
ENGINES = ("ledger", *ARMS, "derivation", "cover", "formal")


@dataclass(frozen=True)
class Attempt:
    """One engine on one neighbour (or on one Rocq mutant, named by its theorem and change).

    `tried` counts instances, or reasons given to the kernel.  `stopped` is what an engine that proves came to: the
    words with which it was refused, "" where the false statement went through.  None for engines whose kills are
    certificates.
    """

    variant: str
    engine: str
    tried: int
    stopped: str | None = None


@dataclass
class Planted:
    """What the engines did to a claim's neighbours."""

    attempts: list[Attempt] = field(default_factory=list)
    certificates: list[dict] = field(default_factory=list)


def plant(claim: Claim, profile: str, seed: int) -> Planted:
    """Run the engines: all of them in the full profile, those that prove and cost little in the quick one."""
    found = Planted()
    symbolic = any(_about_parameters(variant) for variant in claim.variants)
    lemmas = [[lemma_table(item) for item in part.derivation().lemmas] for part in claim.parts
              if symbolic and part.derivation is not None]
    splits = [list(part.splits()) for part in claim.parts if symbolic and part.splits is not None]
    statements = {table["name"]: table for table in claim.document()["variants"]}
    for variant in claim.variants:
        found.attempts += proofs_of(variant, statements[variant.part.name], lemmas, splits)
        if profile == "full":
            _search(claim, variant, seed, found)
    if profile == "full":
        found.attempts += mutants_of(claim)
    return found


def _search(claim: Claim, variant: Variant, seed: int, found: Planted) -> None:
    bases = Run(claim, variant.part, seed=seed)
    bases.fill(BASES)
    for engine, (arm, budget) in ARMS.items():
        run = Run(claim, variant.part, seed=seed)
        run.shrinks = SHRINKS
        if engine in NEEDS_BASES:
            run.pool = list(bases.pool)
        hit = arm(run, budget)
        if run.tried:
            found.attempts.append(Attempt(variant.part.name, engine, run.tried))
        if hit is not None:
            found.certificates.append({**hit.certificate, "engine": engine})


def proofs_of(variant: Variant, statement: dict, lemmas: Sequence[list], splits: Sequence[list]) -> Iterator[Attempt]:
    """What the claim's derivations and covers come to for a false statement about the same parameters."""
    if not _about_parameters(variant):
        return
    for tables in lemmas:
        tried, stopped = derive(statement, tables)
        yield Attempt(variant.part.name, "derivation", tried, stopped)
    for tree in splits:
        try:
            check_cover(statement, tree)
            yield Attempt(variant.part.name, "cover", 1, "")
        except ERRORS as reason:
            yield Attempt(variant.part.name, "cover", 1, str(reason))


def _about_parameters(variant: Variant) -> bool:
    return bool(variant.part.parameters) and not variant.part.variables


def derive(statement: dict, lemmas: Sequence[dict]) -> tuple[int, str]:
    """Try to prove a symbolic statement by another one's lemmas: (reasons tried, why it fails or "").

    Lemmas that still hold are kept; a conclusion that is not among them is tried with every reason the lemmas use and
    with those that need no data.
    """
    try:
        prover = Prover(statement)
    except ERRORS as reason:
        return 1, str(reason)
    tried, proved = 0, set()

    def holds(table: dict) -> bool:
        nonlocal tried
        tried += 1
        try:
            prover.lemma(table)
            return True
        except ERRORS:
            return False

    for table in lemmas:
        if holds(table):
            proved.add(ast.dump(parse(table["formula"])))
    reasons = [{"by": "identity"}, {"by": "orthant"}]
    reasons += [{key: value for key, value in table.items() if key != "formula"} for table in lemmas]
    for text in statement["conclusions"]:
        if ast.dump(parse(text)) not in proved and not any(holds({"formula": text, **reason}) for reason in reasons):
            return tried, f"no reason proves {text[:80]}"
    return tried, ""


def mutants_of(claim: Claim) -> list[Attempt]:
    """Rocq's answer to the false variants of the claim's theorems; none without Rocq."""
    theorems = {entry.theorem for entry in read_list()[1] if entry.claim == claim.id} | {claim.id}
    wanted = {item.theorem for item in read_mutants()} & theorems
    if not wanted:
        return []
    try:
        reports = run_mutants(cache=default_cache(), only=frozenset(wanted))
    except RocqMissing:
        return []
    return [Attempt(f"{report.mutant.theorem}: {report.mutant.what}", "formal", 1,
                    ("its proof fails" + (", its negation is proved" if report.negated else "")) if report.killed
                    else "")
            for report in reports]
