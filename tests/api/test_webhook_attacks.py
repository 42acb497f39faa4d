"""Hostile webhooks: they cost their caller an error, and other users nothing."""

from __future__ import annotations

import asyncio
import gzip
import statistics
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from hydrofoil.clock import stopwatch
from tests.api.calls import get, post
from tests.api.hooks import MAPS, MUTATING, VALIDATING, Hook, hooking, made
from tests.api.services import Certificate, certificate, reaching

__all__ = ["certificate"]
pytestmark = pytest.mark.program("openssl")
SECRETS = "/api/v1/namespaces/default/secrets"


@pytest.fixture
async def hook(certificate: Certificate) -> AsyncIterator[Hook]:
    async with hooking(certificate) as found:
        yield found


@pytest.fixture
async def api(hook: Hook) -> AsyncIterator[aiohttp.ClientSession]:
    async with reaching(hook.port) as session:
        yield session


async def median(api: aiohttp.ClientSession) -> float:
    """Return the median time of a request of another user."""
    times = []
    for _ in range(15):
        begun = stopwatch()
        await get(api, SECRETS)
        times.append(stopwatch() - begun)
    return statistics.median(times)


async def refused(api: aiohttp.ClientSession, hook: Hook, quiet: float) -> str:
    """Create an object that the webhook is asked about, while another user continues; return the error."""
    creating = asyncio.create_task(post(api, MAPS, made("a"), 500))
    await hook.called.wait()
    assert await median(api) < 20 * quiet + 0.002
    message: str = (await creating)["message"]
    assert message.startswith('Internal error occurred: failed calling webhook "w.example.com": ')
    return message


async def test_a_redirect_is_not_followed(api: aiohttp.ClientSession, hook: Hook) -> None:
    async def redirect(request: web.Request) -> web.StreamResponse:
        return web.Response(status=307, headers={"Location": f"https://127.0.0.1:{hook.port}/secret"})

    hook.whole = redirect
    quiet = await median(api)
    await post(api, VALIDATING, hook.configuration())
    assert "webhook response was absent" in await refused(api, hook, quiet)
    assert len(hook.seen) == 1


@pytest.mark.parametrize("packed", [False, True])
async def test_a_huge_answer_is_cut_off(api: aiohttp.ClientSession, hook: Hook, packed: bool) -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        if packed:
            return web.Response(body=gzip.compress(b" " * (64 << 20), 1), headers={"Content-Encoding": "gzip"})
        answer = web.StreamResponse()
        await answer.prepare(request)
        # Bounded here only for the sake of the test.
        for _ in range((1 << 30) >> 16):
            await answer.write(b" " * (1 << 16))
        return answer

    hook.whole = endless
    quiet = await median(api)
    await post(api, VALIDATING, hook.configuration())
    assert "larger than 3145728 bytes" in await refused(api, hook, quiet)


async def test_a_webhook_that_never_answers_has_its_time(api: aiohttp.ClientSession, hook: Hook) -> None:
    done = asyncio.Event()

    async def never(request: web.Request) -> web.StreamResponse:
        await done.wait()
        return web.Response()

    hook.whole = never
    quiet = await median(api)
    await post(api, VALIDATING, hook.configuration(timeoutSeconds=1))
    assert "context deadline exceeded" in await refused(api, hook, quiet)
    done.set()


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("/metadata/namespace", "kube-system", 400),
        ("/metadata/resourceVersion", "7", 500),
        ("/kind", "Secret", 500),
        ("/apiVersion", "v9", 500),
        ("/metadata", [], 500),
        ("/data", {"a": {"b": "c"}}, 500),
    ],
)
async def test_a_new_object_stays_what_it_is(
    api: aiohttp.ClientSession, hook: Hook, path: str, value: Any, code: int
) -> None:
    hook.patches({"op": "add", "path": path, "value": value})
    await post(api, MUTATING, hook.configuration())
    await post(api, MAPS, made("a"), code)
    async with api.get(f"{MAPS}/a") as answer:
        assert answer.status == 404


async def test_the_server_sets_uid_and_time_of_a_new_object(api: aiohttp.ClientSession, hook: Hook) -> None:
    hook.patches(
        {"op": "add", "path": "/metadata/uid", "value": "mine"},
        {"op": "add", "path": "/metadata/creationTimestamp", "value": "2001-01-01T00:00:00Z"},
        {"op": "add", "path": "/metadata/deletionTimestamp", "value": "2001-01-01T00:00:00Z"},
    )
    await post(api, MUTATING, hook.configuration())
    meta = (await post(api, MAPS, made("a")))["metadata"]
    assert meta["uid"] != "mine"
    assert not meta["creationTimestamp"].startswith("2001")


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("/metadata/name", "other", 422),
        ("/metadata/uid", "other", 422),
        ("/metadata/namespace", "kube-system", 400),
        ("/metadata/resourceVersion", "1", 409),
    ],
)
async def test_an_updated_object_stays_itself(
    api: aiohttp.ClientSession, hook: Hook, path: str, value: str, code: int
) -> None:
    before = await post(api, MAPS, made("a"))
    hook.patches({"op": "add", "path": path, "value": value})
    await post(api, MUTATING, hook.configuration())
    async with api.put(f"{MAPS}/a", json=made("a", data={"k": "v"})) as answer:
        assert answer.status == code, await answer.text()
    after = await get(api, f"{MAPS}/a")
    assert (after["metadata"], "data" in after) == (before["metadata"], False)
    async with api.get(f"{MAPS}/other") as answer:
        assert answer.status == 404


async def test_a_webhook_that_calls_the_server_back_is_answered(api: aiohttp.ClientSession, hook: Hook) -> None:
    found: list[int] = []

    async def back(request: web.Request) -> web.StreamResponse:
        review = await request.json()
        async with api.get(MAPS) as answer:
            found.append(answer.status)
        response = {"uid": review["request"]["uid"], "allowed": True}
        return web.json_response({**review, "request": None, "response": response})

    hook.whole = back
    await post(api, VALIDATING, hook.configuration())
    await post(api, MAPS, made("a"))
    assert found == [200]


async def test_a_patch_of_ten_thousand_operations_leaves_the_loop_to_others(
    api: aiohttp.ClientSession, hook: Hook
) -> None:
    hook.patches(
        {"op": "add", "path": "/data", "value": {}}, *[{"op": "test", "path": "/kind", "value": "ConfigMap"}] * 9000
    )
    await post(api, MUTATING, hook.configuration())
    assert (await post(api, MAPS, made("a")))["metadata"]["name"] == "a"
