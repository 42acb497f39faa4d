"""What is seen of a server: records, traces, logs, metrics, health, and pages about it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from hydrofoil.answer import TEXT, Answer, plain
from hydrofoil.audit.metrics import Counts as AuditCounts
from hydrofoil.audit.options import check as check_audit
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, Filter, Handler
from hydrofoil.endpoints.filters.deadline import deadline
from hydrofoil.endpoints.filters.log import LEVEL, log
from hydrofoil.endpoints.filters.metrics import metrics
from hydrofoil.endpoints.filters.recover import recover
from hydrofoil.endpoints.filters.request_info import request_info
from hydrofoil.endpoints.memos import Folding
from hydrofoil.endpoints.route import missing
from hydrofoil.server.chain import Place
from hydrofoil.server.health import DATA_DIR, STORAGE, Health
from hydrofoil.server.part import Core, Part, nothing
from hydrofoil.server.parts.limits import Limits

if TYPE_CHECKING:
    # Most servers do not audit or trace, and start without their modules.
    from hydrofoil.audit.service import Audit
    from hydrofoil.server.zpages import Pages
    from hydrofoil.tracing.service import Tracing

METRICS = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"


UPSTREAM_CHECKS = ("ping", "shutdown")
"""The checks of a gateway, beside that of its upstream."""


class Slis(Collector):
    """The outcomes of health checks: the latest, and how often each was seen."""

    def __init__(self, health: Health, started: float) -> None:
        """Take the start in seconds since 1970."""
        self._health = health
        self._started = started
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def describe(self) -> Iterable[Metric]:
        """Yield nothing: the names are not checked against others."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """Yield the families."""
        text = "[STABLE] This metric records the result of a single healthcheck."
        latest = GaugeMetricFamily("kubernetes_healthcheck", text, labels=("name", "type"))
        text = "[STABLE] This metric records the results of all healthcheck."
        total = CounterMetricFamily("kubernetes_healthchecks", text, labels=("name", "status", "type"))
        for endpoint, name, passes in self._health.states():
            latest.add_metric((name, endpoint), passes)
        for (endpoint, name, status), count in self._health.counts.items():
            total.add_metric((name, status, endpoint), count)
        yield latest
        yield total
        text = "[ALPHA] Start time of the process since unix epoch in seconds."
        yield GaugeMetricFamily("process_start_time_seconds", text, value=self._started)

    async def text(self) -> bytes:
        """Return the exposition."""
        return re.sub(rb"(?m)\.0$", b"", generate_latest(self._registry))


def requests(core: Core) -> Part[None]:
    """Return what every request passes, whoever asks for whatever."""
    found, asks = core.metrics, not core.storage.is_loaded
    filters: dict[Place, Filter] = {
        Place.RECOVERY: recover,
        Place.REQUEST_INFO: request_info(core.memos.take_id),
        Place.DEADLINE: deadline(core.config.request_timeout, found.terminated, asks=asks),
        Place.METRICS: metrics(found.answered, found.watching),
    }
    if core.config.verbosity >= LEVEL:
        filters[Place.LOG] = log

    async def answer(context: Context) -> Answer:
        worker = core.worker
        if context.request.method == "DELETE":
            if worker is None:
                reset()
            else:
                await worker.reset_metrics()
            return respond.answer(context, 200, b"metrics reset\n", TEXT)
        return respond.answer(context, 200, await (found.text() if worker is None else worker.metrics()), METRICS)

    def reset() -> None:
        # What they have counted is no part of what follows, and they count in rows that are no more.
        core.memos.forget()
        found.reset()

    if core.crew is not None:
        core.crew.include(found.text, reset)

    # Before all others, which memos bring up to date.
    return Part(feature=None, filters=filters, paths={"/metrics": answer}, collectors=lambda: [Folding(core.memos)])


class Auditing(Struct, frozen=True):
    """The audit records of one server."""

    service: Audit | None
    """None if the flags ask for no records."""
    counts: AuditCounts


def audit(core: Core) -> Part[Auditing]:
    """Return the audit records that the flags ask for. Raise ValueError with one line."""
    config, counts = core.config, AuditCounts()
    check_audit(config)
    if not config.audit_policy_file and not config.audit_log_path:
        return Part(feature=Auditing(None, counts), collectors=lambda: [counts])
    from hydrofoil.audit.service import auditing
    from hydrofoil.endpoints.filters.audit import audit as record

    linked = core.crew or core.worker
    service = auditing(config, core.clock, core.chance, counts, None if linked is None else linked.open_audit_file)
    filters = {} if service is None else {Place.AUDIT: record(service)}
    close = nothing if service is None else service.close
    # It is closed after all that makes requests: the last ones are recorded, too.
    return Part(feature=Auditing(service, counts), close=close, filters=filters, collectors=lambda: [counts])


def tracing(core: Core) -> Part[Tracing | None]:
    """Return the tracer, if the flags ask for one. Raise ValueError with one line."""
    path = core.config.tracing_config_file
    if not path:
        return Part(feature=None)
    from hydrofoil.endpoints.filters.tracing import tracing as trace
    from hydrofoil.tracing.configuration import read

    settings = read(path)
    try:
        from hydrofoil.tracing.service import Tracing
    except ImportError as e:
        raise ValueError(f"--tracing-config-file needs {e.name}: pip install 'hydrofoil[tracing]'") from None
    found = Tracing(settings, f"apiserver-{core.chance.uid()}")
    return Part(feature=found, start=found.start, close=found.close, filters={Place.TRACING: trace(found)})


def health(core: Core) -> Part[Health]:
    """Return the health checks: with a data folder, one is that of its disk."""
    config, checks, stored = core.config, core.catalog.checks, STORAGE
    if config.data_dir:
        checks = {**checks, "readyz": [*checks["readyz"], DATA_DIR]}
        stored = frozenset((DATA_DIR,))
    if config.upstream:
        # A gateway whose upstream is away is alive, and one that is started again would be no nearer to it.
        checks, stored = {endpoint: [*UPSTREAM_CHECKS] for endpoint in checks}, frozenset()
    found = Health(checks, config.livez_grace_period, core.clock.seconds, core.storage.problem, stored)
    slis = Slis(found, core.clock.seconds())

    async def answer(context: Context) -> Answer:
        _, endpoint, *name = context.info.path.split("/", 2)
        checked = found.check(endpoint, name[0] if name else None, context.info.query)
        return await missing(context) if checked is None else plain(*checked, context.common)

    async def measured(context: Context) -> Answer:
        return respond.answer(context, 200, await slis.text(), METRICS)

    paths: dict[str, Handler] = dict.fromkeys(("/healthz/", "/livez/", "/readyz/"), answer)
    return Part(feature=found, paths={**paths, "/metrics/slis": measured})


def pages(core: Core, limits: Limits) -> Part[None]:
    """Return the pages with flags and state, as far as their gates are on, those below `/debug`, and that of `--ui`.

    Their modules are loaded with the first look.
    """
    config, began = core.config, (core.clock.seconds(), core.clock.text())

    async def answer(context: Context) -> Answer:
        from hydrofoil.server.debug import Debug

        debug = Debug(limits.fairness, profiling=config.profiling)
        return await debug.answer(context, context.info.path) or await missing(context)

    def about() -> Pages:
        from hydrofoil.server.config import ROOMS
        from hydrofoil.server.zpages import Pages

        return Pages(config, ROOMS, core.clock, core.minor, began)

    async def flags(context: Context) -> Answer:
        return about().flagz(context)

    async def status(context: Context) -> Answer:
        return about().statusz(context)

    paths: dict[str, Handler] = {"/debug/": answer}
    if core.gates.enabled("ComponentFlagz"):
        paths["/flagz"] = flags
    if core.gates.enabled("ComponentStatusz"):
        paths["/statusz"] = status
    if not config.ui:
        return Part(feature=None, paths=paths)
    from hydrofoil.server.parts.ui import ui

    found = ui(core, limits)
    return replace(found, paths={**paths, **found.paths})
