"""The status of a replica set (`pkg/controller/replicaset/replica_set_utils.go`)."""

from __future__ import annotations

from typing import Any

from hydrofoil.controllers.objects.meta import Condition
from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.controllers.objects.replica_sets import (
    REPLICA_FAILURE,
    AnyReplicaSet,
    ReplicaSetStatus,
    condition_value,
)
from hydrofoil.controllers.objects.times import parse_time
from hydrofoil.controllers.runtime.lister import Lister
from hydrofoil.controllers.workloads.pod_tally import LABELED, MATCHING, OWN, READY, TERMINATING, PodTally
from hydrofoil.errors import ApiError
from hydrofoil.pace.pacer import Pacer


async def calculate_status(
    found: AnyReplicaSet, tally: PodTally, pods: Lister[Pod], now: float, *, reports_terminating: bool
) -> tuple[ReplicaSetStatus, float | None]:
    """Return the present status but for its conditions, and the seconds until a pod is available by its age."""
    ready = available = tally.count(OWN | READY)
    next_check = None
    if found.spec.min_ready_seconds and ready:
        available, next_check = await _availability(tally, pods, found.spec.min_ready_seconds, now)
    status = ReplicaSetStatus(
        replicas=tally.count(OWN),
        fully_labeled_replicas=tally.count(OWN | LABELED),
        ready_replicas=ready,
        available_replicas=available,
        terminating_replicas=tally.count(TERMINATING | MATCHING) if reports_terminating else None,
        observed_generation=found.metadata.generation,
        conditions=found.status.conditions,
    )
    return status, next_check


async def _availability(tally: PodTally, pods: Lister[Pod], least: int, now: float) -> tuple[int, float | None]:
    """Return the number of pods that are ready for some seconds, and the seconds until the next one is."""
    available, next_check, pacer = 0, None, Pacer()
    for place in tally.places(OWN | READY):
        await pacer.pause()
        pod = pods.get(*place)
        ready = None if pod is None else pod.condition("Ready")
        if ready is None or not ready.last_transition_time:
            continue
        left = parse_time(ready.last_transition_time) + least - now
        if left <= 0:
            available += 1
        elif next_check is None or left < next_check:
            next_check = left
    return available, next_check


def failure_conditions(
    present: tuple[Condition, ...], failure: ApiError | None, excess: int, moment: str
) -> tuple[Condition, ...]:
    """Return the conditions after the replicas were managed; `excess` is how many there are too many.

    A condition that stands keeps its first message.
    """
    stands = any(condition.type == REPLICA_FAILURE for condition in present)
    if failure is not None and not stands:
        reason = "FailedCreate" if excess < 0 else "FailedDelete" if excess > 0 else None
        made = Condition(REPLICA_FAILURE, "True", reason=reason, message=failure.message, last_transition_time=moment)
        return (*present, made)
    if failure is None and stands:
        return tuple(condition for condition in present if condition.type != REPLICA_FAILURE)
    return present


def status_value(status: ReplicaSetStatus) -> dict[str, Any]:
    """Return a status as it is written."""
    found: dict[str, Any] = {
        "replicas": status.replicas,
        "fullyLabeledReplicas": status.fully_labeled_replicas,
        "readyReplicas": status.ready_replicas,
        "availableReplicas": status.available_replicas,
        "observedGeneration": status.observed_generation,
    }
    if status.terminating_replicas is not None:
        found["terminatingReplicas"] = status.terminating_replicas
    if status.conditions:
        found["conditions"] = [condition_value(condition) for condition in status.conditions]
    return found
