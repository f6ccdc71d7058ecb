"""The main job: gather evidence claim by claim, replay what was gathered, judge, and say what came out.

Gathering is kept on disk under a key (claim, code, seed, effort), so an interrupted run goes on where it stopped.  Only
certificates are kept, never verdicts: every run replays them.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from importlib import metadata, resources
from pathlib import Path

from numerics.workers import unordered
from proofs_check.blame import blame
from proofs_check.certificates import whole_directory, write_claim, write_whole
from proofs_check.claim import Claim
from proofs_check.claims import all_claims, claim_beside, claim_by_id, load_claims
from proofs_check.engines import ENGINES, Context
from proofs_check.kernel import Rejected, Replayed, canonical, digest, read_json, replay_files
from proofs_check.neighbours import Attempt, plant
from proofs_check.verdict import Trouble, Verdict, counted, judge

LEDGER = ("satisfiable", "attained", "dropped", "refuted")
EXAMPLES = {"quick": 40, "full": 400}
PACKAGES = ("python-flint", "sympy", "numpy", "scipy", "jax", "cvxpy", "hypothesis")


@dataclass(frozen=True)
class Options:
    """Where results go and how much effort is spent; `seed` fixes every draw."""

    out: Path
    profile: str = "quick"
    seed: int = 0
    claims_file: Path | None = None


@dataclass(frozen=True)
class ClaimResult:
    """One claim's verdict with everything that led to it."""

    claim: Claim
    verdict: Verdict
    replayed: tuple[tuple[str, Replayed], ...]
    rejected: tuple[tuple[str, str], ...]
    troubles: tuple[Trouble, ...]
    seconds: dict[str, float]
    attempts: tuple[Attempt, ...] = ()


@cache
def code_digest(rooms: tuple[str, ...] = ("theory", "numerics", "proofs_check")) -> str:
    """sha256 over the sources of rooms, so that a change of code makes stored evidence stale."""
    running = hashlib.sha256()
    for room in rooms:
        root = Path(str(resources.files(room)))
        for path in sorted(root.rglob("*")):
            if path.suffix in (".py", ".v", ".json", ".npz"):
                running.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return running.hexdigest()


@cache
def environment() -> dict[str, str]:
    """Versions that a result may depend on; '' for what is not installed."""
    from proofs_check.formal.rocq import RocqMissing, find_toolchain

    versions = {"python": platform.python_version(), "machine": platform.machine()}
    versions.update({name: metadata.version(name) for name in PACKAGES})
    try:
        versions.update({f"rocq: {name}": value for name, value in find_toolchain().versions})
    except RocqMissing:
        versions["rocq"] = ""
    return versions


def run_key(claim: Claim, options: Options) -> str:
    content = {"claim": digest(claim.document()), "code": code_digest(), "seed": str(options.seed),
               "profile": options.profile, "environment": environment()}
    if options.claims_file is not None:
        content["file"] = hashlib.sha256(options.claims_file.read_bytes()).hexdigest()
    return digest(content)


def selected(ids: Sequence[str], options: Options) -> tuple[Claim, ...]:
    """The claims to verify, with the claims they use (in an order where used claims come first)."""
    own = load_claims(options.claims_file) if options.claims_file else ()

    def find(name: str) -> Claim:
        return claim_by_id(name, own=own)

    wanted = [find(name) for name in ids] or list(own or all_claims())
    ordered: dict[str, Claim] = {}

    def add(claim: Claim) -> None:
        if claim.id not in ordered:
            for name in claim.uses:
                add(find(name))
            ordered[claim.id] = claim

    for claim in wanted:
        add(claim)
    return tuple(ordered.values())


def gather(name: str, options: Options) -> str:
    """Run every engine on one claim and put its certificate directory in place; returns the id."""
    claim = claim_beside(name, options.claims_file)
    certificates, troubles, seconds = [], [], {}
    with whole_directory(claim_directory(options, name)) as directory:
        context = Context(directory, options.seed, EXAMPLES[options.profile], options.profile)
        for engine, run in ENGINES.items():
            start = time.monotonic()
            try:
                found = run(claim, context)
            except Rejected as error:
                raise type(error)(f"claim {name}, {error}") from error
            seconds[engine] = time.monotonic() - start
            certificates += found.certificates
            troubles += found.troubles
        start = time.monotonic()
        planted = plant(claim, options.profile, options.seed)
        seconds["neighbours"] = time.monotonic() - start
        certificates += planted.certificates
        write_claim(directory, claim, certificates)
        write_whole(directory / "run.json", canonical({
            "key": run_key(claim, options), "environment": environment(), "seed": str(options.seed),
            "profile": options.profile, "seconds": {key: f"{value:.3f}" for key, value in seconds.items()},
            "troubles": [[item.part, item.kind, item.message] for item in counted(troubles)],
            "attempts": [{key: str(value) for key, value in asdict(item).items() if value is not None}
                         for item in planted.attempts]}))
    return name


