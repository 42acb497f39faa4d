"""Objects that hold a namespace while it is being deleted, and the conditions that report them
(`pkg/controller/namespace/deletion/namespaced_resources_deleter.go`)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
import pytest
from aiohttp import web

from hydrofoil.storage.log import Log
from tests.api.aggregation import service
from tests.api.custom import CRDS, Object, call, definition, thing, until, version
from tests.api.services import Certificate, certificate, discovery_of_flunders, listening, reaching

__all__ = ["certificate"]
NAMESPACES = "/api/v1/namespaces"
INSIDE = f"{NAMESPACES}/n"
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
FLUNDERS = "/apis/wardle.example.com/v1/namespaces/n/flunders"
MERGE = {"Content-Type": "application/merge-patch+json"}


async def make(api: aiohttp.ClientSession, path: str, body: Object) -> None:
    status, made = await call(api, "POST", path, body)
    assert status == 201, made


async def told(api: aiohttp.ClientSession, kind: str, reason: str, name: str = "n") -> str:
    """Return the message of a condition of a namespace once it has a reason."""
    found: list[str] = []

    async def look() -> bool:
        _, body = await call(api, "GET", f"{NAMESPACES}/{name}")
        found[:] = [
            c["message"] for c in body["status"].get("conditions", ()) if (c["type"], c["reason"]) == (kind, reason)
        ]
        return bool(found)

    await until(look)
    return found[0]


async def gone(api: aiohttp.ClientSession, path: str = INSIDE) -> None:
    async def look() -> bool:
        return (await call(api, "GET", path))[0] == 404

    await until(look)


async def test_what_finalizers_hold_is_counted(api: aiohttp.ClientSession) -> None:
    """Resources of the core group are named with an empty group, events in both of their groups."""
    await make(api, NAMESPACES, {"metadata": {"name": "n"}})
    held = {"finalizers": ["e.com/held"]}
    await make(api, f"{INSIDE}/configmaps", {"metadata": {"name": "a", **held}})
    role = {"metadata": {"name": "r", "finalizers": ["e.com/held", "e.com/other"]}}
    await make(api, "/apis/rbac.authorization.k8s.io/v1/namespaces/n/roles", role)
    await call(api, "DELETE", INSIDE)
    assert await told(api, "NamespaceContentRemaining", "SomeResourcesRemain") == (
        "Some resources are remaining: configmaps. has 1 resource instances,"
        " roles.rbac.authorization.k8s.io has 1 resource instances"
    )
    assert await told(api, "NamespaceFinalizersRemaining", "SomeFinalizersRemain") == (
        "Some content in the namespace has finalizers remaining: e.com/held in 2 resource instances,"
        " e.com/other in 1 resource instances"
    )
    await told(api, "NamespaceDeletionContentFailure", "ContentDeleted")


async def test_pods_go_first(api: aiohttp.ClientSession) -> None:
    await make(api, NAMESPACES, {"metadata": {"name": "n"}})

    async def accounted() -> bool:
        return (await call(api, "GET", f"{INSIDE}/serviceaccounts/default"))[0] == 200

    await until(accounted)
    container = {"name": "c", "image": "i"}
    pod = {"metadata": {"name": "p", "finalizers": ["e.com/held"]}, "spec": {"containers": [container]}}
    await make(api, f"{INSIDE}/pods", pod)
    await make(api, f"{INSIDE}/configmaps", {"metadata": {"name": "c"}})
    await call(api, "DELETE", INSIDE)
    await told(api, "NamespaceContentRemaining", "ContentRemoved")
    assert (await call(api, "GET", f"{INSIDE}/configmaps/c"))[0] == 200
    status, _ = await call(api, "PATCH", f"{INSIDE}/pods/p", {"metadata": {"finalizers": None}}, **MERGE)
    assert status == 200
    await gone(api)


async def test_a_refusal_holds_the_namespace_and_no_other_resource(api: aiohttp.ClientSession) -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["DELETE"], "resources": ["configmaps"]}
    spec = {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "oldObject.metadata.name != 'kept'", "message": "it is kept"}],
    }
    await make(api, POLICIES, {"metadata": {"name": "v"}, "spec": spec})
    await make(api, BINDINGS, {"metadata": {"name": "b"}, "spec": {"policyName": "v", "validationActions": ["Deny"]}})
    await make(api, NAMESPACES, {"metadata": {"name": "n"}})
    await make(api, f"{INSIDE}/configmaps", {"metadata": {"name": "kept"}})
    await make(api, f"{INSIDE}/secrets", {"metadata": {"name": "s"}})

    async def refused() -> bool:
        return (await call(api, "DELETE", f"{INSIDE}/configmaps/kept?dryRun=All"))[0] == 422

    await until(refused)
    await call(api, "DELETE", INSIDE)
    await gone(api, f"{INSIDE}/secrets/s")
    assert await told(api, "NamespaceDeletionContentFailure", "ContentDeletionFailed") == (
        'Failed to delete all resource types, 1 remaining: configmaps "kept" is forbidden: '
        "ValidatingAdmissionPolicy 'v' with binding 'b' denied request: it is kept"
    )
    await call(api, "DELETE", f"{BINDINGS}/b")
    await gone(api)


async def test_a_conversion_that_fails_holds_the_namespace(certificate: Certificate) -> None:
    async def broken(_: web.Request) -> web.Response:
        return web.Response(status=500)

    webhook = {
        "conversionReviewVersions": ["v1"],
        "clientConfig": {"caBundle": certificate[2], "service": {"namespace": "system", "name": "hook"}},
    }
    conversion = {"strategy": "Webhook", "webhook": webhook}
    async with listening(certificate, "/{tail:.*}", broken) as port, reaching(port) as api:
        # v2 is the preferred version, in which the objects are listed before they are deleted.
        made = definition(version("v1", storage=True), version("v2"), conversion=conversion, scope="Namespaced")
        await make(api, CRDS, made)
        await make(api, NAMESPACES, {"metadata": {"name": "n"}})
        await make(api, "/apis/e.com/v1/namespaces/n/things", thing("t"))
        await call(api, "DELETE", INSIDE)
        text = await told(api, "NamespaceDeletionContentFailure", "ContentDeletionFailed")
        assert text.startswith(
            "Failed to delete all resource types, 1 remaining: conversion webhook for e.com/v1, Kind="
        )


@dataclass(slots=True)
class Flunders:
    """A server of `flunders` in the namespace `n`."""

    names: set[str] = field(default_factory=lambda: {"a"})
    serves: bool = True
    bulk: bool = True
    refuses: bool = False
    users: set[str] = field(default_factory=set)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer discovery, lists and deletions."""
        if not self.serves:
            return web.Response(status=503)
        if request.path == "/apis":
            return discovery_of_flunders("delete", "list", *(["deletecollection"] if self.bulk else []))
        if request.path.startswith(FLUNDERS):
            self.users.add(request.headers["X-Remote-User"])
            name = request.path.removeprefix(FLUNDERS).strip("/")
            if request.method == "DELETE":
                assert (await request.json())["propagationPolicy"] == "Background"
                if self.refuses:
                    return web.json_response({"kind": "Status", "message": "not now", "code": 403}, status=403)
                self.names -= {name} if name else self.names
            return web.json_response({"items": [{"metadata": {"name": n}} for n in sorted(self.names)]})
        return web.json_response({}, status=404)


