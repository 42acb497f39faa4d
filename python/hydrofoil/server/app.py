"""The list of the parts of a server: they start in this order, and end in the reverse."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from hydrofoil import errors
from hydrofoil.apis.catalog import Catalog
from hydrofoil.apis.enablement import EnablementError
from hydrofoil.apis.releases.release import Release
from hydrofoil.clock import Chance, Clock
from hydrofoil.endpoints.context import Filter, Handler, Parts
from hydrofoil.endpoints.memos import Memos
from hydrofoil.endpoints.route import Route
from hydrofoil.endpoints.wire import Wire, cut
from hydrofoil.files import Files
from hydrofoil.outbound.services import Services
from hydrofoil.pace.arrivals import ArrivalPacer
from hydrofoil.pace.turn import current_turn
from hydrofoil.registry.store import Registry
from hydrofoil.server import deprecated
from hydrofoil.server.build_metrics import BuildMetrics
from hydrofoil.server.certificates import Certificates
from hydrofoil.server.chain import Place, chain
from hydrofoil.server.config import Config
from hydrofoil.server.listening import Listener
from hydrofoil.server.memory import Pipe, connect
from hydrofoil.server.metrics import Metrics
from hydrofoil.server.nonresource import version_document
from hydrofoil.server.part import Core, Part, Site
from hydrofoil.server.parts import access, extensions, observation, storage
from hydrofoil.server.parts.admission import admission
from hydrofoil.server.parts.controllers import controllers
from hydrofoil.server.parts.documents import documents
from hydrofoil.server.parts.dumps import ROOT, dumps
from hydrofoil.server.parts.front import front
from hydrofoil.server.parts.kinds import kinds
from hydrofoil.server.parts.limits import limits
from hydrofoil.server.parts.memos import memos
from hydrofoil.storage.storage import Storage
from hydrofoil.watch.follow import Followed
from hydrofoil.watch.hub import Hub

if TYPE_CHECKING:
    # Most servers are none of a test and encrypt nothing, and start without these modules.
    from hydrofoil.authentication.guests import Guests
    from hydrofoil.controls.controls import Controls
    from hydrofoil.server.controlling import Controlling
    from hydrofoil.server.workers.crew import Crew
    from hydrofoil.server.workers.end import WorkerEnd
    from hydrofoil.storage.encryption.service import Service as Encryption

T = TypeVar("T")


class App:
    """A server from its storage to its socket."""

    def __init__(
        self,
        core: Core,
        listener: Listener,
        certificates: Certificates,
        reach: Callable[[str], tuple[str, str | None]] | None,
        controls: Controls | None = None,
        encryption: Encryption | None = None,
    ) -> None:
        """Make the parts of a server whose storage is open: some read existing objects.

        `reach` returns URL and authority for the kubeconfig of a user of a test. Raise ValueError with one line.
        """
        self.core = core
        self._parts: list[Part[Any]] = []
        self._followed: list[Followed[Any]] = []
        """The states that routing depends on."""
        self._ends = AsyncExitStack()
        """The ends of the parts: one that fails leaves no other open."""
        filters: dict[Place, Filter] = {}
        paths: dict[str, Handler] = {}

        def add(part: Part[T]) -> T:
            """Take what a part adds; return its feature, for those after it."""
            self._parts.append(part)
            self._ends.push_async_callback(part.close)
            core.registry.strategies |= part.strategies
            self._followed += part.followed
            filters.update(part.filters)
            paths.update(part.paths)
            return part.feature

        self.audit = add(observation.audit(core))
        add(observation.requests(core))
        self.health = add(observation.health(core))
        add(storage.encryption(core, self.health, encryption))
        add(observation.tracing(core))
        authorization = add(access.authorization(core))
        self.authentication = add(access.authentication(core, authorization, self.audit.service))
        add(kinds(core))
        self.admission = add(admission(core, authorization))
        aggregation = add(extensions.aggregation(core))
        add(extensions.definitions(core, self.admission, aggregation))
        restore = add(storage.first_objects(core, authorization, aggregation.services))
        self.limits = add(limits(core, restore))
        add(observation.pages(core, self.limits))
        self.controlling: Controlling | None = None
        """The acts of a test, if it is one."""
        if controls is not None and reach is not None:
            from hydrofoil.server.controlling import Running
            from hydrofoil.server.parts.controls import test_controls

            running = Running(partial(self.connect, own=True), self.settle, reach, self.disconnect)
            self.controlling = add(test_controls(core, controls, running))
        add(dumps(core, paths.get(ROOT)))
        texts = add(documents(core, aggregation, paths))
        parts = Parts(
            core.registry,
            self.admission,
            core.hub,
            core.gates,
            core.clock,
            core.chance,
            core.config.request_timeout,
            self.authentication,
            authorization.authorizer,
            authorization.others,
        )
        fairness = self.limits.fairness
        turns = None if fairness is None else fairness.dispatcher.native
        arrivals = ArrivalPacer(current_turn().request_clock, turns)
        route = Route(texts.answer, aggregation.route.handler, self._followed)
        wire = Wire(chain(filters, route), parts, arrivals, core.memos)
        # In front of the socket: connections learn once whether there are any.
        add(memos(core, filters.keys(), authorization.rests_on, self._followed))
        self.connections = add(front(core, wire, listener, certificates))
        self.manager = add(
            controllers(
                core,
                self.admission,
                aggregation,
                self.authentication,
                one_by_one=controls is not None and controls.seeded,
            )
        )
        # Last, as every part may name files that are read again.
        add(Part(feature=None, start=core.files.start, close=core.files.close))

    def _rest(self) -> None:
        """Let no part change anything by itself."""
        for part in self._parts:
            for queue in part.queues.values():
                queue.refuse()

    def connect(self, client: asyncio.BaseProtocol, *, own: bool = False) -> Pipe:
        """Connect a client in memory; `own`: requests of the server itself, which a test does not see."""
        return connect(self.connections, client, {"hydrofoil.own": True} if own else {})

    def disconnect(self, kept: asyncio.BaseTransport | None = None) -> None:
        """Break the connections of all clients, but for one that is kept and those of the server itself."""
        for connection in list(self.connections.connections):
            transport = connection.transport
            if transport not in (None, kept) and transport.get_extra_info("hydrofoil.own") is None:
                cut(transport)

    async def settle(self) -> None:
        """Wait until the controllers have processed all writes, except for work that they repeat later."""
        await self.manager.settle()

    async def start(self) -> None:
        """Follow all existing objects, then start the parts. Raise the log's error, ValueError and StartError."""
        core = self.core
        if core.config.read_only:
            self._rest()
        await core.registry.follow()
        for followed in self._followed:
            await followed.fresh()
        # Resources of definitions are loaded as well.
        await core.registry.follow()
        core.storage.started()
        if core.crew is not None:
            # They begin with all that is loaded, and start beside this.
            await core.crew.begin(core.registry)
        for part in self._parts:
            await part.start()
            core.metrics.show(part.collectors(), part.snapshots)
            for name, queue in part.queues.items():
                core.metrics.queues.add(name, queue)
            if part.controllers is not None:
                core.metrics.queues.follow(part.controllers)

    async def close(self) -> None:
        """Stop all parts, the last one first: no new requests, then no work beside them."""
        await self._ends.aclose()

    def follow_at_once(self) -> None:
        """Bring what follows objects up to the view: after a restore, requests see definitions as they are."""
        for followed in self._followed:
            _ = followed.state
        # An account of the other state may have the name of one of this state.
        self.authentication.forget()


