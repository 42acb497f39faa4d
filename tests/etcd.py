"""A member of etcd for tests."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path
from uuid import uuid4

from hydrofoil.options import Texts
from hydrofoil.storage.etcd import EtcdLog
from hydrofoil.storage.options import StorageOptions

READY = b"ready to serve client requests"
PATIENCE = 30.0


def free_port() -> int:
    """Return a port that is free now."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


class Etcd:
    """One member, which may be stopped and started again on its data."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port, peer = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        here, other = f"--listen-client-urls={self.url}", f"http://127.0.0.1:{peer}"
        self.line = ["etcd", "--name=test", f"--data-dir={folder / 'etcd'}", here]
        self.line += [f"--advertise-client-urls={self.url}", f"--listen-peer-urls={other}"]
        self.line += [f"--initial-advertise-peer-urls={other}", f"--initial-cluster=test={other}"]
        # The file is mapped to memory as large as the quota.
        self.line += ["--unsafe-no-fsync=true", f"--quota-backend-bytes={256 << 20}"]
        self._starts = 0
        self.start()

    def start(self) -> None:
        """Start, and wait until this member serves: another program on its port is not taken for it."""
        self._starts += 1
        log = self._folder / f"etcd-{self._starts}.log"
        with log.open("wb") as out:
            self._running = subprocess.Popen(self.line, stdout=out, stderr=out)
        end = time.monotonic() + PATIENCE
        while READY not in log.read_bytes():
            assert self._running.poll() is None, log.read_text()[-2000:]
            assert time.monotonic() < end, "etcd did not start"
            time.sleep(0.02)

    def kill(self) -> None:
        """End it at once."""
        self._running.kill()
        self._running.wait()

    def freeze(self) -> None:
        """Make it stand still; return when it does."""
        self._running.send_signal(signal.SIGSTOP)
        os.waitpid(self._running.pid, os.WUNTRACED)

    def thaw(self) -> None:
        """Make it go on."""
        self._running.send_signal(signal.SIGCONT)

    def call(self, method: str, body: bytes) -> bytes:
        """Call a method of the gateway."""
        request = urllib.request.Request(f"{self.url}/v3/{method}", data=body)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            found: bytes = answer.read()
            return found


def options(url: str, prefix: str = "") -> StorageOptions:
    """Return settings for a member; each prefix is a state of its own, by default a new one."""
    prefix = prefix or f"/{uuid4()}"
    return StorageOptions(etcd_servers=Texts((url,)), etcd_prefix=prefix, etcd_compaction_interval=0.0)


def etcd_log(url: str, prefix: str = "") -> EtcdLog:
    """Return a log in etcd."""
    return EtcdLog(options(url, prefix), 3600.0)
