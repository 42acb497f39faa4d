"""The servers behind API services: their addresses, and connections to them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from hydrofoil.apis.registration import Service
from hydrofoil.outbound.connections import Connections
from hydrofoil.outbound.services import Services
from hydrofoil.outbound.trust import Trust


class Backends:
    """Connections to the services that API services name."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._connections: dict[Service, Connections] = {}

    def locate(self, service: Service) -> str:
        """Return `host:port` of a service. Raise Unreachable."""
        return self.services.locate(service.namespace, service.name, service.port)

    def connections(self, service: Service) -> Connections:
        """Return the connections to a service."""
        found = self._connections.get(service)
        if found is None:
            found = self._connections[service] = Connections(Trust(service.ca, service.insecure), unpack=False)
        return found

    async def keep(self, used: Iterable[Service]) -> None:
        """Close the connections to services that no API service names any more."""
        wanted = set(used)
        gone = [self._connections.pop(s) for s in list(self._connections) if s not in wanted]
        await asyncio.gather(*(connections.close() for connections in gone))
