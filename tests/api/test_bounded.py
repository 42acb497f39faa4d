"""Endless answers of webhooks and services: they cost no more than their bound, and the server reports it."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from hydrofoil.outbound import bounds
from tests.api.conversion import NEW, hooked
from tests.api.custom import CRDS, THINGS, call, thing
from tests.api.services import Certificate, certificate, listening, reaching

__all__ = ["certificate"]
pytestmark = pytest.mark.program("openssl")
Object = dict[str, Any]
BLANK = b" " * 65536
REGISTERED = "/apis/apiregistration.k8s.io/v1/apiservices"


class Hook:
    """A webhook that answers as configured; `gone` is set once its endless answer has no reader."""

    def __init__(self) -> None:
        self.mode = ""
        self.port = 0
        self.sent = 0
        self.gone = asyncio.Event()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answers one request."""
        match self.mode:
            case "long":
                return web.Response(headers={"Content-Length": str(1 << 30)})
            case "bomb":
                packed = gzip.compress(b" " * (64 << 20), 1)
                return web.Response(body=packed, headers={"Content-Encoding": "gzip"})
            case "null" | "[]" | "3":
                return web.Response(body=self.mode.encode(), content_type="application/json")
            case "head":
                return web.Response(headers={f"X-{i}": "a" for i in range(1000)})
        answer = web.StreamResponse()
        await answer.prepare(request)
        try:
            while True:
                await answer.write(BLANK)
                self.sent += len(BLANK)
        except (ConnectionError, asyncio.CancelledError):
            self.gone.set()
            raise


@pytest.fixture
async def hook(certificate: Certificate) -> AsyncIterator[Hook]:
    found = Hook()
    async with listening(certificate, "/convert", found.handle) as found.port:
        yield found


@pytest.fixture
async def client(hook: Hook, certificate: Certificate) -> AsyncIterator[aiohttp.ClientSession]:
    """Yield a client of a server with one object that the webhook has to convert."""
    where = {"namespace": "system", "name": "hook", "path": "/convert"}
    async with reaching(hook.port) as session:
        assert (await call(session, "POST", CRDS, hooked(certificate, service=where)))[0] == 201
        assert (await call(session, "POST", THINGS, thing("a", spec={"hostPort": "a:1"})))[0] == 201
        yield session


@pytest.mark.parametrize("mode", ["endless", "bomb"])
async def test_an_answer_without_end(client: aiohttp.ClientSession, hook: Hook, mode: str) -> None:
    hook.mode = mode
    status, answer = await call(client, "GET", f"{NEW}/a")
    assert status == 500
    assert "the answer is larger than 3" in answer["message"]
    if mode == "endless":
        async with asyncio.timeout(10):
            await hook.gone.wait()
        # The buffers of the sockets are on top.
        assert hook.sent < 32 << 20


async def test_null_is_an_empty_answer(client: aiohttp.ClientSession, hook: Hook) -> None:
    hook.mode = "null"
    status, answer = await call(client, "GET", f"{NEW}/a")
    wanted = "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got , Kind="
    assert (status, answer["message"]) == (500, f"conversion webhook for e.com/v1, Kind=Thing failed: {wanted}")


@pytest.mark.parametrize("mode", ["[]", "3"])
async def test_what_is_no_object(client: aiohttp.ClientSession, hook: Hook, mode: str) -> None:
    hook.mode = mode
    status, answer = await call(client, "GET", f"{NEW}/a")
    assert (status, answer["message"]) == (
        500,
        "conversion webhook for e.com/v1, Kind=Thing failed: the answer is no object",
    )


async def test_a_head_without_end(client: aiohttp.ClientSession, hook: Hook) -> None:
    hook.mode = "head"
    status, answer = await call(client, "GET", f"{NEW}/a")
    assert status == 500
    assert "Too many headers received" in answer["message"]


def test_the_bound_follows_the_request() -> None:
    assert bounds.review_bound(1, 100) == bounds.OBJECT + 800
    assert bounds.review_bound(2, 100 << 20) == 3 * bounds.OBJECT


@pytest.mark.parametrize("path", ["/openapi/v3", "/apis", "/apis/wardle.example.com/v1"])
async def test_documents_without_end(certificate: Certificate, path: str) -> None:
    """A service whose documents do not end, both discovery and the one its availability is seen by: no more is read."""
    gone: dict[str, asyncio.Event] = {path: asyncio.Event()}
    sent = 0

    async def handle(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        if request.path == "/apis/wardle.example.com/v1" and request.path not in gone:
            resources = [{"name": "flunders", "kind": "Flunder", "namespaced": True, "verbs": ["get"]}]
            return web.json_response({"kind": "APIResourceList", "resources": resources})
        if request.path not in gone:
            return web.json_response({}, status=404)
        answer = web.StreamResponse()
        await answer.prepare(request)
        try:
            while request.transport is not None and not request.transport.is_closing():
                await answer.write(BLANK)
                sent += len(BLANK)
                # Writing to a connection that has broken does not wait.
                await asyncio.sleep(0)
            raise ConnectionResetError
        except (ConnectionError, asyncio.CancelledError):
            gone[request.path].set()
            raise

    spec = {"group": "wardle.example.com", "version": "v1", "groupPriorityMinimum": 2000, "versionPriority": 10}
    spec |= {"service": {"namespace": "system", "name": "hook"}, "caBundle": certificate[2]}
    body = {"metadata": {"name": "v1.wardle.example.com"}, "spec": spec}
    async with listening(certificate, "/{tail:.*}", handle) as port, reaching(port) as api:
        assert (await call(api, "POST", REGISTERED, body))[0] == 201
        async with asyncio.timeout(20):
            await gone[path].wait()
        assert sent < 3 * bounds.DOCUMENT
        groups = [g["name"] for g in (await call(api, "GET", "/apis"))[1]["groups"]]
        assert "wardle.example.com" in groups
