"""Programs in Go that tests run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest


def built(name: str, where: pytest.TempPathFactory, package: str = ".") -> Path:
    """A program of this folder, or of a package within it; its modules are pinned by sum, and come from the cache where
    there is no network."""
    source = Path(__file__).parent / name
    modules = subprocess.run(["go", "mod", "download"], cwd=source, capture_output=True, text=True, check=False)
    if modules.returncode:
        pytest.skip(f"go modules cannot be had: {modules.stderr.strip()}")
    program = where.mktemp(name) / name
    done = subprocess.run(
        ["go", "build", "-o", program, package], cwd=source, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return program
