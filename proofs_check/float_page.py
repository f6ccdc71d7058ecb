"""Which claims have a strict inequality, and where narrow floats start to get it wrong: the page `notes/float.md`.

`python -m proofs_check.float_page` writes it.  The first table are the families of `numerics.float_limits`, chosen by
hand.  The second evaluates the strict conclusions about parameters as they are written, operation by operation in the
dtype, while one parameter on which the conclusion depends goes to an end of its range, as far as the kernel says that
hypotheses and conclusions hold.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path

import numpy as np
from flint import fmpq

from numerics.float_limits import CASES, DTYPES, measured, page
from proofs_check.certificates import write_whole
from proofs_check.claim import Claim, Part
from proofs_check.claims.registry import written_claims
from proofs_check.perturb import Values
from proofs_check.probing import ERRORS, Probe

PAGE = Path(__file__).resolve().parents[1] / "notes" / "float.md"
POWERS = range(1, 41)
NARROW = ("float32", "bfloat16")
LONGEST = 60
_RELATIONS = {ast.Gt: np.greater, ast.Lt: np.less, ast.Eq: np.equal, ast.GtE: np.greater_equal,
              ast.LtE: np.less_equal}
_OPERATIONS = {ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide, ast.Pow: np.power}
_FUNCTIONS = {"sqrt": np.sqrt, "exp": np.exp, "log": np.log, "abs": np.abs, "sign": np.sign}


def strict(part: Part) -> list[str]:
    """The conclusions that say < or > somewhere, or that two signs agree."""
    return [text for text in part.conclusions if "sign(" in text or any(
        isinstance(operation, (ast.Gt, ast.Lt)) for node in ast.walk(ast.parse(text, mode="eval"))
        if isinstance(node, ast.Compare) for operation in node.ops)]


def on_which(text: str, definitions: Mapping[str, str]) -> set[str]:
    """The names in a formula and in the definitions that it uses: where no other name varies, its value stays."""
    names = {node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)}
    return names.union(*(on_which(definitions[name], definitions) for name in names if name in definitions))


@dataclass(frozen=True)
class Wrong:
    """The first power of two at which a conclusion comes out wrong, parameter and end named; infinite if at none."""

    part: str
    conclusion: str
    way: str
    powers: dict[str, float]


class Floats:
    """A scalar formula evaluated in one dtype, each operation rounded."""

    def __init__(self, values: Values, definitions: dict[str, str], dtype: np.dtype):
        self.values, self.definitions, self.dtype = values, definitions, dtype

    def number(self, value: object) -> np.generic:
        return np.asarray(float(value)).astype(self.dtype)[()]

    def of(self, node: ast.expr) -> object:
        """The value of a formula; raises ValueError for what is no scalar arithmetic or relation."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return self.number(node.value)
        if isinstance(node, ast.Name):
            if node.id in self.definitions:
                return self.of(ast.parse(self.definitions[node.id], mode="eval").body)
            return self.number(self.values[node.id])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.of(node.operand)
        if isinstance(node, ast.BinOp):
            return self.operation(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS \
                and len(node.args) == 1:
            return self.number(_FUNCTIONS[node.func.id](self.of(node.args[0])))
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = self.of(node.left), self.of(node.comparators[0])
            return bool(_RELATIONS[type(node.ops[0])](left, right))
        raise ValueError("expected scalar arithmetic")

    def operation(self, node: ast.BinOp) -> np.generic:
        left = self.of(node.left)
        if isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant) and isinstance(node.right.value, int):
            result = self.number(1)
            for _ in range(node.right.value):
                result = result * left
            return result
        right = self.of(node.right)
        if type(node.op) not in _OPERATIONS:
            raise ValueError("expected scalar arithmetic")
        return _OPERATIONS[type(node.op)](left, right)


def ways(part: Part, start: Values) -> Iterator[tuple[str, str, list[Values]]]:
    """One parameter, named, to an end of its range: to infinity by doubling, to a bound by halving the distance."""
    for table in part.parameters:
        name, value = table["name"], start[table["name"]]
        low, high = (fmpq(*map(int, table[end])) if end in table else None for end in ("minimum", "maximum"))
        if high is None and value > 0:
            yield name, f"{name} = {value}·2^k", [{**start, name: value * 2**k} for k in POWERS]
        if table.get("integer") != "true":
            for end, letter in ((low, "+"), (high, "-")):
                if end is not None and value != end:
                    yield (name, f"{name} = {end} {letter} {abs(value - end)}/2^k",
                           [{**start, name: end + (value - end) / 2**k} for k in POWERS])


