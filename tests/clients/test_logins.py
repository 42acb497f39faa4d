"""The clients of four languages log in with certificates and tokens, and envtest with users of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config

from tests.access import Secured, secured
from tests.clients.programs import built
from tests.conftest import ROOT, command

pytestmark = pytest.mark.timeout(600)
HERE = Path(__file__).parent
CONTEXTS = ["root", "ann", "ann-token", "foreign", "wrong-token"]
USERS = [
    "root: root system:authenticated,system:masters",
    "ann: ann blue,green,system:authenticated",
    "ann-token: ann blue,system:authenticated",
    "foreign: 401",
    "wrong-token: 401",
]
"""The users of the contexts; a certificate of another authority and an unknown token are refused."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """Yield a server that these credentials belong to."""
    with secured(tmp_path_factory.mktemp("secured")) as running:
        yield running


def output(*line: str | Path, cwd: Path | None = None, seconds: float = 60) -> list[str]:
    """Return the lines that a program prints."""
    done = subprocess.run([*map(str, line)], capture_output=True, text=True, check=False, timeout=seconds, cwd=cwd)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout.splitlines()


def test_python(server: Secured) -> None:
    found = []
    for context in CONTEXTS:
        api: Any = config.new_client_from_config(str(server.kubeconfig), context)
        with api:
            try:
                review: Any = client.AuthenticationV1Api(api).create_self_subject_review(client.V1SelfSubjectReview())
            except client.ApiException as e:
                found.append(f"{context}: {e.status}")
                continue
        user = review.status.user_info
        found.append(f"{context}: {user.username} {','.join(sorted(user.groups))}")
    assert found == USERS


@pytest.mark.program("go")
def test_go(server: Secured, tmp_path_factory: pytest.TempPathFactory) -> None:
    program = built("go", tmp_path_factory, "./login")
    assert output(program, server.kubeconfig, *CONTEXTS) == USERS


@pytest.mark.program("npm")
def test_javascript(server: Secured, tmp_path: Path) -> None:
    for name in ("package.json", "package-lock.json", "login.mjs"):
        (tmp_path / name).write_bytes((HERE / "js" / name).read_bytes())
    output("npm", "ci", "--no-audit", "--no-fund", cwd=tmp_path, seconds=300)
    assert output("node", "login.mjs", server.kubeconfig, *CONTEXTS, cwd=tmp_path) == USERS


@pytest.mark.program("cargo")
def test_rust(server: Secured) -> None:
    # The server's own folder, or that of all builds of a developer: most of what this needs is compiled there already,
    # where both lock files have the same versions.
    target = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
    build = ("cargo", "build", "--locked", "--quiet", f"--target-dir={target}")
    output(*build, cwd=HERE / "rust", seconds=580)
    assert output(target / "debug" / "login", server.kubeconfig, *CONTEXTS) == USERS


@pytest.mark.program("go")
def test_users_of_envtest(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The server in the place of kube-apiserver, with the flags that envtest gives it."""
    program = built("go", tmp_path_factory, "./envtest")
    script = tmp_path / "kube-apiserver"
    script.write_text(f'#!/bin/sh\nexec {" ".join(command("serve"))} "$@"\n')
    script.chmod(0o700)
    assert output(program, script) == [
        "admin: root system:authenticated,system:masters",
        "user: ann blue,green,system:authenticated",
        "user lists secrets: 403",
        "admin lists secrets: 200",
        "stranger: 401",
    ]
    assert sys.executable in script.read_text()
