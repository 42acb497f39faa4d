"""The results as a table of text."""

from __future__ import annotations

import sys
from typing import Any

HEAD = ("case", "rate", "unit", "objects/s", "MB/s", "p50 ms", "p99 ms", "server us", "client us", "peak MB")


def write(document: dict[str, Any]) -> None:
    """Write the table of a run to the standard output."""
    server = document["server"]
    title = " ".join(filter(None, (document["label"], server["url"], server["gitVersion"])))
    rows = [HEAD, *(row(result) for result in document["results"])]
    widths = [max(len(line[i]) for line in rows) for i in range(len(HEAD))]
    sys.stdout.write(f"{title}\n")
    for line in rows:
        cells = [
            cell.ljust(w) if i in (0, 2) else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        ]
        sys.stdout.write("  ".join(cells).rstrip() + "\n")
    for note in document["notes"]:
        sys.stdout.write(f"note: {note}\n")


def row(result: dict[str, Any]) -> tuple[str, ...]:
    """Return the cells of a result."""
    if result["skipped"] is not None:
        return (result["name"], "skipped", result["skipped"], *[""] * (len(HEAD) - 3))
    if result["error"] is not None:
        return (result["name"], "WRONG", *[""] * (len(HEAD) - 2))
    times = result["lag_from_sent_ms"] or result["latency_ms"] or {}
    return (
        result["name"],
        number(result["per_second"], 1),
        result["unit"],
        number(result["objects_per_second"], 0),
        number(result["wire_mb_per_second"], 1),
        number(times.get("p50"), 2),
        number(times.get("p99"), 2),
        number(result["cpu_us_per_op"], 1),
        number(result["client_cpu_us_per_op"], 1),
        number(result["rss_mb_peak"], 0),
    )


def number(value: float | None, digits: int) -> str:
    """Return a number as text, or a dash for an absent one."""
    return "-" if value is None else f"{value:,.{digits}f}"
