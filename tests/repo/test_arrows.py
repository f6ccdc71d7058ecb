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
    "numerics": STANDARD | {"numpy", "scipy", "jax", "jaxlib", "jaxtyping", "beartype", "cvxpy", "joblib", "matplotlib",
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
                assert getattr(node.func, "id", getattr(node.func, "attr", "")) not in ("import_module", "__import__", "exec", "eval")


def named_to(source: str, function: str) -> list[str | None]:
    """What each call of `function` in the source is given first: a literal, or None for anything computed."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)
             and getattr(node.func, "id", getattr(node.func, "attr", "")) == function]
    return [node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None for node in calls]


def test_numerics_imports_the_extra_models_in_its_checkpoint_folder_only() -> None:
    models = {"torch", "transformers", "gguf", "accelerate", "psutil"}
    for path in sorted((ROOT / "numerics").rglob("*.py")):
        source, loader = path.read_text(), path == ROOT / "numerics/checkpoint/engine.py"
        assert loader or not named_to(source, "import_module") + named_to(source, "__import__"), path
        assert set(named_to(source, "required")) <= (models if path.parent.name == "checkpoint" else set()), path


def test_an_import_by_name_is_seen() -> None:
    assert named_to("required('torch')\nrequired(name)", "required") == ["torch", None]
    assert named_to("importlib.import_module('torch')", "import_module") == ["torch"]
