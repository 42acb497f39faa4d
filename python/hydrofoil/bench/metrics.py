"""The metrics of a result that are compared, and how sure each is."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, stdev
from typing import Any

Result = dict[str, Any]
METRICS = (
    *("per_second", "objects_per_second", "wire_mb_per_second", "latency_p50_ms", "latency_p99_ms"),
    *("first_byte_p50_ms", "lag_p50_ms", "lag_p99_ms", "cpu_us_per_op", "cpu_s_per_million_objects"),
    *("client_cpu_us_per_op", "rss_mb_peak"),
)
HIGHER = frozenset(("per_second", "objects_per_second", "wire_mb_per_second"))
"""Metrics of which more is better."""
UNJUDGED = frozenset(("client_cpu_us_per_op",))
"""Metrics that say nothing of a server."""
INSIDE = {
    "latency_p50_ms": ("latency_ms", "p50"),
    "latency_p99_ms": ("latency_ms", "p99"),
    "first_byte_p50_ms": ("first_byte_ms", "p50"),
    "lag_p50_ms": ("lag_from_sent_ms", "p50"),
    "lag_p99_ms": ("lag_from_sent_ms", "p99"),
}
STUDENT = (63.66, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.25, 3.169, 3.106, 3.055, 3.012, 2.977, 2.947)
"""Student's t for an interval of 99 %, by the number of repeats less two."""
ALIKE = 0.05
"""The difference up to which two values are alike, however sure they are."""
ALIKE_MEMORY = 0.25
"""The same for memory: the repeats on one server inherit it, so that their interval is too narrow."""


def value(result: Result, metric: str) -> float | None:
    """Return the figure of a metric, if the result has it."""
    if metric in INSIDE:
        outer, inner = INSIDE[metric]
        found = result[outer]
        return None if found is None else found[inner]
    figure: float | None = result[metric]
    return figure


def interval(values: Sequence[float]) -> list[float] | None:
    """Return the interval of repeats: 99 % by Student's t, and no less than their range. None for a single one."""
    if len(values) < 2:
        return None
    middle = fmean(values)
    half = STUDENT[min(len(values) - 2, len(STUDENT) - 1)] * stdev(values) / sqrt(len(values))
    return [round(min(middle - half, *values), 4), round(max(middle + half, *values), 4)]


def judge(metric: str, first: Result, other: Result) -> str:
    """Return whether the other result is `better` or `worse`; `alike` unless the intervals of both are apart."""
    base, found = value(first, metric), value(other, metric)
    mine, theirs = (result.get("intervals", {}).get(metric) for result in (first, other))
    if not base or found is None or mine is None or theirs is None or metric in UNJUDGED:
        return "alike"
    if abs(found / base - 1) <= (ALIKE_MEMORY if metric == "rss_mb_peak" else ALIKE):
        return "alike"
    if mine[0] <= theirs[1] and theirs[0] <= mine[1]:
        return "alike"
    return "better" if (found > base) == (metric in HIGHER) else "worse"
