"""A gateway before a server, and what passes between them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.between import Between

FILE = """
apiVersion: v1
kind: Config
current-context: it
contexts: [{{name: it, context: {{cluster: it, user: it}}}}]
clusters: [{{name: it, cluster: {{server: "{url}"}}}}]
users: [{{name: it, user: {user}}}]
"""
Json = dict[str, Any]


class Pair:
    """A server, the connections to it, and a gateway."""

    def __init__(self, upstream: Server, between: Between, gateway: Server) -> None:
        self.upstream = upstream
        self.between = between
        self.gateway = gateway

    def asked(self, *parts: str) -> list[str]:
        """Return the requests of the gateway that have all of these parts, without probes."""
        return [line for line in self.between.requests if all(part in line for part in parts)]

    async def metrics(self) -> dict[str, float]:
        """Return the metrics of the gateway."""
        async with aiohttp.ClientSession(self.gateway.url) as session, session.get("/metrics") as answer:
            text = await answer.text()
        rows = (line.rpartition(" ") for line in text.splitlines() if line.startswith("hydrofoil_upstream"))
        return {name: float(value) for name, _, value in rows}


async def kubeconfig(folder: Path, url: str, token: str = "") -> str:
    """Write a kubeconfig for a URL; return its path."""
    file = folder / "upstream.yaml"
    user = f'{{token: "{token}"}}' if token else "{}"
    await asyncio.to_thread(file.write_text, FILE.format(url=url, user=user))
    return str(file)


@contextlib.asynccontextmanager
async def pair(folder: Path, given: Config | None = None, token: str = "", **flags: Any) -> AsyncIterator[Pair]:
    """Yield a gateway with some flags before a server with others; `token`: that of the gateway there."""
    async with contextlib.AsyncExitStack() as stack:
        upstream = Server(given or Config(port=0))
        await upstream.start()
        stack.push_async_callback(upstream.stop)
        between = Between(upstream.url)
        await between.start()
        stack.push_async_callback(between.stop)
        path = await kubeconfig(folder, between.url, token)
        gateway = Server(Config(port=0, upstream=path, **flags))
        await gateway.start()
        stack.push_async_callback(gateway.stop)
        yield Pair(upstream, between, gateway)


async def until(true: Any, seconds: float = 10.0) -> None:
    """Wait for a state of another task or thread; fail after some seconds."""
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.01)
