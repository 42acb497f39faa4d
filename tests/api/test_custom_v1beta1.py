"""Definitions in `apiextensions.k8s.io/v1beta1`, where that version is enabled (CRD-08, 09, 11, 30, 37)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from hydrofoil.apis.catalog import Catalog
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from hydrofoil.storage.log import Log
from tests.api.custom import CRDS, THINGS, Object, call, definition, thing, version

GROUP = "/apis/apiextensions.k8s.io"
OLD = f"{GROUP}/v1beta1/customresourcedefinitions"
NAME = "things.e.com"
MERGE = {"Content-Type": "application/merge-patch+json"}
CLIENT = {"url": "https://h.test/convert"}
WARNING = (
    '299 - "apiextensions.k8s.io/v1beta1 CustomResourceDefinition is deprecated in v1.16+, unavailable in v1.22+; '
    'use apiextensions.k8s.io/v1 CustomResourceDefinition"'
)


@pytest.fixture
async def beta(log: Log | None) -> AsyncIterator[aiohttp.ClientSession]:
    """Yield a client of a server that serves the old version too."""
    server = Server(Config(port=0, runtime_config={"apiextensions.k8s.io/v1beta1": True}), log)
    await server.start()
    async with aiohttp.ClientSession(server.url, headers={"Content-Type": "application/json"}) as session:
        yield session
    await server.stop()


def old(**spec: Any) -> Object:
    """Return a definition of the old version, which needs no more than its names and a version."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1beta1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": NAME},
        "spec": {"group": "e.com", "names": {"plural": "things", "kind": "Thing"}, **spec},
    }


def closed(**properties: Any) -> Object:
    """Return a `validation` whose schema is structural."""
    return {"openAPIV3Schema": {"type": "object", "properties": properties}}


VERSIONS = [{"name": "v1", "served": True, "storage": True}, {"name": "v2", "served": True, "storage": False}]
TEXT = {"type": "string"}


async def test_nothing_of_it_is_there_unless_it_is_switched_on(api: aiohttp.ClientSession) -> None:
    assert (await call(api, "GET", OLD))[0] == 404
    assert (await call(api, "POST", CRDS, old(version="v1")))[0] == 400
    _, group = await call(api, "GET", GROUP)
    assert [v["version"] for v in group["versions"]] == ["v1"]


def test_all_versions_of_a_stage_are_not_those_that_were_taken_out() -> None:
    assert set(Catalog({"api/all": True, "api/beta": True}).groups["apiextensions.k8s.io"]) == {"v1"}


async def test_it_is_found_behind_the_version_that_is_preferred(beta: aiohttp.ClientSession) -> None:
    _, group = await call(beta, "GET", GROUP)
    assert [v["version"] for v in group["versions"]] == ["v1", "v1beta1"]
    assert group["preferredVersion"]["version"] == "v1"
    _, found = await call(beta, "GET", f"{GROUP}/v1beta1")
    _, newer = await call(beta, "GET", f"{GROUP}/v1")
    assert found["resources"] == newer["resources"]
    _, service = await call(beta, "GET", "/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.apiextensions.k8s.io")
    assert service["spec"]["versionPriority"] == 9


async def test_what_a_client_of_those_days_sends(beta: aiohttp.ClientSession) -> None:
    """The Python client's own tests send no more than this (CRD-08)."""
    sent = old(version="v1", subresources={"status": {}})
    async with beta.post(OLD, json=sent) as r:
        shown = await r.json()
        assert (r.status, r.headers["Warning"]) == (201, WARNING)
    assert shown["spec"] == {
        "group": "e.com",
        "version": "v1",
        "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
        "scope": "Namespaced",
        "subresources": {"status": {}},
        "versions": [{"name": "v1", "served": True, "storage": True}],
        "conversion": {"strategy": "None"},
        "preserveUnknownFields": True,
    }
    assert shown["status"]["storedVersions"] == ["v1"]
    assert (await call(beta, "POST", THINGS, thing("a", spec={"any": [1]}, status={"s": 1})))[0] == 201
    _, kept = await call(beta, "GET", f"{THINGS}/a")
    assert (kept["spec"], "status" in kept) == ({"any": [1]}, False)
    status, kept = await call(beta, "PATCH", f"{THINGS}/a/status", {"status": {"s": 2}}, **MERGE)
    assert (status, kept["status"]) == (200, {"s": 2})


