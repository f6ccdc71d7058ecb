"""A part with one hypothesis dropped, evaluated on candidate values: witnesses are found here, not given.

The kernel never searches, so a changed instance needs new witnesses.  `Probe` computes them on the way through the
kernel's own evaluator, and knows how far each comparison is from equality, which is what repairs and attacks need.
Nothing found here counts until `replay` has seen it.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat

from proofs_check.alternative import gordan_witness
from proofs_check.claim import Instance, Part, bound_formula, encode_instance
from proofs_check.kernel import bound_names
from proofs_check.kernel.encoding import Rejected, need
from proofs_check.kernel.formula import FUNCTIONS, PRECISIONS, Evaluator, parse
from proofs_check.kernel.replay import read_instance
from proofs_check.perturb import Values, consistent, entries, replaced

ERRORS = (Rejected, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
CLOSE = tuple(fmpq(1, power) for power in (10, 100, 1000, 10**6))  # to a strict bound
_RELATIONS = (ast.Eq, ast.GtE, ast.Gt, ast.LtE, ast.Lt)


@dataclass(frozen=True)
class Answer:
    """What an instance does: meets the kept hypotheses, and then the conclusions hold, or not (None: undecided)."""

    meets: bool | None
    concludes: bool | None
    witnesses: Mapping[str, Mapping[str, object]]

    def refutes(self) -> bool:
        return self.meets is True and self.concludes is False


@dataclass(frozen=True)
class Atom:
    """A comparison of numbers: the formula ``gap`` for left minus right (or right minus left), wanted by `relation`."""

    gap: ast.expr
    relation: str  # "==", ">=" or ">"


class Witnessing(Evaluator):
    """The kernel's evaluator, which computes the witness of a predicate where it meets one."""

    def __init__(self, part: Part, values: Mapping, definitions: Sequence):
        super().__init__(dict(values), {}, list(definitions))
        self.part, self.found = part, {}

    def truth(self, text: str) -> bool:
        value = self.evaluate(tree(text))
        need(isinstance(value, bool), "expected a statement")
        return value

    def _call(self, node: ast.Call) -> object:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "separable" and len(node.args) == 2:
            rows = self.evaluate(node.args[0])
            return self._with(name, node.args[1].value, gordan_witness(rows)[1], rows)
        if name == "norm_at_most" and len(node.args) == 4:
            matrix, exponent, bound = (item.value if isinstance(item, ast.Constant) and isinstance(item.value, str)
                                       else self.evaluate(item) for item in node.args[:3])
            left, values, right = np.linalg.svd([[float(entry) for entry in row] for row in matrix],
                                                full_matrices=False)
            witness = {"left": left.tolist(), "values": values.tolist(), "right": right.T.tolist()}
            return self._with(name, node.args[3].value, witness, matrix, exponent, bound)
        return super()._call(node)

    def _with(self, name: str, key: str, witness: dict, *arguments: object) -> object:
        self.found[key] = witness
        self.witnesses[key] = encode_instance(self.part, Instance({}, {key: witness}))["witnesses"][key]
        return FUNCTIONS[name](self, *arguments, key)


@cache
def tree(text: str) -> ast.expr:
    return parse(text)


