"""`--fail-if`: bounds of the figures, as exit codes of a pipeline need them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from hydrofoil.options import Refused

FAILED = 99
"""The exit code when a bound is exceeded, as k6 has it."""
FORM = re.compile(
    r"(?:(?P<case>[a-z-]+):)?\s*(?P<metric>[a-z]+[\d.]*)\s*(?P<sign>[<>]=?)\s*(?P<number>[\d.]+)\s*(?P<unit>\S*)"
)
PERCENTILES = {"p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "p99.9": "p99.9", "p999": "p99.9", "max": "max"}
FIGURES = {"rate": "per_second", "objects": "objects_per_second", "cpu": "cpu_us_per_op", "memory": "rss_mb_peak"}
UNITS = {"us": 0.001, "ms": 1.0, "": 1.0, "s": 1000.0}
COMPARED = {"p50": ("latency_p50_ms", "lag_p50_ms"), "p99": ("latency_p99_ms", "lag_p99_ms")}
Result = dict[str, Any]


class Threshold(NamedTuple):
    """A bound of a metric: results beyond it fail."""

    text: str
    case: str
    metric: str
    sign: str
    bound: float
    """Milliseconds for percentiles; per cent of the first run where `relative`."""
    relative: bool


def threshold(text: str) -> Threshold:
    """Read `p99>50ms`, `list:rate<100` or `p99>10%`. Raise Refused."""
    found = FORM.fullmatch(text.strip())
    known = (*PERCENTILES, *FIGURES)
    if found is None or found["metric"] not in known:
        raise Refused(f"<flag> {text!r} must be like p99>50ms, list:rate<100 or p99>10%; metrics: {', '.join(known)}")
    metric, unit = found["metric"], found["unit"]
    relative = unit == "%"
    if relative and metric not in (*COMPARED, *FIGURES):
        raise Refused(f"<flag> {text!r}: comparisons have {', '.join((*COMPARED, *FIGURES))}")
    if not relative and unit not in (UNITS if metric in PERCENTILES else ("",)):
        raise Refused(f"<flag> {text!r}: {metric} has no unit {unit!r}")
    try:
        number = float(found["number"])
    except ValueError:
        raise Refused(f"<flag> {text!r}: {found['number']!r} is no number") from None
    scale = UNITS[unit] if metric in PERCENTILES and not relative else 1.0
    return Threshold(text, found["case"] or "", metric, found["sign"], number * scale, relative)


def exceeds(found: float, sign: str, bound: float) -> bool:
    """Report whether a figure is beyond a bound."""
    return {">": found > bound, ">=": found >= bound, "<": found < bound, "<=": found <= bound}[sign]


def figure(result: Result, metric: str) -> float | None:
    """Return the figure of a metric of a threshold, if the result has it."""
    if metric in FIGURES:
        found: float | None = result[FIGURES[metric]]
        return found
    times = result["lag_from_sent_ms"] or result["latency_ms"] or {}
    return times.get(PERCENTILES[metric])


def failures(thresholds: Sequence[Threshold], results: Sequence[Result]) -> list[str]:
    """Return a line for each result that is beyond an absolute bound."""
    lines = []
    for one in thresholds:
        for result in results:
            found = None if one.relative or one.case not in ("", result["case"]) else figure(result, one.metric)
            if found is not None and exceeds(found, one.sign, one.bound):
                unit = " ms" if one.metric in PERCENTILES else ""
                lines.append(f"{result['name']}: {one.metric} is {found:,.2f}{unit}: --fail-if {one.text}")
    return lines


def regressions(thresholds: Sequence[Threshold], rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return a line for each row of a comparison that has changed by more than a bound in per cent.

    Where both sides were repeated, their intervals have to be apart as well.
    """
    lines = []
    for one in (one for one in thresholds if one.relative):
        names = COMPARED.get(one.metric) or (FIGURES.get(one.metric, ""),)
        for row in rows:
            if row["metric"] not in names or one.case not in ("", row["case"]):
                continue
            for ratio, verdict in zip(row["ratios"][1:], row["verdicts"][1:], strict=True):
                grown = None if ratio is None else (ratio - 1) * 100
                change = None if grown is None else grown if one.sign[0] == ">" else -grown
                proven = verdict != "alike" or None in row["intervals"]
                if change is not None and proven and exceeds(change, ">" + one.sign[1:], one.bound):
                    lines.append(f"{row['name']}: {row['metric']} changed by {grown:+.1f}%: --fail-if {one.text}")
    return lines
