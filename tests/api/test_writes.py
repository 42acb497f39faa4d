"""Writes of built-in kinds whose outcome kube-apiserver decides by rules that few clients ever meet."""

from __future__ import annotations

from typing import Any

import aiohttp
import orjson
import pytest

from tests.api.calls import get, post

CORE = "/api/v1/namespaces/default"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
POD: dict[str, Any] = {"containers": [{"name": "c", "image": "i"}]}
WORKLOAD: dict[str, Any] = {
    "replicas": 2,
    "selector": {"matchLabels": {"a": "b"}},
    "template": {"metadata": {"labels": {"a": "b"}}, "spec": POD},
}


async def patched(api: aiohttp.ClientSession, path: str, kind: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Return the code and body of the answer to a patch."""
    async with api.patch(path, data=orjson.dumps(body), headers={"Content-Type": kind}) as r:
        return r.status, await r.json()


@pytest.mark.parametrize("kind", [STRATEGIC, MERGE])
@pytest.mark.parametrize("texts", [{}, {"c": "plain"}])
async def test_data_and_texts_of_a_secret_in_one_patch(
    api: aiohttp.ClientSession, kind: str, texts: dict[str, str]
) -> None:
    """Data in a patch is kept if the patch has texts too (UP-10)."""
    await post(api, f"{CORE}/secrets", {"metadata": {"name": "s"}, "data": {"a": "YQ=="}})
    code, secret = await patched(api, f"{CORE}/secrets/s", kind, {"data": {"b": "Yg=="}, "stringData": texts})
    assert code == 200
    assert secret["data"] == {"a": "YQ==", "b": "Yg=="} | ({"c": "cGxhaW4="} if texts else {})


async def test_keys_that_go_always_writes_have_defaults(api: aiohttp.ClientSession) -> None:
    """An item without such a key is one whose key is empty; others have no place in their list (SSA-05)."""
    body: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
    path = f"{CORE}/pods/p?fieldManager=m"
    code, status = await patched(api, path, APPLY, body | {"spec": {"containers": [{"image": "i"}]}})
    assert (code, status["message"]) == (422, 'Pod "p" is invalid: spec.containers[0].name: Required value')
    code, status = await patched(api, path, APPLY, body | {"spec": {"containers": [{"image": "i"}, {"image": "j"}]}})
    assert code == 500
    assert status["message"].endswith('.spec.containers: duplicate entries for key [name=""]')
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}, "secrets": [{}]}
    code, status = await patched(api, f"{CORE}/serviceaccounts/a?fieldManager=m", APPLY, account)
    assert code == 500
    assert "omits all key fields" in status["message"]


@pytest.mark.parametrize(
    ("rest", "why"),
    [
        ({"spec": {"replicas": 1.5}}, "cannot convert float64 to int32"),
        ({"metadata": {"name": "d", "creationTimestamp": "bad"}}, 'parsing time "bad"'),
    ],
)
async def test_what_fits_the_schema_and_not_the_type(
    api: aiohttp.ClientSession, rest: dict[str, Any], why: str
) -> None:
    """Upstream reports it as an internal error."""
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}} | rest
    code, status = await patched(api, f"{DEPLOYMENTS}/d?fieldManager=m", APPLY, body)
    assert (code, status.get("reason")) == (500, None)
    start = "failed to convert new object (/d; apps/v1, Kind=Deployment) to proper version: "
    assert status["message"].startswith(
        f"{start}unable to convert unstructured object to apps/v1, Kind=Deployment: {why}"
    )


async def test_versions_of_what_is_not_there_yet(api: aiohttp.ClientSession) -> None:
    """A new object may name the version 0; what an apply or a PUT makes may name any."""
    await post(api, f"{CORE}/configmaps", {"metadata": {"name": "zero", "resourceVersion": "0"}})
    await post(api, f"{CORE}/configmaps", {"metadata": {"name": "one", "resourceVersion": "1"}}, 500)
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied", "resourceVersion": "1"}}
    code, made = await patched(api, f"{CORE}/configmaps/applied?fieldManager=m", APPLY, body)
    assert (code, made["metadata"]["name"]) == (201, "applied")
    async with api.put(f"{CORE}/endpoints/put", json={"metadata": {"name": "put", "resourceVersion": "1"}}) as r:
        assert r.status == 201


async def test_services_are_created_by_way_of_their_status(api: aiohttp.ClientSession) -> None:
    """Only those kinds whose storage of the status lets an update create."""
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}
    assert (await patched(api, f"{CORE}/services/s/status?fieldManager=m", APPLY, service))[0] == 201
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": POD}
    assert (await patched(api, f"{CORE}/pods/p/status?fieldManager=m", APPLY, pod))[0] == 404


def owners(found: dict[str, Any]) -> list[tuple[str, str, bool, bool]]:
    """Return for each entry: manager, subresource, whether it has a time, whether it has the replicas."""
    entries = found["metadata"].get("managedFields", [])
    return [
        (e["manager"], e.get("subresource", ""), "time" in e, "f:replicas" in e["fieldsV1"].get("f:spec", {}))
        for e in entries
    ]


async def test_owners_of_replicas_that_a_scale_leaves_alone(api: aiohttp.ClientSession) -> None:
    """Any write of a Scale moves them to an entry of its own, which the next write drops (scalehandler.go)."""
    await post(api, f"{DEPLOYMENTS}?fieldManager=one", {"metadata": {"name": "d"}, "spec": WORKLOAD})
    path = f"{DEPLOYMENTS}/d"
    assert (await patched(api, f"{path}/scale?fieldManager=two", MERGE, {"spec": {}}))[0] == 200
    assert owners(await get(api, path)) == [("one", "", False, True), ("one", "", True, False)]
    assert (await patched(api, f"{path}?fieldManager=two", MERGE, {"spec": {"paused": True}}))[0] == 200
    assert owners(await get(api, path)) == [("one", "", True, False), ("two", "", True, False)]


async def test_a_scale_takes_the_replicas_over(api: aiohttp.ClientSession) -> None:
    """A manager that changes them through the subresource owns them."""
    await post(api, f"{DEPLOYMENTS}?fieldManager=one", {"metadata": {"name": "d"}, "spec": WORKLOAD})
    path = f"{DEPLOYMENTS}/d"
    assert (await patched(api, f"{path}/scale?fieldManager=two", MERGE, {"spec": {"replicas": 3}}))[0] == 200
    assert owners(await get(api, path)) == [("two", "scale", False, True), ("one", "", True, False)]


async def test_metadata_of_a_scale_is_validated(api: aiohttp.ClientSession) -> None:
    """Though nothing of it is kept (`ValidateScale`)."""
    await post(api, DEPLOYMENTS, {"metadata": {"name": "d"}, "spec": WORKLOAD})
    scale = {"metadata": {"name": "d", "labels": {"a": "x" * 64}}, "spec": {"replicas": -1}}
    async with api.put(f"{DEPLOYMENTS}/d/scale", json=scale) as r:
        status = await r.json()
    assert (r.status, [c["field"] for c in status["details"]["causes"]]) == (422, ["metadata.labels", "spec.replicas"])


async def test_addresses_of_a_pod(api: aiohttp.ClientSession) -> None:
    """The one address and the first of the list are the same; of two the one counts (`conversion.go`)."""
    await post(api, f"{CORE}/pods", {"metadata": {"name": "p"}, "spec": POD})
    steps: list[tuple[dict[str, Any], str, list[str]]] = [
        ({"podIP": "10.1.1.1"}, "10.1.1.1", ["10.1.1.1"]),
        ({"podIP": "10.1.1.2"}, "10.1.1.2", ["10.1.1.2"]),
        ({"podIP": None, "podIPs": [{"ip": "10.1.1.3"}, {"ip": "fd00::1"}]}, "10.1.1.3", ["10.1.1.3", "fd00::1"]),
    ]
    for status, one, all_ in steps:
        code, pod = await patched(api, f"{CORE}/pods/p/status", MERGE, {"status": status})
        assert (code, pod["status"]["podIP"], [ip["ip"] for ip in pod["status"]["podIPs"]]) == (200, one, all_)


async def test_when_the_phase_of_a_volume_changed(api: aiohttp.ClientSession) -> None:
    """The time is set anew with a new phase, and kept without one."""
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}
    volume = await post(api, "/api/v1/persistentvolumes", {"metadata": {"name": "v"}, "spec": spec})
    since = volume["status"]["lastPhaseTransitionTime"]
    path = "/api/v1/persistentvolumes/v/status"
    volume["status"] = {"phase": "Pending"}
    async with api.put(path, json=volume) as r:
        volume = await r.json()
    assert volume["status"] == {"phase": "Pending", "lastPhaseTransitionTime": since}
    volume["status"] = {"phase": "Available"}
    async with api.put(path, json=volume) as r:
        volume = await r.json()
    assert volume["status"]["lastPhaseTransitionTime"] >= since


async def test_the_generation_of_a_template_is_no_matter_of_the_status(api: aiohttp.ClientSession) -> None:
    """It belongs to the specification, though it is shown as an annotation."""
    sets = "/apis/apps/v1/namespaces/default/daemonsets"
    given = {"metadata": {"name": "d"}, "spec": {k: v for k, v in WORKLOAD.items() if k != "replicas"}}
    await post(api, sets, given)
    async with api.put(f"{sets}/d/status", json=given | {"apiVersion": "apps/v1", "kind": "DaemonSet"}) as r:
        changed = await r.json()
    assert (r.status, changed["metadata"]["annotations"]) == (200, {"deprecated.daemonset.template.generation": "1"})


async def test_a_template_with_a_pointer_to_nothing_is_another_one(api: aiohttp.ClientSession) -> None:
    sets = "/apis/apps/v1/namespaces/default/daemonsets"
    given = {"metadata": {"name": "d"}, "spec": {k: v for k, v in WORKLOAD.items() if k != "replicas"}}
    await post(api, sets, given)
    code, changed = await patched(api, f"{sets}/d", MERGE, {"spec": {"template": {"spec": {"affinity": {}}}}})
    assert (code, changed["metadata"]["generation"]) == (200, 2)
    assert changed["metadata"]["annotations"] == {"deprecated.daemonset.template.generation": "2"}


async def test_a_gated_pod_takes_an_empty_node_affinity(api: aiohttp.ClientSession) -> None:
    gates = [{"name": "e.com/g"}]
    await post(api, f"{CORE}/pods", {"metadata": {"name": "p"}, "spec": {**POD, "schedulingGates": gates}})
    code, changed = await patched(api, f"{CORE}/pods/p", MERGE, {"spec": {"affinity": {"nodeAffinity": {}}}})
    assert (code, changed["spec"]["affinity"]) == (200, {"nodeAffinity": {}})


@pytest.mark.parametrize(
    ("spec", "field", "text"),
    [
        ({"containers": [*POD["containers"], {"name": "d", "image": "i"}]}, "spec.containers", "added or removed"),
        ({"containers": [{"name": "d", "image": "i"}]}, "spec.containers[0].name", "renamed or reordered"),
        ({"initContainers": [{"name": "i", "image": "i"}]}, "spec.initContainers", "initContainers may not be added"),
    ],
)
async def test_containers_stay_while_a_pod_is_resized(
    api: aiohttp.ClientSession, spec: dict[str, Any], field: str, text: str
) -> None:
    """They are not quietly put back (`dropNonResizeUpdates`)."""
    pod = await post(api, f"{CORE}/pods", {"metadata": {"name": "p"}, "spec": POD})
    pod["spec"] |= spec
    async with api.put(f"{CORE}/pods/p/resize", json=pod) as r:
        status = await r.json()
    assert r.status == 422
    assert any(c["field"] == field and text in c["message"] for c in status["details"]["causes"]), status["message"]


@pytest.mark.parametrize(("policy", "left"), [("Foreground", ["foregroundDeletion"]), ("Orphan", ["orphan"])])
async def test_namespaces_wait_as_the_policy_says(api: aiohttp.ClientSession, policy: str, left: list[str]) -> None:
    """The finalizers of garbage collection are set on namespaces too (DEL-04)."""
    await post(api, "/api/v1/namespaces", {"metadata": {"name": "n"}})
    async with api.delete(f"/api/v1/namespaces/n?propagationPolicy={policy}&dryRun=All") as r:
        assert (await r.json())["metadata"]["finalizers"] == left


async def test_keys_to_keep_of_a_whole_object_are_complete(api: aiohttp.ClientSession) -> None:
    """The type counts among what a patch names (`applyRetainKeysDirective`)."""
    await post(api, f"{CORE}/configmaps", {"metadata": {"name": "c"}, "data": {"a": "b"}})
    path = f"{CORE}/configmaps/c"
    body = {"kind": "ConfigMap", "metadata": {"name": "c"}, "$retainKeys": ["metadata"]}
    code, status = await patched(api, path, STRATEGIC, body)
    assert (code, status["message"]) == (400, "invalid patch format of retainKeys")
    code, kept = await patched(api, path, STRATEGIC, body | {"$retainKeys": ["kind", "metadata"]})
    assert (code, "data" in kept) == (200, False)


@pytest.mark.parametrize(("kind", "spec"), [("deployments", {"replicas": 0}), ("daemonsets", {})])
async def test_bookmarks_show_what_the_conversion_sets(
    api: aiohttp.ClientSession, kind: str, spec: dict[str, int]
) -> None:
    """The empty object of a bookmark comes from the internal version (WATCH-06)."""
    query = "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1"
    async with api.get(f"/apis/apps/v1/namespaces/default/{kind}?{query}") as r:
        shown = orjson.loads(await r.content.readline())["object"]
    assert shown["spec"].get("replicas") == spec.get("replicas")
    assert ("deprecated.daemonset.template.generation" in shown["metadata"]["annotations"]) == (kind == "daemonsets")


async def test_a_dry_deletion_without_grace_is_told_as_graceful(api: aiohttp.ClientSession) -> None:
    """As a real one is, and the pod stays as it was (DEL-05)."""
    await post(api, f"{CORE}/pods", {"metadata": {"name": "p"}, "spec": POD})
    async with api.delete(f"{CORE}/pods/p?gracePeriodSeconds=0&dryRun=All") as r:
        metadata = (await r.json())["metadata"]
    assert (metadata["deletionGracePeriodSeconds"], metadata["generation"]) == (0, 2)
    assert "deletionTimestamp" not in (await get(api, f"{CORE}/pods/p"))["metadata"]


async def test_the_order_of_a_list_without_merge_key(api: aiohttp.ClientSession) -> None:
    """Its items have no key (`validateMergeKeyInLists`)."""
    role = {"metadata": {"name": "r"}, "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}
    roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles"
    await post(api, roles, role)
    code, status = await patched(api, f"{roles}/r", STRATEGIC, {"rules": [], "$setElementOrder/rules": []})
    assert code == 500
    assert status["message"].endswith("does not contain declared merge key: ")


async def test_the_base_of_a_name_that_an_ingress_is_given_later(api: aiohttp.ClientSession) -> None:
    """Updates of ingresses validate all metadata anew (`ValidateIngressUpdate`)."""
    ingresses = "/apis/networking.k8s.io/v1/namespaces/default/ingresses"
    backend = {"service": {"name": "s", "port": {"number": 80}}}
    await post(api, ingresses, {"metadata": {"name": "i"}, "spec": {"defaultBackend": backend}})
    code, status = await patched(api, f"{ingresses}/i", MERGE, {"metadata": {"generateName": "Bad_"}})
    assert (code, status["details"]["causes"][0]["field"]) == (422, "metadata.generateName")


@pytest.mark.parametrize(
    ("named", "text"),
    [
        ({"kind": "Podx"}, 'Podx in version "v1" cannot be handled as a ConfigMap: no kind "Podx" is registered'),
        ({"apiVersion": "x"}, 'ConfigMap in version "x" cannot be handled as a ConfigMap: no kind "ConfigMap" is'),
        ({"kind": []}, "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind"),
        ({}, 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number'),
    ],
)
async def test_the_type_is_looked_at_first(api: aiohttp.ClientSession, named: dict[str, Any], text: str) -> None:
    """The content of the object is checked after that."""
    async with api.post(f"{CORE}/configmaps", json={"metadata": {"name": 5}} | named) as r:
        status = await r.json()
    assert (r.status, status["message"][: len(text)]) == (400, text)


async def test_protobuf_of_another_type(api: aiohttp.ClientSession) -> None:
    """The envelope names it, whatever its bytes would be in the type that is wanted (MT-05)."""
    protobuf = "application/vnd.kubernetes.protobuf"
    body = {"metadata": {"name": "d"}, "spec": WORKLOAD}
    async with api.post(f"{DEPLOYMENTS}?dryRun=All", json=body, headers={"Accept": protobuf}) as r:
        data = await r.read()
    async with api.post(f"{CORE}/configmaps", data=data, headers={"Content-Type": protobuf}) as r:
        text = 'Deployment in version "v1" cannot be handled as a ConfigMap: converting (v1.Deployment) to '
        assert (await r.json())["message"].startswith(text)


async def test_tables_of_what_is_not_stored_and_of_events(api: aiohttp.ClientSession) -> None:
    """A dry run has no version; the part of an object has a text in its column (MT-24)."""
    table = {"Accept": "application/json;as=Table;g=meta.k8s.io;v=v1"}
    async with api.post(f"{CORE}/configmaps?dryRun=All", json={"metadata": {"name": "c"}}, headers=table) as r:
        assert (await r.json())["metadata"] == {}
    async with api.get(f"{CORE}/events", headers=table) as r:
        assert all(c["description"] for c in (await r.json())["columnDefinitions"])


async def test_a_collection_is_deleted_as_it_was(api: aiohttp.ClientSession) -> None:
    """A version asks for the state at it, since upstream lists in pages (SR-04)."""
    first = await post(api, f"{CORE}/configmaps", {"metadata": {"name": "first"}})
    await post(api, f"{CORE}/configmaps", {"metadata": {"name": "second"}})
    query = f"resourceVersion={first['metadata']['resourceVersion']}&fieldSelector=metadata.name!%3Dkube-root-ca.crt"
    async with api.delete(f"{CORE}/configmaps?{query}") as r:
        assert [item["metadata"]["name"] for item in (await r.json())["items"]] == ["first"]
    assert (await get(api, f"{CORE}/configmaps/second"))["metadata"]["name"] == "second"


async def test_a_name_that_is_no_text_is_none(api: aiohttp.ClientSession) -> None:
    """`y` is a boolean in YAML 1.1: the message names an object without a name (`objectGVKNN`)."""
    body = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\n"
    path = "/api/v1/namespaces/default/configmaps/y?fieldManager=a"
    async with api.patch(path, data=body, headers={"Content-Type": APPLY}) as r:
        answer = await r.json()
    assert "(/; /v1, Kind=ConfigMap)" in answer["message"]
