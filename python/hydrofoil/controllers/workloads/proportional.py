"""The scaling of a deployment whose rollout is under way or paused (`pkg/controller/deployment/sync.go`, scale)."""

from __future__ import annotations

import math

from hydrofoil.controllers.objects.deployments import Deployment
from hydrofoil.controllers.objects.replica_sets import ReplicaSet
from hydrofoil.controllers.workloads.deployment_status import replicas_of
from hydrofoil.controllers.workloads.rollout import Rollout, active, by_creation
from hydrofoil.controllers.workloads.set_annotations import DESIRED, MAX, count_annotation


def is_scaling(rollout: Rollout) -> bool:
    """Report whether the deployment's own number has changed since its sets were scaled (`isScalingEvent`)."""
    replicas = rollout.deployment.spec.replicas
    return any(count_annotation(found, DESIRED) not in (None, replicas) for found in active(rollout.all))


def _is_saturated(deployment: Deployment, new: ReplicaSet | None) -> bool:
    """Report whether the new set has all pods, all of them available (`IsSaturated`)."""
    replicas = deployment.spec.replicas
    return (
        new is not None
        and new.spec.replicas == new.status.available_replicas == replicas
        and count_annotation(new, DESIRED) == replicas
    )


def _active_or_latest(rollout: Rollout) -> ReplicaSet | None:
    """Return the only set with pods, or the latest one if none has any (`FindActiveOrLatest`)."""
    found = active(rollout.all)
    if found:
        return found[0] if len(found) == 1 else None
    return rollout.new or (rollout.old[-1] if rollout.old else None)


def _fraction(found: ReplicaSet, deployment: Deployment) -> int:
    """Return by how much a set has to grow or shrink to keep its share (`getReplicaSetFraction`)."""
    size = found.spec.replicas
    if not deployment.spec.replicas:
        return -size
    # The annotation may have been removed: without it the share is that of the present pods.
    before = count_annotation(found, MAX) or deployment.status.replicas
    if not before:
        return 0
    # Go rounds halves away from zero.
    return math.floor(size * (deployment.spec.replicas + deployment.max_surge) / before + 0.5) - size


def proportions(deployment: Deployment, sets: list[ReplicaSet]) -> list[tuple[ReplicaSet, int]]:
    """Return the sets and their new sizes, the largest set first.

    What is to be added or removed is divided by size, and the rest is the largest one's. Of two of one size, the newer
    grows first, and the older shrinks first.
    """
    allowed = deployment.spec.replicas + deployment.max_surge if deployment.spec.replicas else 0
    missing = allowed - replicas_of(sets)
    if missing > 0:
        sets = sorted(sets, key=by_creation, reverse=True)
    elif missing < 0:
        sets = sorted(sets, key=by_creation)
    else:
        return [(found, found.spec.replicas) for found in sets]
    sets.sort(key=lambda found: -found.spec.replicas)
    sizes, added = [], 0
    for found in sets:
        share = 0
        if missing != added:
            left = missing - added
            fraction = _fraction(found, deployment)
            share = min(fraction, left) if missing > 0 else max(fraction, left)
        sizes.append(found.spec.replicas + share)
        added += share
    if sizes:
        sizes[0] = max(sizes[0] + missing - added, 0)
    return list(zip(sets, sizes, strict=True))


async def scale(rollout: Rollout) -> None:
    """Scale the sets of a deployment, in proportion where several have pods."""
    deployment, new = rollout.deployment, rollout.new
    replicas = deployment.spec.replicas
    only = _active_or_latest(rollout)
    if only is not None:
        await rollout.scale(only, replicas)
    elif _is_saturated(deployment, new):
        # A set was adopted beside one that has all pods.
        for found in active(rollout.old):
            await rollout.scale(found, 0)
    elif deployment.is_rolling:
        for found, size in proportions(deployment, active(rollout.all)):
            await rollout.scale(found, size, always=True)
