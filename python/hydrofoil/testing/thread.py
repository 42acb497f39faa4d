"""A server with a loop in a thread of its own."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Self

from hydrofoil.testing.core import Core
from hydrofoil.testing.options import parse
from hydrofoil.testing.remote_server import RemoteServer
from hydrofoil.testing.snapshot import own_state


class InThread:
    """Calls on the loop of another thread; on that thread itself they are direct."""

    def __init__(self, loop: asyncio.AbstractEventLoop, thread: threading.Thread, core: Core) -> None:
        self._loop = loop
        self._thread = thread
        self._core = core

    def begin(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        """Begin work on the loop. Raise RuntimeError if it is closed."""
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:
            work.close()
            raise RuntimeError("the server is not running") from None

    def call(self, name: str, *given: Any) -> Any:
        """Return the result of a plain call."""
        if threading.current_thread() is self._thread:
            return getattr(self._core, name)(*given)
        return self.begin(self._called(name, given)).result()

    async def _called(self, name: str, given: tuple[Any, ...]) -> Any:
        result = getattr(self._core, name)(*given)
        return await result if inspect.iscoroutine(result) else result

    def settled(self, name: str, *given: Any) -> Any:
        """Return the result of a plain call, once the controllers have done their work."""
        if threading.current_thread() is self._thread:
            return getattr(self._core, name)(*given)
        return self.begin(self._core.settle_after(name, *given)).result()

    def post(self, name: str, *given: Any) -> None:
        """Make a plain call without waiting for it."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(getattr(self._core, name), *given)


class ThreadServer(RemoteServer):
    """A server in a thread: `with Server.in_thread() as server`."""

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(options)
        self._lock = threading.Lock()
        """Held over a start or a stop: two threads that start one server get the same one."""
        self._thread: threading.Thread | None = None
        self._calls: InThread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> Self:
        """Start. Raise StartError with one line."""
        with self._lock:
            if self._thread is not None:
                return self
            core = Core(parse(own_state(self._options)))
            loop = _new_loop()
            loop.set_default_executor(ThreadPoolExecutor(2, thread_name_prefix="hydrofoil-encode"))
            thread = threading.Thread(target=_run, args=(loop,), name="hydrofoil", daemon=True)
            thread.start()
            calls = InThread(loop, thread, core)
            try:
                facts = calls.begin(core.start()).result()
            except BaseException:
                _end(loop, thread)
                raise
            self._thread, self._loop, self._calls = thread, loop, calls
            self._core = core
            self._begin(calls, facts)
        return self

    def stop(self) -> None:
        """Stop; again is no error."""
        with self._lock:
            thread, self._thread = self._thread, None
            if thread is None or self._calls is None or self._loop is None:
                return
            self._end()
            try:
                self._calls.begin(self._core.stop()).result()
            finally:
                _end(self._loop, thread)

    def begin(self, name: str, *given: Any) -> Future[Any]:
        """Begin a call of the core that takes time."""
        if self._calls is None or self._thread is None:
            raise RuntimeError("the server is not running")
        return self._calls.begin(getattr(self._core, name)(*given))


def _new_loop() -> asyncio.AbstractEventLoop:
    import uvloop

    return uvloop.new_event_loop()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
        asyncio.set_event_loop(None)
        loop.close()


def _end(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
