"""Coroutines that run at once, and become tasks only if they have to wait (`eager_start` of Python 3.12).

Nearly every request is answered without a wait. A task for each would cost two more calls of the loop, and its answer
would be a turn later.
"""

from __future__ import annotations

import asyncio
from asyncio.tasks import _enter_task, _leave_task
from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")


class EagerTask(Generic[T]):
    """A coroutine from its first step on; it stands for a task until there is one.

    Code that asks for its task before the first wait, as `asyncio.timeout` does, gets this object: what is done to it
    is done to the task.
    """

    __slots__ = ("_cancels", "_coroutine", "_loop", "_started", "_task")

    def __init__(self, coroutine: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> None:
        self._coroutine = coroutine
        self._loop = loop
        self._task: asyncio.Task[T] | None = None
        self._started = False
        """Whether the task has run."""
        self._cancels = 0
        """The cancellations before that. A task that is cancelled before it runs ends without a word to its coroutine,
        which has begun: the task throws them into it first."""

    def run(self, done: Callable[[asyncio.Task[T]], None]) -> T | None:
        """Run to the end and return the result, or to the first wait: return None, and call `done` with the task
        when it ends. Raise what the coroutine raises before it waits.

        No other task may be running.
        """
        loop, running = self._loop, cast("asyncio.Task[Any]", self)
        _enter_task(loop, running)
        try:
            waits = self._coroutine.send(None)
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            _leave_task(loop, running)
        self._task = loop.create_task(self._rest(waits))
        self._task.add_done_callback(done)
        return None

    @coroutine
    def _rest(self, waits: Any) -> Generator[Any, Any, T]:
        """Run the rest, which begins with a wait."""
        inner = self._coroutine
        self._started = True
        raised: BaseException | None = asyncio.CancelledError() if self._cancels else None
        while True:
            if raised is None:
                try:
                    yield waits
                except BaseException as e:
                    raised = e
                else:
                    return cast(T, (yield from inner))
            try:
                waits, raised = inner.throw(raised), None
            except StopIteration as end:
                return cast(T, end.value)

    def cancel(self, msg: object = None) -> bool:
        """Cancel the rest (`asyncio.Task.cancel`)."""
        if self._started and self._task is not None:
            return self._task.cancel(msg)
        self._cancels += 1
        return True

    def done(self) -> bool:
        """Report whether it has ended (`asyncio.Task.done`)."""
        return self._task is not None and self._task.done()

    def cancelling(self) -> int:
        """Return the number of cancellations (`asyncio.Task.cancelling`)."""
        return self._cancels + (0 if self._task is None else self._task.cancelling())

    def uncancel(self) -> int:
        """Take one cancellation back, and return the number of those left (`asyncio.Task.uncancel`)."""
        if self._cancels:
            self._cancels -= 1
        elif self._task is not None:
            self._task.uncancel()
        return self.cancelling()
