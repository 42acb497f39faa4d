"""The log of a worker, and its owner in the same process."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from hydrofoil import engine
from hydrofoil.clock import Clock
from hydrofoil.engine import View
from hydrofoil.storage.link import Link, LinkLog
from hydrofoil.storage.log import Log
from hydrofoil.storage.owner import StorageOwner
from hydrofoil.storage.storage import Storage


class Owner:
    """A storage with workers."""

    def __init__(self, log: Log, **limits: Any) -> None:
        self.region = engine.Region()
        self.storage = Storage(log, Clock(), **limits)
        self.owner = StorageOwner(self.storage, self.region)
        self.slots = iter(range(1, 64))
        self.lost: list[str] = []

    async def open(self) -> None:
        await self.storage.open()
        self.owner.start()

    async def link(self) -> LinkLog:
        """Return the log of a new worker."""
        slot = next(self.slots)
        ours, theirs = socket.socketpair()
        answers, outcomes = socket.socketpair()
        start = await self.owner.attach(slot, ours, answers)
        for end in (ours, answers):
            end.close()
        region = engine.Region.open(self.region.fileno(), slot)
        return LinkLog(Link(region, start, theirs, outcomes), self.lost.append)

    async def close(self) -> None:
        await self.owner.close()
        await self.storage.close()


class LinkedLog(LinkLog):
    """A worker's log that opens and closes its owner, too."""

    def __init__(self, log: Log) -> None:
        self._owner = Owner(log)

    async def open(self, view: View, clock: Clock, advanced: Callable[[], None]) -> None:
        await self._owner.open()
        made = await self._owner.link()
        self.__dict__.update({**made.__dict__, "_owner": self._owner})
        await super().open(view, clock, advanced)

    def follow(self, name: tuple[str, str], resource: engine.ResourceType) -> None:
        # Every server follows the same collections.
        self._owner.storage.collection(name, resource)

    async def close(self) -> None:
        await super().close()
        await self._owner.close()