def wrongs(claim: Claim) -> Iterator[Wrong]:
    """Every strict conclusion about parameters along every way that changes its value and on which it is evaluated."""
    statements = {table["name"]: table for table in claim.document()["parts"]}
    for part in claim.parts:
        if part.variables or not part.parameters or part.satisfiable is None or part.quantifier != "forall" \
                or not strict(part):
            continue
        probe = Probe(part, statements[part.name])
        for parameter, way, path in ways(part, probe.read(part.satisfiable)):
            moved = [text for text in strict(part) if parameter in on_which(text, part.definitions)]
            if not moved:
                continue
            judged = [(k, values, probe.judge(values)) for k, values in zip(POWERS, path)]
            true = [(k, values) for k, values, answer in judged if answer.meets is True and answer.concludes is True]
            for text in moved if true else ():
                powers = {name: first_wrong(text, part, true, DTYPES[name]) for name in NARROW}
                if None not in powers.values():
                    yield Wrong(part.name, text, way, powers)


def first_wrong(text: str, part: Part, path: list[tuple[int, Values]], dtype: np.dtype) -> float | None:
    """The first k at which a true statement comes out false in the dtype; None where it cannot be evaluated."""
    tree = ast.parse(text, mode="eval").body
    for k, values in path:
        try:
            with np.errstate(all="ignore"):
                if not Floats(values, dict(part.definitions), dtype).of(tree):
                    return k
        except (*ERRORS, OverflowError):
            return None
    return inf


def worst(claim: Claim) -> Wrong | None:
    """The conclusion and way on which float32 goes wrong first, bfloat16 deciding ties; None if none is evaluated."""
    return min(wrongs(claim), default=None,
               key=lambda item: (item.powers["float32"], item.powers["bfloat16"], len(item.conclusion)))


def whole_page() -> str:
    """Families, then formulas as they are written, then the claims without a strict inequality."""
    claims = written_claims()
    chosen = {name for case in CASES for name in case.claims}
    with_strict = [claim for claim in claims if any(strict(part) for part in claim.parts)]
    head, rule, tail = page(measured()).rpartition("\n\n")
    lines = [head, "", "## Conclusions as they are written", "",
             f"{len(with_strict)} of {len(claims)} claims have a conclusion that says < or > or that two signs agree. "
             "For those about",
             "parameters, the formula is evaluated operation by operation while one parameter of the formula goes to "
             "an end of its range (k = 1, 2, ...,",
             f"{POWERS[-1]}), where the kernel says that the hypotheses hold and the conclusion is true. The row is "
             "the conclusion on which",
             "float32 fails first; the columns give the least k at which it says the wrong thing.", "",
             "| claim | part | conclusion | way | float32 | bfloat16 | families above |",
             "|---|---|---|---|---|---|---|"]
    for claim in with_strict:
        found, above = worst(claim), "yes" if claim.id in chosen else ""
        if found is None:
            why = "no number to vary: about matrices, or on a curve of the parameters"
            lines.append(f"| {claim.id} | | ({why}) | | | | {above} |")
            continue
        text = found.conclusion if len(found.conclusion) <= LONGEST else found.conclusion[:LONGEST] + " ..."
        cells = ["none" if found.powers[name] == inf else f"{found.powers[name]:g}" for name in NARROW]
        row = (claim.id, found.part, text.replace("|", ""), found.way, *cells, above)
        lines.append(f"| {' | '.join(row)} |")
    others = ", ".join(claim.id for claim in claims if claim not in with_strict)
    lines += ["", f"Without a strict inequality in a conclusion: {others}. Their conclusions are",
              "equalities, equivalences of exact predicates and bounds with >=; a float evaluates an equality of "
              "irrational numbers as false almost everywhere, which is",
              "why these are checked in exact or ball arithmetic too.", "", tail.strip()]
    return "\n".join(lines) + "\n"


def main() -> int:
    write_whole(PAGE, whole_page().encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
