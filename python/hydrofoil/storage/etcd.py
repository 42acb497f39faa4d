"""The log in etcd: the truth is shared with other servers, kube-apiserver among them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from itertools import count
from typing import Any

from hydrofoil import engine
from hydrofoil.clock import Clock, Timer
from hydrofoil.engine import Change, Checkpoint, ResourceType, Stored, View
from hydrofoil.storage.errors import (
    Conflict,
    Exists,
    Missing,
    Refused,
    StorageError,
    Unavailable,
    Unknown,
    Unopened,
    Unsupported,
)
from hydrofoil.storage.log import Guarded, Name, key
from hydrofoil.storage.options import StorageOptions
from hydrofoil.storage.unreadable import Fault

LOG = logging.getLogger("hydrofoil")
REPORT_SECONDS = 2.0
"""The time between two lines about the progress of a load."""


class EtcdLog:
    """Writes are transactions; one watch of all keys feeds the view, on a thread of its own."""

    direct = False
    is_loaded = False
    at_once = False
    leases = True
    guarded: Guarded | None = None
    known_revision_timeout = 3.0

    _native: engine.Etcd
    _view: View
    _clock: Clock
    _advanced: Callable[[], None]

    def __init__(
        self,
        options: StorageOptions,
        event_ttl: float,
        latest_revision_timeout: float = 60.0,
        encryption: engine.Encryption | None = None,
    ) -> None:
        """`latest_revision_timeout` is the time of a request: fresh reads wait for etcd as long as that."""
        self.latest_revision_timeout = latest_revision_timeout
        self._options = options
        self._encryption = encryption
        self._event_ttl = event_ttl
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        """Those who wait for writes, loads and questions, by their numbers."""
        self._loading: set[asyncio.Future[None]] = set()
        self._reporting: Timer | None = None
        self._asking: asyncio.Future[int] | None = None
        """The question of this turn of the loop."""

    async def open(self, view: View, clock: Clock, advanced: Callable[[], None]) -> None:
        """Connect. Raise Unopened."""
        given = self._options
        identity = (given.etcd_certfile, given.etcd_keyfile) if given.etcd_certfile else None
        try:
            self._native = await asyncio.to_thread(
                engine.Etcd,
                view,
                clock.native,
                list(given.etcd_servers),
                f"/{given.etcd_prefix.strip('/')}/",
                given.etcd_cafile or None,
                identity,
                self._event_ttl,
                given.etcd_compaction_interval,
                self._encryption,
            )
        except engine.DataError as e:
            raise Unopened(str(e)) from None
        self.guarded = self
        self._view = view
        self._clock = clock
        self._advanced = advanced
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._native.fileno(), self._arrived)

    def _number(self) -> tuple[int, asyncio.Future[Any]]:
        number = next(self._numbers)
        found = self._waiting[number] = self._loop.create_future()
        return number, found

    def follow(self, name: Name, resource: ResourceType) -> asyncio.Future[None]:
        number, loaded = self._number()
        self._native.follow(number, self._view, key(name), resource)
        self._loading.add(loaded)
        loaded.add_done_callback(self._loading.discard)
        if self._reporting is None:
            self._reporting = self._clock.later(REPORT_SECONDS, self._report)
        return loaded

    def _report(self) -> None:
        """Log the progress of long loads."""
        self._reporting = None
        if self._loading:
            LOG.info("%d objects read from etcd, %d collections are incomplete", self._native.read, len(self._loading))
            self._reporting = self._clock.later(REPORT_SECONDS, self._report)

    def forget(self, name: Name) -> None:
        """Do nothing: the watch is of all keys."""

    def latest(self, name: Name) -> None:
        """Return None: only etcd knows."""

    def catch_up(self) -> bool:
        """Return False: only etcd knows."""
        return False

    async def ask(self, name: Name) -> int:
        """Return etcd's revision; those who ask in one turn of the loop share a question."""
        if self._asking is None:
            number, self._asking = self._number()
            self._loop.call_soon(self._ask, number)
        return await asyncio.shield(self._asking)

    def _ask(self, number: int) -> None:
        self._asking = None
        self._native.ask(number)

    def compact(self) -> None:
        self._view.compact()

    def restore(self, state: Checkpoint) -> int:
        raise Unsupported("etcd does not return to an earlier state: restore a snapshot of it")

    def started(self) -> None:
        """End the history that is kept for collections that are followed at the start."""
        self._native.started()

    def problem(self) -> str:
        return self._native.problem()

    def stale(self, change: Change) -> bool:
        return self._native.stale(change)

    def faults(self, name: Name) -> list[Fault]:
        return [Fault._make(found) for found in self._native.faults(key(name))]

    def fault(self, name: Name, of: str) -> Fault | None:
        found = self._native.fault(key(name), of)
        return None if found is None else Fault._make(found)

    async def discard(self, name: Name, of: str, revision: int, resource: ResourceType) -> None:
        number, done = self._number()
        self._native.discard(number, self._view.shard(key(name)), resource, of, revision)
        await done

    async def close(self) -> None:
        """Disconnect. Whether writes under way are done is not known any more."""
        if self._reporting is not None:
            self._reporting.cancel()
        await asyncio.to_thread(self._native.close)
        self._loop.remove_reader(self._native.fileno())
        self._arrived()
        for waiting in self._waiting.values():
            waiting.cancel()
        self._waiting.clear()

    async def commit(self, change: Change) -> Stored:
        number, done = self._number()
        self._native.submit(number, change)
        made: Stored = await done
        return made

    def _arrived(self) -> None:
        outcomes = self._native.outcomes()
        # Events are sent before the answers to the writes that caused them.
        self._advanced()
        for number, stored, revision, failed in outcomes:
            waiting = self._waiting.pop(number)
            if waiting.done():
                continue
            if failed is not None:
                waiting.set_exception(failure(failed))
            else:
                waiting.set_result(stored or revision)


def failure(refusal: engine.RefusedError) -> StorageError:
    """Return the error of a write that etcd did not do, or may not have done."""
    match refusal.reason:
        case "exists":
            return Exists()
        case "missing":
            return Missing()
        case "conflict":
            return Conflict()
        case "refused":
            return Refused(refusal.message)
        case "unavailable":
            return Unavailable(refusal.message)
        case _:
            return Unknown(refusal.message)
