"""Results as lines of figures, separated by commas: one for each measurement, repeats included."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from hydrofoil.bench.result import FIGURES, TIMES

PERCENTILES = ("count", "p50", "p90", "p95", "p99", "p99.9", "max")
HEAD = ("label", "server", "case", "name", "encoding", "gzip", "unit", "status", "repeat")
FLAT = tuple(name for name in FIGURES if name not in TIMES)
TAIL = ("reconnects", "retries_429", "skipped", "error")


def lines(documents: Sequence[dict[str, Any]]) -> str:
    """Return the results of runs, under a line of names."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    times = [
        f"{name.removesuffix('_ms')}_{key}{'' if key == 'count' else '_ms'}" for name in TIMES for key in PERCENTILES
    ]
    writer.writerow((*HEAD, *FLAT, *times, *TAIL))
    for done in documents:
        for number, result in measurements(done):
            head = (done["label"], done["server"]["url"], *(result.get(key) for key in HEAD[2:-1]), number)
            found = [(result.get(name) or {}).get(key) for name in TIMES for key in PERCENTILES]
            writer.writerow((*head, *(result.get(name) for name in FLAT), *found, *(result.get(name) for name in TAIL)))
    return out.getvalue()


def measurements(done: dict[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each measurement with the number of its repeat."""
    for result in done["results"]:
        yield from enumerate(result.get("repeats") or [result], 1)
