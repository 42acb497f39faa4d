"""Discovery, OpenAPI, version, health, metrics."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


async def test_every_listed_resource_answers(api: aiohttp.ClientSession) -> None:
    """MT-09, LS-01, LS-05: each type that discovery names can be listed and read as JSON and as a Table."""
    async with api.get("/apis") as r:
        groups = (await r.json())["groups"]
    versions = ["api/v1"] + [f"apis/{v['groupVersion']}" for g in groups for v in g["versions"]]
    for version in versions:
        async with api.get(f"/{version}") as r:
            resources = (await r.json())["resources"]
        for resource in resources:
            if "list" not in resource["verbs"]:
                continue
            async with api.get(f"/{version}/{resource['name']}") as r:
                assert r.status == 200
                assert (await r.json())["kind"] == resource["kind"] + "List"
            table = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
            if resource["name"] != "componentstatuses":
                async with api.get(f"/{version}/{resource['name']}", headers=table) as r:
                    assert (await r.json())["kind"] == "Table"


async def test_aggregated_discovery_is_cached_by_etag(api: aiohttp.ClientSession) -> None:
    async with api.get("/apis", headers={"Accept": AGGREGATED}) as r:
        assert r.headers["Content-Type"] == AGGREGATED
        etag = r.headers["ETag"]
    async with api.get("/apis", headers={"Accept": AGGREGATED, "If-None-Match": etag}) as r:
        assert r.status == 304


async def test_openapi_names_the_operations_that_kubectl_looks_for(api: aiohttp.ClientSession) -> None:
    """FV-13."""
    async with api.get("/openapi/v3") as r:
        link = (await r.json(content_type=None))["paths"]["apis/apps/v1"]["serverRelativeURL"]
    async with api.get(link) as r:
        assert r.headers["Cache-Control"] == "public, immutable"
        document = await r.json()
    patch = document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]
    assert "fieldValidation" in [p["name"] for p in patch["parameters"]]


@pytest.mark.parametrize(("path", "section"), [("v2", "definitions"), ("v3/apis/apps/v1", "schemas")])
async def test_openapi_says_what_fields_mean(api: aiohttp.ClientSession, path: str, section: str) -> None:
    """`kubectl explain` shows it (test/e2e/apimachinery/crd_publish_openapi.go)."""
    async with api.get(f"/openapi/{path}") as r:
        document = await r.json()
    schemas = document.get("components", document)[section]
    meta = schemas["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]
    assert meta["description"].startswith("ObjectMeta is metadata")
    assert meta["properties"]["creationTimestamp"]["description"].startswith("CreationTimestamp is a timestamp")


@pytest.mark.parametrize("spelling", ["spec.v{}@v1.0", "spec.v{}.v1.0"])
@pytest.mark.parametrize(("version", "path"), [("2", "/openapi/v2"), ("3", "/openapi/v3/apis/apps/v1")])
async def test_openapi_as_protobuf(api: aiohttp.ClientSession, spelling: str, version: str, path: str) -> None:
    """Both spellings of the type, old and new, are answered by the new one; the body is no JSON."""
    media = f"application/com.github.proto-openapi.{spelling.format(version)}+protobuf"
    async with api.get(path, headers={"Accept": media}) as r:
        assert r.status == 200
        assert r.headers["Content-Type"] == media.replace("@", ".")
        assert (await r.read()).startswith(b"\x0a\x032.0" if version == "2" else b"\x0a\x053.0.0")


async def test_openapi_in_a_type_of_no_encoder_is_refused(api: aiohttp.ClientSession) -> None:
    async with api.get("/openapi/v2", headers={"Accept": "application/cbor"}) as r:
        assert r.status == 406
    async with api.get("/openapi/v2", headers={"Accept": "application/cbor, application/json"}) as r:
        assert r.status == 200


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/apis/apps", "only the following media types are accepted"),
        ("/apis/apps/v1", "406: Not Acceptable\n\nAvailable representations"),
    ],
)
async def test_documents_that_know_no_routes_refuse_in_the_codec(
    api: aiohttp.ClientSession, path: str, words: str
) -> None:
    """`apiGroupHandler` of kube-aggregator negotiates by itself; routes of go-restful answer before any handler."""
    async with api.get(path, headers={"Accept": "application/cbor"}) as r:
        assert r.status == 406
        assert (await r.json())["message"].startswith(words)


@pytest.mark.parametrize("endpoint", ["healthz", "livez", "readyz"])
async def test_health(api: aiohttp.ClientSession, endpoint: str) -> None:
    """HE-02 to HE-09."""
    async with api.get(f"/{endpoint}?verbose&exclude=etcd") as r:
        text = await r.text()
    assert "[+]etcd excluded: ok\n" in text
    assert text.endswith(f"{endpoint} check passed\n")
    for line in text.splitlines()[:-1]:
        async with api.get(f"/{endpoint}/{line.removeprefix('[+]').split()[0]}") as r:
            assert await r.text() == "ok"


async def test_metrics(api: aiohttp.ClientSession) -> None:
    await api.get("/api/v1/namespaces")
    async with api.get("/metrics") as r:
        text = await r.text()
    assert 'apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="namespaces"' in text


async def test_labels_of_metrics_are_bounded(api: aiohttp.ClientSession) -> None:
    """Upstream's `cleanVerb` and `cleanDryRun`: clients cannot make up labels."""
    for method in ("PROPFIND", "OPTIONS"):
        await api.request(method, "/version")
        await api.request(method, "/healthz")
    await api.post("/api/v1/namespaces?dryRun=All", json={"metadata": {"name": "bounded"}})
    await api.post("/api/v1/namespaces?dryRun=Some", json={"metadata": {"name": "bounded"}})
    async with api.get("/metrics") as r:
        lines = [line for line in (await r.text()).splitlines() if line.startswith("apiserver_request_total{")]
    assert not [line for line in lines if "PROPFIND" in line or "Some" in line]
    for labels in ('resource="",scope="",subresource="",verb="other"', 'dry_run="invalid"'):
        assert [line for line in lines if labels in line], labels
    made = 'dry_run="All",group="",resource="namespaces",scope="resource",subresource="",verb="POST",version="v1"} 1'
    assert [line for line in lines if line.endswith(made)]


