"""Which resources a gateway has in its view: custom ones, those that come later, and as many as fit."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import orjson

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.upstreams import Pair, pair, until

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
MAPS = "/api/v1/namespaces/default/configmaps"
TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}


def definition(**version: Any) -> dict[str, Any]:
    """Return a definition with two versions whose objects keep what their schema does not know."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    columns = [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]
    first = {"name": "v1", "served": True, "storage": True, "schema": schema, "additionalPrinterColumns": columns}
    second = {"name": "v2", "served": True, "storage": False, "schema": schema}
    return {
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [first | version, second],
        },
    }


def widget(name: str) -> dict[str, Any]:
    kind = {"apiVersion": "example.com/v1", "kind": "Widget"}
    # A member that sorts before the type, and text that a parser might change.
    return {**kind, "metadata": {"name": name}, "alpha": 1.50, "spec": {"size": 3, "text": "<\u2028é>"}}


def view(both: Pair, group: str, version: str, plural: str) -> Any:
    """Return the objects of a resource in the view; None if it has none."""
    mirror = both.gateway.app.mirrors.get((group, version, plural))  # type: ignore[attr-defined]
    return None if mirror is None or mirror.collection is None else mirror.collection


async def version_of(session: aiohttp.ClientSession, path: str, body: dict[str, Any]) -> int:
    """Create an object; return its version."""
    async with session.post(path, json=body) as answer:
        assert answer.status == 201, await answer.text()
        return int((await answer.json())["metadata"]["resourceVersion"])


async def body(session: aiohttp.ClientSession, path: str, headers: dict[str, str] | None = None) -> bytes:
    async with session.get(path, headers=headers) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.read()


async def test_custom_resources_that_come_later(tmp_path: Path) -> None:
    async with (
        pair(tmp_path) as both,
        aiohttp.ClientSession(both.upstream.url) as there,
        aiohttp.ClientSession(both.gateway.url) as here,
    ):
        await version_of(here, DEFINITIONS, definition())
        version = await version_of(here, WIDGETS, widget("a"))
        await until(lambda: (found := view(both, "example.com", "v1", "widgets")) and found.revision >= version)
        for path in (f"{WIDGETS}?resourceVersion={version}", f"{WIDGETS}/a?resourceVersion={version}"):
            for headers in ({}, TABLE):
                assert await body(here, path, headers) == await body(there, path, headers), path
        assert both.asked("GET", f"resourceVersion={version}") == []
        # Another version is a resource of its own, with the objects as the upstream converts them.
        path = f"{WIDGETS.replace('v1', 'v2')}/a?resourceVersion=0"
        assert orjson.loads(await body(here, path)) == orjson.loads(await body(there, path))
        watch = await here.get(f"{WIDGETS}?watch=1&resourceVersion={version}")
        async with there.delete(f"{DEFINITIONS}/widgets.example.com") as answer:
            assert answer.status == 200
        event = orjson.loads(await watch.content.readline())
        assert (event["type"], event["object"]["metadata"]["name"]) == ("DELETED", "a")
        async with asyncio.timeout(10):
            assert await watch.content.read() == b"", "it ends with its definition"
        await until(lambda: view(both, "example.com", "v1", "widgets") is None)
        async with here.get(f"{WIDGETS}?resourceVersion=0") as one, there.get(WIDGETS) as other:
            assert (one.status, await one.read()) == (other.status, await other.read())


async def test_only_named_resources_are_in_the_view(tmp_path: Path) -> None:
    async with (
        pair(tmp_path, upstream_cache="configmaps,deployments.apps") as both,
        aiohttp.ClientSession(both.gateway.url) as here,
    ):
        for path in (MAPS, "/apis/apps/v1/deployments", "/api/v1/pods"):
            await body(here, f"{path}?resourceVersion=0")
        assert both.asked("GET /api/v1/pods") == ["GET /api/v1/pods?resourceVersion=0"]
        assert both.asked("resourceVersion=0") == ["GET /api/v1/pods?resourceVersion=0"]
        assert view(both, "", "v1", "configmaps") is not None
        assert view(both, "", "v1", "pods") is None


async def test_on_demand_the_first_read_brings_a_resource_into_the_view(tmp_path: Path) -> None:
    async with (
        pair(tmp_path, upstream_cache="on-demand") as both,
        aiohttp.ClientSession(both.gateway.url) as here,
    ):
        assert both.asked("watch=true") == both.asked("customresourcedefinitions?watch=true")
        found = await asyncio.gather(*(body(here, "/api/v1/pods?resourceVersion=0") for _ in range(20)))
        assert len(set(found)) == 1
        assert len(both.asked("GET /api/v1/pods?")) == 1
        assert both.asked("resourceVersion=0") == []


async def test_the_view_is_bounded(tmp_path: Path) -> None:
    async with (
        pair(tmp_path, upstream_cache="on-demand", upstream_cache_bytes=20_000) as both,
        aiohttp.ClientSession(both.upstream.url) as there,
        aiohttp.ClientSession(both.gateway.url) as here,
    ):
        for number in range(10):
            data = {"metadata": {"name": f"m{number}"}, "data": {"k": "x" * 3000}}
            await version_of(there, MAPS, data)
        await body(here, f"{MAPS}?resourceVersion=0")
        watch = await here.get(f"{MAPS}?watch=1")
        app = both.gateway.app
        app.mirrors.bound(20_000, frozenset())  # type: ignore[attr-defined]
        assert view(both, "", "v1", "configmaps") is None
        # Its watches end, and begin anew at the upstream.
        async with asyncio.timeout(10):
            await watch.content.read()
        before = len(both.asked(f"GET {MAPS}"))
        assert len(orjson.loads(await body(here, f"{MAPS}?resourceVersion=0"))["items"]) == 10
        assert len(both.asked(f"GET {MAPS}")) == before + 1


async def test_a_restart_with_a_folder_costs_no_list(tmp_path: Path) -> None:
    folder = tmp_path / "view"
    async with (
        pair(tmp_path, data_dir=str(folder)) as both,
        aiohttp.ClientSession(both.upstream.url) as there,
    ):
        await version_of(there, MAPS, {"metadata": {"name": "a"}, "data": {"k": "<é>"}})
        await until(lambda: view(both, "", "v1", "configmaps").size()[0] == 2)
        await both.gateway.stop()
        await version_of(there, MAPS, {"metadata": {"name": "b"}})
        both.between.requests.clear()
        gateway = Server(Config(port=0, upstream=str(tmp_path / "upstream.yaml"), data_dir=str(folder)))
        await gateway.start()
        both.gateway = gateway
        await until(lambda: view(both, "", "v1", "configmaps").size()[0] == 3)
        async with aiohttp.ClientSession(gateway.url) as here:
            path = f"{MAPS}/a?resourceVersion=0"
            assert await body(here, path) == await body(there, path)
        assert both.asked("sendInitialEvents") == []
        assert both.asked("GET", "?limit=500") == []
        await gateway.stop()
