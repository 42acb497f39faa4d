"""Requests for deprecated kinds in audit records: of each verb, as `MonitorRequest` annotates them (DEP-08)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.api.audit import METADATA, Audited, audited

CORE = "/api/v1/namespaces/default"
ENDPOINTS = f"{CORE}/endpoints"
CLAIMS = "/apis/resource.k8s.io/v1beta1/namespaces/default/resourceclaims"
DEPRECATED = {"k8s.io/deprecated": "true"}
REMOVED = DEPRECATED | {"k8s.io/removed-release": "1.38"}
MERGE, APPLY = "application/merge-patch+json", "application/apply-patch+yaml"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


async def marks(a: Audited) -> dict[str, dict[str, str]]:
    """Return the annotations about deprecation of each record, by its id."""
    found = {}
    for event in await a.events():
        given: dict[str, str] = event.get("annotations", {})
        found[event["auditID"] + ("" if event["stage"] == "ResponseComplete" else "-started")] = {
            key: value for key, value in given.items() if key.startswith("k8s.io/")
        }
    return found


async def test_each_verb_of_a_deprecated_kind_is_marked(tmp_path: Path) -> None:
    async with audited(tmp_path, METADATA) as a:
        body = {"metadata": {"name": "e"}}
        assert (await a.ask("POST", ENDPOINTS, body, Audit_ID="create"))[0] == 201
        assert (await a.ask("GET", f"{ENDPOINTS}/e", Audit_ID="get"))[0] == 200
        assert (await a.ask("GET", ENDPOINTS, Audit_ID="list"))[0] == 200
        assert (await a.ask("GET", f"{ENDPOINTS}?watch=1&timeoutSeconds=1", Audit_ID="watch"))[0] == 200
        assert (await a.ask("PUT", f"{ENDPOINTS}/e", body, Audit_ID="update"))[0] == 200
        assert (await a.ask("PATCH", f"{ENDPOINTS}/e", {}, Audit_ID="patch", Content_Type=MERGE))[0] == 200
        applied = {"apiVersion": "v1", "kind": "Endpoints", **body}
        path = f"{ENDPOINTS}/e?fieldManager=m"
        assert (await a.ask("PATCH", path, applied, Audit_ID="apply", Content_Type=APPLY))[0] == 200
        assert (await a.ask("PATCH", f"{ENDPOINTS}/e", {}, Audit_ID="type", Content_Type="text/plain"))[0] == 415
        assert (await a.ask("DELETE", f"{ENDPOINTS}/e", Audit_ID="delete"))[0] == 200
        assert (await a.ask("DELETE", f"{ENDPOINTS}/e", Audit_ID="absent"))[0] == 404
        assert (await a.ask("DELETE", ENDPOINTS, Audit_ID="collection"))[0] == 200
        found = await marks(a)
        assert found.pop("watch-started") == {}
        verbs = ["create", "get", "list", "watch", "update", "patch", "apply", "type", "delete", "absent", "collection"]
        assert found == dict.fromkeys(verbs, DEPRECATED)


async def test_no_other_request_is_marked(tmp_path: Path) -> None:
    async with audited(tmp_path, METADATA) as a:
        await a.ask("GET", f"{CORE}/configmaps", Audit_ID="other")
        await a.ask("GET", ENDPOINTS, Audit_ID="unacceptable", Accept="image/png")
        await a.ask("POST", f"{ENDPOINTS}/e", {}, Audit_ID="method")
        await a.ask("GET", f"{ENDPOINTS}/e/status", Audit_ID="absent")
        assert await marks(a) == {name: {} for name in ("other", "unacceptable", "method", "absent")}


async def test_the_release_that_removes_a_version_is_named(tmp_path: Path) -> None:
    versions = {"resource.k8s.io/v1beta1": True}
    async with audited(tmp_path, METADATA, runtime_config=versions) as a:
        assert (await a.ask("GET", CLAIMS, Audit_ID="list"))[0] == 200
        await a.ask("PATCH", f"{CLAIMS}/c/status", {}, Audit_ID="status", Content_Type=MERGE)
        assert await marks(a) == {"list": REMOVED, "status": REMOVED}


def definition() -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    old = {"name": "v1", "served": True, "storage": False, "deprecated": True, "schema": schema}
    new = {"name": "v2", "served": True, "storage": True, "schema": schema}
    parts = [part | {"subresources": {"status": {}}} for part in (old, new)]
    names = {"plural": "things", "kind": "Thing"}
    spec = {"group": "e.com", "names": names, "scope": "Cluster", "versions": parts}
    return {"metadata": {"name": "things.e.com"}, "spec": spec}


async def test_a_deprecated_version_of_a_definition_is_marked(tmp_path: Path) -> None:
    async with audited(tmp_path, METADATA) as a:
        assert (await a.ask("POST", CRDS, definition(), Audit_ID="definition"))[0] == 201
        body = {"apiVersion": "e.com/v1", "kind": "Thing", "metadata": {"name": "t"}}
        assert (await a.ask("POST", "/apis/e.com/v1/things", body, Audit_ID="old"))[0] == 201
        status = "/apis/e.com/v1/things/t/status"
        assert (await a.ask("PATCH", status, {}, Audit_ID="status", Content_Type=MERGE))[0] == 200
        assert (await a.ask("DELETE", "/apis/e.com/v2/things/t", Audit_ID="new"))[0] == 200
        found = await marks(a)
        assert found == {"definition": {}, "old": DEPRECATED, "status": DEPRECATED, "new": {}}
