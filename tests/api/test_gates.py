"""Feature gates that are seen from outside (DEP-18 to DEP-20, WA-24, CP-02, DEL-13)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server

MAPS = "/api/v1/namespaces/default/configmaps"
UNSAFE = "ignoreStoreReadErrorWithClusterBreakingPotential"
Object = dict[str, Any]


@asynccontextmanager
async def serving(gates: dict[str, bool], **config: Any) -> AsyncIterator[aiohttp.ClientSession]:
    """Yield a client of a server with these gates."""
    server = Server(Config(port=0, controllers="", feature_gates=gates, **config))
    await server.start()
    async with aiohttp.ClientSession(server.url, headers={"Content-Type": "application/json"}) as session:
        yield session
    await server.stop()


def causes(answer: Object) -> list[tuple[str, str]]:
    """Fields and texts of a refusal."""
    return [(c["field"], c["message"]) for c in answer["details"]["causes"]]


async def test_watch_lists_off() -> None:
    """WA-24: the refusal names the gate; watches that do not ask for the state go on."""
    async with serving({"WatchList": False}) as api:
        path = f"{MAPS}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true"
        why = "Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
        async with api.get(f"{path}&resourceVersionMatch=NotOlderThan") as r:
            assert r.status == 422
            assert causes(await r.json()) == [("sendInitialEvents", why)]
        async with api.get(path) as r:
            match = "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
            assert causes(await r.json()) == [("resourceVersionMatch", match), ("sendInitialEvents", why)]
        async with api.get(f"{MAPS}?watch=1&timeoutSeconds=1") as r:
            assert r.status == 200
    async with serving({}) as api, api.get(f"{path}&resourceVersionMatch=NotOlderThan&timeoutSeconds=1") as r:
        assert r.status == 200


@pytest.mark.parametrize("on", [True, False])
async def test_compression(on: bool) -> None:
    """CP-02; the documents of OpenAPI are compressed by a handler of their own."""
    async with serving({"APIResponseCompression": on}) as api:
        body = {"metadata": {"name": "a"}, "data": {"a": "b" * 200_000}}
        async with api.post(MAPS, json=body) as r:
            assert r.status == 201
        packed = {"Accept-Encoding": "gzip"}
        for path in (MAPS, f"{MAPS}/a"):
            async with api.get(path, headers=packed) as r:
                assert r.headers.get("Content-Encoding") == ("gzip" if on else None)
                assert "b" * 200_000 in await r.text()
        async with api.get("/openapi/v2", headers=packed) as r:
            assert r.headers.get("Content-Encoding") == "gzip"


@pytest.mark.parametrize(
    ("given", "beside"),
    [
        ({"dryRun": ["All"]}, ["dryRun"]),
        ({"propagationPolicy": "Background"}, ["propagationPolicy"]),
        ({"orphanDependents": True}, ["orphanDependents"]),
        ({"gracePeriodSeconds": 0}, ["gracePeriodSeconds"]),
        ({"preconditions": {"uid": "x"}}, ["preconditions"]),
        ({"gracePeriodSeconds": 0, "dryRun": ["All"]}, ["dryRun", "gracePeriodSeconds"]),
    ],
)
async def test_unsafe_deletion(given: Object, beside: list[str]) -> None:
    """DEL-13: options that are forbidden beside this one, which has no effect while the gate is off."""
    options = {"kind": "DeleteOptions", "apiVersion": "v1", UNSAFE: True, **given}
    async with serving({"AllowUnsafeMalformedObjectDeletion": True}) as api:
        async with api.post(MAPS, json={"metadata": {"name": "a"}}) as r:
            assert r.status == 201
        async with api.delete(f"{MAPS}/a", json=options) as r:
            assert r.status == 422
            texts = [f"Invalid value: true: cannot be set together with .{name}" for name in beside]
            assert causes(await r.json()) == [(UNSAFE, text) for text in texts]
        async with api.delete(f"{MAPS}/a", json={UNSAFE: True}) as r:
            # DEL-09: what can be read is deleted as ever.
            assert r.status == 200
    async with serving({}) as api:
        async with api.post(MAPS, json={"metadata": {"name": "a"}}) as r:
            assert r.status == 201
        async with api.delete(f"{MAPS}/a", json=options) as r:
            assert r.status == (409 if "preconditions" in given else 200)


async def test_unsafe_deletion_is_of_one_object() -> None:
    """DEL-13, in the query too."""
    async with serving({"AllowUnsafeMalformedObjectDeletion": True}) as api:
        async with api.delete(f"{MAPS}?{UNSAFE}=true") as r:
            assert r.status == 422
            why = "Invalid value: true: is not allowed with DELETECOLLECTION, try again after removing the option"
            assert causes(await r.json()) == [(UNSAFE, why)]
        async with api.delete(f"{MAPS}/a?{UNSAFE}=true&gracePeriodSeconds=1") as r:
            assert r.status == 422
        async with api.delete(MAPS) as r:
            assert r.status == 200


async def test_hashes_and_identity() -> None:
    """StorageVersionHash and APIServerIdentity."""
    off = {"StorageVersionHash": False, "APIServerIdentity": False, "UnknownVersionInteroperabilityProxy": False}
    leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
    for gates, there in ((off, False), ({}, True)):
        async with serving(gates) as api:
            async with api.get("/apis/apps/v1") as r:
                assert any("storageVersionHash" in e for e in (await r.json())["resources"]) is there
            async with api.get(leases) as r:
                assert bool((await r.json())["items"]) is there


async def test_resources_that_need_a_gate() -> None:
    """A version that is on does not bring what its gate leaves out."""
    beta = {"api/beta": True}
    async with serving({}, runtime_config=beta) as api:
        async with api.get("/apis/certificates.k8s.io/v1beta1") as r:
            assert r.status == 404
        async with api.get("/apis") as r:
            assert "storagemigration.k8s.io" not in [g["name"] for g in (await r.json())["groups"]]
        # DEP-07: what is deprecated in a later release does not warn yet.
        async with api.get("/apis/admissionregistration.k8s.io/v1beta1/mutatingadmissionpolicies") as r:
            assert "Warning" not in r.headers
    bundles = serving({"ClusterTrustBundle": True}, runtime_config=beta)
    async with bundles as api, api.get("/apis/certificates.k8s.io/v1beta1") as r:
        assert [e["name"] for e in (await r.json())["resources"]] == ["clustertrustbundles"]


async def test_gates_are_shown() -> None:
    """`kubernetes_feature_enabled` has each gate with its stage."""
    async with serving({"WatchList": False}) as api, api.get("/metrics") as r:
        lines = (await r.text()).splitlines()
    help_text = "[BETA] This metric records the data about the stage and enablement of a k8s feature."
    assert f"# HELP kubernetes_feature_enabled {help_text}" in lines
    assert 'kubernetes_feature_enabled{name="WatchList",stage="BETA"} 0' in lines
    assert 'kubernetes_feature_enabled{name="CBORServingAndStorage",stage="ALPHA"} 0' in lines
    assert 'kubernetes_feature_enabled{name="RetryGenerateName",stage=""} 1' in lines
    assert 'kubernetes_feature_enabled{name="KMSv1",stage="DEPRECATED"} 0' in lines


OFF = {"apps/v1": False, "batch/v1": False, "autoscaling/v1": False, "v1/podtemplates": False}


async def test_openapi_leaves_out_what_is_off() -> None:
    """GR-03: groups, versions and single resources, in both versions of the documents."""
    async with serving({}, runtime_config=OFF) as api:
        async with api.get("/openapi/v3") as r:
            paths = (await r.json(content_type=None))["paths"]
        assert {"apis/apps", "apis/apps/v1", "apis/batch", "apis/autoscaling/v1"}.isdisjoint(paths)
        assert {"apis/autoscaling", "apis/autoscaling/v2", "api/v1"} <= set(paths)
        for name in ("apis/apps", "apis/apps/v1", "apis/autoscaling/v1"):
            async with api.get(f"/openapi/v3/{name}") as r:
                assert r.status == 404
        async with api.get(paths["api/v1"]["serverRelativeURL"]) as r:
            core = await r.json()
        assert not any("podtemplates" in path for path in core["paths"])
        assert "io.k8s.api.core.v1.PodTemplate" not in core["components"]["schemas"]
        assert "io.k8s.api.core.v1.PodTemplateSpec" in core["components"]["schemas"]
        async with api.get("/openapi/v2") as r:
            swagger = await r.json()
        assert not any(
            path.startswith(("/apis/apps/", "/apis/batch/", "/apis/autoscaling/v1/")) for path in swagger["paths"]
        )
        assert "/apis/autoscaling/v2/horizontalpodautoscalers" in swagger["paths"]
        assert "io.k8s.api.apps.v1.Deployment" not in swagger["definitions"]
        assert "io.k8s.api.core.v1.Pod" in swagger["definitions"]


async def test_definitions_go_with_what_is_off() -> None:
    """The documents of definitions are complete where the kinds that they borrow from are off."""
    async with serving({}, runtime_config={"apps/v1": False}) as api:
        schema = {"type": "object"}
        spec = {
            "group": "e.com",
            "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        }
        body = {"metadata": {"name": "things.e.com"}, "spec": spec}
        async with api.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", json=body) as r:
            assert r.status == 201
        async with api.get("/openapi/v3/apis/e.com/v1") as r:
            assert "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" in (await r.json())["components"]["schemas"]
        async with api.get("/openapi/v2") as r:
            swagger = await r.json()
        assert "/apis/e.com/v1/things" in swagger["paths"]
        assert "/apis/apps/v1/deployments" not in swagger["paths"]
