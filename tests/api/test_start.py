"""Starts that fail: one line, code 1, and nothing is left of them."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import subprocess
import time
import urllib.request

import pytest

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server, StartError
from tests.conftest import command


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--kubeconfig", "/proc/nowhere/config"], "cannot write the kubeconfig /proc/nowhere/config: "),
        (["--runtime-config", "zzz"], "runtime-config invalid key zzz\n"),
        (["--feature-gates", "Nope=true"], "unrecognized feature gate: Nope\n"),
        (["--host", "256.1.1.1"], "cannot listen on 256.1.1.1:0: "),
        (["--host", "192.0.2.7"], "cannot listen on 192.0.2.7:0: Cannot assign requested address (--host takes an"),
        (["--tls-private-key-file", "/nowhere"], "cannot use the TLS certificate: --tls-private-key-file needs --tls"),
        (
            ["--tls-cert-file", "/nowhere"],
            "cannot use the TLS certificate: /nowhere: No such file or directory (--tls-cert-file)\n",
        ),
        (["--tls-cert-file", "/dev/null"], "cannot use the TLS certificate: /dev/null: "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_stops_a_start_is_one_line(args: list[str], words: str) -> None:
    done = subprocess.run(command("serve", "--port", "0", *args), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"hydrofoil: {words}")
    assert re.fullmatch(r".+\n", done.stderr)


@pytest.mark.parametrize("flag", ["--history-events", "--history-bytes", "--list-cache-bytes"])
@pytest.mark.parametrize("number", ["0", str(2**63 - 1)])
def test_bounds_of_any_size_start(flag: str, number: str) -> None:
    with subprocess.Popen(command("serve", "--port", "0", flag, number), stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline().startswith("serving on ")
        running.terminate()


async def test_a_failed_start_leaves_nothing() -> None:
    """Neither a listener nor a task: the port is free for the next one."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    before = asyncio.all_tasks()
    server = Server(Config(port=port, kubeconfig="/proc/nowhere/config"))
    with pytest.raises(StartError, match=r"^cannot write the kubeconfig "):
        await server.start()
    assert asyncio.all_tasks() == before
    again = Server(Config(port=port))
    assert await again.start() == f"http://127.0.0.1:{port}"
    await again.stop()
    assert asyncio.all_tasks() == before


async def test_a_refused_setting_leaves_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with pytest.raises(StartError):
        await Server(Config(port=port, feature_gates={"Nope": True})).start()
    with socket.create_server(("127.0.0.1", port)):
        """No process listens there."""


async def test_stop_comes_at_any_time() -> None:
    server = Server(Config(port=0))
    await server.stop()
    await server.start()
    await server.stop()
    await server.stop()


@pytest.mark.parametrize("config", ["api/all=false,v1=true", "v1=false", "storage.k8s.io/v1=false"])
def test_controllers_stay_out_of_what_is_off(config: str) -> None:
    """GR-03: a start with resources of the controllers switched off."""
    args = command("serve", "--port=0", "--enable-priority-and-fairness=false", "--runtime-config", config)
    with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline().startswith("serving on ")
        running.terminate()
        assert running.stderr.read() == ""


def test_a_server_that_nobody_reads_serves() -> None:
    """A pipe that was closed at its other end is no reason not to start."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    read, write = os.pipe()
    os.close(read)
    with subprocess.Popen(command("serve", "--port", str(port)), stdout=write, stderr=subprocess.PIPE) as running:
        os.close(write)
        for _ in range(200):
            try:
                answer = urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz").read()
                break
            except OSError:
                time.sleep(0.05)
        assert answer == b"ok"
        running.terminate()
        assert running.wait(10) == 0
        assert running.stderr is not None
        assert running.stderr.read() == b""
