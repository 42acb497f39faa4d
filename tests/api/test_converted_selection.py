"""Field selectors of custom resources that are converted before they are selected (CRD-25, CRD-34).

Upstream keeps a cache a version, of converted objects (`crdConversionRESTOptionsGetter`): a selector sees what its
version shows. The shape is that of apiextensions-apiserver's `TestSelectableFields`.
"""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import orjson
import pytest

from tests.api.conversion import NEW, Hook, client, hook, hooked
from tests.api.custom import CRDS, THINGS, Object, call, definition, thing, version
from tests.api.services import Certificate, certificate

__all__ = ["certificate", "client", "hook"]
TEXT = {"type": "string"}
MERGE = {"Content-Type": "application/merge-patch+json"}
hooks = pytest.mark.program("openssl")


def spec(*names: str, **more: Any) -> Object:
    """Return a version's schema and labels: texts in `spec`, to select by."""
    properties = {"spec": {"type": "object", "properties": dict.fromkeys(names, TEXT) | more}}
    labels = [{"jsonPath": f".spec.{name}"} for name in names]
    return {"schema": {"type": "object", "properties": properties}, "selectableFields": labels}


async def prepare(client: aiohttp.ClientSession, hook: Hook, certificate: Certificate, ports: str) -> None:
    """Objects a, b, c, ... of v1, `hostPort` with a port each, by a definition whose v2 selects by host and port."""
    made = hooked(certificate, url=f"https://127.0.0.1:{hook.port}/convert")
    old, new = version("v1", storage=True, **spec("hostPort")), version("v2", **spec("host", "port"))
    made["spec"]["versions"] = [old, new]
    assert (await call(client, "POST", CRDS, made))[0] == 201
    for name, port in zip("abcdefgh", ports, strict=False):
        assert (await call(client, "POST", THINGS, thing(name, spec={"hostPort": f"{name}:{port}"})))[0] == 201


async def names(client: aiohttp.ClientSession, query: str) -> list[str]:
    """Return the names in a list of v2."""
    _, listed = await call(client, "GET", f"{NEW}?{query}")
    return [o["metadata"]["name"] for o in listed["items"]]


@hooks
async def test_a_list_selects_what_it_shows(
    client: aiohttp.ClientSession, hook: Hook, certificate: Certificate
) -> None:
    await prepare(client, hook, certificate, "121211")
    assert await names(client, "fieldSelector=spec.port%3D1") == ["a", "c", "e", "f"]
    assert [len(c["objects"]) for c in hook.calls] == [6]
    assert await names(client, "fieldSelector=spec.port!%3D1") == ["b", "d"]
    assert await names(client, "fieldSelector=spec.port%3D1,metadata.name%3Dc") == ["c"]
    assert await names(client, "fieldSelector=spec.port%3D2,metadata.name%3Dc") == []
    assert len(hook.calls) == 1
    status, refused = await call(client, "GET", f"{THINGS}?fieldSelector=spec.port%3D1")
    assert (status, refused["message"]) == (400, "field label not supported: spec.port")
    _, stored = await call(client, "GET", f"{THINGS}?fieldSelector=spec.hostPort%3Da:1")
    assert ([o["metadata"]["name"] for o in stored["items"]], len(hook.calls)) == (["a"], 1)


@hooks
async def test_pages_hold_as_many_selected_objects_as_they_may(
    client: aiohttp.ClientSession, hook: Hook, certificate: Certificate
) -> None:
    await prepare(client, hook, certificate, "2122111")
    seen, token = list[list[str]](), ""
    while token or not seen:
        _, page = await call(client, "GET", f"{NEW}?limit=2&fieldSelector=spec.port%3D1&continue={token}")
        seen.append([o["metadata"]["name"] for o in page["items"]])
        token = page["metadata"]["continue"]
    assert seen == [["b", "e"], ["f", "g"]]
    as_table = {"Accept": "application/json;as=Table;g=meta.k8s.io;v=v1"}
    _, table = await call(client, "GET", f"{NEW}?limit=3&fieldSelector=spec.port%3D1", **as_table)
    assert [row["cells"][0] for row in table["rows"]] == ["b", "e", "f"]


