"""Whose pods go for one of a higher priority (`pkg/scheduler/framework/plugins/defaultpreemption`)."""

from __future__ import annotations

from typing import Any

import msgspec

from hydrofoil.controllers.objects.budgets import PodDisruptionBudget
from hydrofoil.scheduler.cluster import Cluster
from hydrofoil.scheduler.node_info import PodInfo, read_pod
from hydrofoil.scheduler.preemption import Candidate, find_candidate, why_not_eligible
from hydrofoil.scheduler.profile import Filters
from tests.unit.values import asking, node, pod


def crowd_of(**pods: tuple[str, int, str]) -> Cluster:
    """Return nodes `a` and `b` with pods: node, priority and CPU of each by name."""
    found = Cluster()
    for name in ("a", "b"):
        found.put_node(node(name))
    for name, (place, priority, cpu) in pods.items():
        one = asking(name, cpu=cpu, priority=priority, status={"startTime": "2026-01-01T00:00:00Z"})
        found.assume(
            read_pod(
                msgspec.structs.replace(one, metadata=msgspec.structs.replace(one.metadata, labels={"app": name[0]}))
            ),
            place,
        )
    return found


def choose(crowd: Cluster, wanted: PodInfo, *budgets: PodDisruptionBudget) -> Candidate | None:
    """Return the node whose pods go."""
    return find_candidate(Filters(wanted, crowd), list(crowd.nodes.values()), budgets)[0]


def names(candidate: Candidate | None) -> tuple[str, list[str]]:
    """Return the node and its victims."""
    assert candidate is not None
    return candidate.node, [info.pod.metadata.name for info in candidate.victims]


def high(**requests: str) -> PodInfo:
    """Return a pod of a high priority."""
    return read_pod(asking("high", requests, priority=100))


def test_the_fewest_pods_of_the_least_priority_go() -> None:
    crowd = crowd_of(x1=("a", 10, "3"), x2=("b", 5, "2"), x3=("b", 1, "2"))
    assert names(choose(crowd, high(cpu="2"))) == ("b", ["x3"])
    assert names(choose(crowd, high(cpu="4"))) == ("b", ["x2", "x3"])


def test_nobody_goes_for_a_pod_of_the_same_priority_or_one_that_would_not_fit() -> None:
    crowd = crowd_of(x1=("a", 100, "3"), x2=("b", 100, "3"))
    chosen, refusals = find_candidate(Filters(high(cpu="2"), crowd), list(crowd.nodes.values()), ())
    assert chosen is None
    assert {r.reasons for r in refusals.values()} == {("No preemption victims found for incoming pod",)}
    crowd = crowd_of(x1=("a", 1, "3"))
    assert choose(crowd, high(cpu="5")) is None


def test_budgets_are_kept_where_that_is_possible() -> None:
    crowd = crowd_of(x1=("a", 1, "4"), y1=("b", 2, "4"))
    body: dict[str, Any] = {
        "metadata": {"name": "x", "namespace": "a", "uid": "x"},
        "spec": {"selector": {"matchLabels": {"app": "x"}}},
        "status": {"disruptionsAllowed": 0},
    }
    budget = msgspec.convert(body, PodDisruptionBudget)
    assert names(choose(crowd, high(cpu="2"))) == ("a", ["x1"])
    assert names(choose(crowd, high(cpu="2"), budget)) == ("b", ["y1"])


def test_a_trial_leaves_the_counts_of_filters_as_they_were() -> None:
    crowd = crowd_of(x1=("a", 1, "4"), x2=("b", 1, "4"))
    filters = Filters(high(cpu="2"), crowd)
    before = {name: dict(info.requested) for name, info in crowd.nodes.items()}
    assert find_candidate(filters, list(crowd.nodes.values()), ())[0] is not None
    assert {name: dict(info.requested) for name, info in crowd.nodes.items()} == before


def test_a_pod_waits_while_others_leave_for_it() -> None:
    crowd = crowd_of()
    leaving = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    condition = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    crowd.put_pod(pod("low", nodeName="a", meta=leaving, status={"conditions": [condition]}))
    waiting = pod("high", priority=9, status={"nominatedNodeName": "a"})
    assert why_not_eligible(waiting, crowd, {}) == "not eligible due to a terminating pod on the nominated node."
    assert why_not_eligible(pod("never", preemptionPolicy="Never"), crowd, {}).endswith("preemptionPolicy=Never.")
    assert not why_not_eligible(pod("other"), crowd, {})


def test_room_is_kept_for_a_pod_that_was_nominated() -> None:
    crowd = crowd_of()
    crowd.nominate(high(cpu="3"), "a")
    refusal = Filters(read_pod(asking("low", cpu="2")), crowd).refuse_with_nominated(crowd.nodes["a"])
    assert refusal is not None and refusal.reasons == ("Insufficient cpu",)
    assert Filters(high(cpu="4"), crowd).refuse_with_nominated(crowd.nodes["b"]) is None