class Probe:
    """One part with the hypothesis or the parameter's bound `subject` left out ("" leaves none out)."""

    def __init__(self, part: Part, statement: dict, subject: str = ""):
        self.part, self.statement, self.subject = part, statement, subject
        self.wider = _without_bound(statement, subject)
        # a false variant inherits the numerical route of the statement that it distorts, which says nothing about it
        self.numeric = None if "operator" in statement else part.numeric
        self.types = {**{table["name"]: "scalar" for table in part.parameters}, **part.variables}
        self.free = {name: kind for name, kind in self.types.items() if name not in part.constants}
        self.definitions = [[name, text] for name, text in part.definitions.items()]
        self.kept = [item.formula for item in part.hypotheses if item.name != subject]
        self.atoms = [atom for text in self.kept for atom in atoms(tree(text))]
        self.dropped = [atom for item in part.hypotheses if item.name == subject
                        for atom in atoms(tree(item.formula), within=True)]
        if subject in bound_names(part.parameters):
            self.dropped = [atom for text in filter(None, [bound_formula(part.parameters, subject)])
                            for atom in atoms(tree(text))]
        self.aims = [atom for text in part.conclusions for atom in atoms(tree(text), within=True)]

    def read(self, instance: Instance) -> Values:
        """The instance's values as exact numbers, without the claim's constants; raises `Rejected`."""
        values, _ = read_instance(self.wider, encode_instance(self.part, instance), None)
        return {name: values[name] for name in self.free}

    def instance(self, values: Values, witnesses: Mapping) -> Instance:
        return Instance(dict(values), dict(witnesses))

    def judge(self, values: Values) -> Answer:
        """Evaluate as the kernel will, with witnesses found on the way."""
        ctx.prec = PRECISIONS[0]
        try:
            evaluator = Witnessing(self.part, self._complete(values), self.definitions)
        except ERRORS:
            return Answer(None, None, {})
        try:
            if not all(evaluator.truth(text) for text in self.kept):
                return Answer(False, None, {})
        except ERRORS:
            return Answer(None, None, {})
        try:
            concludes = all(evaluator.truth(text) for text in self.part.conclusions)
        except ERRORS:
            return Answer(True, None, evaluator.found)
        return Answer(True, concludes, evaluator.found)

    def _complete(self, values: Values) -> dict:
        need(consistent(values, self.free), "a letter of the shapes stands for two lengths")
        if self.part.parameters or self.part.constants:  # bounds and constants are checked where they are read
            return read_instance(self.wider, encode_instance(self.part, Instance(values)), None)[0]
        return dict(values)

    def meets_the_rest(self, values: Values) -> bool:
        """Do the kept hypotheses hold that are no conjunctions of comparisons, such as psd(m)?"""
        try:
            evaluator = Witnessing(self.part, self._complete(values), self.definitions)
            return all(evaluator.truth(text) for text in self.kept if not compares(tree(text)))
        except ERRORS:
            return False

    def has_slack(self) -> bool:
        """Is there anything to go downhill on?"""
        return self.numeric is not None or bool(self.aims)

    def gaps(self, values: Values, wanted: Sequence[Atom], balls: bool = False) -> list[list[fmpq] | None]:
        """left - right of each atom, entry by entry; None where it is undefined or no exact number.

        With `balls` an enclosed number stands for itself by its midpoint: good enough for going downhill.
        """
        try:
            evaluator = Witnessing(self.part, self._complete(values), self.definitions)
        except ERRORS:
            return [None] * len(wanted)
        result: list[list[fmpq] | None] = []
        for atom in wanted:
            try:
                result.append(flat(evaluator.evaluate(atom.gap), balls))
            except ERRORS:
                result.append(None)
        return result

    def moved(self, values: Values, rng: random.Random, violate: Sequence[Atom] = (),
              onto: Sequence[Atom] = ()) -> Values | None:
        """Solve for entries that meet every kept comparison and push one atom of `violate` past its bound, or one of
        `onto` to it (close to it, where it is strict).

        The gaps are taken as affine in the entries of one or two variables; the equations are the equalities, the
        inequalities now violated (with a random slack), and the target.  One step of Newton's method, in rationals.
        """
        spots = entries(values, self.free)
        names = sorted({name for name, _ in spots})
        if not names:
            return None
        chosen = set(rng.sample(names, min(len(names), rng.choice((1, 1, 2, 3)))))
        spots = [spot for spot in spots if spot[0] in chosen]
        spots = rng.sample(spots, min(len(spots), 12))
        target = [rng.choice(violate or onto)] if violate or onto else []
        wanted = [*self.atoms, *target]
        before = self.gaps(values, wanted)
        rows: list[tuple[int, int, fmpq]] = []  # (atom, entry, change wanted)
        for index, (atom, gaps) in enumerate(zip(wanted, before)):
            if gaps is None or not gaps:
                continue
            if index == len(self.atoms):
                if not violate:
                    close = rng.choice(CLOSE) if atom.relation == ">" else 0
                    rows += [(index, place, close - gap)
                             for place, gap in enumerate(gaps[:1] if rng.random() < 0.5 else gaps)]
                    continue
                away = rng.choice((-1, -1, fmpq(-1, 2), -2) if atom.relation != "=="
                                  else (1, -1, fmpq(1, 2), fmpq(-1, 2)))
                place = rng.randrange(len(gaps))
                rows.append((index, place, (0 if atom.relation == ">" and rng.random() < 0.5 else away) - gaps[place]))
                continue
            for place, gap in enumerate(gaps):
                if atom.relation == "==":
                    rows.append((index, place, -gap))
                elif gap < 0 or (gap == 0 and atom.relation == ">"):
                    rows.append((index, place, rng.choice((0, 1, fmpq(1, 2))) + int(atom.relation == ">") - gap))
        if not rows:
            return None
        used = sorted({row[0] for row in rows})
        columns = []
        for spot in spots:
            after = dict(zip(used, self.gaps(replaced(values, spot, 1, relative=True), [wanted[i] for i in used])))
            columns.append([None if after[i] is None or len(after[i]) != len(before[i])
                            else after[i][place] - before[i][place]
                            for i, place, _ in rows])
        keep = [k for k, column in enumerate(columns) if None not in column]
        step = solution([[columns[k][line] for k in keep] for line in range(len(rows))], [row[2] for row in rows])
        if step is None:
            return None
        for k, change in zip(keep, step):
            if change != 0:
                values = replaced(values, spots[k], change, relative=True)
        return values


