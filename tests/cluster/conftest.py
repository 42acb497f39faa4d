"""Servers whose cluster lives, by a clock that stands still."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from blockbuster import BlockBuster

from hydrofoil import Server
from hydrofoil.testing.remote_server import RemoteServer

BEGIN = "2026-01-01T00:00:00Z"


@pytest.fixture(autouse=True)
def unguarded(no_blocking: BlockBuster) -> None:
    """Let the tests themselves wait for other threads."""
    no_blocking.deactivate()


@pytest.fixture
def cluster() -> Iterator[RemoteServer]:
    """Yield a server with two nodes."""
    with Server.in_thread(cluster=2, clock=BEGIN) as server:
        yield server
