"""A comparison as a table of text and as a page."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from html import escape
from itertools import groupby
from typing import Any

from hydrofoil.bench.report import notes, shell
from hydrofoil.bench.svg import bars
from hydrofoil.bench.table import number

COLOURS = {"better": "32", "worse": "31", "alike": "90"}
"""Colours of ratios on a terminal: green, red, and grey for what is not proven."""
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
    verdicts = [[""] * len(rows[0])]
    for row in document["rows"]:
        ratios = [judged(r, verdict) for r, verdict in zip(row["ratios"][1:], row["verdicts"][1:], strict=True)]
        values = [shown(v, between) for v, between in zip(row["values"], row["intervals"], strict=True)]
        rows.append([f"{row['name']} {row['metric']}", *values, *ratios])
        verdicts.append(["", *[""] * len(values), *row["verdicts"][1:]])
    widths = [max(len(line[i]) for line in rows) for i in range(len(rows[0]))]
    # What makes figures noisy precedes them.
    for note in document["notes"]:
        sys.stdout.write(f"note: {note}\n")
    for line, words in zip(rows, verdicts, strict=True):
        cells = [cell.rjust(w) if i else cell.ljust(w) for i, (cell, w) in enumerate(zip(line, widths, strict=True))]
        sys.stdout.write("  ".join(map(coloured, cells, words)).rstrip() + "\n")


def coloured(cell: str, verdict: str) -> str:
    """Return a ratio in the colour of its verdict, on a terminal."""
    if not verdict or not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        return cell
    return f"\x1b[{COLOURS[verdict]}m{cell}\x1b[0m"


def shown(value: float | None, between: Sequence[float] | None) -> str:
    """Return a figure with the interval of its repeats."""
    text = number(value, 2)
    return f"{text} [{number(between[0], 2)}, {number(between[1], 2)}]" if between else text


def judged(value: float | None, verdict: str) -> str:
    """Return a ratio with its verdict; one that proves nothing has a ~ before it."""
    return f"~{ratio(value)}" if verdict == "alike" and value is not None else f"{ratio(value)} {verdict}"


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
            f"{run['wrong']} wrong results" if run["wrong"] else "no wrong answer",
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
        cells += [f"<td>{cell(v, between)}</td>" for v, between in zip(row["values"], row["intervals"], strict=True)]
        pairs = zip(row["verdicts"][1:], row["ratios"][1:], strict=True)
        cells += [f'<td class="{verdict}">{ratio(r)}</td>' for verdict, r in pairs]
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


def cell(value: float | None, between: Sequence[float] | None) -> str:
    """Return a figure, with the interval of its repeats below it."""
    text = number(value, 2)
    return f"{text}<br><small>{number(between[0], 2)} to {number(between[1], 2)}</small>" if between else text
