"""A claim as the page shows it: its row of report.json joined with its statements from claim.json."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from types import SimpleNamespace

from markupsafe import Markup

from proofs_check.display import each_of
from proofs_check.kernel import Rejected
from proofs_check.mathml import definition, mathml
from proofs_check.notes import bounds, one_line, rocq_statement
from proofs_check.verdict import strength

DRAWN = 700  # characters; a longer formula is an expanded polynomial, which nobody reads
QUANTIFIERS = {"forall": "For all", "exists": "For some", "probability": "For random"}


@dataclass(frozen=True)
class Formula:
    """A formula drawn (empty where it is too long) and as the kernel reads it (cut where it is too long)."""

    drawn: Markup
    plain: str


@dataclass(frozen=True)
class LedgerRow:
    """A hypothesis with what the ledger says of it."""

    name: str
    text: str
    formula: Formula | None
    needed: str
    certificate: str


@dataclass(frozen=True)
class PartView:
    """One statement of a claim with everything that the run says about it."""

    name: str
    text: str
    over: str
    definitions: tuple[Formula, ...]
    ledger: tuple[LedgerRow, ...]
    conclusions: tuple[Formula, ...]
    attainment: Formula | None
    satisfiable: str
    attained: str
    theorem: str
    rocq: str


@dataclass(frozen=True)
class EvidenceView:
    """One certificate for a part; `decides` marks the one that the verdict takes."""

    part: str
    engine: str
    kind: str
    outcome: str
    grade: str
    scope: str
    certificate: str
    decides: bool


@dataclass(frozen=True)
class ClaimView:
    """A row of report.json with its parts; `row` is that row itself."""

    row: Mapping[str, object]
    anchor: str
    source: str
    folder: str
    parts: tuple[PartView, ...]
    evidence: tuple[EvidenceView, ...]
    neighbours: tuple[Mapping[str, object], ...]
    search: str
    used_by: tuple[str, ...] = field(default=())

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of evidence that the verdict rests on."""
        return frozenset(item.kind for item in self.evidence if item.decides)


def formula(text: str, name: str = "") -> Formula:
    """A formula, or `name := formula`, for the page."""
    plain = f"{name} := {text}" if name else text
    if len(text) > DRAWN:
        return Formula(Markup(""), one_line(plain))
    try:
        return Formula(Markup(definition(name, text) if name else mathml(text)), " ".join(plain.split()))
    except (Rejected, ValueError):
        return Formula(
            Markup(""), one_line(plain)
        )  # not of the language: the kernel rejects it, the page still shows it


def view(
    row: Mapping[str, object], statement: Mapping[str, object] | None, anchor: str, used_by: Sequence[str] = ()
) -> ClaimView:
    """Joins the two records of a claim; without claim.json (`statement` None) formulas are missing, nothing else."""
    folder = str(PurePosixPath(row["evidence"][0]["certificate"]).parent) if row["evidence"] else ""
    documents = {part["name"]: part for part in (statement or {}).get("parts", ())}
    names = list(documents) or list(dict.fromkeys([*row["satisfiable"], *(item["part"] for item in row["hypotheses"])]))
    parts = tuple(_part(name, row, documents.get(name, {}), folder) for name in names)
    listed = tuple(
        {**item, "certificate": _path(folder, item["certificate"])} for item in row["neighbours"].get("listed", ())
    )
    words = [row["id"], row["title"], row["statement"], *(part.name + " " + part.text for part in parts),
             *(f"{item['name']} {item['text']}" for item in row["hypotheses"])]
    return ClaimView(row, anchor, (statement or {}).get("source", ""), folder, parts, _evidence(row), listed,
                     " ".join(" ".join(words).lower().split()), tuple(used_by))


def _part(name: str, row: Mapping[str, object], document: Mapping[str, object], folder: str) -> PartView:
    formulas = {item["name"]: item["formula"] for item in document.get("hypotheses", ())}
    ledger = []
    for item in row["hypotheses"]:
        if item["part"] == name:
            bound = item.get("kind") == "bound"  # of a parameter: its text is the formula, but for "integer T"
            text = item["text"] if bound else formulas.get(item["name"], "")
            drawn = formula(text) if text else None
            ledger.append(
                LedgerRow(
                    item["name"],
                    "" if bound else item["text"],
                    None if bound and not drawn.drawn else drawn,
                    item["needed"],
                    _path(folder, item["counterexample"]),
                )
            )
    formal = document.get("formal") or {}
    return PartView(
        name,
        document.get("text", ""),
        _over(document),
        tuple(formula(text, key) for key, text in document.get("definitions", ())),
        tuple(ledger),
        tuple(formula(text) for text in document.get("conclusions", ())),
        formula(document["attainment"]) if document.get("attainment") else None,
        _path(folder, row["satisfiable"].get(name, "")),
        _path(folder, row["attained"].get(name, "")),
        f"{formal['theorem']} in proofs_check/formal/{formal['file']}" if formal else "",
        _rocq(formal),
    )


def _over(document: Mapping[str, object]) -> str:
    """What the statement ranges over, as in ``For all n: matrix (T×d), κ ∈ (0, ∞)``, with the cases that it lists."""
    if not document:
        return ""
    types = [f"{item['name']}: {item['type']}" + (f" ({'×'.join(item['shape'])})" if item["shape"] else "")
             for item in document["variables"]]
    listed = ", ".join(
        types + [re.sub(r"\boo\b", "∞", bounds(table).replace(" in ", " ∈ ")) for table in document["parameters"]]
    )
    cases = f", {each_of(document['cases'])}" if "cases" in document else ""
    return f"{QUANTIFIERS.get(document['quantifier'], document['quantifier'])} {listed}{cases}" if listed else ""


def _rocq(formal: Mapping[str, str]) -> str:
    try:
        return rocq_statement(formal["file"], formal["theorem"]) if formal else ""
    except (ValueError, OSError):
        return ""  # a stored run of other sources


def _path(folder: str, name: str) -> str:
    return name if not name or "/" in name else str(PurePosixPath(folder) / name)


def _evidence(row: Mapping[str, object]) -> tuple[EvidenceView, ...]:
    """What was found about each part, the deciding certificate first: a counterexample, else the strongest evidence."""
    found = []
    mine = [
        item
        for item in row["evidence"]
        if item["role"] == "evidence" or (item["role"] == "refuted" and item["part"] in row["satisfiable"])
    ]
    for part in dict.fromkeys(item["part"] for item in mine):
        # as in judge(): what refutes comes before what supports, then the first of the strongest that hold
        ranked = sorted((item for item in mine if item["part"] == part),
                        key=lambda item: (item["role"] == "evidence", item["outcome"] != "holds",
                                          *(-int(level) for level in strength(SimpleNamespace(**item)))))
        found += [
            EvidenceView(
                part,
                item["engine"],
                item["kind"],
                item["outcome"],
                item["grade"],
                item["scope"],
                item["certificate"],
                index == 0 and row["outcome"] in ("holds", "refuted"),
            )
            for index, item in enumerate(ranked)
        ]
    return tuple(found)
