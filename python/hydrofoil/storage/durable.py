"""The log on a disk: the truth survives the process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hydrofoil import engine
from hydrofoil.clock import Clock
from hydrofoil.complaints import Complaint
from hydrofoil.engine import Change, Checkpoint, ResourceType, Stored, View
from hydrofoil.storage.errors import Conflict, Exists, Missing, Refused, StorageError, Undecided, Unopened, Unsupported
from hydrofoil.storage.local import first_revision
from hydrofoil.storage.log import Guarded, Name, key
from hydrofoil.storage.unreadable import Fault

ALWAYS, NEVER = 0.0, None
"""The interval after which writes are durable at most: before they are acknowledged, or when the system writes them."""


NOT_TAKEN = Complaint("a write was not kept: {}")


class DurableLog:
    """Writes become durable in groups, on a thread of their own; the view has nothing else."""

    direct = True
    is_loaded = True
    at_once = False
    leases = False
    known_revision_timeout = 3.0
    latest_revision_timeout = 3.0
    guarded: Guarded | None = None

    _native: engine.Durable
    _view: View
    _advanced: Callable[[], None]

    def __init__(
        self,
        folder: str,
        interval: float | None = ALWAYS,
        *,
        after: int = 0,
        encryption: engine.Encryption | None = None,
    ) -> None:
        """`after` is below the revisions of a new folder."""
        self._encryption = encryption
        self._folder = folder
        self._interval = interval
        self._after_revision = after
        self._begun: dict[int, asyncio.Future[Stored]] = {}
        """The writes under way, by their numbers."""
        self._writing = False
        """Whether the thread is woken at the end of this turn."""
        self._after: dict[int, list[asyncio.Future[None]]] = {}
        """Writes that are judged after one under way."""

    async def open(self, view: View, clock: Clock, advanced: Callable[[], None]) -> None:
        """Load everything. Raise Unopened."""
        first = max(first_revision(clock), self._after_revision)
        try:
            self._native = await asyncio.to_thread(
                engine.Durable, view, self._folder, first, self._interval, self._encryption
            )
        except engine.DataError as e:
            raise Unopened(str(e)) from None
        if self._encryption is not None or self._native.unread():
            self.guarded = self
        self._view = view
        self._advanced = advanced
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._native.fileno(), self._arrived)

    def follow(self, name: Name, resource: ResourceType) -> None:
        """Return at once: everything was loaded."""

    def started(self) -> None:
        """Do nothing: no collection is loaded."""

    def forget(self, name: Name) -> None:
        """Do nothing: the view has all of the log."""

    def latest(self, name: Name) -> int:
        return self._native.revision

    def catch_up(self) -> bool:
        """Return True: the view has what is acknowledged."""
        return True

    async def ask(self, name: Name) -> int:
        return self._native.revision

    def compact(self) -> None:
        self._view.compact()
        self._native.compact()

    def restore(self, state: Checkpoint) -> int:
        raise Unsupported("a log on a disk does not return to an earlier state: use `hydrofoil data restore`")

    def problem(self) -> str:
        return self._native.problem()

    def unread(self) -> int:
        """Return the number of objects that cannot be decrypted."""
        return self._native.unread()

    def stale(self, change: Change) -> bool:
        return self._native.stale(change)

    def faults(self, name: Name) -> list[Fault]:
        return [Fault._make(found) for found in self._native.faults(key(name))]

    def fault(self, name: Name, of: str) -> Fault | None:
        found = self._native.fault(key(name), of)
        return None if found is None else Fault._make(found)

    async def discard(self, name: Name, of: str, revision: int, resource: ResourceType) -> None:
        shard = self._view.shard(key(name))
        await self._write_by(lambda: self._native.discard(shard, resource, of, revision))

    def read_again(self) -> None:
        """Decrypt objects again that could not be decrypted; those that can become events. Call it off the loop."""
        self._native.read_again()

    async def close(self) -> None:
        """Write what is under way, and release the folder."""
        await asyncio.to_thread(self._native.close)
        self._loop.remove_reader(self._native.fileno())
        self._arrived()

    async def commit(self, change: Change) -> Stored:
        """Write; a refusal that rests on a write under way waits for its outcome, which the view then shows."""
        return await self._write_by(lambda: self._native.submit(change))

    async def _write_by(self, submit: Callable[[], int]) -> Stored:
        while (number := self._submitted(submit)) < 0:
            after = self._loop.create_future()
            self._after.setdefault(-number, []).append(after)
            await after
        begun: asyncio.Future[Stored] = self._loop.create_future()
        self._begun[number] = begun
        if not self._writing:
            # The writes of one turn of the loop are one group, and wake the thread once.
            self._writing = True
            self._loop.call_soon(self._write)
        return await begun

    def _write(self) -> None:
        self._writing = False
        self._native.write()

    @staticmethod
    def _submitted(submit: Callable[[], int]) -> int:
        """Begin a write; return its number, or the negative one of a write to wait for."""
        try:
            return submit()
        except engine.ExistsError:
            raise Exists from None
        except engine.MissingError:
            raise Missing from None
        except engine.ConflictError:
            raise Conflict from None
        except engine.RefusedError as e:
            raise failure(e) from None

    def _arrived(self) -> None:
        outcomes = self._native.outcomes()
        # Events are sent before the answers to the writes that caused them.
        self._advanced()
        for number, stored, refusal in outcomes:
            begun = self._begun.pop(number)
            if not begun.done():
                if stored is not None:
                    begun.set_result(stored)
                elif refusal is not None:
                    begun.set_exception(failure(refusal))
            for after in self._after.pop(number, ()):
                if not after.done():
                    after.set_result(None)


def failure(refusal: engine.RefusedError) -> StorageError:
    """Return the error of a write that the disk did not take, and say so in the log: clients see a 500 alone."""
    if refusal.reason in ("full", "halted", "lost"):
        NOT_TAKEN.say(refusal.message)
    return (Undecided if refusal.reason == "lost" else Refused)(refusal.message)
