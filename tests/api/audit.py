"""A server that writes an audit log."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
from yarl import URL

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server

METADATA = [{"level": "Metadata"}]
ALL = [{"level": "RequestResponse"}]


class Audited:
    """A server that audits, and its records."""

    def __init__(self, folder: Path, server: Server, session: aiohttp.ClientSession) -> None:
        self.log = folder / "audit.log"
        self.server = server
        self.session = session

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, bytes]:
        """Return status and body."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        data = json.dumps(body) if body is not None and not isinstance(body, bytes) else body
        url = URL(self.server.url + path, encoded=True)
        async with self.session.request(method, url, data=data, headers=sent) as r:
            return r.status, await r.read()

    async def events(self) -> list[Any]:
        """Stop the server, and return all records."""
        await self.server.stop()
        text = await asyncio.to_thread(self.log.read_text)
        return [json.loads(line) for line in text.splitlines()]

    def lost(self) -> dict[str, int]:
        """Return the numbers of lost events."""
        return self.server.app.audit.counts.lost


def written(folder: Path, rules: Any, **more: Any) -> str:
    path = folder / "policy.json"
    path.write_text(json.dumps({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": rules} | more))
    return str(path)


@asynccontextmanager
async def audited(folder: Path, rules: Any = ALL, policy: Any = None, **flags: Any) -> AsyncIterator[Audited]:
    policy = {"omitStages": ["RequestReceived"]} if policy is None else policy
    path = await asyncio.to_thread(written, folder, rules, **policy)
    if "audit_webhook_config_file" not in flags:
        flags = {"audit_log_path": str(folder / "audit.log")} | flags
    server = Server(Config(port=0, audit_policy_file=path, controllers="", **flags))
    await server.start()
    try:
        async with aiohttp.ClientSession(headers={"Content-Type": "application/json"}) as session:
            yield Audited(folder, server, session)
    finally:
        await server.stop()
