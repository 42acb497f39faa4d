"""Servers that are measured in turn, and the comparison of runs as files and text."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import orjson

from hydrofoil.bench.compare import Document, compare_documents
from hydrofoil.bench.compared import page, write
from hydrofoil.bench.failure import INTERRUPTED
from hydrofoil.bench.files import save
from hydrofoil.bench.measured import measure_servers
from hydrofoil.bench.options import BenchOptions
from hydrofoil.bench.thresholds import FAILED, failures, regressions, threshold


def compare_servers(servers: Sequence[BenchOptions], cases: Sequence[str]) -> int:
    """Measure servers in turn, and compare them; return the exit code. Raise Stopped."""
    documents, code = measure_servers(servers, cases)
    options, names = servers[0], [done["label"] for done in documents]
    for name, done in zip(names, documents, strict=True):
        if options.json and options.json != "-":
            path = Path(options.json)
            plain = "".join(c if c.isalnum() or c in ".()" else "-" for c in name)
            path.with_name(f"{path.stem}-{plain}{path.suffix}").write_bytes(orjson.dumps(done))
    if code == INTERRUPTED and not all(done["results"] for done in documents):
        return code
    return deliver(documents, names, options, code)


def deliver(documents: Sequence[Document], names: Sequence[str], options: BenchOptions, code: int) -> int:
    """Write a comparison as JSON, page and text; return the exit code. Raise Stopped if a file cannot be written."""
    found = compare_documents(documents, names)
    if options.json:
        save(options.json, orjson.dumps(found, option=orjson.OPT_INDENT_2) + b"\n", "--json")
    if options.report:
        save(options.report, page(found).encode(), "--report")
    if options.csv:
        from hydrofoil.bench.lines import lines

        named = [{**done, "label": name} for done, name in zip(documents, names, strict=True)]
        save(options.csv, lines(named).encode(), "--csv")
    if "-" not in (options.json, options.csv):
        write(found)
    bounds = [threshold(text) for text in options.fail_if]
    lost = [line for done in documents for line in failures(bounds, done["results"])] + regressions(
        bounds, found["rows"]
    )
    for line in lost:
        sys.stderr.write(f"hydrofoil: {line}\n")
    return code or (FAILED if lost else 0)
