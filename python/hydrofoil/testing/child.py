"""The process of a test server: it answers calls of its parent, and ends with it."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
import pickle
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from hydrofoil import __version__
from hydrofoil.testing import wire
from hydrofoil.testing.core import Core
from hydrofoil.testing.options import parse


class Child:
    """One server, and the calls of its parent."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._core: Core | None = None
        self._running: dict[int, asyncio.Task[None]] = {}

    async def _message(self) -> Any:
        (size,) = wire.LENGTH.unpack(await self._reader.readexactly(wire.LENGTH.size))
        return pickle.loads(await self._reader.readexactly(size))

    async def run(self) -> None:
        """Answer calls until the parent has gone."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                number, name, given = await self._message()
                if name == "cancel":
                    if (task := self._running.get(given[0])) is not None:
                        task.cancel()
                    continue
                task = asyncio.create_task(self._answer(number, name, given))
                self._running[number] = task
                task.add_done_callback(partial(self._done, number))
        for task in list(self._running.values()):
            task.cancel()
        if self._core is not None:
            await self._core.stop()

    def _done(self, number: int, _: asyncio.Task[None]) -> None:
        self._running.pop(number, None)

    async def _answer(self, number: int, name: str, given: tuple[Any, ...]) -> None:
        try:
            answer = True, await self._called(name, given)
        except Exception as e:
            answer = False, wire.failure(e)
        if number:
            self._writer.write(wire.pack((number, *answer)))

    async def _called(self, name: str, given: tuple[Any, ...]) -> Any:
        if name == "version":
            return __version__
        if name == "start":
            self._core = Core(parse(given[0]))
            return await self._core.start()
        if self._core is None:
            raise RuntimeError("the server is not running")
        if name == "settled":
            return await self._core.settle_after(*given)
        result = getattr(self._core, name)(*given)
        return await result if inspect.isawaitable(result) else result


async def serve(descriptor: int, parent: int) -> None:
    """Answer the calls on a socket, until its other end is closed or the parent has gone."""
    connection = socket.socket(fileno=descriptor)
    reader, writer = await asyncio.open_connection(sock=connection, limit=1 << 20)
    with watch_parent(parent, reader.feed_eof):
        await Child(reader, writer).run()
    writer.close()


@contextlib.contextmanager
def watch_parent(parent: int, gone: Callable[[], None]) -> Iterator[None]:
    """Call `gone` when the parent ends: other processes that it forked may keep the other end of the socket open."""
    descriptor = -1
    try:
        # The command of another environment may have a program in between.
        descriptor = os.pidfd_open(parent)
    except ProcessLookupError:
        gone()
    except (AttributeError, OSError):
        # Not on Linux.
        if os.getppid() != parent:
            gone()
    loop = asyncio.get_running_loop()

    def ended() -> None:
        loop.remove_reader(descriptor)
        gone()

    if descriptor >= 0:
        loop.add_reader(descriptor, ended)
    try:
        yield
    finally:
        if descriptor >= 0:
            loop.remove_reader(descriptor)
            os.close(descriptor)


def main(words: Sequence[str]) -> None:
    """Serve the parent, by descriptor and process id; its interrupts are its own."""
    import uvloop

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(*map(int, words)))
