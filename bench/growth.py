"""How figures grow: `python -m bench.growth [--memory] [--objects 10000 1000000] [--watchers 10000]`.

Config maps of a kilobyte are written as lines, imported into a folder, and served from it, or created in a server that
has them in memory alone. For each number of objects it prints the resident memory of one, the time from the start of
the process to `/readyz`, and the server's CPU and the median latency of a GET, of the first page of 500, of a list by a
label that ten objects have, of an update and of its delivery to a watcher of that object, then the same beside so many
watchers of an object each, with the memory of one watcher. Every answer is checked. Figures of more than 1.5 times that
of the first number are marked; the time of a start and that of the first list by a label grow.
"""

from __future__ import annotations

import argparse
import http.client
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

from bench.requests import MAPS, Client

from hydrofoil.bench.processes import Usage, usage

PAGE = 500
CHOSEN = 10
# The creations that are under way at a time: the client waits once for so many of them.
PIPE = 100
ALLOWED = 1.5
GROWING = {"start, s", "first selector, ms"}
Figures = dict[str, float]


def bodies(count: int) -> Iterator[str]:
    """Yield the objects; the first ones have the label."""
    for number in range(count):
        labels = {"chosen": "yes"} if number < CHOSEN else {"app": f"a{number % 1000}"}
        metadata = {"name": f"m{number:07d}", "namespace": "default", "labels": labels}
        yield json.dumps({"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": {"a": "x" * 880}})


class Server:
    """A server on a folder; without one, in memory."""

    def __init__(self, folder: Path | None) -> None:
        line = [sys.executable, "-m", "hydrofoil", "serve", "--port=0", "--controllers="]
        line += [] if folder is None else [f"--data-dir={folder}"]
        begun = time.perf_counter()
        self.process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        netloc = urlsplit(self.process.stdout.readline().split()[-1])
        self.host, self.port = netloc.hostname or "", netloc.port or 0
        self._url = netloc.geturl()
        self.ask = Client(self._url, "").ask
        while not self._ready():
            pass
        self.start = time.perf_counter() - begun

    def _ready(self) -> bool:
        try:
            self.ask("GET", "/readyz")
        except ValueError:
            return False
        return True

    def usage(self) -> Usage:
        """Return the CPU time so far in seconds, and the resident memory in MB."""
        return usage((self.process.pid,))

    def fill(self, count: int) -> None:
        """Create the objects."""
        head = f"POST {MAPS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
        with socket.create_connection((self.host, self.port)) as pipe, pipe.makefile("rb") as answers:
            rest = bodies(count)
            while some := list(islice(rest, PIPE)):
                pipe.sendall("".join(f"{head}{len(body)}\r\n\r\n{body}" for body in some).encode())
                for _ in some:
                    expect(answers.readline().startswith(b"HTTP/1.1 201"), "creation")
                    fields = http.client.parse_headers(answers)
                    answers.read(int(fields["Content-Length"]))
        # The other connection was idle for long.
        self.ask = Client(self._url, "").ask

    def measure(self, work: Callable[[], None], times: int) -> tuple[float, float]:
        """Return the median latency in milliseconds, and the CPU in microseconds, of one piece of work."""
        took = []
        before = self.usage().cpu
        for _ in range(times):
            begun = time.perf_counter()
            work()
            took.append((time.perf_counter() - begun) * 1e3)
        return statistics.median(took), (self.usage().cpu - before) / times * 1e6

    def stop(self) -> None:
        """End the server."""
        self.process.terminate()
        self.process.wait(60)


def expect(right: bool, answer: str) -> None:
    """Raise ValueError for a wrong answer."""
    if not right:
        raise ValueError(f"wrong: {answer}")


def reads(server: Server, count: int) -> Figures:
    """Return the figures of reads."""

    def get() -> None:
        expect(json.loads(server.ask("GET", f"{MAPS}/m{count // 2:07d}"))["data"]["a"] == "x" * 880, "GET")

    def page() -> None:
        found = json.loads(server.ask("GET", f"{MAPS}?limit={PAGE}"))
        expect(len(found["items"]) == PAGE and found["items"][0]["metadata"]["name"] == "m0000000", "page")

    def chosen() -> None:
        found = json.loads(server.ask("GET", f"{MAPS}?labelSelector=chosen%3Dyes"))["items"]
        expect([item["metadata"]["name"] for item in found] == [f"m{n:07d}" for n in range(CHOSEN)], "selector")

    figures: Figures = {"first selector, ms": server.measure(chosen, 1)[0]}
    for name, work, times in (("GET", get, 2000), ("first page", page, 200), ("selector", chosen, 1000)):
        figures[f"{name}, ms"], figures[f"{name}, CPU us"] = server.measure(work, times)
    return figures


