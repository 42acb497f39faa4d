"""The usage of quotas (`pkg/controller/resourcequota/resource_quota_controller_test.go`)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from hydrofoil.controllers.policies.resource_quota import ResourceQuotaController
from tests.unit.controllers.workloads.cluster import PODS, Cluster, controlled
from tests.unit.parts import resource

QUOTAS, MAPS, SERVICES = resource("resourcequotas"), resource("configmaps"), resource("services")
CLAIMS, DEPLOYMENTS = resource("persistentvolumeclaims"), resource("deployments", "apps")


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with controlled([lambda runtime: ResourceQuotaController(runtime, 300.0)]) as found:
        yield found


async def add_pod(cluster: Cluster, name: str, cpu: str = "100m", **spec: Any) -> None:
    """Create a pod that asks for CPU."""
    resources = {"requests": {"cpu": cpu}} if cpu else {}
    containers = [{"name": "c", "image": "i", "resources": resources}]
    await cluster.create(PODS, {"metadata": {"name": name}, "spec": {"containers": containers, **spec}})


async def add_quota(cluster: Cluster, hard: dict[str, str], name: str = "all", scopes: list[str] | None = None) -> None:
    """Create a quota."""
    spec = {"hard": hard, **({"scopes": scopes} if scopes else {})}
    await cluster.create(QUOTAS, {"metadata": {"name": name}, "spec": spec})


def used(cluster: Cluster, name: str = "all") -> dict[str, str]:
    """Return the usage of a quota."""
    found: dict[str, str] = cluster.get(QUOTAS, name)["status"]["used"]
    return found


async def test_what_is_there_is_counted(cluster: Cluster) -> None:
    for number in range(70):
        await cluster.create(MAPS, {"metadata": {"name": f"m{number}"}})
    await add_pod(cluster, "p0", "150m")
    await add_pod(cluster, "p1")
    await cluster.create(MAPS, {"metadata": {"name": "elsewhere"}}, "b")
    hard = {"pods": "5", "requests.cpu": "1", "configmaps": "99", "count/deployments.apps": "2", "count/absent.x": "1"}
    await add_quota(cluster, hard)
    status = cluster.get(QUOTAS, "all")["status"]
    assert status["hard"] == hard
    wanted = {"pods": "2", "requests.cpu": "250m", "configmaps": "70", "count/deployments.apps": "0"}
    assert status["used"] == wanted, "what is no resource has no usage"


async def test_what_goes_or_ends_is_released(cluster: Cluster) -> None:
    for name in ("p0", "p1", "p2"):
        await add_pod(cluster, name)
    await add_quota(cluster, {"pods": "5", "requests.cpu": "1"})
    await cluster.delete(PODS, "p0")
    assert used(cluster) == {"pods": "2", "requests.cpu": "200m"}
    await cluster.patch(PODS, "p1", {"status": {"phase": "Succeeded"}}, "status")
    assert used(cluster) == {"pods": "1", "requests.cpu": "100m"}


async def test_limits_that_change_are_counted_anew(cluster: Cluster) -> None:
    await add_pod(cluster, "p0")
    await add_quota(cluster, {"pods": "5", "configmaps": "3"})
    await cluster.patch(QUOTAS, "all", {"spec": {"hard": {"configmaps": None, "pods": "1"}}})
    status = cluster.get(QUOTAS, "all")["status"]
    assert status == {"hard": {"pods": "1"}, "used": {"pods": "1"}}


async def test_scopes_choose_pods(cluster: Cluster) -> None:
    await add_pod(cluster, "best", "")
    await add_pod(cluster, "asks")
    await add_pod(cluster, "ends", activeDeadlineSeconds=60)
    await add_quota(cluster, {"pods": "5"}, "best", ["BestEffort"])
    await add_quota(cluster, {"pods": "5"}, "ends", ["Terminating"])
    assert used(cluster, "best") == {"pods": "1"} and used(cluster, "ends") == {"pods": "1"}


async def test_claims_and_services_are_measured(cluster: Cluster) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "fast"}
    await cluster.create(CLAIMS, {"metadata": {"name": "c"}, "spec": spec})
    names = ("requests.storage", "fast.storageclass.storage.k8s.io/requests.storage", "persistentvolumeclaims")
    await add_quota(cluster, {name: "9Gi" if "storage" in name else "9" for name in names})
    assert used(cluster) == dict(zip(names, ("1Gi", "1Gi", "1"), strict=True))
    await cluster.delete(CLAIMS, "c")
    assert used(cluster) == dict(zip(names, ("0", "0", "0"), strict=True))


async def test_quotas_count_quotas(cluster: Cluster) -> None:
    await add_quota(cluster, {"resourcequotas": "9"})
    await add_quota(cluster, {"pods": "1"}, "other")
    await cluster.advance(300)
    assert used(cluster) == {"resourcequotas": "2"}
    await cluster.delete(QUOTAS, "other")
    assert used(cluster) == {"resourcequotas": "1"}


async def test_what_was_charged_and_never_made_is_corrected_in_time(cluster: Cluster) -> None:
    await add_quota(cluster, {"pods": "5"})
    await cluster.patch(QUOTAS, "all", {"status": {"used": {"pods": "3"}}}, "status")
    assert used(cluster) == {"pods": "3"}
    await cluster.advance(300)
    assert used(cluster) == {"pods": "0"}
    await cluster.patch(QUOTAS, "all", {"status": {"used": {"pods": "2"}}}, "status")
    await cluster.advance(300)
    assert used(cluster) == {"pods": "0"}


async def test_amounts_that_are_equal_are_not_written(cluster: Cluster) -> None:
    await add_pod(cluster, "p0", "1000m")
    await add_quota(cluster, {"requests.cpu": "2000m"})
    version = cluster.get(QUOTAS, "all")["metadata"]["resourceVersion"]
    await cluster.advance(300)
    assert cluster.get(QUOTAS, "all")["metadata"]["resourceVersion"] == version
