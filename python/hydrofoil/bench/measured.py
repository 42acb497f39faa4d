"""Runs of cases against one server, or in turn against several."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from hydrofoil.bench import machine
from hydrofoil.bench.access import consent, find_access, host_and_port, loopback, target
from hydrofoil.bench.cases import Variant, variants
from hydrofoil.bench.failure import INTERRUPTED, REFUSED, WRONG, Stopped
from hydrofoil.bench.limits import raise_files
from hydrofoil.bench.listening import listeners
from hydrofoil.bench.options import BenchOptions
from hydrofoil.bench.processes import family
from hydrofoil.bench.progress import Progress
from hydrofoil.bench.repeats import merge
from hydrofoil.bench.result import MEASURED, Result
from hydrofoil.bench.runner import Runner, document
from hydrofoil.bench.session import Session, interruptible
from hydrofoil.bench.workspace import remains
from hydrofoil.clock import Chance, Clock
from hydrofoil.outbound.kubeconfig import Access

Document = dict[str, Any]
REPEATS = 5
"""Repeats of each case where servers are compared."""


def measure_servers(servers: Sequence[BenchOptions], cases: Sequence[str]) -> tuple[list[Document], int]:
    """Run cases against servers, in turn; return a document for each, and the exit code. Raise Stopped."""
    repeat = servers[0].repeat or (REPEATS if len(servers) > 1 else 1)

    def work(runners: Sequence[Runner]) -> None:
        for variant in variants(cases, servers[0]):
            measure_in_turn(runners, variant, repeat)

    return run_sessions(servers, cases, work)


def run_sessions(servers: Sequence[BenchOptions], cases: Sequence[str], work: Any) -> tuple[list[Document], int]:
    """Open a session with each server, do the work with their runners, and clean up. Raise Stopped."""
    accesses = [find_access(options) for options in servers]
    for options, access in zip(servers, accesses, strict=True):
        consent(access, options.yes)
    sessions = [
        Session(target(access), options, Chance().letters(8), processes(options, access))
        for options, access in zip(servers, accesses, strict=True)
    ]
    raise_files()
    facts, now, busy = machine.facts(), Clock().now(), machine.busy_note()
    if busy:
        sys.stderr.write(f"hydrofoil: {busy}\n")
    with interruptible(*sessions):
        versions = [str((session.get("/version") or {}).get("gitVersion", "")) for session in sessions]
        with Progress() as progress:
            runners = [Runner(s, options, progress.show) for s, options in zip(sessions, servers, strict=True)]
            try:
                for runner in runners:
                    runner.begin(cases)
                work(runners)
            finally:
                for runner in runners:
                    runner.end()
        documents = []
        for runner, access, version in zip(runners, accesses, versions, strict=True):
            runner.notes[:0] = [busy] if busy else []
            documents.append(document(runner, access.url, version, now, facts))
            for result in [result for result in runner.results if result["error"]]:
                sys.stderr.write(f"hydrofoil: {result['error']} (hydrofoil bench {result['case']} repeats it)\n")
            sys.stderr.write(remains(runner.workspace.left))
        if any(session.interrupted for session in sessions):
            return documents, INTERRUPTED
    failed = any(done["wrong"] or done["unreachable"] or done["left"] for done in documents)
    return documents, WRONG if failed else 0


def measure_in_turn(runners: Sequence[Runner], variant: Variant, repeat: int) -> None:
    """Measure one case with all servers, one after the other, and every second time in the other order.

    What else the machine does in these minutes then costs each server the same.
    """
    found: dict[int, list[Result]] = {at: [] for at in range(len(runners))}
    warmup = runners[0].options.warmup
    for number in range(-1 if warmup else 0, repeat):
        order = range(len(runners))
        for at in order if number % 2 == 0 else reversed(order):
            runner, results = runners[at], found[at]
            if runner.session.interrupted or (results and results[-1]["status"] not in MEASURED):
                continue
            result = runner.measure(variant, warmup if number < 0 else 0.0)
            # A warm-up counts only where it shows that the case cannot be measured.
            if number >= 0 or result["status"] not in ("ok", "overloaded"):
                results.append(result)
    for at, runner in enumerate(runners):
        if found[at]:
            runner.keep(merge(found[at]))


def processes(options: BenchOptions, access: Access) -> tuple[int, ...]:
    """Return the processes of the flag, or those that listen at the port, with their children. Raise Stopped."""
    host, port = host_and_port(access)
    found = tuple(int(pid) for pid in options.pid) or (listeners(port) if loopback(host) else ())
    try:
        return family(found)
    except OSError:
        if not options.pid:
            return ()
        raise Stopped(f"--pid {','.join(options.pid)}: no such process", "ids of running processes", REFUSED) from None
