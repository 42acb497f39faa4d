"""The garbage collector when events are lost, kinds are unknown, and owners make no sense."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.calls import get, post
from tests.api.custom import CRDS, THINGS, call, definition, thing, until, version

BASE = "/api/v1/namespaces/default"
CONFIGMAPS = f"{BASE}/configmaps"
Object = dict[str, Any]


def reference(owner: Object, *, block: bool = False) -> Object:
    """Return the owner reference of a dependent."""
    meta = owner["metadata"]
    found = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": meta["name"], "uid": meta["uid"]}
    return {**found, "blockOwnerDeletion": True} if block else found


def owned(name: str, *owners: Object) -> Object:
    return {"metadata": {"name": name, "ownerReferences": list(owners)}}


async def gone(api: aiohttp.ClientSession, path: str) -> None:
    async def absent() -> bool:
        return (await call(api, "GET", path))[0] == 404

    await until(absent)


async def settled(server: Server) -> None:
    """Wait until the collector has worked off what it knows."""
    collector = next(c for c in server.controllers if type(c).__name__ == "GarbageCollector")

    async def idle() -> bool:
        return not collector.queue and not server.app.core.hub._waiting

    await until(idle)
    await asyncio.sleep(0)
    await until(idle)


@pytest.fixture
async def forgetful() -> AsyncIterator[Server]:
    """Run a server whose history is shorter than a burst of events."""
    server = Server(Config(port=0, history_events=50))
    await server.start()
    yield server
    await server.stop()


async def test_what_went_while_events_were_lost_is_known_to_be_gone(forgetful: Server) -> None:
    async with aiohttp.ClientSession(forgetful.url) as api:
        owners = [await post(api, f"{BASE}/secrets", {"metadata": {"name": f"o{i}"}}) for i in range(201)]
        for i, owner in enumerate(owners):
            await post(api, CONFIGMAPS, owned(f"c{i}", reference(owner)))
        await settled(forgetful)
        async with api.delete(f"{BASE}/secrets") as r:
            assert r.status == 200

        async def collected() -> bool:
            found = await get(api, CONFIGMAPS)
            return not any(o["metadata"]["name"].startswith("c") for o in found["items"])

        await until(collected)
        collector = next(c for c in forgetful.controllers if type(c).__name__ == "GarbageCollector")
        uids = {o["metadata"]["uid"] for o in owners}
        assert not uids & collector._nodes.keys()  # type: ignore[attr-defined]
        assert not uids & collector._absent.keys()  # type: ignore[attr-defined]


async def test_an_owner_of_a_kind_that_nobody_serves_is_not_known_to_be_gone(
    server: Server, api: aiohttp.ClientSession
) -> None:
    """Upstream keeps the dependent and tries again: once the kind is served, the owner is looked for."""
    owner = {"apiVersion": "e.com/v1", "kind": "Thing", "metadata": {"name": "t", "uid": "5ca1ab1e"}}
    await post(api, CONFIGMAPS, owned("kept", reference(owner)))
    await settled(server)
    assert (await call(api, "GET", f"{CONFIGMAPS}/kept"))[0] == 200
    await post(api, CRDS, definition(version("v1", storage=True)))
    await gone(api, f"{CONFIGMAPS}/kept")


async def test_owners_in_a_circle_all_go(api: aiohttp.ClientSession) -> None:
    """Upstream's conformance: should not be blocked by dependency circle."""
    pods = f"{BASE}/pods"
    spec = {"containers": [{"name": "c", "image": "i"}]}
    made = [await post(api, pods, {"metadata": {"name": f"pod{i}"}, "spec": spec}) for i in range(3)]
    merge = {"Content-Type": "application/merge-patch+json"}
    for i, pod in enumerate(made):
        patch = {"metadata": {"ownerReferences": [reference(made[i - 1], block=True)]}}
        async with api.patch(f"{pods}/{pod['metadata']['name']}", json=patch, headers=merge) as r:
            assert r.status == 200
    options = {"propagationPolicy": "Foreground", "gracePeriodSeconds": 0}
    async with api.delete(f"{pods}/pod0", json=options) as r:
        assert r.status == 200
    for pod in made:
        await gone(api, f"{pods}/{pod['metadata']['name']}")


async def test_an_owner_in_a_namespace_owns_nothing_outside(server: Server, api: aiohttp.ClientSession) -> None:
    """Upstream keeps a cluster-scoped dependent and reports it."""
    owner = await post(api, CONFIGMAPS, {"metadata": {"name": "owner"}})
    volume = {
        **owned("volume", reference(owner)),
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/x"},
        },
    }
    await post(api, "/api/v1/persistentvolumes", volume)

    async def reported() -> bool:
        found = await get(api, f"{BASE}/events")
        return any(e["reason"] == "OwnerRefInvalidNamespace" for e in found["items"])

    await until(reported)
    found = next(e for e in (await get(api, f"{BASE}/events"))["items"] if e["reason"] == "OwnerRefInvalidNamespace")
    assert found["involvedObject"]["name"] == "volume" and found["type"] == "Warning"
    async with api.delete(f"{CONFIGMAPS}/owner") as r:
        assert r.status == 200
    await settled(server)
    assert (await call(api, "GET", "/api/v1/persistentvolumes/volume"))[0] == 200


async def test_a_definition_that_goes_takes_what_its_objects_own(api: aiohttp.ClientSession) -> None:
    """Streams end after the last events: a watch sees DELETED, and so does the collector."""
    await post(api, CRDS, definition(version("v1", storage=True)))
    owner = await post(api, THINGS, thing("t"))
    await post(api, CONFIGMAPS, owned("child", reference(owner)))
    async with api.get(f"{THINGS}?watch=1") as stream:
        await call(api, "DELETE", f"{CRDS}/things.e.com")
        text = await stream.text()
    assert '"type":"DELETED"' in text
    await gone(api, f"{CONFIGMAPS}/child")


@pytest.mark.parametrize(
    ("group", "plural", "kind", "versions"),
    [("e.com", "events", "Event", ["v1"]), ("networking.k8s.io", "ingresses", "Ingress", ["v7"])],
)
async def test_custom_resources_have_collections_of_their_own(
    api: aiohttp.ClientSession, group: str, plural: str, kind: str, versions: list[str]
) -> None:
    """No name of a definition leads into a collection of the server's own kinds."""
    made = definition(version(versions[0], storage=True), plural=plural, kind=kind)
    made["metadata"]["name"] = f"{plural}.{group}"
    made["spec"]["group"] = group
    made["metadata"]["annotations"] = {"api-approved.kubernetes.io": "https://github.com/kubernetes/kubernetes/pull/1"}
    await post(api, CRDS, made)
    path = f"/apis/{group}/{versions[0]}/namespaces/default/{plural}"
    body = {"apiVersion": f"{group}/{versions[0]}", "kind": kind, "metadata": {"name": "mine"}}
    await post(api, path, body)
    assert [o["metadata"]["name"] for o in (await get(api, path))["items"]] == ["mine"]
    own = f"{BASE}/events" if plural == "events" else f"/apis/{group}/v1/namespaces/default/{plural}"
    assert (await get(api, own))["items"] == []
    await call(api, "DELETE", f"{CRDS}/{plural}.{group}")
    await gone(api, f"{CRDS}/{plural}.{group}")
    assert (await get(api, own))["items"] == []
