"""A dated table and plots of reports of the load generator: `python -m bench.plot REPORT.json...`.

The output is `NAME.md` and `NAME-{throughput,latency,cpu,memory}.svg` beside `NAME.json`. A result whose proof failed
is not a figure: it is in the table as wrong, and in no plot.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

Json = dict[str, Any]

LABEL, WIDTH, ROW, TOP = 370, 560, 18, 64
"""Pixels: the names, the plot, the height of a row, and the space above the rows."""
COLOURS = ("#3b6ea5", "#e0a030", "#c0392b")
DECADES = 12
"""More powers of ten than any figure spans."""


@dataclass(slots=True, frozen=True)
class Plot:
    """The values drawn for each result: numbers of one unit, one for each series."""

    name: str
    title: str
    series: tuple[str, ...]
    values: Callable[[Json], Sequence[float]]


def _numbers(*found: float | None) -> list[float]:
    """Return the values if all are present and positive, else none."""
    return [n for n in found if n] if all(found) else []


def _latency(result: Json) -> list[float]:
    """Of an answer, or of an event from the sending of its write on."""
    quantiles = result.get("latency_ms") or result.get("lag_from_sent_ms") or {}
    return _numbers(*(quantiles.get(name) for name in ("p50", "p90", "p99")))


PLOTS = (
    Plot(
        "throughput",
        "objects a second where lists are read, else operations a second",
        ("a second",),
        lambda r: _numbers(r.get("objects_per_second") or r.get("per_second")),
    ),
    Plot("latency", "milliseconds to the end of an answer, or to an event", ("p50", "p90", "p99"), _latency),
    Plot(
        "cpu",
        "microseconds of the server's CPU an object where lists are read, else an operation",
        ("CPU",),
        lambda r: _numbers(r.get("cpu_s_per_million_objects") or r.get("cpu_us_per_op")),
    ),
    Plot(
        "memory",
        "MB that the server holds at the end and at most",
        ("end", "peak"),
        lambda r: _numbers(r.get("rss_mb_after"), r.get("rss_mb_peak")),
    ),
)


def proved(report: Json) -> list[Json]:
    """Return the results that are figures."""
    return [r for r in report["results"] if not r.get("error") and not r.get("skipped")]


def label(result: Json) -> str:
    """Return the case and the name of a result."""
    return f"{result['case']}: {result['name']}"


def number(value: float) -> str:
    """With three digits, large ones in full."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def svg(plot: Plot, report: Json) -> str:
    """Rows of marks on a logarithmic scale, for the figures of a run span powers of ten."""
    rows = [(label(r), values) for r in proved(report) if (values := plot.values(r))]
    numbers = [n for _, values in rows for n in values] or [1.0]
    low = math.floor(math.log10(min(numbers)))
    high = min(max(math.ceil(math.log10(max(numbers))), low + 1), low + DECADES)

    def x(value: float) -> float:
        return LABEL + WIDTH * (math.log10(value) - low) / (high - low)

    height = TOP + ROW * len(rows) + 10
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LABEL + WIDTH + 90}" height="{height}"'
        ' font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="10" y="18" font-size="14">{escape(plot.title)}</text>',
        f'<text x="{LABEL}" y="38">{escape(_conditions(report))}</text>',
    ]
    for i, name in enumerate(plot.series):
        legend = 10 + 70 * i
        out.append(f'<circle cx="{legend}" cy="34" r="4" fill="{COLOURS[i]}"/>')
        out.append(f'<text x="{legend + 8}" y="38">{name}</text>')
    for power in range(low, high + 1):
        at = x(10.0**power)
        out.append(f'<line x1="{at:.1f}" y1="{TOP - 6}" x2="{at:.1f}" y2="{height - 8}" stroke="#ddd"/>')
        out.append(f'<text x="{at:.1f}" y="{TOP - 10}" text-anchor="middle">{_power(power)}</text>')
    for i, (name, values) in enumerate(rows):
        y = TOP + ROW * i + ROW // 2
        out.append(f'<text x="{LABEL - 8}" y="{y + 4}" text-anchor="end">{escape(name)}</text>')
        # The line begins where the scale does, or joins the quantiles of one result.
        start = x(values[0]) if len(values) > 1 else LABEL
        ends = f'x1="{start:.1f}" y1="{y}" x2="{x(values[-1]):.1f}" y2="{y}"'
        out.append(f'<line {ends} stroke="{COLOURS[0]}" stroke-width="3"/>')
        for value, colour in zip(values, COLOURS, strict=False):
            out.append(f'<circle cx="{x(value):.1f}" cy="{y}" r="4" fill="{colour}"/>')
        out.append(f'<text x="{x(values[-1]) + 8:.1f}" y="{y + 4}">{number(values[-1])}</text>')
    return "\n".join([*out, "</svg>", ""])


def _power(power: int) -> str:
    return f"{10**power:,}" if power >= 0 else f"{10.0**power:.{-power}f}"


def _conditions(report: Json) -> str:
    return (
        f"{report['time'][:10]}, {report['transport']}, {report['cores']} cores, {report['objects']:,} objects of "
        f"{report.get('object_json_bytes', 0):,} bytes"
    )


def table(report: Json) -> str:
    """Every result as a row of Markdown."""
    version = report["server"].get("gitVersion", "")
    head = "| case | a second | p50 / p90 / p99, ms | CPU | MB | load |"
    rows = [_row(r) for r in (*(report.get("yardstick") or ()), *report["results"])]
    lines = [
        f"# {_conditions(report)}",
        "",
        f"Server: {version}. CPU is microseconds an object of lists, else an operation.",
    ]
    return "\n".join([*lines, "", head, "| --- |" + " --- |" * 5, *rows, ""])


def _row(result: Json) -> str:
    name = label(result).replace("|", "\\|")
    for key, word in (("error", "WRONG"), ("skipped", "skipped")):
        if text := result.get(key):
            first = str(text).splitlines()[0].replace("|", "\\|")
            return f"| {name} | {word}: {first} | | | | |"
    rate, latency, cpu, memory = (plot.values(result) for plot in PLOTS)
    cells = [" / ".join(map(number, values)) for values in (rate, latency, cpu, memory[:1])]
    return f"| {name} | {' | '.join(cells)} | {result['load_average']:.1f} |"


def write(path: Path) -> list[Path]:
    """Write the table and the plots of a report, beside it."""
    report = json.loads(path.read_text())
    texts = {path.with_suffix(".md"): table(report)}
    texts |= {path.with_name(f"{path.stem}-{plot.name}.svg"): svg(plot, report) for plot in PLOTS}
    for name, text in texts.items():
        name.write_text(text)
    return list(texts)


def main(names: Iterable[str]) -> None:
    """Write the files of each report and print their paths."""
    for name in names:
        sys.stdout.write("".join(f"{written}\n" for written in write(Path(name))))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", nargs="+")
    main(parser.parse_args().report)
