"""Operators: one as kubebuilder lays it out, by the program in `go/operator`, and one with Kopf."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.clients.programs import built
from tests.conftest import Process

OBJECTS = 1000


@pytest.mark.program("go")
@pytest.mark.timeout(600)
def test_an_operator_reconciles_custom_resources(tmp_path_factory: pytest.TempPathFactory, process: Process) -> None:
    """Each object gets a finalizer, a ConfigMap that it owns and a status; the garbage collector takes none of them."""
    program = built("go", tmp_path_factory, "./operator")
    line = [str(program), "-kubeconfig", str(process[2]), "-objects", str(OBJECTS)]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=150)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["objects"] == OBJECTS
    # A create, three writes and a deletion each, and repeated attempts since the cache was behind.
    assert found["requests"] < 12 * OBJECTS


@pytest.mark.timeout(300)
def test_an_operator_with_kopf(process: Process) -> None:
    """Finalizers, annotations and status come by merge patches, and its own watch brings them back."""
    line = [sys.executable, "-m", "tests.clients.kopf_operator", str(process[2]), str(OBJECTS)]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["objects"] == OBJECTS
