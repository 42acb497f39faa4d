"""Reports: one page of HTML with plots, which needs no other file and no script."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from hydrofoil.bench.compare import plain
from hydrofoil.bench.style import CSS
from hydrofoil.bench.svg import Line, lines
from hydrofoil.bench.table import number

Document = dict[str, Any]
Result = dict[str, Any]
COLUMNS = (
    ("rate", "per_second", 1),
    ("operations", "ops", 0),
    ("objects/s", "objects_per_second", 0),
    ("MB/s", "wire_mb_per_second", 1),
    ("server us/op", "cpu_us_per_op", 1),
    ("client us/op", "client_cpu_us_per_op", 1),
    ("peak MB", "rss_mb_peak", 0),
)


TIMES = ("p50 ms", "p99 ms", "p99.9 ms")


PERCENTILES = ("p50", "p90", "p95", "p99", "p99.9", "max")


def page(documents: Sequence[Document]) -> str:
    """Return the report of one run, or of several one after the other."""
    title = "Benchmark of " + ", ".join(name(done) for done in documents)
    return shell(title, "".join(run(done) for done in documents))


def shell(title: str, content: str) -> str:
    """Return a whole page."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{CSS}</style></head><body><main>{content}</main></body></html>\n"
    )


def name(document: Document) -> str:
    """Return the label of a run, or the address of its server."""
    return str(document["label"] or document["server"]["url"])


def run(document: Document) -> str:
    """Return the part of one run."""
    results = document["results"]
    parts = [
        f"<h1>{escape(name(document))}</h1>",
        f'<p class="sub">{escape(document["time"])} &middot; {verdict(document)}</p>',
        facts(document),
        notes(document["notes"]),
        "<h2>Results</h2>",
        f'<div class="card table scroll">{table(results)}</div>',
        "<h2>Cases</h2>",
        *(case(result) for result in results),
    ]
    return "".join(parts)


def verdict(document: Document) -> str:
    """Return whether all answers were right."""
    lost = document.get("unreachable", 0)
    if lost:
        return f'<span class="wrong">the server was lost in {lost} of {len(document["results"])} results</span>'
    if document["wrong"]:
        return f'<span class="wrong">{document["wrong"]} of {len(document["results"])} results are wrong</span>'
    return '<span class="ok">every answer was checked and right</span>'


def facts(document: Document) -> str:
    """Return server, machine and options."""
    server, machine, options = document["server"], document["machine"], document["options"]
    rate = f"rate {plain(options['rate'])}"
    given = {
        "Server": f"{server['url']} ({server['transport']})",
        "Version": server["gitVersion"] or "unknown",
        "Worker processes": server.get("workers") or "unknown",
        "Machine": f"{machine['cores']} cores, {machine['memory_mb'] / 1000:.0f} GB",
        "Processor": machine["cpu"],
        "Load average at the start": machine["load_average"],
        "Objects": f"{options['objects']:,} {options['resource']} with {options['size']:,} bytes of text",
        "Connections": f"{plain(options['readers'])} readers, {options['watchers']} watchers, {rate}",
        "Time of each case": f"{options['duration']:g} s",
    }
    rows = "".join(f"<div><dt>{escape(k)}</dt><dd>{escape(str(v))}</dd></div>" for k, v in given.items())
    return f'<dl class="facts">{rows}</dl>'


def notes(given: Sequence[str]) -> str:
    """Return remarks, if there are any."""
    return f'<div class="notes">{"".join(f"<p>{escape(note)}</p>" for note in given)}</div>' if given else ""


def table(results: Sequence[Result]) -> str:
    """Return the figures of all results."""
    heads = ("case", *(c[0] for c in COLUMNS[:4]), *TIMES, *(c[0] for c in COLUMNS[4:]))
    rows = []
    for result in results:
        first = f"<td>{escape(result['name'])}</td>"
        if result["error"] is not None or result["skipped"] is not None or not result["ops"]:
            what = f"skipped: {result['skipped']}" if result["skipped"] is not None else result["status"]
            rows.append(f'<tr>{first}<td class="text" colspan="{len(heads) - 1}">{escape(what)}</td></tr>')
            continue
        times = latency(result) or {}
        cells = [number(result[key], digits) for _, key, digits in COLUMNS]
        cells[4:4] = [number(times.get(name.removesuffix(" ms")), 2) for name in TIMES]
        rows.append(f"<tr>{first}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    head = "".join(f"<th>{text}</th>" for text in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def latency(result: Result) -> dict[str, float] | None:
    """Return the times of a result: lags of events, else latencies of requests."""
    found: dict[str, float] | None = result["lag_from_sent_ms"] or result["latency_ms"]
    return found


def case(result: Result) -> str:
    """Return the card of one result, with plots over time."""
    head = f"<h3>{escape(result['name'])}</h3>"
    if result["error"] is not None:
        return f'<div class="card"><div class="head">{head}</div><p class="wrong">{escape(result["error"])}</p></div>'
    if result["skipped"] is not None:
        why = f'<span class="sub">skipped: {escape(result["skipped"])}</span>'
        return f'<div class="card"><div class="head">{head}{why}</div></div>'
    if not result["ops"]:
        return f'<div class="card"><div class="head">{head}<span class="sub">{result["status"]}</span></div></div>'
    figures = [
        f'<span class="big">{number(result["per_second"], 1)}</span><span class="sub">{result["unit"]} a second</span>'
    ]
    if result["status"] != "ok":
        figures.append(f'<span class="wrong">{result["status"]}</span>')
    times = latency(result)
    if times:
        word = "lag" if result["lag_from_sent_ms"] else "latency"
        shown = " &middot; ".join(f"{key} <b>{times[key]:,.2f}</b>" for key in PERCENTILES if key in times)
        figures.append(f'<span class="sub">{word} {shown} ms of {times.get("count", result["ops"]):,}</span>')
    for count, text in ((result["reconnects"], "reconnects"), (result["retries_429"], "retries after 429")):
        if count:
            figures.append(f'<span class="sub">{count} {text}</span>')
    proof = "".join(f"<li>{escape(line)}</li>" for line in result["proof"])
    return (
        f'<div class="card"><div class="head">{head}{"".join(figures)}</div>'
        f'<div class="plots">{plots(result)}</div><ul class="proof">{proof}</ul></div>'
    )


def plots(result: Result) -> str:
    """Return throughput, latency, CPU and memory over time."""

    def line(name: str, key: str) -> Line:
        return Line(name, [(s["t"], s[key]) for s in result["samples"]])

    word = "Lag" if result["lag_from_sent_ms"] else "Latency"
    return "".join(
        (
            lines("Throughput", f"{result['unit']} a second", [line("", "per_second")]),
            lines(word, "ms", [line("p50", "p50_ms"), line("p99", "p99_ms")]),
            lines("CPU of the server", "% of a core", [line("", "cpu_percent")]),
            lines("Memory of the server", "MB", [line("", "rss_mb")]),
        )
    )
