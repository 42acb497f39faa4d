"""A peer that takes audit events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web


class Receiver:
    """A webhook that refuses the first calls."""

    def __init__(self) -> None:
        self.lists: list[Any] = []
        self.refusals = 0
        self.calls = 0
        self.held: asyncio.Event | None = None
        self.url = ""

    async def receive(self, request: web.BaseRequest) -> web.StreamResponse:
        self.calls += 1
        if self.held is not None:
            await self.held.wait()
        if self.calls <= self.refusals:
            return web.Response(status=500)
        assert str(request.rel_url) == "/audit?timeout=30s"
        self.lists.append(await request.json())
        return web.Response()

    @property
    def ids(self) -> list[str]:
        return [item["auditID"] for found in self.lists for item in found["items"]]


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    made = Receiver()
    runner = web.ServerRunner(web.Server(made.receive))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"{site.name}/audit"
    yield made
    await runner.cleanup()
