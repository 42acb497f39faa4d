"""The owner's side of worker processes: their start, what they ask, and their deaths."""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import signal
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hydrofoil import engine
from hydrofoil.audit.log import File
from hydrofoil.audit.options import AuditOptions
from hydrofoil.audit.service import open_log
from hydrofoil.clock import Clock, machine_seconds, stopwatch
from hydrofoil.registry.store import Registry
from hydrofoil.server.listening import Listener, StartError
from hydrofoil.server.workers import process
from hydrofoil.server.workers.audit_file import CommonFile
from hydrofoil.server.workers.channel import Channel, Message
from hydrofoil.server.workers.connections import Dispatcher, Place
from hydrofoil.server.workers.metrics import ServerMetrics
from hydrofoil.server.workers.process import Ends
from hydrofoil.storage.collection import Collection
from hydrofoil.storage.errors import StorageError
from hydrofoil.storage.link import Start
from hydrofoil.storage.log import key as key_of
from hydrofoil.storage.owner import StorageOwner
from hydrofoil.storage.storage import Storage

LOG = logging.getLogger("hydrofoil")
START_SECONDS = 60.0
"""The time that the first workers have to start."""
SCRAPE_SECONDS = 2.0
"""The time that a worker has to tell its metrics: its latest ones count else."""
STOP_SECONDS = 6.0
"""The time that workers have to finish open requests; they take less by themselves."""
SETTLED_SECONDS = 5.0
"""A worker that lives as long as this is started again at once when it ends; others after a wait that doubles."""
WAITS = (0.0, 0.1, 0.2, 0.4, 0.8)
PROBLEM_SECONDS = 0.5
"""The time between two looks at the problem of the log, which the health of workers shows."""
Scrape = Callable[[], Awaitable[bytes]]


class Beginning(Struct, frozen=True):
    """What a worker is told at its start."""

    config: Any
    host: str
    port: int
    unix: str
    start: Start
    signing_key: bytes
    """The key of service account tokens that all processes have, in PEM."""
    asks: bool
    """Whether the owner must ask for the latest revision."""


class Member:
    """One worker."""

    def __init__(self, slot: int, pid: int, ends: Ends) -> None:
        self.place = Place(slot, ends.connections)
        self.slot = slot
        self.pid = pid
        self.ends = ends
        self.channel: Channel | None = None
        self.is_ready = False
        self.began = stopwatch()
        self.metrics = ""
        """Its latest metrics."""
        self.ended = asyncio.Event()


def find_collection(registry: Registry, key: str) -> tuple[Collection, engine.ResourceType] | None:
    """Return the collection of a key of the storage, and a type of its objects; None if it is not served here."""
    if (found := registry.storage.followed(key)) is not None:
        return found
    served = next((r for r in registry.catalog.resources() if key_of(r.storage) == key), None)
    return None if served is None else (registry.collection(served), served.native)


