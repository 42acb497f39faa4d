"""Stateful sets (`k8s.io/api/apps/v1`)."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from hydrofoil.controllers.objects.fractions import IntOrString
from hydrofoil.controllers.objects.meta import LabelSelector, ObjectMeta
from hydrofoil.controllers.objects.templates import PodTemplate

ROLLING_UPDATE, ON_DELETE, PARALLEL = "RollingUpdate", "OnDelete", "Parallel"
RETAIN, DELETE = "Retain", "Delete"


class RollingUpdate(Struct, frozen=True, rename="camel"):
    """The bounds of an update."""

    partition: int = 0
    max_unavailable: IntOrString | None = None
    """Absent where the gate MaxUnavailableStatefulSet is off: the API drops it, and else sets it."""


class UpdateStrategy(Struct, frozen=True, rename="camel"):
    """How pods get another template."""

    type: str = ROLLING_UPDATE
    rolling_update: RollingUpdate | None = None


class RetentionPolicy(Struct, frozen=True, rename="camel"):
    """What becomes of the claims of pods that are not wanted any more."""

    when_deleted: str = RETAIN
    when_scaled: str = RETAIN


class Ordinals(Struct, frozen=True):
    """The numbers of pods."""

    start: int = 0


class StatefulSetSpec(Struct, frozen=True, rename="camel"):
    """What is wanted."""

    selector: LabelSelector = LabelSelector()
    template: PodTemplate = PodTemplate()
    replicas: int = 1
    service_name: str = ""
    pod_management_policy: str = ""
    update_strategy: UpdateStrategy = UpdateStrategy()
    volume_claim_templates: tuple[dict[str, Any], ...] = ()
    persistent_volume_claim_retention_policy: RetentionPolicy = RetentionPolicy()
    ordinals: Ordinals = Ordinals()
    revision_history_limit: int = 10
    min_ready_seconds: int = 0


class StatefulSetStatus(Struct, frozen=True, rename="camel"):
    """What is known of the pods."""

    observed_generation: int = 0
    replicas: int = 0
    ready_replicas: int = 0
    current_replicas: int = 0
    updated_replicas: int = 0
    available_replicas: int = 0
    current_revision: str = ""
    update_revision: str = ""
    collision_count: int | None = None


class StatefulSet(Struct, frozen=True):
    """A stateful set."""

    metadata: ObjectMeta
    spec: StatefulSetSpec
    status: StatefulSetStatus = StatefulSetStatus()

    @property
    def ordinals(self) -> range:
        """Return the numbers of its pods."""
        start = self.spec.ordinals.start
        return range(start, start + self.spec.replicas)

    @property
    def is_parallel(self) -> bool:
        """Report whether no pod waits for another one (`allowsBurst`)."""
        return self.spec.pod_management_policy == PARALLEL

    @property
    def retention(self) -> RetentionPolicy:
        """Return what becomes of claims."""
        return self.spec.persistent_volume_claim_retention_policy
