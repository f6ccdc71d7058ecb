"""The library face: what it names exists, is typed and documented, stays lazy, and its examples say what they say."""

from __future__ import annotations

import ast
import doctest
import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import numerics

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(numerics.__all__)
ARRAY = ("np.ndarray", "AnyArray", "Array")


def run(source: str, name: str, namespace: dict) -> doctest.TestResults:
    """All examples of one text in a namespace of their own; any that prints something else is a failure."""
    test = doctest.DocTestParser().get_doctest(source, dict(namespace), name, None, 0)
    return doctest.DocTestRunner(verbose=False).run(test)


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_a_docstring_print_what_they_say(name: str) -> None:
    value = getattr(numerics, name)
    home = import_module(value.__module__)
    result = run(inspect.getdoc(value), name, vars(home) | {"np": np})
    assert result.failed == 0 and (result.attempted > 0 or inspect.isclass(value))


def test_the_examples_of_the_package_print_what_they_say() -> None:
    assert run(numerics.__doc__, "numerics", {}) == (0, 5)


def test_the_library_page_has_every_example_of_the_docstrings() -> None:
    page = (ROOT / "notes" / "library.md").read_text()  # that it is fresh is tested in test_notes.py
    examples = [item.source for name in NAMES
                for item in doctest.DocTestParser().get_examples(inspect.getdoc(getattr(numerics, name)))]
    assert len(examples) > len(NAMES) and all(source.splitlines()[0] in page for source in examples)


def test_a_wrong_example_is_seen() -> None:
    assert run(">>> 1 + 1\n3\n", "wrong", {}).failed == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_public_function_says_what_it_does_and_types_its_arrays(name: str) -> None:
    value = getattr(numerics, name)
    assert len(inspect.getdoc(value).split()) > 8
    if inspect.isclass(value):
        return
    annotations = inspect.get_annotations(inspect.unwrap(value))
    assert "return" in annotations
    parameters = inspect.signature(value).parameters.values()
    assert [item.name for item in parameters if item.annotation is item.empty] == []
    bare = [key for key, text in annotations.items() if str(text) in ARRAY]
    assert bare == []  # an array without a shape


def test_type_checkers_see_the_names_that_the_face_serves() -> None:
    tree = ast.parse((ROOT / "numerics" / "__init__.py").read_text())
    guarded = next(node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    seen = {(node.module.removeprefix("numerics."), alias.name) for node in guarded.body for alias in node.names}
    assert seen == {(module, name) for module, names in numerics.FACE.items() for name in names}
    assert set(dir(numerics)) >= set(NAMES)


def test_a_function_is_not_hidden_by_the_module_of_its_name() -> None:
    code = ("import sys, numerics.sink_cost\n"  # one module before its function, the others after
            "from numerics import sink_cost, minimum_norm, value_cost, diagonal_bound\n"
            "import numerics.minimum_norm, numerics.value_cost, numerics.diagonal_bound\n"
            "from numerics import sink_cost as again, minimum_norm as later\n"
            "assert again is sink_cost is sys.modules['numerics.sink_cost'].sink_cost and later is minimum_norm\n"
            "assert all(map(callable, (sink_cost, minimum_norm, value_cost, diagonal_bound)))")
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stderr


def test_importing_the_room_loads_jax_and_nothing_of_its_own() -> None:
    code = ("import sys, jax\nbefore = set(sys.modules)\nimport numerics\nnew = set(sys.modules) - before\n"
            "heavy = ('scipy.', 'cvxpy', 'matplotlib', 'numerics.', 'hypothesis', 'sympy')\n"
            "sys.exit(', '.join(sorted(name for name in new if name.startswith(heavy))) or 0)")
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stderr


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'two_steps'"):
        numerics.two_steps  # noqa: B018
