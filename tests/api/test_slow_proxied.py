"""Proxied requests have the deadline of all others (`WithTimeoutForNonLongRunningRequests`); watches have none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest
from aiohttp import web

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.aggregation import SERVICES, WARDLE, condition, reached, service
from tests.api.custom import call
from tests.api.services import Certificate, certificate, listening

__all__ = ["certificate"]
pytestmark = pytest.mark.program("openssl")
BLANK = b" " * 65536


class Dawdler:
    """A service that takes its time; `gone` is set when its answer is not read any more."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()
        self.over = asyncio.Event()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answers documents at once, `/silent` never, everything else without end."""
        if not request.path.startswith(f"{WARDLE}/"):
            return web.json_response({"resources": []})
        try:
            if request.path.endswith("/silent"):
                await self.over.wait()
                return web.Response()
            answer = web.StreamResponse()
            await answer.prepare(request)
            while True:
                await answer.write(BLANK if "full" in request.query else b"one\n")
                await asyncio.sleep(0 if "full" in request.query else 0.1)
        except (ConnectionError, asyncio.CancelledError):
            self.gone.set()
            raise


@pytest.fixture
async def dawdler(certificate: Certificate) -> AsyncIterator[tuple[Dawdler, Server, aiohttp.ClientSession]]:
    """Yield a service, the server before it that waits for half a second, and a client."""
    found = Dawdler()
    async with listening(certificate, "/{tail:.*}", found.handle) as port:
        where = {"system/hook": f"127.0.0.1:{port}"}
        server = Server(Config(port=0, controllers="", request_timeout=0.5, service_endpoints=where))
        await server.start()
        async with aiohttp.ClientSession(server.url, headers={"Content-Type": "application/json"}) as api:
            assert (await call(api, "POST", SERVICES, service(certificate)))[0] == 201
            await reached(api, "v1.wardle.example.com", lambda body: condition(body)[0] == "True")
            yield found, server, api
        await server.stop()
        found.over.set()


Found = tuple[Dawdler, Server, aiohttp.ClientSession]


async def test_a_service_that_says_nothing_is_a_timeout(dawdler: Found) -> None:
    status, answer = await call(dawdler[2], "GET", f"{WARDLE}/silent")
    text = "Timeout: request did not complete within the allotted timeout"
    assert (status, answer["reason"], answer["message"]) == (504, "Timeout", text)


async def test_an_answer_that_takes_too_long_is_cut_off(dawdler: Found) -> None:
    async with dawdler[2].get(f"{WARDLE}/slow") as r:
        assert r.status == 200
        with pytest.raises(aiohttp.ClientError):
            await r.read()


async def test_a_watch_goes_on(dawdler: Found) -> None:
    begun = asyncio.get_running_loop().time()
    async with asyncio.timeout(10), dawdler[2].get(f"{WARDLE}/things?watch=1") as r:
        while asyncio.get_running_loop().time() < begun + 1.5:
            assert await r.content.readline() == b"one\n"


async def test_a_watch_that_nobody_reads_is_cut_off(dawdler: Found) -> None:
    service, _, api = dawdler
    async with api.get(f"{WARDLE}/things?watch=1&full=1") as r:
        assert r.status == 200
        async with asyncio.timeout(20):
            await service.gone.wait()