class Crew:
    """The workers of one server."""

    def __init__(self, count: int, command: Sequence[str], work: Callable[[int, Ends, int], int]) -> None:
        """Fork the first workers, each of which does `work`; `command` begins a later one. Raise StartError.

        No thread of this process has started yet: a fork copies none.
        """
        try:
            self.region = engine.Region()
        except OSError as e:
            raise StartError(f"--workers needs memory that processes share: {os.strerror(e.errno or 0)}") from None
        self._command = command
        self._members: dict[int, Member] = {}
        first: list[tuple[int, int, Ends]] = []
        for slot in range(1, count + 1):
            ours, theirs = process.pair_of_ends()
            others = [ours, *(ends for _, _, ends in first)]
            pid = process.fork(partial(work, slot, theirs, self.region.fileno()), others)
            theirs.close()
            first.append((slot, pid, ours))
        self._first = first
        self._storage: StorageOwner | None = None
        self._beginning: Beginning | None = None
        self._dispatcher: Dispatcher | None = None
        self._has_objects = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closing = False
        self._metrics = ServerMetrics()
        self._failures = 0
        """How many workers have ended soon after their start, one after the other."""
        self._changed = asyncio.Event()
        """Set when a worker is ready, or has ended."""
        self._problem = ""
        self.signing_key = engine.new_authority(machine_seconds())[1].encode()
        self._own: tuple[Scrape, Callable[[], None]] | None = None
        """What returns the metrics of this process, and what resets them."""
        self._audit_file: CommonFile | None = None
        """The audit log, if there is one."""

    def open_audit_file(self, options: AuditOptions, clock: Clock) -> File:
        """Open the audit log for all processes. Raise ValueError with one line."""
        self._audit_file = CommonFile(open_log(options, clock))
        return self._audit_file

    def include(self, scrape: Scrape, reset: Callable[[], None]) -> None:
        """Add the metrics of this process to those of the server."""
        self._own = scrape, reset

    def publish(self, storage: Storage, config: Any, listener: Listener) -> None:
        """Publish a storage that is not open yet; clients find the server by the listener. Raise OSError."""
        owner = self._storage = StorageOwner(storage, self.region)
        place = listener.host, listener.port, listener.unix
        self._beginning = Beginning(config, *place, Start(0, 0, 0, [], []), self.signing_key, owner.asks)

    async def begin(self, registry: Registry) -> None:
        """Let the workers load the storage, which is open, and start."""
        assert self._storage is not None
        problem = registry.storage.problem
        self._storage.find = partial(find_collection, registry)
        self._storage.start()
        self._ask_problem = problem
        for slot, pid, ends in self._first:
            await self._add(slot, pid, ends)
        self._first = []
        self._spawn_task(self._tell_problems(), "the health of workers")

    async def serve(self, listener: socket.socket) -> None:
        """Let workers answer: the first objects exist. Return once all do. Raise StartError."""
        self._has_objects = True
        for member in self._members.values():
            if member.channel is not None:
                member.channel.send("objects")
        try:
            async with asyncio.timeout(START_SECONDS):
                while not self._failures and not all(member.is_ready for member in self._members.values()):
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            self._failures += 1
        if self._failures:
            raise StartError("a worker did not start: its log says why")
        self._dispatcher = Dispatcher(listener, self.region, self._places)
        self._dispatcher.start()

    def close_port(self) -> None:
        """Accept no more clients."""
        if self._dispatcher is not None:
            self._dispatcher.close()

    async def end_workers(self) -> None:
        """Let workers finish open requests, and end them."""
        self._closing = True
        self.close_port()
        members = list(self._members.values())
        for member in members:
            if member.channel is not None:
                member.channel.send("stop")
            else:
                os.kill(member.pid, signal.SIGKILL)
        for _, pid, ends in self._first:
            # They were never told anything, and end with the ends.
            ends.close()
            os.kill(pid, signal.SIGKILL)
        self._first = []
        if members:
            await asyncio.wait([asyncio.ensure_future(m.ended.wait()) for m in members], timeout=STOP_SECONDS)
        for member in list(self._members.values()):
            os.kill(member.pid, signal.SIGKILL)
            await member.ended.wait()

    async def close(self) -> None:
        """End the workers, however far their start got, and take no more of their writes."""
        await self.end_workers()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._storage is not None:
            await self._storage.close()

    async def metrics(self) -> bytes:
        """Return the metrics of the whole server: those of all processes, as one."""
        members = [member for member in self._members.values() if member.is_ready]
        await asyncio.gather(*map(self._scrape, members))
        texts = [member.metrics for member in members]
        if self._own is not None:
            texts.insert(0, (await self._own[0]()).decode())
        return (await asyncio.to_thread(self._metrics.merge, texts)).encode()

    def _places(self) -> Iterable[Place]:
        return [member.place for member in self._members.values() if member.is_ready]

    def _spawn_task(self, work: Any, name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _add(self, slot: int, pid: int, ends: Ends) -> None:
        """Begin a worker whose process runs."""
        assert self._storage is not None
        assert self._beginning is not None
        member = self._members[slot] = Member(slot, pid, ends)
        loop = asyncio.get_running_loop()
        descriptor = os.pidfd_open(pid)
        loop.add_reader(descriptor, self._ended, member, descriptor)
        start = await self._storage.attach(slot, ends.requests, ends.outcomes)
        # The extension has duplicates.
        ends.requests.close()
        ends.outcomes.close()
        if self._audit_file is None:
            ends.audit.close()
        else:
            self._audit_file.serve(ends.audit)
        member.channel = await Channel.open(ends.channel)
        member.channel.send("begin", pickle.dumps(replace(self._beginning, start=start)))
        if self._has_objects:
            member.channel.send("objects")
        if self._problem:
            member.channel.send("problem", self._problem.encode())
        self._spawn_task(self._listen(member, member.channel), f"worker {slot}")

    async def _listen(self, member: Member, channel: Channel) -> None:
        while (message := await channel.receive()) is not None:
            if message.kind == "ready":
                member.is_ready = True
                self._failures = 0
                self._changed.set()
            elif message.kind == "revision":
                self._spawn_task(self._answer_revision(channel, message), "the latest revision")
            elif message.kind == "metrics":
                self._spawn_task(self._answer_metrics(channel, message), "metrics of all workers")
            elif message.kind == "reset":
                self._reset()
                channel.send("answer", b"", message.number)
        channel.close()

    async def _answer_revision(self, channel: Channel, message: Message) -> None:
        assert self._storage is not None
        try:
            revision = await self._storage.latest_revision()
        except StorageError:
            # The worker's reader waits as long as one of the owner would.
            return
        channel.send("answer", revision.to_bytes(8, "little"), message.number)

    async def _answer_metrics(self, channel: Channel, message: Message) -> None:
        channel.send("answer", await self.metrics(), message.number)

    async def _scrape(self, member: Member) -> None:
        if member.channel is None:
            return
        try:
            async with asyncio.timeout(SCRAPE_SECONDS):
                member.metrics = (await member.channel.ask("scrape")).decode()
        except (TimeoutError, ConnectionError):
            # What it has told before still counts: nothing goes back.
            return

    def _reset(self) -> None:
        self._metrics.reset()
        if self._own is not None:
            self._own[1]()
        for member in self._members.values():
            member.metrics = ""
            if member.channel is not None:
                member.channel.send("reset")

    def _ended(self, member: Member, descriptor: int) -> None:
        """Bury a worker, and begin another in its place."""
        asyncio.get_running_loop().remove_reader(descriptor)
        os.close(descriptor)
        _, status = os.waitpid(member.pid, 0)
        member.is_ready = False
        member.ends.connections.close()
        self._members.pop(member.slot, None)
        member.ended.set()
        if self._closing:
            return
        code = os.waitstatus_to_exitcode(status)
        why = f"signal {-code}" if code < 0 else f"exit code {code}"
        LOG.error("worker %d (pid %d) has ended: %s", member.slot, member.pid, why)
        if stopwatch() - member.began < SETTLED_SECONDS:
            self._failures += 1
            self._changed.set()
        self._spawn_task(self._replace(member), f"a worker after {member.slot}")

    async def _replace(self, member: Member) -> None:
        assert self._storage is not None
        if member.metrics:
            await asyncio.to_thread(self._metrics.bury, member.metrics)
        await self._storage.detach(member.slot)
        await asyncio.sleep(WAITS[min(self._failures, len(WAITS) - 1)])
        if self._closing:
            return
        ours, theirs = process.pair_of_ends()
        try:
            pid = process.spawn(self._command, member.slot, theirs, self.region.fileno())
        except OSError as e:
            LOG.error("no worker can be started: %s", e.strerror)
            ours.close()
            self._failures += 1
            self._spawn_task(self._replace(member), f"a worker after {member.slot}")
            return
        finally:
            theirs.close()
        await self._add(member.slot, pid, ours)

    async def _tell_problems(self) -> None:
        """Let the health of each worker show what is wrong with the log."""
        while True:
            problem = self._ask_problem()
            if problem != self._problem:
                self._problem = problem
                for member in self._members.values():
                    if member.channel is not None:
                        member.channel.send("problem", problem.encode())
            await asyncio.sleep(PROBLEM_SECONDS)
