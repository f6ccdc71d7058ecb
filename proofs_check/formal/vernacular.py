"""Reading Rocq sources: tokens, and the commands that would let an unproved statement through.

The gate asks Rocq itself which axioms a theorem rests on. This module is the second lock: it reads the
*source* and refuses what could weaken that answer (an axiom, a skipped kernel check, code loaded from
elsewhere), whether or not a named theorem uses it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

TOKEN = re.compile(r"[^\W\d][\w']*|\d+|\.(?=\s|\Z)|\s+|.", re.DOTALL)

# Words that are refused wherever they stand outside comments and strings.
FORBIDDEN = {
    "Admitted": "it leaves a statement unproved",
    "admit": "it leaves a goal unproved",
    "give_up": "it leaves a goal unproved",
    "Axiom": "it assumes a statement",
    "Axioms": "it assumes statements",
    "Parameter": "it assumes a term",
    "Parameters": "it assumes terms",
    "Conjecture": "it assumes a statement",
    "Conjectures": "it assumes statements",
    "Primitive": "it declares a term without a body",
    "Symbol": "it declares a term without a body",
    "Symbols": "it declares terms without bodies",
    "Declare": "it declares a module or plugin without a body",
    "bypass_check": "it turns a kernel check off",
    "Load": "it reads another file's text",
    "LoadPath": "it changes where libraries come from",
    "Redirect": "it writes files",
    "Extraction": "it writes files",
}

# Assumptions that a section discharges, and that are axioms anywhere else.
SECTION_ONLY = {"Variable", "Variables", "Hypothesis", "Hypotheses", "Context"}

# Flags and commands that turn a check of the kernel off or add a rule to it; each as a sequence of words.
KERNEL_FLAGS = (
    ("Guard", "Checking"),
    ("Positivity", "Checking"),
    ("Universe", "Checking"),
    ("Universes", "Checking"),
    ("Definitional", "UIP"),
    ("Type", "In", "Type"),
    ("Rewrite", "Rule"),
    ("Rewrite", "Rules"),
)

OPENERS = {"Section", "Module"}
# Modifiers that may come before a command's own word.
MODIFIERS = {"Local", "Global", "Polymorphic", "Monomorphic", "Program", "Time", "Timeout", "Fail", "Succeed"}


@dataclass(frozen=True)
class Sentence:
    """One vernacular sentence: its words (comments dropped, each string one token), its first line, its place.

    `source[start:end]` is its text, full stop included.
    """

    words: tuple[str, ...]
    line: int
    start: int
    end: int


def blank_comments_and_strings(source: str) -> str:
    """Replace each comment by blanks and each string by `""` padded with blanks, keeping every line where it is.

    Comments nest, and a string inside a comment is read as a string, so `(* "*)" *)` is one comment. Raises
    ValueError when a comment or a string does not end.
    """
    out: list[str] = []
    depth, i, n = 0, 0, len(source)
    while i < n:
        if source.startswith("(*", i):
            depth, step = depth + 1, 2
        elif depth and source.startswith("*)", i):
            depth, step = depth - 1, 2
        elif source[i] == '"':
            end = i + 1
            while True:  # a doubled quote is a quote inside the string
                end = source.find('"', end)
                if end < 0:
                    raise ValueError("the source has a string that does not end; close it with a double quote.")
                if source.startswith('""', end):
                    end += 2
                    continue
                break
            body = source[i : end + 1]
            if depth:
                out.append(re.sub(r"[^\n]", " ", body))
            else:
                out.append('""' + re.sub(r"[^\n]", " ", body[2:]))
            i = end + 1
            continue
        else:
            out.append(source[i] if not depth or source[i] == "\n" else " ")
            i += 1
            continue
        out.append(" " * step)
        i += step
    if depth:
        raise ValueError("the source has a comment that does not end; close it with *).")
    return "".join(out)


def sentences(source: str) -> tuple[Sentence, ...]:
    """Split a source into sentences: a full stop followed by white space or the end of the file ends one."""
    done: list[Sentence] = []
    words: list[str] = []
    line, first, start = 1, 1, 0
    blank = blank_comments_and_strings(source)
    for match in TOKEN.finditer(blank):
        token = match.group()
        if not token.isspace():
            if not words:
                first, start = line, match.start()
            if token == "." and blank[match.end() : match.end() + 1].strip() == "":
                done.append(Sentence(tuple(words), first, start, match.end()))
                words = []
            else:
                words.append(token)
        line += token.count("\n")
    if words:
        done.append(Sentence(tuple(words), first, start, len(blank)))
    return tuple(done)


def _command(words: tuple[str, ...]) -> tuple[str, ...]:
    """The sentence from its command word on, without attributes `#[...]` and modifiers."""
    i = 0
    while i < len(words):
        if words[i : i + 2] == ("#", "["):
            depth = 0
            while i < len(words):
                depth += (words[i] == "[") - (words[i] == "]")
                i += 1
                if depth == 0 and words[i - 1] == "]":
                    break
        elif words[i] in MODIFIERS or words[i].isdigit():
            i += 1
        elif words[i] in "{}-+*" and i < 3:  # bullets and focusing braces
            i += 1
        else:
            break
    return words[i:]


def _contains(words: tuple[str, ...], part: tuple[str, ...]) -> bool:
    return any(words[i : i + len(part)] == part for i in range(len(words) - len(part) + 1))


def escapes(source: str) -> tuple[str, ...]:
    """Every construct of `source` that could hide an unproved statement, each as one sentence; empty when clean."""
    found: list[str] = []
    stack: list[tuple[str, str]] = []  # open sections and modules, as (kind, name)
    try:
        parts = sentences(source)
    except ValueError as error:
        return (str(error),)
    for sentence in parts:
        words, line = sentence.words, sentence.line
        for word in dict.fromkeys(words):
            if word in FORBIDDEN:
                found.append(f"line {line}: {word} is not allowed: {FORBIDDEN[word]}.")
        for flag in KERNEL_FLAGS:
            if _contains(words, flag):
                found.append(f"line {line}: {' '.join(flag)} is not allowed: it changes the kernel's checks.")
        command = _command(words)
        if not command:
            continue
        head = command[0]
        if head in OPENERS and ":=" not in "".join(command):
            names = [w for w in command[1:] if w not in {"Import", "Export"}]
            if head == "Module" and names[:1] == ["Type"]:
                found.append(f"line {line}: Module Type is not allowed: it declares terms without a body.")
                names = names[1:]
            stack.append((head, names[0] if names else ""))
        elif head == "End":
            if stack:
                stack.pop()
        elif head in SECTION_ONLY and not any(kind == "Section" for kind, _ in stack):
            found.append(f"line {line}: {head} outside a section is an axiom; put it inside one or quantify it.")
    return tuple(found)


def imports(source: str, root: str) -> tuple[str, ...]:
    """Names of the modules of library `root` that a source requires with `From root Require ...`, in order."""
    names: list[str] = []
    for sentence in sentences(source):
        words = sentence.words
        if words[:3] == ("From", root, "Require"):
            names += [w for w in words[3:] if w not in {"Import", "Export"}]
    return tuple(dict.fromkeys(names))
