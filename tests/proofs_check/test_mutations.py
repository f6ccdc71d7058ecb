"""Mutate certificates one field at a time: each mutant is rejected, or still proves what it says.

What an accepted mutant says is judged without the kernel: instances by the independent reading of formulas in
`oracle.py`, derivations by the independent lemma checker of tests/theory, records by their own arithmetic.
"""

from __future__ import annotations

import copy
import hashlib
import random
from fractions import Fraction
from pathlib import Path

import pytest
from derivation_checker import NotProved
from derivation_checker import check as check_derivation
from oracle import evaluate, vectors

from proofs_check.certificates import certificate, instances_body, write_claim
from proofs_check.claim import Claim, Hypothesis, Instance, Part, _statement
from proofs_check.claims import all_claims
from proofs_check.engines import Context
from proofs_check.engines.derivations import derivations, symbolic_part
from proofs_check.engines.instances import instances
from proofs_check.engines.ledger import ledger
from proofs_check.kernel import Rejected, read_json, replay
from theory.costs_exchangeable import sink_margin
from theory.oversmoothing_signs import uniform_against_diagonal
from theory.statements import Derivation, Lemma, Parameter

WANTED = 2000
PER_CERTIFICATE = 160


def own_claims() -> list[Claim]:
    """Small claims with every certificate kind; the shipped claims E2 and G2 are mutated beside them."""
    box = ({"name": "y", "minimum": ["0", "1"], "maximum": ["1", "1"]},)
    covered = Part(name="cover", text="", parameters=box, conclusions=("exp(y) - y > 1/4",),
                   splits=lambda: ["y", "leaf", "leaf"])
    half = Hypothesis("half-space", "", "separable(v, 'hull')", Instance({"v": [[0]]}))
    small = Part(name="rows", text="", variables={"v": "matrix"}, hypotheses=(half,), conclusions=("v[0][0] != 0",),
                 satisfiable=Instance({"v": [[2], [3]]}, {"hull": {"normal": [Fraction(1, 7)]}}),
                 attainment="v[0][0] + 1 == v[1][0]",
                 attained=Instance({"v": [[2], [3]]}, {"hull": {"normal": [1]}}))
    hidden = small.vary("no half-space", "drop hypothesis", "", Instance({"v": [[0]]}), drop=("half-space",))
    norm = Part(name="norm", text="", quantifier="exists", variables={"m": "matrix", "b": "scalar"}, constants={"b": 2},
                conclusions=("norm_at_most(m, 1, b, 's') and m[0][0] >= 1",), cases=("m[0][0] == 1", "m[0][0] == 2"))
    return [Claim("own", "", "test", "", (covered, small, norm), (hidden,)),
            Claim("O3 signs", "", "test", "", (symbolic_part(uniform_against_diagonal, "signs", ""),)),
            Claim("C4 sink", "", "test", "", (symbolic_part(sink_margin, "sink", ""),))]


def certificates(directory: Path) -> list[tuple[Claim, dict]]:
    context = Context(directory)
    found = []
    for claim in [*own_claims(), *(c for c in all_claims() if c.id in ("E2", "G2"))]:
        for engine in (ledger, derivations):
            found += [(claim, item) for item in engine(claim, context).certificates]
        if claim.id == "E2":
            found += [(claim, small(item)) for item in instances(claim, context).certificates]
    own = found[0][0]
    identity = [[Fraction(1)]]
    norms = [Instance({"m": [[size]]}, {"s": {"left": identity, "values": [size], "right": identity}})
             for size in (1, 2)]
    found.append((own, certificate(own, "norm", "evidence", "instances", "test", instances_body(own.parts[2], norms))))
    for kind, body in (("search", {"examples": "40", "seed": "0"}),
                       ("float", {"residual": (1e-9).hex(), "tolerance": (1e-7).hex(), "cases": "12"}),
                       ("sampling", {"trials": "400", "probability_at_most": ["1", "100"],
                                     "confidence": ["49", "50"]})):
        found.append((own, certificate(own, "rows", "evidence", kind, "test", body)))
    found.append(formal_certificate(directory))
    return found


def small(item: dict) -> dict:
    """Only the instances that the brute-force reading of hulls can afford."""
    if item["kind"] != "instances":
        return item
    kept = [table for table in item["body"]["instances"]
            if len(table["values"]["v"]) <= 4 and len(table["values"]["v"][0]) <= 2]
    return item | {"body": {"instances": kept[:8]}}


