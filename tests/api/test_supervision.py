"""A server under a supervisor, and what its log and its refusals say."""

from __future__ import annotations

import os
import re
import resource
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import command


@contextmanager
def serving(*words: str, **options: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a server; yield it with its URL."""
    line = command("serve", "--port=0", *words)
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options) as running:  # type: ignore[call-overload]
        assert running.stdout is not None
        try:
            yield running, running.stdout.readline().removeprefix("serving on ").strip()
        finally:
            running.terminate()


@pytest.mark.parametrize("abstract", [False, True])
def test_systemd_is_told_that_it_is_ready_and_that_it_stops(tmp_path: Path, abstract: bool) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
        name = f"hydrofoil-{os.getpid()}" if abstract else str(tmp_path / "notify")
        supervisor.bind(f"\0{name}" if abstract else name)
        supervisor.settimeout(20)
        environment = {**os.environ, "NOTIFY_SOCKET": f"@{name}" if abstract else name}
        with serving(env=environment) as (running, url):
            told = supervisor.recv(4096).decode().splitlines()
            assert told == ["READY=1", f"STATUS=serving on {url}", f"MAINPID={running.pid}"]
            running.send_signal(signal.SIGTERM)
            assert supervisor.recv(4096).decode().splitlines()[0] == "STOPPING=1"
            assert running.wait(20) == 0


def test_a_supervisor_that_has_gone_is_none(tmp_path: Path) -> None:
    environment = {**os.environ, "NOTIFY_SOCKET": str(tmp_path / "absent")}
    with serving(env=environment) as (_, url):
        assert urllib.request.urlopen(f"{url}/readyz").status == 200


def test_a_descriptor_gets_a_line_and_its_end() -> None:
    reading, writing = os.pipe()
    with serving(f"--ready-fd={writing}", pass_fds=(writing,)) as (_, url):
        os.close(writing)
        with os.fdopen(reading) as told:
            assert told.read() == f"serving on {url}\n", "it ends, since the descriptor is closed"
        assert urllib.request.urlopen(f"{url}/readyz").status == 200


def test_a_descriptor_that_is_not_open_is_one_line() -> None:
    done = subprocess.run(command("serve", "--port=0", "--ready-fd=77"), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "hydrofoil: --ready-fd 77: no open descriptor (the caller opens it)\n"


@pytest.mark.parametrize(
    ("flag", "value"),
    [("--token-auth-file", "/nonexistent"), ("--client-ca-file", "/absent"), ("--audit-policy-file", "/no/policy")],
)
def test_a_file_that_is_missing_has_its_flag(flag: str, value: str) -> None:
    done = subprocess.run(command("serve", "--port=0", flag, value), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.fullmatch(rf"hydrofoil: .*{value}.*no such file or directory \({flag}\)\n", done.stderr)


def test_a_host_without_an_address_is_one_line() -> None:
    done = subprocess.run(
        command("serve", "--port=0", "--host=nohost.invalid"), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert (
        done.stderr.startswith("hydrofoil: cannot listen on nohost.invalid:0: ") and "Unknown error" not in done.stderr
    )
    assert done.stderr.endswith("(--host takes an address of this machine)\n")


def test_a_folder_in_use_has_the_process_that_uses_it(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with serving(f"--data-dir={folder}") as (running, _):
        line = command("serve", "--port=0", f"--data-dir={folder}")
        for words in (line, command("data", "check", str(folder))):
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            assert done.returncode == 1
            assert "another process uses this folder" in done.stderr and str(running.pid) in done.stderr, done.stderr


def test_requests_are_logged_with_their_user_agent() -> None:
    with serving("-v3") as (running, url):
        request = urllib.request.Request(f"{url}/api/v1/nodes", headers={"User-Agent": 'a "quoted" agent'})
        urllib.request.urlopen(request).close()
        running.terminate()
        assert running.stderr is not None
        assert r'userAgent="a \"quoted\" agent"' in running.stderr.read()


def test_descriptors_that_are_used_up_have_a_line() -> None:
    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    with serving(preexec_fn=few) as (running, url):
        host, _, port = url.removeprefix("http://").rpartition(":")
        opened = []
        for _ in range(80):
            try:
                opened.append(socket.create_connection((host, int(port)), timeout=5))
            except OSError:
                break
        assert running.stderr is not None
        line = running.stderr.readline()
        assert "descriptors are nearly used up" in line and line.endswith("of 64 (ulimit -n)\n")
        for one in opened:
            one.close()
        running.terminate()
        assert running.stderr.read() == "", "one line in ten seconds"


def test_versions_agree() -> None:
    line = [sys.executable, "-m", "hydrofoil.cli.apiserver", "--version"]
    shown = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    with serving() as (_, url):
        version = urllib.request.urlopen(f"{url}/version").read().decode()
    assert f'"gitVersion": "{shown.split()[1]}"' in version
