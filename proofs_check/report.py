"""What a run came to: `report.json`, a Markdown page, and the exit code."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from proofs_check.blame import blame
from proofs_check.certificates import write_whole
from proofs_check.claim import bound_formula
from proofs_check.kernel import read_json
from proofs_check.neighbours import ENGINES
from proofs_check.verdict import reaches
from proofs_check.verify import ClaimResult, Options, claim_directory, environment

SCHEMA = "sinkproof/report/1"
DAGGER_LINE = ("† for every size through a reduction that stands in words in the part's text and the claim's page: "
               "read it (notes/trust.md)")


def required(result: ClaimResult) -> str:
    """The headline this run must reach: the formal one only where the formal proofs could be rebuilt."""
    return result.claim.required if environment().get("rocq") == "" else result.claim.required_formal


def reduction_in_words(result: ClaimResult) -> bool:
    """Does the scope "as stated" rest on a part proved only for the scalars to which words reduce its matrices?

    A derivation or a cover is about parameters; nothing replays that the statement comes down to them, unless Rocq
    proves that part too.  A claim that says no more than its instances needs no such words.
    """
    proved = [record for _, record in result.replayed if record.role == "evidence" and record.outcome == "holds"]
    scalar = {record.target for record in proved if record.kind in ("derivation", "cover")}
    formal = {record.target for record in proved if record.kind == "formal" and record.grade == "kernel"}
    return (result.verdict.outcome, result.verdict.scope) == ("holds", "as stated") and bool(scalar - formal)


def scope_shown(row: Mapping[str, object]) -> str:
    """The scope of a claim's row as tables print it: with a dagger where a reduction stands in words."""
    return f"{row['scope']} †" if row.get("reduction_in_words") else row["scope"]


def verdict_shown(row: Mapping[str, object]) -> str:
    """A claim's verdict in one phrase, as in ``PROVED, exact, as stated †`` or ``PROVED ON instances: 30, exact``."""
    if row["headline"] == "PROVED ON":  # its label names the scope
        return f"PROVED ON {scope_shown(row)}, {row['grade'].replace('_', ' ')}"
    known = [row["grade"].replace("_", " "), scope_shown(row)] if row["scope"] else []
    return ", ".join([row["label"], *known])


def dagger_line(rows: Iterable[Mapping[str, object]]) -> str:
    """The line below a table that has a dagger; "" where there is none."""
    return DAGGER_LINE if any(row.get("reduction_in_words") for row in rows) else ""


def neighbours(result: ClaimResult) -> dict:
    """What was planted, what the ledger's counterexamples killed, and what each engine did by itself."""
    planted = [item.part.name for item in result.claim.variants]
    killers = {name: _killers(result, name) for name in planted}
    listed = []
    for item in result.claim.variants:
        name = item.part.name
        certificate = _certificate(result, name, "refuted", "")
        listed.append({"name": name, "operator": item.operator, "text": item.part.text,
                       "headline": "REFUTED" if certificate else "SURVIVED", "killed_by": killers[name],
                       "grade": next((record.grade for file, record in result.replayed if file == certificate), ""),
                       "certificate": certificate})
    dead = [row["name"] for row in listed if row["headline"] == "REFUTED"]
    return {"planted": len(planted), "killed": len(dead), "survivors": [name for name in planted if name not in dead],
            "by_engine": _by_engine(result, killers), "listed": listed,
            "mutants": [{"name": item.variant, "killed": bool(item.stopped), "how": item.stopped}
                        for item in result.attempts if item.engine == "formal"]}


def _killers(result: ClaimResult, name: str) -> list[str]:
    """The engines that kill a neighbour: by a counterexample that replayed, or because nothing proves it."""
    found = {record.engine for _, record in result.replayed if record.target == name and record.role == "refuted"}
    tries = [item for item in result.attempts if item.variant == name and item.stopped is not None]
    found |= {engine for engine in {item.engine for item in tries}
              if all(item.stopped for item in tries if item.engine == engine)}
    return [engine for engine in ENGINES if engine in found]


