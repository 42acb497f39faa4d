"""Helm's own library, by the program in `helm/`."""

from __future__ import annotations

import subprocess

import pytest

from tests.clients.programs import built
from tests.conftest import Process

pytestmark = [pytest.mark.program("go"), pytest.mark.timeout(600)]
PROOFS = ["install", "upgrade", "upgrade that cannot be", "rollback", "uninstall"]


def test_a_chart_of_ten_kinds(tmp_path_factory: pytest.TempPathFactory, process: Process) -> None:
    """Patches of three ways, ownership and deletion as `helm` uses them, after a refusal too."""
    program = built("helm", tmp_path_factory)
    line = [str(program), "-kubeconfig", str(process[2])]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=90)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"proved: {name}" for name in PROOFS]
