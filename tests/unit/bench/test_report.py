"""Reports and comparisons: pages without outside links, ratios, and notes on differences."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from hydrofoil.bench import compare, report, svg, table
from hydrofoil.bench.result import FIGURES, empty
from hydrofoil.cli.main import main
from tests.unit.bench.results import document, result

LOADING = re.compile(r"<(script|link|img|iframe|object|embed)|\bsrc=|\bhref=|url\(|@import")


def test_a_page_needs_nothing_else_and_escapes_what_it_shows() -> None:
    page = report.page(
        [document(result("list"), result("watch", error="watch: <b>"), result("writes", skipped="406 <i>"))]
    )
    assert not LOADING.search(page)
    for text in ("&lt;label&gt;", "a &lt;note&gt;", "every &lt;list&gt;", "watch: &lt;b&gt;", "406 &lt;i&gt;"):
        assert text in page
    assert "prefers-color-scheme:dark" in page
    assert page.count("<svg") == 4, "the plots of the one right result"
    for plot in re.findall(r"<svg.*?</svg>", page):
        ElementTree.fromstring(plot)


def test_lines_are_interrupted_by_missing_values() -> None:
    plot = svg.lines("a", "b", [svg.Line("", [(0, 1.0), (1, 2.0), (2, None), (3, 1.0)])])
    assert plot.count("<polyline") == 1 and plot.count("<circle") == 1
    assert svg.lines("a", "b", [svg.Line("", [(0, None)])]) == svg.bars("a", "b", [("x", None)]) == ""


@pytest.mark.parametrize("most", [0, 0.003, 0.7, 1, 9, 10, 11, 99, 1_234_567])
def test_a_scale_reaches_the_greatest_value(most: float) -> None:
    marks = svg.scale(most)
    assert marks[0] == 0 and most <= marks[-1] * 1.001 <= max(most * 2, 1.01) and 2 <= len(marks) <= 7


def test_numbers_of_scales() -> None:
    assert [svg.short(v) for v in (0, 0.25, 12, 2500, 1.5e6, 2e9)] == ["0", "0.25", "12", "2.5k", "1.5M", "2G"]


def test_the_table_shows_right_wrong_and_skipped(capsys: pytest.CaptureFixture[str]) -> None:
    table.write(document(result("list"), result("watch", error="x"), result("writes", skipped="406")))
    out = capsys.readouterr().out
    assert "100.0" in out and "WRONG" in out and "skipped  406" in out and "note: a <note>" in out


def test_ratios_are_to_the_first_run() -> None:
    runs = [document(result("list", 100.0)), document(result("list", 150.0, cpu_us_per_op=None))]
    found = compare.compare_documents(runs, ["a", "b"])
    rows = {row["metric"]: row for row in found["rows"]}
    assert (rows["per_second"]["values"], rows["per_second"]["ratios"]) == ([100.0, 150.0], [1.0, 1.5])
    assert (rows["cpu_us_per_op"]["values"], rows["cpu_us_per_op"]["ratios"]) == ([5.0, None], [1.0, None])
    assert set(rows["per_second"]) == {*("case", "name", "metric", "values", "ratios", "intervals", "verdicts")}


def test_each_difference_has_a_note() -> None:
    first = document(result("list"), result("pages"))
    other = document(result("list"), result("watch", error="watch: x"))
    other["machine"] = {"cores": 4, "cpu": "y", "memory_mb": 2000, "load_average": 9.0}
    other["server"] = {**other["server"], "gitVersion": "v2", "transport": "tls"}
    other["options"] = {**other["options"], "objects": 5, "encoding": ["json", "cbor"]}
    notes = " | ".join(compare.compare_documents([first, other], ["a", "b"])["notes"])
    for said in (
        "machine cores is not alike: 2 (a), 4 (b)",
        "machine cpu", "machine memory_mb", "gitVersion is not alike: v1 (a), v2 (b)", "transport",
        "--objects is not alike: 10000 (a), 5 (b)", "--encoding is not alike: json (a), json,cbor (b)",
        "b: load average 9", "absent from b: pages json", "absent from a: watch json", "wrong in b: watch: x",
    ):  # fmt: skip
        assert said in notes
    assert not any("not alike" in note for note in compare.compare_documents([first, first], ["a", "b"])["notes"])


def test_noise_has_a_note() -> None:
    steady, unsteady = result("list", 100.0), result("list", 101.0)
    for at, sample in enumerate(unsteady["samples"]):
        sample["per_second"] = 40.0 + 60 * (at % 2)
    notes = " | ".join(compare.compare_documents([document(steady), document(unsteady)], ["a", "b"])["notes"])
    assert "samples of b spread by" in notes and "less than the noise" in notes
    assert "noise" not in " ".join(
        compare.compare_documents([document(steady), document(result("list", 150.0))], ["a", "b"])["notes"]
    )


def test_the_command_writes_page_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = []
    for name in ("a", "b"):
        paths.append(str(tmp_path / f"{name}.json"))
        Path(paths[-1]).write_text(json.dumps(document(result("list"), label="")))
    page, file = tmp_path / "c.html", tmp_path / "c.json"
    assert main(["bench", "compare", *paths, f"--report={page}", f"--json={file}"]) == 0
    assert not LOADING.search(page.read_text()) and "<svg" in page.read_text()
    found = json.loads(file.read_text())
    assert set(found) == {"schema", "runs", "rows", "notes"} and [run["name"] for run in found["runs"]] == ["a", "b"]
    assert "~1.00x" in capsys.readouterr().out
    broken = tmp_path / "broken.json"
    broken.write_text("{}")
    for words, said in (
        (paths[:1], "two or more"),
        ([*paths, "/absent"], "/absent"),
        ([*paths, str(broken)], "no result"),
    ):
        assert main(["bench", "compare", *words]) == 2
        assert said in capsys.readouterr().err


def test_absent_figures_are_null() -> None:
    made = empty("list", "n", "json", False, "lists")
    assert all(made[name] is None for name in FIGURES)
    assert set(made) == {
        "case", "name", "encoding", "gzip", "unit", "ops", "seconds", "per_second", "objects", "objects_per_second",
        "body_bytes", "wire_bytes_in", "status", "offered_per_second", "load_per_second", "backlog_seconds",
        "client_busy",
        "histogram_us", "repeats", "intervals", "wire_mb_per_second", "latency_ms", "first_byte_ms", "lag_from_sent_ms",
        "lag_from_ack_ms", "cpu_seconds", "cpu_us_per_op", "cpu_s_per_million_objects", "client_cpu_us_per_op",
        "rss_mb_peak", "reconnects", "retries_429", "samples", "proof", "skipped", "error",
    }  # fmt: skip
