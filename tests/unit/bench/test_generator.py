"""The load generator in Go refuses wrong answers, by tests of its own."""

from __future__ import annotations

import subprocess

import pytest

from tests.conftest import ROOT


@pytest.mark.program("go")
def test_its_checks_refuse_wrong_answers() -> None:
    folder = ROOT / "bench" / "generator"
    done = subprocess.run(["go", "test", "./..."], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
