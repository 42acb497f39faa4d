"""How far apart pods are ready that begin together."""

from __future__ import annotations

from hydrofoil.clock import Clock

GAP, MOST = 0.01, 0.1
"""The seconds between two pods, and the most that a pod waits: those of a large rollout are ready together."""


class Stagger:
    """When pods that start at about the same moment are ready, as compared with the time that their annotation says.

    Kubelets of machines report such pods one after another, and controllers see each of them: a rollout takes its next
    step with every pod. Where a test has stopped the clock, all are ready when the time has come, and not later.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._next = 0.0
        """When the next pod is ready that starts at once."""

    def draw(self) -> float:
        """Return the seconds by which a pod that starts now is ready later."""
        if self._clock.native.frozen:
            return 0.0
        now = self._clock.seconds()
        delay = max(self._next - now, 0.0)
        # A clock that was moved back begins anew.
        delay = min(delay, MOST) if delay <= MOST + GAP else 0.0
        self._next = now + delay + GAP
        return delay
