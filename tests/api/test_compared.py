"""Answers to odd requests that a comparison with kube-apiserver brought to light."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

CORE = "/api/v1/namespaces/default"
AUTHORIZATION = "/apis/authorization.k8s.io/v1"


async def post(api: aiohttp.ClientSession, path: str, body: dict[str, Any]) -> tuple[int, Any]:
    async with api.post(path, json=body) as r:
        return r.status, await r.json()


async def test_a_review_without_metadata_has_managed_fields(api: aiohttp.ClientSession) -> None:
    """SSA-01: the fields of a review are tracked, whether or not it was sent with metadata."""
    spec = {"resourceAttributes": {"verb": "get", "resource": "pods"}}
    code, made = await post(api, f"{AUTHORIZATION}/selfsubjectaccessreviews", {"spec": spec})
    assert code == 201
    (entry,) = made["metadata"]["managedFields"]
    assert entry["fieldsV1"] == {"f:spec": {"f:resourceAttributes": {".": {}, "f:resource": {}, "f:verb": {}}}}


async def test_a_token_review_keeps_what_its_outcome_does_not_set(api: aiohttp.ClientSession) -> None:
    """`pkg/registry/authentication/tokenreview/storage.go` sets single members of the status."""
    status = {"authenticated": True, "user": {"username": "someone"}, "audiences": ["a"], "error": "before"}
    body = {"spec": {"token": "unknown"}, "status": status}
    code, made = await post(api, "/apis/authentication.k8s.io/v1/tokenreviews", body)
    assert code == 201
    assert "authenticated" not in made["status"]
    assert made["status"]["user"] == {"username": "someone"}
    assert made["status"]["audiences"] == ["a"]


async def test_a_binding_without_a_name_is_a_bad_request(api: aiohttp.ClientSession) -> None:
    """`pkg/registry/core/pod/storage/storage.go`: the key of the pod needs a name."""
    code, status = await post(api, f"{CORE}/bindings", {"target": {"name": "n"}})
    assert (code, status["reason"], status["message"]) == (400, "BadRequest", "Name parameter required.")


@pytest.mark.parametrize(
    ("version", "code"),
    [
        ("1", 500),
        ("007", 500),
        ("0", 201),
        ("18446744073709551615", 500),
        ("18446744073709551616", 201),
        ("9" * 5000, 201),
    ],
)
async def test_a_version_that_is_no_number_of_64_bits_is_none(
    api: aiohttp.ClientSession, version: str, code: int
) -> None:
    """`APIObjectVersioner.ObjectResourceVersion`: only a version that can be parsed is refused on creation."""
    body = {"metadata": {"name": "x", "resourceVersion": version}}
    found, answer = await post(api, f"{CORE}/configmaps", body)
    assert found == code, answer


async def test_applied_numbers_are_cut_as_go_converts_them(api: aiohttp.ClientSession) -> None:
    """apimachinery `pkg/runtime/converter.go`: the rules of the kind refuse a number that does not fit."""
    config = {"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "x"}}
    spec = {"replicas": 1 << 31, "selector": {"a": "b"}}
    spec["template"] = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    headers = {"Content-Type": "application/apply-patch+yaml"}
    path = f"{CORE}/replicationcontrollers/x?fieldManager=m"
    async with api.patch(path, json={**config, "spec": spec}, headers=headers) as r:
        code, status = r.status, await r.json()
    assert code == 422, status
    assert "spec.replicas: Invalid value: -2147483648" in status["message"]


async def test_the_error_of_a_type_that_decodes_itself_counts_before_others(api: aiohttp.ClientSession) -> None:
    """`encoding/json` keeps the first mismatch and continues, but ends with the first error of an `UnmarshalJSON`."""
    spec = {"accessModes": [5], "resources": {"requests": {"storage": "much"}}}
    code, status = await post(api, f"{CORE}/persistentvolumeclaims", {"metadata": {"name": "x"}, "spec": spec})
    assert (code, status["reason"]) == (400, "BadRequest")
    assert "quantities must match the regular expression" in status["message"]


async def test_bytes_are_read_as_go_reads_base64(api: aiohttp.ClientSession) -> None:
    """`encoding/base64`: bits behind the last byte are ignored, and errors have their place."""
    code, made = await post(api, f"{CORE}/secrets", {"metadata": {"name": "x"}, "data": {"k": "YR=="}})
    assert (code, made["data"]) == (201, {"k": "YQ=="})
    code, status = await post(api, f"{CORE}/secrets", {"metadata": {"name": "y"}, "data": {"k": "YQ="}})
    assert code == 400
    assert status["message"].endswith("illegal base64 data at input byte 3")


async def test_only_new_formats_of_a_definition_are_warned_of(api: aiohttp.ClientSession) -> None:
    """apiextensions `pkg/registry/customresourcedefinition/strategy.go` (`WarningsOnUpdate`)."""
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string", "format": "one"}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "things", "singular": "thing", "kind": "Thing"}
    spec = {"group": "example.com", "scope": "Cluster", "names": names, "versions": [version]}
    body = {"metadata": {"name": "things.example.com"}, "spec": spec}
    async with api.post(path, json=body) as r:
        assert r.status == 201
        assert [w for w in r.headers.getall("Warning") if "format" in w] == ['299 - "unrecognized format \\"one\\""']
    async with api.get(f"{path}/things.example.com") as r:
        made = await r.json()
    properties = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    properties["b"] = {"type": "string", "format": "two"}
    async with api.put(f"{path}/things.example.com", json=made) as r:
        assert r.status == 200, await r.text()
        assert r.headers.getall("Warning") == ['299 - "unrecognized format \\"two\\""']


@pytest.mark.parametrize(
    ("path", "body", "stated"),
    [
        (f"{CORE}/configmaps", {}, 'on ConfigMap "x": the UID in the precondition'),
        (
            "/apis/events.k8s.io/v1/namespaces/default/events",
            {"action": "a"},
            'on Event "x": the UID in the precondition',
        ),
        (
            "/api/v1/namespaces",
            {},
            'on namespaces "x": Precondition failed: UID in precondition: u, UID in object meta',
        ),
    ],
)
async def test_a_deletion_of_another_object_is_refused_in_the_words_of_its_storage(
    api: aiohttp.ClientSession, path: str, body: dict[str, Any], stated: str
) -> None:
    """Namespaces and definitions check preconditions by themselves, and events are those of the core group."""
    if body:
        body |= {"eventTime": "2020-01-01T00:00:00.000000Z", "reportingController": "c", "reportingInstance": "i"}
        body |= {"reason": "r", "type": "Normal", "regarding": {"namespace": "default"}}
    code, made = await post(api, path, {"metadata": {"name": "x"}, **body})
    assert code == 201, made
    async with api.delete(f"{path}/x", json={"preconditions": {"uid": "u"}}) as r:
        assert r.status == 409
        assert stated in (await r.json())["message"]


async def test_a_deleted_storage_capacity_is_not_returned(api: aiohttp.ClientSession) -> None:
    """`pkg/registry/storage/csistoragecapacity/storage/storage.go` does not ask for it."""
    path = "/apis/storage.k8s.io/v1/namespaces/default/csistoragecapacities"
    code, made = await post(api, path, {"metadata": {"name": "x"}, "storageClassName": "s"})
    assert code == 201, made
    async with api.delete(f"{path}/x") as r:
        assert (await r.json())["kind"] == "Status"


async def test_owners_that_a_review_names_twice_are_warned_of(api: aiohttp.ClientSession) -> None:
    """`endpoints/handlers/rest.go` (`dedupOwnerReferencesAndAddWarning`) concerns every creation."""
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u"}
    async with api.post(
        "/apis/authentication.k8s.io/v1/selfsubjectreviews", json={"metadata": {"ownerReferences": [owner, owner]}}
    ) as r:
        assert r.status == 201
        assert "duplicate UID(s) observed: u" in r.headers["Warning"]


async def test_a_job_with_a_long_name_is_refused_for_the_labels_of_its_template(api: aiohttp.ClientSession) -> None:
    """Labels of a job that was sent without any are those of its template, which has the name of the job."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod}
    body = {"metadata": {"name": "a" * 64}, "spec": {"template": template}}
    code, status = await post(api, "/apis/batch/v1/namespaces/default/jobs", body)
    assert code == 422
    assert "metadata.labels" in {cause["field"] for cause in status["details"]["causes"]}
    # Without labels of the template there is nothing that they share.
    del template["metadata"]
    code, status = await post(api, "/apis/batch/v1/namespaces/default/jobs", body)
    assert code == 422
    assert "metadata.labels" not in {cause["field"] for cause in status["details"]["causes"]}


