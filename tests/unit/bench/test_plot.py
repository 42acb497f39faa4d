"""The table and the plots of a report of the load generator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from bench.plot import PLOTS, svg, table, write

SVG = "{http://www.w3.org/2000/svg}"
QUANTILES = {"p50": 0.3, "p90": 0.4, "p99": 12.5, "max": 20}
REPORT: dict[str, Any] = {
    "time": "2026-11-21T08:06:41Z",
    "server": {"gitVersion": "v1.36.0"},
    "transport": "plain",
    "cores": 2,
    "objects": 10000,
    "object_json_bytes": 4231,
    "yardstick": None,
    "results": [
        {"case": "get", "name": "json <&>", "per_second": 23570.2, "latency_ms": QUANTILES, "cpu_us_per_op": 42,
         "rss_mb_after": 129.7, "rss_mb_peak": 131, "load_average": 1.5},
        {"case": "list", "name": "json", "per_second": 50, "objects_per_second": 505250, "cpu_us_per_op": 9805,
         "cpu_s_per_million_objects": 0.98, "load_average": 2},
        {"case": "list", "name": "cbor", "skipped": "406 Not Acceptable", "load_average": 2},
        {"case": "watch", "name": "json", "per_second": 9e9, "error": "an event is lost\nand more", "load_average": 2},
    ],
}  # fmt: skip


def test_the_table_tells_figures_and_what_is_none() -> None:
    rows = table(REPORT).splitlines()
    assert rows[0] == "# 2026-11-21, plain, 2 cores, 10,000 objects of 4,231 bytes"
    assert rows[-4:] == [
        "| get: json <&> | 23,570 | 0.3 / 0.4 / 12.5 | 42 | 130 | 1.5 |",
        "| list: json | 505,250 |  | 0.98 |  | 2.0 |",
        "| list: cbor | skipped: 406 Not Acceptable | | | | |",
        "| watch: json | WRONG: an event is lost | | | | |",
    ]


def test_plots_show_proved_figures_only() -> None:
    throughput, latency, cpu, memory = (ElementTree.fromstring(svg(plot, REPORT)) for plot in PLOTS)
    for drawn, names in ((throughput, 2), (latency, 1), (cpu, 2), (memory, 1)):
        texts = [text.text or "" for text in drawn.iter(f"{SVG}text")]
        assert sum(text.startswith(("get: ", "list: ", "watch: ")) for text in texts) == names
        width = float(drawn.attrib["width"])
        assert all(0 <= float(circle.attrib["cx"]) < width for circle in drawn.iter(f"{SVG}circle"))
    marks = [float(circle.attrib["cx"]) for circle in latency.iter(f"{SVG}circle")][-3:]
    assert marks == sorted(marks)


def test_a_report_without_figures_is_drawn(tmp_path: Path) -> None:
    report = tmp_path / "2026-11-21.json"
    report.write_text(json.dumps(REPORT | {"results": []}))
    assert sorted(path.name for path in write(report)) == [
        "2026-11-21-cpu.svg",
        "2026-11-21-latency.svg",
        "2026-11-21-memory.svg",
        "2026-11-21-throughput.svg",
        "2026-11-21.md",
    ]
    assert all(path.stat().st_size for path in tmp_path.iterdir())
