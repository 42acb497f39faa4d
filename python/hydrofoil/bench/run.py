"""`hydrofoil bench`: runs cases against a server and writes their results."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import orjson

from hydrofoil.bench.failure import REFUSED, Stopped
from hydrofoil.bench.files import save, writable
from hydrofoil.bench.measured import Document, measure_servers
from hydrofoil.bench.options import BenchOptions
from hydrofoil.bench.thresholds import FAILED, failures, threshold


def run(options: BenchOptions, cases: Sequence[str]) -> int:
    """Run cases; return the exit code. Raise Stopped."""
    writable(options.json, options.report, options.csv)
    if options.against:
        from hydrofoil.bench.against import run as against

        return against(options, cases)
    refuse_relative(options)
    (done,), code = measure_servers([options], cases)
    deliver(done, options)
    return check(done, options, code)


def refuse_relative(options: BenchOptions) -> None:
    """Raise Stopped for a bound in per cent where nothing is compared."""
    for one in map(threshold, options.fail_if):
        if one.relative:
            raise Stopped(f"--fail-if {one.text}: nothing is compared", "--against, or bench compare", REFUSED)


def check(done: Document, options: BenchOptions, code: int) -> int:
    """Hold results against the bounds of the options; return the exit code."""
    lines = failures([threshold(text) for text in options.fail_if], done["results"])
    for line in lines:
        sys.stderr.write(f"hydrofoil: {line}\n")
    return code or (FAILED if lines else 0)


def deliver(done: Document, options: BenchOptions) -> None:
    """Write JSON, report, lines of figures and table. Raise Stopped if a file cannot be written."""
    if options.json:
        save(options.json, orjson.dumps(done, option=orjson.OPT_INDENT_2) + b"\n", "--json")
    if options.report:
        from hydrofoil.bench.report import page

        save(options.report, page([done]).encode(), "--report")
    if options.csv:
        from hydrofoil.bench.lines import lines

        save(options.csv, lines([done]).encode(), "--csv")
    if options.json != "-" and options.csv != "-":
        from hydrofoil.bench.table import write

        write(done)
