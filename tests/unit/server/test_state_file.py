"""The files of running servers: who finds them, and which of them are stale."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from hydrofoil.server import state_file
from hydrofoil.server.state_file import running_servers, servers_folder, start_of


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    servers_folder().mkdir(parents=True)
    return servers_folder()


def write(folder: Path, pid: int, begun: str, since: str = "2026-01-01T00:00:00+00:00") -> Path:
    """Write the file of a server."""
    server = {"pid": pid, "url": f"http://127.0.0.1:{pid}", "port": pid, "folder": "/", "kubeconfig": ""}
    path = folder / f"{pid}.json"
    path.write_bytes(orjson.dumps({**server, "since": since, "begun": begun}))
    return path


def test_servers_are_in_the_order_of_their_starts(folder: Path) -> None:
    write(folder, os.getpid(), start_of(os.getpid()), "2026-01-02T00:00:00+00:00")
    write(folder, os.getppid(), start_of(os.getppid()))
    assert [server.pid for server in running_servers()] == [os.getppid(), os.getpid()]


def test_a_stale_file_is_known_by_process_and_start_and_removed(folder: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        begun = start_of(ended.pid)
    stale = write(folder, ended.pid, begun), write(folder, os.getpid(), "another start")
    assert running_servers() == [] and not any(path.exists() for path in stale)


def test_a_process_that_nobody_has_waited_for_has_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE) as ended:
        assert ended.stdout is not None and start_of(ended.pid)
        ended.stdout.read()
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        assert start_of(ended.pid) == ""


def test_what_cannot_be_read_is_passed_over(folder: Path) -> None:
    (folder / "1.json").write_text("{")
    (folder / "2.json").write_text('{"pid": 2}')
    write(folder, os.getpid(), start_of(os.getpid()))
    assert [server.pid for server in running_servers()] == [os.getpid()]


def test_without_a_folder_no_server_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "nowhere"))
    assert running_servers() == []


def test_ps_tells_the_start_elsewhere() -> None:
    found = state_file._start_by_ps(os.getpid())
    assert found == state_file._start_by_ps(os.getpid()) and (found or not Path("/bin/ps").exists())