def _without_bound(statement: dict, subject: str) -> dict:
    """The statement on the larger domain; the same where `subject` is no bound of a parameter."""
    found = bound_names(statement["parameters"]).get(subject)
    if found is None:
        return statement
    return {**statement, "parameters": [{key: value for key, value in table.items() if (table["name"], key) != found}
                                        for table in statement["parameters"]]}


def solution(matrix: list[list[fmpq]], right: list[fmpq]) -> list[fmpq] | None:
    """Some solution of matrix·x = right, with as many zeros as elimination gives; None if there is none."""
    width = len(matrix[0]) if matrix else 0
    if width == 0:
        return None
    table, rank = fmpq_mat(len(matrix), width + 1, [fmpq(entry) for row, end in zip(matrix, right)
                                                     for entry in (*row, end)]).rref()
    result = [fmpq(0)] * width
    for line in range(rank):
        pivot = next(k for k in range(width + 1) if table[line, k] != 0)
        if pivot == width:
            return None
        result[pivot] = table[line, width]
    return result


def flat(value: object, balls: bool = False) -> list[fmpq]:
    if isinstance(value, list):
        return [entry for item in value for entry in flat(item, balls)]
    if isinstance(value, arb) and balls and value.is_finite():
        return [fmpq(*float(value).as_integer_ratio())]
    if isinstance(value, arb) or isinstance(value, bool):
        raise ValueError("expected exact numbers")
    return [fmpq(value)]


def compares(node: ast.expr) -> bool:
    """Is the statement a conjunction of comparisons, all of which `atoms` finds?"""
    if isinstance(node, ast.BoolOp):
        return isinstance(node.op, ast.And) and all(map(compares, node.values))
    if isinstance(node, ast.Compare):
        return all(isinstance(operation, _RELATIONS) for operation in node.ops)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "all" \
        and len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp) and compares(node.args[0].elt)


def atoms(node: ast.expr, within: bool = False) -> list[Atom]:
    """The comparisons that a statement is a conjunction of; `within` also looks inside or, if and only if, any.

    Those inside are places to push at, not conditions to meet.  What is no comparison is left out.
    """
    def inner(item: ast.expr) -> list[Atom]:
        return atoms(item, within)

    if isinstance(node, ast.BoolOp) and (within or isinstance(node.op, ast.And)):
        return [atom for item in node.values for atom in inner(item)]
    if isinstance(node, ast.Compare):
        found, left = [], node.left
        for operation, right in zip(node.ops, node.comparators):
            if isinstance(operation, _RELATIONS):
                ends = (right, left) if isinstance(operation, (ast.LtE, ast.Lt)) else (left, right)
                strict = isinstance(operation, (ast.Gt, ast.Lt))
                found.append(Atom(ast.BinOp(ends[0], ast.Sub(), ends[1]),
                                  "==" if isinstance(operation, ast.Eq) else ">" if strict else ">="))
            left = right
        return found
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        return []
    name = node.func.id
    ranging = ("all", "any") if within else ("all",)
    if name in ranging and len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp):
        clauses = node.args[0].generators
        return [Atom(ast.ListComp(atom.gap, clauses), atom.relation) for atom in inner(node.args[0].elt)]
    return [atom for item in node.args for atom in inner(item)] if within and name in ("iff", "implies") else []
