"""A short look at an installed package: `python smoke.py` in an environment that has it and nothing else.

Prints one line for each part; the exit status is 1 where one fails.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HYDROFOIL = [sys.executable, "-m", "hydrofoil"]
MAPS = "/api/v1/namespaces/default/configmaps"


def call(url: str, method: str = "GET", body: object = None, media: str = "application/json") -> Any:
    """Return the JSON of an answer."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": media}, method=method)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def config_map(name: str) -> dict[str, Any]:
    """Return a config map."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "1"}}


def command_line() -> None:
    """Run the commands that need no server."""
    for words in (["--version"], ["--help"], ["serve", "--help"], ["completion", "bash"]):
        assert subprocess.run([*HYDROFOIL, *words], check=True, capture_output=True).stdout
    done = subprocess.run([*HYDROFOIL, "doctor", "--json"], capture_output=True, text=True, check=False)
    failed = [check for check in json.loads(done.stdout)["checks"] if check["status"] == "fail"]
    assert not [check for check in failed if check["check"] in ("python", "native", "uvloop")], failed


@contextmanager
def running_server(line: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Run a server until the end of the block, however that ends."""
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as running:
        try:
            yield running
        finally:
            running.terminate()


def served() -> None:
    """Serve as a process, over TLS as well."""
    with tempfile.TemporaryDirectory() as folder:
        line = [*HYDROFOIL, "serve", "--port=0", f"--kubeconfig={folder}/kubeconfig"]
        with running_server(line) as running:
            assert running.stdout is not None
            assert running.stdout.readline().startswith("kubeconfig ")
            url = running.stdout.readline().removeprefix("serving on ").strip()
            made = call(url + MAPS, "POST", config_map("a"))
            assert made["metadata"]["uid"]
            patch = "application/merge-patch+json"
            assert call(f"{url}{MAPS}/a", "PATCH", {"data": {"b": "2"}}, patch)["data"] == {"a": "1", "b": "2"}
            assert [item["metadata"]["name"] for item in call(url + MAPS)["items"]] == ["a"]
            with urllib.request.urlopen(f"{url}{MAPS}?watch=1", timeout=10) as events:
                assert json.loads(events.readline())["type"] == "ADDED"
        assert running.returncode == 0
        with running_server([*line, f"--cert-dir={folder}/certs"]) as running:
            assert running.stdout is not None
            running.stdout.readline()
            assert running.stdout.readline().startswith("serving on https://")
        assert (Path(folder) / "certs" / "ca.crt").exists()


async def embedded() -> None:
    """Serve in the loop of a test, with its clock and a snapshot."""
    from hydrofoil import Server

    async with Server() as server, server.session() as session:
        await server.apply(config_map("a"))
        before = server.snapshot()
        assert (await session.delete(MAPS + "/a")).status == 200
        server.restore(before)
        assert (await session.get(MAPS + "/a")).status == 200


def main() -> int:
    """Run the parts; return the exit status."""
    for name, part in (
        ("command line", command_line),
        ("process", served),
        ("embedded", lambda: asyncio.run(embedded())),
    ):
        begun = time.perf_counter()
        part()
        print(f"{name}: ok, {time.perf_counter() - begun:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
