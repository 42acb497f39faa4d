"""Requests that are odd somewhere: what is answered first, and in kube-apiserver's words."""

from __future__ import annotations

from typing import Any

import aiohttp
import orjson
import pytest

from tests.api.requests import CORE, MAP, METADATA, TABLE, asked

DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments/d"
PROTOBUF = "application/vnd.kubernetes.protobuf"
NO_KIND = 'no kind "{}" is registered for version "{}" in scheme "pkg/runtime/scheme.go:111"'


@pytest.fixture
async def seeded(api: aiohttp.ClientSession) -> aiohttp.ClientSession:
    """Create a config map, a deployment, and pods with an absent node, without a node, and with one without address."""
    pod: dict[str, Any] = {"containers": [{"name": "c", "image": "i"}]}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod}
    workload = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    two = [{"name": name, "image": "i"} for name in "cd"]
    objects: list[tuple[str, dict[str, Any]]] = [
        (f"{CORE}/configmaps", {"metadata": {"name": "a"}, "data": {"k": "v"}}),
        (DEPLOYMENT.rpartition("/")[0], {"metadata": {"name": "d"}, "spec": workload}),
        ("/api/v1/nodes", {"metadata": {"name": "there"}}),
        (f"{CORE}/pods", {"metadata": {"name": "none"}, "spec": pod}),
        (f"{CORE}/pods", {"metadata": {"name": "missing"}, "spec": {**pod, "nodeName": "gone"}}),
        (f"{CORE}/pods", {"metadata": {"name": "two"}, "spec": {"containers": two, "nodeName": "there"}}),
    ]
    for path, body in objects:
        async with api.post(path, json=body) as r:
            assert r.status == 201, await r.text()
    return api


READS = [
    ("/apis/nope/v1/foos", "", 404, "404 page not found\n"),
    ("/apis", METADATA, 406, "only the following media types are accepted"),
    ("/apis/apps", METADATA, 406, "only the following media types are accepted"),
    ("/apis", "application/*", 200, "APIGroupList"),
    ("/version", "text/html", 406, "406: Not Acceptable\n\nAvailable representations: application/json"),
    ("/healthz?timeout=abc", "", 400, 'invalid timeout specified in the request URL - time: invalid duration "abc"'),
    (f"{MAP}%2Fb", "", 404, "the server could not find the requested resource"),
    (f"{CORE}/configmaps/%61", "", 200, "ConfigMap"),
    (f"{CORE}/configmaps/%2e%2e", "", 400, "Name parameter invalid: \"..\": may not be '..'"),
    (f"{CORE}/configmaps/a%25", "", 400, "Name parameter invalid: \"a%\": may not contain '%'"),
    (f"{CORE}/configmaps?limit=a&timeoutSeconds=b", "", 400, 'strconv.ParseInt: parsing "b": invalid syntax'),
    (f"{CORE}/configmaps?labelSelector=%3D&resourceVersionMatch=X", "", 400, "found '=', expected: !, identifier"),
    (f"{CORE}/configmaps?labelSelector=x/y/z", "", 400, 'unable to parse requirement: <nil>: Invalid value: "x/y/z"'),
    (
        f"{CORE}/configmaps?labelSelector=a%3E-b",
        "",
        400,
        'unable to parse requirement: [values[0]: Invalid value: "-b"',
    ),
    (f"{CORE}/configmaps?fieldSelector=a%3Db%3Dc", "", 400, "invalid field selector: unescaped character in value: 61"),
    (f"{CORE}/services?fieldSelector=%3D", "", 200, "ServiceList"),
    (f"{CORE}/pods?resourceVersionMatch=Exact", METADATA, 422, "ListOptions.meta.k8s.io"),
    (
        "/apis/coordination.k8s.io/v1/leases",
        METADATA,
        406,
        "you requested PartialObjectMetadata, but the requested object is a list (*coordination.LeaseList)",
    ),
    (
        "/apis/events.k8s.io/v1/events",
        METADATA,
        406,
        "you requested PartialObjectMetadata, but the requested object is a list (*core.EventList)",
    ),
    (f"{CORE}/pods/none/log", "", 204, ""),
    (
        f"{CORE}/pods/none/log?tailLines=-1",
        "",
        422,
        'PodLogOptions "none" is invalid: tailLines: Invalid value: -1: must',
    ),
    (
        f"{CORE}/pods/none/log?sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z",
        "",
        422,
        'PodLogOptions "none" is invalid: []:',
    ),
    (f"{CORE}/pods/none/log?stream=All", "", 422, 'PodLogOptions "none" is invalid: stream: Forbidden'),
    (f"{CORE}/pods/none/exec", "", 400, "pod none does not have a host assigned"),
    (f"{CORE}/pods/missing/log", "", 404, 'pods "gone" not found'),
    (f"{CORE}/pods/missing/log?container=x", "", 400, "container x is not valid for pod missing"),
    (f"{CORE}/pods/two/log", "", 400, "a container name must be specified for pod two, choose one of: [c d]"),
    (f"{CORE}/pods/two/log?container=c", "", 500, "no preferred addresses found; known addresses: []"),
    ("/api/v1/nodes/there/proxy", "", 500, "no preferred addresses found; known addresses: []"),
    (
        f"/api/v1/watch{MAP.removeprefix('/api/v1')}?fieldSelector=metadata.name!%3Da",
        "",
        400,
        "fieldSelector metadata.name doesn't match requested name",
    ),
    (
        f"/api/v1/watch{CORE.removeprefix('/api/v1')}/secrets?sendInitialEvents=true",
        "",
        422,
        'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
    ),
]


