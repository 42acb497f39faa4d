"""Results and documents of benchmarks that were never run."""

from __future__ import annotations

from typing import Any

from hydrofoil.bench.options import BenchOptions
from hydrofoil.bench.result import empty


def result(name: str, rate: float = 100.0, **changed: Any) -> dict[str, Any]:
    """Return a result with some figures."""
    made = empty(name, f"{name} json <x>", "json", False, "lists")
    times = {"count": 100, "p50": 1.0, "p90": 2.0, "p95": 2.5, "p99": 3.0, "p99.9": 3.9, "max": 4.0}
    usage = {"cpu_percent": 50.0, "rss_mb": 70.0}
    samples = [
        {"t": t / 4, "per_second": rate, "p50_ms": None if t == 2 else 1.0, "p99_ms": 3.0, **usage} for t in range(1, 6)
    ]
    figures = {
        "ops": 100,
        "seconds": 1.0,
        "per_second": rate,
        "cpu_seconds": 0.5,
        "cpu_us_per_op": 5.0,
        "latency_ms": times,
    }
    status = "wrong" if changed.get("error") else "skipped" if changed.get("skipped") else "ok"
    return {**made, **figures, "samples": samples, "proof": ["every <list>"], "status": status, **changed}


def document(*results: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """Return the document of a run."""
    return {
        "schema": 1,
        "time": "2026-01-01T00:00:00Z",
        "label": "<label>",
        "server": {"url": "http://127.0.0.1:8080", "gitVersion": "v1", "transport": "plain"},
        "machine": {"cores": 2, "cpu": "x", "memory_mb": 1000, "load_average": 0.1},
        "options": BenchOptions().shown(),
        "results": list(results),
        "wrong": sum(r["error"] is not None for r in results),
        "left": 0,
        "notes": ["a <note>"],
        **changed,
    }


def measured(rate: float, p99: float = 3.0, status: str = "ok", ops: int = 100, **changed: Any) -> dict[str, Any]:
    """Return the result of one measurement."""
    made = empty("list", "list json readers=4", "json", False, "lists")
    times = {"count": ops, "p50": 1.0, "p90": 2.0, "p95": 2.5, "p99": p99, "p99.9": p99, "max": p99}
    samples = [{"t": 1.0, "per_second": rate, "p50_ms": 1.0, "p99_ms": p99, "cpu_percent": 1.0, "rss_mb": 70.0}]
    figures = {"ops": ops, "seconds": 1.0, "per_second": rate, "latency_ms": times, "rss_mb_peak": 70.0}
    return {**made, **figures, "samples": samples, "histogram_us": [[1000, ops]], "status": status, **changed}