def _by_engine(result: ClaimResult, killers: dict[str, list[str]]) -> dict[str, dict[str, int]]:
    """engine -> on how many neighbours it was tried (a proof engine: how many it was asked to prove) and killed."""
    tried = {(item.engine, item.variant) for item in result.attempts} | {("ledger", name) for name in killers}
    dead = {(engine, name) for name, found in killers.items() for engine in found}
    dead |= {("formal", item.variant) for item in result.attempts if item.engine == "formal" and item.stopped}
    return {engine: {"planted": sum(found == engine for found, _ in tried),
                     "killed": sum(found == engine for found, _ in tried & dead)}
            for engine in ENGINES if any(found == engine for found, _ in tried)}


def hypotheses(result: ClaimResult) -> list[dict]:
    rows = []
    for part in result.claim.parts:
        texts = {item.name: item.text for item in part.hypotheses}
        for subject in part.subjects():
            name = _certificate(result, part.name, "dropped", subject)
            text = texts[subject] if subject in texts else bound_formula(part.parameters, subject) or subject
            rows.append({"name": subject, "part": part.name, "text": text,
                         "kind": "hypothesis" if subject in texts else "bound",
                         "needed": "needed" if name else "not known to be needed", "counterexample": name})
    return rows


def counterexamples(result: ClaimResult, options: Options) -> list[dict]:
    """For each refuted part: an instance that the kernel replayed, what it violates, and the certificate's file."""
    directory = claim_directory(options, result.claim.id)
    statements = {table["name"]: table for table in result.claim.document()["parts"]}
    found = []
    for part in statements:
        name = _certificate(result, part, "refuted", "")
        listed = read_json(directory / name)["body"].get("instances") if name else None
        if listed:
            found.append({"part": part, "certificate": name, "said": blame(statements[part], listed[0], directory)})
    return found


def _certificate(result: ClaimResult, target: str, role: str, subject: str) -> str:
    """The file that establishes it, the ledger's before any other engine's; "" if none does."""
    found = [(record.engine != "ledger", name) for name, record in result.replayed
             if (record.target, record.role, record.subject) == (target, role, subject)]
    return min(found, default=(False, ""))[1]


def claim_row(result: ClaimResult, options: Options) -> dict:
    verdict = result.verdict
    return {
        "id": result.claim.id, "title": result.claim.title, "family": result.claim.family,
        "headline": verdict.headline, "label": verdict.label, "outcome": verdict.outcome, "grade": verdict.grade,
        "scope": verdict.scope, "reduction_in_words": reduction_in_words(result),
        "reasons": list(verdict.reasons), "required": required(result),
        "reached": reaches(verdict, required(result)), "counterexamples": counterexamples(result, options),
        "uses": list(result.claim.uses),
        "scope_notes": list(result.claim.scope_notes), "statement": result.claim.statement,
        "seconds": round(sum(result.seconds.values()), 3), "hypotheses": hypotheses(result),
        "satisfiable": {part.name: _certificate(result, part.name, "satisfiable", "") for part in result.claim.parts},
        "attained": {part.name: _certificate(result, part.name, "attained", "")
                     for part in result.claim.parts if part.attainment},
        "neighbours": neighbours(result),
        "evidence": [{"engine": record.engine, "part": record.target, "role": record.role, "subject": record.subject,
                      "kind": record.kind, "outcome": record.outcome, "grade": record.grade, "scope": record.scope,
                      "seconds": result.seconds.get(record.engine, result.seconds.get(record.kind, 0.0)),
                      "certificate": str(Path("certificates") / claim_directory(options, result.claim.id).name / name)}
                     for name, record in result.replayed],
        "rejected": [{"certificate": name, "reason": reason} for name, reason in result.rejected],
    }


def report_document(results: Sequence[ClaimResult], options: Options) -> dict:
    rows = [claim_row(result, options) for result in results]
    return {"schema": SCHEMA, "profile": options.profile, "seed": options.seed, "environment": environment(),
            "claims": rows,
            "neighbours": {**{key: sum(row["neighbours"][key] for row in rows) for key in ("planted", "killed")},
                           "killed_exactly": sum(item["grade"] == "exact" for row in rows
                                                 for item in row["neighbours"]["listed"]),
                           "by_engine": total_by_engine(rows)},
            "seconds": round(sum(row["seconds"] for row in rows), 3)}