@pytest.mark.parametrize(("path", "accept", "code", "message"), READS)
async def test_reads(seeded: aiohttp.ClientSession, path: str, accept: str, code: int, message: str) -> None:
    """URI-*, MT-*, LS-*, RV-*."""
    status, text = await asked(seeded, "GET", path, **({"Accept": accept} if accept else {}))
    assert (status, text[: len(message)]) == (code, message)


BODIES = [
    ('{"apiVersion":"v1","kind":"Pod"}', "converting (v1.Pod) to (core.ConfigMap): unknown conversion"),
    ('{"apiVersion":"v1","kind":"Foo"}', NO_KIND.format("Foo", "v1")),
    ('{"apiVersion":"v1","kind":"Status"}', "converting (v1.Status) to (core.ConfigMap): unknown conversion"),
    (
        '{"apiVersion":"apps/v1","kind":"WatchEvent"}',
        "converting (v1.WatchEvent) to (core.ConfigMap): unknown conversion",
    ),
    (
        '{"apiVersion":"apps/v1beta1","kind":"Scale"}',
        "converting (v1beta1.Scale) to (core.ConfigMap): unknown conversion",
    ),
    ('{"apiVersion":"apps/v1","kind":"Scale"}', NO_KIND.format("Scale", "apps/v1")),
    (
        '{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService"}',
        NO_KIND.format("APIService", "apiregistration.k8s.io/v1"),
    ),
]


@pytest.mark.parametrize(("sent", "why"), BODIES)
async def test_bodies_of_another_type(api: aiohttp.ClientSession, sent: str, why: str) -> None:
    body = orjson.loads(sent)
    kind, version = body["kind"], body["apiVersion"].rpartition("/")[2]
    wanted = f'{kind} in version "{version}" cannot be handled as a ConfigMap: {why}'
    assert await asked(api, "POST", f"{CORE}/configmaps", sent) == (400, wanted)


async def test_bodies_of_another_version(api: aiohttp.ClientSession) -> None:
    text = "the API version in the data ({}) does not match the expected API version ({})"
    for path, kind, given, expected in (
        (DEPLOYMENT.rpartition("/")[0], "Deployment", "extensions/v1beta1", "apps/v1"),
        (f"{CORE}/events", "Event", "events.k8s.io/v1", "v1"),
        (
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            "CustomResourceDefinition",
            "apiextensions.k8s.io/v1beta1",
            "apiextensions.k8s.io/v1",
        ),
    ):
        body = orjson.dumps({"apiVersion": given, "kind": kind}).decode()
        assert await asked(api, "POST", path, body) == (400, text.format(given, expected))


