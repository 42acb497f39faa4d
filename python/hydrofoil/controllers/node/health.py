"""Whether a node is heard of (`nodelifecycle.tryUpdateNodeHealth`), and how its zone is (`ComputeZoneState`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from hydrofoil.controllers.objects.nodes import Node
from hydrofoil.controllers.objects.times import parse_time

WATCHED = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
"""The conditions that become Unknown; that of the network is managed by others."""
NEVER = "NodeStatusNeverUpdated", "Kubelet never posted node status."
SILENT = "NodeStatusUnknown", "Kubelet stopped posting node status."
INITIAL, NORMAL, PARTIAL, FULL = "Initial", "Normal", "PartialDisruption", "FullDisruption"
ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"


class Health(Struct):
    """What was heard of a node last."""

    probed: float
    """When something was heard of it, in seconds of the server's clock."""
    renewed: str = ""
    """The time in its lease."""
    beat: str | None = None
    """The time of its heartbeat in the condition Ready; None: it had none."""


def hear(health: Health | None, node: Node, renewed: str, now: float) -> Health:
    """Return what is known of a node after a look at it and at its lease."""
    ready = node.condition("Ready")
    beat = None if ready is None else ready.last_heartbeat_time or ""
    if health is None:
        probed = now if ready is not None else parse_time(node.metadata.creation_timestamp)
        health = Health(probed, "", beat)
    elif health.beat != beat:
        health.probed, health.beat = now, beat
    if renewed > health.renewed:
        health.probed, health.renewed = now, renewed
    return health


def silent_conditions(node: Node, present: Sequence[dict[str, Any]], now: str) -> list[dict[str, Any]] | None:
    """Return the conditions of a node that is not heard of any more; None if they say so already."""
    conditions = {c["type"]: dict(c) for c in present}
    changed = False
    for kind in WATCHED:
        old = conditions.get(kind)
        if old is None:
            beat, (reason, message) = node.metadata.creation_timestamp, NEVER
        elif old["status"] == "Unknown":
            continue
        else:
            beat, (reason, message) = old.get("lastHeartbeatTime") or now, SILENT
        changed = True
        conditions[kind] = {
            "type": kind,
            "status": "Unknown",
            "lastHeartbeatTime": beat,
            "lastTransitionTime": now,
            "reason": reason,
            "message": message,
        }
    return list(conditions.values()) if changed else None


def zone_of(node: Node) -> str:
    """Return the zone of a node (`GetZoneKey`)."""
    labels = node.metadata.labels
    return f"{labels.get(REGION, '')}:\0:{labels.get(ZONE, '')}"


def zone_state(ready: int, others: int, threshold: float) -> str:
    """Return the state of a zone with so many nodes that are ready, and that are not."""
    if not ready and others:
        return FULL
    return PARTIAL if others > 2 and others / (ready + others) >= threshold else NORMAL
