"""Servers whose objects are in etcd."""

from __future__ import annotations

import asyncio
import json
import subprocess
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiohttp
import pytest

from hydrofoil.options import Texts
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.calls import get, post
from tests.api.data_dirs import BOATS, DEFINITION, MAPS
from tests.api.keys import IDENTITY, aes, configured
from tests.conftest import command
from tests.etcd import Etcd

Start = Callable[..., Awaitable[aiohttp.ClientSession]]
JSON = {"Content-Type": "application/json"}
EVENTS = "/api/v1/namespaces/default/events"

pytestmark = pytest.mark.program("etcd")


@pytest.fixture
def prefix() -> str:
    return f"/{uuid4()}"


@pytest.fixture
async def start(prefix: str) -> AsyncIterator[Start]:
    """Start a server on a member of etcd, and return a client of it."""
    async with AsyncExitStack() as stack:

        async def started(etcd: Etcd, **settings: Any) -> aiohttp.ClientSession:
            given = {"etcd_servers": Texts((etcd.url,)), "etcd_prefix": prefix, **settings}
            server = Server(Config(port=0, **given))
            await server.start()
            stack.push_async_callback(server.stop)
            return await stack.enter_async_context(aiohttp.ClientSession(server.url, headers=JSON))

        yield started


@pytest.fixture
async def own(tmp_path: Path) -> AsyncIterator[Etcd]:
    """A member that no other test uses."""
    found = await asyncio.to_thread(Etcd, tmp_path)
    yield found
    found.kill()


def key(etcd: Etcd, prefix: str, below: str) -> dict[str, Any]:
    """Return what etcd has of a key."""
    name = b64encode(f"{prefix}/{below}".encode()).decode()
    found: dict[str, Any] = json.loads(etcd.call("kv/range", json.dumps({"key": name}).encode()))["kvs"][0]
    return found


async def test_servers_that_start_at_once_share_their_objects(etcd: Etcd, start: Start) -> None:
    one, other = await asyncio.gather(start(etcd), start(etcd))
    made = await post(one, MAPS, {"metadata": {"name": "x"}, "data": {"k": "1"}})
    assert await get(other, f"{MAPS}/x") == made
    async with other.put(f"{MAPS}/x", json={**made, "data": {"k": "2"}}) as r:
        assert r.status == 200
    async with one.put(f"{MAPS}/x", json={**made, "data": {"k": "3"}}) as r:
        assert r.status == 409
    assert (await get(one, f"{MAPS}/x"))["data"] == {"k": "2"}
    async with one.delete(f"{MAPS}/x") as r:
        assert r.status == 200
    async with other.get(f"{MAPS}/x") as r:
        assert r.status == 404