def delivery(server: Server, name: str) -> tuple[float, float, float]:
    """Return the medians of an update's latency and of its delivery, in milliseconds, and the CPU in microseconds."""
    watch = http.client.HTTPConnection(server.host, server.port, timeout=60)
    watch.request("GET", f"{MAPS}?watch=1&fieldSelector=metadata.name%3D{name}")
    stream = watch.getresponse()
    expect(json.loads(stream.readline())["type"] == "ADDED", "watch")
    arrivals: list[float] = []

    def update() -> None:
        begun = time.perf_counter()
        body = {"metadata": {"name": name}, "data": {"a": "x" * 880, "n": str(len(arrivals))}}
        server.ask("PUT", f"{MAPS}/{name}", body)
        event = json.loads(stream.readline())
        arrivals.append((time.perf_counter() - begun) * 1e3)
        expect(event["object"]["data"]["n"] == str(len(arrivals) - 1), "event")

    latency, cpu = server.measure(update, 300)
    watch.close()
    return latency, statistics.median(arrivals), cpu


def crowd(server: Server, count: int, watchers: int) -> Figures:
    """Return the figures beside watchers of an object each."""
    before = server.usage().rss
    sockets = []
    for number in range(watchers):
        one = socket.create_connection((server.host, server.port))
        name = f"m{number % count:07d}"
        query = f"watch=1&fieldSelector=metadata.name%3D{name}"
        one.sendall(f"GET {MAPS}?{query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        expect(one.recv(65536).startswith(b"HTTP/1.1 200"), "watch")
        sockets.append(one)
    memory = (server.usage().rss - before) / watchers * 1e3
    name = f"m{count - 1:07d}"
    latency, arrival, cpu = delivery(server, name)
    for one in sockets:
        one.close()
    return {
        "memory of a watcher, KB": memory,
        "update beside watchers, ms": latency,
        "its delivery, ms": arrival,
        "its CPU us": cpu,
    }


def filled(count: int, folder: Path) -> Server:
    """Return a server that begins with the objects of a folder."""
    lines, data = folder / "lines", folder / "data"
    with lines.open("w") as file:
        file.writelines(f"{body}\n" for body in bodies(count))
    hydrofoil = [sys.executable, "-m", "hydrofoil", "data", "import", str(lines), str(data)]
    subprocess.run(hydrofoil, check=True, stdout=subprocess.DEVNULL)
    return Server(data)


def measured(count: int, watchers: int, folder: Path | None) -> Figures:
    """Return the figures of so many objects."""
    empty = Server(None if folder is None else folder / "empty")
    base = empty.usage().rss
    empty.stop()
    server = Server(None) if folder is None else filled(count, folder)
    try:
        figures: Figures = {}
        if folder is None:
            server.fill(count)
        else:
            figures["start, s"] = server.start
        figures["memory of an object, bytes"] = (server.usage().rss - base) / count * 1e6
        figures |= reads(server, count)
        latency, arrival, cpu = delivery(server, f"m{count // 2:07d}")
        figures |= {"update, ms": latency, "delivery, ms": arrival, "update and delivery, CPU us": cpu}
        if watchers:
            figures |= crowd(server, count, watchers)
        return figures
    finally:
        server.stop()


def main() -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--objects", type=int, nargs="+", default=[10_000, 1_000_000])
    parser.add_argument("--watchers", type=int, default=10_000)
    given = parser.parse_args()
    tables = []
    for count in given.objects:
        with tempfile.TemporaryDirectory() as name:
            tables.append(measured(count, given.watchers, None if given.memory else Path(name)))
    print("| | " + " | ".join(f"{count:,} objects" for count in given.objects) + " |")
    print("| --- |" + " ---: |" * len(tables))
    grown = 0
    for name in tables[0]:
        values = [table[name] for table in tables]
        marks = ["**" if name not in GROWING and value > ALLOWED * values[0] else "" for value in values]
        grown += sum(map(bool, marks))
        print(f"| {name} | " + " | ".join(f"{m}{v:,.2f}{m}" for v, m in zip(values, marks, strict=True)) + " |")
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
