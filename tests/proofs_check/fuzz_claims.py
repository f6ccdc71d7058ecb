"""Claims files that a user might write by mistake: fields of the wrong kind, functions that raise, bad formulas."""

from __future__ import annotations

from random import Random

from fuzz_files import formula

NONSENSE = ("3", "None", "''", "'a/b'", "'../x'", "'x' * 300", "()", "[]", "{}", "[3]", "object()", "float('nan')",
            "b'x'", "True", "'\\ud800'", "'é'", "'x\\ny'", "10 ** 5000", "(None,)", "('x',)", "{'x': 3}", "{3: 'x'}",
            "lambda: 1 / 0", "lambda *given: 1 / 0", "lambda seed: [3]", "lambda *given: sys.exit(3)",
            "lambda *given: None", "lambda *given: [Instance({'x': 1, 'y': 2})]", "Instance({})",
            "Instance({'x': 'a'})", "Instance({'x': float('nan'), 'y': 1})", "Instance({'x': 4, 'y': 2, 'z': 1})",
            "Instance(3)", "Instance({'x': 4, 'y': 2}, {'w': 3})", "{'x': 'cloud', 'y': 'scalar'}",
            "{'x': 'vector: n', 'y': 'scalar'}", "{'x': 'nothing'}", "Instance", "float", "Claim",
            "lambda *given: (10, 20)", "lambda *given: float('inf')", "lambda *given: st.just(3)",
            "lambda *given: st.nothing()", "sys")
FIELDS = {
    "Claim": ("id", "title", "family", "statement", "parts", "variants", "uses", "required", "required_formal",
              "source", "scope_notes"),
    "Part": ("name", "text", "variables", "hypotheses", "conclusions", "definitions", "parameters", "constants",
             "quantifier", "attainment", "satisfiable", "attained", "instances", "strategy", "numeric", "sampled",
             "derivation", "splits", "cases"),
    "Hypothesis": ("name", "text", "formula", "counterexample"),
}
SOUND = {
    "Claim": {"id": "'MINE'", "title": "'squares'", "family": "'own'", "statement": "'s'", "parts": "(PART,)",
              "required": "'PROVED ON'", "required_formal": "'PROVED ON'"},
    "Part": {"name": "'p'", "text": "'t'", "variables": "{'x': 'scalar', 'y': 'scalar'}", "hypotheses": "(HYPOTHESIS,)",
             "conclusions": "('x >= 0',)", "satisfiable": "Instance({'x': 4, 'y': 2})",
             "instances": "lambda seed: [Instance({'x': 4, 'y': 2})]"},
    "Hypothesis": {"name": "'square'", "text": "'t'", "formula": "'x == y**2'",
                   "counterexample": "Instance({'x': -1, 'y': 0})"},
}
WHOLE = ("", "1/0", "x = 1", "CLAIM = 3", "CLAIMS = 3", "CLAIMS = []", "CLAIMS = [None]", "CLAIM = CLAIMS = None",
         "raise SystemExit(0)", "raise KeyError", "import sys; sys.exit('stop')", "(", "\0", "raise Exception('x\\ny')",
         "def f(): return f()\nf()", "import nothing_of_that_name", "raise BaseException",
         "from proofs_check.claim import Claim\nCLAIM = Claim", "import warnings; warnings.warn('x')\nCLAIM = 1",
         "print('x')", "CLAIMS = iter(())", "# coding: nothing", "raise MemoryError")


def claims_file(rng: Random) -> bytes:
    """A Python file: the sound claim with a field or two replaced, or something else altogether."""
    if rng.randrange(5) == 0:
        return rng.choice((*(text.encode() for text in WHOLE), b"\xff\xfe\x00", b"CLAIM = '\xe9'"))
    fields = {name: dict(table) for name, table in SOUND.items()}
    for _ in range(rng.randint(0, 2)):
        kind = rng.choice(tuple(FIELDS))
        name = rng.choice(FIELDS[kind])
        fields[kind][name] = repr(formula(rng)) if name in ("formula", "attainment") and rng.randrange(2) else \
            f"({formula(rng)!r},)" if name in ("conclusions", "cases") and rng.randrange(2) else \
            f"{{'z': {formula(rng)!r}}}" if name == "definitions" and rng.randrange(2) else rng.choice(NONSENSE)
    made = {kind: f"{kind}({', '.join(f'{name}={text}' for name, text in table.items())})"
            for kind, table in fields.items()}
    return ("import sys\nfrom hypothesis import strategies as st\n"
            "from proofs_check.claim import Claim, Hypothesis, Instance, Part, Variant\n"
            f"HYPOTHESIS = {made['Hypothesis']}\nPART = {made['Part']}\nCLAIM = {made['Claim']}\n").encode()
