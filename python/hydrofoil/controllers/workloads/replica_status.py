"""The status of a replica set (`pkg/controller/replicaset/replica_set_utils.go`)."""

from __future__ import annotations

from typing import Any

from hydrofoil.controllers.objects.meta import Condition
from hydrofoil.controllers.objects.replica_sets import REPLICA_FAILURE, ReplicaSetStatus, condition_value
from hydrofoil.errors import ApiError


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
