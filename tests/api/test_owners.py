"""Managed fields: ownership by manager and endpoint."""

from __future__ import annotations

import json
from typing import Any

import aiohttp

from tests.api.custom import CRDS, THINGS, call, definition, thing, version

APPS = "/apis/apps/v1/namespaces/default/deployments"
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
APPLY = {"Content-Type": "application/apply-patch+yaml"}
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def deployment() -> dict[str, Any]:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}


async def test_scale_owns_the_replicas(api: aiohttp.ClientSession) -> None:
    """SSA-22: the entry of a scale names its subresource and has no time; the creator gives the field up."""
    async with api.post(f"{APPS}?fieldManager=maker", json=deployment()) as r:
        assert r.status == 201
    merge = {"Content-Type": "application/merge-patch+json"}
    async with api.patch(f"{APPS}/d/scale?fieldManager=hpa", json={"spec": {"replicas": 5}}, headers=merge) as r:
        assert r.status == 200
    async with api.get(f"{APPS}/d") as r:
        entries = {e["manager"]: e for e in (await r.json())["metadata"]["managedFields"]}
    assert "f:replicas" not in entries["maker"]["fieldsV1"]["f:spec"]
    assert entries["hpa"]["subresource"] == "scale"
    assert "time" not in entries["hpa"]
    assert entries["hpa"]["fieldsV1"] == {"f:spec": {"f:replicas": {}}}


async def test_kubectl_moves_from_client_side_apply(api: aiohttp.ClientSession) -> None:
    """SSA: what the annotation set is no conflict for kubectl, and the annotation follows; for others it is one."""
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "csa"}, "data": {"k": "v"}}
    noted = {**config, "metadata": {"name": "csa", "annotations": {LAST_APPLIED: json.dumps(config)}}}
    async with api.post(f"{CONFIGMAPS}?fieldManager=kubectl-client-side-apply", json=noted) as r:
        assert r.status == 201
    changed = json.dumps({**config, "data": {"k": "changed"}})
    async with api.patch(f"{CONFIGMAPS}/csa?fieldManager=other", data=changed, headers=APPLY) as r:
        assert r.status == 409
    async with api.patch(f"{CONFIGMAPS}/csa?fieldManager=kubectl", data=changed, headers=APPLY) as r:
        assert r.status == 200
        applied = await r.json()
    assert applied["data"] == {"k": "changed"}
    assert json.loads(applied["metadata"]["annotations"][LAST_APPLIED]) == json.loads(changed)


async def test_a_patch_keeps_the_entries_that_it_does_not_touch(api: aiohttp.ClientSession) -> None:
    """SSA: entries come through a patch as they were; one that names them may drop them."""
    async with api.post(f"{APPS}?fieldManager=maker", json=deployment()) as r:
        before = (await r.json())["metadata"]["managedFields"]
    note = {"metadata": {"annotations": {"a": 'says "managedFields":[ and more'}}}
    merge = {"Content-Type": "application/merge-patch+json"}
    for _ in range(2):
        async with api.patch(f"{APPS}/d?fieldManager=noter", json=note, headers=merge) as r:
            assert r.status == 200
            after = (await r.json())["metadata"]["managedFields"]
        assert [e for e in after if e["manager"] == "maker"] == before
        assert len(after) == 2
    async with api.patch(f"{APPS}/d", json={"metadata": {"managedFields": [{}]}}, headers=merge) as r:
        assert "managedFields" not in (await r.json())["metadata"]


async def test_a_scale_is_applied(api: aiohttp.ClientSession) -> None:
    """`scalehandler.go`: a configuration of the Scale owns the replicas, which the object's own applier gives up."""
    async with api.patch(f"{APPS}/d?fieldManager=one", json=deployment(), headers=APPLY) as r:
        assert r.status == 201
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": 3}}
    async with api.patch(f"{APPS}/d/scale?fieldManager=two", json=scale, headers=APPLY) as r:
        assert r.status == 409
        assert (await r.json())["details"]["causes"][0]["field"] == ".spec.replicas"
    async with api.patch(f"{APPS}/d/scale?fieldManager=two&force=true", json=scale, headers=APPLY) as r:
        assert (r.status, (await r.json())["spec"]) == (200, {"replicas": 3})
    async with api.get(f"{APPS}/d") as r:
        found = await r.json()
    entries = {e["manager"]: e for e in found["metadata"]["managedFields"]}
    assert found["spec"]["replicas"] == 3
    assert "f:replicas" not in entries["one"]["fieldsV1"]["f:spec"]
    assert entries["two"] == {
        "manager": "two",
        "operation": "Apply",
        "apiVersion": "apps/v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {"f:replicas": {}}},
        "subresource": "scale",
    }
    # It keeps what it owns, and gives up what it no longer names.
    async with api.patch(f"{APPS}/d/scale?fieldManager=two", json=scale, headers=APPLY) as r:
        assert r.status == 200