WRITES = [
    ("POST", "/apis", "application/json", "{}", 200, "APIGroupList"),
    ("POST", "/api/v1/bindings", "application/json", "{}", 404, "the server could not find the requested resource"),
    ("POST", f"{CORE}/pods/none/exec?dryRun=All", "application/json", "{}", 400, "dryRun is not supported"),
    (
        "PUT",
        "/apis/node.k8s.io/v1/runtimeclasses/r",
        "application/json",
        '{"metadata":{"name":"r"}}',
        422,
        'RuntimeClass.node.k8s.io "r" is invalid: handler: Required value',
    ),
    ("POST", "/api", "application/json", "{}", 405, "the server does not allow this method on the requested resource"),
    ("PATCH", "/apis/nope/v1/foos", "application/json", "{}", 404, "404 page not found\n"),
    (
        "POST",
        f"{CORE}/configmaps?dryRun=X",
        "text/plain",
        "{}",
        415,
        "the body of the request was in an unknown format",
    ),
    ("PATCH", "/api/v1/nodes/there/proxy", "text/plain", "{}", 500, "no preferred addresses found"),
    ("PUT", f"{MAP}?dryRun=X", "text/plain", "{}", 422, "UpdateOptions.meta.k8s.io"),
    (
        "POST",
        f"{CORE}/configmaps?dryRun=All",
        "application/JSON; charset=utf-8",
        '{"metadata":{"name":"b"}}',
        201,
        "Config",
    ),
    (
        "POST",
        f"{CORE}/configmaps",
        "application/json;foo",
        "{}",
        415,
        "the body of the request was in an unknown format",
    ),
    (
        "PUT",
        MAP,
        "application/json",
        '{"metadata":{"namespace":"b"}}',
        400,
        "the namespace of the provided object does not",
    ),
    ("POST", f"{CORE}/pods/none/binding", "application/json", "{}", 400, "name in URL does not match name in Binding"),
    (
        "POST",
        f"{CORE}/pods/none/eviction",
        "application/json",
        "{}",
        400,
        "name in URL does not match name in Eviction",
    ),
    ("DELETE", MAP, "application/json", '{"apiVersion":"v1","kind":"Pod"}', 400, NO_KIND.format("Pod", "v1")),
    ("DELETE", MAP, "application/json", '{"kind":"Pod"}', 400, NO_KIND.format("Pod", "meta.k8s.io/v1")),
    (
        "DELETE",
        MAP,
        "application/json",
        '{"kind":"Status"}',
        400,
        "converting (v1.Status) to (v1.DeleteOptions): unknown",
    ),
    ("DELETE", MAP, "application/json", "x", 400, "couldn't get version/kind; json parse error: invalid character 'x'"),
    ("DELETE", f"{MAP}?dryRun=All", "application/json", "null", 200, "Status"),
    ("DELETE", f"{MAP}?resourceVersion=1", "", "", 409, "Operation cannot be fulfilled on ConfigMap"),
    ("DELETE", f"{MAP}?uid=x", "", "", 409, "Operation cannot be fulfilled on ConfigMap"),
    ("DELETE", f"{CORE}/secrets?sendInitialEvents=1&propagationPolicy=X", "", "", 422, "ListOptions.meta.k8s.io"),
]


@pytest.mark.parametrize(("method", "path", "media", "body", "code", "message"), WRITES)
async def test_writes(
    seeded: aiohttp.ClientSession, method: str, path: str, media: str, body: str, code: int, message: str
) -> None:
    status, text = await asked(seeded, method, path, body, **({"Content_Type": media} if media else {}))
    assert (status, text[: len(message)]) == (code, message)


