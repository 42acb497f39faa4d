"""`hydrofoil kubectl`: which server it is for."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from hydrofoil.cli import kubectl
from hydrofoil.cli.failure import Failure


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Listen on a port that the environment names."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        number = listener.getsockname()[1]
        monkeypatch.setenv("HYDROFOIL_PORT", str(number))
        yield number


def test_a_plain_server_needs_no_kubeconfig(port: int) -> None:
    assert kubectl.server() == ["--kubeconfig=/dev/null", f"--server=http://127.0.0.1:{port}"]


@pytest.mark.usefixtures("port")
def test_the_kubeconfig_of_the_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HYDROFOIL_CERT_DIR", str(tmp_path))
    assert kubectl.server() == [f"--kubeconfig={tmp_path}/admin.conf"]
    monkeypatch.setenv("HYDROFOIL_KUBECONFIG", "/a/b")
    assert kubectl.server() == ["--kubeconfig=/a/b", "--context=hydrofoil"], "its current context may be another one"


def test_no_server_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        number = listener.getsockname()[1]
    monkeypatch.setenv("HYDROFOIL_PORT", str(number))
    with pytest.raises(Failure, match=rf"no server at 127.0.0.1:{number}: .* \(hydrofoil serve starts one; .*\)") as e:
        kubectl.server()
    assert e.value.code == 1


def test_a_server_of_the_user_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "kubectl").write_text("#!/bin/sh\n")
    (tmp_path / "kubectl").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    words = ["get", "pods", "--context=other"]
    assert kubectl.line(words) == [f"{tmp_path}/kubectl", *words]


def test_no_kubectl_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Failure, match="kubectl is not on the PATH"):
        kubectl.line(["get", "pods"])