GENERATION = "deprecated.daemonset.template.generation"


async def test_a_generation_of_a_template_is_a_number(api: aiohttp.ClientSession) -> None:
    """`Convert_v1_DaemonSet_To_apps_DaemonSet`: the annotation is a number of 64 bits there."""
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    body: dict[str, Any] = {"metadata": {"name": "d", "annotations": {GENERATION: "1.5"}}, "spec": spec}
    path = "/apis/apps/v1/namespaces/default/daemonsets"
    code, status = await post(api, path, body)
    why = 'strconv.ParseInt: parsing "1.5": invalid syntax'
    assert (code, status["message"]) == (400, f'DaemonSet in version "v1" cannot be handled as a DaemonSet: {why}')
    body["metadata"] = {"name": "d"}
    assert (await post(api, path, body))[0] == 201
    patch = {"metadata": {"annotations": {GENERATION: "9" * 20}}}
    why = f'strconv.ParseInt: parsing "{"9" * 20}": value out of range'
    for kind, expected in (("merge", 422), ("strategic-merge", 500)):
        headers = {"Content-Type": f"application/{kind}-patch+json"}
        async with api.patch(f"{path}/d", json=patch, headers=headers) as r:
            status = await r.json()
            assert (r.status, status["message"].endswith(why)) == (expected, True)
    applied = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": body["metadata"] | patch["metadata"]}
    headers = {"Content-Type": "application/apply-patch+yaml"}
    async with api.patch(f"{path}/d?fieldManager=m&force=true", json=applied | {"spec": spec}, headers=headers) as r:
        status = await r.json()
        expected_text = f"failed to convert to unversioned (/d; apps/v1, Kind=DaemonSet): {why}"
        assert (r.status, status["message"]) == (500, expected_text)


