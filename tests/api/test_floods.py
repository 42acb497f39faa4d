"""Slow heads, slow handshakes, and floods of handshakes leave other users their answers."""

from __future__ import annotations

import asyncio
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import aiohttp
import pytest

from tests.api.secure import Made, make
from tests.conftest import ROOT, command

MOST = 20
"""The bound of the median under attack, in quiet medians."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def url(made: Made) -> Iterator[str]:
    args = command("serve", "--port", "0", "--tls-cert-file", made.cert, "--tls-private-key-file", made.key)
    with subprocess.Popen(args, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        found = re.fullmatch(r"serving on (https://\S+)\n", running.stdout.readline())
        assert found
        yield found[1]
        running.kill()


async def median(api: aiohttp.ClientSession) -> float:
    """Return the median seconds of a request."""
    found = []
    for _ in range(200):
        start = perf_counter()
        async with api.get("/version") as r:
            await r.read()
        found.append(perf_counter() - start)
    return statistics.median(found)


@pytest.mark.parametrize("kind", ["heads", "hellos", "handshakes"])
async def test_others_are_answered(url: str, made: Made, kind: str) -> None:
    port = url.rpartition(":")[2]
    connector = aiohttp.TCPConnector(ssl=made.client())
    async with aiohttp.ClientSession(url, connector=connector) as api:
        await median(api)
        quiet = await median(api)
        line = [sys.executable, str(Path(ROOT, "tests", "api", "flood.py")), port, kind, "30"]
        flood = await asyncio.create_subprocess_exec(*line, stdout=subprocess.PIPE)
        assert flood.stdout
        await flood.stdout.readline()
        await asyncio.sleep(0.5)  # the flood begins with many connections
        under = await median(api)
        assert flood.returncode is None
        flood.kill()
        await flood.wait()
        assert under < MOST * quiet, f"{under:.4f} s, quiet {quiet:.4f} s"
