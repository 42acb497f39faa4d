"""Bulk work gives the loop to others every few milliseconds."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable

import aiohttp
import orjson
import pytest

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.custom import CRDS, call, definition, thing, until, version
from tests.turns import Turns

COUNT = 10_000
RUNS = 3
MOST_SECONDS = 0.010
"""How long a turn may take here: 5 ms on a quiet machine."""
CONFIGMAPS = "/api/v1/namespaces/bulk/configmaps"
THINGS = "/apis/e.com/v1/namespaces/bulk/things"


@pytest.fixture(autouse=True)
def turns() -> None:
    """Replace the guard: these tests have a lower bound, and do not measure while the store is filled."""


Work = Callable[[Server, aiohttp.ClientSession], Awaitable[None]]


async def short(work: Work, count: int = COUNT) -> None:
    """Run work on a fresh server with many objects, until no turn of it is long.

    The host of the machine may take the processor away, which looks like work of the thread: a turn that is long in
    each of three runs is the server's.
    """
    found = []
    for _ in range(RUNS):
        server = Server(Config(port=0))
        await server.start()
        try:
            async with aiohttp.ClientSession(server.url, headers={"Content-Type": "application/json"}) as api:
                assert (await call(api, "POST", "/api/v1/namespaces", NAMESPACE))[0] == 201
                await fill(server, "configmaps", CONFIGMAP, count=count)
                with Turns(MOST_SECONDS) as turns:
                    await work(server, api)
        finally:
            await server.stop()
        if not turns.long:
            return
        found.extend(turns.long)
    pytest.fail("\n".join(found))


NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "bulk"}}


async def fill(
    server: Server, plural: str, body: dict[str, object], group: str = "", owners: object = None, count: int = COUNT
) -> None:
    """Store many objects directly, without requests."""
    resource = server.app.core.catalog.find(group, "v1", plural)
    assert resource is not None
    collection, clock = server.app.core.registry.collection(resource), server.app.core.clock.native
    for i in range(count):
        name = f"n{i:05}"
        metadata = {"name": name, "namespace": "bulk", "labels": {"l": str(i % 7)}, "ownerReferences": owners}
        draft, _ = resource.native.decode(orjson.dumps({**body, "metadata": metadata}), "json")
        draft.read_new(clock, "bulk", "m").there()
        draft.fill_metadata(clock, name, f"00000000-0000-4000-8000-{i:012}")
        draft.prepare(clock).there()
        await collection.create(draft)
        if i % 50 == 49:
            await asyncio.sleep(0)


CONFIGMAP: dict[str, object] = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "v" * 300}}


async def test_delete_collection() -> None:
    async def work(server: Server, api: aiohttp.ClientSession) -> None:
        async with api.delete(f"{CONFIGMAPS}?dryRun=All", headers={"Accept": "application/yaml"}) as r:
            assert r.status == 200 and len(await r.read()) > COUNT * 300
        async with api.delete(CONFIGMAPS) as r:
            assert len((await r.json())["items"]) == COUNT
        assert (await call(api, "GET", CONFIGMAPS))[1]["items"] == []

    await short(work)


async def test_namespace() -> None:
    async def work(server: Server, api: aiohttp.ClientSession) -> None:
        await call(api, "DELETE", "/api/v1/namespaces/bulk")

        async def gone() -> bool:
            return (await call(api, "GET", "/api/v1/namespaces/bulk"))[0] == 404

        await until(gone)

    await short(work)


@pytest.mark.parametrize(
    "accept",
    [
        "application/yaml",
        "application/vnd.kubernetes.protobuf",
        "application/json;as=Table;v=v1;g=meta.k8s.io",
        "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    ],
)
async def test_lists(accept: str) -> None:
    async def work(server: Server, api: aiohttp.ClientSession) -> None:
        for query in ("", "?labelSelector=l+in+(1,2,3)", "?limit=5000"):
            async with api.get(f"{CONFIGMAPS}{query}", headers={"Accept": accept}) as r:
                assert r.status == 200 and len(await r.read()) > 100_000

    await short(work)


@pytest.mark.parametrize(
    ("query", "headers"),
    [
        ("", {}),
        ("&limit=5", {}),
        ("", {"Accept-Encoding": "gzip"}),
        ("", {"Accept": "application/yaml"}),
        ("", {"Accept": "application/vnd.kubernetes.protobuf"}),
        ("&limit=5", {"Accept": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}),
    ],
)
@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_far_objects_are_searched_on_a_thread(
    method: str, query: str, headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search of a million objects takes longer than a turn; of so many as here it is short, but far."""
    loop, searched = asyncio.get_running_loop(), []

    def run(executor: None, work: Callable[..., object], *given: object) -> asyncio.Future[object]:
        searched.append(getattr(work, "__name__", ""))
        return asyncio.BaseEventLoop.run_in_executor(loop, executor, work, *given)  # type: ignore[arg-type]

    server = Server(Config(port=0))
    await server.start()
    try:
        async with aiohttp.ClientSession(server.url) as api:
            await fill(server, "configmaps", CONFIGMAP, count=4_000)
            near = f"{CONFIGMAPS}?fieldSelector=metadata.name%3Dn00000{query}"
            far = f"{CONFIGMAPS}?labelSelector=rare+in+(x,y){query}"
            monkeypatch.setattr(loop, "run_in_executor", run)
            for path, threads in ((near, False), (far, True)):
                async with api.request(method, path, headers=headers) as r:
                    assert r.status == 200, await r.text()
                    await r.read()
                assert bool({"chunk", "versions", "ahead", "exceeds"} & set(searched)) == threads, path
    finally:
        await server.stop()


