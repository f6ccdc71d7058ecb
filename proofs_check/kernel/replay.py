"""Reads a claim and a certificate and decides what the certificate establishes.

A claim consists of *parts*: statements with typed variables (or bounded parameters), definitions, named hypotheses and
conclusions, all formulas.  A *variant* is a false statement kept beside the claim, in the same form.  A certificate
names its target and a role:

    evidence      the part holds (on instances, on its whole domain, by a formal proof, or by a record of search)
    satisfiable   one instance meets every hypothesis of the part, and its conclusions hold there
    attained      one instance meets every hypothesis and turns the part's bound into the equality it names
    dropped       one instance violates the part while meeting every hypothesis but the one named; the bounds of
                  parameters are hypotheses too, under the names of `bound_names`
    refuted       one instance meets every hypothesis of a part or variant and violates its conclusions

A part that says `exists` may list *cases*, formulas: its evidence then needs, for each of them, an instance on which it
is true, and no choice of instances settles less than the whole list.

Nothing in a certificate is believed: statements come from `claim.json`, values are parsed as exact numbers, and a
`Replayed` record can only be made here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from flint import arb, fmpq

from proofs_check.kernel.encoding import (Cloud, Malformed, Rejected, TooMuch, digest, field, need, read_integer,
                                          read_json, read_number, read_value, well_formed)
from proofs_check.kernel.formal import check_formal
from proofs_check.kernel.formula import Spent, decide
from proofs_check.kernel.symbolic import Domain, check_cover, check_derivation
from proofs_check.kernel.values import compare

CLAIM_SCHEMA = "sinkproof/claim/1"
CERTIFICATE_SCHEMA = "sinkproof/certificate/1"
GRADES = ("none", "sampled", "searched", "float_certified", "symbolic", "enclosed", "exact", "kernel")
_INSTANCE_ROLES = {"instances": ("evidence", "satisfiable", "attained"), "counterexample": ("dropped", "refuted")}
_MINT = object()


@dataclass(frozen=True)
class Replayed:
    """What one certificate establishes.  Made by `replay` only; it has no truth value."""

    claim: str
    claim_digest: str
    certificate_digest: str
    target: str
    role: str
    subject: str  # the hypothesis dropped, the name of the variant, or ""
    kind: str
    engine: str
    outcome: str
    grade: str
    scope: str
    mint: object = None

    def __post_init__(self) -> None:
        if self.mint is not _MINT:
            raise TypeError("a Replayed record is made by replaying a certificate, not by hand")
        object.__setattr__(self, "mint", None)

    def __init_subclass__(cls) -> None:
        raise TypeError("a Replayed record has no subclasses")

    def __bool__(self) -> bool:
        raise TypeError("a replayed certificate has no truth value; read its outcome, grade and scope")


def replay(claim: dict, certificate: dict, directory: Path) -> Replayed:
    """Check one certificate against its claim; raises `Rejected` with the reason.

    Whatever else goes wrong on the way is a rejection too: the kernel fails closed.
    """
    try:
        return _replay(claim, certificate, directory)
    except (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError) as error:
        raise Malformed(f"a field is not of the expected form ({type(error).__name__}: {str(error)[:80]})") from None


def _replay(claim: dict, certificate: dict, directory: Path) -> Replayed:
    well_formed(field(claim, "schema", str, "claim") == CLAIM_SCHEMA, f"claim schema must be {CLAIM_SCHEMA}")
    well_formed(field(certificate, "schema", str, "certificate") == CERTIFICATE_SCHEMA,
                f"certificate schema must be {CERTIFICATE_SCHEMA}")
    claim_digest = digest(claim)
    well_formed(field(certificate, "claim_digest", str, "certificate") == claim_digest,
                "the certificate was made for another claim (digests differ)")
    well_formed(field(certificate, "claim", str, "certificate") == field(claim, "id", str, "claim"),
                "the claim ids differ")
    target, role = field(certificate, "target", str, "certificate"), field(certificate, "role", str, "certificate")
    subject, kind = field(certificate, "subject", str, "certificate"), field(certificate, "kind", str, "certificate")
    body = field(certificate, "body", dict, "certificate")
    parts = {field(part, "name", str, "part"): part for part in field(claim, "parts", list, "claim")}
    variants = {field(part, "name", str, "variant"): part for part in field(claim, "variants", list, "claim")}
    need(len(parts) == len(claim["parts"]) and len(variants) == len(claim["variants"])
         and not set(parts) & set(variants), "parts and variants need different names")
    need(target in parts or (target in variants and role == "refuted"), f"the claim has no part '{target}'")
    need(subject == "" or role == "dropped", "only a certificate for a dropped hypothesis has a subject")
    part = parts.get(target) or variants[target]
    quantifier = field(part, "quantifier", str, "part")
    need(quantifier in _ADMITS, f"a part's quantifier is one of {', '.join(_ADMITS)}")
    read_cases(part)

    if kind in _INSTANCE_ROLES:
        need(role in _INSTANCE_ROLES[kind], f"a certificate of kind '{kind}' cannot have the role '{role}'")
        outcome, grade, scope = _instances(part, role, subject, body, directory)
    else:
        need(role == "evidence", f"a certificate of kind '{kind}' is evidence and nothing else")
        need(kind in _EVIDENCE, f"unknown certificate kind '{kind}'")
        need(kind in _ADMITS[quantifier],
             f"a part about '{quantifier}' is not settled by a certificate of kind '{kind}'")
        outcome, grade, scope = _EVIDENCE[kind](part, body, directory)
    return Replayed(claim["id"], claim_digest, digest(certificate), target, role, subject, kind,
                    field(certificate, "engine", str, "certificate"), outcome, grade, scope, _MINT)


def read_cases(part: dict) -> list[str]:
    """The formulas each of which must be true on some instance; only a part that says `exists` has any."""
    if "cases" not in part:
        return []
    cases = field(part, "cases", list, "part")
    need(field(part, "quantifier", str, "part") == "exists", "only an 'exists' part has cases")
    need(len(cases) > 0 and all(isinstance(text, str) and text.strip() for text in cases),
         "cases are a list of formulas, none of them empty")
    need(len(set(cases)) == len(cases), "the same case is listed twice")
    return cases


def bound_names(parameters: list) -> dict[str, tuple[str, str]]:
    """What the domain of the parameters asks for, by the name under which it can be dropped: (parameter, which)."""
    return {f"integer {item['name']}" if kind == "integer" else f"{kind} of {item['name']}": (item["name"], kind)
            for item in parameters for kind in ("minimum", "maximum", "integer")
            if item.get(kind, "false") != "false"}


def read_instance(part: dict, table: dict, directory: Path, without: str = "") -> tuple[dict, dict]:
    """The values of one instance and its witnesses; constants come from the claim itself.

    `without` names a bound of a parameter (see `bound_names`) that the instance must not meet.
    """
    values = field(table, "values", dict, "instance")
    witnesses = field(table, "witnesses", dict, "instance")
    types = {field(item, "name", str, "variable"): field(item, "type", str, "variable") for item in part["variables"]}
    shapes = {item["name"]: field(item, "shape", list, "variable") for item in part["variables"] if "shape" in item}
    constants = field(part, "constants", dict, "part")
    parameters = [field(item, "name", str, "parameter") for item in part["parameters"]]
    types.update({name: "scalar" for name in parameters})
    need(len(types) == len(part["variables"]) + len(parameters), "a variable is declared twice")
    need(set(values) | set(constants) == set(types) and not set(values) & set(constants),
         f"an instance must give exactly the variables {sorted(set(types) - set(constants))}")
    result = {name: read_value({**values, **constants}[name], kind, directory, name) for name, kind in types.items()}
    sizes: dict[str, int] = {}
    for name, letters in shapes.items():
        _bind_sizes(name, result[name], letters, sizes)
    domain = Domain(part["parameters"]) if parameters else None
    for bound, (name, kind) in bound_names(part["parameters"]).items():
        low, high, open_min, open_max = domain.bounds[name]
        holds = {"minimum": lambda: compare(result[name], ">" if open_min else ">=", low),
                 "maximum": lambda: compare(result[name], "<" if open_max else "<=", high),
                 "integer": lambda: bool(result[name].q == 1)}[kind]()
        if bound == without:
            need(not holds, "the instance meets the bound it is said to drop")
        else:
            need(holds, f"{name} must be an integer" if kind == "integer"
                 else f"{name} is {'below' if kind == 'minimum' else 'above'} its range")
    return result, witnesses


def instance_key(values: dict) -> str:
    """Equal for two instances exactly when all their values are, however they are written; sets keep their order."""
    return repr(sorted((name, _plain(value)) for name, value in values.items()))


def _plain(value: object) -> object:
    if isinstance(value, Cloud):
        return value.content()
    return [_plain(item) for item in value] if isinstance(value, list) else fmpq(value)


def _bind_sizes(name: str, value: object, letters: list, sizes: dict[str, int]) -> None:
    """Each letter of a variable's shape is one number throughout the instance; rows of an empty matrix fit any."""
    if not letters:
        return
    letter, *rest = letters
    need(isinstance(value, list), f"{name} has no axis '{letter}'")
    need(sizes.setdefault(letter, len(value)) == len(value),
         f"{name} does not have {sizes[letter]} entries along '{letter}'")
    for entry in value if rest else ():
        _bind_sizes(name, entry, rest, sizes)


