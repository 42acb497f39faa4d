"""Programs in Go that tests run."""

from __future__ import annotations

import fcntl
import subprocess
from pathlib import Path

import pytest


def built(name: str, where: pytest.TempPathFactory, package: str = ".") -> Path:
    """Return a program of this folder, or of a package within it; its modules are pinned by sum, and come from the
    cache without a network."""
    source = Path(__file__).parent / name
    modules = subprocess.run(["go", "mod", "download"], cwd=source, capture_output=True, text=True, check=False)
    if modules.returncode:
        pytest.skip(f"go modules cannot be had: {modules.stderr.strip()}")
    program = where.mktemp(name) / name
    line = ["go", "build", "-o", str(program), package]
    with Path(__file__).open() as turn:
        # Modules share most packages: the second build finds in the cache what the first has compiled.
        fcntl.flock(turn, fcntl.LOCK_EX)
        done = subprocess.run(line, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program