async def test_who_cannot_be_told_apart_is_owned_by_nobody(api: aiohttp.ClientSession) -> None:
    """SSA: an item without its key leaves the whole object without owners, as upstream's typed conversion fails."""
    path = "/api/v1/namespaces/default/serviceaccounts"
    for name, secrets in (("told", [{"name": "s"}]), ("untold", [{"name": "s"}, {}])):
        async with api.post(path, json={"metadata": {"name": name}, "secrets": secrets}) as r:
            assert r.status == 201
            assert ("managedFields" in (await r.json())["metadata"]) == (name == "told")


async def test_owners_of_an_autoscaler_in_two_versions(api: aiohttp.ClientSession) -> None:
    """SSA-05, SSA-47: what is written in one version is taken from its owner in another, and asked for there."""
    path = "/apis/autoscaling/{}/namespaces/default/horizontalpodautoscalers/h"
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    spec = {"maxReplicas": 5, "scaleTargetRef": target, "targetCPUUtilizationPercentage": 50}
    old = {"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "h"}, "spec": spec}
    merge = {"Content-Type": "application/merge-patch+json"}
    status, _ = await call(api, "PATCH", f"{path.format('v1')}?fieldManager=old", old, **APPLY)
    assert status == 201
    _, found = await call(api, "GET", path.format("v2"))
    cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}
    assert found["spec"]["metrics"] == [{"type": "Resource", "resource": cpu}]
    cpu["target"] = {"type": "Utilization", "averageUtilization": 60}
    changed = {"spec": {"maxReplicas": 6, "metrics": [{"type": "Resource", "resource": cpu}]}}
    status, _ = await call(api, "PATCH", f"{path.format('v2')}?fieldManager=new", changed, **merge)
    assert status == 200
    _, found = await call(api, "GET", path.format("v1"))
    assert (found["spec"]["maxReplicas"], found["spec"]["targetCPUUtilizationPercentage"]) == (6, 60)
    entries = {
        e["manager"]: (e["apiVersion"], set(e["fieldsV1"]["f:spec"])) for e in found["metadata"]["managedFields"]
    }
    assert entries["new"] == ("autoscaling/v2", {"f:maxReplicas", "f:metrics"})
    assert entries["old"] == ("autoscaling/v1", {"f:scaleTargetRef"})
    status, refused = await call(api, "PATCH", f"{path.format('v1')}?fieldManager=old", old, **APPLY)
    fields = [cause["field"] for cause in refused["details"]["causes"]]
    assert (status, fields) == (409, [".spec.maxReplicas", ".spec.metrics"])
    assert 'conflict with "new" using autoscaling/v2' in refused["details"]["causes"][0]["message"]
    config = {**old, "apiVersion": "autoscaling/v2", "spec": {"maxReplicas": 6, "scaleTargetRef": target}}
    status, found = await call(api, "PATCH", f"{path.format('v2')}?fieldManager=old", config, **APPLY)
    assert status == 200
    mine = [e for e in found["metadata"]["managedFields"] if e["manager"] == "old"]
    assert [(e["apiVersion"], set(e["fieldsV1"]["f:spec"])) for e in mine] == [
        ("autoscaling/v2", {"f:maxReplicas", "f:scaleTargetRef"})
    ]


async def test_a_status_request_owns_what_it_gives_beside_the_status(api: aiohttp.ClientSession) -> None:
    """The status alone is written, but managed fields are kept before the strategy puts the rest back; only metadata
    and spec are reset fields (`statusStrategy.GetResetFields`)."""
    text = {"type": "string"}
    schema = {"type": "object", "properties": {"a": text, "b": text, "spec": text, "status": text}}
    made = definition(version("v1", storage=True, schema=schema, subresources={"status": {}}))
    assert (await call(api, "POST", CRDS, made))[0] == 201
    await call(api, "POST", f"{THINGS}?fieldManager=m", thing("a", a="1", b="1", spec="1"))
    media = {"Content-Type": "application/merge-patch+json"}
    patch = {"a": "2", "spec": "2", "status": "2"}
    _, shown = await call(api, "PATCH", f"{THINGS}/a/status?fieldManager=m", patch, **media)
    assert (shown["a"], shown["spec"], shown["status"]) == ("1", "1", "2")
    owners = {e.get("subresource", ""): set(e["fieldsV1"]) for e in shown["metadata"]["managedFields"]}
    assert owners == {"": {"f:b", "f:spec"}, "status": {"f:a", "f:status"}}


async def test_a_status_that_does_not_fit_forgets_the_owners(api: aiohttp.ClientSession) -> None:
    """It is put back as it was, but only after the managed fields could not be made (`UpdateNoErrors`)."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "status": {"type": "boolean"}}}
    made = definition(version("v1", storage=True, schema=schema, subresources={"status": {}}))
    assert (await call(api, "POST", CRDS, made))[0] == 201
    await call(api, "POST", f"{THINGS}?fieldManager=m", thing("a", a="1"))
    media = {"Content-Type": "application/merge-patch+json"}
    _, shown = await call(api, "PATCH", f"{THINGS}/a?fieldManager=m&dryRun=All", {"status": ""}, **media)
    assert "managedFields" not in shown["metadata"]
    assert "status" not in shown
