"""The events of a resource that another server holds, as a reflector of client-go gets them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import NamedTuple

from hydrofoil.aggregation.content import RemoteContent
from hydrofoil.aggregation.remote import Metadata, Remote, RemoteClient
from hydrofoil.clock import Clock
from hydrofoil.errors import ApiError
from hydrofoil.pace.pacer import Pacer
from hydrofoil.pool import RETRY_SECONDS, keep_running
from hydrofoil.request import User

LOG = logging.getLogger("hydrofoil")


class Receiver(NamedTuple):
    """The functions of a controller that take events."""

    event: Callable[[Remote, str, Metadata], None]
    """Take an object of a list, as ADDED, or an event of a watch."""
    replace: Callable[[Remote, set[str]], None]
    """Take the uids of a whole list: all others are gone."""
    forget: Callable[[tuple[str, str]], None]
    """Drop what is known of a resource that no server has any more, by its storage."""


class RemoteSources:
    """The resources behind API services whose objects a controller follows."""

    def __init__(self, remote: RemoteContent, user: User, clock: Clock, receiver: Receiver) -> None:
        self._remote = remote
        self._user = user
        self._clock = clock
        self._receiver = receiver
        self._all: dict[tuple[str, str], RemoteSource] = {}

    def discover(self) -> None:
        """Follow the present resources, in the versions that their servers have now."""
        present = {remote.storage: remote for remote in self._remote.collected()}
        for storage, source in list(self._all.items()):
            if present.get(storage) != source.resource:
                self._all.pop(storage).end()
            if storage not in present:
                self._receiver.forget(storage)
        for storage, remote in present.items():
            if storage not in self._all:
                self._all[storage] = RemoteSource(remote, self._remote.client, self._user, self._clock, self._receiver)

    async def stop(self) -> None:
        """End all, and wait for their ends."""
        ending = [source.end() for source in self._all.values()]
        self._all.clear()
        await asyncio.gather(*ending, return_exceptions=True)


class RemoteSource:
    """Follow the objects of a resource: a list, watches after it, and a list again after an error."""

    def __init__(self, resource: Remote, client: RemoteClient, user: User, clock: Clock, receiver: Receiver) -> None:
        self.resource = resource
        self._client = client
        self._user = user
        self._clock = clock
        self._receiver = receiver
        self._task = asyncio.create_task(keep_running(self._follow, f"watching {resource.plural}", clock))

    def end(self) -> asyncio.Task[None]:
        """End it; return the task that then ends."""
        self._task.cancel()
        return self._task

    async def _follow(self) -> None:
        while True:
            try:
                version = await self._list()
                while version:
                    version = await self._watch(version)
                    # A server whose watches end at once gets no storm of them.
                    await self._clock.machine.sleep(RETRY_SECONDS)
            except ApiError as e:
                LOG.info("watching %s of %s: %s", self.resource.plural, self.resource.api_version, e.message)
            await self._clock.machine.sleep(RETRY_SECONDS)

    async def _list(self) -> str:
        version, found = await self._client.items(self.resource, "", self._user)
        pacer, present = Pacer(), set[str]()
        for metadata in found:
            if self._tell("ADDED", metadata):
                present.add(str(metadata["uid"]))
            await pacer.pause()
        self._receiver.replace(self.resource, present)
        return version

    async def _watch(self, version: str) -> str:
        """Pass on the events of one watch; return the version at its end."""
        pacer = Pacer()
        async for kind, metadata in self._client.watch(self.resource, version, self._user):
            version = str(metadata.get("resourceVersion") or version)
            if kind != "BOOKMARK":
                self._tell(kind, metadata)
            await pacer.pause()
        return version

    def _tell(self, kind: str, metadata: Metadata) -> bool:
        """Pass on an event; report whether the object has a uid, without which it has no place in the graph."""
        if not metadata.get("uid"):
            return False
        self._receiver.event(self.resource, kind, metadata)
        return True
