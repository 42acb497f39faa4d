"""A server whose files are damaged."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server


@asynccontextmanager
async def serving(**flags: Any) -> AsyncIterator[aiohttp.ClientSession]:
    server = Server(Config(port=0, controllers="", **flags))
    await server.start()
    try:
        async with aiohttp.ClientSession(server.url) as api:
            yield api
    finally:
        await server.stop()
