"""Disruption budgets."""

from __future__ import annotations

from msgspec import Struct

from hydrofoil.controllers.objects.meta import Condition, LabelSelector, ObjectMeta


class PodDisruptionBudgetSpec(Struct, frozen=True, gc=False, rename="camel"):
    """How many pods may be missing."""

    selector: LabelSelector | None = None
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetStatus(Struct, frozen=True, gc=False, rename="camel"):
    """How many are missing."""

    observed_generation: int = 0
    disrupted_pods: dict[str, str] = {}
    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0
    conditions: tuple[Condition, ...] = ()


class PodDisruptionBudget(Struct, frozen=True, gc=False, rename="camel"):
    """A budget for the disruption of pods."""

    metadata: ObjectMeta
    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()
