"""The import arrows between the rooms, read from the sources themselves."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("theory", "numerics", "proofs_check")
STANDARD = set(sys.stdlib_module_names)
ALLOWED = {
    "proofs_check/kernel": STANDARD | {"flint", "proofs_check.kernel"},
    "theory": STANDARD | {"sympy", "theory"},
    "numerics": STANDARD | {"numpy", "scipy", "jax", "jaxlib", "jaxtyping", "beartype", "cvxpy", "matplotlib",
                            "numerics"},
}


def imports_of(source: str, package: str = "") -> set[str]:
    """Every module named by an import statement anywhere in the source, functions included."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level:
            found.add(".".join(filter(None, (package, node.module))))
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module)
    return found


def forbidden(source: str, allowed: set[str], package: str = "") -> set[str]:
    return {name for name in imports_of(source, package)
            if not any(name == item or name.startswith(item + ".") for item in allowed)}


def files() -> list[tuple[Path, str]]:
    return [(path, room) for room in ALLOWED for path in sorted((ROOT / room).rglob("*.py"))]


@pytest.mark.parametrize(("path", "room"), files(), ids=lambda value: str(value).removeprefix(str(ROOT) + "/"))
def test_a_room_imports_only_what_its_arrow_allows(path: Path, room: str) -> None:
    package = ".".join(path.relative_to(ROOT).parent.parts)
    assert forbidden(path.read_text(), ALLOWED[room], package) == set()


@pytest.mark.parametrize(("source", "room"), [
    ("import numpy", "proofs_check/kernel"),
    ("def f():\n    from sympy import S", "proofs_check/kernel"),
    ("from proofs_check.claim import Claim", "proofs_check/kernel"),
    ("import numerics.hull", "theory"),
    ("from theory import statements", "numerics"),
    ("from proofs_check import kernel", "numerics"),
    ("import proofs_checker", "proofs_check/kernel"),
])
def test_a_forbidden_import_is_seen(source: str, room: str) -> None:
    assert forbidden(source, ALLOWED[room]) != set()


def test_nothing_in_the_kernel_imports_by_a_computed_name() -> None:
    for path in sorted((ROOT / "proofs_check/kernel").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called = getattr(node.func, "id", getattr(node.func, "attr", ""))
                assert called not in ("import_module", "__import__", "exec", "eval")


def named_to(source: str, function: str) -> list[str]:
    """What each call of `function` in the source is given first: its literal text, up to where it is computed."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)
             and getattr(node.func, "id", getattr(node.func, "attr", "")) == function]
    given = [node.args[0].values[0] if isinstance(node.args[0], ast.JoinedStr) else node.args[0] for node in calls]
    return [node.value if isinstance(node, ast.Constant) else "" for node in given]


def test_numerics_imports_the_extra_models_in_its_checkpoint_folder_only() -> None:
    models = {"torch", "transformers", "gguf", "accelerate", "psutil"}
    for path in sorted((ROOT / "numerics").rglob("*.py")):
        source, loader = path.read_text(), path == ROOT / "numerics/checkpoint/engine.py"
        named = named_to(source, "import_module") + named_to(source, "__import__")
        assert loader or all(name.startswith("numerics.") for name in named), path
        assert set(named_to(source, "required")) <= (models if path.parent.name == "checkpoint" else set()), path


@pytest.mark.parametrize(("source", "named"), [
    ("f('torch')\nm.f(name)", ["torch", ""]),
    ("f(f'numerics.{name}')\nf(f'{name}.torch')", ["numerics.", ""]),
])
def test_an_import_by_name_is_seen(source: str, named: list[str]) -> None:
    assert named_to(source, "f") == named
