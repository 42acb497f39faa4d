"""Fixtures: a guard against a blocked loop, a server in the test's own loop, and outside programs."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import pytest
from blockbuster import BlockBuster, blockbuster_ctx
from hypothesis import settings

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from hydrofoil.storage.log import Log
from tests.etcd import Etcd
from tests.loops import OPTIONS, Factory, loops
from tests.times import layers, table
from tests.turns import Turns, short_turns

ROOT = Path(__file__).resolve().parent.parent

BEGUN = time.monotonic()
"""When the tests began."""

# The same cases in every run of continuous integration; elsewhere new ones are drawn.
settings.load_profile("ci" if os.environ.get("HYDROFOIL_CI") else "default")

# Files read once at start, or once a document: package data that the page cache holds.
ALLOWED = (
    ("hydrofoil/apis/catalog.py", "load_package_data"),
    ("hydrofoil/server/bootstrap.py", "load_package_data"),
    ("hydrofoil/openapi/packed.py", "document"),
    ("hydrofoil/openapi/packed.py", "index"),
    ("hydrofoil/server/run.py", "start"),
    # Files of the kernel, which no disk delays.
    ("prometheus_client/process_collector.py", "collect"),
    *(("tests/api/secure.py", name) for name in ("make", "pair", "read", "write", "mode", "names")),
)
BLOCKING = (
    "io.BufferedReader.read",
    "io.TextIOWrapper.read",
    "io.TextIOWrapper.write",
    "io.BufferedWriter.write",
    "os.stat",
    "os.mkdir",
    "os.scandir",
    "os.listdir",
)


@pytest.fixture(autouse=True)
def no_blocking() -> Iterator[BlockBuster]:
    """Fails any test in which the event loop blocks."""
    with blockbuster_ctx() as guard:
        for file, function in ALLOWED:
            for name in BLOCKING:
                if name in guard.functions:  # every version of the guard knows its own
                    guard.functions[name].can_block_in(file, function)
        guard.functions["socket.socket.connect"].can_block_in("hydrofoil/server/bootstrap.py", "advertised_address")
        yield guard


@pytest.fixture(autouse=True)
def turns(no_blocking: BlockBuster) -> Iterator[Turns]:
    """Fails any test in which a turn of the loop costs the server too much; on uvloop nothing is measured."""
    with short_turns() as found:
        yield found


@pytest.fixture(scope="session")
def etcd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Etcd]:
    """Yield a member of etcd for many tests, each with a prefix of its own."""
    found = Etcd(tmp_path_factory.mktemp("etcd"))
    yield found
    found.kill()


@pytest.fixture
def log() -> Log | None:
    """Where the truth of the server is; None: in itself."""
    return None


@pytest.fixture
async def server(log: Log | None) -> AsyncIterator[Server]:
    """Yield a server on a free port, with its controllers."""
    server = Server(Config(port=0), log)
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def api(server: Server) -> AsyncIterator[aiohttp.ClientSession]:
    """Yield a client of it."""
    async with aiohttp.ClientSession(server.url, headers={"Content-Type": "application/json"}) as session:
        yield session


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the choice of the event loop."""
    text = "event loops of tests with a server: divided between asyncio and uvloop, both, or one of them"
    parser.addoption("--loop", choices=OPTIONS, default="split", help=text)


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> dict[str, Factory]:
    """Return the event loops of a test."""
    assert isinstance(item, pytest.Function)
    marked = any("loop_factories" in mark.kwargs for mark in item.iter_markers("asyncio"))
    return loops("both" if marked else config.getoption("--loop"), item.nodeid, item.fixturenames)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how long each layer took, where there are several."""
    reports = [r for found in terminalreporter.stats.values() for r in found if isinstance(r, pytest.TestReport)]
    if len(found := layers(reports)) > 1:
        terminalreporter.section("time by layer")
        terminalreporter.write("".join(f"{line}\n" for line in table(found, time.monotonic() - BEGUN)))


def pytest_xdist_auto_num_workers() -> int:
    """Return how many processes run tests: two more than there are cores, since tests of processes mostly wait."""
    return (os.cpu_count() or 1) + 2


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips what needs an absent program by its name; in CI that is a failure."""
    for item in items:
        for mark in item.iter_markers("program"):
            name = mark.args[0]
            if shutil.which(name) is None and not os.environ.get("HYDROFOIL_CI"):
                item.add_marker(pytest.mark.skip(reason=f"{name} is not installed"))


Process = tuple[subprocess.Popen[str], str, Path]
"""A running server, its URL, its kubeconfig."""


@contextmanager
def serve(kubeconfig: Path, *flags: str) -> Iterator[Process]:
    """Yield a server in a process of its own, which writes a kubeconfig."""
    args = command("serve", "--port", "0", "--kubeconfig", str(kubeconfig), *flags)
    with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == f"kubeconfig {kubeconfig}\n"
        line = running.stdout.readline()
        found = re.fullmatch(r"serving on (http://127\.0\.0\.1:\d+)\n", line)
        assert found
        yield running, found[1], kubeconfig
        running.kill()


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    """Yield a server in a process of its own; both may have as many connections as the machine allows."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with serve(tmp_path / "kubeconfig") as found:
        yield found


@pytest.fixture
def gateway(process: Process, tmp_path: Path) -> Iterator[Process]:
    """Yield a gateway in a process of its own, before such a server."""
    with serve(tmp_path / "gateway", "--upstream", str(process[2])) as found:
        yield found


def command(*args: str) -> list[str]:
    """Return a hydrofoil command line."""
    return [sys.executable, "-m", "hydrofoil", *args]