def formal_certificate(directory: Path) -> tuple[Claim, dict]:
    source = b"(* a comment with Admitted in it *)\nTheorem one : 1 = 1.\nProof. reflexivity. Qed.\n"
    sha = hashlib.sha256(source).hexdigest()
    (directory / f"{sha}.v").write_bytes(source)
    pinned = {"theorem": "one", "file": "One.v", "sources": {"One.v": sha}}
    part = Part(name="one", text="", conclusions=("1 == 1",))

    class Pinned(Claim):
        def document(self) -> dict:
            return super().document() | {"parts": [_statement(part, pinned)]}

    claim = Pinned("formal", "", "test", "", (part,))
    return claim, certificate(claim, "one", "evidence", "formal", "rocq", {
        "theorem": "one", "assumptions": "Closed under the global context", "sources": pinned["sources"],
        "toolchain": {"coq": "8.16.1"}})


def leaves(node: object, path: tuple = ()):
    """Every field: leaves with their replacements, and containers with an entry removed, repeated or replaced."""
    if isinstance(node, dict):
        for key, child in node.items():
            yield path, "drop", key
            yield from leaves(child, (*path, key))
        yield path, "add", "unexpected"
    elif isinstance(node, list):
        for index, child in enumerate(node):
            yield path, "drop", index
            yield path, "repeat", index
            yield from leaves(child, (*path, index))
    else:
        for value in replacements(node):
            yield path, "set", value


def replacements(text: str) -> list[object]:
    values: list[object] = ["", text + "x", [text], {"a": text}, "0", "-" + text]
    if text.lstrip("-").isdigit():
        values += [str(int(text) + 1), str(int(text) - 1), str(-int(text)), "0" + text]
    if text.startswith(("0x", "-0x")):
        values += [(float.fromhex(text) * (1 + 2**-40)).hex(), (-float.fromhex(text)).hex(), "nan", "inf"]
    return [value for value in values if value != text]


def mutated(item: dict, path: tuple, action: str, what: object) -> dict:
    result = copy.deepcopy(item)
    if action == "set":
        parent = result
        for step in path[:-1]:
            parent = parent[step]
        parent[path[-1]] = what
        return result
    node = result
    for step in path:
        node = node[step]
    if action == "drop":
        del node[what]
    elif action == "repeat":
        node.insert(what, copy.deepcopy(node[what]))
    else:
        node["unexpected"] = "1"
    return result


def number(value: object) -> Fraction:
    if isinstance(value, list):
        top, bottom = value
        return Fraction(int(top), int(bottom))
    return Fraction(float.fromhex(value)) if "x" in value else Fraction(int(value))


READERS = {
    "scalar": number, "integer": int,
    "integers": lambda value: vectors([int(item) for item in value]),
    "set": lambda value: vectors([int(item) for item in value]),
    "pairs": lambda value: vectors([[int(end) for end in pair] for pair in value]),
    "vector": lambda value: vectors([number(item) for item in value]),
    "matrix": lambda value: vectors([[number(item) for item in row] for row in value]),
    "matrices": lambda value: vectors([[[number(item) for item in row] for row in matrix] for matrix in value]),
}


class Lazy(dict):
    """Definitions evaluated when they are used, in the independent reading."""

    def __init__(self, values: dict, definitions: list):
        super().__init__(values)
        self.definitions = dict(map(tuple, definitions))

    def resolved(self, text: str) -> dict:
        import ast
        for node in ast.walk(ast.parse(text.strip(), mode="eval")):
            if isinstance(node, ast.Name) and node.id in self.definitions and node.id not in self:
                definition = self.definitions[node.id]
                self[node.id] = evaluate(definition, self.resolved(definition))
        return dict(self)


def values_of(part: dict, table: dict) -> dict:
    types = {v["name"]: v["type"] for v in part["variables"]} | {p["name"]: "scalar" for p in part["parameters"]}
    return {name: READERS[types[name]](value) for name, value in {**table["values"], **part["constants"]}.items()}


def case_is_met(part: dict, case: str, table: dict) -> bool:
    return bool(evaluate(case, Lazy(values_of(part, table), part["definitions"]).resolved(case)))


def instance_is_valid(part: dict, item: dict, table: dict) -> bool:
    values = values_of(part, table)
    known = Lazy(values, part["definitions"])

    def holds(text: str) -> bool:
        if "norm_at_most" in text:  # the bound itself, for the 1x1 matrix of the test claim
            return abs(values["m"][0][0]) <= values["b"] and values["m"][0][0] >= 1
        return bool(evaluate(text, known.resolved(text)))

    for bound in part["parameters"]:
        if not (number(bound["minimum"]) <= values[bound["name"]] <= number(bound["maximum"])):
            return False
    if not all(holds(h["formula"]) for h in part["hypotheses"]
               if not (item["role"] == "dropped" and h["name"] == item["subject"])):
        return False
    conclusions = [*part["conclusions"], *([part["attainment"]] if item["role"] == "attained" else [])]
    concluded = all(holds(text) for text in conclusions)
    return concluded is (item["role"] not in ("dropped", "refuted"))


