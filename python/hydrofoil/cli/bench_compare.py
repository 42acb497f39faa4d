"""`hydrofoil bench compare`: results of benchmarks side by side, or servers measured in turn."""

from __future__ import annotations

from typing import Any

from hydrofoil.bench.failure import Stopped
from hydrofoil.bench.options import BenchOptions, CheckOptions, LoadOptions, ResultOptions, ServerOptions
from hydrofoil.cli.command import Command
from hydrofoil.cli.failure import Failure


def run(given: dict[str, Any], words: tuple[str, ...]) -> int:
    """Compare; return the exit code. Raise Failure."""
    from hydrofoil.bench.comparing import run as compare

    try:
        return compare(BenchOptions(**given), words)
    except Stopped as e:
        raise Failure(e.what, e.mend, e.code) from None


COMMAND = Command(
    "bench compare",
    [ServerOptions, LoadOptions, ResultOptions, CheckOptions],
    run,
    "Compare results of benchmarks, or servers that are measured in turn: ratios to the first, and notes on everything"
    " in which the runs are not alike. A ratio is grey unless the intervals of the repeats are apart.",
    arguments="A.json B.json | [CASE...] URL URL",
    most=None,
    examples=(
        "hydrofoil bench compare before.json after.json --report compared.html",
        "hydrofoil bench compare list http://127.0.0.1:8080 http://127.0.0.1:8081 --repeat 5",
        "hydrofoil bench compare list writes --against hydrofoil",
    ),
)
