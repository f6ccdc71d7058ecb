"""Verdicts: computed from replayed certificates, by the weakest link, and from nothing else.

The only way to a `Verdict` is `judge`, whose evidence is a list of `Replayed` records, which only the kernel makes.
Python can be told to forge either (`object.__new__`, pickle); what this prevents is a verdict by accident or by
carelessness.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from proofs_check.claim import Claim
from proofs_check.kernel import GRADES, Replayed, digest

HEADLINES = ("PROVED", "PROVED ON", "SUPPORTED", "REFUTED", "SUSPECT", "OPEN", "VACUOUS", "ERROR")
_REACH = {"PROVED": 3, "PROVED ON": 2, "SUPPORTED": 1}
_MINT = object()
TROUBLES = ("suspect", "disagreement", "error")


@dataclass(frozen=True)
class Trouble:
    """Something other than a certificate that a run found out about a part."""

    part: str
    kind: str  # one of TROUBLES; "suspect" is a float counterexample that did not replay
    message: str


def counted(troubles: Sequence[Trouble]) -> list[Trouble]:
    """Each trouble once, in order, with how often it occurred where that is more than once."""
    return [item if count == 1 else replace(item, message=f"{item.message} ({count} times)")
            for item, count in Counter(troubles).items()]


@dataclass(frozen=True)
class Verdict:
    """Outcome, grade and scope of a claim, with the headline computed from them.  It has no truth value."""

    claim: str
    outcome: str
    grade: str
    scope: str
    headline: str
    reasons: tuple[str, ...]
    mint: object = None

    def __post_init__(self) -> None:
        if self.mint is not _MINT:
            raise TypeError("a Verdict is made by judge(claim, replayed certificates, ...), not by hand")
        object.__setattr__(self, "mint", None)

    def __init_subclass__(cls) -> None:
        raise TypeError("a Verdict has no subclasses")

    def __bool__(self) -> bool:
        raise TypeError("a verdict has no truth value; compare its headline, outcome, grade or scope")

    @property
    def label(self) -> str:
        """The headline as shown, with the scope where the headline asks for it."""
        return f"PROVED ON {self.scope}" if self.headline == "PROVED ON" else self.headline


def headline(outcome: str, grade: str, scope: str, uses: str = "PROVED") -> str:
    """The headline, as the README's table reads it; `uses` is the weakest headline among the claims used."""
    if outcome == "holds":
        own = "PROVED" if scope == "as stated" else "PROVED ON"
        strong = GRADES.index(grade) >= GRADES.index("enclosed") and _REACH[uses] >= _REACH[own]
        return own if strong else "SUPPORTED"
    return {"refuted": "REFUTED", "suspect": "SUSPECT", "open": "OPEN", "vacuous": "VACUOUS", "error": "ERROR"}[outcome]


def strength(record: Replayed) -> tuple[bool, bool, int]:
    """Order of evidence for one part: proof before support, whole scope before instances, then grade."""
    grade = GRADES.index(record.grade)
    return grade >= GRADES.index("enclosed"), record.scope == "as stated", grade


def judge(claim: Claim, replayed: Sequence[Replayed], troubles: Sequence[Trouble] = (),
          uses: Mapping[str, Verdict] | None = None) -> Verdict:
    """Combine what was replayed for a claim.

    A part holds by its best evidence, provided its hypotheses are met by a replayed instance; the claim takes the
    weakest of its parts, and is PROVED only if every claim it uses is.  A part that is both refuted and proved as
    stated, or a disagreement between two routes, is an error; refuted against weaker evidence it is refuted.
    """
    fingerprint = digest(claim.document())
    if not all(type(record) is Replayed for record in replayed):
        raise TypeError("evidence is a list of Replayed records, which replaying certificates makes")
    if any(record.claim_digest != fingerprint for record in replayed):
        raise ValueError(f"expected certificates of claim {claim.id} as it is now, got some with another digest; "
                         "gather the evidence again")
    known = dict(uses or {})
    if not all(type(verdict) is Verdict and verdict.claim == name for name, verdict in known.items()):
        raise TypeError("what a claim uses is given as the verdicts of those claims")
    if not {item.kind for item in troubles} <= set(TROUBLES):
        raise ValueError(f"expected troubles of the kinds {', '.join(TROUBLES)}, got another; correct the engine")
    if any(item.kind == "disagreement" for item in troubles):
        return _verdict(claim, "error", "none", "", [item.message for item in troubles])
    links: list[tuple[tuple[bool, bool, int], str, str, str]] = []
    reasons: list[str] = []
    outcomes = set()
    for part in claim.parts:
        mine = [record for record in replayed if record.target == part.name]
        held = [record for record in mine if record.role == "evidence" and record.outcome == "holds"]
        broken = [record for record in mine if record.role == "refuted"]
        if broken and any(strength(record)[:2] == (True, True) for record in held):
            return _verdict(claim, "error", "none", "", [f"part '{part.name}' is both proved and refuted"])
        if broken:
            outcomes.add("refuted")
            links.append((strength(broken[0]), broken[0].grade, "as stated", f"part '{part.name}' is refuted"))
            continue
        if not held:
            outcomes.add("open")
            reasons.append(f"part '{part.name}' has no evidence: give it instances, a strategy or a derivation")
            continue
        if not any(record.role == "satisfiable" for record in mine):
            outcomes.add("open")
            reasons.append(f"part '{part.name}' has no instance that meets its hypotheses")
            continue
        best = max(held, key=strength)
        links.append((strength(best), best.grade, best.scope, f"part '{part.name}': {best.kind}, {best.scope}"))
    if "refuted" in outcomes:
        refuted = [link for link in links if link[3].endswith("is refuted")]
        return _verdict(claim, "refuted", refuted[0][1], "as stated", [link[3] for link in refuted])
    errors = [item.message for item in troubles if item.kind == "error"]
    if errors:
        return _verdict(claim, "error", "none", "", errors)
    suspects = [item.message for item in troubles if item.kind == "suspect"]
    if suspects:
        return _verdict(claim, "suspect", "none", "", suspects)
    if "open" in outcomes or not links:
        return _verdict(claim, "open", "none", "", reasons or ["the claim has no parts"])
    tier = min(link[0][:2] for link in links)
    weakest = [link for link in links if link[0][:2] == tier]
    grade = min((link[1] for link in weakest), key=GRADES.index)
    scope = min((link[2] for link in weakest), key=_extent)
    said = [link[3] for link in links]
    missing = [name for name in claim.uses if name not in known or known[name].headline not in _REACH]
    if missing:
        return _verdict(claim, "open", "none", "",
                        [*said, f"uses {', '.join(missing)}, for which nothing is established"])
    said += [f"uses {name} ({known[name].label})" for name in claim.uses if known[name].headline != "PROVED"]
    least = min((known[name].headline for name in claim.uses), key=_REACH.__getitem__, default="PROVED")
    return _verdict(claim, "holds", grade, scope, said, least)


def _extent(scope: str) -> tuple[bool, int]:
    """Order of scopes: fewer instances first, a whole statement last."""
    kind, _, count = scope.partition(": ")
    return kind != "instances", int(count) if count.isdigit() else 0


def _verdict(claim: Claim, outcome: str, grade: str, scope: str, reasons: Sequence[str],
             uses: str = "PROVED") -> Verdict:
    return Verdict(claim.id, outcome, grade, scope, headline(outcome, grade, scope, uses), tuple(reasons), _MINT)


def reaches(verdict: Verdict, required: str) -> bool:
    """Is the headline at least the required one?"""
    return _REACH.get(verdict.headline, 0) >= _REACH[required]
