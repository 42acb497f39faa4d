"""Metrics of priority and fairness, under upstream's names (apiserver `pkg/util/flowcontrol/metrics`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from hydrofoil.clock import stopwatch
from hydrofoil.counting import Histogram
from hydrofoil.fairness.flow import SEATS, Counts
from hydrofoil.fairness.level import Level
from hydrofoil.fairness.service import Fairness

PREFIX = "apiserver_flowcontrol_"
READS = frozenset(("get", "list", "watch"))
BOTH = ("priority_level", "flow_schema")
GAUGES: tuple[tuple[str, str, Callable[[Counts], float]], ...] = (
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
    ("current_r", "[ALPHA] R(time of last change)", lambda v: v.queues.now),
    ("demand_seats_high_watermark", "[ALPHA] High watermark of demand_seats", lambda v: v.queues.seats.high),
    ("demand_seats_average", "[ALPHA] Time-weighted average of demand_seats", lambda v: v.queues.seats.average),
    ("demand_seats_stdev", "[ALPHA] Standard deviation of demand_seats", lambda v: v.queues.seats.deviation),
    ("demand_seats_smoothed", "[ALPHA] Smoothed seat demands", lambda v: v.queues.seats.smoothed),
)


class FlowMetrics(Collector):
    """The families of one server; its counts are plain numbers until someone looks."""

    def __init__(self, fairness: Fairness) -> None:
        self._fairness = fairness

    @property
    def executing(self) -> tuple[Callable[[], int], Callable[[], int]]:
        """Return functions that count the requests in flight: those that read, and those that write."""

        def count(writes: bool) -> int:
            levels = [level.queues for level in self._fairness.levels.values()]
            running = [r for level in levels for r in (*(t.request for t in level.running), *level.passing)]
            return sum(r is not None and (r.info.verb not in READS) is writes for r in running)

        return partial(count, False), partial(count, True)

    @property
    def queued(self) -> tuple[Callable[[], int], Callable[[], int]]:
        """Return functions that count the requests in queues, as `executing`."""

        def count(writes: bool) -> int:
            queues = [q for level in self._fairness.levels.values() for q in level.queues.queues]
            waiting = [t.request for q in queues for t in q.waiting]
            return sum(r is not None and (r.info.verb not in READS) is writes for r in waiting)

        return partial(count, False), partial(count, True)

    def collect(self) -> Iterable[Metric]:
        """Return the families."""
        every = list(self._fairness.counts.values())
        for name, text, gauged in GAUGES:
            gauge = GaugeMetricFamily(PREFIX + name, text, labels=BOTH)
            for c in every:
                gauge.add_metric((c.level, c.schema), gauged(c))
            yield gauge
        text = "[BETA] Number of requests executed by API Priority and Fairness subsystem"
        yield counter("dispatched_requests", text, BOTH, (((c.level, c.schema), c.dispatched) for c in every))
        text = (
            "[ALPHA] Number of times a dispatch attempt resulted in a non accommodation due to lack of available seats"
        )
        samples = [((c.level, c.schema), c.unfit) for c in every if c.unfit]
        yield counter("request_dispatch_no_accommodation", text, BOTH, samples)
        text = "[BETA] Number of requests rejected by API Priority and Fairness subsystem"
        refusals = [((c.level, c.schema, why), n) for c in every for why, n in c.rejected.items()]
        yield counter("rejected_requests", text, (*BOTH, "reason"), refusals)
        yield from self._histograms(every)
        for name, text, measured in LEVELS:
            gauge = GaugeMetricFamily(PREFIX + name, f"{text} for each priority level", labels=BOTH[:1])
            for level, found in sorted(self._fairness.levels.items()):
                gauge.add_metric((level,), measured(found))
            yield gauge
        text = (
            "[ALPHA] Observations, at the end of every nanosecond, of (the number of seats each priority level could "
            "use) / (nominal number of seats for that level)"
        )
        ratios = HistogramMetricFamily(PREFIX + "demand_seats", text, labels=BOTH[:1])
        now = stopwatch()
        for level, found in sorted(self._fairness.levels.items()):
            # The demand of a level without a limit is not measured over time.
            if not found.config.exempt:
                ratio = found.queues.ratios.until(found.seats.nominal, now)
                ratios.add_metric((level,), ratio.cumulative(), ratio.sum)
        yield ratios
        text = "[ALPHA] Fair fraction of server's concurrency to allocate to each priority level that can use it"
        yield GaugeMetricFamily(PREFIX + "seat_fair_frac", text, self._fairness.fraction)

    @staticmethod
    def _histograms(every: list[Counts]) -> Iterable[Metric]:
        text = "[BETA] Length of time a request spent waiting in its queue"
        waits = HistogramMetricFamily(PREFIX + "request_wait_duration_seconds", text, labels=(*BOTH, "execute"))
        text = "[ALPHA] Duration of initial stage (for a WATCH) or any (for a non-WATCH) stage of request execution"
        runs = HistogramMetricFamily(PREFIX + "request_execution_seconds", text, labels=(*BOTH, "type"))
        text = "[ALPHA] Number of estimated seats (maximum of initial and final seats) associated with requests"
        seats = HistogramMetricFamily(PREFIX + "work_estimated_seats", text, labels=BOTH)
        text = (
            "[ALPHA] Length of queue in the API Priority and Fairness subsystem, as seen by each request after it is "
            "enqueued"
        )
        lengths = HistogramMetricFamily(PREFIX + "request_queue_length_after_enqueue", text, labels=BOTH)
        for c in every:
            waited = {label: h.copy() for label, h in c.waited.items()}
            waited["true"].observe(0.0, c.at_once)
            for family, by in ((waits, waited), (runs, c.execution)):
                for label, h in by.items():
                    if any(h.counts):
                        family.add_metric((c.level, c.schema, label), h.cumulative(), h.sum)
            work = c.work
            if c.level == "exempt":
                # Each takes one seat.
                work = Histogram(SEATS)
                work.observe(1.0, c.dispatched)
            else:
                # A request that need not wait is alone in its queue.
                length = c.lengths.copy()
                length.observe(1, c.at_once)
                if any(length.counts):
                    lengths.add_metric((c.level, c.schema), length.cumulative(), length.sum)
            seats.add_metric((c.level, c.schema), work.cumulative(), work.sum)
        yield waits
        yield runs
        yield seats
        yield lengths


def counter(
    name: str, text: str, labels: tuple[str, ...], samples: Iterable[tuple[tuple[str, ...], int]]
) -> CounterMetricFamily:
    """Return a counter of several labels."""
    family = CounterMetricFamily(PREFIX + name, text, labels=labels)
    for values, value in samples:
        family.add_metric(values, value)
    return family