def examine(part: dict, table: dict, directory: Path, subject: str = "",
            attainment: bool = False, spent: Spent | None = None) -> tuple[bool, bool, bool, dict]:
    """One instance of a part: do the hypotheses (but for `subject`) hold, do the conclusions, did balls take part?

    The fourth entry holds the instance's values.  The work is charged to `spent`.
    """
    hypotheses = {field(item, "name", str, "hypothesis"): field(item, "formula", str, "hypothesis")
                  for item in field(part, "hypotheses", list, "part")}
    need(len(hypotheses) == len(part["hypotheses"]), "two hypotheses have one name")
    bounds = bound_names(part["parameters"])
    need(not set(bounds) & set(hypotheses), "a hypothesis has the name of a parameter's bound")
    need(subject == "" or subject in hypotheses or subject in bounds, f"the part has no hypothesis '{subject}'")
    conclusions = field(part, "conclusions", list, "part")
    need(len(conclusions) > 0, "a part needs at least one conclusion")
    if attainment:
        need(field(part, "attainment", str, "part") != "", "the part names no equality to attain")
        conclusions = [*conclusions, part["attainment"]]
    kept = [formula for name, formula in hypotheses.items() if name != subject]
    values, witnesses = read_instance(part, table, directory, subject if subject in bounds else "")
    return *decide(values, field(part, "definitions", list, "part"), kept, conclusions, witnesses,
                   hypotheses.get(subject), spent), values


