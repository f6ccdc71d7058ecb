"""`sinkproof check DIR|FILE`: replay certificates, in an environment that has python-flint and nothing else."""

from __future__ import annotations

import argparse
import json
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NoReturn

from proofs_check.kernel.encoding import Malformed, Rejected, digest, field, read_json, well_formed
from proofs_check.kernel.replay import replay_files

DESCRIPTION = """Replay certificates: exact arithmetic, no solver, no tolerance.
DIR is the output directory of a run, its certificates/ folder, or one claim's folder; FILE is one certificate.
Exit codes: 0 every certificate is accepted, 1 some certificate does not prove its claim, 2 bad input."""
RECORD = "recorded build, not rebuilt"
REBUILD = "python -m proofs_check.formal.gate --no-cache --coqchk"


def claim_directories(path: Path) -> list[Path]:
    """The folders below `path` that hold a `claim.json`."""
    found = sorted(item.parent for item in path.rglob("claim.json"))
    if not found:
        raise Malformed(f"expected certificates below {path}, found no claim.json; give the output folder of "
                        "'sinkproof verify', 'inspect' or 'cost'")
    alone = sorted(item for item in path.rglob("cert-*.json") if not (item.parent / "claim.json").exists())
    well_formed(not alone, f"expected claim.json beside every certificate, found none beside {min(alone, default='')}; "
                "put the claim there or move the certificate away")
    return found


class OneLineParser(argparse.ArgumentParser):
    """Bad usage is one sentence here too."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {one_line(message)}; expected DIR or FILE, see {self.prog} --help\n")


def check(path: Path) -> tuple[list[dict], bool, dict[str, list[str]]]:
    """(a row per certificate, is any file malformed, each claim's false neighbours); raises `Malformed` when there is
    nothing to check.

    One certificate alone is not asked for neighbours.
    """
    if not path.exists():
        raise Malformed(f"expected a folder or a certificate file, found nothing at {path}; check the path")
    targets = [(path.parent, [path.name])] if path.is_file() else [(item, None) for item in claim_directories(path)]
    uses: dict[str, list[str]] = {}
    first: dict[str, tuple[str, Path]] = {}
    names_of, neighbours = [], {}
    for directory, names in targets:
        claim = read_json(directory / "claim.json")
        name = field(claim, "id", str, "claim.json")
        statement = digest(claim)
        known, where = first.setdefault(name, (statement, directory))
        if known != statement:
            raise Malformed(f"{where} and {directory} hold different claims with the id {name!r}; "
                            "check them one by one")
        uses[name] = field(claim, "uses", list, "claim.json")
        well_formed(all(isinstance(other, str) for other in uses[name]), f"{name}: 'uses' is a list of claim ids")
        names_of.append((name, directory, names))
        if names is None:
            neighbours[name] = [field(item, "name", str, "variant") for item in field(claim, "variants", list, name)]
    rows, malformed = [], False
    for name, directory, names in names_of:
        accepted, rejected = replay_files(directory, names)
        if not accepted and not rejected:
            raise Malformed(f"{name}: expected certificates beside claim.json, found none")
        rows += [{"claim": name, "certificate": file, "accepted": True, "target": record.target, "role": record.role,
                  "subject": record.subject, "kind": record.kind, "outcome": record.outcome, "grade": record.grade,
                  "scope": record.scope, "claim_digest": record.claim_digest} for file, record in accepted]
        rows += [{"claim": name, "certificate": file, "accepted": False, "reason": str(reason)}
                 for file, reason in rejected]
        malformed = malformed or any(isinstance(reason, Malformed) for _, reason in rejected)
    try:
        TopologicalSorter(uses).prepare()
    except CycleError as circle:
        raise Malformed(f"the claims use each other in a circle: {' -> '.join(reversed(circle.args[1]))}") from None
    return rows, malformed, neighbours


def shown(row: dict) -> str:
    """One accepted certificate on one line."""
    what = f"{row['role']} {row['subject']}".strip()
    read = f" ({RECORD})" if row["kind"] == "formal" else ""
    return f"accepted  {row['claim']:4} {row['target']}: {what}: {row['outcome']}, {row['grade']}, {row['scope']}{read}"


def summary(rows: list[dict], neighbours: dict[str, list[str]]) -> list[str]:
    """The last lines: how many certificates, which neighbours lack a counterexample, which records were only read."""
    accepted = [row for row in rows if row["accepted"]]
    refuted = {(row["claim"], row["target"]) for row in accepted if row["role"] == "refuted"}
    found = {claim: sum((claim, name) in refuted for name in names) for claim, names in neighbours.items()}
    lacking = [f"{claim} {found[claim]} of {len(names)}" for claim, names in neighbours.items()
               if found[claim] < len(names)]
    lines = [f"neighbours with a counterexample here: {sum(found.values())} of {sum(map(len, neighbours.values()))} "
             f"({', '.join(lacking)})"] if lacking else []
    records = sum(row["kind"] == "formal" for row in accepted)
    built = f"; {records} with a {RECORD} (to rebuild: {REBUILD})" if records else ""
    return [*lines, f"{len(accepted)} certificates accepted, {len(rows) - len(accepted)} rejected{built}"]


def one_line(text: str) -> str:
    """One line stays one line: a name from a file cannot print a second one."""
    return "".join(letter if letter.isprintable() else " " if letter.isspace() else "?" for letter in text)


def stop(message: str, code: int) -> int:
    print(f"sinkproof check: {one_line(message)}", file=sys.stderr)
    return code


def main(arguments: list[str]) -> int:
    parser = OneLineParser(prog="sinkproof check", description=DESCRIPTION,
                           formatter_class=argparse.RawDescriptionHelpFormatter,
                           epilog="example: sinkproof check sinkproof-out/certificates/E2")
    parser.add_argument("path", type=Path, metavar="DIR|FILE", help="what to replay")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args(arguments)
    try:
        rows, malformed, neighbours = check(options.path)
    except Rejected as reason:
        return stop(str(reason), 2)
    except (OSError, ValueError) as error:
        return stop(f"expected a folder or a certificate file, got {error}; check the path", 2)
    except MemoryError:
        return stop("out of memory; check the certificates one by one", 5)
    except KeyboardInterrupt:
        return stop("interrupted; nothing was written", 130)
    refused = [row for row in rows if not row["accepted"]]
    if options.json:
        print(json.dumps({"schema": "sinkproof/check/1", "certificates": rows,
                          "accepted": len(rows) - len(refused), "rejected": len(refused)}, indent=1))
    else:
        for row in rows:
            if row["accepted"]:
                print(one_line(shown(row)))
        for line in summary(rows, neighbours):
            print(one_line(line))
    for row in refused:
        print(one_line(f"sinkproof check: {row['claim']}/{row['certificate']}: {row['reason']}"), file=sys.stderr)
    return 2 if malformed else 1 if refused else 0