def total_by_engine(rows: Sequence[dict]) -> dict[str, dict[str, int]]:
    tables = [row["neighbours"]["by_engine"] for row in rows]
    return {engine: {key: sum(table[engine][key] for table in tables if engine in table)
                     for key in ("planted", "killed")}
            for engine in ENGINES if any(engine in table for table in tables)}


def exit_code(document: dict) -> int:
    """0: every claim reached what is required, no neighbour survived; 4: routes disagree or something broke; else 1."""
    rows = document["claims"]
    if any(row["outcome"] == "error" for row in rows):
        return 4
    short = any(not row["reached"] for row in rows)
    return 1 if short or document["neighbours"]["killed"] < document["neighbours"]["planted"] else 0


def write_report(results: Sequence[ClaimResult], options: Options) -> dict:
    """Write `report.json` and `report.md` into the output directory; returns the document."""
    document = report_document(results, options)
    write_whole(options.out / "report.json", json.dumps(document, indent=1, ensure_ascii=False).encode())
    write_whole(options.out / "report.md", markdown(document).encode())
    return document


def markdown(document: dict) -> str:
    """The run as a Markdown page: the table of verdicts, then each claim's ledger and neighbours."""
    lines = ["# Verdicts", "", f"Profile {document['profile']}, seed {document['seed']}; neighbours planted "
             f"{document['neighbours']['planted']}, killed {document['neighbours']['killed']}.", "",
             "| claim | verdict | grade | scope | title |", "|---|---|---|---|---|"]
    for row in document["claims"]:
        lines.append(f"| [{row['id']}](#{row['id'].lower()}) | {row['label']} | {row['grade']} "
                     f"| {scope_shown(row)} | {row['title']} |")
    footnote = dagger_line(document["claims"])
    lines += ["", footnote] if footnote else []
    total = document["neighbours"]
    lines += ["", "## False neighbours", "", f"{total['killed_exactly']} of {total['planted']} fall to a "
              "counterexample in exact arithmetic, the rest to one in ball arithmetic. Each engine by itself "
              "(*planted*: on how many",
              "neighbours it was tried; an engine that proves has to be refused; *formal*: Rocq and the false theorems "
              "of its own list):", "", "| engine | planted | killed |", "|---|---|---|"]
    lines += [f"| {engine} | {count['planted']} | {count['killed']} |" for engine, count in total["by_engine"].items()]
    lines += ["", "| claim | neighbour | operator | grade | certificate | killed by |", "|---|---|---|---|---|---|"]
    lines += [f"| {row['id']} | {item['name']} | {item['operator']} | {item['grade']} | `{item['certificate']}` "
              f"| {', '.join(item['killed_by'])} |"
              for row in document["claims"] for item in row["neighbours"]["listed"]]
    for row in document["claims"]:
        lines += ["", f"## {row['id']}", "", row["statement"], "",
                  f"**{verdict_shown(row)}**: {'; '.join(row['reasons'])}", ""]
        lines += [f"- Counterexample to part *{item['part']}*: {item['said']}, `{item['certificate']}`"
                  for item in row["counterexamples"]]
        lines += [f"- Scope: {note}" for note in row["scope_notes"]]
        lines += [f"- Hypothesis *{item['name']}* ({item['part']}): {item['needed']}"
                  + (f", `{item['counterexample']}`" if item["counterexample"] else "") for item in row["hypotheses"]]
        lines += [f"- False variant *{item['name']}* ({item['operator']}): {item['headline']}, `{item['certificate']}`"
                  for item in row["neighbours"]["listed"]]
        lines += [f"- Evidence: {item['engine']}, part {item['part']}: {item['outcome']}, {item['grade']}, "
                  f"{item['scope']}, `{item['certificate']}`" for item in row["evidence"] if item["role"] == "evidence"]
    return "\n".join(lines) + "\n"
