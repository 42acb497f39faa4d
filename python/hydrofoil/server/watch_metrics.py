"""Metrics of sent events (apiserver `pkg/endpoints/metrics`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from prometheus_client.core import CounterMetricFamily, Metric

from hydrofoil.counting import Histogram
from hydrofoil.server.request_metrics import distribution
from hydrofoil.watch.stream import WatchStream


class Watched(NamedTuple):
    """The collection of a watch, and how much of it the path names: a resource, a namespace or the cluster."""

    group: str
    version: str
    resource: str
    scope: str


class WatchRequest(NamedTuple):
    """The request of an open watch."""

    watched: Watched
    namespace: str = ""
    name: str = ""
    """The name in the path; empty for a whole collection."""
    user: str = ""
    agent: str = ""
    begun: float = 0.0
    """When it began, in seconds of the stopwatch."""


Name = tuple[str, ...]
MARKED = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60)
SIZES = tuple(1024.0 * 2**n for n in range(8))


class Watches:
    """The streams of one server: open ones are asked when someone looks."""

    def __init__(self) -> None:
        self.open: dict[WatchStream, WatchRequest] = {}
        self._events: Counter[Name] = Counter()
        self._initial: Counter[tuple[str, str]] = Counter()
        self._sizes: dict[tuple[str, ...], Histogram] = {}
        self._terminated: Counter[tuple[str, str]] = Counter()
        self._marked: dict[Name, Histogram] = {}

    def reset(self) -> None:
        """Forget the streams that have ended."""
        self._events.clear()
        self._initial.clear()
        self._sizes.clear()
        self._terminated.clear()
        self._marked.clear()

    def ended(self, stream: WatchStream) -> None:
        """Add up a stream for good."""
        watched = self.open.pop(stream).watched
        self._add(stream, watched)
        if stream.lapped:
            self._terminated[watched.group, watched.resource] += 1

    def _add(self, stream: WatchStream, watched: Watched) -> None:
        if stream.marked is not None:
            self._marked.setdefault(watched, Histogram(MARKED)).observe(stream.marked)
        count = stream.position()[0]
        if not count:
            return
        name = watched[:3]
        self._events[name] += count
        if stream.initial:
            self._initial[watched.group, watched.resource] += stream.initial
        # Events are joined before they are sent: each counts with the mean of its stream.
        self._sizes.setdefault(name, Histogram(SIZES)).observe(stream.size / count, count)

    def taken(self) -> Watches:
        """Return the present state, for another thread."""
        found = Watches()
        found._events, found._initial = self._events.copy(), self._initial.copy()
        found._sizes = {name: row.copy() for name, row in self._sizes.items()}
        found._terminated = self._terminated.copy()
        found._marked = {name: row.copy() for name, row in self._marked.items()}
        for stream, request in self.open.items():
            found._add(stream, request.watched)
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
        text = (
            "[BETA] Response latency distribution in seconds for watch list requests broken by group, version, "
            "resource and scope."
        )
        if self._marked:
            yield distribution("apiserver_watch_list_duration_seconds", text, (*labels, "scope"), self._marked)
