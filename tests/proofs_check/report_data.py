"""A run for the tests of report.html: every claim of the theory unjudged, and a few small claims really verified.

The theory's claims come without certificates (so their verdict is OPEN, computed as always), which costs seconds
instead of minutes and still puts every formula, note and picture on the page.  The small ones have evidence, a use, a
refutation, and a title that tries to be a script.
"""

from __future__ import annotations

from pathlib import Path

from proofs_check.certificates import whole_directory, write_claim
from proofs_check.claims import all_claims
from proofs_check.report import write_report
from proofs_check.verdict import judge
from proofs_check.verify import ClaimResult, Options, claim_directory, verify

HOSTILE = "<script>document.documentElement.dataset.taken = 'yes'</script>"
OWN = f"""
from proofs_check.claim import Claim, Hypothesis, Instance, Part
HOSTILE = {HOSTILE!r}


def squares(name, least, text="x = y^2 is at least " , variants=(), **more):
    part = Part(name="p", text=text + str(least), variables={{"x": "scalar", "y": "scalar"}},
                hypotheses=(Hypothesis("square", "x = y^2, so x >= 0 & x_1 <y, y>", "x == y**2",
                                       Instance({{"x": -1, "y": 0}})),),
                conclusions=(f"x >= {{least}}",), satisfiable=Instance({{"x": 4, "y": 2}}),
                instances=lambda seed: (Instance({{"x": i * i, "y": i}}) for i in range(2, 12)))
    false = part.vary("above" + more.pop("mark", ""), "constant moved", "x >= 5 " + text,
                      Instance({{"x": 4, "y": 2}}), conclusions=("x >= 5",))
    return Claim(id=name, family="own", statement=text, parts=(part,), variants=(false,), required="PROVED ON",
                 required_formal="PROVED ON", **{{"title": "squares", **more}})


CLAIMS = [squares("BASE", 0), squares("USER", 0, uses=("BASE",)), squares("WRONG", 5), squares("top", 0),
          squares("HOSTILE", 0, text=HOSTILE + '"><img src=x onerror=alert(1)>', mark=HOSTILE, title=HOSTILE,
                  source=HOSTILE, scope_notes=(HOSTILE, "a < b & c > d"))]
"""


def stored_run(out: Path) -> dict:
    """Write a run into `out` as `sinkproof verify` does (certificates, report.json); returns report.json's content."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / "own.py"
    file.write_text(OWN)
    options = Options(out, claims_file=file)
    results = {}
    for claim in all_claims():
        verdict = judge(claim, [], [], {name: result.verdict for name, result in results.items()})
        results[claim.id] = ClaimResult(claim, verdict, (), (), (), {})
        with whole_directory(claim_directory(options, claim.id)) as directory:
            write_claim(directory, claim, [])
    return write_report([*results.values(), *verify([], options)], options)