@pytest.mark.parametrize(
    "accept",
    ["application/json", "application/vnd.kubernetes.protobuf", "application/json;as=Table;v=v1;g=meta.k8s.io"],
)
async def test_initial_events(accept: str) -> None:
    async def work(server: Server, api: aiohttp.ClientSession) -> None:
        size = 0
        async with api.get(f"{CONFIGMAPS}?watch=1&timeoutSeconds=2", headers={"Accept": accept}) as r:
            async for piece in r.content.iter_any():
                size += len(piece)
        assert size > COUNT * 200

    await short(work)


@pytest.mark.parametrize("policy", ["Orphan", "Foreground", "Background"])
async def test_dependents(policy: str) -> None:
    async def work(server: Server, api: aiohttp.ClientSession) -> None:
        _, owner = await call(api, "POST", CONFIGMAPS, {**CONFIGMAP, "metadata": {"name": "owner"}})
        uid = owner["metadata"]["uid"]
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid, "blockOwnerDeletion": True}
        await fill(server, "configmaps", CONFIGMAP, owners=[reference])

        async def known() -> bool:
            return (
                not any(getattr(stream, "behind", False) for stream in server.app.core.hub._streams.values())
                and not server.app.core.hub._waiting
            )

        await until(known)
        await call(api, "DELETE", f"{CONFIGMAPS}/owner?propagationPolicy={policy}")

        async def done() -> bool:
            status, left = await call(api, "GET", f"{CONFIGMAPS}?limit=1")
            if policy == "Orphan":
                return (await call(api, "GET", f"{CONFIGMAPS}/owner"))[0] == 404
            return status == 200 and left["items"] == []

        await until(done)
        if policy == "Orphan":
            _, left = await call(api, "GET", CONFIGMAPS)
            assert len(left["items"]) == COUNT and not any("ownerReferences" in o["metadata"] for o in left["items"])

    await short(work, count=0)


async def test_definitions() -> None:
    async def work(server: Server, api: aiohttp.ClientSession) -> None:
        schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"s": {"type": "string"}}}}}
        plain = definition(version("v1", storage=True, schema=schema))
        assert (await call(api, "POST", CRDS, plain))[0] == 201
        await fill(server, "things", {**thing(""), "spec": {"s": "x"}}, group="e.com")
        _, found = await call(api, "GET", f"{CRDS}/things.e.com")
        found["spec"]["versions"][0]["selectableFields"] = [{"jsonPath": ".spec.s"}]
        assert (await call(api, "PUT", f"{CRDS}/things.e.com", found))[0] == 200
        _, listed = await call(api, "GET", f"{THINGS}?fieldSelector=spec.s=x&limit=5")
        assert len(listed["items"]) == 5
        _, found = await call(api, "GET", f"{CRDS}/things.e.com")
        found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["more"] = {"type": "string"}
        assert (await call(api, "PUT", f"{CRDS}/things.e.com", found))[0] == 200
        await call(api, "DELETE", f"{CRDS}/things.e.com")

        async def gone() -> bool:
            return (await call(api, "GET", f"{CRDS}/things.e.com"))[0] == 404

        await until(gone)

    await short(work, count=0)


async def test_large_definitions() -> None:
    """State that follows definitions is made without their schemas, and patches of them take turns off the loop."""

    async def work(server: Server, api: aiohttp.ClientSession) -> None:
        texts = {f"field{i:04}": {"type": "string", "description": "d" * 40} for i in range(2000)}
        big = definition(version("v1", storage=True, schema={"type": "object", "properties": texts}))
        assert (await call(api, "POST", CRDS, big))[0] == 201
        headers = {"Content-Type": "application/merge-patch+json"}

        async def patch(number: int) -> None:
            names = {"spec": {"names": {"shortNames": [f"t{number}"]}}}
            async with api.patch(f"{CRDS}/things.e.com", json=names, headers=headers) as r:
                assert r.status == 200

        await asyncio.gather(*(patch(i) for i in range(8)))
        _, found = await call(api, "GET", f"{CRDS}/things.e.com")
        assert found["status"]["acceptedNames"]["shortNames"] == found["spec"]["names"]["shortNames"]

    await short(work, count=0)


async def test_large_objects() -> None:
    async def work(server: Server, api: aiohttp.ClientSession) -> None:
        big = {**CONFIGMAP, "metadata": {"name": "big"}, "data": {f"k{i}": "v\n" * 50 for i in range(9000)}}
        async with api.post(CONFIGMAPS, data=io.BytesIO(orjson.dumps(big))) as r:
            assert r.status == 201
        for headers in ({"Accept": "application/yaml"}, {"Accept-Encoding": "gzip"}, {"User-Agent": "curl/8"}):
            async with api.get(f"{CONFIGMAPS}/big", headers=headers) as r:
                assert r.status == 200 and len(await r.read()) > 900_000
        big["data"] = {f"k{i}": "w" * 100 for i in range(9000)}
        async with api.put(f"{CONFIGMAPS}/big", data=io.BytesIO(orjson.dumps(big))) as r:
            assert r.status == 200

    await short(work, count=0)


async def test_documents() -> None:
    async def work(server: Server, api: aiohttp.ClientSession) -> None:
        protobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
        for accept in (protobuf, "application/json"):
            for path in ("/openapi/v2", "/openapi/v3", "/openapi/v3/api/v1"):
                async with api.get(path, headers={"Accept": f"{accept}, application/json"}) as r:
                    assert r.status == 200 and len(await r.read()) > 1000

    await short(work, count=0)
