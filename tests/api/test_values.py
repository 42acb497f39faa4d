"""Values from the server itself: admission, allocation, protection, and writes that change nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest

from tests.api.calls import get, post

CORE = "/api/v1/namespaces/default"
APPS = "/apis/apps/v1/namespaces/default"
POD: dict[str, Any] = {"containers": [{"name": "c", "image": "i"}]}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": POD}
WORKLOAD: dict[str, Any] = {"selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
MERGE = {"Content-Type": "application/merge-patch+json"}


UNCHANGED: list[tuple[str, dict[str, Any]]] = [
    ("/api/v1/persistentvolumes", {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
                                   "hostPath": {"path": "/x"}}),
    (f"{CORE}/persistentvolumeclaims", CLAIM),
    (f"{CORE}/pods", POD),
    (f"{CORE}/services", {"ports": [{"port": 80}], "type": "NodePort"}),
    (f"{APPS}/deployments", WORKLOAD),
    (f"{APPS}/daemonsets", WORKLOAD),
    (f"{APPS}/statefulsets", WORKLOAD | {"serviceName": "s"}),
    ("/apis/batch/v1/namespaces/default/jobs", {"template": {"spec": POD | {"restartPolicy": "Never"}}}),
    ("/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers",
     {"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}}),
    ("/apis/networking.k8s.io/v1/namespaces/default/networkpolicies", {"podSelector": {}}),
    ("/apis/policy/v1/namespaces/default/poddisruptionbudgets", {"minAvailable": "1%"}),
]  # fmt: skip


@pytest.mark.parametrize(("path", "spec"), UNCHANGED, ids=[p.rpartition("/")[2] for p, _ in UNCHANGED])
async def test_what_is_put_back_unchanged_takes_no_revision(
    api: aiohttp.ClientSession, path: str, spec: dict[str, Any]
) -> None:
    """Nor does it change hands: another manager put it back."""
    await post(api, path, {"metadata": {"name": "x"}, "spec": spec})
    read = await get(api, f"{path}/x")
    async with api.put(f"{path}/x?fieldManager=another", json=read) as r:
        assert r.status == 200
        assert await r.json() == read


async def test_a_claim_in_use_outlives_its_deletion(api: aiohttp.ClientSession) -> None:
    """As the admission plug-in `StorageObjectInUseProtection` and its controllers have it."""
    claim = await post(api, f"{CORE}/persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": CLAIM})
    assert claim["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    spec = POD | {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}
    await post(api, f"{CORE}/pods", {"metadata": {"name": "p"}, "spec": spec | {"nodeName": "n"}})
    async with api.delete(f"{CORE}/persistentvolumeclaims/c") as r:
        assert (await r.json())["metadata"]["deletionTimestamp"]
    kept = await get(api, f"{CORE}/persistentvolumeclaims/c")
    assert kept["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    async with api.delete(f"{CORE}/pods/p?gracePeriodSeconds=0") as r:
        assert r.status == 200
    async with asyncio.timeout(20):
        while (await get(api, f"{CORE}/persistentvolumeclaims/c")).get("code") != 404:
            await asyncio.sleep(0.02)


async def test_a_namespace_with_a_claim_ends(api: aiohttp.ClientSession) -> None:
    """URI-23: the controllers take the finalizer off."""
    await post(api, "/api/v1/namespaces", {"metadata": {"name": "n"}})
    await post(api, "/api/v1/namespaces/n/persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": CLAIM})
    async with api.delete("/api/v1/namespaces/n") as r:
        assert r.status == 200
    async with asyncio.timeout(20):
        while (await get(api, "/api/v1/namespaces/n")).get("code") != 404:
            await asyncio.sleep(0.02)


async def test_pods_get_what_their_classes_say(api: aiohttp.ClientSession) -> None:
    """The plug-ins Priority, RuntimeClass and DefaultTolerationSeconds."""
    scheduling = "/apis/scheduling.k8s.io/v1/priorityclasses"
    await post(api, scheduling, {"metadata": {"name": "usual"}, "value": 7, "globalDefault": True})
    runtime = {"metadata": {"name": "heavy"}, "handler": "h", "overhead": {"podFixed": {"cpu": "1"}}}
    await post(api, "/apis/node.k8s.io/v1/runtimeclasses", runtime)
    spec = POD | {"runtimeClassName": "heavy"}
    made = (await post(api, f"{CORE}/pods", {"metadata": {"name": "p"}, "spec": spec}))["spec"]
    assert (made["priority"], made["priorityClassName"], made["overhead"]) == (7, "usual", {"cpu": "1"})
    assert len(made["tolerations"]) == 2
    gone = POD | {"runtimeClassName": "none"}
    refused = await post(api, f"{CORE}/pods", {"metadata": {"name": "q"}, "spec": gone}, 403)
    assert refused["message"].endswith('pod rejected: RuntimeClass "none" not found')


async def test_a_dry_run_allocates_nothing(api: aiohttp.ClientSession) -> None:
    body = {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80, "nodePort": 30080}], "type": "NodePort"}}
    await post(api, f"{CORE}/services?dryRun=All", body)
    await post(api, f"{CORE}/services", body)
    refused = await post(api, f"{CORE}/services", body | {"metadata": {"name": "b"}}, 422)
    assert refused["details"]["causes"][0]["message"].endswith("provided port is already allocated")


async def test_flow_schemas_tell_of_a_missing_level(api: aiohttp.ClientSession) -> None:
    flow = "/apis/flowcontrol.apiserver.k8s.io/v1"
    spec = {"priorityLevelConfiguration": {"name": "later"}}
    await post(api, f"{flow}/flowschemas", {"metadata": {"name": "f"}, "spec": spec})
    (reported,) = (await get(api, f"{flow}/flowschemas/f"))["status"]["conditions"]
    assert (reported["type"], reported["status"], reported["reason"]) == ("Dangling", "True", "NotFound")
    level = {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}
    await post(api, f"{flow}/prioritylevelconfigurations", {"metadata": {"name": "later"}, "spec": level})
    (reported,) = (await get(api, f"{flow}/flowschemas/f"))["status"]["conditions"]
    assert (reported["status"], reported["reason"]) == ("False", "Found")


async def test_a_patch_to_an_unknown_kind_shows_the_outcome(api: aiohttp.ClientSession) -> None:
    await post(api, f"{CORE}/configmaps", {"metadata": {"name": "c"}, "data": {"k": "v"}})
    async with api.patch(f"{CORE}/configmaps/c", data=b'{"kind":"Bogus"}', headers=MERGE) as r:
        assert r.status == 422
        (cause,) = (await r.json())["details"]["causes"]
    assert cause["field"] == "patch"
    assert cause["message"].startswith(
        'Invalid value: "{\\"apiVersion\\":\\"v1\\",\\"data\\":{\\"k\\":\\"v\\"},\\"kind\\"'
    )
    assert 'no kind "Bogus" is registered for version "v1"' in cause["message"]


async def test_a_review_with_metadata_shows_it_in_go_terms(api: aiohttp.ClientSession) -> None:
    reviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    body = {"metadata": {"name": "x"}, "spec": {"user": "u", "nonResourceAttributes": {"path": "/"}}}
    refused = await post(api, reviews, body, 422)
    message = refused["details"]["causes"][0]["message"]
    assert message.startswith('Invalid value: {"name":"x","managedFields":[')
    assert message.endswith(": must be empty")


async def test_a_namespace_refuses_pods_by_its_labels(api: aiohttp.ClientSession) -> None:
    """The PodSecurity plug-in: pods are refused, workloads warned of, and a higher level warns of existing pods."""
    prefix = "pod-security.kubernetes.io"
    meta = {"name": "strict", "labels": {f"{prefix}/enforce": "baseline"}}
    async with api.post("/api/v1/namespaces", json={"metadata": meta}) as r:
        assert r.status == 201
    spec = {"hostPID": True, "containers": [{"name": "c", "image": "i"}]}
    pods = "/api/v1/namespaces/strict/pods"
    async with api.post(pods, json={"metadata": {"name": "p"}, "spec": spec}) as r:
        assert r.status == 403
        message = (await r.json())["message"]
    assert message == 'pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostPID=true)'
    template = {"metadata": {"labels": {"a": "b"}}, "spec": spec}
    body = {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}
    async with api.post("/apis/apps/v1/namespaces/strict/deployments", json=body) as r:
        assert r.status == 201
        assert "would violate PodSecurity" in r.headers["Warning"]
    async with api.post(pods, json={"metadata": {"name": "q"}, "spec": {**spec, "hostPID": False}}) as r:
        assert r.status == 201
    stricter = {"metadata": {"labels": {f"{prefix}/enforce": "restricted"}}}
    headers = {"Content-Type": "application/merge-patch+json"}
    async with api.patch("/api/v1/namespaces/strict", json=stricter, headers=headers) as r:
        assert r.status == 200
        assert any("q: allowPrivilegeEscalation" in w for w in r.headers.getall("Warning"))


async def test_evictions_at_once_share_what_a_budget_allows(api: aiohttp.ClientSession) -> None:
    """URI-17: a budget is read in its state when the disruption is taken from it."""
    budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    spec = {"selector": {"matchLabels": {"app": "evicted"}}, "maxUnavailable": 1}
    await post(api, budgets, {"metadata": {"name": "tight"}, "spec": spec})
    status = {
        "disruptionsAllowed": 1,
        "observedGeneration": 1,
        "expectedPods": 5,
        "currentHealthy": 5,
        "desiredHealthy": 4,
    }
    async with api.patch(f"{budgets}/tight/status", json={"status": status}, headers=MERGE) as r:
        assert r.status == 200, await r.text()
    names = [f"evicted-{i}" for i in range(5)]
    for name in names:
        await post(api, f"{CORE}/pods", {"metadata": {"name": name, "labels": {"app": "evicted"}}, "spec": POD})
        running = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        async with api.patch(f"{CORE}/pods/{name}/status", json={"status": running}, headers=MERGE) as r:
            assert r.status == 200

    async def evict(name: str) -> int:
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
        async with api.post(f"{CORE}/pods/{name}/eviction", json=body) as r:
            return r.status

    codes = await asyncio.gather(*map(evict, names))
    assert sorted(codes) == [201, 429, 429, 429, 429]
    assert (await get(api, f"{budgets}/tight"))["status"].get("disruptionsAllowed", 0) == 0
