"""The helpers for tests in other languages, by their own suites."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.timeout(300)


def passes(folder: str, *line: str) -> str:
    """Run a suite in a folder of `clients`; return its output."""
    target = str(ROOT / "target" / "clients")
    env = {**os.environ, "HYDROFOIL": f"{sys.executable} -m hydrofoil", "CARGO_TARGET_DIR": target}
    done = subprocess.run(line, cwd=ROOT / "clients" / folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.program("go")
def test_go() -> None:
    assert "--- PASS: TestServer" in passes("go", "go", "test", "-count=1", "-v", "./...")
    assert passes("go", "gofmt", "-l", ".") == ""


@pytest.mark.program("node")
def test_javascript() -> None:
    assert "pass 7" in passes("js", "node", "--test")


@pytest.mark.skipif(shutil.which("tsc") is None, reason="tsc is not installed")
def test_types_of_javascript() -> None:
    flags = ("--strict", "--noEmit", "--module", "nodenext", "--target", "es2022")
    assert passes("js", "tsc", *flags, "hydrofoil.types.ts") == ""


@pytest.mark.program("mvn")
def test_java() -> None:
    assert "Tests run: 7, Failures: 0, Errors: 0, Skipped: 0" in passes("java", "mvn", "-B", "-ntp", "test")


@pytest.mark.program("cargo")
def test_rust() -> None:
    assert passes("rust", "cargo", "test", "--locked").count("test result: ok.") == 3
    passes("rust", "cargo", "fmt", "--check")
    passes("rust", "cargo", "clippy", "--locked", "--all-targets", "--", "-D", "warnings")