async def test_both_versions_show_one_object(beta: aiohttp.ClientSession) -> None:
    """CRD-09: members at the top are every version's in v1."""
    column = {"name": "A", "type": "string", "JSONPath": ".a"}
    parts = {"validation": closed(a=TEXT), "subresources": {"status": {}}, "additionalPrinterColumns": [column]}
    assert (await call(beta, "POST", OLD, old(versions=VERSIONS, preserveUnknownFields=False, **parts)))[0] == 201
    _, newer = await call(beta, "GET", f"{CRDS}/{NAME}")
    assert "preserveUnknownFields" not in newer["spec"]
    for one in newer["spec"]["versions"]:
        assert one["schema"] == parts["validation"]
        assert one["subresources"] == {"status": {}}
        assert one["additionalPrinterColumns"] == [{"name": "A", "type": "string", "jsonPath": ".a"}]
    _, older = await call(beta, "GET", f"{OLD}/{NAME}")
    assert {key: older["spec"][key] for key in parts} == parts
    assert (older["spec"]["version"], older["spec"]["preserveUnknownFields"]) == ("v1", False)
    assert older["metadata"]["uid"] == newer["metadata"]["uid"]
    _, listed = await call(beta, "GET", OLD)
    assert [(o["spec"]["validation"], listed["kind"]) for o in listed["items"]] == [
        (parts["validation"], "CustomResourceDefinitionList")
    ]


async def test_a_schema_at_the_top_is_every_versions(beta: aiohttp.ClientSession) -> None:
    """CRD-09."""
    assert (await call(beta, "POST", OLD, old(versions=VERSIONS, validation=closed(a=TEXT))))[0] == 201
    for name in ("v1", "v2"):
        path = THINGS.replace("v1", name)
        status, refused = await call(beta, "POST", path, thing("a", f"e.com/{name}", a=1))
        assert (status, refused["details"]["causes"][0]["field"]) == (422, "a")


async def test_only_those_that_ask_for_it_prune(beta: aiohttp.ClientSession) -> None:
    """CRD-11."""
    await call(beta, "POST", OLD, old(version="v1", validation=closed(a=TEXT)))
    _, kept = await call(beta, "POST", THINGS, thing("kept", a="x", more={"b": 1}))
    assert kept["more"] == {"b": 1}
    apply = {"Content-Type": "application/apply-patch+yaml"}
    _, kept = await call(beta, "PATCH", f"{THINGS}/applied?fieldManager=m", thing("applied", more=1), **apply)
    assert kept["more"] == 1
    _, crd = await call(beta, "GET", f"{OLD}/{NAME}")
    found = {c["type"]: (c["status"], c["reason"], c["message"]) for c in crd["status"]["conditions"]}
    why = "spec.preserveUnknownFields: Invalid value: true: must be false"
    assert found["NonStructuralSchema"] == ("True", "Violations", why)
    _, crd = await call(beta, "PATCH", f"{OLD}/{NAME}", {"spec": {"preserveUnknownFields": False}}, **MERGE)
    _, crd = await call(beta, "GET", f"{OLD}/{NAME}")
    assert "NonStructuralSchema" not in {c["type"] for c in crd["status"]["conditions"]}
    _, pruned = await call(beta, "GET", f"{THINGS}/kept")
    assert (pruned["a"], "more" in pruned) == ("x", False)


async def test_a_schema_that_is_not_structural_validates_all_the_same(beta: aiohttp.ClientSession) -> None:
    loose = {"openAPIV3Schema": {"properties": {"n": {"minimum": 1}, "t": {"type": "string"}}, "required": ["n"]}}
    assert (await call(beta, "POST", OLD, old(version="v1", validation=loose)))[0] == 201
    assert (await call(beta, "POST", THINGS, thing("good", n=1, other=True)))[0] == 201
    status, refused = await call(beta, "POST", THINGS, thing("bad", n=0, t=1))
    assert (status, {c["field"] for c in refused["details"]["causes"]}) == (422, {"n", "t"})
    # A newer client may go on with it, without making it worse or better.
    status, _ = await call(beta, "PATCH", f"{CRDS}/{NAME}", {"metadata": {"labels": {"a": "b"}}}, **MERGE)
    assert status == 200
    status, refused = await call(beta, "PATCH", f"{OLD}/{NAME}", {"spec": {"preserveUnknownFields": False}}, **MERGE)
    assert (status, refused["details"]["causes"][0]["field"]) == (
        422,
        "spec.validation.openAPIV3Schema.properties[n].type",
    )


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        (
            {"version": "v1", "validation": closed(a={**TEXT, "default": "x"})},
            "spec.validation.openAPIV3Schema.properties[a].default",
            "Forbidden: must not be set (cannot set default values in apiextensions.k8s.io/v1beta1 CRDs, must use "
            "apiextensions.k8s.io/v1)",
        ),
        (
            {"version": "v1", "preserveUnknownFields": False},
            "spec.versions[0].schema.openAPIV3Schema",
            "Required value: because otherwise all fields are pruned",
        ),
        (
            {"version": "v2", "versions": VERSIONS},
            "spec.version",
            'Invalid value: "v2": must match the first version in spec.versions',
        ),
        (
            {"versions": [{**VERSIONS[0], "schema": closed(a=TEXT)}, VERSIONS[1]], "validation": closed(b=TEXT)},
            "spec.validation",
            "Forbidden: top-level and per-version schemas are mutually exclusive",
        ),
        (
            {"versions": VERSIONS, "conversion": {"strategy": "Webhook", "webhookClientConfig": CLIENT}},
            "spec.conversion.strategy",
            'Invalid value: "Webhook": must be None if spec.preserveUnknownFields is true',
        ),
        (
            {
                "versions": VERSIONS,
                "validation": closed(a=TEXT),
                "conversion": {"strategy": "Webhook"},
                "preserveUnknownFields": False,
            },
            "spec.conversion.webhookClientConfig",
            "Required value: required when strategy is set to Webhook",
        ),
    ],
)
async def test_what_it_refuses(beta: aiohttp.ClientSession, spec: Object, field: str, message: str) -> None:
    """`ValidateCustomResourceDefinition` of apiextensions-apiserver 0.21 for requests of this version."""
    status, refused = await call(beta, "POST", OLD, old(**spec))
    assert status == 422
    assert (field, message) in [(c["field"], c["message"]) for c in refused["details"]["causes"]]


