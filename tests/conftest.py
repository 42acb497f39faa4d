"""Fixtures: a guard against a blocked loop, a server in the test's own loop, and outside programs."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest
from blockbuster import BlockBuster, blockbuster_ctx

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"

# What is read once at start, or once a document: package data that the page cache holds.
ALLOWED = (
    ("hydrofoil/apis/catalog.py", "__init__"),
    ("hydrofoil/server/bootstrap.py", "load"),
    ("hydrofoil/server/documents.py", "openapi_document"),
    ("hydrofoil/server/documents.py", "openapi_files"),
    ("hydrofoil/server/run.py", "start"),
)


@pytest.fixture(autouse=True)
def no_blocking() -> Iterator[BlockBuster]:
    """Fails any test in which the event loop blocks."""
    with blockbuster_ctx() as guard:
        for file, function in ALLOWED:
            for name in ("io.BufferedReader.read", "io.TextIOWrapper.read", "os.stat", "os.scandir", "os.listdir"):
                if name in guard.functions:  # every version of the guard knows its own
                    guard.functions[name].can_block_in(file, function)
        guard.functions["socket.socket.connect"].can_block_in("hydrofoil/server/bootstrap.py", "advertised")
        yield guard


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """A server on a free port, with its controllers."""
    server = Server(Config(port=0))
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def api(server: Server) -> AsyncIterator[aiohttp.ClientSession]:
    """A client of it."""
    async with aiohttp.ClientSession(server.url, headers={"Content-Type": "application/json"}) as session:
        yield session


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips what needs an absent program by its name; in CI that is a failure."""
    for item in items:
        for mark in item.iter_markers("program"):
            name = mark.args[0]
            if shutil.which(name) is None and not os.environ.get("HYDROFOIL_CI"):
                item.add_marker(pytest.mark.skip(reason=f"{name} is not installed"))


def command(*args: str) -> list[str]:
    """A hydrofoil command line."""
    return [sys.executable, "-m", "hydrofoil", *args]
