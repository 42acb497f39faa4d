"""Deployments (`k8s.io/api/apps/v1`, `pkg/controller/deployment/util/deployment_util.go`)."""

from __future__ import annotations

from msgspec import Struct

from hydrofoil.controllers.objects.fractions import IntOrString, scaled_value
from hydrofoil.controllers.objects.meta import Condition, LabelSelector, ObjectMeta, find_condition
from hydrofoil.controllers.objects.templates import PodTemplate

ROLLING_UPDATE, RECREATE = "RollingUpdate", "Recreate"
UNLIMITED = (1 << 31) - 1
"""The number that stands for no deadline, and for a history without end."""
PROGRESSING, AVAILABLE = "Progressing", "Available"


class RollingUpdate(Struct, frozen=True, rename="camel"):
    """The bounds of an update."""

    max_surge: IntOrString = 0
    max_unavailable: IntOrString = 0


class Strategy(Struct, frozen=True, rename="camel"):
    """How pods are replaced."""

    type: str = ROLLING_UPDATE
    rolling_update: RollingUpdate | None = None


class DeploymentSpec(Struct, frozen=True, rename="camel"):
    """What is wanted."""

    selector: LabelSelector = LabelSelector()
    template: PodTemplate = PodTemplate()
    replicas: int = 1
    strategy: Strategy = Strategy()
    min_ready_seconds: int = 0
    revision_history_limit: int | None = None
    paused: bool = False
    progress_deadline_seconds: int | None = None


class DeploymentStatus(Struct, frozen=True, rename="camel"):
    """What is known of the rollout."""

    observed_generation: int = 0
    replicas: int = 0
    updated_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    unavailable_replicas: int = 0
    terminating_replicas: int | None = None
    collision_count: int | None = None
    conditions: tuple[Condition, ...] = ()

    def condition(self, kind: str) -> Condition | None:
        """Return a condition by its type."""
        return find_condition(self.conditions, kind)


class Deployment(Struct, frozen=True, rename="camel"):
    """A deployment."""

    metadata: ObjectMeta
    spec: DeploymentSpec
    status: DeploymentStatus = DeploymentStatus()

    @property
    def is_rolling(self) -> bool:
        """Report whether pods are replaced in steps."""
        return self.spec.strategy.type == ROLLING_UPDATE

    def _fenceposts(self) -> tuple[int, int]:
        """Return the most pods above and below the wanted number (`ResolveFenceposts`)."""
        bounds, replicas = self.spec.strategy.rolling_update or RollingUpdate(), self.spec.replicas
        surge = scaled_value(bounds.max_surge, replicas, rounds_up=True)
        unavailable = scaled_value(bounds.max_unavailable, replicas, rounds_up=False)
        # Both may be percentages that round to none: a quota may forbid more pods, but fewer are always possible.
        return surge, unavailable or int(not surge)

    @property
    def max_surge(self) -> int:
        """Return how many pods there may be above the wanted number."""
        return self._fenceposts()[0] if self.is_rolling else 0

    @property
    def max_unavailable(self) -> int:
        """Return how many of the wanted pods may be unavailable."""
        if not self.is_rolling or not self.spec.replicas:
            return 0
        return min(self._fenceposts()[1], self.spec.replicas)

    @property
    def has_deadline(self) -> bool:
        """Report whether a rollout without progress is reported after a time (`HasProgressDeadline`)."""
        return self.spec.progress_deadline_seconds not in (None, UNLIMITED)

    @property
    def history_limit(self) -> int | None:
        """Return the number of old replica sets that are kept; None: all of them (`HasRevisionHistoryLimit`)."""
        limit = self.spec.revision_history_limit
        return None if limit == UNLIMITED else limit
