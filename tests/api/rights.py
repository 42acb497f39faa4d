"""A server that asks for credentials, and requests of its users."""

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
from hydrofoil.storage.log import Log

TOKENS = """\
admin-token,admin,admin-uid,system:masters
ada-token,ada,ada-uid,crew
bob-token,bob,bob-uid
"""
RBAC = "/apis/rbac.authorization.k8s.io/v1"
GROUP = "rbac.authorization.k8s.io"
Body = dict[str, Any]
Answered = tuple[int, Any]


class Guarded:
    """A server with static tokens: admin is in system:masters, ada and bob have what tests bind to them."""

    def __init__(self, server: Server, session: aiohttp.ClientSession) -> None:
        self.server = server
        self._session = session

    async def ask(
        self, user: str, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Answered:
        """Return status and body of a request of a user; without a name it has no credential."""
        async with self.begun(user, method, path, body, headers) as r:
            text = await r.text()
            try:
                return r.status, json.loads(text)
            except ValueError:
                return r.status, text

    @asynccontextmanager
    async def begun(
        self, user: str, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Yield the answer to a request once it begins."""
        sent = {"Content-Type": "application/json"} | (headers or {})
        if user:
            sent["Authorization"] = f"Bearer {user}-token"
        data = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
        # The path is sent as it is written here.
        url = URL(self.server.url + path, encoded=True)
        async with self._session.request(method, url, data=data, headers=sent, allow_redirects=False) as r:
            yield r

    async def make(self, path: str, body: Body) -> Body:
        """Create an object as the administrator."""
        status, made = await self.ask("admin", "POST", path, body)
        assert status == 201, made
        return dict(made)

    async def allow(self, user: str, name: str, *rules: Body, namespace: str = "") -> None:
        """Make a role and bind it to a user."""
        base = f"{RBAC}/namespaces/{namespace}/" if namespace else f"{RBAC}/cluster"
        kind = "Role" if namespace else "ClusterRole"
        await self.make(f"{base}roles", {"metadata": {"name": name}, "rules": list(rules)})
        await self.make(f"{base}rolebindings", bound(name, kind, user))


def rule(verbs: str, resources: str, group: str = "", **more: list[str]) -> Body:
    """A rule with verbs and resources in words."""
    return {"verbs": verbs.split(), "apiGroups": [group], "resources": resources.split(), **more}


def bound(name: str, kind: str, user: str, role: str = "") -> Body:
    """A binding of a role to a user."""
    reference = {"apiGroup": GROUP, "kind": kind, "name": role or name}
    return {"metadata": {"name": name}, "roleRef": reference, "subjects": [{"kind": "User", "name": user}]}


@asynccontextmanager
async def guarded(folder: Path, log: Log | None = None, **settings: Any) -> AsyncIterator[Guarded]:
    """Run a server that asks for credentials."""
    tokens = folder / "tokens.csv"
    await asyncio.to_thread(tokens.write_text, TOKENS)
    async with opened(log, token_auth_file=str(tokens), **settings) as made:
        yield made


@asynccontextmanager
async def opened(log: Log | None = None, **settings: Any) -> AsyncIterator[Guarded]:
    """Run a server with settings, by default without controllers."""
    config = Config(port=0, controllers="").replaced(**settings)
    server = Server(config, log)
    await server.start()
    try:
        async with aiohttp.ClientSession() as session:
            yield Guarded(server, session)
    finally:
        await server.stop()
