"""Records of a formal build: the sources are hashed and read, the assumptions' text is compared.

The kernel cannot run Rocq.  It checks that the certificate carries exactly the sources that the claim pins, that they
declare the named theorem and contain no escape, and that the recorded answer of `Print Assumptions` is the one
sentence that means "no axioms".  That the build took place is the record's word; the gate repeats it for those who ask.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from proofs_check.kernel.encoding import Rejected, field, need

CLOSED = "Closed under the global context"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_']*\Z")
_FILE = re.compile(r"[A-Za-z0-9_]+\.v\Z")
_SHA = re.compile(r"[0-9a-f]{64}\Z")
_ESCAPES = re.compile(r"\b(Admitted|admit|Axioms?|Conjectures?|Parameters?|bypass_check|Guard\s+Checking|"
                      r"Positivity\s+Checking|Universe\s+Checking|give_up)\b")


def without_comments_and_strings(source: str) -> str:
    """Rocq comments nest; strings may contain comment marks."""
    result, depth, position = [], 0, 0
    while position < len(source):
        pair = source[position:position + 2]
        if source[position] == '"':
            end = source.find('"', position + 1)
            position = len(source) if end < 0 else end + 1
        elif pair == "(*":
            depth, position = depth + 1, position + 2
        elif pair == "*)" and depth:
            depth, position = depth - 1, position + 2
        else:
            if not depth:
                result.append(source[position])
            position += 1
    return "".join(result)


def check_formal(pinned: dict, body: dict, directory: Path) -> None:
    need(bool(pinned), "the part names no formal theorem")
    theorem, file = field(pinned, "theorem", str, "formal"), field(pinned, "file", str, "formal")
    expected = field(pinned, "sources", dict, "formal")
    need(file in expected, "the theorem's file is not among the pinned sources")
    need(field(body, "theorem", str, "formal") == theorem, "the build is about another theorem")
    need(field(body, "sources", dict, "formal") == expected, "the build used other sources than the claim pins")
    need(field(body, "assumptions", str, "formal") == CLOSED, "the theorem rests on assumptions")
    need(field(body, "statement", str, "formal").strip() != "", "the build recorded no statement")
    toolchain = field(body, "toolchain", dict, "formal")
    need(len(toolchain) > 0 and all(isinstance(value, str) and value for value in toolchain.values()),
         "the build names no toolchain")
    need(_NAME.match(theorem) is not None, "not the name of a theorem")
    for name, sha in expected.items():
        need(_FILE.match(name) is not None and isinstance(sha, str) and _SHA.match(sha) is not None,
             "sources are given as file names with a sha256 each")
        try:
            raw = (directory / f"{sha}.v").read_bytes()
        except OSError:
            raise Rejected(f"the source {name} is missing beside the certificate") from None
        need(hashlib.sha256(raw).hexdigest() == sha, f"the source {name} does not match its digest")
        code = without_comments_and_strings(raw.decode("utf-8", "replace"))
        found = _ESCAPES.search(code)
        need(found is None, f"the source {name} contains '{found.group(0) if found else ''}'")
        if name == file:
            declared = re.search(rf"\b(?:Theorem|Lemma|Corollary|Proposition)\s+{re.escape(theorem)}(?![A-Za-z0-9_'])", code)
            need(declared is not None, f"{name} declares no theorem '{theorem}'")
