"""The availability of the services behind API services (kube-aggregator `pkg/controllers/status/remote`)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any

import aiohttp
import orjson

from hydrofoil.aggregation.apiservices import Available
from hydrofoil.aggregation.backends import Backends
from hydrofoil.aggregation.registrations import Registrations
from hydrofoil.apis.registration import Registration, Service
from hydrofoil.engine import Stored
from hydrofoil.outbound.proxy import identity
from hydrofoil.outbound.services import SERVICE_NAME, port_number, ready
from hydrofoil.outbound.trust import Unreachable, reason
from hydrofoil.pool import keep_running
from hydrofoil.registry.objects import Objects
from hydrofoil.watch.follow import Followed
from hydrofoil.watch.hub import Hub

CHECK_SECONDS = 5.0
"""The timeout of a check."""
AGAIN_SECONDS = 30.0
"""The interval between checks of an available service."""
RETRY_SECONDS = (0.1, 30.0)
"""The first and the greatest delay between checks of an unavailable service; it doubles in between."""


def of_service(stored: Stored) -> tuple[str, str]:
    """Return namespace and name of a service."""
    return stored.namespace, stored.name


def of_slice(stored: Stored) -> tuple[str, str]:
    """Return namespace and name of the service that a slice belongs to."""
    return stored.namespace, orjson.loads(stored.member("metadata") or b"{}").get("labels", {}).get(SERVICE_NAME, "")


WATCHED = ((("", "v1", "services"), of_service), (("discovery.k8s.io", "v1", "endpointslices"), of_slice))


class Changed:
    """The services whose objects have changed, as a state that is read once."""

    def __init__(self, service: Callable[[Stored], tuple[str, str]]) -> None:
        """`service` returns the service of an object."""
        self._service = service
        self._names: set[tuple[str, str]] = set()

    def replace(self, objects: Iterable[Stored]) -> None:
        """Add the services of all present objects."""
        self._names |= {self._service(stored) for stored in objects}

    def apply(self, old: Stored | None, new: Stored | None) -> None:
        """Apply a change."""
        self._names |= {self._service(stored) for stored in (old, new) if stored is not None}

    async def settle(self) -> None:
        """Return at once: nothing is pending."""

    def take(self) -> set[tuple[str, str]]:
        """Return the services that changed since the last call, by namespace and name."""
        names, self._names = self._names, set()
        return names


class Availability:
    """Check the services behind API services: on changes of either or of endpoints, and at intervals."""

    def __init__(
        self,
        objects: Objects,
        hub: Hub,
        registrations: Registrations,
        backends: Backends,
        report: Callable[[str, Available], Awaitable[None]],
    ) -> None:
        """`tell` writes the availability of an API service."""
        self._objects = objects
        self._hub = hub
        self._registrations = registrations
        self._clock = objects.clock
        self._tell = report
        self._backends = backends
        self._services = backends.services
        self._followed: list[Followed[Any]] = []
        self._checks: dict[str, asyncio.Task[None]] = {}
        self._changed: dict[str, asyncio.Event] = {}
        registrations.listeners.append(self._registered)

    def _watch(self) -> None:
        """Follow services and their endpoints, as soon as an API service names one."""
        if self._followed:
            return
        for key, service in WATCHED:
            if (resource := self._objects.catalog.find(*key)) is not None:
                changed = Changed(service)
                followed = Followed(self._objects.collection(resource), resource.native, changed, self._hub)
                followed.on_change(partial(self._wake, changed))
                self._followed.append(followed)

    def _wake(self, changed: Changed) -> None:
        names = changed.take()
        for r in self._registrations.remote.values():
            if r.service is not None and (r.service.namespace, r.service.name) in names:
                self._wake_check(r.name)

    def _registered(self, name: str, now: Registration | None) -> None:
        if now is None or now.service is None:
            if (task := self._checks.pop(name, None)) is not None:
                task.cancel()
                del self._changed[name]
            return
        if name not in self._checks:
            self._changed[name] = asyncio.Event()
            self._checks[name] = asyncio.create_task(
                keep_running(partial(self._check_on, name, self._changed[name]), f"the check of {name}", self._clock)
            )
            self._watch()
        self._wake_check(name)

    def _wake_check(self, name: str) -> None:
        if (changed := self._changed.get(name)) is not None:
            changed.set()

    async def _check_on(self, name: str, changed: asyncio.Event) -> None:
        """Check one API service as long as it exists."""
        delay = RETRY_SECONDS[0]
        while (found := self._registrations.get(name)) is not None and found.service is not None:
            changed.clear()
            available = await self._check(found, found.service)
            present = self._registrations.get(name)
            if present is None or present.service != found.service:
                continue
            fine = available[0] == "True"
            await self._tell(name, available)
            if present.available != fine:
                # The event is this task's own.
                changed.clear()
            wait = AGAIN_SECONDS if fine else delay
            delay = RETRY_SECONDS[0] if fine else min(delay * 2, RETRY_SECONDS[1])
            if await self._clock.machine.wait(changed, wait):
                delay = RETRY_SECONDS[0]

    async def _check(self, found: Registration, service: Service) -> Available:
        """Check a service (`AvailableConditionController.sync`)."""
        if not self._services.named(service.namespace, service.name) and (why := self._missing(service)) is not None:
            return why
        failed = ""
        try:
            where = self._backends.locate(service)
        except Unreachable as e:
            return "False", "FailedDiscoveryCheck", str(e)
        url = f"https://{where}{found.path}"
        try:
            session = await self._backends.connections(service).session()
            async with session.get(
                url,
                headers=identity("system:kube-aggregator", groups=["system:masters"]),
                server_hostname=service.host,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=CHECK_SECONDS),
            ) as answer:
                if not 200 <= answer.status < 300:
                    failed = f"bad status from {url}: {answer.status}"
        except Unreachable as e:
            failed = f'Get "{url}": {e}'
        except (aiohttp.ClientError, OSError) as e:
            failed = f'Get "{url}": {reason(e, where)}'
        if failed:
            return "False", "FailedDiscoveryCheck", f"failing or missing response from {url}: {failed}"
        return "True", "Passed", "all checks passed"

    def _missing(self, service: Service) -> Available | None:
        """Return the reason not to connect to a service; None to go ahead."""
        body = self._services.object(service.namespace, service.name)
        shown = f'service/{service.name} in "{service.namespace}"'
        if body is None:
            return "False", "ServiceNotFound", f"{shown} is not present"
        spec = body.get("spec", {})
        if spec.get("type") != "ClusterIP":
            return None
        port = next((p for p in spec.get("ports") or () if p.get("port") == service.port), None)
        if port is None:
            return "False", "ServicePortError", f"{shown} is not listening on port {service.port}"
        slices = self._services.slices(service.namespace, service.name)
        if not slices:
            return "False", "EndpointsNotFound", f"cannot find endpointslices for {shown}"
        name = port.get("name", "")
        if not any(ready(s) and port_number(s, name) is not None for s in slices):
            text = f'endpointslices for {shown} have no addresses with port name "{name}"'
            return "False", "MissingEndpoints", text
        return None

    async def close(self) -> None:
        """Stop the checks."""
        for followed in self._followed:
            followed.end()
        tasks = list(self._checks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