@asynccontextmanager
async def beside(
    certificate: Certificate, flunders: Flunders, log: Log | None = None
) -> AsyncIterator[aiohttp.ClientSession]:
    """Yield a client of a server that passes on requests for flunders, once it knows them."""
    async with listening(certificate, "/{tail:.*}", flunders.handle) as port, reaching(port, log) as api:
        await make(api, SERVICES, service(certificate))
        await make(api, NAMESPACES, {"metadata": {"name": "n"}})
        accept = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}

        async def known() -> bool:
            _, body = await call(api, "GET", "/apis", None, **accept)
            groups = {g["metadata"]["name"]: g["versions"][0]["freshness"] for g in body["items"]}
            return groups.get("wardle.example.com") == ("Current" if flunders.serves else "Stale")

        await until(known)
        yield api


@pytest.mark.parametrize("bulk", [True, False])
async def test_objects_in_other_servers_go_too(certificate: Certificate, bulk: bool) -> None:
    flunders = Flunders(bulk=bulk)
    async with beside(certificate, flunders) as api:
        await call(api, "DELETE", INSIDE)
        await gone(api)
    assert not flunders.names
    assert flunders.users == {"system:serviceaccount:kube-system:namespace-controller"}


async def test_other_servers_hold_the_namespace(certificate: Certificate) -> None:
    flunders = Flunders(refuses=True)
    async with beside(certificate, flunders) as api:
        await call(api, "DELETE", INSIDE)
        text = await told(api, "NamespaceDeletionContentFailure", "ContentDeletionFailed")
        assert text == "Failed to delete all resource types, 1 remaining: not now"
        flunders.refuses = False
        await gone(api)


async def test_an_unknown_group_holds_the_namespace(certificate: Certificate) -> None:
    flunders = Flunders(serves=False)
    async with beside(certificate, flunders) as api:
        await make(api, f"{INSIDE}/configmaps", {"metadata": {"name": "c"}})
        await call(api, "DELETE", INSIDE)
        await gone(api, f"{INSIDE}/configmaps/c")
        assert await told(api, "NamespaceDeletionDiscoveryFailure", "DiscoveryFailed") == (
            "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: "
            "wardle.example.com/v1: stale GroupVersion discovery: wardle.example.com/v1"
        )
        flunders.serves = True
        await call(api, "DELETE", f"{SERVICES}/v1.wardle.example.com")
        await gone(api)
