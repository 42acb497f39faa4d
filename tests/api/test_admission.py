"""Limits, quotas and default classes: what the admission plug-ins that are on by default make of objects."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from tests.api.calls import get, post

CORE = "/api/v1/namespaces/default"
MERGE = {"Content-Type": "application/merge-patch+json"}


async def status(api: aiohttp.ClientSession, path: str, value: dict[str, Any]) -> None:
    async with api.patch(f"{path}/status", json={"status": value}, headers=MERGE) as r:
        assert r.status == 200, await r.text()


def pod(name: str, **resources: dict[str, str]) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i", "resources": resources}]}}


async def test_limits_fill_and_refuse(api: aiohttp.ClientSession) -> None:
    limit = {
        "type": "Container",
        "default": {"cpu": "500m"},
        "defaultRequest": {"cpu": "100m"},
        "max": {"cpu": "2"},
        "maxLimitRequestRatio": {"cpu": "10"},
    }
    await post(api, f"{CORE}/limitranges", {"metadata": {"name": "l"}, "spec": {"limits": [limit]}})
    made = await post(api, f"{CORE}/pods", pod("a"))
    assert made["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "500m"}, "requests": {"cpu": "100m"}}
    note = "LimitRanger plugin set: cpu request for container c; cpu limit for container c"
    assert made["metadata"]["annotations"] == {"kubernetes.io/limit-ranger": note}
    assert made["status"]["qosClass"] == "Burstable"
    refused = await post(api, f"{CORE}/pods", pod("b", limits={"cpu": "3"}, requests={"cpu": "1"}), 403)
    why = "maximum cpu usage per Container is 2, but limit is 3"
    assert refused["message"] == f'pods "b" is forbidden: {why}'
    refused = await post(api, f"{CORE}/pods", pod("b", limits={"cpu": "2"}, requests={"cpu": "10m"}), 403)
    assert refused["message"].endswith("is 10, but provided ratio is 200.000000")


async def test_limits_of_claims_and_whole_pods(api: aiohttp.ClientSession) -> None:
    limits = [
        {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "10Gi"}},
        {"type": "Pod", "max": {"memory": "1Gi"}},
    ]
    await post(api, f"{CORE}/limitranges", {"metadata": {"name": "l"}, "spec": {"limits": limits}})
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "20Gi"}}}
    refused = await post(api, f"{CORE}/persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": spec}, 403)
    assert refused["message"].endswith("maximum storage usage per PersistentVolumeClaim is 10Gi, but request is 20Gi")
    refused = await post(api, f"{CORE}/pods", pod("p"), 403)
    assert refused["message"].endswith("maximum memory usage per Pod is 1Gi.  No limit is specified")


async def test_quota_counts_devices_by_class(api: aiohttp.ClientSession) -> None:
    """`claimEvaluator.Usage` (pkg/quota/v1/evaluator/core): of choices the largest, of all as many as there can be."""
    gold, tin = (f"{name}.deviceclass.resource.k8s.io/devices" for name in ("gold", "tin"))
    hard = {gold: "40", tin: "3", "count/resourceclaims.resource.k8s.io": "5"}
    await post(api, f"{CORE}/resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": hard}})
    await status(api, f"{CORE}/resourcequotas/q", {"hard": hard, "used": dict.fromkeys(hard, "0")})
    claims = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
    everything = {"name": "a", "exactly": {"deviceClassName": "gold", "allocationMode": "All"}}
    choices = [
        {"name": f"s{n}", "deviceClassName": name, "count": n} for name, n in (("gold", 1), ("tin", 3), ("gold", 2))
    ]
    requests = [everything, {"name": "b", "firstAvailable": [*choices[:2], {**choices[2], "name": "s"}]}]
    await post(api, claims, {"metadata": {"name": "c"}, "spec": {"devices": {"requests": requests}}})
    used = (await get(api, f"{CORE}/resourcequotas/q"))["status"]["used"]
    assert used == {gold: "34", tin: "3", "count/resourceclaims.resource.k8s.io": "1"}
    one = [{"name": "a", "exactly": {"deviceClassName": "tin"}}]
    refused = await post(api, claims, {"metadata": {"name": "d"}, "spec": {"devices": {"requests": one}}}, 403)
    assert f"exceeded quota: q, requested: {tin}=1, used: {tin}=3, limited: {tin}=3" in refused["message"]


async def test_quota_counts_until_it_is_full(api: aiohttp.ClientSession) -> None:
    hard = {"pods": "2", "requests.cpu": "1", "count/configmaps": "10"}
    await post(api, f"{CORE}/resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": hard}})
    await post(api, f"{CORE}/pods", pod("free"))  # The status of the quota has no limits yet.
    await status(api, f"{CORE}/resourcequotas/q", {"hard": hard, "used": dict.fromkeys(hard, "0")})
    refused = await post(api, f"{CORE}/pods", pod("a"), 403)
    assert refused["message"] == 'pods "a" is forbidden: failed quota: q: must specify requests.cpu for: c'
    await post(api, f"{CORE}/pods?dryRun=All", pod("a", requests={"cpu": "600m"}))
    await post(api, f"{CORE}/pods", pod("a", requests={"cpu": "600m"}))
    used = (await get(api, f"{CORE}/resourcequotas/q"))["status"]["used"]
    assert used == {"count/configmaps": "0", "pods": "1", "requests.cpu": "600m"}
    refused = await post(api, f"{CORE}/pods", pod("b", requests={"cpu": "500m"}), 403)
    why = "exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=600m, limited: requests.cpu=1"
    assert refused["message"] == f'pods "b" is forbidden: {why}'


async def test_quota_scopes_and_updates(api: aiohttp.ClientSession) -> None:
    hard = {"services.nodeports": "1"}
    await post(api, f"{CORE}/resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": hard}})
    await status(api, f"{CORE}/resourcequotas/q", {"hard": hard, "used": {"services.nodeports": "0"}})
    spec: dict[str, Any] = {"metadata": {"name": "ended"}, "spec": {"hard": {"pods": "0"}, "scopes": ["Terminating"]}}
    await post(api, f"{CORE}/resourcequotas", spec)
    await status(api, f"{CORE}/resourcequotas/ended", {"hard": {"pods": "0"}, "used": {"pods": "0"}})
    ports = [{"name": "a", "port": 1}, {"name": "b", "port": 2}]
    await post(api, f"{CORE}/services", {"metadata": {"name": "s"}, "spec": {"ports": ports}})
    async with api.patch(f"{CORE}/services/s", json={"spec": {"type": "NodePort"}}, headers=MERGE) as r:
        assert r.status == 403
        assert "requested: services.nodeports=2" in (await r.json())["message"]
    await post(api, f"{CORE}/pods", pod("goes-on"))
    ending = pod("ends")
    ending["spec"]["activeDeadlineSeconds"] = 5
    refused = await post(api, f"{CORE}/pods", ending, 403)
    assert "exceeded quota: ended, requested: pods=1" in refused["message"]


@pytest.mark.parametrize("marked", [True, False])
async def test_default_ingress_class(api: aiohttp.ClientSession, marked: bool) -> None:
    mark = {"ingressclass.kubernetes.io/is-default-class": str(marked).lower()}
    body = {"metadata": {"name": "usual", "annotations": mark}, "spec": {"controller": "example.com/c"}}
    await post(api, "/apis/networking.k8s.io/v1/ingressclasses", body)
    backend = {"service": {"name": "s", "port": {"number": 80}}}
    path = "/apis/networking.k8s.io/v1/namespaces/default/ingresses"
    made = await post(api, path, {"metadata": {"name": "i"}, "spec": {"defaultBackend": backend}})
    assert made["spec"].get("ingressClassName") == ("usual" if marked else None)


async def test_claims_grow_where_their_class_allows(api: aiohttp.ClientSession) -> None:
    for name, allowed in (("fixed", False), ("elastic", True)):
        body = {"metadata": {"name": name}, "provisioner": "example.com/p", "allowVolumeExpansion": allowed}
        await post(api, "/apis/storage.k8s.io/v1/storageclasses", body)
        spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        claim = {"metadata": {"name": name}, "spec": spec | {"storageClassName": name, "volumeName": "v"}}
        await post(api, f"{CORE}/persistentvolumeclaims", claim)
        await status(api, f"{CORE}/persistentvolumeclaims/{name}", {"phase": "Bound", "capacity": {"storage": "1Gi"}})
        larger = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
        async with api.patch(f"{CORE}/persistentvolumeclaims/{name}", json=larger, headers=MERGE) as r:
            assert r.status == (200 if allowed else 403), await r.text()


async def test_expressions_of_policies_are_checked(api: aiohttp.ClientSession) -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    spec = {
        "matchConstraints": {"resourceRules": [rule]},
        "variables": [{"name": "n", "expression": "size(object.spec.containers)"}],
        "validations": [{"expression": "variables.n < 3"}, {"expression": "params.x"}, {"expression": "variables.n"}],
    }
    path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
    refused = await post(api, path, {"metadata": {"name": "p"}, "spec": spec}, 422)
    causes = {c["field"]: c["message"] for c in refused["details"]["causes"]}
    assert sorted(causes) == ["spec.validations[1].expression", "spec.validations[2].expression"]
    assert "undeclared reference to 'params'" in causes["spec.validations[1].expression"]
    assert causes["spec.validations[2].expression"].endswith("must evaluate to bool but got int")


async def test_changes_come_before_names_and_refusals_after_validation(api: aiohttp.ClientSession) -> None:
    """`Create` of apiserver `pkg/endpoints/handlers/create.go`, `extractResourceName` of `pkg/admission/errors.go`."""
    classless = pod("") | {"metadata": {"generateName": "p-"}}
    classless["spec"]["priorityClassName"] = "none"
    refused = await post(api, f"{CORE}/pods", classless, 403)
    assert refused["message"] == 'pods "p-" is forbidden: no PriorityClass with name none was found'
    # A refusal by a plug-in while it mutates precedes errors of validation,
    nameless = pod("Not Valid")
    nameless["spec"]["priorityClassName"] = "none"
    assert (await post(api, f"{CORE}/pods", nameless, 403))["reason"] == "Forbidden"
    # and a refusal by a validating plug-in follows them (`validateOverhead` of the RuntimeClass plug-in).
    heavy = pod("Not Valid")
    heavy["spec"]["overhead"] = {"cpu": "1"}
    assert (await post(api, f"{CORE}/pods", heavy, 422))["reason"] == "Invalid"
    heavy["metadata"] = {"generateName": "p-"}
    refused = await post(api, f"{CORE}/pods", heavy, 403)
    assert refused["message"].startswith('pods "p-') and not refused["message"].startswith('pods "p-"')
    assert refused["message"].endswith("Overhead set without corresponding RuntimeClass defined Overhead")


async def test_a_refused_pod_is_warned_of_too(api: aiohttp.ClientSession) -> None:
    """Warnings are written to the answer at once, be it a refusal (apiserver `pkg/endpoints/filters/warning.go`)."""
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    await post(api, "/api/v1/namespaces", {"metadata": {"name": "strict", "labels": labels}})
    body = pod("p")
    body["spec"]["nodeSelector"] = {"beta.kubernetes.io/arch": "arm"}
    async with api.post("/api/v1/namespaces/strict/pods", json=body) as r:
        assert r.status == 403
        assert any("beta.kubernetes.io/arch" in w for w in r.headers.getall("Warning"))


async def test_a_scale_is_not_looked_at_as_the_workload_behind_it(api: aiohttp.ClientSession) -> None:
    """Of workloads only the object itself is (`ValidatePodController` of pod-security-admission `admission.go`)."""
    labels = {"pod-security.kubernetes.io/warn": "restricted"}
    await post(api, "/api/v1/namespaces", {"metadata": {"name": "warned", "labels": labels}})
    apps = "/apis/apps/v1/namespaces/warned/deployments"
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod("p")["spec"]}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    async with api.post(apps, json={"metadata": {"name": "d"}, "spec": spec}) as r:
        assert r.status == 201 and "would violate PodSecurity" in r.headers["Warning"]
    async with api.patch(f"{apps}/d/scale", json={"spec": {"replicas": 2}}, headers=MERGE) as r:
        assert r.status == 200 and "Warning" not in r.headers


async def test_no_deletion_of_a_protected_namespace(api: aiohttp.ClientSession) -> None:
    async with api.delete("/api/v1/namespaces/default") as r:
        answer = await r.json()
    assert answer["message"] == 'namespaces "default" is forbidden: this namespace may not be deleted'


async def test_tolerations_of_a_class_that_others_cover_are_left_out(api: aiohttp.ClientSession) -> None:
    """`MergeTolerations` of `pkg/util/tolerations`."""
    scheduling = {"tolerations": [{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}]}
    made = {"metadata": {"name": "vm"}, "handler": "vm", "scheduling": scheduling}
    await post(api, "/apis/node.k8s.io/v1/runtimeclasses", made)
    equal = {"key": "a", "operator": "Equal", "value": "x"}
    for name, own, left in (("all", [{"operator": "Exists"}], 1), ("one", [equal], 2)):
        spec = {**pod(name)["spec"], "runtimeClassName": "vm", "tolerations": own}
        found = (await post(api, f"{CORE}/pods", {"metadata": {"name": name}, "spec": spec}))["spec"]["tolerations"]
        assert [one for one in found if not one.get("key", "").startswith("node.")] == (
            own if left == 1 else scheduling["tolerations"]
        )


async def test_scopes_fit_the_resources_of_their_quota(api: aiohttp.ClientSession) -> None:
    """`IsResourceQuotaScopeValidForResource`: storage has no scope of pods."""
    spec = {"hard": {"requests.ephemeral-storage": "1Gi", "cpu": "1"}, "scopes": ["NotBestEffort"]}
    refused = await post(api, f"{CORE}/resourcequotas", {"metadata": {"name": "q"}, "spec": spec}, 422)
    assert refused["message"].endswith('["NotBestEffort"]: unsupported scope applied to resource')
    scopes = [{"scopeName": name, "operator": "Exists"} for name in ("Terminating", "NotTerminating")]
    spec = {"hard": {"cpu": "1"}, "scopeSelector": {"matchExpressions": scopes}}
    refused = await post(api, f"{CORE}/resourcequotas", {"metadata": {"name": "q"}, "spec": spec}, 422)
    assert refused["message"].endswith("spec.scopeSelector.matchExpressions: Invalid value: null: conflicting scopes")
