"""The keys that a controller has to process (client-go `util/workqueue`: rate limiting, delaying, priority queues)."""

from __future__ import annotations

import heapq
from collections.abc import Awaitable, Callable
from itertools import count

from hydrofoil.clock import Clock, Timer
from hydrofoil.watch.activity import Activity
from hydrofoil.watch.queue import Key, Queue

FIRST_DELAY = 0.005
"""The seconds before a key that failed once is processed again (`ItemExponentialFailureRateLimiter`)."""
LONGEST_DELAY = 0.5
"""The most seconds before that. Upstream waits up to 1,000; a server for tests is in no danger of being flooded."""
MOST_AT_ONCE = 10
"""How often a key that fails is repeated because other work is done, before it waits for a clock alone."""
HIGH, NORMAL, LOW = 10, 0, -100
"""Priorities. Upstream's `LowPriority` is that of keys which a restart or a periodic look puts."""


class WorkQueue(Queue):
    """Keys by priority, then by arrival; those that fail come back after a time that doubles with each failure.

    As upstream's queue it has two sets, whose names are in `Queue`: `_waiting` is *dirty* and `_running` is
    *processing*. A key that is put while it is processed is dirty only: it has no place in the order until that work is
    done, so that no key is processed by two workers, and none that has changed meanwhile is lost.

    `after` counts by the server's clock: a test that moves the clock reaches it. What failed comes back by that clock
    or by the machine's, whichever is first, since the cause of a failure may pass while the clock of a test stands
    still. Before that it comes back when all other work is done and has changed something, since most failures are
    writes that came between; those that are none say so by `refuse_key`. Where the same requests have to have the same
    outcome, the machine's clock has no say.
    """

    def __init__(
        self, what: str, work: Callable[[Key], Awaitable[bool]], clock: Clock, activity: Activity, *, width: int = 1
    ) -> None:
        """Process up to `width` keys side by side. `work` returns whether a key is done."""
        super().__init__(what, work, clock, activity, width=width)
        self._order: list[tuple[int, int, Key]] = []
        """A heap of keys by negative priority and number. An entry counts only if `_places` has its number."""
        self._places: dict[Key, tuple[int, int]] = {}
        """The negative priority and the number of each waiting key; those that are processed have none."""
        self._numbers = count()
        self._priorities: dict[Key, int] = {}
        """The priorities of keys that were put while they are processed."""
        self._delayed: dict[Key, Timer] = {}
        self._failures: dict[Key, int] = {}
        self._refused: set[Key] = set()
        """Keys whose present work fails for another reason than a write that came between."""
        self._retries: dict[Key, Timer] = {}

    def put(self, key: Key, priority: int = NORMAL) -> None:
        """Queue a key; one that waits already gets the higher priority of both."""
        if self._closed:
            return
        present = self._places.get(key)
        if present is not None and -priority >= present[0]:
            # A set of a thousand pods is put by each of their events, and waits for its turn meanwhile.
            return
        super().put(key)
        if key in self._running:
            self._priorities[key] = max(priority, self._priorities.get(key, priority))
        else:
            self._place(key, priority)

    def _place(self, key: Key, priority: int) -> None:
        present = self._places.get(key)
        if present is None:
            place = -priority, next(self._numbers)
        elif -priority < present[0]:
            # It keeps its number: of one priority, the first that came is the first.
            place = -priority, present[1]
        else:
            return
        self._places[key] = place
        heapq.heappush(self._order, (*place, key))

    def next(self) -> Key | None:
        """Return the key to be processed next, and take it out of the order; None if there is none."""
        while self._order:
            cost, number, key = heapq.heappop(self._order)
            if self._places.get(key) == (cost, number):
                del self._places[key]
                return key
        return None

    def after(self, key: Key, seconds: float, priority: int = NORMAL) -> None:
        """Queue a key after a time of the server's clock; of several times for one key, the earliest counts."""
        if self._closed:
            return
        if seconds <= 0:
            self.put(key, priority)
            return
        present = self._delayed.get(key)
        timer = self._clock.later(seconds, lambda: self._due(key, priority))
        if present is not None and present.due <= timer.due:
            timer.cancel()
            return
        if present is not None:
            present.cancel()
        self._delayed[key] = timer

    def _due(self, key: Key, priority: int) -> None:
        del self._delayed[key]
        self.put(key, priority)

    def retry(self, key: Key) -> None:
        """Queue a key after a delay that doubles each time, until it is forgotten (`AddRateLimited`)."""
        if self._closed or key in self._retries:
            return
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        # The exponent is bounded: a key may fail for days.
        delay = min(FIRST_DELAY * 2 ** min(failures, 30), LONGEST_DELAY)
        self.counts.repeated += 1
        self._retries[key] = self._clock.later(delay, lambda: self._again(key))
        waits = key in self._refused
        self._refused.discard(key)
        if self._activity.progress is not None and failures < MOST_AT_ONCE and not waits:
            self._activity.park((self, key), lambda: self._again(key))
        if self._activity.is_ordered:
            return
        self._timers[key] = self._clock.machine.later(delay, lambda: self._again(key))

    def refuse_key(self, key: Key) -> None:
        """Repeat a key, whose work is about to fail, after its delay alone: no other work has to do with it."""
        self._refused.add(key)

    def failures(self, key: Key) -> int:
        """Return how often a key has failed since it was forgotten (`NumRequeues`)."""
        return self._failures.get(key, 0)

    def forget(self, key: Key) -> None:
        """Begin anew with the shortest delay (`Forget`)."""
        self._failures.pop(key, None)

    def _again(self, key: Key) -> None:
        if (timer := self._retries.pop(key, None)) is not None:
            timer.cancel()
        if (handle := self._timers.pop(key, None)) is not None:
            handle.cancel()
        self._activity.leave((self, key))
        self.put(key)

    def leave(self, key: Key, *, done: bool) -> None:
        """End the work on a key: one that was put meanwhile waits from now on."""
        if done:
            self._refused.discard(key)
            self.forget(key)
        else:
            self.retry(key)
        if key in self._waiting and not self._closed:
            self._place(key, self._priorities.pop(key, NORMAL))

    async def close(self) -> None:
        """Stop the work; waiting callers are cancelled."""
        await super().close()
        for timer in (*self._delayed.values(), *self._retries.values()):
            timer.cancel()
        for key in self._retries:
            self._activity.leave((self, key))
        for known in (self._delayed, self._retries, self._places, self._order, self._failures, self._refused):
            known.clear()
