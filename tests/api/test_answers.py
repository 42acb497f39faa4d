"""Answers that were compared with those of kube-apiserver 1.36.1 side by side, in its words."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from tests.api.calls import get, post
from tests.api.requests import MAP, METADATA, TABLE, asked

CORE = "/api/v1/namespaces/default"
LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
ACCESS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
WANTED = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}


@pytest.fixture
async def mapped(api: aiohttp.ClientSession) -> aiohttp.ClientSession:
    """Create a config map."""
    await post(api, f"{CORE}/configmaps", {"metadata": {"name": "a", "labels": {"l": "a"}}, "data": {"k": "v"}})
    return api


@pytest.mark.parametrize(
    ("method", "path", "code", "message"),
    [
        ("POST", f"{CORE}/configmaps?dryRun=All,All", 422, 'CreateOptions.meta.k8s.io "" is invalid: dryRun: '),
        ("DELETE", f"{MAP}?dryRun=All&dryRun=x", 422, 'DeleteOptions.meta.k8s.io "" is invalid: dryRun: '),
        ("DELETE", f"{MAP}?dryRun=All&dryRun=All", 200, "Status"),
        ("GET", f"{MAP}?timeout=1", 400, "invalid timeout specified in the request URL - time: missing unit in "),
        ("GET", f"{MAP}?timeout=1d", 400, 'invalid timeout specified in the request URL - time: unknown unit "d" in '),
        ("GET", f"{CORE}/configmaps?continue=e30", 400, "invalid continue token: continue key is not valid: server "),
        (
            "GET",
            f"{CORE}/configmaps?labelSelector=a%2F%3Dc",
            400,
            'unable to parse requirement: <nil>: Invalid value: "a/": name part must be non-empty; name part must ',
        ),
        (
            "DELETE",
            "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical",
            403,
            "priorityclasses.scheduling",
        ),
        ("DELETE", "/apis/scheduling.k8s.io/v1/priorityclasses/system-cluster-critical?dryRun=All", 403, "priority"),
        ("GET", f"{CORE}/services/ftp:s:80/proxy/", 400, 'invalid service request "ftp:s:80"'),
        ("GET", f"{CORE}/pods/a:b:c:d/proxy/", 400, 'invalid pod request "a:b:c:d"'),
        ("GET", "/api/v1/nodes/ftp:n:80/proxy/", 400, 'invalid node request "ftp:n:80"'),
        ("GET", f"{CORE}/services/https:none:443/proxy/", 404, 'services "none" not found'),
        ("GET", f"{CORE}/services/kubernetes:81/proxy/", 503, 'no service port 81 found for service "kubernetes"'),
        ("HEAD", f"{CORE}/pods/none/proxy/", 404, ""),
        ("GET", "/metrics/", 404, "404 page not found\n"),
        ("GET", "/openapi", 404, "404 page not found\n"),
        ("GET", "/openapi/v2/", 404, "404 page not found\n"),
        ("GET", "/openapi/v3/", 404, ""),
        ("OPTIONS", f"{CORE}/pods/none:80/proxy/", 404, 'pods "none" not found'),
    ],
)
async def test_requests(mapped: aiohttp.ClientSession, method: str, path: str, code: int, message: str) -> None:
    status, text = await asked(mapped, method, path)
    assert (status, text[: len(message)]) == (code, message)


@pytest.mark.parametrize(
    ("media", "body", "code", "message"),
    [
        ("application/yaml", "", 422, 'ConfigMap "" is invalid: metadata.name: Required value'),
        ("application/yaml", "# nothing", 422, 'ConfigMap "" is invalid: metadata.name: Required value'),
        (
            "application/yaml",
            "a: b: c",
            400,
            "the object provided is unrecognized (must be of type ConfigMap): yaml: ",
        ),
        (
            "application/vnd.kubernetes.protobuf",
            "",
            400,
            "the object provided is unrecognized (must be of type ConfigMap): empty data (<empty>)",
        ),
    ],
)
async def test_bodies(api: aiohttp.ClientSession, media: str, body: str, code: int, message: str) -> None:
    status, text = await asked(api, "POST", f"{CORE}/configmaps?dryRun=All", body, Content_Type=media)
    assert (status, text[: len(message)]) == (code, message)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "[]",
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go "
            "value of type map[string]interface {}",
        ),
        ("a: b: c", "error decoding YAML: error converting YAML to JSON: yaml: "),
    ],
)
async def test_configurations_to_apply(mapped: aiohttp.ClientSession, body: str, message: str) -> None:
    path = f"{MAP}?fieldManager=m"
    status, text = await asked(mapped, "PATCH", path, body, Content_Type="application/apply-patch+yaml")
    assert (status, text[: len(message)]) == (400, message)


async def test_a_deleted_collection_is_shown_in_the_form_that_is_asked_for(mapped: aiohttp.ClientSession) -> None:
    """As a table, a list of metadata or neither; its objects are deleted before the form is refused."""
    path = f"{CORE}/configmaps?labelSelector=l=a"

    async def deleted(accept: str, query: str = "&dryRun=All") -> tuple[int, dict[str, Any]]:
        async with mapped.delete(path + query, headers={"Accept": accept}) as r:
            return r.status, await r.json()

    status, table = await deleted(TABLE)
    assert (status, table["kind"], [row["cells"][:2] for row in table["rows"]]) == (200, "Table", [["a", 1]])
    status, listed = await deleted(LIST)
    assert (status, listed["kind"], [set(i) for i in listed["items"]]) == (
        200,
        "PartialObjectMetadataList",
        [{"kind", "apiVersion", "metadata"}],
    )
    async with mapped.delete(
        f"{path}&dryRun=All", headers={"Accept": LIST.replace("json", "vnd.kubernetes.protobuf")}
    ) as r:
        sent = await r.read()
        assert r.status == 200 and b"PartialObjectMetadataList" in sent and b"ConfigMap" not in sent
    status, refused = await deleted(METADATA, "")
    assert (status, refused["message"]) == (
        406,
        "you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)",
    )
    assert (await get(mapped, path))["items"] == []
    assert (await deleted(LIST))[1]["items"] is None


async def test_a_review_has_its_managers(api: aiohttp.ClientSession) -> None:
    """`handlers/create.go` tracks the fields of a review as those of any other object."""
    async with api.post(ACCESS, json=WANTED, headers={"User-Agent": "kubectl/v1"}) as r:
        (entry,) = (await r.json())["metadata"]["managedFields"]
    assert (entry["manager"], entry["operation"]) == ("kubectl", "Update")
    assert set(entry["fieldsV1"]["f:spec"]["f:resourceAttributes"]) == {".", "f:resource", "f:verb"}


@pytest.mark.parametrize(("accept", "kind", "code"), [(METADATA, "PartialObjectMetadata", 201), (LIST, "Status", 406)])
async def test_a_review_is_shown_in_the_form_that_is_asked_for(
    api: aiohttp.ClientSession, accept: str, kind: str, code: int
) -> None:
    async with api.post(ACCESS, json=WANTED, headers={"Accept": accept}) as r:
        assert (r.status, (await r.json())["kind"]) == (code, kind)


@pytest.mark.parametrize(
    ("accept", "code"),
    [
        ("application/json;stream=watch", 200),
        ("application/vnd.kubernetes.protobuf;stream=watch", 200),
        ("application/json;stream=other", 406),
        ("application/yaml;stream=watch", 406),
        ("application/json;g=meta.k8s.io;v=v1", 406),
        ('application/json;as="Table";g=meta.k8s.io;v=v1', 406),
        ("application/json;g=meta.k8s.io;v=v1, */*", 200),
    ],
)
async def test_parameters_of_media_types(mapped: aiohttp.ClientSession, accept: str, code: int) -> None:
    """`acceptMediaTypeOptions`: YAML has no form of a stream, and a group or version needs a kind."""
    async with mapped.get(MAP, headers={"Accept": accept}) as r:
        assert r.status == code


@pytest.mark.parametrize(
    ("kept", "policy", "wanted"),
    [
        (["orphan", "x/y"], "Orphan", ["orphan", "x/y"]),
        (["x/y"], "Orphan", ["x/y", "orphan"]),
        (["orphan", "x/y"], "Foreground", ["x/y", "foregroundDeletion"]),
    ],
)
async def test_finalizers_keep_their_order(
    api: aiohttp.ClientSession, kept: list[str], policy: str, wanted: list[str]
) -> None:
    """`deletionFinalizersForGarbageCollection` compares sets; the collector of the server may act on its own since."""
    name = f"f{len(kept)}{policy.lower()}"
    await post(api, f"{CORE}/configmaps", {"metadata": {"name": name, "finalizers": kept}})
    async with api.delete(f"{CORE}/configmaps/{name}?propagationPolicy={policy}") as r:
        assert (await r.json())["metadata"]["finalizers"] == wanted


async def test_the_resources_of_a_pod_decide_its_class_even_if_empty(api: aiohttp.ClientSession) -> None:
    """`ComputePodQOS` looks at containers only without them."""
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    for resources, wanted in (({}, "BestEffort"), (None, "Burstable")):
        spec = {"containers": [container], **({} if resources is None else {"resources": resources})}
        made = await post(api, f"{CORE}/pods?dryRun=All", {"metadata": {"name": "p"}, "spec": spec})
        assert made["status"]["qosClass"] == wanted


async def test_a_changed_address_is_not_dropped_with_its_type(api: aiohttp.ClientSession) -> None:
    """`dropTypeDependentFields` removes an address only as it was allocated."""
    typed = {"metadata": {"name": "typed"}, "spec": {"ports": [{"port": 80}], "clusterIP": "10.0.0.76"}}
    await post(api, f"{CORE}/services", typed)
    merge = {"Content-Type": "application/merge-patch+json"}
    for address, code in (("None", 422), ("10.0.0.77", 422), (None, 200)):
        spec = {"type": "ExternalName", "externalName": "x.y"} | ({"clusterIP": address} if address else {})
        async with api.patch(f"{CORE}/services/typed?dryRun=All", json={"spec": spec}, headers=merge) as r:
            answer = await r.json()
            assert r.status == code, answer
        if code == 422:
            assert answer["details"]["causes"] == [
                {
                    "reason": "FieldValueForbidden",
                    "message": "Forbidden: may not be set for ExternalName services",
                    "field": "spec.clusterIPs",
                }
            ]


async def test_an_empty_list_of_init_containers_is_no_change(api: aiohttp.ClientSession) -> None:
    """`ValidatePodUpdate` builds the lists of containers anew; sealed-secrets has such a pod."""
    container = {"name": "c", "image": "i", "env": [{"name": "A", "value": "1"}]}
    pod: dict[str, Any] = {"metadata": {"name": "p"}, "spec": {"containers": [container], "initContainers": []}}
    await post(api, f"{CORE}/pods", pod)
    container["env"] = [{"name": "A", "value": "2"}]
    async with api.put(f"{CORE}/pods/p", json=pod) as r:
        text = await r.text()
    assert r.status == 422 and "Env" in text and "InitContainers" not in text
