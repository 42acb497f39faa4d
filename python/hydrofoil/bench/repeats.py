"""Repeats of one measurement as one result: medians, intervals, and a merged histogram."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Any

from hydrofoil.bench.metrics import METRICS, interval, value
from hydrofoil.bench.result import FIGURES, MEASURED, STATUSES, TIMES, Result

TOTALS = frozenset(("ops", "seconds", "objects", "wire_bytes_in", "cpu_seconds"))
"""Figures that are added up; of all others the median is taken."""
BULKY = frozenset(("samples", "histogram_us", "proof", "repeats", "intervals"))


def merge(results: Sequence[Result]) -> Result:
    """Return the result of repeats. One that was not measured stands for all: it ends its case."""
    failed = next((result for result in results if result["status"] not in MEASURED), None)
    if failed is not None or len(results) == 1:
        return failed or results[0]
    whole = [result for result in results if result["ops"]] or [results[0]]
    made = dict(whole[-1])
    for name in FIGURES:
        found = [result[name] for result in whole if result[name] is not None]
        if not found:
            continue
        if name in TIMES:
            made[name] = {key: round(median(times[key] for times in found), 3) for key in found[0]}
            made[name]["count"] = sum(times["count"] for times in found)
        else:
            made[name] = round(sum(found), 4) if name in TOTALS else round(median(found), 4)
    for name in ("reconnects", "retries_429"):
        made[name] = sum(result[name] for result in whole)
    made["status"] = sorted((result["status"] for result in whole), key=STATUSES.index)[len(whole) // 2]
    if whole[-1]["status"] == "stopped":
        made["status"] = "stopped"
    made["histogram_us"] = merge_histograms([result["histogram_us"] for result in whole])
    made["samples"] = join_samples(whole)
    made["repeats"] = [{key: item for key, item in result.items() if key not in BULKY} for result in whole]
    made["intervals"] = {}
    for metric in METRICS:
        values = [figure for result in whole if (figure := value(result, metric)) is not None]
        if len(values) == len(whole) and (between := interval(values)) is not None:
            made["intervals"][metric] = between
    return made


def merge_histograms(given: Sequence[Sequence[Sequence[int]]]) -> list[list[int]]:
    """Return one histogram: counts of the same duration are added."""
    counts: Counter[int] = Counter()
    for histogram in given:
        for micros, count in histogram:
            counts[micros] += count
    return [[micros, counts[micros]] for micros in sorted(counts)]


def join_samples(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return the samples of all repeats, one after the other."""
    joined: list[dict[str, Any]] = []
    for result in results:
        start = joined[-1]["t"] if joined else 0.0
        joined += [{**sample, "t": round(start + sample["t"], 3)} for sample in result["samples"]]
    return joined
