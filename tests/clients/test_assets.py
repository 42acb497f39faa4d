"""Programs in place of etcd and kube-apiserver, as envtest and its like start them."""

from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hydrofoil.cli.apiserver import add_defaults
from tests.clients.programs import built
from tests.conftest import command

pytestmark = pytest.mark.timeout(600)
UNVERIFIED = ssl._create_unverified_context()


@pytest.fixture
def assets(tmp_path: Path) -> Path:
    """Return a folder with the programs."""
    place = tmp_path / "assets"
    assert run("assets", str(place)) == (0, f"{place}\n")
    return place


def run(*words: str, **env: str) -> tuple[int, str]:
    """Return exit code and standard output of a hydrofoil command."""
    done = subprocess.run(command(*words), capture_output=True, text=True, check=False, env={**os.environ, **env})
    return done.returncode, done.stdout


def output(*words: str | Path) -> tuple[int, str, str]:
    """Return exit code, standard output and standard error of a program."""
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr


@contextmanager
def started(*words: str | Path) -> Iterator[subprocess.Popen[str]]:
    """Run a program until the end of the block."""
    with subprocess.Popen([*map(str, words)], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        try:
            yield program
        finally:
            program.kill()


def body(url: str, seconds: float = 20) -> tuple[int, bytes]:
    """Return the first answer of a server that is starting."""
    until = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(url, context=UNVERIFIED if url.startswith("https") else None) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as e:
            with e:
                return e.code, e.read()
        except OSError:
            assert time.monotonic() < until
            time.sleep(0.01)


def port() -> int:
    """Return a port that is free."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        found: int = listener.getsockname()[1]
        return found


def test_the_folder_is_printed_and_nothing_else(tmp_path: Path) -> None:
    code, printed = run("assets", XDG_CACHE_HOME=str(tmp_path))
    place = Path(printed.removesuffix("\n"))
    assert code == 0 and place.is_absolute() and place.is_relative_to(tmp_path)
    assert {path.name for path in place.iterdir()} >= {"etcd", "kube-apiserver"}
    assert sys.executable in (place / "etcd").read_text()
    before = {path.name: path.lstat().st_ino for path in place.iterdir()}
    assert run("assets", XDG_CACHE_HOME=str(tmp_path)) == (0, printed)
    assert {path.name: path.lstat().st_ino for path in place.iterdir()} == before, "again is no work"


def test_kubectl_is_linked(tmp_path: Path) -> None:
    kubectl = tmp_path / "mine"
    kubectl.write_text("#!/bin/sh\n")
    assert run("assets", str(tmp_path / "a"), "--kubectl", str(kubectl))[0] == 0
    assert (tmp_path / "a" / "kubectl").readlink() == kubectl
    assert run("assets", str(tmp_path / "b"), "--kubectl", "/nowhere")[0] == 2
    assert run("assets", "/proc/nowhere")[0] == 1


@pytest.mark.parametrize(
    ("words", "env", "added"),
    [
        ([], {}, ["--controllers=", "--secure-port=6443", "--authorization-mode=AlwaysAllow"]),
        (["--controllers=*"], {"HYDROFOIL_SECURE_PORT": "7000"}, ["--authorization-mode=AlwaysAllow"]),
        (["--secure-port=1"], {"HYDROFOIL_CLUSTER": "3", "HYDROFOIL_AUTHORIZATION_MODE": "RBAC"}, []),
        (["--port=1", "--cluster", "--authorization-config=f"], {}, []),
    ],
)
def test_defaults_are_for_what_nobody_has_set(
    words: list[str], env: dict[str, str], added: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("HYDROFOIL_")]:
        monkeypatch.delenv(name)
    for name, text in env.items():
        monkeypatch.setenv(name, text)
    assert add_defaults([*words, "--cert-dir=c"]) == ["serve", *added, *words, "--cert-dir=c"]


def test_a_cluster_of_the_environment_lives(assets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYDROFOIL_CLUSTER", "2")
    here = port()
    pod = json.dumps({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}).encode()
    url = f"https://127.0.0.1:{here}/api/v1/namespaces/default"
    with started(assets / "kube-apiserver", f"--secure-port={here}", f"--cert-dir={tmp_path}"):
        assert body(f"https://127.0.0.1:{here}/healthz")[0] == 200
        request = urllib.request.Request(f"{url}/pods", pod, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, context=UNVERIFIED) as made:
            assert made.status == 201
        watch = urllib.request.urlopen(f"{url}/pods?watch=1&timeoutSeconds=30", context=UNVERIFIED)
        with watch:
            assert any(json.loads(line)["object"]["status"].get("phase") == "Running" for line in watch)


def test_help_and_unknown_flags(assets: Path) -> None:
    code, printed, _ = output(assets / "kube-apiserver", "--help")
    assert code == 0 and "--secure-port" in printed
    assert not any(line.lstrip().startswith("--insecure-port") for line in printed.splitlines())
    assert output(assets / "kube-apiserver", "--no-such-flag=1") == (1, "", "Error: unknown flag: --no-such-flag\n")
    assert output(assets / "kube-apiserver", "--v") == (1, "", "Error: flag needs an argument: --v\n")
    code, printed, _ = output(assets / "etcd", "--help")
    assert code == 0 and any(line.startswith("--unsafe-no-fsync") for line in printed.splitlines())
    code, printed, line = output(assets / "etcd", "--no-such-flag")
    assert (code, printed, line) == (1, "", "hydrofoil: etcd: flag provided but not defined: -no-such-flag\n")


def test_etcd_answers_health_and_refuses_grpc_once(assets: Path) -> None:
    where = f"http://127.0.0.1:{port()}"
    flags = ["--listen-client-urls", where, f"--advertise-client-urls={where}", "--unsafe-no-fsync", "--data-dir=x"]
    with started(assets / "etcd", *flags, "--listen-peer-urls=http://localhost:0") as etcd:
        assert body(f"{where}/health") == (200, b'{"health":"true","reason":""}')
        assert body(f"{where}/v3/kv/range")[0] == 404
        import socket

        for _ in range(2):
            with socket.create_connection(("127.0.0.1", int(where.rpartition(":")[2]))) as grpc:
                grpc.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
                assert grpc.recv(10) == b""
        etcd.send_signal(signal.SIGTERM)
        assert etcd.wait(10) == 0
        assert etcd.stderr is not None and etcd.stdout is not None
        lines = etcd.stderr.read().splitlines()
        assert len(lines) == 1 and "serves no gRPC" in lines[0] and etcd.stdout.read() == ""


@pytest.mark.parametrize("joined", [True, False])
def test_kube_apiserver_takes_the_flags_of_envtest(assets: Path, tmp_path: Path, joined: bool) -> None:
    where, folder = port(), tmp_path / "certs"
    flags = {
        "--bind-address": "127.0.0.1",
        "--secure-port": str(where),
        "--cert-dir": str(folder),
        "--service-cluster-ip-range": "10.0.0.0/24",
        "--authorization-mode": "RBAC",
        "--disable-admission-plugins": "ServiceAccount",
        "--etcd-servers": "http://127.0.0.1:1",
        "--etcd-prefix": "/registry",
        "--emulated-version": "1.36",
        "--feature-gates": "WatchList=true",
    }
    words = [f"{name}={value}" for name, value in flags.items()]
    if not joined:
        words = [word for pair in flags.items() for word in pair]
    begun = time.monotonic()
    with started(assets / "kube-apiserver", *words, "--allow-privileged", "--watch-cache") as server:
        assert body(f"https://127.0.0.1:{where}/healthz") == (200, b"ok")
        assert time.monotonic() - begun < 10, "0.4 s on a quiet machine"
        assert (folder / "apiserver.crt").exists() and (folder / "apiserver.key").exists()
        program = Path(f"/proc/{server.pid}/cmdline").read_bytes().split(b"\0")
        assert program[0] == sys.executable.encode(), "no other process is in between"
        server.send_signal(signal.SIGTERM)
        assert server.wait(10) == 0
        assert server.stdout is not None and server.stdout.read() == ""


@pytest.mark.program("go")
def test_users_of_envtest_come_in(assets: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    program = built("go", tmp_path_factory, "./envtest")
    code, printed, why = output(program, assets / "kube-apiserver")
    assert code == 0, why
    assert printed.splitlines() == [
        "admin: root system:authenticated,system:masters",
        "user: ann blue,green,system:authenticated",
        "user lists secrets: 403",
        "admin lists secrets: 200",
        "stranger: 401",
    ]
