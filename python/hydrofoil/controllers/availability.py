"""Whether the services behind API services answer (kube-aggregator `pkg/controllers/status/remote`)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import partial

import aiohttp

from hydrofoil.aggregation.apiservices import Available
from hydrofoil.apis.catalog import Resource
from hydrofoil.apis.registration import Registration, Service
from hydrofoil.controllers.base import Controller
from hydrofoil.registry.backends import SERVICE_NAME, Backends, Unreachable, identity, port_number, ready, reason
from hydrofoil.registry.pool import lasting
from hydrofoil.registry.store import Registry
from hydrofoil.watch.hub import Hub

CHECK_SECONDS = 5.0
"""How long a service may take to answer a check."""
AGAIN_SECONDS = 30.0
"""A service that answers is asked again after this time."""
RETRY_SECONDS = (0.1, 30.0)
"""One that does not is asked again after the first time, doubled up to the second."""
WATCHED = (("", "v1", "services"), ("discovery.k8s.io", "v1", "endpointslices"))


class AvailabilityController(Controller):
    """Checks each API service that a service serves: when it, the service or its endpoints change, and now and then."""

    def __init__(
        self, registry: Registry, hub: Hub, backends: Backends, tell: Callable[[str, Available], Awaitable[None]]
    ) -> None:
        """`tell` writes whether an API service is available."""
        super().__init__(registry, hub)
        self._tell = tell
        self._backends = backends
        self._checks: dict[str, asyncio.Task[None]] = {}
        self._changed: dict[str, asyncio.Event] = {}
        registry.registrations.listeners.append(self._registered)

    def resources(self) -> Iterable[Resource]:
        """Nothing is watched while no API service names a service."""
        if not self.registry.registrations.remote:
            return []
        found = (self.registry.catalog.find(*key) for key in WATCHED)
        return [resource for resource in found if resource is not None]

    def event(self, resource: Resource, kind: str, metadata: dict[str, object]) -> None:
        namespace, name = metadata.get("namespace"), metadata.get("name")
        if resource.group:
            labels = metadata.get("labels")
            name = labels.get(SERVICE_NAME) if isinstance(labels, dict) else None
        for r in self.registry.registrations.remote.values():
            if r.service is not None and (r.service.namespace, r.service.name) == (namespace, name):
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
                lasting(partial(self._check_on, name, self._changed[name]), f"the check of {name}", self.registry.clock)
            )
            self.discover()
        self._wake_check(name)

    def _wake_check(self, name: str) -> None:
        if (changed := self._changed.get(name)) is not None:
            changed.set()

    async def _check_on(self, name: str, changed: asyncio.Event) -> None:
        """Checks one API service for as long as it is there."""
        delay = RETRY_SECONDS[0]
        while (found := self.registry.registrations.get(name)) is not None and found.service is not None:
            changed.clear()
            available = await self._check(found, found.service)
            present = self.registry.registrations.get(name)
            if present is None or present.service != found.service:
                continue
            fine = available[0] == "True"
            await self._tell(name, available)
            if present.available != fine:
                # The event is our own.
                changed.clear()
            wait = AGAIN_SECONDS if fine else delay
            delay = RETRY_SECONDS[0] if fine else min(delay * 2, RETRY_SECONDS[1])
            if await self.registry.clock.wait(changed, wait):
                delay = RETRY_SECONDS[0]

    async def _check(self, found: Registration, service: Service) -> Available:
        """`AvailableConditionController.sync`."""
        if not self._backends.named(service) and (why := self._missing(service)) is not None:
            return why
        failed = ""
        try:
            where = self._backends.locate(service)
        except Unreachable as e:
            return "False", "FailedDiscoveryCheck", str(e)
        url = f"https://{where}{found.path}"
        try:
            session = await self._backends.session(service)
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
        """What a service lacks to be asked at all."""
        body = self._backends.object(service)
        shown = f'service/{service.name} in "{service.namespace}"'
        if body is None:
            return "False", "ServiceNotFound", f"{shown} is not present"
        spec = body.get("spec", {})
        if spec.get("type") != "ClusterIP":
            return None
        port = next((p for p in spec.get("ports") or () if p.get("port") == service.port), None)
        if port is None:
            return "False", "ServicePortError", f"{shown} is not listening on port {service.port}"
        slices = self._backends.slices(service)
        if not slices:
            return "False", "EndpointsNotFound", f"cannot find endpointslices for {shown}"
        name = port.get("name", "")
        if not any(ready(s) and port_number(s, name) is not None for s in slices):
            text = f'endpointslices for {shown} have no addresses with port name "{name}"'
            return "False", "MissingEndpoints", text
        return None

    async def work(self, key: tuple[str, ...]) -> bool:
        """Nothing is queued: each API service has a task of its own, since one may keep us waiting."""
        return True

    async def stop(self) -> None:
        tasks = list(self._checks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await super().stop()
