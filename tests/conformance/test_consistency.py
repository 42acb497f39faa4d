"""The consistency checker against servers that are killed again and again: on a disk, and on one etcd."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.conftest import command
from tests.etcd import Etcd, free_port

CHECKER = Path(__file__).with_name("consistency")


@pytest.fixture(scope="session")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program."""
    program = tmp_path_factory.mktemp("consistency") / "check"
    subprocess.run(["go", "build", "-o", program, "."], cwd=CHECKER, check=True, timeout=200)
    return program


@pytest.mark.program("go")
@pytest.mark.timeout(300)
def test_a_killed_server_keeps_its_promises(tmp_path: Path, checker: Path) -> None:
    """One minute of races, with a kill every two seconds: no write is lost, and every watch is resumed."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    url, pid = f"http://127.0.0.1:{port}", tmp_path / "pid"
    line = shlex.join(command("serve", "--port", str(port), "--data-dir", str(tmp_path / "data")))
    log = shlex.quote(str(tmp_path / "log"))
    start = f"{line} >> {log} 2>&1 & echo $! > $PIDFILE"
    subprocess.run(["/bin/sh", "-c", start], env={"PIDFILE": str(pid)}, check=True)
    try:
        wait(url)
        args = ["--server", url, "--seconds", "60", "--faults", "20", "--fault-every", "2s", "--seed", "1"]
        args += ["--strict", "--monotonic-cache", "--must-resume", "--kill", str(pid), "--restart", start]
        done = subprocess.run([checker, *args], capture_output=True, text=True, check=False, timeout=200)
    finally:
        subprocess.run(["kill", pid.read_text().strip()], check=False)
    sys.stdout.write(done.stdout[-4000:])
    assert done.returncode == 0, (tmp_path / "log").read_text()[-2000:]
    assert "PASS: all promises held" in done.stdout


@pytest.mark.program("go")
@pytest.mark.program("etcd")
@pytest.mark.timeout(400)
def test_two_servers_on_one_etcd_keep_their_promises(tmp_path: Path, checker: Path) -> None:
    """One minute of races on two servers; both and etcd are killed, and etcd is stopped for a while."""
    etcd = Etcd(tmp_path)
    etcd.kill()
    args = ["--pause", str(tmp_path / "etcd.pid")]
    starts = {"etcd": shlex.join(etcd.line)}
    for name in ("one", "two"):
        port = free_port()
        starts[name] = shlex.join(command("serve", "--port", str(port), "--etcd-servers", etcd.url))
        args += ["--server", f"http://127.0.0.1:{port}"]
    try:
        for name, line in starts.items():
            pid = tmp_path / f"{name}.pid"
            start = f"{line} >> {shlex.quote(str(tmp_path / name))}.log 2>&1 & echo $! > $PIDFILE"
            subprocess.run(["/bin/sh", "-c", start], env={**os.environ, "PIDFILE": str(pid)}, check=True)
            args += ["--kill", str(pid), "--restart", start]
        for url in (arg for arg in args if arg.startswith("http")):
            wait(url)
        args += ["--seconds", "60", "--faults", "20", "--fault-every", "2s", "--seed", "1"]
        args += ["--strict", "--monotonic-cache", "--must-resume"]
        done = subprocess.run([checker, *args], capture_output=True, text=True, check=False, timeout=300)
    finally:
        for name in starts:
            subprocess.run(["kill", "-9", (tmp_path / f"{name}.pid").read_text().strip()], check=False)
    sys.stdout.write(done.stdout[-4000:])
    assert done.returncode == 0, (tmp_path / "one.log").read_text()[-2000:]
    assert "PASS: all promises held" in done.stdout


@pytest.mark.program("go")
@pytest.mark.timeout(300)
def test_the_checker_flags_broken_promises() -> None:
    """Some forty mutations of a history of kube-apiserver are flagged; outcomes that are only unknown are not."""
    done = subprocess.run(
        ["go", "test", "./..."], cwd=CHECKER, capture_output=True, text=True, check=False, timeout=280
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def wait(url: str) -> None:
    """Wait until a server is ready."""
    for _ in range(200):
        try:
            with urllib.request.urlopen(f"{url}/readyz", timeout=1) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the server did not start")
