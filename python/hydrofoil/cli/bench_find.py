"""`hydrofoil bench find`: the highest rate that holds a bound."""

from __future__ import annotations

from typing import Any

from hydrofoil.bench.failure import Stopped
from hydrofoil.bench.options import (
    CASES,
    MORE,
    CheckOptions,
    FindOptions,
    LoadOptions,
    ResultOptions,
    SearchOptions,
    ServerOptions,
)
from hydrofoil.cli.command import Command
from hydrofoil.cli.failure import Failure
from hydrofoil.near import near

FOUND = (*CASES, *(case for case in MORE if case != "manager"))
"""The cases that have a rate."""


def run(given: dict[str, Any], words: tuple[str, ...]) -> int:
    """Search; return the exit code. Raise Failure."""
    if len(words) != 1 or words[0] not in FOUND:
        what = f"no case {words[0]!r}" if len(words) == 1 else "one case is needed"
        raise Failure(what, near(words[0] if words else "", FOUND) or ", ".join(FOUND))
    from hydrofoil.bench.find import run as find

    try:
        return find(SearchOptions(**given), words[0])
    except Stopped as e:
        raise Failure(e.what, e.mend, e.code) from None


COMMAND = Command(
    "bench find",
    [FindOptions, ServerOptions, LoadOptions, ResultOptions, CheckOptions],
    run,
    "Find the highest rate of a case at which percentiles stay within bounds, and print the curve.",
    arguments="CASE",
    most=1,
    words=FOUND,
    examples=(
        "hydrofoil bench find list --p99 50ms --server http://127.0.0.1:8080",
        "hydrofoil bench find fanout --p99 100ms --watchers 1000 --server http://127.0.0.1:8080 --json found.json",
    ),
)
