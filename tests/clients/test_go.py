"""client-go and controller-runtime, unchanged, by the program in `go/`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.clients.programs import built
from tests.conftest import Process

pytestmark = [pytest.mark.program("go"), pytest.mark.timeout(600)]
PROOFS = [
    "core/v1 pods",
    "core/v1 configmaps",
    "core/v1 nodes",
    "apps/v1 deployments",
    "batch/v1 jobs",
    "coordination.k8s.io/v1 leases",
    "informers",
    "only protobuf was spoken",
    "leader election",
    "metadata informer",
    "controller-runtime client",
    "controller-runtime cache",
]


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the built program."""
    return built("go", tmp_path_factory)


@pytest.mark.parametrize("watch_list", ["true", "false"])
def test_typed_clients_informers_and_caches(program: Path, process: Process, watch_list: str) -> None:
    """MT-05, WA-07, WA-17: informers start from initial events, or from a list and a watch of later events."""
    prove(program, process, watch_list)


def test_the_same_through_a_gateway(program: Path, gateway: Process) -> None:
    prove(program, gateway, "true")


def prove(program: Path, process: Process, watch_list: str) -> None:
    """Run the program."""
    environment = {**os.environ, "KUBE_FEATURE_WatchListClient": watch_list}
    line = [str(program), "-kubeconfig", str(process[2])]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=90, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"proved: {name}" for name in PROOFS]
