"""Owners and dependents in servers behind API services (`pkg/controller/garbagecollector`, through discovery)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
import orjson
import pytest
from aiohttp import web

from tests.api.aggregation import service
from tests.api.custom import Object, call, until
from tests.api.services import Certificate, certificate, discovery_of_flunders, listening, reaching

__all__ = ["certificate"]
MAPS = "/api/v1/namespaces/n/configmaps"
SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
ROOT = "/apis/wardle.example.com/v1"
FLUNDERS = f"{ROOT}/namespaces/n/flunders"
COLLECTOR = "system:serviceaccount:kube-system:generic-garbage-collector"
PATCH = {"Content-Type": "application/merge-patch+json"}


@dataclass(slots=True)
class Flunders:
    """A server of `flunders` in the namespace `n`, with lists and watches of their metadata."""

    objects: dict[str, Object] = field(default_factory=dict)
    events: list[bytes] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    serves: bool = True
    watches: bool = True
    asked: list[tuple[str, str, Object]] = field(default_factory=list)
    """User, method and body of each request for one object."""

    def put(self, name: str, **metadata: object) -> Object:
        """Write an object; return its metadata."""
        known = self.objects.get(name)
        version = {"resourceVersion": str(len(self.events) + 1)}
        made = self.objects[name] = (
            {"name": name, "namespace": "n", "uid": f"u-{name}"} | (known or {}) | metadata | version
        )
        self._tell("MODIFIED" if known else "ADDED", made)
        return made

    def drop(self, name: str) -> None:
        """Delete an object."""
        self._tell("DELETED", self.objects.pop(name) | {"resourceVersion": str(len(self.events) + 1)})

    def _tell(self, kind: str, metadata: Object) -> None:
        self.events.append(orjson.dumps({"type": kind, "object": {"metadata": metadata}}) + b"\n")
        self.changed.set()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer discovery, lists, watches and requests for one object."""
        if request.path == "/apis":
            return discovery_of_flunders("delete", "get", "list", "patch", "watch")
        if not self.serves:
            return web.Response(status=503)
        if request.path == f"{ROOT}/flunders":
            if "watch" in request.query:
                return await self._watch(request)
            head = {"resourceVersion": str(len(self.events))}
            return web.json_response({"metadata": head, "items": [{"metadata": m} for m in self.objects.values()]})
        if request.path.startswith(f"{FLUNDERS}/"):
            return await self._one(request, request.path.removeprefix(f"{FLUNDERS}/"))
        return web.json_response({}, status=404)

    async def _one(self, request: web.Request, name: str) -> web.Response:
        body = await request.json() if request.can_read_body else {}
        self.asked.append((request.headers["X-Remote-User"], request.method, body))
        if name not in self.objects:
            return web.json_response({"kind": "Status", "message": "absent", "code": 404}, status=404)
        if request.method == "DELETE":
            if body["preconditions"]["uid"] != self.objects[name]["uid"]:
                return web.json_response({"kind": "Status", "message": "another", "code": 409}, status=409)
            self.drop(name)
            return web.json_response({"kind": "Status"})
        if request.method == "PATCH":
            assert body["metadata"].pop("resourceVersion") == self.objects[name]["resourceVersion"]
            self.put(name, **body["metadata"])
        return web.json_response({"metadata": self.objects[name]})

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        sent = int(request.query["resourceVersion"])
        while self.watches:
            for line in self.events[sent:]:
                await answer.write(line)
            sent = len(self.events)
            self.changed.clear()
            await self.changed.wait()
        return answer


@asynccontextmanager
async def beside(certificate: Certificate, flunders: Flunders) -> AsyncIterator[aiohttp.ClientSession]:
    """Yield a client of a server that has an API service for flunders."""
    async with listening(certificate, "/{tail:.*}", flunders.handle) as port, reaching(port) as api:
        assert (await call(api, "POST", "/api/v1/namespaces", {"metadata": {"name": "n"}}))[0] == 201
        assert (await call(api, "POST", SERVICES, service(certificate)))[0] == 201
        yield api
        flunders.watches = False
        flunders.changed.set()


