"""A comparison as a table of text and as a page."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from html import escape
from itertools import groupby
from typing import Any

from hydrofoil.bench.compare import HIGHER
from hydrofoil.bench.report import notes, shell
from hydrofoil.bench.svg import bars
from hydrofoil.bench.table import number

ALIKE = 0.05
"""The difference up to which a ratio is shown as neither better nor worse."""
PLOTTED = ("per_second", "latency_p50_ms", "lag_p50_ms", "latency_p99_ms", "lag_p99_ms", "cpu_us_per_op", "rss_mb_peak")
WORDS = {
    "per_second": ("Rate", "a second"),
    "objects_per_second": ("Objects", "a second"),
    "wire_mb_per_second": ("Bytes on the wire", "MB a second"),
    "latency_p50_ms": ("Latency, median", "ms"),
    "latency_p99_ms": ("Latency, p99", "ms"),
    "first_byte_p50_ms": ("First byte, median", "ms"),
    "lag_p50_ms": ("Lag of events, median", "ms"),
    "lag_p99_ms": ("Lag of events, p99", "ms"),
    "cpu_us_per_op": ("Server CPU", "us an operation"),
    "cpu_s_per_million_objects": ("Server CPU", "s a million objects"),
    "client_cpu_us_per_op": ("Client CPU", "us an operation"),
    "rss_mb_peak": ("Memory, peak", "MB"),
}


def write(document: dict[str, Any]) -> None:
    """Write the comparison to the standard output."""
    names = [run["name"] for run in document["runs"]]
    rows = [["", *names, *(f"{name} / {names[0]}" for name in names[1:])]]
    for row in document["rows"]:
        ratios = [ratio(r) for r in row["ratios"][1:]]
        rows.append([f"{row['name']} {row['metric']}", *(number(v, 2) for v in row["values"]), *ratios])
    widths = [max(len(line[i]) for line in rows) for i in range(len(rows[0]))]
    for line in rows:
        cells = [cell.rjust(w) if i else cell.ljust(w) for i, (cell, w) in enumerate(zip(line, widths, strict=True))]
        sys.stdout.write("  ".join(cells).rstrip() + "\n")
    for note in document["notes"]:
        sys.stdout.write(f"note: {note}\n")


def ratio(value: float | None) -> str:
    """Return a ratio as text."""
    return "-" if value is None else f"{value:.2f}x"


def page(document: dict[str, Any]) -> str:
    """Return the comparison as a page."""
    runs = document["runs"]
    names = [run["name"] for run in runs]
    parts = [
        f"<h1>{escape(' and '.join(names))}</h1>",
        f'<p class="sub">ratios are to {escape(names[0])}</p>',
        facts(runs),
        notes(document["notes"]),
        "<h2>Cases</h2>",
    ]
    for name, rows in groupby(document["rows"], key=lambda row: str(row["name"])):
        parts.append(card(name, list(rows), names))
    return shell(f"Benchmarks of {' and '.join(names)}", "".join(parts))


def facts(runs: Sequence[dict[str, Any]]) -> str:
    """Return server and machine of each run."""
    cells = []
    for run in runs:
        server, machine = run["server"], run["machine"]
        lines = (
            f"{server['gitVersion'] or 'unknown version'} ({server['transport']})",
            f"{machine['cores']} cores, load {machine['load_average']:g}, {run['time']}",
            f"{run['wrong']} wrong results" if run["wrong"] else "every answer right",
        )
        shown = "<br>".join(escape(line) for line in lines)
        cells.append(f"<div><dt>{escape(run['name'])}</dt><dd>{shown}</dd></div>")
    return f'<dl class="facts">{"".join(cells)}</dl>'


def card(name: str, rows: Sequence[dict[str, Any]], names: Sequence[str]) -> str:
    """Return the rows of one case, with bars."""
    heads = ["", *names, *(f"{other} / {names[0]}" for other in names[1:])]
    lines = []
    for row in rows:
        word, unit = WORDS[row["metric"]]
        cells = [f"<td>{word} <small>{unit}</small></td>"]
        cells += [f"<td>{number(v, 2)}</td>" for v in row["values"]]
        cells += [f'<td class="{class_of_ratio(row["metric"], r)}">{ratio(r)}</td>' for r in row["ratios"][1:]]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    drawn = "".join(
        bars(*WORDS[row["metric"]], list(zip(names, row["values"], strict=True)))
        for row in rows
        if row["metric"] in PLOTTED
    )
    return (
        f'<div class="card"><div class="head"><h3>{escape(name)}</h3></div><div class="plots bars">{drawn}</div>'
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div></div>'
    )


def class_of_ratio(metric: str, value: float | None) -> str:
    """Return the class of a ratio."""
    if value is None or abs(value - 1) <= ALIKE:
        return "alike"
    return "better" if (value > 1) == (metric in HIGHER) else "worse"
