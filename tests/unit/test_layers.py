"""Rules that tools outside Python hold."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.imports import circles, graph


@pytest.mark.program("cargo")
@pytest.mark.parametrize(
    "crate",
    [
        "text",
        "shared",
        "link",
        "metrics",
        "types",
        "codec",
        "pattern",
        "cel",
        "internal",
        "rules",
        "jsonpath",
        "custom",
        "admit",
        "schema",
        "merge",
        "store",
        "encryption",
        "log",
        "engine",
        "etcd",
        "upstream",
        "tls",
        "client",
    ],
)
def test_pure_crates_know_no_python(crate: str) -> None:
    cargo = shutil.which("cargo")
    assert cargo
    line = [cargo, "tree", "--package", f"hydrofoil-{crate}", "--edges", "normal", "--prefix", "none", "--offline"]
    tree = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "pyo3" not in tree


ALONE = """
import importlib, os, sys
import aiohttp, click, cryptography.x509, httpx, joserfc.jwt, msgspec, multidict, orjson, prometheus_client
import pytest, rich.console, rich.table, uvloop, yarl
failed = []
for name in sys.argv[1:]:
    child = os.fork()
    if not child:
        try:
            importlib.import_module(name)
        except BaseException as e:
            print(name, type(e).__name__, e)
            sys.stdout.flush()
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        failed.append(name)
sys.exit(len(failed))
"""
"""Import each module in a process of its own, which has the libraries already and nothing of the package."""


@pytest.mark.parametrize("share", range(4))
@pytest.mark.timeout(900)  # the modules bound the work; beside other work it takes longer
def test_every_module_imports_alone(share: int) -> None:
    package = ROOT / "python" / "hydrofoil"
    names = [".".join(p.relative_to(package.parent).with_suffix("").parts) for p in sorted(package.rglob("*.py"))]
    line = [sys.executable, "-W", "error", "-c", ALONE, *(n for n in names[share::4] if not n.endswith("__main__"))]
    found = subprocess.run(line, check=False, stdout=subprocess.PIPE, text=True)
    assert (found.returncode, found.stdout) == (0, "")


def test_no_file_is_part_of_a_circle_of_imports() -> None:
    """Imports for types included."""
    assert circles(graph(ROOT / "python" / "hydrofoil")) == []


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]
