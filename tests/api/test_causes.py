"""Causes and warnings that a comparison with kube-apiserver on changed objects brought to light."""

from __future__ import annotations

import time
from typing import Any

import aiohttp
import pytest

CORE = "/api/v1/namespaces/default"
APPS = "/apis/apps/v1/namespaces/default"
POD: dict[str, Any] = {"containers": [{"name": "c", "image": "i"}]}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": POD}


async def answer(api: aiohttp.ClientSession, verb: str, path: str, body: dict[str, Any]) -> tuple[int, Any]:
    async with api.request(verb, path, json=body) as r:
        return r.status, await r.json()


def fields(status: Any) -> list[str]:
    return [c["field"] for c in status["details"]["causes"]]


@pytest.mark.parametrize(
    ("path", "body", "key", "stated"),
    [
        (f"{CORE}/secrets", {"immutable": True, "data": {"k": "dg=="}}, "data", "immutable"),
        (f"{CORE}/configmaps", {"immutable": True, "data": {"k": "v"}}, "data", "immutable"),
        (
            "/apis/storage.k8s.io/v1/volumeattributesclasses",
            {"driverName": "csi.example.com", "parameters": {"k": "v"}},
            "parameters",
            "updates to parameters are forbidden.",
        ),
    ],
)
async def test_a_key_without_a_value_is_a_change_of_a_map(
    api: aiohttp.ClientSession, path: str, body: dict[str, Any], key: str, stated: str
) -> None:
    """UP-02: what may not change gains no empty members either."""
    code, made = await answer(api, "POST", path, {"metadata": {"name": "fixed"}, **body})
    assert code == 201, made
    made[key]["new"] = ""
    code, status = await answer(api, "PUT", f"{path}/fixed", made)
    assert (code, fields(status)) == (422, [key])
    assert stated in status["message"]


async def test_updates_show_empty_lists_and_maps_as_they_were_sent(api: aiohttp.ClientSession) -> None:
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}
    path = f"{APPS}/replicasets"
    _, made = await answer(api, "POST", path, {"metadata": {"name": "empties"}, "spec": spec})
    made["spec"]["template"]["metadata"]["labels"] = {}
    code, status = await answer(api, "PUT", f"{path}/empties", made)
    assert code == 422
    assert "spec.template.metadata.labels: Invalid value: {}: `selector` does not match" in status["message"]


async def test_names_in_messages_are_quoted(api: aiohttp.ClientSession) -> None:
    code, status = await answer(api, "POST", f"{CORE}/configmaps", {"metadata": {"name": 'a\n"b"'}})
    assert code == 422
    assert status["message"].startswith('ConfigMap "a\\n\\"b\\"" is invalid: metadata.name: ')


async def test_quantities_without_digits_are_zero(api: aiohttp.ClientSession) -> None:
    """As apimachinery `resource.ParseQuantity` reads them."""
    for text in ("n", "Ki", "-", "."):
        body = {"metadata": {"generateName": "q-"}, "spec": {"hard": {"pods": text}}}
        code, made = await answer(api, "POST", f"{CORE}/resourcequotas?dryRun=All", body)
        assert code == 201, (text, made)
        assert made["spec"]["hard"]["pods"] == "0"


async def test_names_of_images_that_are_too_long_have_no_tag(api: aiohttp.ClientSession) -> None:
    for length, policy in ((247, "Always"), (248, "IfNotPresent")):
        spec = {"containers": [{"name": "c", "image": "y" * length}]}
        code, made = await answer(api, "POST", f"{CORE}/pods?dryRun=All", {"metadata": {"name": "p"}, "spec": spec})
        assert (code, made["spec"]["containers"][0]["imagePullPolicy"]) == (201, policy)


async def test_deployments_may_surge_by_a_number_in_quotes_only_by_mistake(api: aiohttp.ClientSession) -> None:
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}
    spec["strategy"] = {"rollingUpdate": {"maxSurge": "1", "maxUnavailable": 0}}
    _, status = await answer(api, "POST", f"{APPS}/deployments", {"metadata": {"name": "d"}, "spec": spec})
    assert fields(status) == ["spec.strategy.rollingUpdate.maxSurge"]


async def test_stateful_sets_tell_twice_of_the_labels_of_their_template(api: aiohttp.ClientSession) -> None:
    labels = {"a": "b", "x": "*"}
    template = {**TEMPLATE, "metadata": {"labels": labels}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "serviceName": "s", "template": template}
    _, status = await answer(api, "POST", f"{APPS}/statefulsets", {"metadata": {"name": "s"}, "spec": spec})
    assert fields(status) == ["spec.template.labels"] * 2


async def test_app_armor_annotations_of_a_pod_stay(api: aiohttp.ClientSession) -> None:
    key = "container.apparmor.security.beta.kubernetes.io/c"
    body = {"metadata": {"name": "armed", "annotations": {key: "unconfined"}}, "spec": POD}
    _, made = await answer(api, "POST", f"{CORE}/pods", body)
    made["metadata"]["annotations"][key] = "runtime/default"
    _, status = await answer(api, "PUT", f"{CORE}/pods/armed", made)
    assert "may not remove or update AppArmor annotations" in status["message"]


