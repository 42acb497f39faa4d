"""Replica sets, and replication controllers, which are the same with other selectors (`k8s.io/api/apps/v1`)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from msgspec import Struct

from hydrofoil.controllers.objects.meta import Condition, LabelSelector, ObjectMeta
from hydrofoil.controllers.objects.templates import PodTemplate

REPLICA_FAILURE = "ReplicaFailure"


class ReplicaSetStatus(Struct, frozen=True, rename="camel"):
    """What is known of the replicas."""

    replicas: int = 0
    fully_labeled_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    terminating_replicas: int | None = None
    observed_generation: int = 0
    conditions: tuple[Condition, ...] = ()


class ReplicaSetSpec(Struct, frozen=True, rename="camel"):
    """What is wanted."""

    selector: LabelSelector = LabelSelector()
    template: PodTemplate = PodTemplate()
    replicas: int = 1
    min_ready_seconds: int = 0


class ReplicaSet(Struct, frozen=True, rename="camel"):
    """A replica set."""

    metadata: ObjectMeta
    spec: ReplicaSetSpec
    status: ReplicaSetStatus = ReplicaSetStatus()

    @property
    def selector(self) -> LabelSelector:
        """Return the selector of the pods."""
        return self.spec.selector


class ReplicationControllerSpec(Struct, frozen=True, rename="camel"):
    """What is wanted. The selector is a set of labels."""

    selector: dict[str, str] = {}
    template: PodTemplate = PodTemplate()
    replicas: int = 1
    min_ready_seconds: int = 0


class ReplicationController(Struct, frozen=True, rename="camel", dict=True):
    """A replication controller."""

    metadata: ObjectMeta
    spec: ReplicationControllerSpec
    status: ReplicaSetStatus = ReplicaSetStatus()

    @cached_property
    def selector(self) -> LabelSelector:
        """Return the selector of the pods."""
        return LabelSelector(self.spec.selector)


AnyReplicaSet = ReplicaSet | ReplicationController


def owner_of(value: AnyReplicaSet) -> tuple[str, ...]:
    """Return the uid of the owner that manages a replica set, for an index."""
    owner = value.metadata.controller
    return () if owner is None else (owner.uid,)


def condition_value(condition: Condition) -> dict[str, Any]:
    """Return a condition of an object as it is written again."""
    fields = {
        "type": condition.type,
        "status": condition.status,
        "lastUpdateTime": condition.last_update_time,
        "lastTransitionTime": condition.last_transition_time,
        "reason": condition.reason,
        "message": condition.message,
    }
    return {name: value for name, value in fields.items() if value is not None}