async def test_open_watches_are_counted(api: aiohttp.ClientSession) -> None:
    name = 'apiserver_longrunning_requests{component="apiserver",group="",resource="configmaps",scope="cluster"'

    async def open_watches() -> str:
        async with api.get("/metrics") as r:
            return next(line for line in (await r.text()).splitlines() if line.startswith(name)).split()[-1]

    async with api.get("/api/v1/configmaps?watch=1"):
        assert await open_watches() == "1"
    async with api.get("/api/v1/configmaps?watch=1&timeoutSeconds=1") as r:
        await r.read()
    assert int(await open_watches()) < 2


@pytest.mark.parametrize("scaled", [True, False])
async def test_scales_are_listed_where_there_are_some(api: aiohttp.ClientSession, scaled: bool) -> None:
    """The OpenAPI document of a definition refers to `Scale` only with a scale subresource."""
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"n": {"type": "integer"}}}}}
    schema["properties"]["status"] = schema["properties"]["spec"]  # type: ignore[index]
    made: dict[str, Any] = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    if scaled:
        made["subresources"] = {"scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}}
    names = {"plural": "things", "kind": "Thing"}
    spec = {"group": "e.com", "scope": "Namespaced", "names": names, "versions": [made]}
    body = {"metadata": {"name": "things.e.com"}, "spec": spec}
    async with api.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", json=body) as r:
        assert r.status == 201
    async with api.get("/openapi/v3/apis/e.com/v1") as r:
        schemas = (await r.json())["components"]["schemas"]
    assert ("io.k8s.api.autoscaling.v1.Scale" in schemas) is scaled
    assert any(name.startswith("io.k8s.api.autoscaling.v1.Scale") for name in schemas) is scaled
