"""The status of budgets (`pkg/controller/disruption/disruption_test.go`)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from hydrofoil.controllers.policies.disruption import DisruptionController
from tests.unit.controllers.workloads.cluster import CONTAINERS, PODS, Cluster, controlled, pod_template
from tests.unit.parts import Object, resource

BUDGETS = resource("poddisruptionbudgets", "policy")
SETS, DEPLOYMENTS = resource("replicasets", "apps"), resource("deployments", "apps")
JOBS, CONTROLLERS = resource("jobs", "batch"), resource("replicationcontrollers")
LABELS = {"app": "web"}


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with controlled([DisruptionController]) as found:
        yield found


async def add_pods(cluster: Cluster, *names: str, owner: Object | None = None, labels: Object | None = None) -> None:
    """Create pods that are ready."""
    for name in names:
        metadata: Object = {"name": name, "labels": labels or LABELS}
        if owner is not None:
            metadata["ownerReferences"] = [reference(owner)]
        await cluster.create(PODS, {"metadata": metadata, "spec": {"containers": CONTAINERS}})
    await cluster.run(*names)


def reference(owner: Object) -> Object:
    """Return the reference of an owner."""
    meta = owner["metadata"]
    found = {"name": meta["name"], "uid": meta["uid"], "controller": True}
    return {"apiVersion": owner["apiVersion"], "kind": owner["kind"], **found}


async def add_budget(cluster: Cluster, name: str = "web", **spec: Any) -> None:
    """Create a budget."""
    spec = {"selector": {"matchLabels": LABELS}, **spec}
    await cluster.create(BUDGETS, {"metadata": {"name": name}, "spec": spec})


async def add_set(cluster: Cluster, replicas: int, **metadata: Any) -> Object:
    """Create a replica set."""
    spec = {"replicas": replicas, "selector": {"matchLabels": LABELS}, "template": pod_template(LABELS)}
    return await cluster.create(SETS, {"metadata": {"name": "web", **metadata}, "spec": spec})


def numbers(cluster: Cluster, name: str = "web") -> tuple[int, ...]:
    """Return the numbers of pods: allowed to go, healthy, desired and expected."""
    found = cluster.get(BUDGETS, name)["status"]
    return tuple(found[n] for n in ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"))


def condition(cluster: Cluster, name: str = "web") -> Object:
    """Return the condition of a budget."""
    (found,) = cluster.get(BUDGETS, name)["status"]["conditions"]
    return dict(found)


async def test_a_number_counts_the_pods_that_there_are(cluster: Cluster) -> None:
    await add_budget(cluster, minAvailable=2)
    assert numbers(cluster) == (0, 0, 2, 0)
    assert cluster.events("PodDisruptionBudget") == ["Normal NoPods: No matching pods found"]
    await add_pods(cluster, "a", "b", "c")
    assert numbers(cluster) == (1, 3, 2, 3) and condition(cluster)["reason"] == "SufficientPods"
    await cluster.run("a", ready=False)
    found = condition(cluster)
    assert numbers(cluster) == (0, 2, 2, 3)
    assert (found["status"], found["reason"], found["observedGeneration"]) == ("False", "InsufficientPods", 1)


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"maxUnavailable": 1}, (0, 2, 3, 4)),
        ({"maxUnavailable": "50%"}, (0, 2, 2, 4)),
        ({"maxUnavailable": 9}, (2, 2, 0, 4)),
        ({"minAvailable": "30%"}, (0, 2, 2, 4)),
        ({"minAvailable": "25%"}, (1, 2, 1, 4)),
    ],
)
async def test_a_share_is_of_the_scale_of_the_owner(
    cluster: Cluster, spec: dict[str, Any], wanted: tuple[int, ...]
) -> None:
    await add_pods(cluster, "a", "b", owner=await add_set(cluster, 4))
    await add_budget(cluster, **spec)
    assert numbers(cluster) == wanted


async def test_the_scale_of_a_deployment_counts(cluster: Cluster) -> None:
    spec = {"replicas": 10, "selector": {"matchLabels": LABELS}, "template": pod_template(LABELS)}
    deployment = await cluster.create(DEPLOYMENTS, {"metadata": {"name": "web"}, "spec": spec})
    await add_pods(cluster, "a", owner=await add_set(cluster, 1, ownerReferences=[reference(deployment)]))
    await add_budget(cluster, maxUnavailable=1)
    assert numbers(cluster) == (0, 1, 9, 10)


async def test_scales_of_several_owners_are_added(cluster: Cluster) -> None:
    spec = {"replicas": 3, "selector": LABELS, "template": pod_template(LABELS)}
    other = await cluster.create(CONTROLLERS, {"metadata": {"name": "rc"}, "spec": spec})
    await add_pods(cluster, "a", owner=other)
    await add_pods(cluster, "b", "c", owner=await add_set(cluster, 2))
    await add_budget(cluster, maxUnavailable=1)
    assert numbers(cluster) == (0, 3, 4, 5)


async def test_pods_without_an_owner_are_said(cluster: Cluster) -> None:
    await add_pods(cluster, "a", "b")
    await add_budget(cluster, maxUnavailable=1)
    assert numbers(cluster) == (0, 2, 0, 0)
    (event,) = set(cluster.events("PodDisruptionBudget"))
    selector = "&LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{},}"
    assert event.startswith(
        f"Warning UnmanagedPods: Pods selected by this PodDisruptionBudget (selector: {selector}) were found"
    )


async def test_owners_without_a_scale_allow_nothing(cluster: Cluster) -> None:
    template = {"spec": {"containers": CONTAINERS, "restartPolicy": "Never"}}
    job = await cluster.create(JOBS, {"metadata": {"name": "job"}, "spec": {"template": template}})
    await add_pods(cluster, "a", owner=job)
    await add_budget(cluster, maxUnavailable=1)
    text = "jobs.batch does not implement the scale subresource"
    assert condition(cluster)["message"] == text and condition(cluster)["reason"] == "SyncFailed"
    prefix = "Warning CalculateExpectedPodCountFailed: Failed to calculate the number of expected pods: "
    assert f"{prefix}{text}" in cluster.events("PodDisruptionBudget")


async def test_an_owner_that_is_gone_allows_nothing(cluster: Cluster) -> None:
    owner = await add_set(cluster, 2)
    await add_pods(cluster, "a", owner=owner)
    await cluster.delete(SETS, "web")
    await add_budget(cluster, maxUnavailable=1)
    assert condition(cluster)["message"] == 'found no controllers for pod "a"'


async def test_evicted_pods_are_not_healthy_until_they_are_given_up(cluster: Cluster) -> None:
    await add_pods(cluster, "a", "b")
    await add_budget(cluster, minAvailable=1)
    evicted = {"disruptedPods": {"a": cluster.clock.text()}}
    await cluster.patch(BUDGETS, "web", {"status": evicted}, "status")
    assert numbers(cluster) == (0, 1, 1, 2)
    await cluster.advance(119)
    assert numbers(cluster) == (0, 1, 1, 2)
    await cluster.advance(2)
    assert numbers(cluster) == (1, 2, 1, 2)
    assert "disruptedPods" not in cluster.get(BUDGETS, "web")["status"]
    assert cluster.events("Pod") == ["Warning NotDeleted: Pod was expected by PDB a/a to be deleted but it wasn't"]


async def test_evicted_pods_that_go_are_forgotten(cluster: Cluster) -> None:
    await add_pods(cluster, "a", "b")
    await add_budget(cluster, minAvailable=1)
    evicted = {"disruptedPods": {"a": cluster.clock.text()}}
    await cluster.patch(BUDGETS, "web", {"status": evicted}, "status")
    await cluster.delete(PODS, "a")
    assert "disruptedPods" not in cluster.get(BUDGETS, "web")["status"] and numbers(cluster) == (0, 1, 1, 1)


@pytest.mark.parametrize("reason", ["EvictionByEvictionAPI", "TerminationByKubelet"])
async def test_a_pod_that_stays_is_no_target_any_more(cluster: Cluster, reason: str) -> None:
    await add_pods(cluster, "a")
    conditions = cluster.get(PODS, "a")["status"]["conditions"]
    time = cluster.clock.text()
    target = {"type": "DisruptionTarget", "status": "True", "reason": reason, "lastTransitionTime": time}
    await cluster.patch(PODS, "a", {"status": {"conditions": [*conditions, target]}}, "status")
    await cluster.advance(119)
    await cluster.advance(2)
    found = {c["type"]: c for c in cluster.get(PODS, "a")["status"]["conditions"]}
    stays = reason == "TerminationByKubelet"
    assert found["DisruptionTarget"]["status"] == ("True" if stays else "False") and found["Ready"]["status"] == "True"
    assert ("reason" in found["DisruptionTarget"]) is stays


async def test_pods_of_two_budgets_are_said_and_both_are_counted(cluster: Cluster) -> None:
    await add_budget(cluster, "one", minAvailable=0)
    await add_budget(cluster, "two", minAvailable=0)
    await add_pods(cluster, "a")
    assert numbers(cluster, "one") == numbers(cluster, "two") == (1, 1, 0, 1)
    text = 'Pod "a"/"a" matches multiple PodDisruptionBudgets.  Chose "one" arbitrarily.'
    assert cluster.events("Pod") == [f"Warning MultiplePodDisruptionBudgets: {text}"]