def make_core(
    config: Config,
    site: Site,
    storage: Storage,
    release: Release,
    clock: Clock,
    chance: Chance,
    guests: Guests | None = None,
    crew: Crew | None = None,
    worker: WorkerEnd | None = None,
) -> Core:
    """Return what the parts are made of. Raise EnablementError with upstream's message."""
    catalog = enabled_catalog(config, release)
    version = version_document(catalog.release, release.minor)
    hidden = bool(config.show_hidden_metrics_for_version)
    if hidden:
        deprecated.warn()
    registry = Registry(catalog, storage, clock, chance)
    metrics = Metrics(BuildMetrics(version, release.gates, 0 if hidden else len(deprecated.HIDDEN)), hidden=hidden)
    return Core(
        config,
        site,
        clock,
        chance,
        release.gates,
        release.minor,
        catalog,
        storage,
        Hub(storage, clock),
        registry,
        Files(clock),
        Services(catalog.find, registry.collection, config.service_endpoints),
        metrics,
        Memos(clock, chance, metrics.counts),
        version,
        guests,
        crew,
        worker,
        worker.beginning.signing_key if worker is not None else crew.signing_key if crew is not None else b"",
    )


def enabled_catalog(config: Config, release: Release) -> Catalog:
    """Return the resources that are served. Raise EnablementError with upstream's message."""
    problems = []
    given = config.runtime_config
    if config.enable_priority_and_fairness and given.get("api/all") is False:
        problems.append("--runtime-config=api/all=false conflicts with --enable-priority-and-fairness=true")
    try:
        found = Catalog(given, release)
    except EnablementError as e:
        problems.append(str(e))
    if problems:
        raise EnablementError(errors.aggregate(problems))
    return found
