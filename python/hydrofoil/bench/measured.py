"""One run of cases against the server of the options."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from hydrofoil.bench import machine
from hydrofoil.bench.access import consent, find_access, target
from hydrofoil.bench.failure import INTERRUPTED, REFUSED, WRONG, Stopped
from hydrofoil.bench.limits import raise_files
from hydrofoil.bench.options import BenchOptions
from hydrofoil.bench.processes import family
from hydrofoil.bench.progress import Progress
from hydrofoil.bench.runner import Runner, document
from hydrofoil.bench.session import Session
from hydrofoil.bench.workspace import remains
from hydrofoil.clock import Chance, Clock

Document = dict[str, Any]


def measure_cases(options: BenchOptions, cases: Sequence[str]) -> tuple[Document, int]:
    """Run cases; return their document and the exit code. Raise Stopped."""
    access = find_access(options)
    consent(access, options.yes)
    pids = processes(options)
    raise_files()
    session = Session(target(access), options, Chance().letters(8), pids)
    facts, now = machine.facts(), Clock().now()
    with session.interruptible():
        version = str((session.get("/version") or {}).get("gitVersion", ""))
        with Progress(len(cases) * len(options.encoding)) as progress:
            runner = Runner(session, options, progress.show)
            runner.run(cases)
        done = document(runner, access.url, version, now, facts)
        for result in [result for result in runner.results if result["error"]]:
            sys.stderr.write(f"hydrofoil: {result['error']} (hydrofoil bench {result['case']} repeats it)\n")
        sys.stderr.write(remains(runner.workspace.left))
        if session.interrupted:
            return done, INTERRUPTED
    return done, WRONG if done["wrong"] or done["left"] else 0


def processes(options: BenchOptions) -> tuple[int, ...]:
    """Return the processes of the flag with their children. Raise Stopped if one does not exist."""
    try:
        return family(int(pid) for pid in options.pid)
    except OSError:
        raise Stopped(f"--pid {','.join(options.pid)}: no such process", "ids of running processes", REFUSED) from None