def claim_directory(options: Options, name: str) -> Path:
    return options.out / "certificates" / "".join(c if c.isalnum() else "-" for c in name)


def is_fresh(claim: Claim, options: Options) -> bool:
    """Has this claim been gathered by this code, with this seed and effort?"""
    path = claim_directory(options, claim.id) / "run.json"
    return path.is_file() and json.loads(path.read_text())["key"] == run_key(claim, options)


def collect(claim: Claim, options: Options, earlier: dict[str, ClaimResult]) -> ClaimResult:
    """Replay a claim's directory and judge it."""
    directory = claim_directory(options, claim.id)
    accepted, rejected = replay_files(directory)
    run = read_json(directory / "run.json")
    troubles = [Trouble(*item) for item in run["troubles"]]
    attempts = tuple(Attempt(**{**item, "tried": int(item["tried"])}) for item in run["attempts"])
    troubles += [Trouble(item.variant, "error", f"'{item.variant}' is false, and the {item.engine} engine proves it")
                 for item in attempts if item.stopped == ""]
    for name, reason in rejected:
        body = read_json(directory / name)
        kind = "suspect" if body["role"] == "refuted" and body["target"] in {p.name for p in claim.parts} else "error"
        troubles.append(Trouble(body["target"], kind, f"{_whose(body, claim)} ({name}): {reason}"
                                f"{_fault(body, claim, directory, str(reason))}"))
    verdict = judge(claim, [record for _, record in accepted], troubles,
                    {name: result.verdict for name, result in earlier.items()})
    return ClaimResult(claim, verdict, tuple(accepted), tuple((name, str(reason)) for name, reason in rejected),
                       tuple(troubles), {name: float(value) for name, value in run["seconds"].items()}, attempts)


def _whose(body: dict, claim: Claim) -> str:
    """What a rejected certificate was to show, in the words of whoever wrote the claim."""
    if body["role"] == "refuted" and body["target"] not in {part.name for part in claim.parts}:
        return f"variant '{body['target']}': its counterexample does not refute it"
    if body["role"] == "dropped":
        return f"hypothesis '{body['subject']}' of part '{body['target']}': its counterexample does not show it needed"
    return f"part '{body['target']}': the {body['role']} certificate did not replay"


def _fault(body: dict, claim: Claim, directory: Path, reason: str) -> str:
    """Where an instance of the ledger goes wrong, to follow the kernel's reason; "" where that says all."""
    document = claim.document()
    parts = {table["name"]: table for table in (*document["parts"], *document["variants"])}
    content = body.get("body")
    listed = content.get("instances") if isinstance(content, dict) else None
    if body["target"] not in parts or body["role"] not in LEDGER or not isinstance(listed, list) or len(listed) != 1:
        return ""
    said = blame(parts[body["target"]], listed[0], directory, body["subject"],
                 conclude=body["role"] not in ("dropped", "refuted"))
    return f"; {said}" if said and said != reason else ""


def verify(ids: Sequence[str], options: Options, jobs: int = 1,
           progress: Callable[[str, bool], None] = lambda name, resumed: None,
           replayed: Callable[[ClaimResult], None] = lambda result: None) -> tuple[ClaimResult, ...]:
    """Gather what is missing, then replay and judge everything.

    `progress(id, resumed)` is called as evidence is gathered or found stored, `replayed(result)` as claims are judged.
    """
    claims = selected(ids, options)
    options.out.mkdir(parents=True, exist_ok=True)
    missing = []
    for claim in claims:
        if is_fresh(claim, options):
            progress(claim.id, True)
        else:
            missing.append(claim.id)
    try:
        for name in unordered(partial(gather, options=options), missing, jobs):
            progress(name, False)
    finally:
        _sweep_up(options)
    results: dict[str, ClaimResult] = {}
    for claim in claims:
        results[claim.id] = collect(claim, options, results)
        replayed(results[claim.id])
    return tuple(results.values())


def _sweep_up(options: Options) -> None:
    """Remove what a terminated worker, or a killed run, left half-written."""
    for path in (options.out / "certificates").glob(".writing-*"):
        shutil.rmtree(path, ignore_errors=True)
    for path in options.out.glob(".writing-*"):
        path.unlink(missing_ok=True)
