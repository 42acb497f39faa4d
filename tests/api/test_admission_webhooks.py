"""Mutating and validating webhooks: their calls and the effect of their answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest
from aiohttp import web

from tests.api.calls import get, post
from tests.api.hooks import MAPS, MUTATING, VALIDATING, Hook, hooking, made
from tests.api.services import Certificate, certificate, reaching

__all__ = ["certificate"]
pytestmark = pytest.mark.program("openssl")


@pytest.fixture
async def hook(certificate: Certificate) -> AsyncIterator[Hook]:
    async with hooking(certificate) as found:
        yield found


@pytest.fixture
async def api(hook: Hook) -> AsyncIterator[aiohttp.ClientSession]:
    """Yield a client of a server that reaches the webhook as a service, too."""
    async with reaching(hook.port) as session:
        yield session


async def test_a_patch_becomes_part_of_the_object(api: aiohttp.ClientSession, hook: Hook) -> None:
    hook.patches({"op": "add", "path": "/data", "value": {"by": "hook"}})
    await post(api, MUTATING, hook.configuration())
    assert (await post(api, MAPS, made("a")))["data"] == {"by": "hook"}
    assert (await get(api, f"{MAPS}/a"))["data"] == {"by": "hook"}


async def test_a_service_is_reached_at_its_endpoint(api: aiohttp.ClientSession, hook: Hook) -> None:
    client = {"service": {"namespace": "system", "name": "hook", "path": "/x"}, "caBundle": hook.bundle}
    await post(api, VALIDATING, hook.configuration(clientConfig=client))
    await post(api, MAPS, made("a"))
    assert [seen["name"] for seen in hook.seen] == ["a"]


async def test_connections_are_used_again(api: aiohttp.ClientSession, hook: Hook) -> None:
    await post(api, VALIDATING, hook.configuration())
    for n in range(3):
        await post(api, MAPS, made(f"a{n}"))
    assert len(hook.seen) == 3
    assert len(hook.clients) == 1


async def test_no_credential_of_the_caller_is_sent(api: aiohttp.ClientSession, hook: Hook) -> None:
    await post(api, VALIDATING, hook.configuration())
    headers = {"Authorization": "Bearer secret", "Cookie": "a=b", "Impersonate-User": "admin"}
    async with api.post(MAPS, json=made("a"), headers={**headers, "Impersonate-Group": "system:masters"}) as answer:
        assert answer.status == 201, await answer.text()
    (sent,) = hook.headers
    assert not {"Authorization", "Cookie", "Impersonate-User"} & set(sent)


async def test_a_changed_configuration_leaves_calls_in_flight_alone(api: aiohttp.ClientSession, hook: Hook) -> None:
    go_on = asyncio.Event()

    async def late(request: web.Request) -> web.Response:
        await go_on.wait()
        review = await request.json()
        return web.json_response({**review, "response": {"uid": review["request"]["uid"], "allowed": True}})

    hook.whole = late
    await post(api, VALIDATING, hook.configuration())
    creating = asyncio.create_task(post(api, MAPS, made("a")))
    await hook.called.wait()
    async with api.delete(f"{VALIDATING}/w") as gone:
        assert gone.status == 200
    go_on.set()
    assert (await creating)["metadata"]["name"] == "a"
    await post(api, MAPS, made("b"))
    assert len(hook.seen) == 1


async def test_a_dry_run_needs_a_webhook_without_side_effects(api: aiohttp.ClientSession, hook: Hook) -> None:
    await post(api, VALIDATING, hook.configuration(sideEffects="NoneOnDryRun"))
    await post(api, f"{MAPS}?dryRun=All", made("a"))
    assert [seen["dryRun"] for seen in hook.seen] == [True]


async def test_configurations_themselves_are_never_sent(api: aiohttp.ClientSession, hook: Hook) -> None:
    hook.answer = lambda _: {"allowed": False}
    everything = [{"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"], "operations": ["*"]}]
    await post(api, VALIDATING, hook.configuration(rules=everything))
    await post(api, VALIDATING, hook.configuration("other"))
    async with api.delete(f"{VALIDATING}/w") as gone:
        assert gone.status == 200
    # What the server's controllers write at its start may be sent.
    configurations = [s for s in hook.seen if s["requestKind"]["group"] == "admissionregistration.k8s.io"]
    assert not configurations


async def test_reinvocation_is_for_webhooks_that_ask_for_it(api: aiohttp.ClientSession, hook: Hook) -> None:
    await post(api, MUTATING, hook.configuration("a", reinvocationPolicy="IfNeeded"))
    await post(api, MUTATING, hook.configuration("b"))
    await post(api, MAPS, made("x"))
    assert len(hook.seen) == 2
    hook.seen.clear()
    hook.patches({"op": "add", "path": "/data", "value": {"k": "v"}})
    hook.unless = lambda request: bool(request["object"].get("data")) or len(hook.seen) < 2
    await post(api, MAPS, made("y"))
    # The second has changed the object: the first is asked once more.
    assert [seen["object"].get("data") for seen in hook.seen] == [None, None, {"k": "v"}]


async def test_calls_are_counted(api: aiohttp.ClientSession, hook: Hook) -> None:
    hook.answer = lambda _: {"allowed": False, "status": {"code": 409}}
    await post(api, VALIDATING, hook.configuration())
    await post(api, MAPS, made("a"), 409)
    async with api.get("/metrics") as answer:
        text = await answer.text()
    labels = 'code="409",name="w.example.com",operation="CREATE",rejected="true",type="validating"'
    assert f"apiserver_admission_webhook_request_total{{{labels}}} 1\n" in text
    assert "# TYPE apiserver_admission_webhook_rejection_count counter" in text


@pytest.mark.parametrize(("status", "after", "calls"), [(429, "0", 3), (503, "0", 3), (500, None, 1), (404, "0", 1)])
async def test_a_webhook_that_asks_for_it_is_called_again(
    api: aiohttp.ClientSession, hook: Hook, status: int, after: str | None, calls: int
) -> None:
    """As client-go does (`rest/with_retry.go`): for 429 and 5xx with a Retry-After, until its time has passed."""
    headers = {} if after is None else {"Retry-After": after}

    async def busy(request: web.Request) -> web.StreamResponse:
        if len(hook.seen) == 2:
            hook.whole = None
        return web.Response(status=status, headers=headers)

    hook.whole = busy
    await post(api, VALIDATING, hook.configuration())
    await post(api, MAPS, made("a"), 201 if calls == 3 else 500)
    assert len(hook.seen) == calls
