"""The figures of a server for its page: resources, watches, requests."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import Any

from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import stopwatch
from hydrofoil.pace.pacer import Pacer
from hydrofoil.server.part import Core
from hydrofoil.server.parts.limits import Limits
from hydrofoil.server.request_metrics import LABELS, Row
from hydrofoil.server.watch_metrics import WatchRequest
from hydrofoil.watch.stream import WatchStream

SAMPLE_SECONDS = 1.0
SAMPLES = 6
"""Rates are those of about the last five seconds: the time between the oldest sample and the present."""
LASTING = frozenset(("WATCH", "CONNECT"))
"""The verbs of requests that last until their client leaves: how long is no latency."""
Pair = tuple[str, str]
"""Group and plural of a resource."""


class WriteRates:
    """The writes per second of each resource, from samples of their numbers."""

    def __init__(self, at: float, counts: Mapping[Pair, int]) -> None:
        """Begin with the numbers at a time in seconds."""
        self._samples = deque([(at, counts)], maxlen=SAMPLES)

    def add(self, at: float, counts: Mapping[Pair, int]) -> None:
        """Add a sample; the oldest one leaves."""
        self._samples.append((at, counts))

    def rate(self, at: float, pair: Pair, count: int) -> float:
        """Return the writes per second from the oldest sample to a number at a time."""
        begun, counts = self._samples[0]
        # Two looks in one moment say nothing of a rate.
        return max(count - counts.get(pair, 0), 0) / max(at - begun, 0.001)


class Stats:
    """The figures of one server."""

    def __init__(self, core: Core, limits: Limits) -> None:
        self._core = core
        self._limits = limits
        self._rates = WriteRates(stopwatch(), {})
        self._timer: asyncio.TimerHandle | None = None

    async def start(self) -> None:
        """Begin to sample the numbers of writes: what the start itself has written is no rate."""
        self._rates = WriteRates(stopwatch(), self._counts())
        self._again()

    async def close(self) -> None:
        """Stop sampling."""
        if self._timer is not None:
            self._timer.cancel()

    def _again(self) -> None:
        # By the time of the machine: a rate is one of this machine, whatever a test does to the server's clock.
        self._timer = self._core.clock.machine.later(SAMPLE_SECONDS, self._sample)

    def _sample(self) -> None:
        self._rates.add(stopwatch(), self._counts())
        self._again()

    def _resources(self) -> dict[Pair, Resource]:
        """Return a version of each resource that has objects."""
        return {
            (resource.group, resource.plural): resource
            for resource in self._core.catalog.resources()
            if "list" in resource.verbs and resource.group == resource.storage_group
        }

    def _counts(self) -> dict[Pair, int]:
        """Return the numbers of writes since the start, of those resources that had any."""
        collection = self._core.registry.collection
        found = {}
        for pair, resource in self._resources().items():
            if writes := collection(resource).uses.writes:
                found[pair] = sum(sum(row.counts) for row in writes.values())
        return found

    async def read(self) -> dict[str, Any]:
        """Return the figures: sizes in bytes, times in seconds.

        `watches` has the open ones, those whose readers are slower than the events first. `latencies` has about the
        time that a half, and that 99 of 100 requests of a kind took at most, since the start or a reset of the metrics.
        """
        # Requests that memos answer are counted when somebody looks.
        self._core.memos.fold()
        rows = self._core.metrics.requests.rows()
        requests = [row_figures(labels, row) for labels, row in rows.items() if labels[0] not in LASTING]
        requests.sort(key=lambda row: -row["requests"])
        watches = [self._watch(stream, request) for stream, request in self._core.metrics.watches.open.items()]
        watches.sort(key=lambda row: (not row["slow"], -row["lag"]))
        return {
            "resources": await self._sizes(),
            "watches": watches,
            "requests_in_flight": self._limits.executing(),
            "requests_waiting": self._limits.waiting(),
            "latencies": requests,
            "server": {"version": self._core.version["gitVersion"], "read_only": self._core.config.read_only},
        }

    async def _sizes(self) -> list[dict[str, Any]]:
        pacer, found = Pacer(), []
        counts, at = self._counts(), stopwatch()
        for pair, resource in self._resources().items():
            stats = self._core.registry.collection(resource).stats()
            found.append(
                {
                    "group": pair[0],
                    "resource": pair[1],
                    "objects": stats.objects,
                    "bytes": stats.bytes,
                    "writes_per_second": round(self._rates.rate(at, pair, counts.get(pair, 0)), 3),
                }
            )
            await pacer.pause()
        return found

    def _watch(self, stream: WatchStream, request: WatchRequest) -> dict[str, Any]:
        """Return an open watch; `lag` is the number of versions of its resource that it has yet to see."""
        events, revision = stream.position()
        watched = request.watched
        resource = self._core.catalog.find(watched.group, watched.version, watched.resource)
        present = 0 if resource is None else self._core.registry.collection(resource).revision
        return {
            "group": watched.group,
            "version": watched.version,
            "resource": watched.resource,
            "namespace": request.namespace,
            "name": request.name,
            "user": request.user,
            "agent": request.agent,
            "seconds": round(stopwatch() - request.begun, 3),
            "events": events,
            "bytes": stream.size,
            "resource_version": "" if revision is None else str(revision),
            "lag": 0 if revision is None else max(present - revision, 0),
            "slow": stream.behind,
        }


def row_figures(labels: tuple[str, ...], row: Row) -> dict[str, Any]:
    """Return the figures of a kind of requests; `labels` are those of the metrics."""
    named = dict(zip(LABELS, labels, strict=True))
    count = sum(row.seconds.counts)
    return {
        "verb": named["verb"],
        "group": named["group"],
        "resource": named["resource"],
        "subresource": named["subresource"],
        "requests": sum(row.codes.values()),
        "errors": sum(times for code, times in row.codes.items() if code >= 400),
        "mean": row.seconds.sum / count if count else 0.0,
        "p50": row.seconds.quantile(0.5) if count else 0.0,
        "p99": row.seconds.quantile(0.99) if count else 0.0,
    }
