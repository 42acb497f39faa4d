"""The limits on requests in flight: by priority and fairness, or by two numbers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from msgspec import Struct
from prometheus_client.registry import Collector

from hydrofoil.endpoints.filters.fairness import fairness
from hydrofoil.endpoints.filters.in_flight import InFlight
from hydrofoil.fairness.metrics import FlowMetrics
from hydrofoil.fairness.service import Fairness
from hydrofoil.server import deprecated
from hydrofoil.server.chain import Place
from hydrofoil.server.part import Core, Part
from hydrofoil.server.request_metrics import InFlightMetrics

Restore = Callable[[], Awaitable[None]]


class Limits(Struct, frozen=True):
    """The limits of one server."""

    in_flight: InFlight
    fairness: Fairness | None

    def executing(self) -> int:
        """Return the number of requests that are being answered; watches count until their first events."""
        if self.fairness is None:
            return self.in_flight.reading.taken + self.in_flight.writing.taken
        return sum(level.queues.executing for level in self.fairness.levels.values())

    def waiting(self) -> int:
        """Return the number of requests in queues."""
        return 0 if self.fairness is None else sum(level.queues.waiting for level in self.fairness.levels.values())


def limits(core: Core, restore: Restore) -> Part[Limits]:
    """Return the limits; `restore` creates required objects of priority and fairness that are missing.

    Raise ValueError with one line.
    """
    config, metrics = core.config, core.metrics
    reading, writing = config.max_requests_inflight, config.max_mutating_requests_inflight
    region = None if core.worker is None else core.worker.region
    in_flight = InFlight(reading, writing, metrics.dropped, region)
    hidden = [deprecated.Hidden(core.registry, in_flight)] if config.show_hidden_metrics_for_version else []
    if not config.enable_priority_and_fairness or config.read_only:
        # A dump may lack the required objects of priority and fairness, and nobody may create them.
        running = (lambda: in_flight.reading.taken), (lambda: in_flight.writing.taken)
        return Part(
            feature=Limits(in_flight, None),
            filters={Place.LIMIT: in_flight.filter},
            collectors=lambda: [InFlightMetrics(running, (int, int)), *hidden],
        )
    if not reading + writing:
        why = "they must add up to something positive"
        text = f"MaxRequestsInFlight={reading} and MaxMutatingRequestsInFlight={writing}"
        raise ValueError(f"invalid configuration: {text}; {why}")
    fair = Fairness(core.registry, core.hub, core.clock, reading + writing, core.memos.forget, region)

    async def start() -> None:
        # The required objects exist by now: the levels are made of them.
        await fair.start(restore)

    def collectors() -> Iterable[Collector]:
        flows = FlowMetrics(fair)
        return [InFlightMetrics(flows.executing, flows.queued), flows, *hidden]

    return Part(
        feature=Limits(in_flight, fair),
        start=start,
        close=fair.close,
        filters={Place.LIMIT: fairness(fair, metrics.dropped)},
        collectors=collectors,
    )
