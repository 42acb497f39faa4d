"""`hydrofoil bench`: the speed of an API server, with every answer checked."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from hydrofoil.bench.failure import Stopped
from hydrofoil.bench.options import ALL, CASES, BenchOptions, LoadOptions, ResultOptions, ServerOptions, choose_cases
from hydrofoil.cli.command import Command
from hydrofoil.cli.failure import Failure


def run(given: dict[str, Any], words: tuple[str, ...]) -> int:
    """Run the cases; return the exit code. Raise Failure."""
    try:
        cases = choose_cases(words)
    except ValueError as e:
        near = get_close_matches(str(e), (*CASES, ALL), 1)
        raise Failure(f"no case {str(e)!r}", f"{near[0]}?" if near else ", ".join((*CASES, ALL))) from None
    from hydrofoil.bench.run import run as measure

    try:
        return measure(BenchOptions(**given), cases)
    except Stopped as e:
        raise Failure(e.what, e.mend, e.code) from None


COMMAND = Command(
    "bench",
    [ServerOptions, LoadOptions, ResultOptions],
    run,
    f"Measure an API server, and check each of its answers. Cases: {', '.join(CASES)}; all without any.",
    arguments="[CASE...]",
    most=None,
    words=(*CASES, ALL),
    commands=("compare", "clean"),
    examples=(
        "hydrofoil bench --server http://127.0.0.1:8080",
        "hydrofoil bench list fanout --server http://127.0.0.1:8080 --pid 4711 --report report.html",
        "hydrofoil bench --kubeconfig ./kubeconfig --yes --json a.json",
        "hydrofoil bench --against kube-apiserver --report compared.html",
    ),
)
