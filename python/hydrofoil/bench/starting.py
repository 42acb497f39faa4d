"""Servers that a benchmark starts on this machine, and ends."""

from __future__ import annotations

import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from hydrofoil.bench.access import target
from hydrofoil.bench.failure import Stopped
from hydrofoil.bench.options import LoadOptions
from hydrofoil.bench.session import Session
from hydrofoil.clock import Chance, stopwatch
from hydrofoil.outbound.kubeconfig import Access

PATIENCE = 60.0
"""Seconds that a server may take to start."""
ENDING = 15.0
"""Seconds that it may take to end."""


class Started(NamedTuple):
    """A server that was started."""

    url: str
    token: str
    pids: tuple[int, ...]


@contextmanager
def hydrofoil(line: list[str], folder: Path) -> Iterator[Started]:
    """Run a Hydrofoil over TLS, without controllers, as kube-apiserver runs none. Raise Stopped."""
    token = tokens(folder)
    port = free_port()
    flags = [f"--cert-dir={folder / 'certificates'}", f"--token-auth-file={folder / 'tokens.csv'}"]
    flags += ["--authorization-mode=RBAC", "--controllers=", f"--port={port}"]
    with process([*line, "serve", *flags], folder / "hydrofoil.log") as running:
        url = f"https://127.0.0.1:{port}"
        ready(url, token, running, folder / "hydrofoil.log")
        yield Started(url, token, (running.pid,))


@contextmanager
def kube_apiserver(path: str, etcd: str, folder: Path) -> Iterator[Started]:
    """Run a kube-apiserver with an etcd. Raise Stopped."""
    token = tokens(folder)
    client, peer, port = free_port(), free_port(), free_port()
    store = f"http://127.0.0.1:{client}"
    flags = [f"--data-dir={folder / 'etcd'}", f"--listen-client-urls={store}", f"--advertise-client-urls={store}"]
    flags += [f"--listen-peer-urls=http://127.0.0.1:{peer}", "--unsafe-no-fsync=true"]
    with process([etcd, *flags], folder / "etcd.log") as below:
        key = folder / "accounts.key"
        key.write_bytes(account_key())
        flags = [f"--etcd-servers={store}", f"--cert-dir={folder / 'certificates'}", f"--secure-port={port}"]
        flags += ["--bind-address=127.0.0.1", f"--token-auth-file={folder / 'tokens.csv'}", "--authorization-mode=RBAC"]
        flags += [f"--service-account-key-file={key}", f"--service-account-signing-key-file={key}"]
        flags += ["--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=10.0.0.0/24"]
        with process([path, *flags], folder / "kube-apiserver.log") as running:
            url = f"https://127.0.0.1:{port}"
            ready(url, token, running, folder / "kube-apiserver.log")
            yield Started(url, token, (running.pid, below.pid))


def account_key() -> bytes:
    """Return a key for the tokens of accounts; of ECDSA, kube-apiserver reads no PKCS #8."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    made = rsa.generate_private_key(65537, 2048)
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return made.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def tokens(folder: Path) -> str:
    """Write the file of an administrator's token; return the token."""
    token = Chance().token(24)
    file = folder / "tokens.csv"
    file.touch(0o600)
    file.write_text(f"{token},bench,1,system:masters\n")
    return token


def free_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@contextmanager
def process(line: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program in a session of its own, so that SIGINT of the terminal does not reach it; end it at last."""
    with log.open("wb") as out:
        try:
            running = subprocess.Popen(line, stdout=out, stderr=out, stdin=subprocess.DEVNULL, start_new_session=True)
        except OSError as e:
            raise Stopped(f"{line[0]} cannot be started: {e.strerror or e}") from None
    try:
        yield running
    finally:
        running.terminate()
        try:
            running.wait(ENDING)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


def ready(url: str, token: str, running: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until a server is ready. Raise Stopped with the end of its log."""
    session = Session(target(Access(url, b"", True, b"", b"", f"Bearer {token}", "", {}, Path())), LoadOptions(), "")
    start = stopwatch()
    while stopwatch() - start < PATIENCE:
        if running.poll() is not None:
            break
        try:
            status, _ = session.call("GET", "/readyz")
            if status == 200 and session.call("GET", "/api/v1/namespaces/default")[0] == 200:
                return
        except Stopped:
            continue
    lines = log.read_text(errors="replace").strip().splitlines()
    last = re.sub(r"\s+", " ", lines[-1])[:300] if lines else "it wrote nothing"
    raise Stopped(f"{log.stem} does not start: {last}")
