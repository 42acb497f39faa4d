"""When a node is given up, and what its zone has to do with it (`pkg/controller/nodelifecycle`)."""

from __future__ import annotations

import msgspec

from hydrofoil.controllers.node.health import FULL, NORMAL, PARTIAL, hear, silent_conditions, zone_state
from hydrofoil.controllers.node.taint_eviction import NEVER, tolerated_seconds
from hydrofoil.controllers.node.taints import schedule_taints
from hydrofoil.controllers.objects.nodes import Node, Taint
from hydrofoil.controllers.objects.times import parse_time
from tests.unit.values import node, pod

NOW = "2026-01-01T00:01:00Z"


def with_conditions(**statuses: str) -> Node:
    """Return a node with conditions."""
    conditions = [{"type": kind, "status": s, "lastHeartbeatTime": NOW} for kind, s in statuses.items()]
    body = {
        "metadata": {"name": "n", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "status": {"conditions": conditions},
    }
    return msgspec.convert(body, Node)


def test_a_node_without_any_condition_is_silent_from_its_creation_on() -> None:
    assert hear(None, with_conditions(), "", 99.0).probed == parse_time("2026-01-01T00:00:00Z")
    assert hear(None, with_conditions(Ready="True"), "", 99.0).probed == 99.0


def test_a_lease_or_a_heartbeat_is_a_sign_of_life() -> None:
    ready = with_conditions(Ready="True")
    health = hear(None, ready, "2026-01-01T00:00:00.000000Z", 1.0)
    assert hear(health, ready, "2026-01-01T00:00:00.000000Z", 2.0).probed == 1.0
    assert hear(health, ready, "2026-01-01T00:00:02.000000Z", 3.0).probed == 3.0


def test_a_silent_node_says_so_in_all_of_its_conditions() -> None:
    given = with_conditions(Ready="True", DiskPressure="Unknown")
    present = [
        {"type": "Ready", "status": "True", "lastHeartbeatTime": NOW},
        {"type": "DiskPressure", "status": "Unknown"},
    ]
    found = silent_conditions(given, present, NOW)
    assert found is not None
    assert {c["type"]: c.get("reason") for c in found} == {
        "Ready": "NodeStatusUnknown",
        "DiskPressure": None,
        "MemoryPressure": "NodeStatusNeverUpdated",
        "PIDPressure": "NodeStatusNeverUpdated",
    }
    assert silent_conditions(given, found, NOW) is None


def test_a_zone_is_in_trouble_when_most_of_its_nodes_are() -> None:
    assert [zone_state(*counts, 0.55) for counts in ((0, 1), (1, 2), (2, 3), (3, 3), (4, 0))] == [
        FULL,
        NORMAL,
        PARTIAL,
        NORMAL,
        NORMAL,
    ]


def test_conditions_ask_for_taints() -> None:
    assert list(schedule_taints(with_conditions(Ready="Unknown", DiskPressure="True", PIDPressure="False"))) == [
        ("node.kubernetes.io/unreachable", "NoSchedule"),
        ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ]
    assert list(schedule_taints(node(unschedulable=True))) == [("node.kubernetes.io/unschedulable", "NoSchedule")]


def test_the_shortest_toleration_counts() -> None:
    taints = (Taint("a", "NoExecute"), Taint("b", "NoExecute", "x"))
    forever = {"key": "a", "operator": "Exists"}
    assert tolerated_seconds(pod(tolerations=[forever]), taints) == 0
    assert tolerated_seconds(pod(tolerations=[forever, {"key": "b", "value": "x"}]), taints) == NEVER
    a_while = {"key": "b", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}
    assert tolerated_seconds(pod(tolerations=[forever, a_while]), taints) == 5
    assert tolerated_seconds(pod(tolerations=[{"operator": "Exists", "tolerationSeconds": -1}]), taints) == 0
