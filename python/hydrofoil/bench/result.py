"""The result of a case, with the names of the JSON."""

from __future__ import annotations

from typing import Any, NamedTuple

from hydrofoil.bench.session import Measured

Result = dict[str, Any]
TIMES = ("latency_ms", "first_byte_ms", "lag_from_sent_ms", "lag_from_ack_ms")
"""Figures that are percentiles, with the number of operations."""
FIGURES = (
    *("ops", "seconds", "per_second", "offered_per_second", "load_per_second", "backlog_seconds", "objects"),
    *("objects_per_second", "body_bytes", "wire_bytes_in", "wire_mb_per_second", *TIMES, "cpu_seconds"),
    *("cpu_us_per_op", "cpu_s_per_million_objects", "client_cpu_us_per_op", "client_busy", "rss_mb_peak"),
)
"""The figures, which are null where a case has none."""
STATUSES = ("ok", "overloaded", "stopped", "skipped", "unreachable", "wrong")
MEASURED = frozenset(("ok", "overloaded", "stopped"))
"""The statuses of results whose figures are those of right answers; a stopped one may have none."""
SHARE = 0.1
"""The share of the measurement by which an overloaded server is behind at its end."""
LATE = 0.5
"""Seconds that events may come after the last write, however short the measurement is."""


def empty(case: str, name: str, encoding: str, gzip: bool, unit: str) -> Result:
    """Return a result without figures."""
    head: Result = {"case": case, "name": name, "encoding": encoding, "gzip": gzip, "unit": unit, "status": "ok"}
    counts = {"reconnects": 0, "retries_429": 0, "samples": [], "proof": [], "skipped": None, "error": None}
    return {**head, **dict.fromkeys(FIGURES), **counts, "histogram_us": [], "repeats": [], "intervals": {}}


class Schedule(NamedTuple):
    """The load that was asked for."""

    part: int
    """The part that has the rate: the writes beside watchers, else the operations themselves."""
    rate: float
    """Its operations a second; 0 for as many as possible."""
    seconds: float
    connections: int


def fill(result: Result, measured: Measured, schedule: Schedule) -> None:
    """Take the figures of a measurement."""
    outcome, server = measured.outcome, measured.server
    parts = [part for part in outcome["parts"] if part["shown"]]
    ops, seconds = sum(part["ops"] for part in parts), outcome["seconds"]
    objects = sum(part["objects"] for part in parts)
    result["reconnects"], result["retries_429"] = outcome["reconnects"], outcome["retries"]
    result["samples"] = [sample._asdict() for sample in measured.samples]
    result["histogram_us"] = outcome["histogram"]
    if not ops or not seconds:
        return
    result["ops"], result["seconds"], result["per_second"] = ops, round(seconds, 4), round(ops / seconds, 2)
    note_load(result, outcome, schedule)
    if objects:
        result["objects"], result["objects_per_second"] = objects, round(objects / seconds, 1)
    if len(parts) == 1 and parts[0]["body"]:
        result["body_bytes"] = parts[0]["body"]
    result["wire_bytes_in"] = outcome["wire_in"]
    result["wire_mb_per_second"] = round(outcome["wire_in"] / seconds / 1e6, 4)
    for name, key in zip(TIMES, ("latency", "first_byte", "lag_sent", "lag_acked"), strict=True):
        result[name] = outcome[key]
    result["client_cpu_us_per_op"] = round(measured.client / ops * 1e6, 2)
    result["client_busy"] = round(measured.client / seconds, 3)
    if server is not None:
        result["cpu_seconds"] = round(server.cpu, 3)
        result["cpu_us_per_op"] = round(server.cpu / ops * 1e6, 2)
        result["rss_mb_peak"] = round(server.rss, 1)
        if objects:
            result["cpu_s_per_million_objects"] = round(server.cpu / objects * 1e6, 3)


def note_load(result: Result, outcome: dict[str, Any], schedule: Schedule) -> None:
    """Note what was asked of the server, what it did of that, and whether it fell behind."""
    driven = outcome["parts"][schedule.part]
    result["load_per_second"] = round(driven["ops"] / max(driven["seconds"], 1e-9), 2)
    behind, overloaded = 0.0, False
    if schedule.rate:
        result["offered_per_second"] = schedule.rate
        missing = schedule.rate * schedule.seconds - driven["ops"]
        behind = max(missing / schedule.rate, 0.0)
        overloaded = behind > SHARE * schedule.seconds and missing > 2 * schedule.connections
    if not driven["shown"]:
        late = outcome["seconds"] - driven["seconds"]
        behind = max(behind, late)
        overloaded = overloaded or late > max(SHARE * schedule.seconds, LATE)
    result["backlog_seconds"] = round(behind, 3)
    if overloaded:
        result["status"] = "overloaded"
