"""The storage of an owner, for its workers: their writes are decided here."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

from hydrofoil import engine
from hydrofoil.storage.collection import Collection
from hydrofoil.storage.errors import Conflict, Exists, Missing, Refused, StorageError, Unavailable, Undecided
from hydrofoil.storage.link import Start
from hydrofoil.storage.local import LocalLog
from hydrofoil.storage.storage import Storage

REASONS: dict[type[StorageError], str] = {
    Exists: "exists",
    Missing: "missing",
    Conflict: "conflict",
    Unavailable: "unavailable",
    Undecided: "undecided",
    Refused: "refused",
}
"""The names of outcomes on the way to a worker; others promise nothing."""


class StorageOwner:
    """Publish a storage, and commit the writes of workers."""

    def __init__(self, storage: Storage, region: engine.Region) -> None:
        """Publish a storage that is not open yet. Raise OSError."""
        self._storage = storage
        self.find: Callable[[str], tuple[Collection, engine.ResourceType] | None] = storage.followed
        """Return the collection of a key, and a type of its objects; None if it is not known."""
        self._native = storage.publish(region)
        self._tasks: set[asyncio.Task[None]] = set()
        """The writes under way: the loop holds no task by itself."""

    def start(self) -> None:
        """Take the requests of workers, once the storage is open."""
        log = self._storage.log
        if type(log) is LocalLog:
            # It commits within the call, on the threads of workers: no turn of this loop is needed.
            self._native.commit_to(log.native)
        asyncio.get_running_loop().add_reader(self._native.fileno(), self._asked)

    async def attach(self, slot: int, requests: socket.socket, outcomes: socket.socket) -> Start:
        """Serve the worker of a slot; return what it begins with."""
        return Start(*await asyncio.to_thread(self._native.attach, slot, requests.fileno(), outcomes.fileno()))

    @property
    def asks(self) -> bool:
        """Report whether only a question to the log tells what the latest revision is: others write there, too."""
        return not self._storage.direct

    async def latest_revision(self) -> int:
        """Return the latest revision of the log. Raise Unavailable."""
        return await self._storage.log.ask(("", ""))

    async def detach(self, slot: int) -> None:
        """Forget the worker of a slot, whose process has ended."""
        await asyncio.to_thread(self._native.detach, slot)

    async def close(self) -> None:
        """Take no more requests, and finish those under way."""
        asyncio.get_running_loop().remove_reader(self._native.fileno())
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._native.close()

    def _asked(self) -> None:
        for slot, ticket, resource, _key, _expected, request in self._native.requests():
            task = asyncio.create_task(self._commit(slot, ticket, resource, request), name="commit of a worker")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _commit(self, slot: int, ticket: int, resource: str, request: engine.LinkRequest) -> None:
        revision, reason, message = 0, "", ""
        try:
            found = self.find(resource)
            if found is None:
                raise Unavailable(f"{resource} is not known here yet")
            collection, kind = found
            try:
                change = request.change(collection.shard, kind)
            except engine.ExistsError:
                raise Exists from None
            except engine.MissingError:
                raise Missing from None
            except engine.ConflictError:
                raise Conflict from None
            revision = (await self._storage.log.commit(change)).revision
        except StorageError as e:
            reason, message = next((name for kind, name in REASONS.items() if isinstance(e, kind)), "unknown"), str(e)
        except BaseException as e:
            # The worker learns that nobody knows; the fault is reported by the task.
            self._native.answer(slot, ticket, 0, "unknown", type(e).__name__)
            raise
        self._native.answer(slot, ticket, revision, reason, message)