async def test_a_pointer_to_an_empty_text_is_a_change_of_endpoints(api: aiohttp.ClientSession) -> None:
    """`ValidateEndpointsUpdate` validates what is not deeply equal: a pointer to nothing is not no pointer."""
    port: dict[str, Any] = {"port": 80}
    body = {"metadata": {"name": "e"}, "subsets": [{"addresses": [{"ip": "10.1.2.3"}], "ports": [port]}]}
    assert (await post(api, f"{CORE}/endpoints", body))[0] == 201
    port["appProtocol"] = ""
    async with api.put(f"{CORE}/endpoints/e", json=body) as r:
        status = await r.json()
    assert r.status == 422
    assert {cause["field"] for cause in status["details"]["causes"]} == {"subsets[0].ports[0].appProtocol"}


@pytest.mark.parametrize(
    ("plural", "field", "code"),
    [("configmaps", "binaryData", 422), ("configmaps", "data", 200), ("secrets", "data", 422)],
)
async def test_an_empty_map_is_a_change_of_what_is_immutable(
    api: aiohttp.ClientSession, plural: str, field: str, code: int
) -> None:
    """`ValidateConfigMapUpdate` and `ValidateSecretUpdate`: `reflect.DeepEqual`; the first has a map by default."""
    body: dict[str, Any] = {"metadata": {"name": "m"}, "immutable": True}
    assert (await post(api, f"{CORE}/{plural}", body))[0] == 201
    for given in (body, body | {"stringData": {}}):
        async with api.put(f"{CORE}/{plural}/m", json=given) as r:
            assert r.status == 200
    headers = {"Content-Type": "application/merge-patch+json"}
    async with api.patch(f"{CORE}/{plural}/m", json={field: {}}, headers=headers) as r:
        assert r.status == code
    async with api.put(f"{CORE}/{plural}/m", json=body | {field: {}}) as r:
        status = await r.json()
    assert r.status == code
    if code == 422:
        assert [cause["field"] for cause in status["details"]["causes"]] == [field]


async def test_a_topology_that_is_dropped_is_a_change_of_a_slice(api: aiohttp.ClientSession) -> None:
    """`PrepareForUpdate` of endpoint slices counts the generation before it drops what v1 does not have."""
    path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
    endpoint: dict[str, Any] = {"addresses": ["10.1.2.3"]}
    body = {"metadata": {"name": "s"}, "addressType": "IPv4", "endpoints": [endpoint]}
    assert (await post(api, path, body))[0] == 201
    for topology, generation in (({}, 1), ({"a": "b"}, 2), (None, 2)):
        endpoint["deprecatedTopology"] = topology
        async with api.put(f"{path}/s", json=body) as r:
            stored = await r.json()
        assert (r.status, stored["metadata"]["generation"]) == (200, generation)
        assert "deprecatedTopology" not in stored["endpoints"][0]


async def warnings(api: aiohttp.ClientSession, path: str, body: dict[str, Any]) -> tuple[int, list[str]]:
    """Return the code and the warnings of a dry run."""
    async with api.post(f"{path}?dryRun=All", json=body) as r:
        lines = r.headers.getall("Warning", [])
        return r.status, [line.removeprefix('299 - "').removesuffix('"').replace('\\"', '"') for line in lines]


