"""The list of the parts of a gateway: what `server/app.py` is for a server that owns its objects."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any, TypeVar, cast

from hydrofoil.admission.chain import Chain
from hydrofoil.answer import Answer
from hydrofoil.authentication.service import Authentication
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, Filter, Handler, Parts
from hydrofoil.endpoints.filters.authentication import authentication
from hydrofoil.endpoints.wire import Wire
from hydrofoil.errors import ApiError
from hydrofoil.pace.arrivals import ArrivalPacer
from hydrofoil.pace.turn import current_turn
from hydrofoil.request import Incoming, User, refusal
from hydrofoil.server.app import App
from hydrofoil.server.certificates import Certificates
from hydrofoil.server.chain import Place, chain
from hydrofoil.server.gateway.callers import Caller, Callers, Kind
from hydrofoil.server.gateway.client import Upstream
from hydrofoil.server.gateway.comparisons import Comparisons
from hydrofoil.server.gateway.identity import Identity
from hydrofoil.server.gateway.kept import KeptView
from hydrofoil.server.gateway.metrics import GatewayMetrics
from hydrofoil.server.gateway.mirrors import Mirrors
from hydrofoil.server.gateway.passing import Passing
from hydrofoil.server.gateway.reads import Reads
from hydrofoil.server.gateway.resources import DEFINITIONS, Resources, choice
from hydrofoil.server.gateway.rights import NoRights, Rights, Unreviewed
from hydrofoil.server.listening import Listener
from hydrofoil.server.part import Core, Part
from hydrofoil.server.parts import observation
from hydrofoil.server.parts.front import front
from hydrofoil.storage.upstream.log import UpstreamLog

T = TypeVar("T")
START_SECONDS = 10.0
"""How long a start waits for the view; reads are passed on meanwhile."""
BOUND_SECONDS = 5.0
NOBODY = User("")
"""The user of a request whose credential only the upstream has judged."""


class GatewayApp(App):
    """A gateway from its view to its socket. It has no admission, no rights and no controllers of its own."""

    def __init__(
        self, core: Core, listener: Listener, certificates: Certificates, log: UpstreamLog, upstream: Upstream
    ):
        """Make the parts. Raise ValueError with one line."""
        self.core = core
        self.controlling = None
        self._parts: list[Part[Any]] = []
        self._followed = []
        self._ends = AsyncExitStack()
        filters: dict[Place, Filter] = {}
        paths: dict[str, Handler] = {}

        def add(part: Part[T]) -> T:
            self._parts.append(part)
            self._ends.push_async_callback(part.close)
            filters.update(part.filters)
            paths.update(part.paths)
            return part.feature

        config = core.config
        self.audit = add(observation.audit(core))
        add(observation.requests(core))
        self.health = add(observation.health(core))
        add(observation.tracing(core))
        callers = Callers(config.client_ca_file, core.clock, core.files)
        rights = Rights(upstream, core.clock, config.upstream_authorization_cache)
        audited = self.audit.service is not None
        filters[Place.AUTHENTICATION] = authentication(identify(callers, rights, audited=audited))
        self.contact = upstream.contact
        mirrors = self.mirrors = Mirrors(log, core.registry, core.hub, core.clock)
        self.upstream = add(connection(core, upstream, mirrors))
        passing = Passing(upstream, core.clock)
        comparisons = Comparisons(upstream)
        add(Part(feature=None, close=comparisons.close))
        reads = Reads(
            upstream,
            callers,
            Identity(upstream, rights, impersonates=config.upstream_identity == "impersonate"),
            mirrors,
            passing,
            comparisons,
            core.clock,
            opens=config.upstream_cache in ("all", "on-demand"),
            stale=config.upstream_stale_reads,
        )
        self.health.add("upstream", lambda: upstream.contact.problem, "shutdown")
        gauges = GatewayMetrics(upstream.contact, mirrors, reads, passing, rights)
        add(Part(feature=None, collectors=lambda: [gauges]))
        parts = Parts(
            core.registry,
            Chain(()),
            core.hub,
            core.gates,
            core.clock,
            core.chance,
            config.request_timeout,
            # No handler that a gateway has asks it.
            cast(Authentication, None),
            NoRights(),
            NoRights(),
        )
        arrivals = ArrivalPacer(current_turn().request_clock, None)
        wire = Wire(chain(filters, own_paths(paths, reads)), parts, arrivals, core.memos)
        self.connections = add(front(core, wire, listener, certificates))
        add(Part(feature=None, start=core.files.start, close=core.files.close))

    async def settle(self) -> None:
        """Return at once: nothing here follows a write."""

    async def start(self) -> None:
        """Start the parts."""
        core = self.core
        core.storage.started()
        for part in self._parts:
            await part.start()
            core.metrics.show(part.collectors(), part.snapshots)

    def follow_at_once(self) -> None:
        """Do nothing: nothing is restored."""


def identify(callers: Callers, rights: Rights, *, audited: bool) -> Any:
    """Return the login of each request: the user, as far as it is known without the upstream or the records need it."""

    async def review(caller: Caller) -> User:
        try:
            return await rights.login(caller.token) or NOBODY
        except Unreviewed:
            return NOBODY

    def login(request: Incoming) -> Any:
        caller = callers.find(request)
        if audited and caller.kind is Kind.TOKEN:
            return review(caller)
        return caller.user or NOBODY

    return login


def own_paths(paths: dict[str, Handler], reads: Reads) -> Handler:
    """Return the handler of all requests: those about this server itself, and those of the upstream."""

    async def answer(context: Context) -> Answer:
        path = context.info.path
        handler = paths.get(path) or paths.get(f"/{path.split('/')[1]}/" if path.startswith("/") else "")
        if handler is None:
            return await reads(context)
        try:
            # Health is for everybody, as it is by upstream's role `system:public-info-viewer`.
            if not path.startswith(("/healthz", "/livez", "/readyz")) and not await reads.may(context):
                raise refusal(context.user, context.info, "")
            return await handler(context)
        except ApiError as e:
            return respond.answer_error(context, e)

    return answer


def connection(core: Core, upstream: Upstream, mirrors: Mirrors) -> Part[Resources]:
    """Return what follows the upstream. Raise ValueError with one line."""
    config = core.config
    resources = Resources(core.catalog, mirrors, upstream, core.hub, core.clock, choice(config.upstream_cache))
    kept = KeptView(config.data_dir, upstream.url, mirrors, core.clock) if config.data_dir else None
    bounding: list[asyncio.Task[None]] = []

    async def bound() -> None:
        while True:
            await core.clock.machine.sleep(BOUND_SECONDS)
            mirrors.bound(config.upstream_cache_bytes, frozenset((DEFINITIONS,)))

    async def start() -> None:
        if kept is not None:
            await kept.load()
            mirrors.read_saved = kept.take
            kept.start()
        upstream.start()
        resources.start()
        if config.upstream_cache_bytes:
            bounding.append(asyncio.create_task(bound(), name="the bound of the view"))
        if await core.clock.machine.wait(resources.complete, START_SECONDS):
            await mirrors.load(START_SECONDS)

    async def close() -> None:
        for task in bounding:
            task.cancel()
        await asyncio.gather(*bounding, return_exceptions=True)
        await resources.close()
        await mirrors.stop()
        if kept is not None:
            await kept.close()
        await upstream.close()

    return Part(feature=resources, start=start, close=close)
