"""A conversion webhook, and the definition that calls it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from hydrofoil.storage.log import Log
from tests.api.custom import THINGS, Object, definition, version
from tests.api.services import Certificate, listening, reaching

NEW = THINGS.replace("v1", "v2")


@dataclass(slots=True)
class Hook:
    """A webhook: `hostPort` of v1 is `host` and `port` of v2."""

    calls: list[Object] = field(default_factory=list)
    reviews: list[str] = field(default_factory=list)
    mode: str = ""
    port: int = 0
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, request: web.Request) -> web.Response:
        """Convert, or misbehave as configured."""
        review: Object = await request.json()
        asked = review["request"]
        self.reviews.append(review["apiVersion"])
        self.calls.append(asked)
        objects = [self._converted(o, asked["desiredAPIVersion"]) for o in asked["objects"]]
        if self.mode == "slow":
            await self.go_on.wait()
        result: Object = {"status": "Success"}
        match self.mode:
            case "fail":
                result, objects = {"status": "Failed", "message": "no port here"}, []
            case "short":
                objects = objects[1:]
            case "rename":
                objects[0]["metadata"]["name"] = "other"
            case "labels":
                objects[0]["metadata"] |= {"labels": {"l": "1"}, "finalizers": ["x.y/z"]}
            case "anonymous":
                return web.json_response({"response": {"result": result, "convertedObjects": objects}})
        response = {"uid": asked["uid"], "result": result, "convertedObjects": objects}
        text = json.dumps({**review, "request": None, "response": response})
        if self.mode == "beyond":
            # The last object has a number that no float holds.
            text = "1e309".join(text.rsplit('"1"', 1))
        return web.Response(text=text, content_type="application/json")

    @staticmethod
    def _converted(o: Object, to: str) -> Object:
        spec = o.get("spec", {})
        if to.endswith("v2"):
            host, _, port = spec["hostPort"].partition(":")
            spec = {"host": host, "port": port}
        else:
            spec = {"hostPort": f"{spec['host']}:{spec['port']}"}
        return {**o, "apiVersion": to, "spec": spec}


@pytest.fixture
async def hook(certificate: Certificate) -> AsyncIterator[Hook]:
    """Yield a listening webhook."""
    found = Hook()
    async with listening(certificate, "/convert", found.handle) as found.port:
        yield found


@pytest.fixture
async def client(hook: Hook, log: Log | None) -> AsyncIterator[aiohttp.ClientSession]:
    """Yield a client of a server that reaches the webhook as a service."""
    async with reaching(hook.port, log) as session:
        yield session


def hooked(certificate: Certificate, **client: Any) -> Object:
    """Return a definition whose versions are converted by webhook, v1 stored."""
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": {"caBundle": certificate[2], **client}}
    conversion = {"strategy": "Webhook", "webhook": webhook}
    return definition(version("v1", storage=True), version("v2"), conversion=conversion)
