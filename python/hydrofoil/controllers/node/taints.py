"""The taints that controllers add to nodes (`pkg/controller/util/node`, `pkg/util/taints`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import orjson

from hydrofoil.controllers.objects.nodes import NO_EXECUTE, NO_SCHEDULE, Node, Taint
from hydrofoil.engine import Draft

NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
CONDITIONS = {
    "Ready": {"False": NOT_READY, "Unknown": UNREACHABLE},
    "MemoryPressure": {"True": "node.kubernetes.io/memory-pressure"},
    "DiskPressure": {"True": "node.kubernetes.io/disk-pressure"},
    "NetworkUnavailable": {"True": "node.kubernetes.io/network-unavailable"},
    "PIDPressure": {"True": "node.kubernetes.io/pid-pressure"},
}
"""The taints of conditions by their status."""
OF_CONDITIONS = frozenset(key for keys in CONDITIONS.values() for key in keys.values()) | {UNSCHEDULABLE}
Mark = tuple[str, str]
"""Key and effect, by which a node has a taint once."""


def mark_of(taint: Taint) -> Mark:
    """Return what a taint is known by (`MatchTaint`)."""
    return taint.key, taint.effect


def has_taint(node: Node, mark: Mark) -> bool:
    """Report whether a node has a taint."""
    return any(mark_of(taint) == mark for taint in node.spec.taints)


def no_execute_taints(node: Node) -> tuple[Taint, ...]:
    """Return the taints that evict pods."""
    return tuple(taint for taint in node.spec.taints if taint.effect == NO_EXECUTE)


def schedule_taints(node: Node) -> dict[Mark, None]:
    """Return the taints that the conditions of a node ask for (`doNoScheduleTaintingPass`)."""
    found: dict[Mark, None] = {}
    for condition in node.status.conditions:
        key = CONDITIONS.get(condition.type, {}).get(condition.status)
        if key is not None:
            found[key, NO_SCHEDULE] = None
    if node.spec.unschedulable:
        found[UNSCHEDULABLE, NO_SCHEDULE] = None
    return found


def swap_taints(draft: Draft, added: Iterable[Mark], removed: Collection[Mark], now: str) -> None:
    """Add taints to a node, with the present time, and remove others."""
    taints = orjson.loads(draft.get(["spec", "taints"]) or b"[]")
    kept = [taint for taint in taints if (taint["key"], taint["effect"]) not in removed]
    present = {(taint["key"], taint["effect"]) for taint in kept}
    kept += [{"key": key, "effect": effect, "timeAdded": now} for key, effect in added if (key, effect) not in present]
    draft.set(["spec", "taints"], orjson.dumps(kept) if kept else None)
