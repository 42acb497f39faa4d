"""Replica sets and replication controllers (`pkg/controller/replicaset/replica_set_test.go`)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from hydrofoil.controllers.runtime.expectations import TIMEOUT
from hydrofoil.controllers.runtime.queue import MOST_AT_ONCE
from hydrofoil.controllers.workloads.replica_set import ReplicaSetController, ReplicationControllerController
from hydrofoil.errors import ApiError, forbidden
from tests.unit.controllers.workloads.cluster import PODS, Cluster, controlled, pod_template
from tests.unit.parts import Object, resource

SETS, CONTROLLERS = resource("replicasets", "apps"), resource("replicationcontrollers")
WEB = {"app": "web"}


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with controlled([ReplicaSetController, ReplicationControllerController]) as found:
        yield found


def replica_set(name: str = "web", replicas: int = 2, app: str = "web", **spec: Any) -> Object:
    """Return a replica set, whose pods have one more label."""
    labels = {"app": app}
    template = pod_template({**labels, "extra": "x"})
    return {
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template, **spec},
    }


def status(cluster: Cluster, name: str = "web") -> Object:
    """Return the status of a set."""
    found: Object = cluster.get(SETS, name)["status"]
    return found


async def test_pods_are_created_and_counted(cluster: Cluster) -> None:
    await cluster.create(SETS, replica_set())
    assert len(cluster.pods()) == 2
    assert status(cluster) == {
        "replicas": 2,
        "fullyLabeledReplicas": 2,
        "terminatingReplicas": 0,
        "observedGeneration": 1,
    }
    await cluster.run()
    assert status(cluster) == {
        "replicas": 2,
        "fullyLabeledReplicas": 2,
        "readyReplicas": 2,
        "availableReplicas": 2,
        "terminatingReplicas": 0,
        "observedGeneration": 1,
    }
    lines = {f"Normal SuccessfulCreate: Created pod: {name}" for name in cluster.pods()}
    assert set(cluster.events("ReplicaSet")) == lines


async def test_many_pods_are_created_in_bursts(cluster: Cluster) -> None:
    await cluster.create(SETS, replica_set(replicas=1100))
    assert len(cluster.pods()) == 1100 and status(cluster)["replicas"] == 1100


async def test_a_pod_that_is_being_deleted_is_replaced_at_once(cluster: Cluster) -> None:
    await cluster.create(SETS, replica_set())
    await cluster.run()
    gone, kept = cluster.pods()
    await cluster.patch(PODS, gone, {"metadata": {"finalizers": ["a.b/c"]}})
    await cluster.delete(PODS, gone)
    assert kept in cluster.pods() and len(cluster.pods()) == 2
    assert status(cluster)["terminatingReplicas"] == 1
    await cluster.patch(PODS, gone, {"metadata": {"finalizers": None}})
    assert status(cluster)["terminatingReplicas"] == 0 and len(cluster.pods()) == 2


async def test_too_many_pods_go_the_least_useful_first(cluster: Cluster) -> None:
    await cluster.create(SETS, replica_set(replicas=3))
    first, second, third = cluster.pods()
    await cluster.run(first, third)
    await cluster.patch(SETS, "web", {"spec": {"replicas": 2}})
    assert cluster.pods() == [first, third]
    assert cluster.events("ReplicaSet")[-1] == f"Normal SuccessfulDelete: Deleted pod: {second}"
    await cluster.patch(
        PODS, third, {"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "-1"}}}
    )
    await cluster.patch(SETS, "web", {"spec": {"replicas": 1}})
    assert cluster.pods() == [first]
    await cluster.patch(SETS, "web", {"spec": {"replicas": 0}})
    assert cluster.pods() == [] and status(cluster)["replicas"] == 0


async def test_a_pod_with_another_label_is_released_and_taken_back(cluster: Cluster) -> None:
    await cluster.create(SETS, replica_set(replicas=1))
    (name,) = cluster.pods()
    await cluster.patch(PODS, name, {"metadata": {"labels": {"app": "other"}}})
    assert "ownerReferences" not in cluster.get(PODS, name)["metadata"]
    assert len(cluster.pods()) == 2 and status(cluster)["replicas"] == 1
    await cluster.patch(PODS, name, {"metadata": {"labels": {"app": "web"}}})
    assert len(cluster.pods()) == 1 and status(cluster)["replicas"] == 1


async def test_orphans_are_adopted(cluster: Cluster) -> None:
    orphan = {"metadata": {"name": "orphan", "labels": WEB}, "spec": pod_template({})["spec"]}
    await cluster.create(PODS, orphan)
    await cluster.create(SETS, replica_set())
    (owner,) = cluster.get(PODS, "orphan")["metadata"]["ownerReferences"]
    assert owner["name"] == "web" and owner["controller"] and owner["blockOwnerDeletion"]
    assert len(cluster.pods()) == 2
    # It lacks a label of the template.
    assert status(cluster)["fullyLabeledReplicas"] == 1
    # One more is one too many.
    await cluster.create(PODS, {**orphan, "metadata": {"name": "late", "labels": WEB}})
    assert len(cluster.pods()) == 2


async def test_sets_do_not_take_pods_from_each_other(cluster: Cluster) -> None:
    await cluster.create(SETS, replica_set())
    await cluster.create(SETS, replica_set("rival", 1))
    assert len(cluster.pods()) == 3 and status(cluster, "rival")["replicas"] == 1


async def test_pods_that_have_ended_do_not_count(cluster: Cluster) -> None:
    await cluster.create(SETS, replica_set(replicas=1))
    (name,) = cluster.pods()
    await cluster.patch(PODS, name, {"status": {"phase": "Failed"}}, "status")
    assert len(cluster.pods()) == 2 and status(cluster)["replicas"] == 1


async def test_pods_are_available_after_a_while(cluster: Cluster) -> None:
    await cluster.create(SETS, replica_set(minReadySeconds=10))
    first, second = cluster.pods()
    await cluster.run(first)
    await cluster.advance(6)
    await cluster.run(second)
    assert status(cluster)["readyReplicas"] == 2 and "availableReplicas" not in status(cluster)
    await cluster.advance(4.5)
    assert status(cluster)["availableReplicas"] == 1
    await cluster.advance(6)
    assert status(cluster)["availableReplicas"] == 2


async def test_a_refusal_is_a_condition_until_it_is_over(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    create, calls = cluster.registry.create, 0

    async def refuse(of: Any, *args: Any) -> Any:
        nonlocal calls
        if of.plural == "pods":
            calls += 1
            raise forbidden("", "pods", "x", "exceeded quota")
        return await create(of, *args)

    with monkeypatch.context() as patched:
        patched.setattr(cluster.registry, "create", refuse)
        await cluster.create(SETS, replica_set(replicas=10))
        (condition,) = status(cluster)["conditions"]
        wanted = {
            "type": "ReplicaFailure",
            "status": "True",
            "reason": "FailedCreate",
            "message": 'pods "x" is forbidden: exceeded quota',
        }
        assert wanted.items() <= condition.items() and status(cluster)["replicas"] == 0
        # One that fails is not followed by more in the same look.
        assert calls <= MOST_AT_ONCE + 2
    await cluster.advance(1)
    assert len(cluster.pods()) == 10 and "conditions" not in status(cluster)
    assert cluster.events("ReplicaSet")[0].startswith("Warning FailedCreate: Error creating: ")


async def test_the_refusals_of_a_namespace_that_ends_are_not_repeated(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = cluster.registry.create
    causes = [{"reason": "NamespaceTerminating", "message": "m", "field": "f"}]

    async def refuse(of: Any, *args: Any) -> Any:
        if of.plural == "pods":
            raise forbidden("", "pods", "x", "it is being terminated", causes)
        return await create(of, *args)

    with monkeypatch.context() as patched:
        patched.setattr(cluster.registry, "create", refuse)
        await cluster.create(SETS, replica_set())
        assert "conditions" not in status(cluster) and cluster.events("ReplicaSet") == []
    await cluster.advance(1)
    assert cluster.pods() == []
    # It is looked at again when it is unknown why nothing was observed.
    await cluster.advance(TIMEOUT)
    await cluster.patch(SETS, "web", {"metadata": {"annotations": {"a": "b"}}})
    assert len(cluster.pods()) == 2


async def test_a_set_that_is_being_deleted_only_counts(cluster: Cluster) -> None:
    await cluster.create(SETS, {**replica_set(), "metadata": {"name": "web", "finalizers": ["a.b/c"]}})
    first, _ = cluster.pods()
    await cluster.delete(SETS, "web", grace=None)
    await cluster.delete(PODS, first)
    assert len(cluster.pods()) == 1 and status(cluster)["replicas"] == 1


async def test_a_set_that_is_left_alone_gets_nothing(cluster: Cluster) -> None:
    alone = {"name": "web", "annotations": {"sim.hydrofoil/leave-alone": "true"}}
    await cluster.create(SETS, {**replica_set(), "metadata": alone})
    assert cluster.pods() == [] and "observedGeneration" not in status(cluster)
    await cluster.patch(SETS, "web", {"metadata": {"annotations": None}})
    assert len(cluster.pods()) == 2


async def test_a_set_of_the_same_name_begins_anew(cluster: Cluster) -> None:
    await cluster.create(SETS, replica_set())
    before = set(cluster.pods())
    await cluster.delete(SETS, "web", grace=None)
    await cluster.create(SETS, replica_set(replicas=1))
    # Pods of the former one are no orphans: they name another owner.
    assert len(set(cluster.pods()) - before) == 1 and status(cluster)["replicas"] == 1


async def test_a_selector_may_change_what_is_counted(cluster: Cluster) -> None:
    await cluster.create(SETS, replica_set())
    template = pod_template({"app": "web", "extra": "y"})
    await cluster.patch(SETS, "web", {"spec": {"template": template}})
    assert status(cluster).get("fullyLabeledReplicas") is None and status(cluster)["replicas"] == 2


async def test_replication_controllers_are_the_same(cluster: Cluster) -> None:
    spec = {"replicas": 2, "selector": WEB, "template": pod_template(WEB)}
    await cluster.create(CONTROLLERS, {"metadata": {"name": "old"}, "spec": spec})
    await cluster.run()
    found = cluster.get(CONTROLLERS, "old")
    assert found["status"] == {
        "replicas": 2,
        "fullyLabeledReplicas": 2,
        "readyReplicas": 2,
        "availableReplicas": 2,
        "observedGeneration": 1,
    }
    (owner,) = cluster.all(PODS)[0]["metadata"]["ownerReferences"]
    assert (owner["apiVersion"], owner["kind"]) == ("v1", "ReplicationController")
    await cluster.patch(CONTROLLERS, "old", {"spec": {"replicas": 1}})
    assert len(cluster.pods()) == 1
    assert [line.split(":")[0] for line in cluster.events("ReplicationController")] == [
        "Normal SuccessfulCreate",
        "Normal SuccessfulCreate",
        "Normal SuccessfulDelete",
    ]


async def test_a_write_that_fails_is_no_fault(cluster: Cluster) -> None:
    await cluster.create(SETS, replica_set(replicas=1))
    # The version that it was computed from is outdated.
    with pytest.raises(ApiError):
        await cluster.client.update_status(SETS, "a", "web", {"replicas": 9}, version="1")
    assert status(cluster)["replicas"] == 1
