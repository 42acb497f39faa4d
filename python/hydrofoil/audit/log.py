"""The audit log: records are written by a thread of their own, many at once (apiserver `plugin/pkg/audit/log`)."""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections.abc import Sequence
from itertools import accumulate
from typing import Protocol

from hydrofoil import engine
from hydrofoil.audit.batches import MOST_BYTES, Batches
from hydrofoil.audit.metrics import Counts
from hydrofoil.audit.options import Delivery
from hydrofoil.clock import Clock, Timer

LOG = logging.getLogger("hydrofoil")
GATHER_SECONDS = 0.01
"""How long records are gathered for one write: a write for each would cost as much as the request."""
MOST = 10_000
"""The number of records that may wait for a disk outside batch mode, which has a flag for it."""
LEAVE_SECONDS = 2.0
"""The time that the last records have to be written at the end."""
QUIET_SECONDS = 10.0
"""The interval in which failures are reported once."""
Job = tuple[bytes, list[int], dict[int, asyncio.Future[bool]]]
"""Records as lines, their ends, and the requests that wait for some of them by their place."""


class File(Protocol):
    """What takes lines: a file, or the process that has it."""

    def append(self, data: bytes, ends: Sequence[int]) -> tuple[int, OSError | None]:
        """Write lines, which end at these places; return how many were written, and the error that ended it."""

    def close(self) -> None:
        """End it."""


class LogBackend:
    """Write records to a file. Neither a full nor a hanging disk keeps the loop: records are lost and counted then."""

    def __init__(self, delivery: Delivery, file: File, clock: Clock, counts: Counts) -> None:
        self._delivery = delivery
        self._file = file
        self._clock = clock
        self._counts = counts
        self._waiting: dict[int, asyncio.Future[bool]] = {}
        self._timer: Timer | None = None
        self._busy = False
        self._idle = asyncio.Event()
        self._idle.set()
        self._quiet_until = 0.0
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        most = delivery.buffer if delivery.mode == "batch" else MOST
        self.lines = engine.AuditLines(most, MOST_BYTES)
        """The records that wait outside of batches."""
        self._batches: Batches | None = None
        if delivery.mode == "batch" and (delivery.size > 1 or delivery.throttled):
            self._batches = Batches(delivery, clock, self._batch)

    @property
    def batched(self) -> bool:
        """Report whether records wait in batches."""
        return self._batches is not None

    @property
    def blocks(self) -> bool:
        """Report whether answers wait for their records: they need not, a disk takes them at once or not at all."""
        return False

    def take(self, line: bytes, *, waits: bool = False) -> asyncio.Future[bool] | None:
        """Take a record; with `waits`, return whether it was written."""
        if self._batches is not None:
            if not self._batches.put(line):
                self._lost("buffered", 1, "audit buffer queue blocked")
            return None
        number = self.lines.put(line)
        if waits and number:
            written = self._waiting[number - 1] = asyncio.get_running_loop().create_future()
            if not self._busy:
                self._flush()
            return written
        if number < 2:
            self.added(number)
        return None if number or not waits else refuse_record()

    def added(self, number: int) -> None:
        """Plan the write of the first record that waits, or count one for which there was no room: its number is 0."""
        if not number:
            self._lost("buffered" if self._delivery.mode == "batch" else "log", 1, "the disk does not keep up")
        elif self._timer is None and not self._busy:
            self._timer = self._clock.later(GATHER_SECONDS, self._flush)

    def _batch(self, batch: list[bytes]) -> bool:
        """Take a batch unless another one is being written."""
        if self._busy:
            return False
        self._write(*join_records(batch), {})
        return True

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if len(self.lines) and not self._busy:
            waiting, self._waiting = self._waiting, {}
            self._write(*self.lines.take(), waiting)

    def _write(self, data: bytes, ends: list[int], waiting: dict[int, asyncio.Future[bool]]) -> None:
        self._busy = True
        self._idle.clear()
        if self._thread is None:
            loop = asyncio.get_running_loop()
            # A daemon: a write that never ends does not keep the process.
            self._thread = threading.Thread(target=self._run, args=(loop,), name="audit", daemon=True)
            self._thread.start()
        self._jobs.put((data, ends, waiting))

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        """Write what the loop hands over, until it hands over nothing: the thread's whole work."""
        while (job := self._jobs.get()) is not None:
            data, ends, waiting = job
            try:
                written, error = self._file.append(data, ends)
                why = "" if error is None else error.strerror or "the disk failed"
            except Exception as e:
                LOG.exception("the audit log failed")
                written, why = 0, type(e).__name__
            try:
                loop.call_soon_threadsafe(self._done, len(ends), written, why, waiting)
            except RuntimeError:
                # The loop is closed: the server ended before a slow disk.
                break
        self._file.close()

    def _done(self, count: int, written: int, why: str, waiting: dict[int, asyncio.Future[bool]]) -> None:
        self._busy = False
        for at, future in waiting.items():
            if not future.done():
                future.set_result(at < written)
        if written < count:
            self._lost("log", count - written, why)
        if self._batches is not None:
            self._batches.resume()
        if not self._busy:
            self._flush()
        if not self._busy:
            self._idle.set()

    def _lost(self, plugin: str, count: int, why: str) -> None:
        """Count lost records, and report them from time to time: without their content, which may be anything."""
        self._counts.lose(plugin, count)
        if (now := self._clock.seconds()) >= self._quiet_until:
            self._quiet_until = now + QUIET_SECONDS
            LOG.error("Error in audit plugin '%s' affecting %d audit events: %s", plugin, count, why)

    async def close(self) -> None:
        """Write what waits, as far as the disk takes it soon."""
        if self._batches is not None:
            rest, self._batches = self._batches.rest(), None
            for line in rest:
                self.take(line)
        self._flush()
        if self._thread is None:
            self._file.close()
            return
        if not await self._clock.machine.wait(self._idle, LEAVE_SECONDS):
            self._lost("log", len(self.lines), "the disk does not keep up")
        self._jobs.put(None)


def refuse_record() -> asyncio.Future[bool]:
    """Return a result that is known at once: not written."""
    future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
    future.set_result(False)
    return future


def join_records(records: Sequence[bytes]) -> tuple[bytes, list[int]]:
    """Return records as lines, and the end of each."""
    return b"".join(b"%s\n" % record for record in records), list(accumulate(len(record) + 1 for record in records))