async def test_versions_that_say_the_same_say_it_at_the_top(beta: aiohttp.ClientSession) -> None:
    alike = [{**one, "schema": closed(a=TEXT)} for one in VERSIONS]
    status, refused = await call(beta, "POST", OLD, old(versions=alike))
    why = "per-version schemas may not all be set to identical values (top-level validation should be used instead)"
    assert (status, refused["details"]["causes"][0]["message"].endswith(why)) == (422, True)


async def test_a_webhook_is_asked_in_this_version_by_default(beta: aiohttp.ClientSession) -> None:
    """CRD-30, CRD-36, CRD-37."""
    service = {"namespace": "n", "name": "s"}
    conversion = {"strategy": "Webhook", "webhookClientConfig": {"service": service}}
    spec = {"versions": VERSIONS, "validation": closed(a=TEXT), "preserveUnknownFields": False}
    status, shown = await call(beta, "POST", OLD, old(conversion=conversion, **spec))
    assert status == 201
    assert shown["spec"]["conversion"] == {
        "strategy": "Webhook",
        "webhookClientConfig": {"service": {**service, "port": 443}},
        "conversionReviewVersions": ["v1beta1"],
    }
    _, newer = await call(beta, "GET", f"{CRDS}/{NAME}")
    assert newer["spec"]["conversion"]["webhook"] == {
        "clientConfig": {"service": {**service, "port": 443}},
        "conversionReviewVersions": ["v1beta1"],
    }
    bad = definition(
        version("v1", storage=True), conversion={"strategy": "Webhook", "webhook": {"clientConfig": CLIENT}}
    )
    status, refused = await call(beta, "POST", CRDS, bad)
    assert (status, refused["details"]["causes"][0]["field"]) == (422, "spec.conversion.conversionReviewVersions")


async def test_owners_of_both_versions(beta: aiohttp.ClientSession) -> None:
    """An owner of the one version keeps what it owns when the other writes."""
    apply = {"Content-Type": "application/apply-patch+yaml"}
    path = f"{OLD}/{NAME}?fieldManager=old"
    sent = old(versions=VERSIONS, validation=closed(a=TEXT), preserveUnknownFields=False)
    assert (await call(beta, "PATCH", path, sent, **apply))[0] == 201
    _, newer = await call(beta, "GET", f"{CRDS}/{NAME}")
    newer["metadata"]["labels"] = {"by": "new"}
    status, shown = await call(beta, "PUT", f"{CRDS}/{NAME}?fieldManager=new", newer)
    assert status == 200
    owners = {(m["manager"], m["apiVersion"]) for m in shown["metadata"]["managedFields"]}
    assert {("old", "apiextensions.k8s.io/v1beta1"), ("new", "apiextensions.k8s.io/v1")} <= owners
    assert (await call(beta, "PATCH", path, sent, **apply))[0] == 200


async def test_it_is_watched_and_deleted_as_the_other(beta: aiohttp.ClientSession) -> None:
    await call(beta, "POST", CRDS, definition(version("v1", storage=True)))
    async with beta.get(f"{OLD}?watch=1&timeoutSeconds=5") as events:
        first = await events.content.readline()
        assert b'"apiVersion":"apiextensions.k8s.io/v1beta1"' in first
        assert b'"validation":' in first
    status, going = await call(beta, "DELETE", f"{OLD}/{NAME}")
    assert (status, going["apiVersion"]) == (200, "apiextensions.k8s.io/v1beta1")
