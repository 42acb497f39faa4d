"""Programs that talk to a live server."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import command

Kubectl = Callable[..., str]


def programs() -> list[str]:
    """The kubectl in use, and the oldest and newest of the versions that a distribution keeps beside it."""
    found = shutil.which("kubectl")
    if found is None:
        return ["kubectl"]
    beside = Path(found).resolve().parent.glob("kubectl.1.*")
    versions = sorted((str(p) for p in beside), key=lambda p: int(p.rpartition(".")[2]))
    return list(dict.fromkeys([found, *versions[:1], *versions[-1:]]))


@pytest.fixture(scope="module", params=programs(), ids=lambda p: Path(p).name)
def kubectl(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    home = tmp_path_factory.mktemp("home")
    kubeconfig = home / "kubeconfig"
    args = command("serve", "--port", "0", "--kubeconfig", str(kubeconfig))
    with subprocess.Popen(args, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        running.stdout.readline()
        running.stdout.readline()

        def run(*words: str, stdin: str | None = None, status: int = 0, **env: str) -> str:
            line = [request.param, "--kubeconfig", str(kubeconfig), "--cache-dir", str(home / "cache"), *words]
            known = {**os.environ, **env}
            done = subprocess.run(line, input=stdin, env=known, capture_output=True, text=True, check=False, timeout=60)
            assert done.returncode == status, done.stderr
            return done.stdout + (done.stderr if status else "")

        yield run
        running.terminate()
