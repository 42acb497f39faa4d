"""The status of a deployment (`pkg/controller/deployment/sync.go`, `progress.go`, `util/deployment_util.go`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import structs

from hydrofoil.controllers.objects.deployments import AVAILABLE, PROGRESSING, Deployment, DeploymentStatus
from hydrofoil.controllers.objects.meta import Condition
from hydrofoil.controllers.objects.replica_sets import REPLICA_FAILURE, ReplicaSet, condition_value
from hydrofoil.controllers.objects.times import parse_time

NEW_AVAILABLE, UPDATED, TIMED_OUT = "NewReplicaSetAvailable", "ReplicaSetUpdated", "ProgressDeadlineExceeded"
NEW, FOUND, CREATE_ERROR = "NewReplicaSetCreated", "FoundNewReplicaSet", "ReplicaSetCreateError"
PAUSED, RESUMED = "DeploymentPaused", "DeploymentResumed"
"""The reasons of the condition Progressing."""


def new_condition(kind: str, status: str, reason: str, message: str, moment: str) -> Condition:
    """Return a condition that begins now."""
    return Condition(kind, status, reason=reason, message=message, last_update_time=moment, last_transition_time=moment)


def set_condition(status: DeploymentStatus, made: Condition) -> DeploymentStatus:
    """Return a status with a condition; one of the same status and reason stays (`SetDeploymentCondition`)."""
    present = status.condition(made.type)
    if present is not None and present.status == made.status:
        if present.reason == made.reason:
            return status
        made = structs.replace(made, last_transition_time=present.last_transition_time)
    return structs.replace(status, conditions=(*remove_condition(status, made.type).conditions, made))


def remove_condition(status: DeploymentStatus, kind: str) -> DeploymentStatus:
    """Return a status without a condition."""
    if status.condition(kind) is None:
        return status
    return structs.replace(status, conditions=tuple(one for one in status.conditions if one.type != kind))


def replicas_of(sets: Iterable[ReplicaSet]) -> int:
    """Return the number of pods that sets are to have."""
    return sum(found.spec.replicas for found in sets)


def present_replicas_of(sets: Iterable[ReplicaSet]) -> int:
    """Return the number of pods that sets have or are to have, whichever is more of each."""
    return sum(max(found.spec.replicas, found.status.replicas) for found in sets)


def actual_replicas_of(sets: Iterable[ReplicaSet]) -> int:
    """Return the number of pods that sets have."""
    return sum(found.status.replicas for found in sets)


def available_replicas_of(sets: Iterable[ReplicaSet]) -> int:
    """Return the number of available pods that sets have."""
    return sum(found.status.available_replicas for found in sets)


def terminating_replicas_of(sets: Iterable[ReplicaSet]) -> int | None:
    """Return the number of pods that are being deleted; None if a set does not report it."""
    count = 0
    for found in sets:
        if found.status.terminating_replicas is not None:
            count += found.status.terminating_replicas
        elif found.status.observed_generation:
            return None
    return count


def calculate_status(
    deployment: Deployment, sets: Sequence[ReplicaSet], new: ReplicaSet | None, moment: str
) -> DeploymentStatus:
    """Return the status by all sets, of which one may have the present template (`calculateStatus`)."""
    available = available_replicas_of(sets)
    status = DeploymentStatus(
        observed_generation=deployment.metadata.generation,
        replicas=actual_replicas_of(sets),
        updated_replicas=0 if new is None else new.status.replicas,
        ready_replicas=sum(found.status.ready_replicas for found in sets),
        available_replicas=available,
        # While a deployment shrinks, it has more than it is to have.
        unavailable_replicas=max(replicas_of(sets) - available, 0),
        terminating_replicas=terminating_replicas_of(sets),
        collision_count=deployment.status.collision_count,
        conditions=deployment.status.conditions,
    )
    if available >= deployment.spec.replicas - deployment.max_unavailable:
        state, reason, message = "True", "MinimumReplicasAvailable", "Deployment has minimum availability."
    else:
        state, reason = "False", "MinimumReplicasUnavailable"
        message = "Deployment does not have minimum availability."
    return set_condition(status, new_condition(AVAILABLE, state, reason, message, moment))


def is_complete(deployment: Deployment, status: DeploymentStatus) -> bool:
    """Report whether all pods are new and available (`DeploymentComplete`)."""
    replicas = deployment.spec.replicas
    return (
        status.updated_replicas == status.replicas == status.available_replicas == replicas
        and status.observed_generation >= deployment.metadata.generation
    )


def is_progressing(old: DeploymentStatus, new: DeploymentStatus) -> bool:
    """Report whether a rollout has come further (`DeploymentProgressing`)."""
    return (
        new.updated_replicas > old.updated_replicas
        or new.replicas - new.updated_replicas < old.replicas - old.updated_replicas
        or new.ready_replicas > old.ready_replicas
        or new.available_replicas > old.available_replicas
    )


def is_timed_out(deployment: Deployment, status: DeploymentStatus, now: float) -> bool:
    """Report whether a rollout has made no progress for too long (`DeploymentTimedOut`)."""
    present, deadline = status.condition(PROGRESSING), deployment.spec.progress_deadline_seconds
    if present is None or deadline is None or present.reason == NEW_AVAILABLE:
        return False
    if present.reason == TIMED_OUT:
        return True
    return parse_time(present.last_update_time or "") + deadline < now


def estimate_progress(
    deployment: Deployment, status: DeploymentStatus, new: ReplicaSet | None, now: float, moment: str
) -> DeploymentStatus:
    """Return a new status with the condition Progressing, of a deployment that has a deadline (`syncRolloutStatus`)."""
    present = deployment.status.condition(PROGRESSING)
    if status.replicas == status.updated_replicas and present is not None and present.reason == NEW_AVAILABLE:
        # No rollout is under way.
        return status
    what = f'Deployment "{deployment.metadata.name}"' if new is None else f'ReplicaSet "{new.metadata.name}"'
    if is_complete(deployment, status):
        message = f"{what} has successfully progressed."
        return set_condition(status, new_condition(PROGRESSING, "True", NEW_AVAILABLE, message, moment))
    if is_progressing(deployment.status, status):
        made = new_condition(PROGRESSING, "True", UPDATED, f"{what} is progressing.", moment)
        if present is not None:
            if present.status == "True":
                made = structs.replace(made, last_transition_time=present.last_transition_time)
            # Also with the same reason: the deadline counts from its update.
            status = remove_condition(status, PROGRESSING)
        return set_condition(status, made)
    if is_timed_out(deployment, status, now):
        message = f"{what} has timed out progressing."
        return set_condition(status, new_condition(PROGRESSING, "False", TIMED_OUT, message, moment))
    return status


def replica_failure(sets: Iterable[ReplicaSet], new: ReplicaSet | None) -> Condition | None:
    """Return the failure of a set as a condition of the deployment, the new set first (`getReplicaFailures`)."""
    for found in (*(() if new is None else (new,)), *sets):
        for condition in found.status.conditions:
            if condition.type == REPLICA_FAILURE:
                failure: Condition = structs.replace(condition, last_update_time=condition.last_transition_time)
                return failure
    return None


def status_value(status: DeploymentStatus) -> dict[str, Any]:
    """Return a status as it is written."""
    found: dict[str, Any] = {
        "observedGeneration": status.observed_generation,
        "replicas": status.replicas,
        "updatedReplicas": status.updated_replicas,
        "readyReplicas": status.ready_replicas,
        "availableReplicas": status.available_replicas,
        "unavailableReplicas": status.unavailable_replicas,
        "conditions": [condition_value(condition) for condition in status.conditions],
    }
    if status.terminating_replicas is not None:
        found["terminatingReplicas"] = status.terminating_replicas
    if status.collision_count is not None:
        found["collisionCount"] = status.collision_count
    return found