def still_proves(claim: Claim, item: dict, record) -> bool:
    document = claim.document()
    part = next(p for p in (*document["parts"], *document["variants"]) if p["name"] == item["target"])
    assert (record.target, record.role, record.kind) == (item["target"], item["role"], item["kind"])
    body = item["body"]
    if item["kind"] in ("instances", "counterexample"):
        return all(instance_is_valid(part, item, table) for table in body["instances"]) and (
            item["role"] != "evidence" or all(any(case_is_met(part, case, table) for table in body["instances"])
                                              for case in part.get("cases", ())))
    if item["kind"] == "derivation":
        lemmas = tuple(Lemma(t["formula"], t["by"], tuple((str(number(w)), tuple(f)) for w, f in t.get("terms", [])),
                             t.get("factor"), t.get("multipliers", {})) for t in body["lemmas"])
        parameters = tuple(
            Parameter(p["name"], *(str(number(p[end])) if end in p else None for end in ("minimum", "maximum")),
                      p.get("open_min") == "true", p.get("open_max") == "true") for p in part["parameters"])
        derivation = Derivation(parameters, dict(map(tuple, part["definitions"])),
                                {h["name"]: h["formula"] for h in part["hypotheses"]}, lemmas,
                                tuple(part["conclusions"]))
        try:
            check_derivation(derivation)
        except NotProved:
            return False
        return True
    if item["kind"] == "cover":
        # on [0, 1/2] exp(y) - y >= 1/2, on [1/2, 1] it is at least sqrt(e) - 1; [0, 1] needs the split
        return body["splits"] == ["y", "leaf", "leaf"]
    if item["kind"] == "sampling":
        return (1 - number(body["probability_at_most"]))**int(body["trials"]) <= 1 - number(body["confidence"])
    if item["kind"] == "float":
        return (0 <= number(body["residual"]) <= number(body["tolerance"]) <= Fraction(1, 10**6)
                and int(body["cases"]) > 0)
    if item["kind"] == "search":
        return record.grade == "searched" and int(body["examples"]) > 0
    if item["kind"] == "formal":
        return body["theorem"] == "one" and body["assumptions"] == "Closed under the global context"
    return False


@pytest.mark.slow
def test_every_mutant_is_rejected_or_still_valid(tmp_path: Path, capsys) -> None:
    rng = random.Random(20)
    rejected, valid, kinds, wrong = 0, 0, {}, []
    for claim, item in certificates(tmp_path):
        document = claim.document()
        replay(document, item, tmp_path)  # the unmutated certificate is accepted
        found = list(leaves(item))
        for path, action, what in rng.sample(found, min(PER_CERTIFICATE, len(found))):
            mutant = mutated(item, path, action, what)
            kinds[item["kind"]] = kinds.get(item["kind"], 0) + 1
            try:
                record = replay(document, mutant, tmp_path)
            except Rejected:
                rejected += 1
                continue
            if still_proves(claim, mutant, record):
                valid += 1
            else:
                wrong.append((item["claim"], item["kind"], item["role"], path, action, what))
    with capsys.disabled():
        print(f"\n{rejected + valid + len(wrong)} mutations over {len(kinds)} kinds: {rejected} rejected, "
              f"{valid} still valid certificates of the same claim; per kind {dict(sorted(kinds.items()))}")
    assert wrong == [], wrong
    assert rejected + valid >= WANTED and set(kinds) == {
        "instances", "counterexample", "derivation", "cover", "formal", "search", "float", "sampling"}


def test_the_claim_itself_cannot_be_exchanged(tmp_path: Path) -> None:
    claim = own_claims()[0]
    item = next(c for c in ledger(claim, Context(tmp_path)).certificates if c["role"] == "satisfiable")
    changed = copy.deepcopy(claim.document())
    changed["parts"][1]["conclusions"] = ["v[0][0] != 1"]
    with pytest.raises(Rejected, match="another claim"):
        replay(changed, item, tmp_path)


def test_written_certificates_are_canonical_and_read_back(tmp_path: Path) -> None:
    claim = own_claims()[0]
    items = ledger(claim, Context(tmp_path)).certificates
    for name, item in zip(write_claim(tmp_path, claim, items), items):
        assert read_json(tmp_path / name) == item
