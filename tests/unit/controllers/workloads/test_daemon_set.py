"""Daemon sets: nodes, updates, history (`pkg/controller/daemon/daemon_controller_test.go`, `update_test.go`)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from hydrofoil.controllers.runtime.queue import MOST_AT_ONCE
from hydrofoil.controllers.workloads import history
from hydrofoil.controllers.workloads.daemon_set import DaemonSetController
from hydrofoil.errors import forbidden
from tests.unit.controllers.workloads.cluster import NODES, PODS, Cluster, controlled, pod_template
from tests.unit.parts import Object, resource

SETS, REVISIONS = resource("daemonsets", "apps"), resource("controllerrevisions", "apps")


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with controlled([DaemonSetController]) as found:
        yield found


async def add_nodes(cluster: Cluster, count: int, **labels: str) -> None:
    """Create nodes n0, n1 and so on."""
    for number in range(count):
        await cluster.create(NODES, {"metadata": {"name": f"n{number}", "labels": labels}})


def daemon_set(spec: Object | None = None, **given: Any) -> Object:
    """Return a daemon set; `spec` is of its pods."""
    template = pod_template({"app": "agent"}, **(spec or {}))
    return {
        "metadata": {"name": "agent"},
        "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": template, **given},
    }


def target(pod: Object) -> str:
    """Return the node that a pod is for."""
    rules = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    (term,) = rules["nodeSelectorTerms"]
    (field,) = term["matchFields"]
    assert (field["key"], field["operator"]) == ("metadata.name", "In")
    (name,) = field["values"]
    return str(name)


def targets(cluster: Cluster) -> list[str]:
    """Return the nodes of the pods that are not being deleted."""
    return sorted(target(pod) for pod in cluster.all(PODS) if "deletionTimestamp" not in pod["metadata"])


def pod_of(cluster: Cluster, node: str) -> str:
    """Return the name of the pod of a node."""
    (name,) = (pod["metadata"]["name"] for pod in cluster.all(PODS) if target(pod) == node)
    return str(name)


async def bind(cluster: Cluster) -> None:
    """Bind all pods to their nodes."""
    for pod in cluster.all(PODS):
        if "nodeName" not in pod["spec"]:
            await cluster.bind(pod["metadata"]["name"], target(pod))


def status(cluster: Cluster) -> Object:
    """Return the status of the set."""
    found: Object = cluster.get(SETS, "agent")["status"]
    return found


async def update(cluster: Cluster, version: str) -> None:
    """Give the set another template."""
    await cluster.patch(SETS, "agent", {"spec": {"template": {"metadata": {"labels": {"version": version}}}}})


def versions(cluster: Cluster) -> list[str]:
    """Return the versions of the templates of the pods."""
    return sorted(pod["metadata"]["labels"].get("version", "") for pod in cluster.all(PODS))


async def test_each_node_has_a_pod(cluster: Cluster) -> None:
    await add_nodes(cluster, 3)
    await cluster.create(SETS, daemon_set())
    assert targets(cluster) == ["n0", "n1", "n2"]
    await cluster.run()
    assert status(cluster) == {
        "currentNumberScheduled": 3,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": 3,
        "numberReady": 3,
        "observedGeneration": 1,
        "updatedNumberScheduled": 3,
        "numberAvailable": 3,
    }
    (revision,) = cluster.all(REVISIONS)
    text = revision["metadata"]["labels"]["controller-revision-hash"]
    assert revision["metadata"]["name"] == f"agent-{text}" and revision["revision"] == 1
    pod = cluster.all(PODS)[0]
    assert pod["metadata"]["labels"] == {
        "app": "agent",
        "controller-revision-hash": text,
        "pod-template-generation": "1",
    }
    assert pod["metadata"]["generateName"] == "agent-"
    lines = {f"Normal SuccessfulCreate: Created pod: {name}" for name in cluster.pods()}
    assert set(cluster.events("DaemonSet")) == lines


async def test_nodes_come_and_change(cluster: Cluster) -> None:
    await add_nodes(cluster, 1, place="edge")
    await cluster.create(SETS, daemon_set({"nodeSelector": {"place": "edge"}}))
    await cluster.create(NODES, {"metadata": {"name": "n1", "labels": {"place": "edge"}}})
    await cluster.create(NODES, {"metadata": {"name": "n2", "labels": {"place": "core"}}})
    assert targets(cluster) == ["n0", "n1"]
    await bind(cluster)
    await cluster.patch(NODES, "n1", {"metadata": {"labels": {"place": "core"}}})
    assert targets(cluster) == ["n0"] and status(cluster)["desiredNumberScheduled"] == 1
    await cluster.patch(NODES, "n2", {"metadata": {"labels": {"place": "edge"}}})
    assert targets(cluster) == ["n0", "n2"]


async def test_an_affinity_chooses_nodes_and_gives_way_to_the_node_of_the_pod(cluster: Cluster) -> None:
    await add_nodes(cluster, 2)
    await cluster.patch(NODES, "n1", {"metadata": {"labels": {"zone": "b"}}})
    expression = {"key": "zone", "operator": "NotIn", "values": ["b"]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    preferred = [{"weight": 1, "preference": {"matchExpressions": [expression]}}]
    rules = {
        "requiredDuringSchedulingIgnoredDuringExecution": required,
        "preferredDuringSchedulingIgnoredDuringExecution": preferred,
    }
    await cluster.create(SETS, daemon_set({"affinity": {"nodeAffinity": rules}}))
    assert targets(cluster) == ["n0"]
    kept = cluster.all(PODS)[0]["spec"]["affinity"]["nodeAffinity"]
    assert kept["preferredDuringSchedulingIgnoredDuringExecution"] == preferred


async def test_taints(cluster: Cluster) -> None:
    await add_nodes(cluster, 2)
    await cluster.create(SETS, daemon_set())
    await bind(cluster)
    await cluster.patch(NODES, "n1", {"spec": {"taints": [{"key": "full", "effect": "NoSchedule"}]}})
    # What runs there goes on, and nothing is looked at again before another event.
    await cluster.patch(SETS, "agent", {"metadata": {"annotations": {"look": "again"}}})
    assert targets(cluster) == ["n0", "n1"]
    assert status(cluster)["numberMisscheduled"] == 1 and status(cluster)["desiredNumberScheduled"] == 1
    await cluster.patch(NODES, "n1", {"spec": {"taints": [{"key": "full", "effect": "NoExecute"}]}})
    assert targets(cluster) == ["n0"] and status(cluster)["numberMisscheduled"] == 0
    tolerations = [{"key": "full", "operator": "Exists"}]
    await cluster.patch(SETS, "agent", {"spec": {"template": {"spec": {"tolerations": tolerations}}}})
    assert "n1" in targets(cluster) and status(cluster)["desiredNumberScheduled"] == 2


async def test_the_taints_of_sick_nodes_are_tolerated(cluster: Cluster) -> None:
    await add_nodes(cluster, 1)
    taints = [
        {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"},
        {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
        {"key": "node.kubernetes.io/disk-pressure", "effect": "NoSchedule"},
    ]
    await cluster.patch(NODES, "n0", {"spec": {"taints": taints}})
    await cluster.create(SETS, daemon_set())
    assert targets(cluster) == ["n0"]
    network = [{"key": "node.kubernetes.io/network-unavailable", "effect": "NoSchedule"}]
    await cluster.create(NODES, {"metadata": {"name": "n1"}, "spec": {"taints": network}})
    assert targets(cluster) == ["n0"]
    spec = {**pod_template({"app": "agent"})["spec"], "hostNetwork": True}
    await cluster.patch(SETS, "agent", {"spec": {"template": {"spec": spec}}})
    assert "n1" in targets(cluster)


async def test_one_node_by_name(cluster: Cluster) -> None:
    await add_nodes(cluster, 3)
    await cluster.create(SETS, daemon_set({"nodeName": "n1"}))
    assert [pod["spec"]["nodeName"] for pod in cluster.all(PODS)] == ["n1"]


@pytest.mark.parametrize(
    ("unavailable", "steps"), [(1, [1, 2, 3, 4]), (2, [2, 4]), ("50%", [2, 4]), ("1%", [1, 2, 3, 4])]
)
async def test_an_update_replaces_so_many_at_once(cluster: Cluster, unavailable: int | str, steps: list[int]) -> None:
    await add_nodes(cluster, 4)
    await cluster.create(SETS, daemon_set(updateStrategy={"rollingUpdate": {"maxUnavailable": unavailable}}))
    await cluster.run()
    await update(cluster, "v2")
    for step in steps:
        assert versions(cluster).count("v2") == step and len(targets(cluster)) == 4
        await cluster.run()
    assert status(cluster)["updatedNumberScheduled"] == 4


async def test_old_pods_that_are_not_available_are_replaced_at_once(cluster: Cluster) -> None:
    await add_nodes(cluster, 3)
    await cluster.create(SETS, daemon_set())
    await cluster.run(pod_of(cluster, "n0"))
    await update(cluster, "v2")
    assert versions(cluster) == ["", "v2", "v2"]


async def test_a_surge_has_the_new_pod_ready_before_the_old_one_goes(cluster: Cluster) -> None:
    await add_nodes(cluster, 2)
    bounds = {"maxSurge": 1, "maxUnavailable": 0}
    await cluster.create(SETS, daemon_set(updateStrategy={"rollingUpdate": bounds}))
    await cluster.run()
    await update(cluster, "v2")
    assert versions(cluster) == ["", "", "v2"]
    await cluster.run()
    # The next node has its turn.
    assert versions(cluster) == ["", "v2", "v2"]
    await cluster.run()
    assert versions(cluster) == ["v2", "v2"] and status(cluster)["updatedNumberScheduled"] == 2


async def test_a_surge_does_not_leave_a_node_before_others_are_ready(cluster: Cluster) -> None:
    await add_nodes(cluster, 2, place="edge")
    await cluster.patch(NODES, "n1", {"metadata": {"labels": {"place": "core"}}})
    bounds = {"maxSurge": 1, "maxUnavailable": 0}
    made = daemon_set({"nodeSelector": {"place": "edge"}}, updateStrategy={"rollingUpdate": bounds})
    await cluster.create(SETS, made)
    await cluster.run()
    selector = {"spec": {"template": {"spec": {"nodeSelector": {"place": "core"}}}}}
    await cluster.patch(SETS, "agent", selector)
    assert "n1" in targets(cluster)


async def test_on_delete_waits_for_others_to_delete(cluster: Cluster) -> None:
    await add_nodes(cluster, 2)
    await cluster.create(SETS, daemon_set(updateStrategy={"type": "OnDelete"}))
    await cluster.run()
    await update(cluster, "v2")
    assert versions(cluster) == ["", ""] and status(cluster)["observedGeneration"] == 2
    await cluster.delete(PODS, cluster.pods()[0])
    assert versions(cluster) == ["", "v2"]


async def test_pods_have_to_be_ready_for_a_while(cluster: Cluster) -> None:
    await add_nodes(cluster, 1)
    await cluster.create(SETS, daemon_set(minReadySeconds=10))
    await cluster.run()
    assert status(cluster)["numberReady"] == 1 and "numberAvailable" not in status(cluster)
    assert status(cluster)["numberUnavailable"] == 1
    await cluster.advance(10.5)
    assert status(cluster)["numberAvailable"] == 1


async def test_failed_pods_are_replaced_after_growing_delays(cluster: Cluster) -> None:
    await add_nodes(cluster, 1)
    await cluster.create(SETS, daemon_set())
    first = pod_of(cluster, "n0")
    await cluster.patch(PODS, first, {"status": {"phase": "Failed"}}, "status")
    line = f"Warning FailedDaemonPod: Found failed daemon pod a/{first} on node n0, will try to kill it"
    assert line in cluster.events("DaemonSet")
    second = pod_of(cluster, "n0")
    assert second != first
    await cluster.patch(PODS, second, {"status": {"phase": "Failed"}}, "status")
    assert pod_of(cluster, "n0") == second
    await cluster.advance(1)
    third = pod_of(cluster, "n0")
    assert third != second
    await cluster.patch(PODS, third, {"status": {"phase": "Failed"}}, "status")
    await cluster.advance(1)
    assert pod_of(cluster, "n0") == third
    await cluster.advance(1)
    assert pod_of(cluster, "n0") != third


async def test_succeeded_pods_are_replaced(cluster: Cluster) -> None:
    await add_nodes(cluster, 1)
    await cluster.create(SETS, daemon_set())
    name = pod_of(cluster, "n0")
    await cluster.patch(PODS, name, {"status": {"phase": "Succeeded"}}, "status")
    assert pod_of(cluster, "n0") != name
    line = f"Normal SucceededDaemonPod: Found succeeded daemon pod a/{name} on node n0, will try to delete it"
    assert line in cluster.events("DaemonSet")


async def test_pods_that_wait_for_a_node_that_is_gone_are_deleted(cluster: Cluster) -> None:
    await add_nodes(cluster, 2)
    await cluster.create(SETS, daemon_set())
    await cluster.delete(NODES, "n1")
    await cluster.patch(SETS, "agent", {"metadata": {"annotations": {"look": "again"}}})
    assert targets(cluster) == ["n0"]


async def test_orphans_are_adopted_and_others_released(cluster: Cluster) -> None:
    await add_nodes(cluster, 1)
    spec = {**pod_template({})["spec"], "nodeName": "n0"}
    await cluster.create(PODS, {"metadata": {"name": "orphan", "labels": {"app": "agent"}}, "spec": spec})
    await cluster.create(SETS, daemon_set(updateStrategy={"type": "OnDelete"}))
    assert cluster.pods() == ["orphan"]
    assert cluster.get(PODS, "orphan")["metadata"]["ownerReferences"][0]["name"] == "agent"
    await cluster.patch(PODS, "orphan", {"metadata": {"labels": {"app": "other"}}})
    assert "ownerReferences" not in cluster.get(PODS, "orphan")["metadata"] and len(cluster.pods()) == 2


async def test_the_oldest_of_several_pods_stays(cluster: Cluster) -> None:
    await add_nodes(cluster, 1)
    spec = {**pod_template({})["spec"], "nodeName": "n0"}
    for name in ("b", "a"):
        await cluster.create(PODS, {"metadata": {"name": name, "labels": {"app": "agent"}}, "spec": spec})
        await cluster.advance(1)
    await cluster.create(SETS, daemon_set(updateStrategy={"type": "OnDelete"}))
    assert cluster.pods() == ["b"]


async def test_the_history_is_bounded(cluster: Cluster) -> None:
    await add_nodes(cluster, 1)
    await cluster.create(SETS, daemon_set(revisionHistoryLimit=1))
    for version in ("v2", "v3", "v4"):
        await cluster.run()
        await update(cluster, version)
    await cluster.run()
    assert sorted(one["revision"] for one in cluster.all(REVISIONS)) == [3, 4]


async def test_a_template_that_comes_back_has_its_revision_again(cluster: Cluster) -> None:
    await add_nodes(cluster, 1)
    await cluster.create(SETS, daemon_set())
    (first,) = (one["metadata"]["name"] for one in cluster.all(REVISIONS))
    await update(cluster, "v2")
    await cluster.patch(SETS, "agent", {"spec": {"template": {"metadata": {"labels": {"version": None}}}}})
    assert {one["metadata"]["name"]: one["revision"] for one in cluster.all(REVISIONS)}[first] == 3


async def test_revisions_of_one_template_become_one(cluster: Cluster) -> None:
    await add_nodes(cluster, 1)
    await cluster.create(SETS, daemon_set())
    (one,) = cluster.all(REVISIONS)
    meta = one["metadata"]
    twin = {
        "metadata": {"name": "twin", "labels": {"app": "agent"}, "ownerReferences": meta["ownerReferences"]},
        "data": one["data"],
        "revision": 7,
    }
    await cluster.create(REVISIONS, twin)
    await cluster.patch(SETS, "agent", {"metadata": {"annotations": {"look": "again"}}})
    (kept,) = cluster.all(REVISIONS)
    assert kept["metadata"]["name"] == "twin"
    # Without a hash, its name is that.
    assert kept["metadata"]["labels"]["controller-revision-hash"] == "twin"
    assert cluster.all(PODS)[0]["metadata"]["labels"]["controller-revision-hash"] == "twin"


async def test_a_name_that_is_taken_is_a_collision(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    await add_nodes(cluster, 1)
    monkeypatch.setattr(history, "safe_hash", lambda _, collisions: f"same{collisions or 0}")
    await cluster.create(SETS, daemon_set())
    await update(cluster, "v2")
    assert [one["metadata"]["name"] for one in cluster.all(REVISIONS)] == ["agent-same0", "agent-same1"]
    assert status(cluster)["collisionCount"] == 1


async def test_a_refusal_is_an_event(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    await add_nodes(cluster, 4)
    create, calls = cluster.registry.create, 0

    async def refuse(of: Any, *args: Any) -> Any:
        nonlocal calls
        if of.plural == "pods":
            calls += 1
            raise forbidden("", "pods", "x", "exceeded quota")
        return await create(of, *args)

    with monkeypatch.context() as patched:
        patched.setattr(cluster.registry, "create", refuse)
        patched.setattr(cluster.registry, "create_at_once", lambda *_: None)
        await cluster.create(SETS, daemon_set())
        assert calls <= MOST_AT_ONCE + 2 and status(cluster)["observedGeneration"] == 1
        assert cluster.events("DaemonSet")[0].startswith("Warning FailedCreate: Error creating: ")
    await cluster.advance(1)
    assert len(cluster.pods()) == 4


async def test_a_set_that_is_being_deleted_does_nothing(cluster: Cluster) -> None:
    await add_nodes(cluster, 1)
    await cluster.create(SETS, {**daemon_set(), "metadata": {"name": "agent", "finalizers": ["a.b/c"]}})
    await cluster.delete(SETS, "agent", grace=None)
    await cluster.delete(PODS, cluster.pods()[0])
    assert cluster.pods() == []
