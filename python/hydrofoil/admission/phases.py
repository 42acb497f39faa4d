"""The duration of admission, under upstream's names (apiserver `pkg/admission/metrics`)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from prometheus_client.core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

BOUNDS = (0.005, 0.025, 0.1, 0.5, 1.0, 2.5)
_PREFIX = "apiserver_admission_"
_STEP = (
    "[STABLE] Admission sub-step latency histogram in seconds, broken out for each operation and API resource and step "
    "type (validate or admit)."
)
_CONTROLLER = (
    "[STABLE] Admission controller latency histogram in seconds, identified by name and broken out for each operation "
    "and API resource and type (validate or admit)."
)


class Ran:
    """The names of the plug-ins that ran in a phase; there is one for each sequence of them."""

    __slots__ = ("_phases", "names")

    def __init__(self, phases: Phases, names: tuple[str, ...]) -> None:
        self._phases = phases
        self.names = names

    def until(self, at: int) -> Ran:
        """Return those up to the one at a place."""
        return self._phases.ran(self.names[: at + 1])


class Spread:
    """The counts of a histogram."""

    __slots__ = ("counts", "seconds")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds


Key = tuple[str, str, bool, Ran]
"""Type, operation, whether it was rejected, and the plug-ins that ran."""


class Phases(Collector):
    """Counts of phases: one a phase and request, from which those of the plug-ins follow.

    A plug-in that does not wait takes less than the first bound, so that only those that waited are timed themselves.
    """

    def __init__(self) -> None:
        self._phases: dict[Key, Spread] = {}
        self._ran: dict[tuple[str, ...], Ran] = {}
        self._waited: dict[tuple[str, str, str, bool], Spread] = {}

    def ran(self, names: Iterable[str]) -> Ran:
        """Return the one of a sequence of plug-ins."""
        key = tuple(names)
        return self._ran.setdefault(key, Ran(self, key))

    def add(self, kind: str, operation: str, seconds: float, ran: Ran, *, rejected: bool) -> None:
        """Count a phase, with the plug-ins that ran in it."""
        key = (kind, operation, rejected, ran)
        found = self._phases.get(key)
        if found is None:
            found = self._phases[key] = Spread()
        found.add(seconds)

    def waited(self, name: str, kind: str, operation: str, seconds: float, *, rejected: bool) -> None:
        """Count a plug-in that waited."""
        self._waited.setdefault((name, operation, kind, rejected), Spread()).add(seconds)

    def collect(self) -> Iterable[Metric]:
        """Return both metrics."""
        steps: dict[tuple[str, str, bool], Spread] = {}
        plugins: dict[tuple[str, str, str, bool], Spread] = {}
        for (kind, operation, rejected, ran), spread in self._phases.items():
            _merge(steps.setdefault((operation, kind, rejected), Spread()), spread)
            for at, name in enumerate(ran.names):
                # Only the last one has rejected the request.
                key = (name, operation, kind, rejected and at == len(ran.names) - 1)
                plugins.setdefault(key, Spread()).counts[0] += sum(spread.counts)
        for key, spread in self._waited.items():
            found = plugins.setdefault(key, Spread())
            found.counts[0] = max(0, found.counts[0] - sum(spread.counts))
            _merge(found, spread)
        family = HistogramMetricFamily(
            f"{_PREFIX}step_admission_duration_seconds", _STEP, labels=("operation", "type", "rejected")
        )
        for (operation, kind, rejected), spread in steps.items():
            _show(family, (operation, kind, _text(rejected)), spread)
        yield family
        family = HistogramMetricFamily(
            f"{_PREFIX}controller_admission_duration_seconds",
            _CONTROLLER,
            labels=("name", "operation", "type", "rejected"),
        )
        for (name, operation, kind, rejected), spread in plugins.items():
            _show(family, (name, operation, kind, _text(rejected)), spread)
        yield family


def _text(rejected: bool) -> str:
    return "true" if rejected else "false"


def _merge(into: Spread, spread: Spread) -> None:
    into.counts = [a + b for a, b in zip(into.counts, spread.counts, strict=True)]
    into.seconds += spread.seconds


def _show(family: HistogramMetricFamily, labels: Sequence[str], spread: Spread) -> None:
    total, buckets = 0, []
    for bound, count in zip((*map(str, BOUNDS), "+Inf"), spread.counts, strict=True):
        total += count
        buckets.append((bound, float(total)))
    family.add_metric(labels, buckets, spread.seconds)
