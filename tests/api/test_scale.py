"""The scale subresource under server-side apply, and the default propagation policy of a deletion."""

from __future__ import annotations

from typing import Any

import aiohttp

from tests.api.custom import CRDS, THINGS, call, definition, thing, version

Object = dict[str, Any]
APPS = "/apis/apps/v1/namespaces/default"
APPLY = "application/apply-patch+yaml"
TEMPLATE: Object = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def deployment(**spec: Any) -> Object:
    base = {"selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {**base, **spec}}


def scale(name: str, **spec: Any) -> Object:
    return {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": name}, "spec": spec}


def owners(found: Object) -> dict[tuple[str, str, str], Any]:
    """Return the `spec` that each manager owns."""
    return {
        (e["manager"], e["operation"], e.get("subresource", "")): e["fieldsV1"].get("f:spec")
        for e in found["metadata"]["managedFields"]
    }


async def test_replicas_are_applied_through_scale(api: aiohttp.ClientSession) -> None:
    """SSA-22: the applier of the replicas is their manager; force moves them, and an apply of main moves them back."""
    path = f"{APPS}/deployments/d"
    await call(api, "PATCH", f"{path}?fieldManager=main", deployment(replicas=2), **{"Content-Type": APPLY})
    through = f"{path}/scale?fieldManager=scaler"
    status, refused = await call(api, "PATCH", through, scale("d", replicas=3), **{"Content-Type": APPLY})
    assert status == 409
    assert refused["message"] == 'Apply failed with 1 conflict: conflict with "main": .spec.replicas'
    status, shown = await call(api, "PATCH", f"{through}&force=true", scale("d", replicas=3), **{"Content-Type": APPLY})
    assert (status, shown["spec"]) == (200, {"replicas": 3})
    assert "managedFields" not in shown["metadata"]
    _, found = await call(api, "GET", path)
    assert found["spec"]["replicas"] == 3
    assert owners(found)["scaler", "Apply", "scale"] == {"f:replicas": {}}
    assert "f:replicas" not in owners(found)["main", "Apply", ""]
    revision = found["metadata"]["resourceVersion"]
    await call(api, "PATCH", through, scale("d", replicas=3), **{"Content-Type": APPLY})
    assert (await call(api, "GET", path))[1]["metadata"]["resourceVersion"] == revision, "nothing changed"
    main = f"{path}?fieldManager=main"
    _, found = await call(api, "PATCH", main, deployment(replicas=3), **{"Content-Type": APPLY})
    assert "f:replicas" in owners(found)["main", "Apply", ""], "both say the same"
    _, refused = await call(api, "PATCH", main, deployment(replicas=4), **{"Content-Type": APPLY})
    assert refused["details"]["causes"][0]["message"] == 'conflict with "scaler" with subresource "scale"'


async def test_what_a_scale_may_not_say(api: aiohttp.ClientSession) -> None:
    path = f"{APPS}/deployments/d"
    await call(api, "POST", f"{APPS}/deployments", deployment())
    apply = {"Content-Type": APPLY}
    assert (await call(api, "PATCH", f"{path}/scale?fieldManager=m", deployment(), **apply))[0] == 400
    assert (await call(api, "PATCH", f"{path}/scale", scale("d", replicas=1), **apply))[0] == 422
    assert (await call(api, "PATCH", f"{APPS}/deployments/none/scale?fieldManager=m", scale("none"), **apply))[0] == 404
    body = scale("d", replicas=1)
    body["metadata"]["uid"] = "other"
    status, refused = await call(api, "PUT", f"{path}/scale", body)
    assert status == 409
    assert "StorageError: invalid object, Code: 4, Key: /deployments/default/d" in refused["message"]
    merge = {"Content-Type": "application/merge-patch+json"}
    status, refused = await call(api, "PATCH", f"{path}/scale", {"metadata": {"uid": "other"}}, **merge)
    assert status == 409
    assert refused["message"].startswith('Operation cannot be fulfilled on deployments/scale.apps "d": Precondition')


async def test_custom_resources_are_scaled_by_their_path(api: aiohttp.ClientSession) -> None:
    """CRD-20: replicas are at the path in the definition, under apply too, which cannot change them in a cluster."""
    paths = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}
    await call(api, "POST", CRDS, definition(version("v1", storage=True, subresources={"scale": paths})))
    await call(api, "POST", f"{THINGS}?fieldManager=maker", thing("t", spec={"size": 1, "x": "y"}))
    through = f"{THINGS}/t/scale?fieldManager=scaler"
    unknown = await call(api, "PATCH", through, {}, **{"Content-Type": "text/plain"})
    assert (unknown[0], unknown[1]["message"][:46]) == (415, "the body of the request was in an unknown form")
    apply = {"Content-Type": APPLY}
    status, refused = await call(api, "PATCH", through, scale("t", replicas=3), **apply)
    assert (status, refused["details"]["causes"][0]["field"]) == (409, ".spec.replicas")
    forced = f"{through}&force=true"
    status, refused = await call(api, "PATCH", forced, scale("t", replicas=3), **apply)
    why = "to proper version: request to convert CR to an invalid group/version: autoscaling/v1"
    assert refused["message"] == f"failed to convert new object (/t; autoscaling/v1, Kind=Scale) {why}"
    assert (status, "reason" in refused) == (500, False)
    merge = {"Content-Type": "application/merge-patch+json"}
    assert (await call(api, "PATCH", through, {"spec": {"replicas": 3}}, **merge))[0] == 200
    status, shown = await call(api, "PATCH", forced, scale("t", replicas=3), **apply)
    assert (status, shown["spec"]) == (200, {"replicas": 3})
    _, found = await call(api, "GET", f"{THINGS}/t")
    assert found["spec"] == {"size": 3, "x": "y"}
    assert owners(found)["scaler", "Apply", "scale"] == {"f:size": {}}
    assert owners(found)["maker", "Update", ""] == {".": {}, "f:x": {}}


async def test_jobs_and_replication_controllers_leave_their_pods(api: aiohttp.ClientSession) -> None:
    """The default of old kinds is to orphan (`DefaultGarbageCollectionPolicy` of their strategies)."""
    core, batch = "/api/v1/namespaces/default", "/apis/batch/v1/namespaces/default"
    controller: Object = {"metadata": {"name": "rc"}, "spec": {"template": TEMPLATE}}
    pod = {"restartPolicy": "Never", **TEMPLATE["spec"]}
    job: Object = {"metadata": {"name": "j"}, "spec": {"template": {"spec": pod}}}
    for collection, body in ((f"{core}/replicationcontrollers", controller), (f"{batch}/jobs", job)):
        path = f"{collection}/{body['metadata']['name']}"
        assert (await call(api, "POST", collection, body))[0] == 201
        for query in ("", "propagationPolicy=Orphan", "orphanDependents=true"):
            _, marked = await call(api, "DELETE", f"{path}?dryRun=All&{query}")
            assert marked["metadata"]["finalizers"][-1:] == ["orphan"], (path, query)
        _, gone = await call(api, "DELETE", f"{path}?propagationPolicy=Background&dryRun=All")
        assert gone["kind"] == "Status" or "orphan" not in gone["metadata"].get("finalizers", [])
    async with api.delete(f"{batch}/jobs") as r:
        assert "child pods are preserved by default" in r.headers["Warning"]