async def test_drivers_that_ask_for_tokens_should_take_them_as_secrets(api: aiohttp.ClientSession) -> None:
    body = {"metadata": {"name": "d.example.com"}, "spec": {"tokenRequests": [{"audience": "a"}]}}
    async with api.post("/apis/storage.k8s.io/v1/csidrivers", json=body) as r:
        assert r.status == 201
        assert "spec.serviceAccountTokenInSecrets is unset" in r.headers["Warning"]


async def test_the_status_of_a_new_service_cidr_is_the_controllers(api: aiohttp.ClientSession) -> None:
    body = {
        "metadata": {"name": "wiped"},
        "spec": {"cidrs": ["10.9.0.0/24"]},
        "status": {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2024-01-02T03:04:05Z"}]},
    }
    code, made = await answer(api, "POST", "/apis/networking.k8s.io/v1/servicecidrs?dryRun=All", body)
    assert (code, made.get("status", {})) == (201, {})


async def test_ports_without_a_number_are_causes(api: aiohttp.ClientSession) -> None:
    body = {"metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": [{}]}}
    code, status = await answer(api, "POST", f"{CORE}/services", body)
    assert (code, fields(status)[0]) == (422, "spec.ports[0].port")


async def test_parameters_of_drivers_are_objects(api: aiohttp.ClientSession) -> None:
    config = {"opaque": {"driver": "a.example.com", "parameters": "x"}}
    body = {"metadata": {"name": "c"}, "spec": {"config": [config]}}
    code, status = await answer(api, "POST", "/apis/resource.k8s.io/v1/deviceclasses", body)
    assert (code, fields(status)) == (422, ["spec.config[0].opaque.parameters"])


async def test_versions_of_new_objects_are_looked_at_last(api: aiohttp.ClientSession) -> None:
    """RV-03: another error of an object is reported instead."""
    body: dict[str, Any] = {"metadata": {"name": "Bad_Name", "resourceVersion": "5"}}
    code, _ = await answer(api, "POST", f"{CORE}/configmaps", body)
    assert code == 422
    body["metadata"]["name"] = "good"
    code, status = await answer(api, "POST", f"{CORE}/configmaps", body)
    assert (code, status["message"]) == (500, "resourceVersion should not be set on objects to be created")


async def test_jobs_share_the_labels_of_their_template_only_without_any(api: aiohttp.ClientSession) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {**POD, "restartPolicy": "Never"}}
    for labels, shared in (({}, True), ({"a": "b"}, False)):
        body = {"metadata": {"name": "j", "labels": labels}, "spec": {"template": template}}
        code, made = await answer(api, "POST", "/apis/batch/v1/namespaces/default/jobs?dryRun=All", body)
        assert (code, "job-name" in made["metadata"]["labels"]) == (201, shared)


async def test_quantities_of_other_types_are_no_quantities(api: aiohttp.ClientSession) -> None:
    values: list[Any] = [True, {}, ["1"]]
    for wrong in values:
        body = {"metadata": {"name": "q"}, "spec": {"hard": {"pods": wrong}}}
        code, status = await answer(api, "POST", f"{CORE}/resourcequotas", body)
        assert code == 400
        assert "quantities must match the regular expression" in status["message"]


