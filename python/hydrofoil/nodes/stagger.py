"""How far apart the containers of pods are that begin together."""

from __future__ import annotations

from hydrofoil.clock import Clock

GAP, MOST = 0.01, 0.1
"""The seconds between two pods, and the most that a pod waits: those of a large rollout are ready together."""
STEP, STEPS = 0.00001, 8
"""The same where the clock stands still: seconds, and the number of pods that are ready before the time."""


class Stagger:
    """When pods that start at about the same moment are ready, as compared with the time that their annotation says.

    Kubelets of machines report such pods one after another, and controllers see each of them: a rollout takes its next
    step with every pod. Where a test moves the clock, all are ready when the time has come, and so the first ones are
    ready a little before it: each of these moments is one of the clock, at which controllers work.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._next = 0.0
        """When the next pod is ready that starts at once."""
        self._moment = 0.0
        self._count = 0
        """The pods that have started at the present moment of a clock that stands still."""

    def draw(self) -> float:
        """Return the seconds by which a pod that starts now is ready later, or earlier."""
        now = self._clock.seconds()
        if self._clock.native.frozen:
            if now != self._moment:
                self._moment, self._count = now, 0
            self._count += 1
            return min(self._count - 1 - STEPS, 0) * STEP
        delay = max(self._next - now, 0.0)
        # A clock that was moved back begins anew.
        delay = min(delay, MOST) if delay <= MOST + GAP else 0.0
        self._next = now + delay + GAP
        return delay
