"""The result of a case, with the names of the JSON."""

from __future__ import annotations

from typing import Any

from hydrofoil.bench.session import Measured

Result = dict[str, Any]
FIGURES = (
    *("ops", "seconds", "per_second", "objects", "objects_per_second", "body_bytes", "wire_bytes_in"),
    *("wire_mb_per_second", "latency_ms", "first_byte_ms", "lag_from_sent_ms", "lag_from_ack_ms", "cpu_seconds"),
    *("cpu_us_per_op", "cpu_s_per_million_objects", "client_cpu_us_per_op", "rss_mb_peak"),
)
"""The figures, which are null where a case has none."""


def empty(case: str, name: str, encoding: str, gzip: bool, unit: str) -> Result:
    """Return a result without figures."""
    head: Result = {"case": case, "name": name, "encoding": encoding, "gzip": gzip, "unit": unit}
    counts = {"reconnects": 0, "retries_429": 0, "samples": [], "proof": [], "skipped": None, "error": None}
    return {**head, **dict.fromkeys(FIGURES), **counts}


def fill(result: Result, measured: Measured) -> None:
    """Take the figures of a measurement."""
    outcome, server = measured.outcome, measured.server
    parts = [part for part in outcome["parts"] if part["shown"]]
    ops, seconds = sum(part["ops"] for part in parts), outcome["seconds"]
    objects = sum(part["objects"] for part in parts)
    result["reconnects"], result["retries_429"] = outcome["reconnects"], outcome["retries"]
    result["samples"] = [sample._asdict() for sample in measured.samples]
    if not ops or not seconds:
        return
    result["ops"], result["seconds"], result["per_second"] = ops, round(seconds, 4), round(ops / seconds, 2)
    if objects:
        result["objects"], result["objects_per_second"] = objects, round(objects / seconds, 1)
    if len(parts) == 1 and parts[0]["body"]:
        result["body_bytes"] = parts[0]["body"]
    result["wire_bytes_in"] = outcome["wire_in"]
    result["wire_mb_per_second"] = round(outcome["wire_in"] / seconds / 1e6, 4)
    for name, key in (
        ("latency_ms", "latency"),
        ("first_byte_ms", "first_byte"),
        ("lag_from_sent_ms", "lag_sent"),
        ("lag_from_ack_ms", "lag_acked"),
    ):
        result[name] = outcome[key]
    result["client_cpu_us_per_op"] = round(measured.client / ops * 1e6, 2)
    if server is not None:
        result["cpu_seconds"] = round(server.cpu, 3)
        result["cpu_us_per_op"] = round(server.cpu / ops * 1e6, 2)
        result["rss_mb_peak"] = round(server.rss, 1)
        if objects:
            result["cpu_s_per_million_objects"] = round(server.cpu / objects * 1e6, 3)
