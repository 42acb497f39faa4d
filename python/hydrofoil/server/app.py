"""The composition root: the parts of a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from hydrofoil import errors
from hydrofoil.admission.chain import Chain
from hydrofoil.admission.order import plugins, plugins_of_disabled_gates
from hydrofoil.admission.plugin_dependencies import Measures, PluginDependencies
from hydrofoil.aggregation.apiservices import ApiServices, ApiServiceStrategy
from hydrofoil.aggregation.availability import Availability
from hydrofoil.aggregation.backends import Backends
from hydrofoil.aggregation.content import RemoteContent
from hydrofoil.aggregation.documents import Documents as RemoteDocuments
from hydrofoil.aggregation.passing_on import PassingOn
from hydrofoil.aggregation.registrations import Registrations
from hydrofoil.aggregation.remote import RemoteClient
from hydrofoil.answer import Answer
from hydrofoil.apiextensions.definitions import DefinitionStrategy, Extensions
from hydrofoil.apis.catalog import Catalog
from hydrofoil.apis.enablement import EnablementError
from hydrofoil.apis.releases.release import Release
from hydrofoil.audit.metrics import Counts as AuditCounts
from hydrofoil.audit.options import check as check_audit
from hydrofoil.authentication.service import Authentication
from hydrofoil.authorization.impersonation import Impersonation
from hydrofoil.authorization.service import Authorization
from hydrofoil.clock import Chance, Clock
from hydrofoil.controllers.table import Dependencies
from hydrofoil.endpoints.context import Context, Filter, Handler, Parts
from hydrofoil.endpoints.filters.fairness import fairness
from hydrofoil.endpoints.filters.in_flight import InFlight
from hydrofoil.endpoints.filters.log import LEVEL, log
from hydrofoil.endpoints.route import Route
from hydrofoil.endpoints.wire import Wire
from hydrofoil.fairness.metrics import FlowMetrics
from hydrofoil.fairness.service import Fairness
from hydrofoil.files import Files
from hydrofoil.outbound.services import Services
from hydrofoil.pace.arrivals import ArrivalPacer
from hydrofoil.pace.turn import current_turn
from hydrofoil.registry.kinds.events import Expiry
from hydrofoil.registry.kinds.flowcontrol import Dangling
from hydrofoil.registry.store import Registry
from hydrofoil.server.chain import Stages, chain
from hydrofoil.server.config import ROOMS, Config
from hydrofoil.server.controllers import ControllerManager
from hydrofoil.server.debug import Debug
from hydrofoil.server.health import DATA_DIR, KMS, Health
from hydrofoil.server.listening import is_local
from hydrofoil.server.metrics import Metrics
from hydrofoil.server.nonresource import NonResource
from hydrofoil.server.slis import Slis
from hydrofoil.server.strategies import strategies
from hydrofoil.server.zpages import Pages
from hydrofoil.storage.view import Storage
from hydrofoil.watch.follow import Followed
from hydrofoil.watch.hub import Hub

if TYPE_CHECKING:
    # Most servers do not audit, and start without its modules.
    from hydrofoil.audit.service import Audit
    from hydrofoil.authentication.guests import Guests
    from hydrofoil.controls.controls import Controls
    from hydrofoil.storage.encryption.service import Service as Encryption
    from hydrofoil.tracing.service import Tracing


class App:
    """A server without its sockets."""

    root_ca = b""
    """The authority of the server's certificate, in PEM; empty without TLS."""

    def __init__(  # noqa: PLR0915 - every part of a server is made here
        self,
        config: Config,
        address: str,
        storage: Storage,
        clock: Clock,
        chance: Chance,
        controls: Controls | None = None,
        guests: Guests | None = None,
        encryption: Encryption | None = None,
    ) -> None:
        """`storage` is open: the constructor reads existing objects. `guests` are users that a test made."""
        self.config = config
        self.clock = clock
        self.chance = chance
        self._controls = controls
        self._encryption = encryption
        release = Release.of(config.emulated_version, config.feature_gates)
        minor, self.gates = release.minor, release.gates
        self.catalog = enabled_catalog(config, release)
        self.storage = storage
        self.hub = Hub(self.storage, clock)
        self.registry = Registry(self.catalog, self.storage, clock, chance)
        self._dangling = Dangling(self.registry, self.hub, clock)
        self._expiry = Expiry(self.registry, self.hub, clock, config.event_ttl)
        networks, ports = config.service_cluster_ip_range, config.service_node_port_range
        granular = self.gates.enabled("DRAResourceClaimGranularStatusAuthorization")
        self.registry.strategies |= strategies(
            self.registry, self.hub, self._dangling, networks, ports, granular=granular
        )
        self.files = Files(clock)
        if encryption is not None and encryption.reloads_file:
            self.files.watch(encryption.path, changed=encryption.changed)
        needs = self.secured = secured(config) or (guests is not None and guests.required)
        self.authentication = Authentication(config, self.registry, self.hub, clock, chance, self.files, secured=needs)
        self.authorization = Authorization(config, self.registry, self.hub, clock, self.files, secured=needs)
        self._services = Services(self.catalog.find, self.registry.collection, config.service_endpoints)
        if guests is not None:
            self._welcome(guests)
        self.admission, self._admission_metrics = self._admitting()
        self.listeners: list[Callable[[], None]] = []
        """Functions called when custom resources were added, changed or removed."""
        self.registrations = Registrations()
        self.api_services = ApiServices(self.registry, self.registrations, self.hub, clock)
        self._followed: list[Followed[Any]] = [*self.api_services.followed, *self.authorization.followed]
        """The states that routing depends on."""
        self._extensions: Extensions | None = None
        self._extend()
        self.storage.wake = self.hub.wake
        self.health = self._checked()
        self.metrics = Metrics()
        limits = config.max_requests_inflight, config.max_mutating_requests_inflight
        self.inflight = InFlight(*limits, self.metrics.dropped)
        self.fairness = self._fairness()
        self.audit = self._auditing()
        self.tracing = self._tracing()
        self._measure()
        backends = Backends(self._services)
        self._availability = Availability(
            self.registry, self.hub, self.registrations, backends, self.api_services.report
        )
        self.remote = RemoteDocuments(self.registrations, backends, clock)
        self.content = RemoteContent(self.registrations, RemoteClient(backends))
        passing_on = PassingOn(self.registrations, self.remote, backends)
        self._nonresource = self._documents(address, minor)
        self.metrics.show_build(self._nonresource.version, self.gates)
        aggregated, services = self._nonresource.aggregated, self.api_services
        extensions = (lambda: aggregated.count), self.registrations.available, services.outages.copy
        self.metrics.watch_extensions(extensions)
        timeout = config.request_timeout
        authorizer, others = self.authorization.authorizer, self.authorization.others
        parts = self._parts = Parts(
            self.registry,
            self.admission,
            self.hub,
            self.gates,
            self.clock,
            self.chance,
            timeout,
            self.authentication,
            authorizer,
            others,
        )
        route = Route(self._nonresource.answer, passing_on.handler, self._followed)
        stages = Stages(
            self.chance,
            timeout,
            self._limit(),
            self.metrics,
            self.authentication.login,
            Impersonation(authorizer, constrained=self.gates.enabled("ConstrainedImpersonation")),
            authorizer,
            others,
            route,
            self.audit,
            self.metrics.attempts,
            self.metrics.decisions,
            self.tracing,
            asks=not self.storage.direct,
        )
        outer, inner = self._filters(controls)
        turns = None if self.fairness is None else self.fairness.dispatcher.native
        arrivals = ArrivalPacer(current_turn().request_clock, turns)
        self.wire = Wire(chain(stages, outer=outer, inner=inner), parts, arrivals)

    def _welcome(self, guests: Guests) -> None:
        """Distinguish users of a test from the administrator, whose requests need no credentials by default."""
        self.authentication.add(guests)
        self.authorization.distinguish()

    def _filters(self, controls: Controls | None) -> tuple[list[Filter], list[Filter]]:
        """Return the filters in front of all others, and those in front of the route."""
        outer: list[Filter] = [log] if self.config.verbosity >= LEVEL else []
        if controls is None:
            return outer, []
        from hydrofoil.endpoints.filters.faults import faults
        from hydrofoil.endpoints.filters.journal import journal
        from hydrofoil.endpoints.filters.sequence import in_sequence

        records = controls.journal
        return [*outer, journal(records, self.clock), in_sequence(controls)], [
            faults(controls.faults, records, self.clock, self.chance)
        ]

    def _checked(self) -> Health:
        """Return the health checks: with a data folder, one is that of its disk."""
        config, checks, clock = self.config, self.catalog.checks, self.clock.seconds
        if config.data_dir:
            checks = {**checks, "readyz": [*checks["readyz"], DATA_DIR]}
            found = Health(checks, config.livez_grace_period, clock, self.storage.problem, frozenset((DATA_DIR,)))
        else:
            found = Health(checks, config.livez_grace_period, clock, self.storage.problem)
        if self._encryption is not None and self._encryption.has_health:
            found.add(KMS, self._encryption.problem, "informer-sync")
        return found

    def _documents(self, address: str, minor: int) -> NonResource:
        """Return the answers of paths without a resource."""
        return NonResource(
            self.registry,
            self.health.check,
            {"/metrics": self.metrics.text, "/metrics/slis": Slis(self.health, self.clock.seconds()).text},
            self.metrics.reset,
            self.registrations,
            self.remote,
            address,
            self.gates,
            self.authentication.documents,
            self._pages(minor),
            Debug(self.fairness, profiling=self.config.profiling).answer,
            minor,
        )

    def _pages(self, minor: int) -> dict[str, Callable[[Context], Answer]]:
        """Return the pages with flags and state, as far as their gates are on."""
        pages = Pages(self.config, ROOMS, self.clock, minor)
        found: dict[str, Callable[[Context], Answer]] = {}
        if self.gates.enabled("ComponentFlagz"):
            found["/flagz"] = pages.flagz
        if self.gates.enabled("ComponentStatusz"):
            found["/statusz"] = pages.statusz
        return found

    def manage(self, elects: bool) -> ControllerManager:
        """Return the controllers of this server; `elects`: they run in one of several servers."""
        deps = Dependencies(
            self.registry,
            self.hub,
            self.admission,
            self.content,
            self.remote,
            lambda: self.root_ca,
            self.authentication.issue.legacy,
        )
        seeded = self._controls is not None and self._controls.seeded
        manager = ControllerManager(self.config, deps, self.listeners, elects=elects, one_by_one=seeded)
        self.metrics.queues.follow(manager.running)
        return manager

    def _limit(self) -> Filter:
        """Return the filter that limits requests in flight."""
        if self.fairness is None:
            return self.inflight.filter
        return fairness(self.fairness, self.metrics.dropped)

    def _fairness(self) -> Fairness | None:
        """Return priority and fairness, if it is on. Raise ValueError with one line."""
        config = self.config
        if not config.enable_priority_and_fairness:
            return None
        reading, writing = config.max_requests_inflight, config.max_mutating_requests_inflight
        if not reading + writing:
            why = "they must add up to something positive"
            text = f"MaxRequestsInFlight={reading} and MaxMutatingRequestsInFlight={writing}"
            raise ValueError(f"invalid configuration: {text}; {why}")
        return Fairness(self.registry, self.hub, self.clock, reading + writing)

    def _auditing(self) -> Audit | None:
        """Return the auditing that the flags ask for. Raise ValueError with one line."""
        config = self.config
        self._audit_counts = AuditCounts()
        check_audit(config)
        if not config.audit_policy_file and not config.audit_log_path:
            return None
        from hydrofoil.audit.service import auditing

        return auditing(config, self.clock, self.chance, self._audit_counts)

    def _tracing(self) -> Tracing | None:
        """Return the tracer, if the flags ask for one. Raise ValueError with one line."""
        if not self.config.tracing_config_file:
            return None
        from hydrofoil.tracing.configuration import read

        settings = read(self.config.tracing_config_file)
        try:
            from hydrofoil.tracing.service import Tracing
        except ImportError as e:
            raise ValueError(f"--tracing-config-file needs {e.name}: pip install 'hydrofoil[tracing]'") from None
        return Tracing(settings, f"apiserver-{self.chance.uid()}")

    def _admitting(self) -> tuple[Chain, Measures]:
        """Return the admission plug-ins, and their metrics. Raise ValueError with one line."""
        config = self.config
        given: dict[str, Any] = {}
        if config.admission_control_config_file:
            from hydrofoil.admission.configuration import read

            given = read(config.admission_control_config_file)
        deps = PluginDependencies(self.registry, self.hub, self._services, configuration=given)
        on, off = select_plugins(config)
        chosen = plugins(deps, on, off | plugins_of_disabled_gates(self.gates))
        chain = Chain(chosen, self.authorization.authorizer)
        deps.metrics.phases = chain.phases
        return chain, deps.metrics

    def _measure(self) -> None:
        """Fill the metrics of this server."""
        self.metrics.watch_store(self.registry)
        if self.fairness is None:
            running = (lambda: self.inflight.reading.taken), (lambda: self.inflight.writing.taken)
            self.metrics.watch_requests(running, (int, int))
        else:
            found = FlowMetrics(self.fairness)
            self.metrics.watch_requests(found.executing, found.queued)
            self.metrics.show([found])
        own = [self._audit_counts, self._admission_metrics]
        self.metrics.show([*self.authorization.collectors, *own])
        if self._encryption is not None:
            from hydrofoil.storage.encryption.metrics import Conversions

            self.metrics.show([self._encryption.reloads, Conversions(self._encryption.native)])
        self.metrics.queues.add("APIServiceRegistrationController", self.api_services.queue)
        self.metrics.queues.add("priority_and_fairness_config_queue", self._dangling.queue)
        if self._extensions is not None:
            self.metrics.queues.add("crd_finalizer", self._extensions.finalizer.queue)
            self.metrics.queues.add("crd_naming_condition_controller", self._extensions.status.queue)
        if self.config.show_hidden_metrics_for_version:
            self.metrics.show_hidden(self.registry, self.inflight)

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
        self.storage.started()
        if self.tracing is not None:
            await self.tracing.start()
        await self.authentication.start()
        if self.secured and "AlwaysAllow" in self.authorization.modes:
            # Upstream's `ApplyAuthorization`: a request without a credential never has every right.
            self.authentication.forbid_anonymous()
        self.metrics.watch_tokens(self.authentication.counts)
        self.metrics.watch_credentials(self.authentication.credentials)
        self.metrics.show(self.authentication.collectors)
        await self.authorization.start()
        self.files.start()

    async def close(self) -> None:
        """Stop all work beside requests."""
        await self.files.close()
        await self.authentication.close()
        await self.authorization.close()
        await self.admission.close()
        await self._availability.close()
        await self._dangling.close()
        await self._expiry.close()
        if self.fairness is not None:
            await self.fairness.close()
        if self._extensions is not None:
            await self._extensions.close()
        await self.api_services.close()
        if self.tracing is not None:
            await self.tracing.close()
        await self.remote.close()

    def _swapped(self, collection: tuple[str, str] | None) -> None:
        self.admission.changed()
        if collection is not None:
            self.hub.cut(collection)
        for listener in self.listeners:
            listener()

    async def flow_control(self, bring_back: Callable[[], Awaitable[None]]) -> None:
        """Divide the requests in flight by the objects that exist; `bring_back` makes missing ones again."""
        if self.fairness is not None:
            await self.fairness.start(bring_back)

    def control(self, answer: Handler) -> None:
        """Answer the paths of the test controls from now on."""
        self._nonresource.controls = answer

    def follow_at_once(self) -> None:
        """Bring what follows objects up to the view: after a restore, requests see definitions as they are."""
        for followed in self._followed:
            _ = followed.state
        # An account of the other state may have the name of one of this state.
        self.authentication.forget()


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


def secured(config: Config) -> bool:
    """Report whether requests need credentials: some are configured, or others than this machine reach the server."""
    configured = (
        config.client_ca_file,
        config.token_auth_file,
        config.requestheader_client_ca_file,
        config.oidc_issuer_url,
        config.authentication_config,
        config.authentication_token_webhook_config_file,
        config.enable_bootstrap_token_auth,
    )
    return any(configured) or not (config.unix_socket or is_local(config.host))


def select_plugins(config: Config) -> tuple[frozenset[str], frozenset[str]]:
    """Return the admission plug-ins that are switched on, and those off. Raise ValueError with one line."""
    on, off = config.selected()
    if "ServiceAccount" in on or (secured(config) and config.controls("serviceaccount")):
        return on, off
    # Without its controller no namespace has the account that pods need; without credentials no pod needs a token.
    return on, off | {"ServiceAccount"}
