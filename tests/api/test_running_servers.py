"""Servers in the background: listed, meant by commands, stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from blockbuster import BlockBuster

from tests.conftest import command

Start = Callable[..., tuple[subprocess.Popen[str], str]]


@pytest.fixture(autouse=True)
def own_state(no_blocking: BlockBuster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Keep the servers of others out of it."""
    no_blocking.deactivate()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("HYDROFOIL_PORT", "HYDROFOIL_KUBECONFIG"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "state" / "hydrofoil" / "servers"


@pytest.fixture
def start() -> Iterator[Start]:
    """Yield a function that starts a server, and returns its process and URL."""
    begun: list[subprocess.Popen[str]] = []

    def serve(*words: str) -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen(command("serve", "--port", "0", *words), stdout=subprocess.PIPE, text=True)
        begun.append(process)
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("serving on "):
                return process, line.removeprefix("serving on ").strip()
        raise AssertionError("it has not started")

    yield serve
    for process in begun:
        process.kill()
        process.communicate()


def run(*words: str, text: str = "") -> tuple[int, str, str]:
    """Return code, output and errors of a command."""
    done = subprocess.run(command(*words), capture_output=True, text=True, check=False, input=text)
    return done.returncode, done.stdout, done.stderr


def test_servers_are_listed_and_stopped(start: Start, own_state: Path) -> None:
    assert run("ls") == (0, "", "hydrofoil: no server runs (hydrofoil serve starts one)\n")
    one, first = start()
    (file,) = own_state.iterdir()
    assert (file.name, file.stat().st_mode & 0o777, own_state.stat().st_mode & 0o777) == (
        f"{one.pid}.json",
        0o600,
        0o700,
    )
    code, output, _ = run("ls")
    assert output.splitlines()[0].split() == ["PID", "URL", "SINCE", "FOLDER"]
    assert output.splitlines()[1].split()[::4] == [str(one.pid), str(Path.cwd())] and first in output
    two, second = start()
    assert [server["url"] for server in json.loads(run("ls", "--json")[1])] == [first, second]
    code, output, errors = run("stop")
    assert (code, output) == (1, "") and first in errors and second in errors and "hydrofoil stop PORT" in errors
    port = second.rpartition(":")[2]
    assert run("stop", port) == (0, f"stopped {second} (pid {two.pid})\n", "")
    assert two.wait(0) == 0, "it has ended when the command has"
    assert run("stop") == (0, f"stopped {first} (pid {one.pid})\n", "")
    assert list(own_state.iterdir()) == [] and run("stop")[0] == 1
    assert run("stop", "--all") == (0, "no server runs\n", "")


def test_several_are_stopped_by_what_they_have(start: Start) -> None:
    (one, first), (two, second), (three, _) = start(), start(), start()
    code, output, _ = run("stop", "--pid", str(one.pid), second)
    assert (code, output.count("stopped")) == (0, 2)
    code, _, errors = run("stop", "--port", str(three.pid))
    assert code == 1 and f"no server with the port '{three.pid}' (there is " in errors
    assert run("stop", "--all", "1")[0] == 2
    assert run("stop", "--all")[0] == 0
    assert [process.wait(0) for process in (one, two, three)] == [0, 0, 0] and first != second


def test_the_port_of_the_environment_is_the_one_meant(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    (one, first), (two, second), (three, _) = start(), start(), start()
    monkeypatch.setenv("HYDROFOIL_PORT", first.rpartition(":")[2])
    assert run("stop") == (0, f"stopped {first} (pid {one.pid})\n", "")
    assert run("stop", second) == (0, f"stopped {second} (pid {two.pid})\n", "")
    assert run("stop", "--all")[0] == 0 and three.wait(0) == 0


def test_a_server_that_does_not_end_is_one_line(start: Start) -> None:
    one, url = start()
    os.kill(one.pid, signal.SIGSTOP)
    code, output, errors = run("stop", "--timeout", "200ms")
    assert (code, output) == (1, "")
    assert errors == f"hydrofoil: {url} (pid {one.pid}) still runs after 0.2 s (kill -9 {one.pid} ends it)\n"


def test_a_killed_server_is_forgotten(start: Start, own_state: Path) -> None:
    one, _ = start()
    one.kill()
    one.wait()
    two, _ = start()
    assert [file.name for file in own_state.iterdir()] == [f"{two.pid}.json"]
    two.kill()
    two.wait()
    assert run("ls")[1] == "" and list(own_state.iterdir()) == []


def test_a_state_that_cannot_be_written_is_no_fault(
    start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    start()
    assert run("ls")[1] == ""


OBJECTS = """
apiVersion: e.com/v1
kind: Thing
metadata: {name: t}
status: {ready: true}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: A_B}
---
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.e.com}
spec:
  group: e.com
  scope: Namespaced
  names: {plural: things, kind: Thing}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""


@pytest.mark.parametrize("secured", [False, True])
@pytest.mark.program("kubectl")
def test_commands_mean_the_one_that_runs(start: Start, tmp_path: Path, secured: bool) -> None:
    """Finding 21."""
    flags = ("--cert-dir", str(tmp_path / "certs"), "--authorization-mode", "RBAC", "--host", "0.0.0.0")
    _, url = start(*flags) if secured else start()
    (tmp_path / "objects.yaml").write_text(OBJECTS)
    code, output, errors = run("apply", "-n", "team", "--status", "-f", str(tmp_path / "objects.yaml"))
    assert output.splitlines() == [
        "customresourcedefinition.apiextensions.k8s.io/things.e.com serverside-applied",
        "namespace/team serverside-applied",
        "thing.e.com/t serverside-applied",
    ]
    assert code == 1 and errors.count("\n") == 1 and 'document 2: ConfigMap "A_B" is invalid' in errors
    code, output, errors = run("kubectl", "get", "things", "t", "-n", "team", "-o", "jsonpath={.status.ready}")
    assert (code, output, errors) == (0, "true", ""), errors
    _, other = start()
    for words in (("kubectl", "get", "ns"), ("apply", "-f", str(tmp_path / "objects.yaml"))):
        code, _, errors = run(*words)
        assert code == 1 and url.rpartition(":")[2] in errors and other in errors and "--server URL" in errors
    assert (
        run("apply", "--server", other, "-f", "-", text="apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n")[0]
        == 0
    )
    assert run("kubectl", f"--server={other}", "get", "ns", "x", "-o", "name")[1] == "namespace/x\n"


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (["apply"], 2, "hydrofoil: no file is named (hydrofoil apply -f FILE)\n"),
        (
            ["apply", "-f", "/nowhere"],
            1,
            "hydrofoil: /nowhere: No such file or directory (-f takes a file or a folder)\n",
        ),
        (["apply", "-f", "/proc/self/fdinfo"], 1, "hydrofoil: no objects in /proc/self/fdinfo (files end in "),
        (["apply", "--server", "nowhere", "-f", "-"], 2, "hydrofoil: 'nowhere' is no URL of a server (such as "),
        (["apply", "--server", "http://127.0.0.1:1", "-f", "-"], 1, "hydrofoil: no answer from http://127.0.0.1:1: "),
    ],
)
def test_what_cannot_be_applied_is_one_line(words: list[str], code: int, line: str) -> None:
    found, output, errors = run(*words, text="apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n")
    assert (found, output) == (code, "") and errors.startswith(line) and errors.count("\n") == 1