@hooks
async def test_what_nobody_asked_for_is_not_converted(
    client: aiohttp.ClientSession, hook: Hook, certificate: Certificate
) -> None:
    """A table of a part of the objects needs that part alone."""
    await prepare(client, hook, certificate, "1111")
    as_table = {"Accept": "application/json;as=Table;g=meta.k8s.io;v=v1"}
    status, table = await call(client, "GET", f"{NEW}?limit=2&includeObject=Object", **as_table)
    assert (status, [row["object"]["spec"]["host"] for row in table["rows"]]) == (200, ["a", "b"])
    assert [len(c["objects"]) for c in hook.calls] == [2]


@hooks
async def test_a_watch_tells_who_enters_and_who_leaves(
    client: aiohttp.ClientSession, hook: Hook, certificate: Certificate
) -> None:
    await prepare(client, hook, certificate, "12")
    events = list[tuple[str, str, str]]()
    async with client.get(f"{NEW}?watch=1&timeoutSeconds=10&fieldSelector=spec.port%3D1") as stream:

        async def next_event() -> tuple[str, str, str]:
            async with asyncio.timeout(30):
                event = orjson.loads(await stream.content.readline())
            shown = event["object"]
            return event["type"], shown["metadata"]["name"], shown["spec"]["host"] + shown["spec"]["port"]

        events.append(await next_event())
        for name, host in (("b", "x:1"), ("b", "y:1"), ("a", "z:2")):
            patch = {"spec": {"hostPort": host}}
            assert (await call(client, "PATCH", f"{THINGS}/{name}", patch, **MERGE))[0] == 200
        new = thing("c", "e.com/v2", spec={"host": "c", "port": "1"})
        assert (await call(client, "POST", NEW, new))[0] == 201
        for name in "ac":
            assert (await call(client, "DELETE", f"{THINGS}/{name}"))[0] == 200
        events += [await next_event() for _ in range(5)]
    assert events == [
        ("ADDED", "a", "a1"),
        ("ADDED", "b", "x1"),
        ("MODIFIED", "b", "y1"),
        ("DELETED", "a", "a1"),
        ("ADDED", "c", "c1"),
        ("DELETED", "c", "c1"),
    ]


@hooks
async def test_what_a_selector_names_is_deleted(
    client: aiohttp.ClientSession, hook: Hook, certificate: Certificate
) -> None:
    await prepare(client, hook, certificate, "1212")
    status, gone = await call(client, "DELETE", f"{NEW}?fieldSelector=spec.port%3D2")
    assert (status, [o["metadata"]["name"] for o in gone["items"]]) == (200, ["b", "d"])
    assert await names(client, "") == ["a", "c"]


@hooks
async def test_objects_of_the_storage_version_before_are_converted_too(
    client: aiohttp.ClientSession, hook: Hook, certificate: Certificate
) -> None:
    await prepare(client, hook, certificate, "12")
    _, found = await call(client, "GET", f"{CRDS}/things.e.com")
    for one in found["spec"]["versions"]:
        one["storage"] = one["name"] == "v2"
    assert (await call(client, "PUT", f"{CRDS}/things.e.com", found))[0] == 200
    assert (await call(client, "POST", NEW, thing("c", "e.com/v2", spec={"host": "c", "port": "1"})))[0] == 201
    assert await names(client, "fieldSelector=spec.port%3D1") == ["a", "c"]
    _, old = await call(client, "GET", f"{THINGS}?fieldSelector=spec.hostPort%3Dc:1")
    assert [o["metadata"]["name"] for o in old["items"]] == ["c"]


async def test_defaults_are_selected_by(api: aiohttp.ClientSession) -> None:
    """Reads show a default of today's schema, also in objects written before it, or in another version."""
    made = definition(version("v1", storage=True, **spec("size", "color")), version("v2", **spec("size")))
    assert (await call(api, "POST", CRDS, made))[0] == 201
    assert (await call(api, "POST", THINGS, thing("a", spec={"size": "S"})))[0] == 201
    path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/color/default"
    media = {"Content-Type": "application/json-patch+json"}
    patch = [{"op": "add", "path": path, "value": "red"}]
    assert (await call(api, "PATCH", f"{CRDS}/things.e.com", patch, **media))[0] == 200
    assert (await call(api, "POST", NEW, thing("b", "e.com/v2", spec={"size": "S"})))[0] == 201
    _, listed = await call(api, "GET", f"{THINGS}?fieldSelector=spec.color%3Dred")
    assert [o["metadata"]["name"] for o in listed["items"]] == ["a", "b"]
    assert await names(api, "fieldSelector=spec.size%3DS") == ["a", "b"]
