"""`hydrofoil bench`: runs cases against a server and writes their results."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from hydrofoil.bench.files import save, writable
from hydrofoil.bench.measured import Document, measure_cases
from hydrofoil.bench.options import BenchOptions


def run(options: BenchOptions, cases: Sequence[str]) -> int:
    """Run cases; return the exit code. Raise Stopped."""
    writable(options.json, options.report)
    if options.against:
        from hydrofoil.bench.against import run as against

        return against(options, cases)
    done, code = measure_cases(options, cases)
    deliver(done, options)
    return code


def deliver(done: Document, options: BenchOptions) -> None:
    """Write JSON, report and table. Raise Stopped if a file cannot be written."""
    if options.json:
        save(options.json, orjson.dumps(done, option=orjson.OPT_INDENT_2) + b"\n", "--json")
    if options.report:
        from hydrofoil.bench.report import page

        save(options.report, page([done]).encode(), "--report")
    if options.json != "-":
        from hydrofoil.bench.table import write

        write(done)
