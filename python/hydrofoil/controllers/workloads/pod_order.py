"""Which pods go first when there are too many (`pkg/controller/controller_utils.go`, ActivePodsWithRanks)."""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Mapping

from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.controllers.objects.times import parse_time
from hydrofoil.pace.pacer import Pacer

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
"""The annotation of pods that says how dear they are."""
NUMBER = re.compile(r"-?\d+")
LARGEST = 1 << 31
PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}
Order = tuple[bool, int, bool, int, int, int, int, int, int, str]


def deletion_cost(pod: Pod) -> int:
    """Return the cost of the deletion of a pod, 0 without a valid one (`GetDeletionCostFromPodAnnotations`)."""
    text = pod.metadata.annotations.get(DELETION_COST, "")
    if not NUMBER.fullmatch(text) or (text[0] == "0" and text != "0"):
        return 0
    cost = int(text)
    return cost if -LARGEST <= cost < LARGEST else 0


def _age_rank(since: str | None, now: float) -> int:
    """Return the logarithm of an age, so that pods of about the same age are equal; the youngest have the lowest.

    Which of these goes is then drawn, by their uids: else each scaling would remove all pods of the same rollout
    (`logarithmicRankDiff`).
    """
    if not since:
        return -2
    age = now - parse_time(since)
    return int(math.log2(age * 1e9)) if age > 0 else -1


def _restarts(pod: Pod) -> tuple[int, int]:
    """Return the most restarts of a container, and of a sidecar (`maxContainerRestarts`)."""
    regular = max((status.restart_count for status in pod.status.container_statuses), default=0)
    statuses = pod.status.init_container_statuses
    if not statuses:
        return regular, 0
    sidecars = {container.name for container in pod.spec.init_containers if container.restart_policy == "Always"}
    return regular, max((status.restart_count for status in statuses if status.name in sidecars), default=0)


def deletion_order(pod: Pod, rank: int, now: float) -> Order:
    """Return what orders pods, those that go first being the least.

    `rank` is the number of related pods on the same node; `now` is in seconds since 1970. Pods that are ready for about
    the same time, and not for the same one, are ordered by uid upstream; here by restarts and age before that.
    """
    ready = pod.condition("Ready")
    is_ready = ready is not None and ready.status == "True"
    regular, sidecars = _restarts(pod)
    return (
        bool(pod.spec.node_name),
        PHASES.get(pod.status.phase, 0),
        is_ready,
        deletion_cost(pod),
        -rank,
        _age_rank(ready.last_transition_time, now) if is_ready and ready is not None else 0,
        -regular,
        -sidecars,
        _age_rank(pod.metadata.creation_timestamp, now),
        pod.metadata.uid,
    )


async def pods_to_delete(pods: list[Pod], count: int, on_node: Mapping[str, int], now: float) -> list[Pod]:
    """Return the pods that go first; `on_node` is the number of related pods of each node (`getPodsToDelete`)."""
    if count >= len(pods):
        return pods
    pacer, orders = Pacer(), []
    for place, pod in enumerate(pods):
        # The place is never compared: no two pods have one uid.
        orders.append((deletion_order(pod, on_node.get(pod.spec.node_name, 0), now), place))
        await pacer.pause()
    return [pods[place] for _, place in heapq.nsmallest(count, orders)]