MERGE, STRATEGIC, JSON = "merge-patch", "strategic-merge-patch", "json-patch"
INVALID = ' "" is invalid: patch: Invalid value: '
PATCHES = [
    # The outcome of a strategic patch is made an object of the type, whatever type it names.
    (STRATEGIC, '{"kind":"Foo","apiVersion":"v9"}', 200, "ConfigMap"),
    (STRATEGIC, "null", 200, "ConfigMap"),
    (STRATEGIC, "nope", 400, "invalid character 'o' in literal null (expecting 'u')"),
    (STRATEGIC, '"x"', 400, "json: cannot unmarshal string into Go value of type map[string]interface {}"),
    (STRATEGIC, '{"data":{"k":1}}', 422, f'{INVALID}"map[data:map[k:1]]": cannot convert int64 to string'),
    (STRATEGIC, '{"data":{"k":[]}}', 422, f'{INVALID}"map[data:map[k:[]]]": unrecognized type: string'),
    (STRATEGIC, '{"metadata":"x"}', 422, f'{INVALID}"map[metadata:x]": cannot restore struct from: string'),
    (STRATEGIC, '{"immutable":"x"}', 422, f'{INVALID}"map[immutable:x]": unrecognized type: bool'),
    (
        MERGE,
        '{"apiVersion":""}',
        400,
        "the name of the object (a based on URL) was undeterminable: name must be provided",
    ),
    (MERGE, '{"kind":null}', 200, "ConfigMap"),
    (MERGE, "null", 400, "Invalid JSON Patch"),
    (MERGE, "nope", 400, "error decoding patch: invalid character 'o' in literal null (expecting 'u')"),
]


@pytest.mark.parametrize(("kind", "sent", "code", "message"), PATCHES)
async def test_patches(seeded: aiohttp.ClientSession, kind: str, sent: str, code: int, message: str) -> None:
    """UP-*."""
    found = await asked(seeded, "PATCH", MAP, sent, Content_Type=f"application/{kind}+json")
    assert found == (code, message)


OUTCOMES = [
    (MERGE, '{"kind":"Pod"}', "converting (v1.Pod) to (core.ConfigMap): unknown conversion"),
    (MERGE, '{"kind":"Foo","zz":1}', NO_KIND.format("Foo", "v1")),
    (MERGE, '{"apiVersion":"v2"}', NO_KIND.format("ConfigMap", "v2")),
    (MERGE, '{"apiVersion":"a/b/c"}', "unexpected GroupVersion string: a/b/c"),
    (
        MERGE,
        '{"kind":5}',
        "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field "
        ".kind of type string",
    ),
    (
        JSON,
        '[{"op":"replace","path":"/kind","value":"Pod"}]',
        "converting (v1.Pod) to (core.ConfigMap): unknown conversion",
    ),
]


@pytest.mark.parametrize(("kind", "sent", "why"), OUTCOMES)
async def test_outcomes_of_another_type(seeded: aiohttp.ClientSession, kind: str, sent: str, why: str) -> None:
    code, message = await asked(seeded, "PATCH", MAP, sent, Content_Type=f"application/{kind}+json")
    assert (code, message[: len(INVALID)], message[-len(why) :]) == (422, INVALID, why)
    assert '\\"zz\\":1' in message or "zz" not in sent


async def test_a_patch_may_name_an_older_version(seeded: aiohttp.ClientSession) -> None:
    body = '{"apiVersion":"apps/v1beta1","spec":{"replicas":3}}'
    media = "application/merge-patch+json"
    assert await asked(seeded, "PATCH", DEPLOYMENT, body, Content_Type=media) == (200, "Deployment")


async def test_a_strategic_patch_brings_numbers_as_go_converts_them(seeded: aiohttp.ClientSession) -> None:
    media = "application/strategic-merge-patch+json"
    for sent, kept in (("3.0", 3), ("4294967298", 2)):
        async with seeded.patch(
            DEPLOYMENT, data=f'{{"spec":{{"replicas":{sent}}}}}', headers={"Content-Type": media}
        ) as r:
            assert (await r.json())["spec"]["replicas"] == kept
    code, text = await asked(seeded, "PATCH", DEPLOYMENT, '{"spec":{"replicas":1.5}}', Content_Type=media)
    assert (code, text.rpartition(": ")[2]) == (422, "cannot convert float64 to int32")


@pytest.mark.parametrize("path", ["/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1"])
async def test_discovery_as_protobuf(api: aiohttp.ClientSession, path: str) -> None:
    """MT-05."""
    async with api.get(path, headers={"Accept": PROTOBUF}) as r:
        assert (r.status, (await r.read())[:4]) == (200, b"k8s\0")


