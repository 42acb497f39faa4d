"""`hydrofoil bench compare`: reads results, and writes their comparison."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from hydrofoil.bench.compare import Document, compare_documents, labels, read
from hydrofoil.bench.compared import page, write
from hydrofoil.bench.files import save, writable
from hydrofoil.bench.options import CompareOptions


def run(options: CompareOptions, paths: Sequence[str]) -> int:
    """Compare the runs of files; return the exit code. Raise Stopped."""
    writable(options.json, options.report)
    documents = read(paths)
    deliver(compare_documents(documents, labels(documents, paths)), options.json, options.report)
    return 0


def deliver(found: Document, json: str, report: str) -> None:
    """Write a comparison as JSON, page and text. Raise Stopped if a file cannot be written."""
    if json:
        save(json, orjson.dumps(found, option=orjson.OPT_INDENT_2) + b"\n", "--json")
    if report:
        save(report, page(found).encode(), "--report")
    if json != "-":
        write(found)
