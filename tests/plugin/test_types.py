"""The public types: lines of the documents and of an operator's tests pass `mypy --strict`, and pyright where it is."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

LINES = """
from hydrofoil import Server
from hydrofoil.testing import Account, Fault, Record, Requests, Snapshot, TestServer


def test_all(hydrofoil: TestServer) -> None:
    hydrofoil.apply("crd.yaml", status=True)
    assert hydrofoil.wait_for("boats.example.com/a")["spec"]["foils"] == 3
    hydrofoil.wait_for("boats.example.com/a", lambda boat: boat["status"]["ready"])["status"]
    hydrofoil.wait_for("boats.example.com/a", "deleted")
    hydrofoil.set_status("boats.example.com/a", {"ready": True})["status"]
    fault: Fault = hydrofoil.faults.add("down")
    alice: Account = hydrofoil.user("alice")
    before: Snapshot = hydrofoil.snapshot()
    lists: Requests = hydrofoil.requests.lists()
    first: Record = lists[0]
    print(fault.hits, alice.headers, before, first.agent, lists.table(), hydrofoil.events("boats/a")[0]["reason"])
    for each in hydrofoil.list("boats.example.com"):
        print(each["metadata"])
    hydrofoil.restart()


async def test_async(hydrofoil: TestServer) -> None:
    (await hydrofoil.aio.wait_for("boats.example.com/a"))["spec"]
    async with Server() as server:
        (await server.wait_for("boats.example.com/a"))["spec"]
        await server.delete("boats.example.com/a")


with Server.in_thread() as server:
    server.wait_for("boats.example.com/a")["spec"]
"""
WRONG = """
from hydrofoil.testing import TestServer


def test_wrong(hydrofoil: TestServer) -> None:
    hydrofoil.wait_for("boats.example.com/a", "deleted")["spec"]
    hydrofoil.patch("boats.example.com/a", {}, type="apply")
    hydrofoil.set_state("boats.example.com/a", {})
"""
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
TEST = re.compile(r"^(def test_\w+)\(([\w, ]+)\):", re.MULTILINE)
FIXTURES = {"hydrofoil": "TestServer", "hydrofoil_namespace": "str"}
TUTORIAL = re.compile(r"^\$ cat > test_boats\.py <<END\n(.*?)^END$", re.MULTILINE | re.DOTALL)


def check(folder: Path, texts: list[str], *program: str) -> tuple[int, str]:
    """Give a checker of types each text as a file, all in one run; return its exit code and output."""
    names = [f"test_{number}.py" for number in range(len(texts))]
    for name, text in zip(names, texts, strict=True):
        (folder / name).write_text(text)
    done = subprocess.run([*program, *names], cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def pages() -> list[str]:
    """Return the tests of the tutorial and the examples of pages, with the types that they leave out."""
    found = TUTORIAL.findall((ROOT / "docs" / "tutorial.md").read_text())
    written = [ROOT / "docs" / "testing" / "python.md", *sorted((ROOT / "docs" / "how-to").glob("*.md"))]
    for page in written:
        found += BLOCK.findall(page.read_text())
    tests = [TEST.sub(typed, text) for text in found]
    return [f"from hydrofoil.testing import TestServer\n\n\n{text}" if "TestServer" in text else text for text in tests]


def typed(test: re.Match[str]) -> str:
    """Return the head of a test with its types."""
    names = [name.strip() for name in test[2].split(",")]
    return f"{test[1]}({', '.join(f'{name}: {FIXTURES[name]}' for name in names)}) -> None:"


@pytest.mark.timeout(600)  # mypy without a cache
def test_mypy(tmp_path: Path) -> None:
    line = (sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache"))
    code, output = check(tmp_path, [LINES, *pages()], *line)
    assert code == 0, output
    code, output = check(tmp_path, [WRONG], *line)
    assert code == 1 and re.findall(r"test_0\.py:(\d+): error", output) == ["6", "7", "8"], output


@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")
def test_pyright(tmp_path: Path) -> None:
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    code, output = check(tmp_path, [LINES, *pages()], "pyright", "--pythonpath", sys.executable)
    assert code == 0, output
