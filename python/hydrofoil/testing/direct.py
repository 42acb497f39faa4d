"""Calls of a server in its caller's loop: direct there, and handed to the loop by other threads."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from hydrofoil.testing.core import Core

T = TypeVar("T")
BLOCKED_SECONDS = 10.0
"""The time after which a loop that takes no call is blocked: it may be waiting for the calling thread."""


class Direct:
    """Calls of a core on the running loop; any thread may make them, and any other loop may await them."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    def call(self, name: str, *given: Any) -> Any:
        """Return the result of a plain call. Raise RuntimeError in another thread if the loop is blocked or closed."""
        return self._made(name, given, settle=False)

    def settled(self, name: str, *given: Any) -> Any:
        """Return the result of a plain call; on its own loop it cannot wait for controllers."""
        return self._made(name, given, settle=True)

    def post(self, name: str, *given: Any) -> None:
        """Make a plain call."""
        if threading.get_ident() == self._thread:
            getattr(self._core, name)(*given)
            return
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(getattr(self._core, name), *given)

    async def awaited(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of work on the loop of the server, whichever loop awaits it."""
        if asyncio.get_running_loop() is self._loop:
            return await work
        return await asyncio.wrap_future(self._begun(work))

    def _made(self, name: str, given: tuple[Any, ...], *, settle: bool) -> Any:
        if threading.get_ident() == self._thread:
            return getattr(self._core, name)(*given)
        taken = threading.Event()
        future = self._begun(self._called(taken, name, given, settle))
        if not taken.wait(BLOCKED_SECONDS) and future.cancel():
            raise RuntimeError("the loop of the server is blocked: await asyncio.to_thread() there, or use in_thread()")
        return future.result()

    async def _called(self, taken: threading.Event, name: str, given: tuple[Any, ...], settle: bool) -> Any:
        taken.set()
        if settle:
            return await self._core.settle_after(name, *given)
        result = getattr(self._core, name)(*given)
        return await result if inspect.iscoroutine(result) else result

    def _begun(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:
            work.close()
            raise RuntimeError("the server is not running") from None
