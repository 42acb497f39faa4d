"""Helpers of tests are in modules of their own: a test module can be renamed, split or run alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import ROOT


def imports_of_tests(source: str, package: str = "tests.unit") -> Iterator[str]:
    """Yield the test modules that a source in a package imports, or imports from."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: 1 - node.level or None] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            names = [f"{module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name for name in names if is_test_module(name))


def is_test_module(name: str) -> bool:
    """Report whether a part of a dotted name is a test module of the project."""
    parts = name.split(".")
    found = [i for i, part in enumerate(parts) if part.startswith("test_")]
    return any((ROOT / Path(*parts[: i + 1])).with_suffix(".py").exists() for i in found)


def test_imports_of_test_modules_are_found() -> None:
    name = "tests.unit.test_helpers"
    assert list(imports_of_tests(f"import {name}")) == [name]
    assert list(imports_of_tests(f"def f():\n    from {name} import ROOT")) == [f"{name}.ROOT"]
    assert list(imports_of_tests("from tests.unit import test_helpers, parts")) == [name]
    assert list(imports_of_tests("from .test_helpers import ROOT")) == [f"{name}.ROOT"]
    assert list(imports_of_tests("from ..unit import test_helpers")) == [name]
    assert list(imports_of_tests("from tests.unit.parts import x\nimport test_nothing")) == []


def test_no_test_module_is_imported() -> None:
    paths = [path for folder in ("tests", "bench", "tools") for path in sorted((ROOT / folder).rglob("*.py"))]
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in paths
        for name in imports_of_tests(path.read_text("utf-8"), ".".join(path.relative_to(ROOT).parts[:-1]))
    ]
    assert found == []
