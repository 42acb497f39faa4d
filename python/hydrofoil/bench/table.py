"""The results as a table of text."""

from __future__ import annotations

import sys
from typing import Any

HEAD = (
    *("case", "rate", "unit", "ops", "objects/s", "MB/s", "p50 ms", "p99 ms", "p99.9 ms", "server us"),
    *("client us", "peak MB", "status"),
)
MANY = 1000
"""Operations below which a p99.9 would be no more than the slowest one."""


def write(document: dict[str, Any]) -> None:
    """Write the table of a run to the standard output."""
    server = document["server"]
    workers = f"{server['workers']} workers" if (server.get("workers") or 1) > 1 else ""
    title = " ".join(filter(None, (document["label"], server["url"], server["gitVersion"], workers)))
    rows = [HEAD, *(row(result) for result in document["results"])]
    widths = [max(len(line[i]) for line in rows) for i in range(len(HEAD))]
    sys.stdout.write(f"{title}\n")
    for line in rows:
        cells = [
            cell.ljust(w) if i in (0, 2, len(HEAD) - 1) else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        ]
        sys.stdout.write("  ".join(cells).rstrip() + "\n")
    for note in document["notes"]:
        sys.stdout.write(f"note: {note}\n")


def row(result: dict[str, Any]) -> tuple[str, ...]:
    """Return the cells of a result."""
    status = result["status"]
    if status in ("skipped", "wrong", "unreachable") or not result["ops"]:
        word = "WRONG" if status == "wrong" else status
        return (result["name"], word, result["skipped"] or "", *[""] * (len(HEAD) - 3))
    times = result["lag_from_sent_ms"] or result["latency_ms"] or {}
    return (
        result["name"],
        with_interval(result),
        result["unit"],
        number(result["ops"], 0),
        number(result["objects_per_second"], 0),
        number(result["wire_mb_per_second"], 1),
        number(times.get("p50"), 2),
        number(times.get("p99"), 2),
        number(times.get("p99.9") if result["ops"] >= MANY else None, 2),
        number(result["cpu_us_per_op"], 1),
        number(result["client_cpu_us_per_op"], 1),
        number(result["rss_mb_peak"], 0),
        "" if status == "ok" else status,
    )


def with_interval(result: dict[str, Any]) -> str:
    """Return the rate, with half the width of the interval of its repeats."""
    between = result["intervals"].get("per_second")
    shown = number(result["per_second"], 1)
    return f"{shown} ±{number((between[1] - between[0]) / 2, 1)}" if between else shown


def number(value: float | None, digits: int) -> str:
    """Return a number as text, or a dash for an absent one."""
    return "-" if value is None else f"{value:,.{digits}f}"
