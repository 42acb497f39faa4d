"""Metrics of sent events (apiserver `pkg/endpoints/metrics`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, Metric

from hydrofoil.counting import Histogram
from hydrofoil.server.request_metrics import distribution
from hydrofoil.watch.stream import WatchStream

Name = tuple[str, str, str]
"""Group, version and plural."""
SIZES = tuple(1024.0 * 2**n for n in range(8))


class Watches:
    """The streams of one server: open ones are asked when someone looks."""

    def __init__(self) -> None:
        self.open: dict[WatchStream, Name] = {}
        self._events: Counter[Name] = Counter()
        self._initial: Counter[tuple[str, str]] = Counter()
        self._sizes: dict[tuple[str, ...], Histogram] = {}
        self._terminated: Counter[tuple[str, str]] = Counter()

    def reset(self) -> None:
        """Forget the streams that have ended."""
        self._events.clear()
        self._initial.clear()
        self._sizes.clear()
        self._terminated.clear()

    def ended(self, stream: WatchStream) -> None:
        """Add up a stream for good."""
        name = self.open.pop(stream)
        self._add(stream, name, self._events, self._initial, self._sizes)
        if stream.lapped:
            self._terminated[name[0], name[2]] += 1

    @staticmethod
    def _add(
        stream: WatchStream,
        name: Name,
        events: Counter[Name],
        initial: Counter[tuple[str, str]],
        sizes: dict[tuple[str, ...], Histogram],
    ) -> None:
        count = stream.position()[0]
        if not count:
            return
        events[name] += count
        if stream.initial:
            initial[name[0], name[2]] += stream.initial
        # Events are joined before they are sent: each counts with the mean of its stream.
        sizes.setdefault(name, Histogram(SIZES)).observe(stream.size / count, count)

    def taken(self) -> Watches:
        """Return the present state, for another thread."""
        found = Watches()
        found._events, found._initial = self._events.copy(), self._initial.copy()
        found._sizes = {name: row.copy() for name, row in self._sizes.items()}
        found._terminated = self._terminated.copy()
        for stream, name in self.open.items():
            self._add(stream, name, found._events, found._initial, found._sizes)
        return found

    def collect(self) -> Iterable[Metric]:
        """Yield the families."""
        events, initial, sizes = self._events, self._initial, self._sizes
        labels = ("group", "version", "resource")
        total = CounterMetricFamily(
            "apiserver_watch_events", "[ALPHA] Number of events sent in watch clients", labels=labels
        )
        for name, count in events.items():
            total.add_metric(name, count)
        yield total
        yield distribution(
            "apiserver_watch_events_sizes", "[ALPHA] Watch event size distribution in bytes", labels, sizes
        )
        text = "[ALPHA] Counter of init events processed in watch cache broken by resource type."
        init = CounterMetricFamily("apiserver_init_events", text, labels=("group", "resource"))
        for pair, count in initial.items():
            init.add_metric(pair, count)
        yield init
        text = "[ALPHA] Counter of watchers closed due to unresponsiveness broken by resource type."
        ended = CounterMetricFamily("apiserver_terminated_watchers", text, labels=("group", "resource"))
        for pair, count in self._terminated.items():
            ended.add_metric(pair, count)
        yield ended