async def test_what_is_there_from_the_start_has_its_managers(api: aiohttp.ClientSession) -> None:
    for path, managers in (
        (
            "flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations/exempt",
            {"api-priority-and-fairness-config-producer-v1"},
        ),
        ("networking.k8s.io/v1/servicecidrs/kubernetes", {"kube-apiserver", "kubernetes-service-cidr-controller"}),
    ):
        async with api.get(f"/apis/{path}") as r:
            found = (await r.json())["metadata"]["managedFields"]
        assert {entry["manager"] for entry in found} == managers
        assert all(entry["time"] for entry in found)


async def test_flow_schemas_are_shown_in_the_order_of_their_precedence(api: aiohttp.ClientSession) -> None:
    path = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"
    async with api.get(path, headers={"Accept": TABLE}) as r:
        rows = [row["cells"][2::-2] for row in (await r.json())["rows"]]
    assert len(rows) > 5
    assert rows == sorted(rows)


async def test_metadata_has_no_annotation_of_a_conversion(seeded: aiohttp.ClientSession) -> None:
    path = "/apis/apps/v1/namespaces/default/daemonsets"
    async with seeded.get(DEPLOYMENT) as r:
        spec = (await r.json())["spec"]
    body = {"metadata": {"name": "d"}, "spec": {"selector": spec["selector"], "template": spec["template"]}}
    async with seeded.post(path, json=body) as r:
        assert (await r.json())["metadata"]["annotations"] == {"deprecated.daemonset.template.generation": "1"}
    for query in ("", "/d"):
        async with seeded.get(
            path + query, headers={"Accept": METADATA.replace("Metadata;", "MetadataList;", not query)}
        ) as r:
            found = await r.json()
            assert "annotations" not in (found if query else found["items"][0])["metadata"]


async def test_the_label_of_a_made_up_name_has_no_owner(api: aiohttp.ClientSession) -> None:
    for metadata, owned in (({"name": "n"}, True), ({"generateName": "n-"}, False)):
        async with api.post("/api/v1/namespaces", json={"metadata": metadata}) as r:
            found = (await r.json())["metadata"]
        assert found["labels"] == {"kubernetes.io/metadata.name": found["name"]}
        assert ("f:labels" in orjson.dumps(found.get("managedFields", [])).decode()) is owned


async def test_what_people_read_is_indented(api: aiohttp.ClientSession) -> None:
    for path, headers in ((MAP, {"User-Agent": "curl/8"}), (f"{MAP}?pretty=1", {})):
        async with api.get(path, headers=headers) as r:
            assert (await r.read()).startswith(b'{\n  "kind": "Status",')


async def test_the_old_form_of_a_watch_tells_no_end_of_the_state(seeded: aiohttp.ClientSession) -> None:
    """WA-*."""
    query = "?timeoutSeconds=1&allowWatchBookmarks=true"
    async with seeded.get(f"/api/v1/watch/namespaces/default/configmaps/a{query}") as r:
        events = [orjson.loads(line) for line in (await r.read()).splitlines()]
    assert [(e["type"], e["object"]["metadata"]["name"]) for e in events] == [("ADDED", "a")]


async def test_counting_begins_anew(api: aiohttp.ClientSession) -> None:
    assert await asked(api, "GET", MAP) == (404, 'configmaps "a" not found')
    assert await asked(api, "DELETE", "/metrics") == (200, "metrics reset\n")
    assert 'code="404"' not in (await asked(api, "GET", "/metrics"))[1]


async def test_no_metadata_is_null(api: aiohttp.ClientSession) -> None:
    accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    async with api.get(f"{CORE}/secrets", headers={"Accept": accept}) as r:
        assert (await r.json())["items"] is None


async def test_yaml_is_folded_as_go_folds_it(api: aiohttp.ClientSession) -> None:
    """MT-02."""
    async with api.get(f"{CORE}/secrets?watch=1", headers={"Accept": "application/yaml"}) as r:
        lines = (await r.text()).splitlines()
    assert lines[3:5] == [
        "message: 'only the following media types are accepted: application/json;stream=watch,",
        "  application/vnd.kubernetes.protobuf;stream=watch'",
    ]
