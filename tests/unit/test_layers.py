"""Rules that tools outside Python hold."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.conftest import ROOT
from tests.imports import circles, graph


@pytest.mark.program("cargo")
@pytest.mark.parametrize("crate", ["types", "codec", "schema", "merge", "store"])
def test_pure_crates_know_no_python(crate: str) -> None:
    cargo = shutil.which("cargo")
    assert cargo
    line = [cargo, "tree", "--package", f"hydrofoil-{crate}", "--edges", "normal", "--prefix", "none", "--offline"]
    tree = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "pyo3" not in tree


def test_every_module_imports_alone() -> None:
    import hydrofoil

    package = ROOT / "python" / "hydrofoil"
    names = [".".join(p.relative_to(package.parent).with_suffix("").parts) for p in sorted(package.rglob("*.py"))]
    code = "import importlib, sys\nfor n in sys.argv[1:]: importlib.import_module(n)"
    import sys

    line = [sys.executable, "-W", "error", "-c", code, *(n for n in names if not n.endswith("__main__"))]
    subprocess.run(line, check=True, timeout=50)
    assert hydrofoil.__version__


@pytest.mark.parametrize("room", ["registry", "admission", "aggregation", "apiextensions"])
def test_no_file_is_part_of_a_circle_of_imports(room: str) -> None:
    found = circles(graph(ROOT / "python" / "hydrofoil"))
    assert [c for c in found if any(name.startswith(f"hydrofoil.{room}") for name in c)] == []


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]