async def test_the_body_that_made_a_pod_changes_nothing(api: aiohttp.ClientSession) -> None:
    """UP-02: what defaults fill in is no change."""
    hooks = {"postStart": {"httpGet": {"port": 80}}, "preStop": {"exec": {"command": ["x"]}}, "stopSignal": "SIGTERM"}
    spec = {"containers": [{"name": "c", "image": "i:1", "lifecycle": hooks}], "os": {"name": "linux"}}
    # Members that the ServiceAccount plug-in adds would be missing in the second body.
    own = {"serviceAccountName": "default", "automountServiceAccountToken": False}
    body = {"metadata": {"name": "hooks"}, "spec": {**spec, **own}}
    _, made = await answer(api, "POST", f"{CORE}/pods", body)
    code, again = await answer(api, "PUT", f"{CORE}/pods/hooks", body)
    assert (code, again["metadata"]["generation"]) == (200, 1)
    assert again["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    begun = time.time()
    while int(time.time()) == int(begun):
        code, again = await answer(api, "PUT", f"{CORE}/pods/hooks", body)
    # Upstream's `IgnoreManagedFieldsTimestampsTransformer`: the time alone is no change either.
    code, again = await answer(api, "PUT", f"{CORE}/pods/hooks", body)
    assert (code, again["metadata"]) == (200, made["metadata"])


async def test_jobs_share_their_labels_after_validation(api: aiohttp.ClientSession) -> None:
    """`SetDefaults_Job` sees the generated labels when the job is read back: a bad name is reported once."""
    path = "/apis/batch/v1/namespaces/default/jobs"
    spec = {"template": {"spec": {"restartPolicy": "Never", **POD}}}
    code, status = await answer(api, "POST", path, {"metadata": {"name": "a" * 64}, "spec": spec})
    assert (code, fields(status)) == (422, ["spec.template.labels"] * 2)
    code, made = await answer(api, "POST", path, {"metadata": {"name": "shares"}, "spec": spec})
    assert code == 201
    assert made["metadata"]["labels"] == made["spec"]["template"]["metadata"]["labels"]


async def test_members_of_services_that_are_cleared(api: aiohttp.ClientSession) -> None:
    """`normalizeClusterIPs`, `patchAllocatedValues`: an address is restored, an empty policy is absent."""
    _, made = await answer(
        api, "POST", f"{CORE}/services", {"metadata": {"name": "s1"}, "spec": {"ports": [{"port": 1}]}}
    )
    address = made["spec"]["clusterIP"]
    made["spec"]["clusterIP"] = ""
    code, made = await answer(api, "PUT", f"{CORE}/services/s1", made)
    assert (code, made["spec"]["clusterIP"]) == (200, address)
    made["spec"]["ipFamilyPolicy"] = ""
    code, status = await answer(api, "PUT", f"{CORE}/services/s1", made)
    assert (code, fields(status)) == (422, ["spec.ipFamilyPolicy"])


async def test_component_statuses(api: aiohttp.ClientSession) -> None:
    """Asked for when they are read, in upstream's forms."""
    path = "/api/v1/componentstatuses"
    async with api.get(path) as r:
        found = await r.json()
    assert (found["kind"], found["metadata"]) == ("ComponentStatusList", {})
    assert [item["metadata"] for item in found["items"]] == [
        {"name": "scheduler"},
        {"name": "controller-manager"},
        {"name": "etcd-0"},
    ]
    healthy = {"type": "Healthy", "status": "True", "message": "ok"}
    assert found["items"][2]["conditions"] == [healthy]
    async with api.get(f"{path}?fieldSelector=metadata.name%3Detcd-0") as r:
        assert (await r.json())["items"] == found["items"][2:]
    async with api.get(f"{path}/etcd-0") as r:
        expected = {"kind": "ComponentStatus", "apiVersion": "v1", **found["items"][2]}
        assert await r.json() == expected
    async with api.get(f"{path}/nope") as r:
        assert (r.status, (await r.json())["details"]["kind"]) == (404, "componentstatus")
    async with api.get(path, headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}) as r:
        rows = (await r.json())["rows"]
    assert [row["cells"][:2] for row in rows][2] == ["etcd-0", "Healthy"]
    async with api.get(f"{path}?watch=1") as r:
        assert r.status == 405
        assert "watch is not supported" in (await r.json())["message"]


@pytest.mark.parametrize("query", ["limit=", "limit=-", "resourceVersion=", "timeoutSeconds="])
async def test_numbers_of_any_length_are_refused(api: aiohttp.ClientSession, query: str) -> None:
    """Python reads no more than 4300 digits of a number."""
    async with api.get(f"{CORE}/configmaps?{query}{'9' * 5000}") as r:
        assert r.status == 400
        assert "value out of range" in (await r.json())["message"]


async def test_leading_zeros_count_for_nothing(api: aiohttp.ClientSession) -> None:
    async with api.get(f"{CORE}/configmaps?limit={'0' * 5000}1") as r:
        assert r.status == 200


async def test_a_class_that_a_service_may_not_have_is_told_twice_of_an_update(api: aiohttp.ClientSession) -> None:
    """The update checks it, and so do the rules that it shares with creates."""
    path = f"{CORE}/services"
    _, made = await answer(api, "POST", path, {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}})
    made["spec"]["loadBalancerClass"] = "a.b/c"
    code, status = await answer(api, "PUT", f"{path}/s", made)
    assert (code, fields(status)) == (422, ["spec.loadBalancerClass"] * 2)


async def test_limits_that_go_in_a_resize_are_told_alone(api: aiohttp.ClientSession) -> None:
    amounts = {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}
    body = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i", "resources": amounts}]}}
    _, made = await answer(api, "POST", f"{CORE}/pods", body)
    del made["spec"]["containers"][0]["resources"]["limits"]
    code, status = await answer(api, "PUT", f"{CORE}/pods/p/resize", made)
    assert (code, fields(status)) == (422, ["spec.containers[0].resources.limits"])


async def test_a_ratio_beyond_thousandths_is_compared_with_whole_numbers(api: aiohttp.ClientSession) -> None:
    limit = {
        "type": "Container",
        "min": {"cpu": "10m"},
        "max": {"cpu": "2"},
        "maxLimitRequestRatio": {"cpu": "99999999999999999999"},
    }
    body = {"metadata": {"name": "l"}, "spec": {"limits": [limit]}}
    code, status = await answer(api, "POST", f"{CORE}/limitranges", body)
    assert code == 422
    assert "is greater than max/min = 2.000000" in status["message"]


async def test_the_name_of_an_address_is_its_prefix(api: aiohttp.ClientSession) -> None:
    body = {"metadata": {"generateName": "bad-"}, "spec": {}}
    code, status = await answer(api, "POST", "/apis/networking.k8s.io/v1/ipaddresses", body)
    assert (code, status["details"]["name"]) == (422, "bad-")
