"""Metrics of priority and fairness, under upstream's names (apiserver `pkg/util/flowcontrol/metrics`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from hydrofoil import engine
from hydrofoil.counting import Histogram
from hydrofoil.fairness.level import Level
from hydrofoil.fairness.service import Fairness

PREFIX = "apiserver_flowcontrol_"
BOTH = ("priority_level", "flow_schema")
GAUGES: tuple[tuple[str, str, Callable[[engine.FlowCounts], float]], ...] = (
    ("current_inqueue_requests", "[BETA] Number of requests currently pending in queues", lambda c: c.waiting),
    ("current_inqueue_seats", "[ALPHA] Number of seats currently pending in queues", lambda c: c.waiting_seats),
    (
        "current_executing_requests",
        "[BETA] Number of requests in initial (for a WATCH) or any (for a non-WATCH) execution stage",
        lambda c: c.executing,
    ),
    (
        "current_executing_seats",
        "[BETA] Concurrency (number of seats) occupied by the currently executing requests",
        lambda c: c.seats,
    ),
)
LEVELS: tuple[tuple[str, str, Callable[[Level], float]], ...] = (
    ("nominal_limit_seats", "[BETA] Nominal number of execution seats", lambda v: v.seats.nominal),
    ("lower_limit_seats", "[ALPHA] Configured lower bound on number of execution seats", lambda v: v.seats.least),
    ("upper_limit_seats", "[ALPHA] Configured upper bound on number of execution seats", lambda v: v.seats.most),
    ("current_limit_seats", "[ALPHA] current derived number of execution seats", lambda v: v.current),
    ("target_seats", "[ALPHA] Seat allocation targets", lambda v: v.target),
    ("current_r", "[ALPHA] R(time of last change)", lambda v: v.queues.progress),
    ("demand_seats_high_watermark", "[ALPHA] High watermark of demand_seats", lambda v: v.queues.high),
    ("demand_seats_average", "[ALPHA] Time-weighted average of demand_seats", lambda v: v.queues.average),
    ("demand_seats_stdev", "[ALPHA] Standard deviation of demand_seats", lambda v: v.queues.deviation),
    ("demand_seats_smoothed", "[ALPHA] Smoothed seat demands", lambda v: v.queues.smoothed),
)


Values = Iterable[tuple[tuple[str, ...], engine.Histogram]]
HISTOGRAMS: tuple[tuple[str, str, tuple[str, ...], Callable[[engine.FlowCounts], Values]], ...] = (
    (
        "request_wait_duration_seconds",
        "[BETA] Length of time a request spent waiting in its queue",
        (*BOTH, "execute"),
        lambda c: zip((("true",), ("false",)), c.waited, strict=True),
    ),
    (
        "request_execution_seconds",
        "[ALPHA] Duration of initial stage (for a WATCH) or any (for a non-WATCH) stage of request execution",
        (*BOTH, "type"),
        lambda c: zip((("regular",), ("watch",)), c.executed, strict=True),
    ),
    (
        "work_estimated_seats",
        "[ALPHA] Number of estimated seats (maximum of initial and final seats) associated with requests",
        BOTH,
        lambda c: (((), c.work),),
    ),
    (
        "request_queue_length_after_enqueue",
        "[ALPHA] Length of queue in the API Priority and Fairness subsystem, as seen by each request after it is "
        "enqueued",
        BOTH,
        lambda c: (((), c.lengths),),
    ),
)
"""Histograms by name, their text and labels, and the values of each further label."""
PHASES = (("executing", False), ("waiting", True))
OVER_TIME = "[ALPHA] Observations, at the end of every nanosecond, of"


class FlowMetrics(Collector):
    """The families of one server; its counts are plain numbers until someone looks."""

    def __init__(self, fairness: Fairness) -> None:
        self._fairness = fairness

    @property
    def executing(self) -> tuple[Callable[[], int], Callable[[], int]]:
        """Return functions that count the requests in flight: those that read, and those that write."""
        turns = self._fairness.dispatcher.native
        return partial(turns.requests, False, False), partial(turns.requests, True, False)

    @property
    def queued(self) -> tuple[Callable[[], int], Callable[[], int]]:
        """Return functions that count the requests in queues, as `executing`."""
        turns = self._fairness.dispatcher.native
        return partial(turns.requests, False, True), partial(turns.requests, True, True)

    def collect(self) -> Iterable[Metric]:
        """Return the families."""
        every = [((level, schema), counts) for (schema, level), counts in self._fairness.counts.items()]
        for name, text, gauged in GAUGES:
            gauge = GaugeMetricFamily(PREFIX + name, text, labels=BOTH)
            for labels, c in every:
                gauge.add_metric(labels, gauged(c))
            yield gauge
        text = "[BETA] Number of requests executed by API Priority and Fairness subsystem"
        yield counter("dispatched_requests", text, BOTH, ((labels, c.dispatched) for labels, c in every))
        text = (
            "[ALPHA] Number of times a dispatch attempt resulted in a non accommodation due to lack of available seats"
        )
        samples = [(labels, c.unfit) for labels, c in every if c.unfit]
        yield counter("request_dispatch_no_accommodation", text, BOTH, samples)
        text = "[BETA] Number of requests rejected by API Priority and Fairness subsystem"
        refusals = [((*labels, why), n) for labels, c in every for why, n in c.rejected.items()]
        yield counter("rejected_requests", text, (*BOTH, "reason"), refusals)
        for name, text, names, counted in HISTOGRAMS:
            family = HistogramMetricFamily(PREFIX + name, text, labels=names)
            for first, c in every:
                for rest, values in counted(c):
                    if any(values.counts):
                        add(family, (*first, *rest), values)
            yield family
        # The work of requests without a limit is not estimated.
        text = "[ALPHA] count of watchers for mutating requests in API Priority and Fairness"
        family = HistogramMetricFamily(f"{PREFIX}watch_count_samples", text, labels=BOTH)
        for labels, watchers in self._fairness.watched.items():
            add(family, labels, watchers)
        yield family
        levels = sorted(self._fairness.levels.items())
        for name, text, measured in LEVELS:
            gauge = GaugeMetricFamily(PREFIX + name, f"{text} for each priority level", labels=BOTH[:1])
            for level, found in levels:
                gauge.add_metric((level,), measured(found))
            yield gauge
        yield from self._ratios([(name, level.queues) for name, level in levels if not level.exempt])
        text = "[ALPHA] Fair fraction of server's concurrency to allocate to each priority level that can use it"
        yield GaugeMetricFamily(PREFIX + "seat_fair_frac", text, self._fairness.fraction)

    def _ratios(self, levels: list[tuple[str, engine.Queues]]) -> Iterable[Metric]:
        """Return what is measured over time; not of a level without a limit."""
        text = (
            f"{OVER_TIME} (the number of seats each priority level could use) / (nominal number of seats for that "
            "level)"
        )
        family = HistogramMetricFamily(PREFIX + "demand_seats", text, labels=BOTH[:1])
        for name, queues in levels:
            add(family, (name,), queues.demands())
        yield family
        text = f"{OVER_TIME} utilization of seats for any stage of execution (but only initial stage for WATCHes)"
        family = HistogramMetricFamily(PREFIX + "priority_level_seat_utilization", text, labels=(*BOTH[:1], "phase"))
        for name, queues in levels:
            add(family, (name, "executing"), queues.uses())
        yield family
        text = (
            f"{OVER_TIME} number of requests (as a fraction of the relevant limit) waiting or in any stage of "
            "execution (but only initial stage for WATCHes)"
        )
        name = PREFIX + "priority_level_request_utilization"
        family = HistogramMetricFamily(name, text, labels=("phase", *BOTH[:1]))
        for name, queues in levels:
            for phase, waits in PHASES:
                add(family, (phase, name), queues.requests_over_time(waits))
        yield family
        text = (
            f"{OVER_TIME} the number of requests (as a fraction of the relevant limit) waiting or in regular stage of "
            "execution"
        )
        name = PREFIX + "read_vs_write_current_requests"
        family = HistogramMetricFamily(name, text, labels=("phase", "request_kind"))
        turns = self._fairness.dispatcher.native
        for phase, waits in PHASES:
            for kind, writes in (("mutating", True), ("readOnly", False)):
                add(family, (phase, kind), turns.requests_over_time(writes, waits))
        yield family


def add(family: HistogramMetricFamily, labels: Sequence[str], found: engine.Histogram) -> None:
    """Add the values of a native histogram."""
    shown = Histogram.of(found)
    family.add_metric(labels, shown.cumulative(), shown.sum)


def counter(
    name: str, text: str, labels: tuple[str, ...], samples: Iterable[tuple[tuple[str, ...], int]]
) -> CounterMetricFamily:
    """Return a counter of several labels."""
    family = CounterMetricFamily(PREFIX + name, text, labels=labels)
    for values, value in samples:
        family.add_metric(values, value)
    return family
