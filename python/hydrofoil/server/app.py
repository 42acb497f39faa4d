"""The composition root: the parts of a server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hydrofoil.admission.chain import Chain
from hydrofoil.admission.order import plugins
from hydrofoil.aggregation.apiservices import ApiServices, ApiServiceStrategy
from hydrofoil.aggregation.availability import Availability
from hydrofoil.aggregation.backends import Backends
from hydrofoil.aggregation.documents import Documents as RemoteDocuments
from hydrofoil.aggregation.passing_on import PassingOn
from hydrofoil.aggregation.registrations import Registrations
from hydrofoil.apiextensions.definitions import DefinitionStrategy, Extensions
from hydrofoil.apis.catalog import Catalog
from hydrofoil.apis.gates import Gates
from hydrofoil.clock import Chance, Clock
from hydrofoil.endpoints.context import Parts
from hydrofoil.endpoints.filters.in_flight import InFlight
from hydrofoil.endpoints.route import Route
from hydrofoil.endpoints.wire import Wire
from hydrofoil.outbound.services import Services
from hydrofoil.registry.kinds.flowcontrol import Dangling
from hydrofoil.registry.store import Registry
from hydrofoil.server.chain import Stages, chain
from hydrofoil.server.config import Config
from hydrofoil.server.health import Health
from hydrofoil.server.metrics import Metrics
from hydrofoil.server.nonresource import NonResource
from hydrofoil.server.strategies import strategies
from hydrofoil.storage.view import Storage
from hydrofoil.watch.follow import Followed
from hydrofoil.watch.hub import Hub


class App:
    """A server without its sockets."""

    def __init__(self, config: Config, address: str, storage: Storage, clock: Clock, chance: Chance) -> None:
        """`storage` is open: the constructor reads existing objects."""
        self.config = config
        self.clock = clock
        self.chance = chance
        self.gates = Gates(config.feature_gates)
        self.catalog = Catalog(config.runtime_config, self.gates)
        self.storage = storage
        self.hub = Hub(self.storage, clock)
        self.registry = Registry(self.catalog, self.storage, clock, chance)
        self._dangling = Dangling(self.registry, self.hub, clock)
        networks, ports = config.service_cluster_ip_range, config.service_node_port_range
        self.registry.strategies |= strategies(self.registry, self.hub, self._dangling, networks, ports)
        self.admission = Chain(plugins(self.registry))
        self.listeners: list[Callable[[], None]] = []
        """Functions called when custom resources were added, changed or removed."""
        self.registrations = Registrations()
        self.api_services = ApiServices(self.registry, self.registrations, self.hub, clock)
        self._followed: list[Followed[Any]] = [*self.api_services.followed]
        """The states that routing depends on."""
        self._services = Services(self.catalog.find, self.registry.collection, config.service_endpoints)
        self._extensions: Extensions | None = None
        self._extend()
        self.storage.wake = self.hub.wake
        grace = config.livez_grace_period
        self.health = Health(self.catalog.checks, grace, self.clock.seconds, self.storage.problem)
        self.metrics = Metrics()
        self.inflight = InFlight(
            config.max_requests_inflight, config.max_mutating_requests_inflight, self.metrics.dropped
        )
        self.metrics.watch_store(self.registry)
        self.metrics.watch_requests(self.inflight)
        self.metrics.show_gates(self.gates)
        if config.show_hidden_metrics_for_version:
            self.metrics.show_hidden(self.registry, self.inflight)
        backends = Backends(self._services)
        report = self.api_services.report
        self._availability = Availability(self.registry, self.hub, self.registrations, backends, report)
        self._remote = RemoteDocuments(self.registrations, backends, clock)
        passing_on = PassingOn(self.registrations, self._remote, backends)
        self._nonresource = NonResource(
            self.registry,
            self.health.check,
            self.metrics.text,
            self.metrics.reset,
            self.registrations,
            self._remote,
            address,
            self.gates,
        )
        timeout = config.request_timeout
        parts = self._parts = Parts(
            self.registry, self.admission, self.hub, self.gates, self.clock, self.chance, timeout
        )
        route = Route(self._nonresource.answer, passing_on.handler, self._followed)
        stages = Stages(self.chance, timeout, self.inflight, self.metrics, route)
        self.wire = Wire(chain(stages), parts)

    def _extend(self) -> None:
        """Serve definitions and API services, if they are served themselves."""
        strategies = self.registry.strategies
        strategies["apiregistration.k8s.io", "apiservices"] = ApiServiceStrategy(self.api_services)
        group, plural = "apiextensions.k8s.io", "customresourcedefinitions"
        if (resource := self.catalog.collected(group, plural)) is not None:
            made = Extensions(self.registry, resource, self.hub, self.clock, self._swapped, self._services)
            strategies[group, plural] = DefinitionStrategy(self.registry, made, self.api_services.defined)
            self._followed.append(made.followed)
            self._extensions = made

    async def follow(self) -> None:
        """Follow all existing objects. Raise the log's error."""
        await self.registry.follow()
        for followed in self._followed:
            await followed.fresh()
        # Resources of definitions are loaded as well.
        await self.registry.follow()

    async def close(self) -> None:
        """Stop all work beside requests."""
        await self._availability.close()
        await self._dangling.close()
        if self._extensions is not None:
            await self._extensions.close()
        await self.api_services.close()
        await self._remote.close()

    def _swapped(self, collection: tuple[str, str] | None) -> None:
        self.admission.changed()
        if collection is not None:
            self.hub.cut(collection)
        for listener in self.listeners:
            listener()

    def flow_control(self) -> None:
        """Set the header of flow schema and priority level, the same for every request, once the objects exist."""
        lines = []
        for header, plural in (("FlowSchema", "flowschemas"), ("PriorityLevel", "prioritylevelconfigurations")):
            resource = self.catalog.find("flowcontrol.apiserver.k8s.io", "v1", plural)
            if resource is not None:
                stored = self.registry.collection(resource).get(resource.native, "", "exempt")
                if stored is not None:
                    lines.append(f"X-Kubernetes-PF-{header}-UID: {stored.uid}\r\n")
        self._parts.constant = "".join(lines).encode()
