"""The log of a worker: the truth is another process's, which publishes it in memory that both map."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from itertools import count

from msgspec import Struct

from hydrofoil import engine
from hydrofoil.clock import Clock
from hydrofoil.engine import Change, Checkpoint, ResourceType, Stored, View
from hydrofoil.storage.errors import StorageError, Unavailable, Undecided, Unknown, Unsupported
from hydrofoil.storage.etcd import failure
from hydrofoil.storage.log import Guarded, Name

MOST_RECORDS = 1000
"""The number of published changes that are applied within a turn of the loop: some microseconds each."""
OWNER_GONE = "the process that owns the objects has ended"


class Start(Struct, frozen=True):
    """What a worker begins with: a place in the feed, the begin of new histories, the time of the state in nanoseconds,
    the names of collections, and the places of their objects."""

    cursor: int
    base: int
    running: int
    names: list[str]
    lists: list[int]


class Link(Struct, frozen=True):
    """The ends of one worker: the memory, and two sockets."""

    region: engine.Region
    start: Start
    requests: socket.socket
    outcomes: socket.socket


class LinkLog:
    """Writes are requests to the owner; its feed is applied by a thread, and by whoever must see all of it at once."""

    direct = False
    is_loaded = True
    at_once = False
    leases = True
    """The owner ends events, whatever its own log is."""
    guarded: Guarded | None = None
    known_revision_timeout = 3.0
    latest_revision_timeout = 3.0

    _native: engine.LinkWorker
    _view: View
    _advanced: Callable[[], None]

    def __init__(
        self,
        link: Link,
        lost: Callable[[str], None],
        problem: Callable[[], str] = str,
        question: Callable[[], Awaitable[int]] | None = None,
    ) -> None:
        """Call `lost` with a line when the worker cannot go on; `problem` returns that of the owner's log.

        `question` asks the owner for the latest revision, where others write to its log, too.
        """
        self._question = question
        self._asking: asyncio.Future[int] | None = None
        """The question of this turn of the loop."""
        self._link = link
        self._lost = lost
        self.problem = problem
        self._numbers = count(1)
        self._writes: dict[int, asyncio.Future[Stored]] = {}
        self._sending = False
        """Whether the writes of this turn of the loop are sent at its end."""
        self._blocked = False
        """Whether the rest is sent once the owner has read what is there."""

    async def open(self, view: View, clock: Clock, advanced: Callable[[], None]) -> None:
        """Load everything that the owner has."""
        link, self._view, self._advanced = self._link, view, advanced
        start = link.start
        self._native = await asyncio.to_thread(
            engine.LinkWorker,
            link.region,
            view,
            (start.cursor, start.base, start.running, start.names, start.lists),
            link.requests.fileno(),
            link.outcomes.fileno(),
        )
        # The native ends are duplicates.
        link.requests.close()
        link.outcomes.close()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._native.fileno(), self._arrived)

    def follow(self, name: Name, resource: ResourceType) -> None:
        """Return at once: the view has all that is published."""

    def started(self) -> None:
        """Do nothing: no collection is loaded."""

    def forget(self, name: Name) -> None:
        """Do nothing: the feed has everything."""

    def latest(self, name: Name) -> int | None:
        """Return the published revision, where the view is unless it is far behind; None where the owner must ask."""
        if self._question is not None:
            return None
        revision = self._native.revision
        if not self.catch_up():
            self._native.await_revision(revision)
        return revision

    def catch_up(self) -> bool:
        native = self._native
        if native.catch_up(0):
            return self._question is None
        current = native.catch_up(MOST_RECORDS)
        self._advanced()
        if native.is_lapped:
            self._lost("the owner's changes have passed this worker by")
        return current and self._question is None

    async def ask(self, name: Name) -> int:
        """Return the revision that the owner's log is at; those who ask in one turn of the loop share a question."""
        if self._question is None:
            return self._native.revision
        if self._asking is None:
            self._asking = asyncio.ensure_future(self._question())
            self._loop.call_soon(self._end_question)
        try:
            revision = await asyncio.shield(self._asking)
        except ConnectionError:
            raise Unavailable(OWNER_GONE) from None
        self._native.await_revision(revision)
        self.catch_up()
        return revision

    def _end_question(self) -> None:
        """Let later readers ask again: writes may have been acknowledged meanwhile."""
        self._asking = None

    def compact(self) -> None:
        """End the history of this view: each worker has its own."""
        self._view.compact()

    def restore(self, state: Checkpoint) -> int:
        raise Unsupported("the objects are the owner's")

    async def close(self) -> None:
        """Leave the owner. Whether writes under way are done is not known any more."""
        self._loop.remove_reader(self._native.fileno())
        if self._blocked:
            self._loop.remove_writer(self._native.requests_fileno())
        await asyncio.to_thread(self._native.close)
        self._give_up(Unknown(OWNER_GONE))

    async def commit(self, change: Change) -> Stored:
        number = next(self._numbers)
        done: asyncio.Future[Stored] = self._loop.create_future()
        self._writes[number] = done
        self._native.submit(number, change)
        if not self._sending and not self._blocked:
            # The writes of one turn of the loop are sent together.
            self._sending = True
            self._loop.call_soon(self._send)
        return await done

    def _send(self) -> None:
        self._sending = False
        try:
            sent = self._native.send()
        except OSError:
            self._owner_ended()
            return
        if sent == self._blocked:
            self._blocked = not sent
            if sent:
                self._loop.remove_writer(self._native.requests_fileno())
            else:
                self._loop.add_writer(self._native.requests_fileno(), self._send)

    def _arrived(self) -> None:
        try:
            outcomes = self._native.outcomes()
        except OSError:
            self._owner_ended()
            return
        # Events are sent before the answers to the writes that caused them.
        self._advanced()
        for number, stored, refusal in outcomes:
            done = self._writes.pop(number)
            if done.done():
                continue
            if stored is not None:
                done.set_result(stored)
            elif refusal is not None:
                done.set_exception(outcome_error(refusal))

    def _owner_ended(self) -> None:
        self._loop.remove_reader(self._native.fileno())
        self._give_up(Unavailable(OWNER_GONE))
        self._lost(OWNER_GONE)

    def _give_up(self, why: StorageError) -> None:
        writes, self._writes = self._writes, {}
        for done in writes.values():
            if not done.done():
                done.set_exception(why)


def outcome_error(refusal: engine.RefusedError) -> StorageError:
    """Return the error of a write that the owner did not do, or may not have done."""
    return Undecided(refusal.message) if refusal.reason == "undecided" else failure(refusal)
