"""kube-controller-manager and kube-scheduler, unchanged (`make binaries` builds them), with a hollow kubelet."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from tests.api.calls import get, post
from tests.clients.controllers import beside, found
from tests.clients.deployments import DEPLOYMENTS, NODES, PODS, SETS, Object, deployment, events, until
from tests.conftest import Process

MANAGER, SCHEDULER = found("kube-controller-manager"), found("kube-scheduler")
pytestmark = [
    pytest.mark.timeout(180),
    pytest.mark.skipif(
        not (MANAGER and SCHEDULER), reason="kube-controller-manager and kube-scheduler are not installed"
    ),
]
MERGE = {"Content-Type": "application/merge-patch+json"}
RUNNING = {
    "phase": "Running",
    "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
}
WRONG = re.compile(r"already exists|too old resource version|unexpected|panic|failed to (?:decode|list|watch)", re.I)
"""Log lines caused by events that arrived twice, out of order, or not at all."""


@pytest.fixture
def controllers(process: Process, tmp_path: Path) -> Iterator[None]:
    """Both programs beside the server; in the end nothing in their logs is wrong."""
    assert MANAGER and SCHEDULER
    logs = [tmp_path / "manager.log", tmp_path / "scheduler.log"]
    lone = (f"--flex-volume-plugin-dir={tmp_path / 'plugins'}", "--node-monitor-grace-period=1h")
    with beside(MANAGER, process[2], logs[0], *lone), beside(SCHEDULER, process[2], logs[1]):
        yield
    for log in logs:
        assert not [line for line in log.read_text().splitlines() if WRONG.search(line)]


async def kubelet(api: aiohttp.ClientSession) -> None:
    """Pods that are bound run, and those that are to end do."""
    async for event in events(api, PODS, "0"):
        pod = event["object"]
        path = f"{PODS}/{pod['metadata']['name']}"
        if event["type"] == "DELETED" or "nodeName" not in pod["spec"]:
            continue
        if "deletionTimestamp" in pod["metadata"]:
            async with api.delete(path, json={"gracePeriodSeconds": 0}) as r:
                assert r.status in (200, 404), await r.text()
        elif pod["status"]["phase"] == "Pending":
            async with api.patch(f"{path}/status", json={"status": RUNNING}, headers=MERGE) as r:
                assert r.status in (200, 404), await r.text()


@asynccontextmanager
async def cluster(url: str) -> AsyncIterator[aiohttp.ClientSession]:
    """Yield a client, with a node that is ready, and its kubelet."""
    async with aiohttp.ClientSession(url) as api:
        status = {
            "capacity": {"cpu": "8", "memory": "16Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}],
        }
        await post(api, NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": status})
        await until(api, NODES, lambda nodes: not nodes["n"]["spec"].get("taints"))
        running = asyncio.create_task(kubelet(api))
        yield api
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running


async def settled(api: aiohttp.ClientSession, replicas: int) -> None:
    """Wait for a Deployment whose status reports that all replicas are available."""

    def holds(found: dict[str, Object]) -> bool:
        meta, status = found["d"]["metadata"], found["d"].get("status", {})
        counts = {status.get(name, 0) for name in ("replicas", "updatedReplicas", "availableReplicas")}
        return status.get("observedGeneration") == meta["generation"] and counts == {replicas}

    await until(api, DEPLOYMENTS, holds)
    await until(api, PODS, lambda pods: len(pods) == replicas)


async def change(api: aiohttp.ClientSession, spec: Object) -> None:
    """Patch the Deployment."""
    async with api.patch(f"{DEPLOYMENTS}/d", json={"spec": spec}, headers=MERGE) as r:
        assert r.status == 200, await r.text()


async def history(api: aiohttp.ClientSession, since: str) -> list[Object]:
    """Return every event of a pod after a version, as a watch from there shows it."""
    async with api.get(f"{PODS}?watch=1&resourceVersion={since}&timeoutSeconds=1") as stream:
        return [json.loads(line) async for line in stream.content]


async def test_a_deployment_is_scaled_and_rolled_out(process: Process, controllers: None) -> None:
    """WA-07: the caches of controllers see each write once; no pod is made twice and none is left behind."""
    async with cluster(process[1]) as api:
        since = (await get(api, PODS))["metadata"]["resourceVersion"]
        await post(api, DEPLOYMENTS, deployment(10))
        await settled(api, 10)
        first = await until(api, SETS, lambda sets: len(sets) == 1)
        await change(api, {"replicas": 50})
        await settled(api, 50)
        template = {"spec": {"containers": [{"name": "c", "image": "i:2"}]}}
        await change(api, {"template": template})
        await settled(api, 50)
        sets = await until(api, SETS, lambda sets: len(sets) == 2)
        assert sorted(found["spec"]["replicas"] for found in sets.values()) == [0, 50]
        assert not sets[next(iter(first))]["spec"]["replicas"]
        pods = await until(api, PODS, lambda pods: all("nodeName" in pod["spec"] for pod in pods.values()))
        assert {pod["spec"]["nodeName"] for pod in pods.values()} == {"n"}
        reported = await history(api, since)
    versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in reported]
    assert versions == sorted(set(versions))
    made = [event["object"]["metadata"]["name"] for event in reported if event["type"] == "ADDED"]
    ended = [event["object"]["metadata"]["name"] for event in reported if event["type"] == "DELETED"]
    assert len(made) == len(set(made)) == 100
    assert len(ended) == len(set(ended)) == 50
    assert set(made) - set(ended) == set(pods)
