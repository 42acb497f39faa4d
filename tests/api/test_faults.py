"""A fault stays in the request or the stream where it happens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from hydrofoil import engine
from hydrofoil.answer import HIGH_WATER
from hydrofoil.endpoints import line, wire
from hydrofoil.registry.store import Registry
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.calls import get, post
from tests.api.custom import until

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
SERVICES = "/api/v1/namespaces/default/services"
PODS = "/api/v1/namespaces/default/pods"


async def events(response: aiohttp.ClientResponse) -> AsyncIterator[dict[str, Any]]:
    async for data in response.content:
        yield json.loads(data)


class Broken:
    """A watcher that fails, with a panic of the extension or an exception."""

    def __init__(self, fault: BaseException, watcher: Any) -> None:
        self.fault = fault
        self.watcher = watcher
        """The one in whose place it is: without it nothing would be woken."""

    def drain(self, _: int) -> None:
        raise self.fault

    def position(self) -> tuple[int, int | None]:
        return 0, None


FAULTS = (engine.PanicException("a bug"), RuntimeError("a bug"))


@pytest.mark.parametrize("fault", FAULTS, ids=["panic", "exception"])
async def test_a_panic_is_a_status(
    api: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    made = await post(api, CONFIGMAPS, {"metadata": {"name": "a"}})

    def fail(*_: object) -> None:
        raise fault

    with monkeypatch.context() as patched:
        patched.setattr(Registry, "get", fail)
        async with api.get(f"{CONFIGMAPS}/a") as r:
            assert (r.status, (await r.json())["reason"]) == (500, "InternalError")
    assert await get(api, f"{CONFIGMAPS}/a") == made


@pytest.mark.parametrize("fault", FAULTS, ids=["panic", "exception"])
async def test_a_stream_that_fails_ends_alone(server: Server, api: aiohttp.ClientSession, fault: BaseException) -> None:
    """Others that are woken with it get their events; its reader gets an error and can resume."""
    async with api.get(f"{CONFIGMAPS}?watch=1&fieldSelector=metadata.name!=x") as bad:
        broken: Any = max(server.app.core.hub._streams.items())[1]
        async with api.get(f"{CONFIGMAPS}?watch=1") as good, api.get(f"{CONFIGMAPS}?watch=1") as other:
            broken._watcher = Broken(fault, broken._watcher)
            for name in ("a", "b"):
                await post(api, CONFIGMAPS, {"metadata": {"name": name}})
            for reader in (good, other):
                names: list[str] = []
                stream = events(reader)
                while "b" not in names:
                    names.append((await anext(stream))["object"]["metadata"]["name"])
                assert names[-2:] == ["a", "b"]
        last = [e async for e in events(bad)][-1]
        assert (last["type"], last["object"]["code"]) == ("ERROR", 500)
    again = await get(api, CONFIGMAPS)
    assert [o["metadata"]["name"] for o in again["items"]][-2:] == ["a", "b"]


async def test_a_controller_lives_through_a_fault(
    server: Server, api: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it missed is delivered to it again."""
    collector = next(c for c in server.controllers if type(c).__name__ == "GarbageCollector")
    owner = await post(api, CONFIGMAPS, {"metadata": {"name": "owner"}})
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    with monkeypatch.context() as patched:

        def fail(*_: object) -> None:
            raise engine.PanicException("a bug")

        patched.setattr(collector, "_observe", fail)
        await post(api, CONFIGMAPS, {"metadata": {"name": "child", "ownerReferences": [reference]}})
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    async with api.delete(f"{CONFIGMAPS}/owner") as r:
        assert r.status == 200

    async def gone() -> bool:
        async with api.get(f"{CONFIGMAPS}/child") as r:
            return r.status == 404

    await until(gone)