def _instances(part: dict, role: str, subject: str, body: dict, directory: Path) -> tuple[str, str, str]:
    quantifier = field(part, "quantifier", str, "part")
    need(quantifier != "probability" or role == "satisfiable", "a part about a probability is not settled by instances")
    need(role in ("evidence", "satisfiable") or quantifier == "forall",
         "only a 'forall' part can be refuted or attained")
    need(role != "dropped" or subject != "", "the dropped hypothesis is not named")
    listed = field(body, "instances", list, "certificate")
    need(len(listed) > 0, "a certificate needs at least one instance")
    need(len(listed) == 1 or role == "evidence", f"the role '{role}' takes one instance")
    refutes, enclosed, seen, spent = role in ("dropped", "refuted"), False, set(), Spent()
    missing = read_cases(part) if role == "evidence" else []
    for table in listed:
        meets, concludes, balls, values = examine(part, table, directory, subject, role == "attained", spent)
        if len(listed) > 1:  # compared as values, since one number can be written in several ways
            seen.add(instance_key(values))
        enclosed = enclosed or balls
        need(meets, "an instance violates a hypothesis")
        need(concludes is not refutes,
             "the conclusions hold on the instance" if refutes else "a conclusion fails on an instance")
        found = {text: _decided(part, text, values, table["witnesses"], spent) for text in missing}
        enclosed = enclosed or any(balls for true, balls in found.values() if true)
        missing = [text for text in missing if not found[text][0]]
    need(len(seen) == len(listed) or len(listed) == 1, "the same instance is listed twice")
    need(not missing, f"no instance for the case {missing[0] if missing else ''}")
    grade = "enclosed" if enclosed else "exact"
    if refutes:
        return "refuted", grade, "as stated"
    whole = quantifier == "exists" and (role == "evidence" or "cases" not in part)
    return "holds", grade, "as stated" if whole else f"instances: {len(listed)}"


