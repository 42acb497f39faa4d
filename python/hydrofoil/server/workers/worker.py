"""A worker: a server whose objects are another process's, and whose clients are handed to it."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import pickle
import signal
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from hydrofoil import engine
from hydrofoil.server.workers.channel import Channel
from hydrofoil.server.workers.connections import Receiver
from hydrofoil.server.workers.end import WorkerEnd
from hydrofoil.server.workers.process import Ends
from hydrofoil.storage.link import Link, LinkLog

if TYPE_CHECKING:
    from hydrofoil.server.run import Server
    from hydrofoil.server.workers.crew import Beginning

LOG = logging.getLogger("hydrofoil")


class NumberFilter(logging.Filter):
    """Add the number of the worker to every line of its log."""

    def __init__(self, slot: int) -> None:
        super().__init__()
        self._slot = slot

    def filter(self, record: logging.LogRecord) -> bool:
        """Let the record pass."""
        record.fields = {**getattr(record, "fields", {}), "worker": self._slot}
        return True


def run(slot: int, ends: Ends, region: int, configure: Callable[[Beginning], None] = lambda _: None) -> int:
    """Work until the owner says that it is over; return the exit code. `configure` sets up the log of a process that
    is no copy of the owner."""
    import uvloop

    # The owner decides what an interrupt of the whole group means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work(slot, ends, region, configure))


async def work(slot: int, ends: Ends, region_file: int, configure: Callable[[Beginning], None]) -> int:
    """Serve until the owner says that it is over, or has ended."""
    from hydrofoil.server.run import Server

    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(2, thread_name_prefix="encode"))
    channel = await Channel.open(ends.channel)
    message = await channel.receive()
    if message is None:
        return 1
    beginning: Beginning = pickle.loads(message.body)
    configure(beginning)
    for handler in logging.getLogger().handlers:
        handler.addFilter(NumberFilter(slot))
    region = engine.Region.open(region_file, slot)
    end = WorkerEnd(region, channel, Receiver(ends.connections, region), beginning, ends.audit)
    link = Link(region, beginning.start, ends.requests, ends.outcomes)
    log = LinkLog(link, leave, lambda: end.problem, end.latest_revision if beginning.asks else None)
    server = Server(beginning.config, log, worker=end)
    stopping = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stopping.set)
    listening = asyncio.create_task(listen(channel, end, server, stopping), name="the owner's messages")
    await server.start()
    gc.freeze()
    gc.enable()
    channel.send("ready")
    await stopping.wait()
    await server.stop()
    listening.cancel()
    return 0


async def listen(channel: Channel, end: WorkerEnd, server: Server, stopping: asyncio.Event) -> None:
    """Do what the owner says; end at once when it has ended."""
    while (message := await channel.receive()) is not None:
        if message.kind == "objects":
            end.has_objects.set()
        elif message.kind == "problem":
            end.problem = message.body.decode()
        elif message.kind == "scrape":
            channel.send("answer", await server.app.core.metrics.text(), message.number)
        elif message.kind == "reset":
            server.app.core.memos.forget()
            server.app.core.metrics.reset()
        elif message.kind == "stop":
            stopping.set()
    if not stopping.is_set():
        leave("the process that owns the objects has ended")


def leave(why: str) -> None:
    """End this process at once: what it could still answer would be out of date."""
    LOG.error("%s", why)
    os._exit(1)


def ends_of(descriptors: list[int]) -> Ends:
    """Return the sockets of descriptors that were passed to this process."""
    return Ends(*(socket.socket(fileno=descriptor) for descriptor in descriptors))
