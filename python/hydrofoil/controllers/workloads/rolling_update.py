"""The steps of a rollout by either strategy (`pkg/controller/deployment/rolling.go`, `recreate.go`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.controllers.objects.replica_sets import ReplicaSet
from hydrofoil.controllers.workloads.deployment_status import (
    actual_replicas_of,
    replicas_of,
)
from hydrofoil.controllers.workloads.rollout import Rollout, active
from hydrofoil.errors import ApiError


async def grow_new(rollout: Rollout) -> bool:
    """Scale the new set up as far as the surge allows, or down; report whether it was (`reconcileNewReplicaSet`)."""
    new, replicas = rollout.new, rollout.deployment.spec.replicas
    assert new is not None
    present = new.spec.replicas
    if present == replicas:
        return False
    size = replicas if present > replicas else rollout.size_of_new(present)
    return (await rollout.scale(new, size))[0]


async def shrink_old(rollout: Rollout) -> bool:
    """Scale old sets down as far as enough pods stay available; report whether any was (`reconcileOldReplicaSets`).

    Pods of the new set that are not available yet count as unavailable ones: old pods wait for them.
    """
    new, old = rollout.new, active(rollout.old)
    assert new is not None
    if not old:
        return False
    deployment = rollout.deployment
    least = deployment.spec.replicas - deployment.max_unavailable
    unavailable = new.spec.replicas - new.status.available_replicas
    most = replicas_of(rollout.all) - least - unavailable
    if most <= 0:
        return False
    try:
        old, unhealthy = await _remove_unhealthy(rollout, old, most)
        return unhealthy + await _remove_available(rollout, new, old, least) > 0
    except ApiError:
        # The next look continues where this one has ended: the event of what was written brings it.
        return False


async def _remove_unhealthy(rollout: Rollout, old: list[ReplicaSet], most: int) -> tuple[list[ReplicaSet], int]:
    """Remove pods that are not available from old sets: they would hold up the rollout (`cleanupUnhealthyReplicas`)."""
    after, removed = list(old), 0
    for place, found in enumerate(old):
        size = found.spec.replicas
        count = min(most - removed, size - found.status.available_replicas)
        if count > 0:
            _, after[place] = await rollout.scale(found, size - count)
            removed += count
    return after, removed


async def _remove_available(rollout: Rollout, new: ReplicaSet, old: list[ReplicaSet], least: int) -> int:
    """Remove pods from old sets as long as enough are available (`scaleDownOldReplicaSetsForRollingUpdate`).

    A set that has just been made smaller still reports the pods which it is about to remove: they are not available.
    """
    available = sum(min(found.status.available_replicas, found.spec.replicas) for found in (*old, new))
    spare, removed = available - least, 0
    for found in old:
        if removed >= spare:
            break
        if count := min(found.spec.replicas, spare - removed):
            await rollout.scale(found, found.spec.replicas - count)
            removed += count
    return removed


async def empty_old(rollout: Rollout) -> bool:
    """Scale all old sets to zero; report whether any was (`scaleDownOldReplicaSetsForRecreate`)."""
    scaled = False
    for found in active(rollout.old):
        scaled |= (await rollout.scale(found, 0))[0]
    return scaled


def old_pods_run(rollout: Rollout, pods_of: Callable[[ReplicaSet], Iterable[Pod]]) -> bool:
    """Report whether an old set has pods that have not ended (`oldPodsRunning`)."""
    if actual_replicas_of(rollout.old) > 0:
        return True
    return any(not pod.is_ended for found in rollout.old for pod in pods_of(found))
