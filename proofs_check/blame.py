"""Which formula of a part an instance violates, or cannot be evaluated in: for messages, never for verdicts."""

from __future__ import annotations

import re
from pathlib import Path

from proofs_check.claim import Instance
from proofs_check.display import brief, shortened
from proofs_check.kernel import Rejected, bound_names
from proofs_check.kernel.encoding import Cloud
from proofs_check.kernel.formula import decide
from proofs_check.kernel.replay import read_instance

FORMULA, VALUES = 100, 160


def shown(values: dict) -> str:
    """The values of an instance on one line, cut to a bearable length."""
    rows = {name: f"({value.rows} rows)" if isinstance(value, Cloud) else value for name, value in values.items()}
    return shortened(brief(rows), VALUES) or "no values"


def of_instance(instance: Instance) -> str:
    return shown(dict(instance.values))


def blame(part: dict, table: dict, directory: Path, subject: str = "", conclude: bool = True) -> str:
    """The first fault of an instance in certificate form, as in ``a=2 violates hypothesis 'small' [a <= 1]``.

    Hypotheses (but for `subject`) come first, then the conclusions where `conclude`; "" where there is no fault.
    """
    try:
        values, witnesses = read_instance(part, table, directory,
                                          subject if subject in bound_names(part["parameters"]) else "")
    except Rejected as error:
        return str(error)
    at = shown({name: value for name, value in values.items() if name not in part["constants"]})
    formulas = [(f"hypothesis '{item['name']}' [{shortened(item['formula'], FORMULA)}]", item["formula"])
                for item in part["hypotheses"] if item["name"] != subject]
    formulas += [(f"conclusion [{shortened(text, FORMULA)}]", text) for text in part["conclusions"] if conclude]
    for label, text in formulas:
        try:
            holds = decide(values, part["definitions"], [], [text], witnesses)[1]
        except Rejected as error:
            where = _definition(part, text, values, witnesses, str(error))
            return f"{label}{where} cannot be evaluated at {at}: {error}"
        if not holds:
            return f"{at} violates {label}"
    return ""


def _definition(part: dict, formula: str, values: dict, witnesses: dict, reason: str) -> str:
    """The definition used in the formula that by itself fails for the same reason, in words; "" where none does."""
    definitions = dict(part["definitions"])
    used = [name for name in definitions if name in _names(formula)]
    for name in used:  # grows: definitions used by those
        used += [other for other in definitions if other in _names(definitions[name]) and other not in used]
    for name in (name for name in definitions if name in used):
        try:
            decide(values, part["definitions"], [], [f"[{name}] != []"], witnesses)  # makes it and compares nothing
        except Rejected as error:
            if str(error) == reason:
                return f", through the definition {name} = {shortened(definitions[name], FORMULA)},"
    return ""


def _names(formula: str) -> set[str]:
    return set(re.findall(r"\w+", formula))
