"""Daemon sets (`k8s.io/api/apps/v1`, `pkg/controller/daemon/util`)."""

from __future__ import annotations

import re

from msgspec import Struct

from hydrofoil.controllers.objects.fractions import IntOrString, scaled_value
from hydrofoil.controllers.objects.meta import LabelSelector, ObjectMeta
from hydrofoil.controllers.objects.templates import PodTemplate

ROLLING_UPDATE = "RollingUpdate"
GENERATION = "deprecated.daemonset.template.generation"
"""The annotation with the number of templates so far."""
INTEGER = re.compile(r"[+-]?[0-9]+")


class RollingUpdate(Struct, frozen=True, rename="camel"):
    """The bounds of an update."""

    max_unavailable: IntOrString = 0
    max_surge: IntOrString = 0


class UpdateStrategy(Struct, frozen=True, rename="camel"):
    """How pods get another template."""

    type: str = ROLLING_UPDATE
    rolling_update: RollingUpdate | None = None


class DaemonSetSpec(Struct, frozen=True, rename="camel"):
    """What is wanted."""

    selector: LabelSelector = LabelSelector()
    template: PodTemplate = PodTemplate()
    update_strategy: UpdateStrategy = UpdateStrategy()
    min_ready_seconds: int = 0
    revision_history_limit: int = 10


class DaemonSetStatus(Struct, frozen=True, rename="camel"):
    """What is known of the pods."""

    current_number_scheduled: int = 0
    number_misscheduled: int = 0
    desired_number_scheduled: int = 0
    number_ready: int = 0
    observed_generation: int = 0
    updated_number_scheduled: int = 0
    number_available: int = 0
    number_unavailable: int = 0
    collision_count: int | None = None


class DaemonSet(Struct, frozen=True):
    """A daemon set."""

    metadata: ObjectMeta
    spec: DaemonSetSpec
    status: DaemonSetStatus = DaemonSetStatus()

    @property
    def _bounds(self) -> RollingUpdate:
        strategy = self.spec.update_strategy
        bounds = strategy.rolling_update if strategy.type == ROLLING_UPDATE else None
        return bounds or RollingUpdate()

    def max_surge(self, nodes: int) -> int:
        """Return how many nodes of a number may have two pods (`SurgeCount`)."""
        return scaled_value(self._bounds.max_surge, nodes, rounds_up=True)

    def max_unavailable(self, nodes: int) -> int:
        """Return how many nodes of a number may be without an available pod (`UnavailableCount`)."""
        return scaled_value(self._bounds.max_unavailable, nodes, rounds_up=True)

    @property
    def template_generation(self) -> str | None:
        """Return the number of templates so far; None without a valid one (`GetTemplateGeneration`)."""
        text = self.metadata.annotations.get(GENERATION, "")
        return str(int(text)) if INTEGER.fullmatch(text) else None
