"""`report.html`: a run as one page that opens without a server and asks the network for nothing.

`sinkproof verify` writes it beside report.json; ``python -m proofs_check.report_html DIR`` makes it again from a stored
run.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from proofs_check import __version__
from proofs_check.certificates import write_whole
from proofs_check.inputs import BadInput
from proofs_check.kernel import GRADES
from proofs_check.report import SCHEMA, dagger_line, scope_shown, verdict_shown
from proofs_check.report_page import claims, graph, written
from proofs_check.report_page.font import FAMILY, math_font
from proofs_check.report_page.prose import prose
from proofs_check.verdict import HEADLINES

NAME = "report.html"
# ids of the page's own parts, which a claim's deep link must not take
RESERVED = ("top", "verdicts", "graph", "claims", "trust", "environment")


def anchors(ids: list[str]) -> dict[str, str]:
    """A deep link for each claim: its id where that is a plain word, else letters and digits of it; all different."""
    taken = set(RESERVED)
    found = {}
    for name in ids:
        plain = re.sub(r"[^A-Za-z0-9_-]", "-", name)
        while plain in taken:
            plain += "-"
        taken.add(plain)
        found[name] = plain
    return found


def html(document: Mapping[str, object], statements: Mapping[str, Mapping[str, object]]) -> str:
    """The page of a run.

    `document` is the content of report.json; `statements` the contents of the claims' claim.json by id, from which the
    formulas come (a claim without one is shown without them).  Pure: the same arguments give the same text.
    """
    rows = document["claims"]
    links = anchors([row["id"] for row in rows])
    users = {row["id"]: [other["id"] for other in rows if row["id"] in other["uses"]] for row in rows}
    views = [claims.view(row, statements.get(row["id"]), links[row["id"]], users[row["id"]]) for row in rows]
    rests, remarks = written.trust()
    every = [row["id"] for row in rows]
    trusted = [
        (link, [item.row["id"] for item in views if not link.kinds or link.kinds & item.kinds]) for link in rests
    ]
    folder = Environment(
        loader=PackageLoader("proofs_check", "report_page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    folder.filters["prose"] = prose
    style = f'@font-face {{ font-family: "{FAMILY}"; src: url({math_font()}); }}\n{_source(folder, "style.css")}'
    script = _source(folder, "page.js")
    return folder.get_template("page.html").render(
        document=document,
        views=views,
        by_id=dict(zip(links, views)),
        anchors=links,
        graph=graph.layout({row["id"]: row["uses"] for row in rows}),
        headlines=Counter(row["headline"] for row in rows),
        order=HEADLINES,
        grades=GRADES,
        trusted=trusted,
        scope_shown=scope_shown,
        verdict_shown=verdict_shown,
        dagger_line=dagger_line(rows),
        remarks=remarks,
        tone=tone,
        pictures={name: written.pictures(name) for name in links},
        version=__version__,
        every=len(every),
        notes={name: written.note(name, links) for name in links},
        style=style,
        script=script,
        style_digest=_digest(style),
        script_digest=_digest(script),
    )


def tone(headline: str) -> str:
    """The class that colours a headline: computed from the word, known words only."""
    return headline.lower().replace(" ", "-") if headline in HEADLINES else "open"


def _source(folder: Environment, name: str) -> str:
    return folder.loader.get_source(folder, name)[0]


def _digest(text: str) -> str:
    """What the page's policy allows to run, and nothing else: should an escape ever be missed, the browser stops it."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def rebuild(out: Path) -> str:
    """The page of a stored run: report.json with the claim.json files below `certificates`.

    Raises BadInput where there is no report of this schema.
    """
    path = out / "report.json"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(
            f"expected the report.json of a run in {out}, got {type(error).__name__}; "
            f"run 'sinkproof verify --out {out}'"
        ) from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise BadInput(
            f"expected schema {SCHEMA} in {path}, got another; run 'sinkproof verify --out {out}' with this version"
        )
    wanted = {row["id"] for row in document["claims"]}
    found = (
        json.loads(item.read_text(encoding="utf-8")) for item in sorted((out / "certificates").glob("*/claim.json"))
    )
    return html(document, {item["id"]: item for item in found if item["id"] in wanted})


def write(out: Path) -> Path:
    """Write report.html beside report.json, whole or not at all; returns its path."""
    write_whole(out / NAME, rebuild(out).encode())
    return out / NAME


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("expected one argument, the output folder of 'sinkproof verify'", file=sys.stderr)
        return 2
    try:
        print(write(Path(arguments[0])))
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
