"""Discovery and OpenAPI documents of the services behind API services, refreshed while these are registered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from functools import partial
from typing import Any

from hydrofoil.aggregation import fetch
from hydrofoil.aggregation.backends import Backends
from hydrofoil.aggregation.registrations import Registrations
from hydrofoil.apis.registration import Registration, Service
from hydrofoil.clock import Clock
from hydrofoil.outbound.trust import Unreachable
from hydrofoil.pool import keep_running

LOG = logging.getLogger("hydrofoil")
REFRESH_SECONDS = 60.0
"""The interval between refreshes."""
RETRY_SECONDS = 0.5
"""The first delay after a failure; it doubles up to the interval of refreshes."""
Object = dict[str, Any]


class Documents:
    """The documents of services, as each reports them."""

    def __init__(self, registrations: Registrations, backends: Backends, clock: Clock) -> None:
        self._registrations = registrations
        self._backends = backends
        self._clock = clock
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._events: dict[str, asyncio.Event] = {}
        self._openapi: dict[str, Object] = {}
        """The OpenAPI v3 documents of each: path below `/openapi/v3` -> entry of the index."""
        self._swagger: dict[str, Object] = {}
        """The OpenAPI v2 document of each."""
        self.changes = 0
        """A count that grows with each change of these."""
        if registrations.calls:
            registrations.listeners.append(self._registered)

    async def close(self) -> None:
        """Stop the refreshes."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._backends.keep(())

    def openapi_of(self, registered: Registration) -> Object:
        """Return the OpenAPI documents of a registered group version."""
        own = registered.path.lstrip("/")
        return {name: entry for name, entry in self._openapi.get(registered.name, {}).items() if name == own}

    def openapi_index(self) -> Object:
        """Return the entries of the OpenAPI v3 documents of all services."""
        return {name: entry for r in self._registrations.remote.values() for name, entry in self.openapi_of(r).items()}

    def swaggers(self) -> list[tuple[str, Object]]:
        """Return the OpenAPI v2 documents of all services, each with its path prefix."""
        order = sorted(self._registrations.remote.values(), key=lambda r: (-r.group_priority, r.name))
        return [(f"{r.path}/", self._swagger[r.name]) for r in order if r.name in self._swagger]

    def serves(self, group: str, version: str) -> bool:
        """Report whether a service serves a group version."""
        return (group, version) in self._registrations.remote

    async def schemas(self, group: str, version: str, user: str) -> bytes:
        """Return the OpenAPI v3 document of a group version that a service serves; an empty one if it has none."""
        registered = self._registrations.remote.get((group, version))
        if registered is None or registered.service is None:
            return b"{}"
        try:
            return await fetch.schemas(self._backends, registered, registered.service, user) or b"{}"
        except Unreachable as e:
            LOG.info("schemas of %s: %s", registered.name, e)
            return b"{}"

    def resources(self) -> Iterator[tuple[str, str, list[Object]]]:
        """Yield group, version and the resources that its service reports, for each that a service serves."""
        for (group, version), registered in self._registrations.remote.items():
            yield group, version, self._registrations.discovered.get(registered.name, {}).get("resources") or []

    def _registered(self, name: str, now: Registration | None) -> None:
        if now is None or now.service is None:
            self._openapi.pop(name, None)
            self._swagger.pop(name, None)
            self.changes += 1
            if (task := self._tasks.pop(name, None)) is not None:
                task.cancel()
                del self._events[name]
        elif name in self._tasks:
            self._events[name].set()
        else:
            self._events[name] = asyncio.Event()
            self._tasks[name] = asyncio.create_task(
                keep_running(partial(self._follow, name, self._events[name]), f"discovery of {name}", self._clock)
            )

    async def _follow(self, name: str, changed: asyncio.Event) -> None:
        """Refresh the documents of a service as long as it is registered."""
        delay = RETRY_SECONDS
        while (found := self._registrations.get(name)) is not None and found.service is not None:
            changed.clear()
            await self._backends.keep(r.service for r in self._registrations.remote.values() if r.service is not None)
            fine = await self._fetch(found, found.service)
            wait = REFRESH_SECONDS if fine else delay
            delay = RETRY_SECONDS if fine else min(delay * 2, REFRESH_SECONDS)
            await self._clock.machine.wait(changed, wait)

    async def _fetch(self, registered: Registration, service: Service) -> bool:
        """Fetch the documents of a service; if it does not respond, keep the former ones, marked as stale."""
        name, version = registered.name, registered.version
        known = self._registrations.discovered.get(name, {"version": version})
        try:
            entry = await fetch.discovery(self._backends, registered, service)
        except Unreachable as e:
            LOG.info("discovery of %s: %s", name, e)
            self._registrations.discover(name, {**known, "freshness": "Stale"})
            return False
        self._registrations.discover(name, {**entry, "version": version, "freshness": "Current"})
        try:
            made = await fetch.openapi(self._backends, service)
        except Unreachable as e:
            LOG.info("OpenAPI documents of %s: %s", name, e)
            return True
        if (self._openapi.get(name, {}), self._swagger.get(name, {})) != made:
            self._openapi[name], self._swagger[name] = made
            self.changes += 1
        return True
