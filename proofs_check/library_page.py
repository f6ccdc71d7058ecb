"""The page notes/library.md: what `from numerics import ...` offers, from the signatures and docstrings themselves."""

from __future__ import annotations

import inspect
from importlib import import_module

import numerics

HEAD = """# The library

`from numerics import sink_cost, diagonal_cost, one_step, ...`: pure functions on arrays, typed with
[jaxtyping](https://docs.kidger.site/jaxtyping/) shapes (`Float[np.ndarray, "token dim"]`; query axis first). Lists,
integers and narrower floats become float64. Bad input (shapes that do not fit, NaN, an unknown option) raises
`ValueError` with what was expected, what came, and what to do. Results with bounds are records: read their `status`
first, and their `reason` where it is not "bounded".
The examples below are run by the tests; `np` is numpy.
"""
TITLES = {
    "layer": "One step", "attention": "Attention", "hull": "Hulls", "gordan": "Can a sink be represented?",
    "wendel": "Chance levels", "sink_cost": "What a sink costs", "diagonal_bound": "What a diagonal costs",
    "minimum_norm": "Any constraints", "constraints": "Constraint sets", "value_cost": "What values cost",
    "schatten": "Norms", "tasks": "Tasks", "moments": "Oversmoothing: exact moments",
    "simulate": "Oversmoothing: simulation", "sink_metrics": "Sink scores", "embeddings": "Real embeddings",
}
WIDTH = 110


def signature(name: str, value: object) -> str:
    """The call as its author typed it: on one line if that fits, else one argument a line."""
    spec = inspect.signature(value)
    arguments, keyword_only = [], False
    for item in spec.parameters.values():
        if item.kind is item.KEYWORD_ONLY and not keyword_only:
            arguments.append("*")
            keyword_only = True
        text = ("**" if item.kind is item.VAR_KEYWORD else "") + item.name
        text += f": {_annotation(item.annotation)}" if item.annotation is not item.empty else ""
        arguments.append(text + (f" = {item.default!r}" if item.default is not item.empty else ""))
    returned = f" -> {_annotation(spec.return_annotation)}" if not inspect.isclass(value) else ""
    short = f"{name}({', '.join(arguments)}){returned}"
    if len(short) <= WIDTH:
        return short
    return "\n".join([f"{name}(", *(f"    {item}," for item in arguments), f"){returned}"])


def _annotation(value: object) -> str:
    return value if isinstance(value, str) else getattr(value, "__name__", str(value))


def entry(name: str, value: object) -> list[str]:
    """Heading, signature, docstring, and the docstring's example as a block of its own."""
    words, _, example = inspect.getdoc(value).partition("\nExample:\n")
    lines = [f"### `{name}`", "", "```text", signature(name, value), "```", "", _as_markdown(words.strip()), ""]
    return lines + (["```pycon", example.strip(), "```", ""] if example else [])


def _as_markdown(words: str) -> str:
    """Docstrings mark names by double backticks; a line that is only mathematics keeps its indentation."""
    return words.replace("``", "`")


def library_page(begin: str) -> str:
    lines = [HEAD, begin, ""]
    for module, names in numerics.FACE.items():
        first = inspect.getdoc(import_module(f"numerics.{module}")).split("\n\n")[0]
        lines += [f"## {TITLES[module]}", "", f"`numerics.{module}`: {first}", ""]
        for name in names:
            lines += entry(name, getattr(numerics, name))
    return "\n".join(lines).rstrip() + "\n"