def _decided(part: dict, text: str, values: dict, witnesses: dict, spent: Spent) -> tuple[bool, bool]:
    """(is the case shown true on the instance, did balls take part); undecided or undefined is not shown."""
    try:
        _, true, balls = decide(values, part["definitions"], [], [text], witnesses, spent=spent)
    except TooMuch:
        raise
    except Rejected:
        return False, False
    return true, balls


def _derivation(part: dict, body: dict, directory: Path) -> tuple[str, str, str]:
    need(not part["variables"], "a derivation is about parameters only")
    check_derivation(part, field(body, "lemmas", list, "certificate"))
    return "holds", "exact", "as stated"


def _cover(part: dict, body: dict, directory: Path) -> tuple[str, str, str]:
    need(not part["variables"], "a cover is about parameters only")
    check_cover(part, field(body, "splits", list, "certificate"))
    return "holds", "enclosed", "as stated"


def _formal(part: dict, body: dict, directory: Path) -> tuple[str, str, str]:
    check_formal(field(part, "formal", dict, "part"), body, directory)
    return "holds", "kernel", "as stated"


def _sampling(part: dict, body: dict, directory: Path) -> tuple[str, str, str]:
    """Independent trials without a violation; the stated bound on the violation probability is recomputed."""
    trials = read_integer(field(body, "trials", str, "sampling"), "trials")
    bound = read_number(field(body, "probability_at_most", list, "sampling"), "sampling")
    level = read_number(field(body, "confidence", list, "sampling"), "sampling")
    need(trials > 0 and bool(0 < bound < 1) and bool(0 < level < 1), "trials, bound and confidence must make sense")
    need(bool(arb(1 - bound) ** trials <= arb(1 - level)), "the stated bound does not follow from that many trials")
    return "holds", "sampled", f"instances: {trials}"


def _search(part: dict, body: dict, directory: Path) -> tuple[str, str, str]:
    """A search that found nothing: a statement about effort, with the budget named."""
    examples = read_integer(field(body, "examples", str, "search"), "examples")
    need(examples > 0, "a search that tried nothing is not evidence")
    return "holds", "searched", f"instances: {examples}"


def _float(part: dict, body: dict, directory: Path) -> tuple[str, str, str]:
    """Floating-point agreement within a residual that is stated, finite and below the stated tolerance."""
    residual = read_number(field(body, "residual", str, "float"), "residual")
    tolerance = read_number(field(body, "tolerance", str, "float"), "tolerance")
    cases = read_integer(field(body, "cases", str, "float"), "cases")
    need(cases > 0 and bool(0 <= residual <= tolerance) and bool(tolerance <= fmpq(1, 10**6)),
         "the residual must be at most the tolerance, and that at most 1e-6")
    return "holds", "float_certified", f"instances: {cases}"


_EVIDENCE = {"derivation": _derivation, "cover": _cover, "formal": _formal, "sampling": _sampling,
             "search": _search, "float": _float}


# What can settle a part, besides instances: `exists` needs its instance, a probability needs trials.
_ADMITS = {"forall": tuple(_EVIDENCE), "exists": ("formal",), "probability": ("sampling", "search", "float", "formal")}


def replay_files(directory: Path, names: list[str] | None = None) -> tuple[
        list[tuple[str, Replayed]], list[tuple[str, Rejected]]]:
    """Replay the named certificates, or every ``cert-*.json``, beside a ``claim.json``: (accepted, rejected)."""
    claim = read_json(directory / "claim.json")
    accepted, rejected = [], []
    for name in sorted(path.name for path in directory.glob("cert-*.json")) if names is None else names:
        try:
            accepted.append((name, replay(claim, read_json(directory / name), directory)))
        except Rejected as reason:
            rejected.append((name, reason))
    return accepted, rejected
