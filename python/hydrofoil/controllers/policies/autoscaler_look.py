"""What one look at an autoscaler finds: its status as it will be, and events."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from hydrofoil.clock import Clock
from hydrofoil.controllers.objects.autoscalers import AutoscalerCondition, AutoscalerStatus, HorizontalPodAutoscaler
from hydrofoil.controllers.runtime.recorder import EventRecorder


class AutoscalerLook:
    """The changes of one autoscaler."""

    def __init__(self, clock: Clock, recorder: EventRecorder, autoscaler: HorizontalPodAutoscaler) -> None:
        self._clock = clock
        self._recorder = recorder
        self.autoscaler = autoscaler
        self.status: AutoscalerStatus = autoscaler.status

    def record(self, kind: str, reason: str, message: str) -> None:
        """Record an event about the autoscaler."""
        about = self.autoscaler.metadata.reference("autoscaling/v2", "HorizontalPodAutoscaler")
        self._recorder.record(about, kind, reason, message)

    def set_condition(self, kind: str, status: str, reason: str, message: str) -> None:
        """Set a condition; its time is that of the last change of its status (`setConditionInList`)."""
        present = self.status.conditions or ()
        known = next((one for one in present if one.type == kind), None)
        time = known.last_transition_time if known is not None and known.status == status else self._clock.text()
        made = AutoscalerCondition(kind, status, time, reason, message)
        kept = present if known is not None else (*present, made)
        conditions = tuple(made if one is known else one for one in kept)
        self.status = replace(self.status, conditions=conditions)

    def remove_condition(self, kind: str) -> None:
        """Remove a condition."""
        if self.status.conditions is not None:
            kept = tuple(one for one in self.status.conditions if one.type != kind)
            self.status = replace(self.status, conditions=kept)

    def set_numbers(
        self, current: int, desired: int, *, metrics: tuple[dict[str, Any], ...] | None = None, is_new: bool = False
    ) -> None:
        """Set the replicas that there are and that should be (`setStatus`); `is_new`: the target was scaled now."""
        self.status = AutoscalerStatus(
            desired_replicas=desired,
            current_replicas=current,
            last_scale_time=self._clock.text() if is_new else self.status.last_scale_time,
            current_metrics=metrics,
            conditions=self.status.conditions,
        )
