"""Programs that talk to a live server."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from hydrofoil.storage.durable import DurableLog
from hydrofoil.storage.log import Log
from tests.conftest import serve
from tests.contract.late import LateLog, Truth

Kubectl = Callable[..., str]
LATE = {
    f"tests.api.{name}"
    for name in (
        "test_admission",
        "test_aggregation",
        "test_cbor",
        "test_conversion",
        "test_converted_selection",
        "test_custom",
        "test_custom_rules",
        "test_custom_v1beta1",
        "test_custom_versions",
        "test_limits",
        "test_lists",
        "test_objects",
        "test_older_versions",
        "test_owners",
        "test_requests",
        "test_scale",
        "test_served",
        "test_values",
        "test_watch",
        "test_writes",
    )
}
"""Tests that pass on a log with late events as well: reads, writes, watches, definitions and allocations."""
DURABLE = {f"tests.api.{name}" for name in ("test_custom", "test_objects", "test_owners", "test_watch", "test_writes")}
"""Tests that are run on a log on a disk, too."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests of those files on the other logs, too."""
    name = metafunc.module.__name__
    if name in LATE and "log" in metafunc.fixturenames:
        logs = ["local", "late", "durable"] if name in DURABLE else ["local", "late"]
        metafunc.parametrize("log", logs, indirect=True)


@pytest.fixture
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Log | None:
    """Return the log that a test is run on."""
    kind = getattr(request, "param", "")
    if kind == "durable":
        return DurableLog(str(tmp_path / "data"))
    return LateLog(Truth()) if kind == "late" else None


def programs() -> list[str]:
    """Return the kubectl in use, and the oldest and newest of the versions that a distribution keeps beside it."""
    found = shutil.which("kubectl")
    if found is None:
        return ["kubectl"]
    beside = Path(found).resolve().parent.glob("kubectl.1.*")
    versions = sorted((str(p) for p in beside), key=lambda p: int(p.rpartition(".")[2]))
    return list(dict.fromkeys([found, *versions[:1], *versions[-1:]]))


def ways() -> list[tuple[str, bool]]:
    """Return each kubectl, and the one in use once more through a gateway."""
    found = programs()
    return [*((program, False) for program in found), (found[0], True)]


def way(param: tuple[str, bool]) -> str:
    """Return the name of a way."""
    return Path(param[0]).name + ("-gateway" if param[1] else "")


@pytest.fixture(scope="module", params=ways(), ids=way)
def kubectl(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    program, through = request.param
    home = tmp_path_factory.mktemp("home")
    kubeconfig = home / "kubeconfig"
    with ExitStack() as stack:
        stack.enter_context(serve(kubeconfig))
        if through:
            upstream, kubeconfig = kubeconfig, home / "gateway"
            stack.enter_context(serve(kubeconfig, "--upstream", str(upstream)))

        def run(*words: str, stdin: str | None = None, status: int = 0, **env: str) -> str:
            line = [program, "--kubeconfig", str(kubeconfig), "--cache-dir", str(home / "cache"), *words]
            known = {**os.environ, **env}
            done = subprocess.run(line, input=stdin, env=known, capture_output=True, text=True, check=False, timeout=60)
            assert done.returncode == status, done.stderr
            return done.stdout + (done.stderr if status else "")

        yield run
