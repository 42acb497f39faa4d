"""`hydrofoil bench compare`: results of benchmarks side by side."""

from __future__ import annotations

from typing import Any

from hydrofoil.bench.failure import Stopped
from hydrofoil.bench.options import CompareOptions
from hydrofoil.cli.command import Command
from hydrofoil.cli.failure import Failure


def run(given: dict[str, Any], words: tuple[str, ...]) -> int:
    """Compare; return the exit code. Raise Failure."""
    from hydrofoil.bench.comparing import run as compare

    try:
        return compare(CompareOptions(**given), words)
    except Stopped as e:
        raise Failure(e.what, e.mend, e.code) from None


COMMAND = Command(
    "bench compare",
    [CompareOptions],
    run,
    "Compare results of benchmarks: ratios to the first, and notes on everything in which the runs are not alike.",
    arguments="A.json B.json ...",
    most=None,
    examples=("hydrofoil bench compare before.json after.json --report compared.html",),
)
