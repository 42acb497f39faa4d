"""Conversion by webhook over TLS (CRD-28 to CRD-48)."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack

import aiohttp
import pytest

from tests.api.conversion import NEW, Hook, client, hook, hooked
from tests.api.custom import CRDS, OPEN, THINGS, Object, call, definition, thing, until, version
from tests.api.services import Certificate, certificate

__all__ = ["certificate", "client", "hook"]


pytestmark = pytest.mark.program("openssl")


async def test_a_list_is_converted_in_one_call_and_kept(
    client: aiohttp.ClientSession, hook: Hook, certificate: Certificate
) -> None:
    made = hooked(certificate, service={"namespace": "system", "name": "hook", "path": "/convert"})
    assert (await call(client, "POST", CRDS, made))[0] == 201
    names = [f"t{i}" for i in range(10)]
    for name in names:
        assert (await call(client, "POST", THINGS, thing(name, spec={"hostPort": f"{name}:80"})))[0] == 201
    assert hook.calls == []
    _, listed = await call(client, "GET", NEW)
    assert [o["spec"] for o in listed["items"]] == [{"host": name, "port": "80"} for name in names]
    assert [len(c["objects"]) for c in hook.calls] == [10]
    await call(client, "GET", NEW)
    assert len(hook.calls) == 1
    async with client.get(f"{NEW}?watch=1&timeoutSeconds=1") as stream:
        assert (await stream.text()).count('"port":"80"') == 10
    assert len(hook.calls) == 1


async def test_writes_go_to_the_store_in_its_version(
    client: aiohttp.ClientSession, hook: Hook, certificate: Certificate
) -> None:
    await call(client, "POST", CRDS, hooked(certificate, url=f"https://127.0.0.1:{hook.port}/convert"))
    async with client.get(f"{NEW}?watch=1&timeoutSeconds=2") as stream:
        new = thing("a", "e.com/v2", spec={"host": "h", "port": "1"})
        status, shown = await call(client, "POST", NEW, new)
        assert (status, shown["spec"], shown["apiVersion"]) == (201, {"host": "h", "port": "1"}, "e.com/v2")
        assert (await call(client, "GET", f"{THINGS}/a"))[1]["spec"] == {"hostPort": "h:1"}
        media = {"Content-Type": "application/merge-patch+json"}
        _, patched = await call(client, "PATCH", f"{NEW}/a", {"spec": {"port": "2"}}, **media)
        assert patched["spec"] == {"host": "h", "port": "2"}
        text = await stream.text()
    assert [line.count('"port":"') for line in text.splitlines()] == [1, 1]
    dry = thing("dry", "e.com/v2", spec={"host": "h", "port": "1"})
    _, shown = await call(client, "POST", f"{NEW}?dryRun=All", dry)
    assert shown["spec"] == {"host": "h", "port": "1"}
    assert (await call(client, "DELETE", f"{NEW}/a"))[0] == 200


async def test_a_dry_run_shows_what_the_webhook_leaves(
    client: aiohttp.ClientSession, hook: Hook, certificate: Certificate
) -> None:
    """An object is encoded and decoded as if it were stored (`DryRunnableStorage.copyInto`)."""
    await call(client, "POST", CRDS, hooked(certificate, url=f"https://127.0.0.1:{hook.port}/convert"))
    kept = {"host": "h", "port": "1"}
    body = thing("a", "e.com/v2", spec={**kept, "lost": "x"})
    for query in ("?dryRun=All", ""):
        status, shown = await call(client, "POST", NEW + query, body)
        assert (status, shown["apiVersion"], shown["spec"]) == (201, "e.com/v2", kept)
    assert shown["metadata"]["generation"] == 1
    apply = {"Content-Type": "application/apply-patch+yaml"}
    dry = f"{NEW}/a?dryRun=All&fieldManager=m&force=true"
    status, shown = await call(client, "PATCH", dry, body, **apply)
    assert (status, shown["apiVersion"], shown["spec"]) == (200, "e.com/v2", kept)
    merge = {"Content-Type": "application/merge-patch+json"}
    status, shown = await call(client, "PATCH", f"{NEW}/a?dryRun=All", {"spec": {"lost": "y"}}, **merge)
    assert (status, shown["spec"]) == (200, kept)
    hook.mode = "fail"
    status, refused = await call(client, "PATCH", f"{NEW}/a?dryRun=All", {"spec": {"lost": "y"}}, **merge)
    assert (status, refused["message"][-12:]) == (500, "no port here")


async def test_wrong_answers_fail_the_request_and_nothing_else(
    client: aiohttp.ClientSession, hook: Hook, certificate: Certificate
) -> None:
    await call(client, "POST", CRDS, hooked(certificate, url=f"https://127.0.0.1:{hook.port}/convert"))
    await call(client, "POST", THINGS, thing("a", spec={"hostPort": "h:1"}))
    head = "conversion webhook for e.com/v1, Kind=Thing"
    texts = {
        "fail": f"{head} failed: no port here",
        "short": f"{head} returned 0 objects, expected 1",
        "rename": f"{head} returned invalid object: must have the same name: a != other",
    }
    for hook.mode, expected in texts.items():
        status, refused = await call(client, "GET", f"{NEW}/a")
        assert (status, refused["message"]) == (500, expected)
        assert (await call(client, "GET", f"{THINGS}/a"))[0] == 200
    hook.mode = "labels"
    _, shown = await call(client, "GET", f"{NEW}/a")
    assert shown["metadata"]["labels"] == {"l": "1"}
    assert "finalizers" not in shown["metadata"]


async def test_reviews_of_v1beta1_are_less_strict(
    client: aiohttp.ClientSession, hook: Hook, certificate: Certificate
) -> None:
    """CRD-48: neither type nor uid of an answer is looked at (`getConvertedObjectsFromResponse`)."""
    made = hooked(certificate, url=f"https://127.0.0.1:{hook.port}/convert")
    review = made["spec"]["conversion"]["webhook"]
    review["conversionReviewVersions"] = ["v9", "v1beta1", "v1"]
    await call(client, "POST", CRDS, made)
    await call(client, "POST", THINGS, thing("a", spec={"hostPort": "h:1"}))
    hook.mode = "anonymous"
    status, shown = await call(client, "GET", f"{NEW}/a")
    assert (status, shown["spec"]) == (200, {"host": "h", "port": "1"})
    assert (hook.reviews, hook.calls[0]["desiredAPIVersion"]) == (["apiextensions.k8s.io/v1beta1"], "e.com/v2")


async def test_a_webhook_that_is_not_trusted_is_not_asked(
    client: aiohttp.ClientSession, hook: Hook, certificate: Certificate
) -> None:
    other = hooked(certificate, url=f"https://127.0.0.1:{hook.port}/convert")
    del other["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"]
    await call(client, "POST", CRDS, other)
    await call(client, "POST", THINGS, thing("a", spec={"hostPort": "h:1"}))
    status, refused = await call(client, "GET", f"{NEW}/a")
    assert status == 500
    assert refused["message"].startswith("conversion webhook for e.com/v1, Kind=Thing failed: Post ")
    assert hook.calls == []


async def test_none_changes_the_version_only(api: aiohttp.ClientSession) -> None:
    await call(api, "POST", CRDS, definition(version("v1", storage=True), version("v2", schema=OPEN)))
    _, old = await call(api, "POST", THINGS, thing("a", x={"deep": [1, None]}))
    _, new = await call(api, "GET", f"{NEW}/a")
    assert {**old, "apiVersion": "e.com/v2"} == new


def at_hook(certificate: Certificate, hook: Hook) -> Object:
    return hooked(certificate, url=f"https://127.0.0.1:{hook.port}/convert")


async def test_a_write_is_converted_once_for_all_watches(
    client: aiohttp.ClientSession, hook: Hook, certificate: Certificate
) -> None:
    """One call a version and form, which all who wait for it share."""
    await call(client, "POST", CRDS, at_hook(certificate, hook))
    async with AsyncExitStack() as stack:
        streams = [await stack.enter_async_context(client.get(f"{NEW}?watch=1")) for _ in range(20)]
        await call(client, "POST", THINGS, thing("t", spec={"hostPort": "h:80"}))
        for stream in streams:
            event = json.loads(await stream.content.readline())
            assert (event["type"], event["object"]["spec"]) == ("ADDED", {"host": "h", "port": "80"})
    assert [len(c["objects"]) for c in hook.calls] == [1]


async def test_readers_share_a_call_and_its_failure(
    client: aiohttp.ClientSession, hook: Hook, certificate: Certificate
) -> None:
    await call(client, "POST", CRDS, at_hook(certificate, hook))
    await call(client, "POST", THINGS, thing("t", spec={"hostPort": "h:80"}))
    hook.mode = "slow"
    reads = [asyncio.create_task(call(client, "GET", f"{NEW}/t")) for _ in range(10)]

    async def asked() -> bool:
        return bool(hook.calls)

    await until(asked)
    for _ in range(20):
        await asyncio.sleep(0)
    hook.mode = "fail"
    hook.go_on.set()
    assert {status for status, _ in await asyncio.gather(*reads)} == {500}
    assert len(hook.calls) < 10


async def test_a_stream_whose_first_event_cannot_be_converted_is_one_answer(
    client: aiohttp.ClientSession, hook: Hook, certificate: Certificate
) -> None:
    """The head is sent once the first event can be shown: no second answer is in the body of the first."""
    await call(client, "POST", CRDS, at_hook(certificate, hook))
    await call(client, "POST", THINGS, thing("t", spec={"hostPort": "h:80"}))
    hook.mode = "fail"
    async with client.get(f"{NEW}?watch=1&timeoutSeconds=5") as stream:
        text = await stream.text()
    assert "HTTP/1.1" not in text
    assert text.count("\n") == 1
    found = json.loads(text)
    assert found.get("type") == "ERROR" or found["kind"] == "Status"


async def test_a_stream_that_cannot_go_on_tells_why_and_ends(
    client: aiohttp.ClientSession, hook: Hook, certificate: Certificate
) -> None:
    await call(client, "POST", CRDS, at_hook(certificate, hook))
    async with client.get(f"{NEW}?watch=1&timeoutSeconds=5") as stream:
        hook.mode = "fail"
        await call(client, "POST", THINGS, thing("t", spec={"hostPort": "h:80"}))
        lines = [json.loads(line) async for line in stream.content]
    assert [(e["type"], e["object"]["code"]) for e in lines] == [("ERROR", 500)]
    assert "no port here" in lines[0]["object"]["message"]
    hook.mode = ""
    async with client.get(f"{NEW}?watch=1&timeoutSeconds=5") as stream:
        assert json.loads(await stream.content.readline())["type"] == "ADDED"


async def test_calls_in_flight_end_on_the_webhook_they_began_with(
    client: aiohttp.ClientSession, hook: Hook, certificate: Certificate
) -> None:
    """CRD-27: a definition may be changed while objects are read in two versions."""
    await call(client, "POST", CRDS, at_hook(certificate, hook))
    await call(client, "POST", THINGS, thing("t", spec={"hostPort": "h:80"}))
    hook.mode = "slow"
    reading = asyncio.create_task(call(client, "GET", f"{NEW}/t"))

    async def asked() -> bool:
        return bool(hook.calls)

    await until(asked)
    _, found = await call(client, "GET", f"{CRDS}/things.e.com")
    found["spec"]["conversion"]["webhook"]["conversionReviewVersions"] = ["v1", "v1beta1"]
    for one in found["spec"]["versions"]:
        one["storage"] = one["name"] == "v2"
    status, answer = await call(client, "PUT", f"{CRDS}/things.e.com", found)
    assert status == 200, answer
    hook.go_on.set()
    status, shown = await reading
    assert (status, shown["spec"]) == (200, {"host": "h", "port": "80"})
    assert (await call(client, "GET", f"{NEW}/t"))[0] == 200
