"""`hydrofoil bench clean`: removes what benchmarks that were killed have left."""

from __future__ import annotations

from typing import Any

from hydrofoil.bench.failure import Stopped
from hydrofoil.bench.options import CleanOptions, ServerOptions
from hydrofoil.cli.command import Command
from hydrofoil.cli.failure import Failure


def run(given: dict[str, Any], _words: tuple[str, ...]) -> int:
    """Remove it; return the exit code. Raise Failure."""
    from hydrofoil.bench.clean import run as clean

    try:
        return clean(CleanOptions(**given))
    except Stopped as e:
        raise Failure(e.what, e.mend, e.code) from None


COMMAND = Command(
    "bench clean",
    [ServerOptions],
    run,
    "Remove the namespaces and objects of benchmarks that were killed.",
    examples=("hydrofoil bench clean --server http://127.0.0.1:8080",),
)
