"""The duration of admission, under upstream's names (apiserver `pkg/admission/metrics`)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from prometheus_client.core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from hydrofoil.counting import Histogram

BOUNDS = (0.005, 0.025, 0.1, 0.5, 1.0, 2.5)
FINE = tuple(sorted({*BOUNDS, *(1e-6 * 1.5**step for step in range(36))}))
"""The buckets of phases, in seconds: quantiles are estimated from them."""
QUANTILES = (0.5, 0.9, 0.99)
"""Those of a summary (component-base `defObjectives`)."""
_PREFIX = "apiserver_admission_"
_STEP = (
    "[STABLE] Admission sub-step latency histogram in seconds, broken out for each operation and API resource and step "
    "type (validate or admit)."
)
_SUMMARY = (
    "[ALPHA] Admission sub-step latency summary in seconds, broken out for each operation and API resource and step "
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


Key = tuple[str, str, bool, Ran]
"""Type, operation, whether it was rejected, and the plug-ins that ran."""


class Phases(Collector):
    """Counts of phases: one a phase and request, from which those of the plug-ins follow.

    A plug-in that does not wait takes less than the first bound, so that only those that waited are timed themselves.
    """

    def __init__(self) -> None:
        self._phases: defaultdict[Key, Histogram] = defaultdict(_fine)
        self._ran: dict[tuple[str, ...], Ran] = {}
        self._waited: defaultdict[tuple[str, str, str, bool], Histogram] = defaultdict(_empty)

    def ran(self, names: Iterable[str]) -> Ran:
        """Return the one of a sequence of plug-ins."""
        key = tuple(names)
        return self._ran.setdefault(key, Ran(self, key))

    def spread(self, kind: str, operation: str, ran: Ran, *, rejected: bool) -> Histogram:
        """Return the durations of phases in which these plug-ins ran."""
        return self._phases[kind, operation, rejected, ran]

    def waited(self, name: str, kind: str, operation: str, seconds: float, *, rejected: bool) -> None:
        """Count a plug-in that waited."""
        self._waited[name, operation, kind, rejected].observe(seconds)

    def collect(self) -> Iterable[Metric]:
        """Return the metrics."""
        steps: defaultdict[tuple[str, str, bool], Histogram] = defaultdict(_fine)
        calls: Counter[tuple[str, str, str, bool]] = Counter()
        for (kind, operation, rejected, ran), spread in self._phases.items():
            count = sum(spread.counts)
            if not count:
                continue
            steps[operation, kind, rejected].add(spread)
            for at, name in enumerate(ran.names):
                # Only the last one has rejected the request.
                calls[name, operation, kind, rejected and at == len(ran.names) - 1] += count
        family = HistogramMetricFamily(
            f"{_PREFIX}step_admission_duration_seconds", _STEP, labels=("operation", "type", "rejected")
        )
        for (operation, kind, rejected), spread in steps.items():
            coarse = _empty()
            coarse.add(spread)
            family.add_metric((operation, kind, _text(rejected)), coarse.cumulative(), spread.sum)
        yield family
        yield _summary(steps)
        family = HistogramMetricFamily(
            f"{_PREFIX}controller_admission_duration_seconds",
            _CONTROLLER,
            labels=("name", "operation", "type", "rejected"),
        )
        for key in {**calls, **self._waited}:
            spread = self._waited[key].copy() if key in self._waited else _empty()
            spread.observe(0.0, max(0, calls[key] - sum(spread.counts)))
            name, operation, kind, rejected = key
            family.add_metric((name, operation, kind, _text(rejected)), spread.cumulative(), spread.sum)
        yield family


def _summary(steps: Mapping[tuple[str, str, bool], Histogram]) -> Metric:
    """Return the quantiles of all phases since the start; upstream has those of the last hours."""
    name = f"{_PREFIX}step_admission_duration_seconds_summary"
    family = Metric(name, _SUMMARY, "summary")
    for (operation, kind, rejected), spread in steps.items():
        labels = {"operation": operation, "type": kind, "rejected": _text(rejected)}
        for part in QUANTILES:
            family.add_sample(name, {**labels, "quantile": f"{part:g}"}, spread.quantile(part))
        family.add_sample(f"{name}_sum", labels, spread.sum)
        family.add_sample(f"{name}_count", labels, sum(spread.counts))
    return family


def _empty() -> Histogram:
    return Histogram(BOUNDS)


def _fine() -> Histogram:
    return Histogram(FINE)


def _text(rejected: bool) -> str:
    return "true" if rejected else "false"
