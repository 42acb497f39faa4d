"""An admission webhook that answers as a test requires, and the configurations that name it."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from tests.api.services import Certificate, listening

Object = dict[str, Any]
GROUP = "/apis/admissionregistration.k8s.io/v1"
MUTATING, VALIDATING = (f"{GROUP}/{kind}webhookconfigurations" for kind in ("mutating", "validating"))
MAPS = "/api/v1/namespaces/default/configmaps"
CREATES = [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE", "UPDATE"]}]


class Hook:
    """A webhook; `answer` returns the response to a request, over one that allows it."""

    def __init__(self, certificate: Certificate) -> None:
        self.bundle = certificate[2]
        self.port = 0
        self.seen: list[Object] = []
        self.headers: list[dict[str, str]] = []
        self.answer: Callable[[Object], Object] = lambda _: {}
        self.whole: Callable[[web.Request], Awaitable[web.StreamResponse]] | None = None
        """The handler that answers instead."""
        self.unless: Callable[[Object], bool] = lambda _: False
        """Which requests are allowed without more."""
        self.clients: set[object] = set()
        self.called = asyncio.Event()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one call."""
        self.headers.append(dict(request.headers))
        assert request.transport is not None
        self.clients.add(request.transport.get_extra_info("peername"))
        review = await request.json()
        self.seen.append(review["request"])
        self.called.set()
        if self.whole is not None:
            return await self.whole(request)
        more = {} if self.unless(review["request"]) else self.answer(review["request"])
        response = {"uid": review["request"]["uid"], "allowed": True} | more
        return web.json_response({**review, "request": None, "response": response})

    def patches(self, *operations: Object) -> None:
        """Answer with a patch from now on."""
        patch = base64.b64encode(json.dumps(operations).encode()).decode()
        self.answer = lambda _: {"patch": patch, "patchType": "JSONPatch"}

    def configuration(self, name: str = "w", **members: Any) -> Object:
        """Return a configuration with this webhook."""
        hook = {
            "name": f"{name}.example.com",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "clientConfig": {"url": f"https://127.0.0.1:{self.port}/hook", "caBundle": self.bundle},
            "rules": CREATES,
        }
        return {"metadata": {"name": name}, "webhooks": [hook | members]}


@asynccontextmanager
async def hooking(certificate: Certificate) -> AsyncIterator[Hook]:
    """Run a webhook."""
    hook = Hook(certificate)
    async with listening(certificate, "/{path:.*}", hook.handle) as hook.port:
        yield hook


def made(name: str, **members: Any) -> Object:
    """Return a config map."""
    return {"metadata": {"name": name, **members.pop("metadata", {})}, **members}