def owned(name: str, /, **owner: object) -> Object:
    """A ConfigMap with a flunder as its owner."""
    reference = {"apiVersion": "wardle.example.com/v1", "kind": "Flunder"} | owner
    return {"metadata": {"name": name, "ownerReferences": [reference]}}


async def has(api: aiohttp.ClientSession, name: str, status: int) -> None:
    """Wait for the status of a ConfigMap."""

    async def look() -> bool:
        return (await call(api, "GET", f"{MAPS}/{name}"))[0] == status

    await until(look)


async def holds(look: Callable[[], bool]) -> None:
    """Wait for a state of the other server."""

    async def found() -> bool:
        return look()

    await until(found)


async def test_dependents_here_go_with_an_owner_there(certificate: Certificate) -> None:
    flunders = Flunders()
    flunders.put("a")
    async with beside(certificate, flunders) as api:
        await call(api, "POST", MAPS, owned("absent", name="b", uid="u-b"))
        await call(api, "POST", MAPS, owned("other", name="a", uid="u-former"))
        await call(api, "POST", MAPS, owned("kept", name="a", uid="u-a"))
        await has(api, "absent", 404)
        await has(api, "other", 404)
        assert (await call(api, "GET", f"{MAPS}/kept"))[0] == 200
        flunders.drop("a")
        await has(api, "kept", 404)
    assert {user for user, *_ in flunders.asked} == {COLLECTOR}


async def test_dependents_there_go_with_an_owner_here(certificate: Certificate) -> None:
    flunders = Flunders()
    async with beside(certificate, flunders) as api:
        owners = {}
        for name in ("a", "b", "c"):
            _, made = await call(api, "POST", MAPS, {"metadata": {"name": name}})
            owners[name] = {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": made["metadata"]["uid"]}
            flunders.put(f"of-{name}", ownerReferences=[owners[name] | {"blockOwnerDeletion": True}])
        # Once the last of them has been looked at, the collector knows all.
        flunders.put("of-none", ownerReferences=[owners["a"] | {"uid": "former"}])
        await holds(lambda: "of-none" not in flunders.objects)
        for name, policy in (("a", "Background"), ("b", "Orphan"), ("c", "Foreground")):
            await call(api, "DELETE", f"{MAPS}/{name}?propagationPolicy={policy}")
            await has(api, name, 404)
        await holds(lambda: flunders.objects.keys() == {"of-b"})
        assert flunders.objects["of-b"]["ownerReferences"] == []


async def test_nothing_goes_while_nobody_knows(certificate: Certificate) -> None:
    """Objects of a server that does not respond, or of an API service that has gone, are not absent."""
    flunders = Flunders(serves=False)
    async with beside(certificate, flunders) as api:
        await call(api, "POST", MAPS, owned("of-absent", name="b", uid="u-b"))
        await call(api, "POST", MAPS, owned("of-unknown", name="b", uid="u-b"))
        await call(api, "DELETE", f"{SERVICES}/v1.wardle.example.com")
        assert (await call(api, "GET", f"{MAPS}/of-unknown"))[0] == 200
        flunders.serves = True
        await call(api, "POST", SERVICES, service(certificate))
        await has(api, "of-absent", 404)
        await has(api, "of-unknown", 404)


@pytest.mark.parametrize(
    "line", [b"nonsense\n", b'{"type":"ADDED"}\n', b'{"type":"ERROR","object":{"code":410}}\n', b"[]\n"]
)
async def test_a_broken_watch_begins_anew(certificate: Certificate, line: bytes) -> None:
    flunders = Flunders()
    flunders.put("a")
    async with beside(certificate, flunders) as api:
        await call(api, "POST", MAPS, owned("kept", name="a", uid="u-a"))
        flunders.events.append(line)
        flunders.changed.set()
        del flunders.objects["a"]
        await has(api, "kept", 404)
