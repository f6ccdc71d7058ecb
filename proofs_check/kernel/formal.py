"""Records of a formal build: the sources are hashed and read, the assumptions' text is compared.

The kernel cannot run Rocq.  It checks that the certificate carries exactly the sources that the claim pins, that they
declare the named theorem and contain no escape, and that the recorded answer of `Print Assumptions` is the one
sentence that means "no axioms".  That the build took place is the record's word; the gate repeats it for those who ask.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from proofs_check.kernel.encoding import Malformed, Rejected, field, need, read_file

CLOSED = "Closed under the global context"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_']*\Z")
_FILE = re.compile(r"[A-Za-z0-9_]+\.v\Z")
_SHA = re.compile(r"[0-9a-f]{64}\Z")
_ESCAPES = re.compile(
    r"(?<![\w'])(Admitted|[Aa]dmit|Abort|Fail|Axioms?|Conjectures?|Parameters?|Declare|Load|LoadPath|Redirect|"
    r"Primitive|Symbols?|bypass_check|give_up|Rewrite\s+Rules?|(?:Guard|Positivity|Universes?)\s+Checking|"
    r"Definitional\s+UIP|Type\s+In\s+Type|Module)(?![\w'])")
_THEOREMS = ("Theorem", "Lemma", "Corollary", "Proposition")
_OTHERS = ("Definition", "Fixpoint", "Let", "Example", "Fact", "Remark", "Instance")
_LOCAL = re.compile(r"(?<![\w'])(Section|End|Variables?|Hypothes[ei]s|Context)(?![\w'])")


def without_comments_and_strings(source: str) -> str:
    """The code alone; comments nest, strings may contain comment marks, and each leaves a space behind."""
    result, depth, position = [], 0, 0
    while position < len(source):
        pair = source[position:position + 2]
        if source[position] == '"':
            end = source.find('"', position + 1)
            need(end >= 0, "a string in a formal source does not end")
            position = end + 1
            result.append(" ")
        elif pair == "(*":
            depth, position = depth + 1, position + 2
        elif pair == "*)" and depth:
            depth, position = depth - 1, position + 2
            result.append(" ")
        else:
            if not depth:
                result.append(source[position])
            position += 1
    need(depth == 0, "a comment in a formal source does not end")
    return "".join(result)


def needs_a_section(code: str) -> str:
    """The first assumption made outside every section, where it would be an axiom; '' if there is none."""
    depth = 0
    for found in _LOCAL.finditer(code):
        word = found.group(1)
        if word == "Section":
            depth += 1
        elif word == "End":
            depth -= 1
        elif depth <= 0:
            return word
    return ""


def check_formal(pinned: dict, body: dict, directory: Path) -> None:
    need(bool(pinned), "the part names no formal theorem")
    theorem, file = field(pinned, "theorem", str, "formal"), field(pinned, "file", str, "formal")
    expected = field(pinned, "sources", dict, "formal")
    need(file in expected, "the theorem's file is not among the pinned sources")
    need(field(body, "theorem", str, "formal") == theorem, "the build is about another theorem")
    need(field(body, "sources", dict, "formal") == expected, "the build used other sources than the claim pins")
    need(field(body, "assumptions", str, "formal") == CLOSED, "the theorem rests on assumptions")
    toolchain = field(body, "toolchain", dict, "formal")
    need(len(toolchain) > 0 and all(isinstance(value, str) and value for value in toolchain.values()),
         "the build names no toolchain")
    need(_NAME.match(theorem) is not None, "not the name of a theorem")
    for name, sha in expected.items():
        need(_FILE.match(name) is not None and isinstance(sha, str) and _SHA.match(sha) is not None,
             "sources are given as file names with a sha256 each")
        try:
            raw = read_file(directory / f"{sha}.v")
        except Malformed:
            raise Rejected(f"the source {name} is missing beside the certificate") from None
        need(hashlib.sha256(raw).hexdigest() == sha, f"the source {name} does not match its digest")
        code = without_comments_and_strings(raw.decode("utf-8", "replace"))
        found = _ESCAPES.search(code)
        need(found is None, f"the source {name} contains '{found.group(0) if found else ''}'")
        word = needs_a_section(code)
        need(word == "", f"the source {name} has '{word}' outside a section")
        if name == file:
            declared = re.findall(rf"(?<![\w'])(\w+)\s+{re.escape(theorem)}(?![\w'])\s*[^.]*?:", code)
            theorems = [kind for kind in declared if kind in _THEOREMS]
            others = [kind for kind in declared if kind in _OTHERS]
            need(len(theorems) == 1 and not others, f"{name} does not declare the theorem '{theorem}' exactly once")
