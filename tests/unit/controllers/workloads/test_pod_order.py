"""Which pods go first (`pkg/controller/controller_utils_test.go`, TestSortingActivePodsWithRanks)."""

from __future__ import annotations

import random

import pytest

from hydrofoil.controllers.objects.meta import Condition, ObjectMeta
from hydrofoil.controllers.objects.pods import Container, ContainerStatus, Pod, PodSpec, PodStatus
from hydrofoil.controllers.objects.times import format_time
from hydrofoil.controllers.workloads.pod_order import DELETION_COST, deletion_cost, deletion_order, pods_to_delete

NOW = 1_800_000_000.0


def pod(
    name: str,
    *,
    node: str = "n",
    phase: str = "Running",
    ready: float | None = 100.0,
    age: float = 1000.0,
    cost: str = "",
    restarts: int = 0,
    **sidecar: int,
) -> Pod:
    """Return a pod that is ready for some seconds, or not."""
    conditions = () if ready is None else (Condition("Ready", "True", last_transition_time=format_time(NOW - ready)),)
    meta = ObjectMeta(name, uid=name, creation_timestamp=format_time(NOW - age))
    if cost:
        meta = ObjectMeta(name, uid=name, creation_timestamp=meta.creation_timestamp, annotations={DELETION_COST: cost})
    containers = tuple(Container(name, restart_policy="Always") for name in sidecar)
    return Pod(
        meta,
        PodSpec((), init_containers=containers, node_name=node),
        PodStatus(
            phase,
            conditions=conditions,
            container_statuses=(ContainerStatus("c", restart_count=restarts),),
            init_container_statuses=tuple(ContainerStatus(n, restart_count=count) for n, count in sidecar.items()),
        ),
    )


ORDER: list[tuple[Pod, int]] = [
    (pod("unassigned", node="", phase="Pending", ready=None), 0),
    (pod("pending", phase="Pending", ready=None), 0),
    (pod("unknown", phase="Unknown", ready=None), 0),
    (pod("unready", ready=None), 0),
    (pod("cheap", cost="-10"), 0),
    (pod("doubled", ready=10_000), 2),
    (pod("just-ready", ready=1), 1),
    (pod("restarted", ready=100, restarts=3), 1),
    (pod("sidecar-restarted", ready=100, side=3), 1),
    (pod("young", ready=100, age=200), 1),
    (pod("old-a", ready=100, age=20_000), 1),
    (pod("old-b", ready=100, age=20_000), 1),
    (pod("long-ready", ready=50_000, age=60_000), 1),
    (pod("alone", ready=1), 0),
    (pod("dear", cost="100", ready=1), 0),
]
"""From the first to go to the last, with the number of related pods on the node."""


def test_the_order() -> None:
    shuffled = random.Random(1).sample(ORDER, len(ORDER))
    found = sorted(shuffled, key=lambda each: deletion_order(each[0], each[1], NOW))
    assert [each.metadata.name for each, _ in found] == [each.metadata.name for each, _ in ORDER]


def test_times_without_a_value_are_the_youngest() -> None:
    unknown = Pod(ObjectMeta("a", uid="a"), PodSpec((), node_name="n"), PodStatus("Running"))
    assert deletion_order(unknown, 0, NOW) < deletion_order(pod("b", ready=None, age=0), 0, NOW)


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("", 0),
        ("0", 0),
        ("10", 10),
        ("-10", -10),
        ("+10", 0),
        ("010", 0),
        ("-010", -10),
        ("1.5", 0),
        ("2147483647", 2147483647),
        ("2147483648", 0),
        ("-2147483648", -2147483648),
        ("x", 0),
    ],
)
def test_costs(text: str, cost: int) -> None:
    assert deletion_cost(pod("a", cost=text)) == cost


async def test_all_go_in_any_order() -> None:
    pods = [pod("a"), pod("b", ready=None)]
    assert await pods_to_delete(pods, 2, {}, NOW) == pods
    assert [one.metadata.name for one in await pods_to_delete(pods, 1, {}, NOW)] == ["b"]
    assert [one.metadata.name for one in await pods_to_delete([pod("c"), pod("d", node="m")], 1, {"m": 2}, NOW)] == [
        "d"
    ]
