"""A queue of keys to process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from hydrofoil.clock import Clock, stopwatch
from hydrofoil.counting import Histogram
from hydrofoil.errors import FAULTS
from hydrofoil.pace.pacer import Pacer
from hydrofoil.pool import retrieve_result
from hydrofoil.storage.unreadable import Unreadable
from hydrofoil.watch.activity import Activity

LOG = logging.getLogger("hydrofoil")
RETRY_SECONDS = 1.0
"""The delay before an unfinished key is processed again."""
Key = tuple[str, ...]
BUCKETS = tuple(10.0**n for n in range(-8, 2))
"""The buckets of times, in seconds (client-go `util/workqueue/metrics.go`)."""


class Work:
    """The keys of a queue: how many came, and the seconds that they waited and took."""

    __slots__ = ("added", "repeated", "took", "waited")

    def __init__(self) -> None:
        self.added = 0
        self.repeated = 0
        """Keys that are to be processed again later."""
        self.waited = Histogram(BUCKETS)
        self.took = Histogram(BUCKETS)


class Queue:
    """Keys to process, each once at a time, and again later if that returns False or fails.

    Up to `width` are processed at the same time.
    """

    def __init__(
        self,
        what: str,
        work: Callable[[Key], Awaitable[bool]],
        clock: Clock,
        activity: Activity | None = None,
        *,
        width: int = 1,
        retry: float = RETRY_SECONDS,
    ) -> None:
        """`activity` counts this queue among those that have work; what settles a server waits for them."""
        self._what = what
        self._work = work
        self._clock = clock
        self._width = width
        self._retry = retry
        self.counts = Work()
        self._waiting: dict[Key, float] = {}
        """When each came."""
        self._begun: dict[Key, float] = {}
        """When the work on each began."""
        self._running: dict[Key, asyncio.Task[None] | None] = {}
        self._completions: dict[Key, asyncio.Future[None]] = {}
        self._workers: set[asyncio.Task[None]] = set()
        self._timers: dict[Key, asyncio.TimerHandle] = {}
        self._activity = activity or Activity()
        self._is_busy = False
        self._closed = False

    def __len__(self) -> int:
        return len(self._waiting) + len(self._running)

    @property
    def depth(self) -> int:
        """Return the number of keys that wait."""
        return len(self._waiting)

    def under_way(self) -> list[float]:
        """Return the seconds of the work that has not ended."""
        now = stopwatch()
        return [now - begun for begun in self._begun.values()]

    def put(self, key: Key) -> None:
        """Queue a key unless it is waiting already."""
        if self._closed:
            return
        if key not in self._waiting:
            self._waiting[key] = stopwatch()
            self.counts.added += 1
        self._note()
        self._staff()

    def refuse(self) -> None:
        """Take no key from now on: a server that shows a dump changes nothing by itself."""
        self._closed = True

    def _note(self) -> None:
        """Count this queue as busy from its first key until its last one is processed."""
        is_busy = bool(self._waiting or self._running)
        if is_busy is not self._is_busy:
            self._is_busy = is_busy
            if is_busy:
                self._activity.begin()
            else:
                self._activity.end()

    def _staff(self) -> None:
        """Start one more worker, if another one is allowed."""
        if len(self._workers) < self._width:
            worker = asyncio.create_task(self._run())
            self._workers.add(worker)
            # It ends by itself when it is done: a key put from then on needs another one.
            worker.add_done_callback(self._left)

    def _left(self, worker: asyncio.Task[None]) -> None:
        """Remove a worker; a key that it left because of a fault is another one's."""
        self._workers.discard(worker)
        if not worker.cancelled() and (fault := worker.exception()) is not None:
            LOG.error("%s lost a worker", self._what, exc_info=fault)
        if not self._closed and any(key not in self._running for key in self._waiting):
            self._staff()

    def done(self, key: Key) -> asyncio.Future[None]:
        """Return the end of the work on a key, from its state at this call; await it for the error of that.

        A worker does not wait for its own queue: its writes to its own key are part of its work, other keys are put.
        It is known by its task, so this is no coroutine: `gather` would run that in another task, and the worker would
        wait for itself.
        """
        task = asyncio.current_task()
        if task in self._workers:
            if self._running.get(key) is not task:
                self.put(key)
            nothing = asyncio.get_running_loop().create_future()
            nothing.set_result(None)
            return nothing
        completion = self._completions.get(key)
        if completion is None:
            completion = asyncio.get_running_loop().create_future()
            # No caller may be left to receive a fault, which is in the log.
            completion.add_done_callback(retrieve_result)
            if self._closed:
                completion.cancel()
                return completion
            self._completions[key] = completion
        self.put(key)
        waiting = asyncio.shield(completion)
        waiting.add_done_callback(retrieve_result)
        return waiting

    async def _run(self) -> None:
        pacer, task = Pacer(), asyncio.current_task()
        # Requests are first.
        await asyncio.sleep(0)
        while (key := self.next()) is not None:
            # From here on to `try` nothing may fail: the key is in no order any more, and would not be found again.
            came = self._waiting.pop(key)
            self._running[key] = task
            self._begun[key] = begun = stopwatch()
            # A later call is for changes that the present run may have missed.
            completion = self._completions.pop(key, None)
            done = False
            try:
                self.counts.waited.observe(begun - came)
                done = await self._work(key)
                if completion is not None and not completion.done():
                    completion.set_result(None)
            except FAULTS as e:
                if isinstance(e, Unreadable):
                    LOG.error("%s failed on %s: %s", self._what, key, e)
                else:
                    LOG.exception("%s failed on %s", self._what, key)
                if completion is not None and not completion.done():
                    completion.set_exception(e)
            finally:
                del self._running[key]
                seconds = stopwatch() - self._begun.pop(key)
                if completion is not None and not completion.done():
                    completion.cancel()
                self._activity.count_key()
                self.leave(key, done=done)
                self._note()
                self.counts.took.observe(seconds)
            await pacer.pause()
        if task is not None:
            self._workers.discard(task)

    def next(self) -> Key | None:
        """Return the key to be processed next; None if there is none. Its worker takes it from those that wait."""
        return next((key for key in self._waiting if key not in self._running), None)

    def leave(self, key: Key, *, done: bool) -> None:
        """End the work on a key, which is processed again later if it is not done."""
        if not done and not self._closed and key not in self._timers:
            self.counts.repeated += 1
            self._timers[key] = self._clock.machine.later(self._retry, lambda: self._again(key))

    def _again(self, key: Key) -> None:
        self._timers.pop(key, None)
        self.put(key)

    async def close(self) -> None:
        """Stop the work; waiting callers are cancelled."""
        self._closed = True
        self._waiting.clear()
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        workers = list(self._workers)
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        for completion in self._completions.values():
            completion.cancel()
        self._completions.clear()
        self._note()