def container(name: str, *ports: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "image": "i", "ports": list(ports)}


async def test_containers_that_share_the_name_of_a_port_are_warned_of(api: aiohttp.ClientSession) -> None:
    """`warningsForPodSpecAndMeta` of `pkg/api/pod/warnings.go`, whatever the protocol, also in templates."""
    first, second = {"name": "http", "containerPort": 80}, {"name": "http", "containerPort": 81, "protocol": "UDP"}
    spec: dict[str, Any] = {"initContainers": [container("a", first)]}
    spec["containers"] = [container("b", second), container("c", {"containerPort": 82})]

    def expected(at: str) -> str:
        other = f"{at}.initContainers[0].ports[0]"
        used = f"services and probes that select ports by name will use {other}"
        return f'{at}.containers[0].ports[0]: duplicate port name "http" with {other}, {used}'

    code, found = await warnings(api, f"{CORE}/pods", {"metadata": {"name": "p"}, "spec": spec})
    assert (code, found) == (201, [expected("spec")])
    template = {"metadata": {"labels": {"a": "b"}}, "spec": spec}
    body = {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}
    code, found = await warnings(api, "/apis/apps/v1/namespaces/default/deployments", body)
    assert (code, found) == (201, [expected("spec.template.spec")])


@pytest.mark.parametrize("profile", ["runtime/default", "no profile"])
async def test_a_refused_pod_is_warned_of_its_annotations(api: aiohttp.ClientSession, profile: str) -> None:
    """`applyAppArmorVersionSkew` warns as it prepares a pod, before validation."""
    key = "container.apparmor.security.beta.kubernetes.io/c"
    body = {"metadata": {"name": "p", "annotations": {key: profile}}, "spec": {"containers": [{"name": "c"}]}}
    code, found = await warnings(api, f"{CORE}/pods", body)
    why = 'deprecated since v1.30; use the "appArmorProfile" field instead'
    assert (code, found) == (422, [f"metadata.annotations[{key}]: {why}"])


async def test_old_topology_keys_of_a_storage_class(api: aiohttp.ClientSession) -> None:
    """`GetWarningsForStorageClass` does not name the key again."""
    term = {"matchLabelExpressions": [{"key": "failure-domain.beta.kubernetes.io/zone", "values": ["a"]}]}
    body = {"metadata": {"name": "s"}, "provisioner": "p", "allowedTopologies": [term]}
    code, found = await warnings(api, "/apis/storage.k8s.io/v1/storageclasses", body)
    why = 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'
    assert (code, found) == (201, [f"allowedTopologies[0].matchLabelExpressions[0].key: {why}"])


async def test_a_selector_of_a_job_by_the_old_label_gets_the_new_one(api: aiohttp.ClientSession) -> None:
    """`generateSelector` looks at the label with its prefix alone."""
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"controller-uid": "u"}}, "template": template}
    body = {"metadata": {"name": "j"}, "spec": spec}
    code, status = await post(api, "/apis/batch/v1/namespaces/default/jobs", body)
    (cause,) = [cause for cause in status["details"]["causes"] if cause["field"] == "spec.selector"]
    assert code == 422
    assert '"batch.kubernetes.io/controller-uid":"' in cause["message"]
    assert '"controller-uid":"u"' in cause["message"]


@pytest.mark.parametrize(
    ("kind", "patch", "code"),
    [
        ("merge", '{"spec":{"replicas":2.0}}', 422),
        ("json", '[{"op":"replace","path":"/spec/replicas","value":2.0}]', 422),
        ("strategic-merge", '{"spec":{"replicas":2.0}}', 200),
    ],
)
async def test_a_float_in_a_patch_is_no_integer(api: aiohttp.ClientSession, kind: str, patch: str, code: int) -> None:
    """The libraries of merge and JSON patches keep the text of numbers, which Go does not read into an integer."""
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    body = {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}
    path = "/apis/apps/v1/namespaces/default/deployments"
    assert (await post(api, path, body))[0] == 201
    async with api.patch(f"{path}/d", data=patch, headers={"Content-Type": f"application/{kind}-patch+json"}) as r:
        answer = await r.json()
    assert r.status == code
    if code == 422:
        why = "json: cannot unmarshal number 2.0 into Go struct field DeploymentSpec.spec.replicas of type int32"
        assert answer["message"].endswith(why)
