"""Resources that need a quota by the configuration of the ResourceQuota plug-in; messages of kube-apiserver 1.36.1."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server, StartError
from tests.api.calls import get, post

BASE = "/api/v1/namespaces/default"
CLASS = ".storageclass.storage.k8s.io/requests.storage"
SCOPE = {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}
Object = dict[str, Any]


async def config(folder: Path, **members: Any) -> Config:
    """Return settings with a configuration of the plug-in."""
    own = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "ResourceQuotaConfiguration", **members}
    plugins = [{"name": "ResourceQuota", "configuration": own}]
    whole = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration", "plugins": plugins}
    file = folder / "admission.json"
    await asyncio.to_thread(file.write_text, json.dumps(whole))
    return Config(port=0, controllers="", admission_control_config_file=str(file))


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[aiohttp.ClientSession]:
    limited = [
        {"resource": "pods", "matchScopes": [SCOPE]},
        {"resource": "configmaps", "matchContains": ["configmaps"]},
        {"resource": "persistentvolumeclaims", "matchContains": [CLASS]},
    ]
    server = Server(await config(tmp_path, limitedResources=limited))
    await server.start()
    async with aiohttp.ClientSession(server.url, headers={"Content-Type": "application/json"}) as session:
        await post(session, "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "high"}, "value": 10})
        yield session
    await server.stop()


def pod(name: str, **spec: Any) -> Object:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}


def claim(name: str, **spec: Any) -> Object:
    resources = {"requests": {"storage": "1Gi"}}
    return {"metadata": {"name": name}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": resources, **spec}}


async def quota(api: aiohttp.ClientSession, name: str, hard: dict[str, str], **spec: Any) -> None:
    made = await post(api, f"{BASE}/resourcequotas", {"metadata": {"name": name}, "spec": {"hard": hard, **spec}})
    made["status"] = {"hard": hard, "used": dict.fromkeys(hard, "0")}
    async with api.put(f"{BASE}/resourcequotas/{name}/status", json=made) as r:
        assert r.status == 200


async def test_limited_usage_needs_a_quota_that_covers_it(api: aiohttp.ClientSession) -> None:
    refused = await post(api, f"{BASE}/configmaps", {"metadata": {"name": "c"}}, 403)
    words = "insufficient quota to consume: configmaps,count/configmaps"
    assert refused["message"] == f'configmaps "c" is forbidden: {words}'
    await post(api, f"{BASE}/persistentvolumeclaims", claim("plain"))
    refused = await post(api, f"{BASE}/persistentvolumeclaims", claim("v", storageClassName="gold"), 403)
    assert refused["message"].endswith(f"insufficient quota to consume: gold{CLASS}")
    await quota(api, "q", {"configmaps": "5", f"gold{CLASS}": "5Gi"})
    refused = await post(api, f"{BASE}/configmaps", {"metadata": {"name": "c"}}, 403)
    assert refused["message"].endswith("insufficient quota to consume: count/configmaps")
    await post(api, f"{BASE}/persistentvolumeclaims", claim("v", storageClassName="gold"))
    assert (await get(api, f"{BASE}/resourcequotas/q"))["status"]["used"] == {"configmaps": "0", f"gold{CLASS}": "1Gi"}


async def test_limited_scopes_need_a_quota_with_that_scope(api: aiohttp.ClientSession) -> None:
    await post(api, f"{BASE}/pods", pod("plain"))
    await quota(api, "all", {"pods": "5"})
    refused = await post(api, f"{BASE}/pods", pod("p", priorityClassName="high"), 500)
    assert refused["message"] == "insufficient quota to match these scopes: [{PriorityClass In [high]}]"
    await quota(api, "high", {"pods": "5"}, scopeSelector={"matchExpressions": [SCOPE]})
    await post(api, f"{BASE}/pods", pod("p", priorityClassName="high"))
    assert (await get(api, f"{BASE}/resourcequotas/high"))["status"]["used"] == {"pods": "1"}


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"kind": "Nope"}, 'no kind "Nope" is registered'),
        ({"limitedResources": [{"matchContains": ["a"]}]}, r"limitedResources\[0\].resource: Required value"),
        ({"limited": []}, 'unknown field "limited"'),
    ],
)
async def test_a_configuration_that_is_refused(tmp_path: Path, members: Object, words: str) -> None:
    with pytest.raises(StartError, match=words):
        await Server(await config(tmp_path, **members)).start()
