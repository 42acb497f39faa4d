"""The helpers for tests in other languages, by their own suites."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.timeout(300)


def passes(folder: str, *line: str) -> str:
    """Run a suite in a folder of `clients`; return its output."""
    env = {**os.environ, "HYDROFOIL": f"{sys.executable} -m hydrofoil"}
    done = subprocess.run(line, cwd=ROOT / "clients" / folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.program("go")
def test_go() -> None:
    assert "--- PASS: TestServer" in passes("go", "go", "test", "-count=1", "-v", "./...")
    assert passes("go", "gofmt", "-l", ".") == ""


@pytest.mark.program("node")
def test_javascript() -> None:
    assert "pass 4" in passes("js", "node", "--test")