async def test_custom_resources_are_json_below_their_group(etcd: Etcd, start: Start, prefix: str) -> None:
    one, other = await asyncio.gather(start(etcd), start(etcd))
    await post(one, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
    boat = {"apiVersion": "example.com/v1", "kind": "Boat", "metadata": {"name": "b"}, "color": "red"}
    made = await post(one, BOATS, boat)
    assert await get(other, f"{BOATS}/b") == made
    found = await get(other, f"{BOATS}?fieldSelector=color%3Dred")
    assert [item["metadata"]["name"] for item in found["items"]] == ["b"]
    stored = json.loads(b64decode((await asyncio.to_thread(key, etcd, prefix, "example.com/boats/default/b"))["value"]))
    assert stored.pop("color") == "red"
    assert "resourceVersion" not in stored["metadata"] and stored["metadata"]["uid"] == made["metadata"]["uid"]
    third = await start(etcd)
    assert await get(third, f"{BOATS}/b") == made


SECRETS = "/api/v1/namespaces/default/secrets"


async def test_values_are_encrypted_and_migrate(etcd: Etcd, start: Start, prefix: str, tmp_path: Path) -> None:
    async def providers(name: str, *entries: Any) -> str:
        return str(await asyncio.to_thread(configured, tmp_path / f"{name}.json", (["secrets"], list(entries))))

    async def stored() -> bytes:
        return b64decode((await asyncio.to_thread(key, etcd, prefix, "secrets/default/s"))["value"])

    first, plain, second = await asyncio.gather(
        start(etcd, encryption_provider_config=await providers("a", aes("a"), IDENTITY)),
        start(etcd),
        start(etcd, encryption_provider_config=await providers("b", aes("b", "aesgcm"), aes("a"))),
    )
    made = await post(first, SECRETS, {"metadata": {"name": "s"}, "stringData": {"k": "marker"}})
    assert (await stored()).startswith(b"k8s:enc:aescbc:v1:a:") and b"marker" not in await stored()
    assert await get(second, f"{SECRETS}/s") == made
    async with plain.get(f"{SECRETS}/s") as r:
        assert (r.status, (await r.json())["reason"]) == (500, "InternalError")
    # Equal content is written again only where the form is stale.
    async with first.put(f"{SECRETS}/s", json=made) as r:
        assert await r.json() == made
    async with second.put(f"{SECRETS}/s", json=made) as r:
        moved = await r.json()
    assert moved["data"] == made["data"] and moved["metadata"]["resourceVersion"] > made["metadata"]["resourceVersion"]
    assert (await stored()).startswith(b"k8s:enc:aesgcm:v1:b:")
    async with second.put(f"{SECRETS}/s", json=moved) as r:
        assert await r.json() == moved
    why = "no matching prefix found"
    listed = f'unable to transform key "{prefix}/secrets/default/s": {why}'
    for path, shown in ((SECRETS, listed), (f"{SECRETS}/s", why)):
        async with first.get(path) as r:
            status = await r.json()
        assert (r.status, status["message"]) == (500, f"Internal error occurred: {shown}")
    assert await get(first, MAPS)


async def test_ranges_and_the_lease_are_shared(etcd: Etcd, start: Start, prefix: str) -> None:
    one, other = await asyncio.gather(start(etcd), start(etcd))
    body = {"metadata": {"name": "a"}, "spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30008}]}}
    await post(one, "/api/v1/namespaces/default/services", body)
    found = await asyncio.to_thread(key, etcd, prefix, "ranges/servicenodeports")
    value = b64decode(found["value"])
    assert value.startswith(b"k8s\0") and b"RangeAllocation" in value and b"30000-32767" in value
    # The ninth bit, as in kube-apiserver's big.Int.
    assert b"\x01\x00" in value
    body["metadata"] = {"name": "b"}
    refused = await post(other, "/api/v1/namespaces/default/services", body, 422)
    assert "provided port is already allocated" in refused["message"]
    lease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/hydrofoil-controllers"
    while True:
        async with other.get(lease) as r:
            if r.status == 200:
                break
        await asyncio.sleep(0.05)


async def made_events(api: aiohttp.ClientSession, etcd: Etcd, prefix: str) -> list[str]:
    """Create two events; return the leases by which they end."""
    about = {"kind": "Pod", "namespace": "default", "name": "p"}
    for name in "ef":
        await post(api, EVENTS, {"metadata": {"name": name}, "involvedObject": about})
    return [(await asyncio.to_thread(key, etcd, prefix, f"events/default/{name}"))["lease"] for name in "ef"]


async def test_events_of_a_minute_share_a_lease(etcd: Etcd, start: Start, prefix: str) -> None:
    leases = await made_events(await start(etcd, event_ttl=3600.0), etcd, prefix)
    assert leases[0] == leases[1] != "0"


async def test_events_end_by_a_lease(etcd: Etcd, start: Start, prefix: str) -> None:
    api = await start(etcd, event_ttl=1.0)
    assert "0" not in await made_events(api, etcd, prefix)
    while (await get(api, EVENTS))["items"]:
        await asyncio.sleep(0.05)
    async with api.get(f"{EVENTS}/e") as r:
        assert r.status == 404


async def test_without_etcd_known_versions_are_read_and_the_rest_ends_in_time(own: Etcd, start: Start) -> None:
    api = await start(own, request_timeout=1.0)
    made = await post(api, MAPS, {"metadata": {"name": "x"}})
    version = made["metadata"]["resourceVersion"]
    async with api.get(f"{MAPS}?watch=1&resourceVersion={version}") as watch:
        own.freeze()
        calls = [
            api.get(f"{MAPS}/x"),
            api.get(MAPS),
            api.post(MAPS, json={"metadata": {"name": "y"}}),
            api.delete(f"{MAPS}/x"),
        ]
        for answer in await asyncio.gather(*calls):
            status = await answer.json()
            assert (answer.status, status["reason"]) == (504, "Timeout")
        for path in (f"{MAPS}/x?resourceVersion=0", f"{MAPS}?resourceVersion={version}"):
            async with api.get(path) as r:
                assert r.status == 200
        for check in ("readyz", "livez"):
            while True:
                async with api.get(f"/{check}") as r:
                    if r.status == 500:
                        assert "[-]etcd failed" in await r.text()
                        break
                await asyncio.sleep(0.05)
        own.thaw()
        # Both writes were sent once; whether they were done is visible now.
        event = json.loads(await watch.content.readline())
        assert event["object"]["metadata"]["name"] in ("x", "y")
        while True:
            async with api.get("/readyz") as r:
                if r.status == 200:
                    break
            await asyncio.sleep(0.05)
        assert await get(api, MAPS)


def test_objects_are_in_one_place() -> None:
    line = command("serve", "--port", "0", "--data-dir", "x", "--etcd-servers", "http://127.0.0.1:1")
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "--data-dir and --etcd-servers" in done.stderr


def test_a_start_without_etcd_ends_with_one_line() -> None:
    line = command("serve", "--port", "0", "--etcd-servers", "http://127.0.0.1:1")
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "cannot use etcd: http://127.0.0.1:1: " in done.stderr


async def test_a_deletion_that_waits_for_finalizers_is_answered_again(etcd: Etcd, start: Start) -> None:
    api = await start(etcd)
    await post(api, MAPS, {"metadata": {"name": "x", "finalizers": ["e.com/f"]}})
    for _ in range(2):
        async with api.delete(f"{MAPS}/x") as r:
            assert r.status == 200
            assert (await r.json())["metadata"]["deletionTimestamp"]


async def test_what_is_read_from_etcd_is_counted(own: Etcd, start: Start) -> None:
    """A server lists each resource in etcd once, at its start; later lists wait for the view."""
    first = await start(own)
    for name in ("x", "y"):
        made = await post(first, MAPS, {"metadata": {"name": name}})
    # Otherwise the second server reads an earlier revision, and the rest as events.
    body = json.dumps({"revision": made["metadata"]["resourceVersion"]}).encode()
    await asyncio.to_thread(own.call, "kv/compaction", body)
    second = await start(own)
    count = len((await get(second, "/api/v1/configmaps"))["items"])
    async with second.get("/metrics") as r:
        lines = (await r.text()).splitlines()
    found = dict(line.rsplit(" ", 1) for line in lines if "configmaps" in line)
    where = '{group="",resource="configmaps"}'
    assert found[f"apiserver_watch_cache_initializations_total{where}"] == "1"
    assert found[f"apiserver_storage_list_total{where}"] == "1"
    for kind in ("fetched", "evaluated", "returned"):
        assert int(found[f"apiserver_storage_list_{kind}_objects_total{where}"]) == count >= 2
    assert float(found[f"apiserver_watch_cache_read_wait_seconds_sum{where}"]) > 0
