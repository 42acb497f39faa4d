"""Versions that a server shows right after its start are those of the log: none of its own writes is outstanding."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.aggregation import SERVICES, service
from tests.api.custom import CRDS, call, definition, version
from tests.api.services import Certificate, certificate
from tests.contract.late import LateLog, Truth

__all__ = ["certificate"]
Versions = dict[str, str]


@asynccontextmanager
async def started(truth: Truth) -> AsyncIterator[tuple[Server, aiohttp.ClientSession]]:
    """Yield a server over a log whose events are late, and its client, at the moment when it answers."""
    server = Server(Config(port=0), LateLog(truth))
    await server.start()
    async with aiohttp.ClientSession(server.url, headers={"Content-Type": "application/json"}) as api:
        yield server, api
    await server.stop()


async def versions(api: aiohttp.ClientSession) -> Versions:
    """Return the version of each definition and API service."""
    found: Versions = {}
    for path in (CRDS, SERVICES):
        _, body = await call(api, "GET", path)
        found |= {item["metadata"]["name"]: item["metadata"]["resourceVersion"] for item in body["items"]}
    return found


@pytest.mark.parametrize("again", [False, True])
async def test_nothing_is_written_after_the_first_answer(certificate: Certificate, again: bool) -> None:
    truth = Truth()
    if again:
        async with started(truth) as (server, api):
            made: list[tuple[str, Any]] = [(CRDS, definition(version("v1", storage=True)))]
            made += [(SERVICES, service(certificate, "absent"))]
            for path, body in made:
                assert (await call(api, "POST", path, body))[0] == 201
            await server.settle()
    async with started(truth) as (server, api):
        first = await versions(api)
        assert first
        await server.settle()
        assert await versions(api) == first
