"""`hydrofoil bench`: the speed of an API server, with every answer checked."""

from __future__ import annotations

from typing import Any

from hydrofoil.bench.failure import Stopped
from hydrofoil.bench.options import (
    ALL,
    CASES,
    MORE,
    BenchOptions,
    CheckOptions,
    LoadOptions,
    ResultOptions,
    ServerOptions,
    choose_cases,
)
from hydrofoil.cli.command import Command
from hydrofoil.cli.failure import Failure
from hydrofoil.near import near


def run(given: dict[str, Any], words: tuple[str, ...]) -> int:
    """Run the cases; return the exit code. Raise Failure."""
    try:
        cases = choose_cases(words)
    except ValueError as e:
        known = (*CASES, *MORE, ALL)
        raise Failure(f"no case {str(e)!r}", near(str(e), known) or ", ".join(known)) from None
    from hydrofoil.bench.run import run as measure

    try:
        return measure(BenchOptions(**given), cases)
    except Stopped as e:
        raise Failure(e.what, e.mend, e.code) from None


COMMAND = Command(
    "bench",
    [ServerOptions, LoadOptions, ResultOptions, CheckOptions],
    run,
    f"Measure an API server, and check each of its answers. Cases: {', '.join(CASES)}, which run without any;"
    f" {', '.join(MORE)}; all.",
    arguments="[CASE...]",
    most=None,
    words=(*CASES, *MORE, ALL),
    commands=("compare", "find", "clean"),
    examples=(
        "hydrofoil bench --server http://127.0.0.1:8080",
        "hydrofoil bench list fanout --server http://127.0.0.1:8080 --pid 4711 --report report.html",
        "hydrofoil bench list --readers 1,2,4,8 --server http://127.0.0.1:8080 --csv list.csv",
        "hydrofoil bench list --rate 100 --fail-if 'p99>50ms' --server http://127.0.0.1:8080",
        "hydrofoil bench --kubeconfig ./kubeconfig --yes --json a.json",
        "hydrofoil bench --against kube-apiserver --report compared.html",
    ),
)
