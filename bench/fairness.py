"""A tenant beside another one that floods the server: `python -m bench.fairness`.

It prints the median and the 99th percentile of the requests of a tenant that sends one after the other, alone and while
another tenant sends as many as its connections allow, with priority and fairness and without. The percentile under the
flood must be within three times the quiet one; the exit status is 1 otherwise.
"""

from __future__ import annotations

import argparse
import http.client
import multiprocessing
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from multiprocessing.synchronize import Event
from pathlib import Path
from urllib.parse import urlsplit

PATH = "/api/v1/namespaces/default/configmaps/kube-root-ca.crt"
LISTS = "/api/v1/namespaces/default/events"
TOKENS = "admin-token,admin,admin,system:masters\nada-token,ada,ada\nbob-token,bob,bob\n"
ALLOWED = 3.0
"""The factor of the quiet percentile that counts as fair."""


def flood(port: int, connections: int, stop: Event) -> None:
    """Keep a request in flight on each connection until the event is set."""
    head = f"GET {LISTS} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ada-token\r\n\r\n".encode()
    with selectors.DefaultSelector() as ready:
        for _ in range(connections):
            one = socket.create_connection(("127.0.0.1", port))
            one.setblocking(False)
            ready.register(one, selectors.EVENT_READ)
            one.send(head)
        while not stop.is_set():
            for key, _ in ready.select(0.2):
                found = key.fileobj
                assert isinstance(found, socket.socket)
                # An answer is small: it arrives in one piece.
                if found.recv(65536):
                    found.send(head)
                else:
                    ready.unregister(found)
        for key in list(ready.get_map().values()):
            assert isinstance(key.fileobj, socket.socket)
            key.fileobj.close()


def measured(port: int, seconds: float) -> tuple[float, float]:
    """Return median and 99th percentile of a tenant's requests, in milliseconds."""
    client = http.client.HTTPConnection("127.0.0.1", port)
    client.connect()
    client.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    took = []
    end = time.perf_counter() + seconds
    while (begun := time.perf_counter()) < end:
        client.request("GET", "/api/v1/namespaces/default/pods/none", headers={"Authorization": "Bearer bob-token"})
        answer = client.getresponse()
        answer.read()
        assert answer.status == 404, answer.status
        took.append((time.perf_counter() - begun) * 1000)
    client.close()
    return statistics.median(took), statistics.quantiles(took, n=100)[98]


def tenants(connections: int, seconds: float, *flags: str) -> tuple[float, float]:
    """Print the latencies of one server, and return the quiet and the flooded percentile."""
    with tempfile.TemporaryDirectory() as folder:
        tokens = Path(folder, "tokens.csv")
        tokens.write_text(TOKENS)
        line = [sys.executable, "-m", "hydrofoil", "serve", "--port=0", "--controllers=", f"--token-auth-file={tokens}"]
        with subprocess.Popen(
            [*line, "--authorization-mode=AlwaysAllow", *flags], stdout=subprocess.PIPE, text=True
        ) as running:
            assert running.stdout is not None
            port = urlsplit(running.stdout.readline().split()[-1]).port
            assert port is not None
            measured(port, 0.5)
            quiet = measured(port, seconds)
            stop = multiprocessing.Event()
            flooder = multiprocessing.Process(target=flood, args=(port, connections, stop))
            flooder.start()
            measured(port, 0.5)
            flooded = measured(port, seconds)
            stop.set()
            flooder.join()
            running.terminate()
    name = " ".join(flags) or "with priority and fairness"
    print(f"{name}: p50 {quiet[0]:.2f} -> {flooded[0]:.2f} ms, p99 {quiet[1]:.2f} -> {flooded[1]:.2f} ms")
    return quiet[1], flooded[1]


def main() -> int:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=5.0)
    args = parser.parse_args()
    tenants(args.connections, args.seconds, "--enable-priority-and-fairness=false")
    quiet, flooded = tenants(args.connections, args.seconds)
    return 0 if flooded <= ALLOWED * quiet else 1


if __name__ == "__main__":
    sys.exit(main())