async def test_events_are_on_the_wire_before_the_answer(
    api: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A controller that reads its own write in its cache finds it there (with few watchers)."""
    order: list[str] = []
    write, whole = line.Line.write, wire.Wire._whole

    def written(sink: Any, *pieces: bytes) -> None:
        order.append("event")
        write(sink, *pieces)

    async def answered(*given: Any) -> Any:
        order.append("answer")
        return await whole(*given)

    async with api.get(f"{CONFIGMAPS}?watch=1"), api.get(f"{CONFIGMAPS}?watch=1"):
        monkeypatch.setattr(line.Line, "write", written)
        monkeypatch.setattr(wire.Wire, "_whole", answered)
        await post(api, CONFIGMAPS, {"metadata": {"name": "a"}})
        monkeypatch.undo()
    assert order == ["event", "event", "answer"]


async def test_the_websocket_of_a_silent_reader_is_bounded(server: Server, api: aiohttp.ClientSession) -> None:
    """The ring is its queue: events it has not taken are there, in bytes and not in a count of events."""
    async with api.ws_connect(f"{CONFIGMAPS}?watch=1") as socket:
        stream: Any = max(server.app.core.hub._streams.items())[1]
        # A client that does not read.
        socket._response.connection.transport.pause_reading()  # type: ignore[union-attr]
        for i in range(120):
            await post(api, CONFIGMAPS, {"metadata": {"name": f"n{i}"}, "data": {"k": "x" * 100_000}})
        assert stream._sink._size <= HIGH_WATER + 110_000
        assert stream.behind


async def test_a_node_port_is_given_back_with_the_last_finalizer(server: Server, api: aiohttp.ClientSession) -> None:
    services: Any = server.app.core.registry.strategies["", "services"]
    body = {"metadata": {"name": "s", "finalizers": ["e.com/f"]}, "spec": {"ports": [{"port": 80}]}}
    made = await post(api, SERVICES, body)
    async with api.delete(f"{SERVICES}/s") as r:
        assert r.status == 200
    made["metadata"].pop("finalizers")
    made["metadata"].pop("resourceVersion")
    made["spec"] |= {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30123}]}
    async with api.put(f"{SERVICES}/s", json=made) as r:
        assert r.status == 200, await r.text()
    async with api.get(f"{SERVICES}/s") as r:
        assert r.status == 404
    assert 30123 not in services.held().state.ports._taken


async def test_a_request_that_ends_after_its_commit_frees_nothing(
    server: Server, api: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The port belongs to the stored service, however the request for it ends."""
    strategy: Any = server.app.core.registry.strategies["", "services"]
    body = {"metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30124}]}}
    with monkeypatch.context() as patched:

        async def gone(*_: object) -> None:
            raise RuntimeError("the client has gone")

        patched.setattr(type(strategy), "after", gone)
        await post(api, SERVICES, body, 500)
    async with api.get(f"{SERVICES}/s") as r:
        assert r.status == 200
    assert 30124 in strategy.held().state.ports._taken


@pytest.mark.parametrize("grace", [2**63 - 1, 10**15, 2**40])
async def test_a_grace_beyond_all_times(api: aiohttp.ClientSession, grace: int) -> None:
    """Times wrap around as Go's do."""
    spec = {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}
    await post(api, PODS, {"metadata": {"name": "p"}, "spec": spec})
    async with api.delete(f"{PODS}/p", json={"gracePeriodSeconds": grace}) as r:
        found = await r.json()
        assert r.status == 200, found
        assert found["metadata"]["deletionGracePeriodSeconds"] == grace


async def test_nothing_is_remembered_of_namespaces_that_are_gone(server: Server, api: aiohttp.ClientSession) -> None:
    for i in range(5):
        await post(api, "/api/v1/namespaces", {"metadata": {"name": f"n{i}"}})
        await post(api, f"/api/v1/namespaces/n{i}/pods", {"metadata": {"name": "p"}, "spec": POD})
        async with api.delete(f"/api/v1/namespaces/n{i}") as r:
            assert r.status == 200

    async def gone() -> bool:
        found = await get(api, "/api/v1/namespaces")
        return not any(o["metadata"]["name"].startswith("n") for o in found["items"])

    await until(gone)
    for plugin in server.app.admission.plugins:
        for memory in vars(plugin).values():
            assert not (isinstance(memory, dict | set | list) and any(str(name).startswith("n") for name in memory))


POD = {"containers": [{"name": "c", "image": "i"}]}


async def test_an_idle_server_forgets_states_by_time() -> None:
    """A continue token expires without any write; with the one of the refusal the rest can be read."""
    server = Server(Config(port=0, history_window=0.2))
    await server.start()
    async with aiohttp.ClientSession(server.url) as api:
        for name in ("a", "b", "c"):
            await post(api, CONFIGMAPS, {"metadata": {"name": name}})
        page = await get(api, f"{CONFIGMAPS}?limit=1")
        token = page["metadata"]["continue"]

        async def expired() -> bool:
            return (await get(api, f"{CONFIGMAPS}?limit=1&continue={token}")).get("code") == 410

        await until(expired)
        refusal = await get(api, f"{CONFIGMAPS}?limit=1&continue={token}")
        rest = await get(api, f"{CONFIGMAPS}?continue={refusal['metadata']['continue']}")
        seen = [o["metadata"]["name"] for o in page["items"] + rest["items"]]
        assert seen[-3:] == ["a", "b", "c"]
        # A list of now is good for a while again.
        page = await get(api, f"{CONFIGMAPS}?limit=1")
        assert "items" in await get(api, f"{CONFIGMAPS}?limit=1&continue={page['metadata']['continue']}")
    await server.stop()
