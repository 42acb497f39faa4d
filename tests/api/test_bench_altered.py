"""`hydrofoil bench` finds every change of one answer, be it the first or the hundredth."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hydrofoil import Server
from hydrofoil.bench.options import ENCODINGS
from hydrofoil.cli.main import main
from hydrofoil.testing.thread import ThreadServer
from tests.api.altered import ALTERED
from tests.api.wrong import Proxy, proxy

SMALL = ("--objects=40", "--size=100", "--watchers=3", "--readers=2", "--rate=max")
ENDLESS = "--duration=100s"
"""A case ends with its wrong answer, however long that takes to come."""
SHORT = ("--duration=1s", "--duration=30s")
"""A wrong version of a deletion is found after the measurement; the longer one is for busy machines."""
WATCHED = r"^GET .*watch=1&resourceVersion"
CASES = {
    "list": (r"^GET .*/configmaps$", tuple(ALTERED)),
    "pages": (r"^GET .*limit=500", tuple(ALTERED)),
    "watch": (WATCHED + r".*metadata.name", (*ALTERED, "type")),
    "fanout": (WATCHED, (*ALTERED, "type")),
    "informers": (r"^GET .*sendInitialEvents", (*ALTERED, "type")),
    "writes": (r"^(PUT|PATCH|POST) .*", tuple(ALTERED)),
    "mixed": (WATCHED, ("type", *ALTERED)),
}
"""Answers that become wrong, and how; objects that are lost, doubled or moved are in `test_bench.py`."""
PAIRS = [(case, fault) for case, (_, faults) in CASES.items() for fault in faults]
WHOLE = os.environ.get("HYDROFOIL_ALTERED") == "all"
"""Whether each change is made in each encoding, and not in two that take turns: that takes ten minutes."""
ALL = [
    (case, fault, encoding, number)
    for at, (case, fault) in enumerate(PAIRS)
    for turn, encoding in enumerate(ENCODINGS)
    for number in (0, 99)
    if WHOLE or (turn, number) in ((at % 5, 0), ((at + 2) % 5, 99))
]
PACKED = [
    (case, encoding, number)
    for at, (case, encoding, number) in enumerate(itertools.product(("list", "pages"), ENCODINGS, (0, 99)))
    if WHOLE or at % 3 == 0
]


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadServer]:
    with Server.in_thread(feature_gates="CBORServingAndStorage=true") as server:
        yield server


def found_wrong(tmp_path: Path, between: Proxy, case: str, *words: str) -> dict[str, Any]:
    """Run a case, which has to end with an error that names an object; return its result."""
    file, page = tmp_path / "results.json", tmp_path / "report.html"
    line = ["bench", case, f"--server={between.url}", f"--json={file}", f"--report={page}", *SMALL]
    for duration in SHORT if between.wrong.name == "version" else (ENDLESS,):
        code = main([*line, duration, *words])
        found = json.loads(file.read_text())
        if between.wrong.done:
            break
    (result,) = found["results"]
    assert between.wrong.done
    assert (code, found["wrong"], found["left"]) == (1, 1, 0)
    assert result["error"].startswith(f"{case} {result['encoding']}: ")
    assert any(name in result["error"] for name in ("bench-0", "churn-0", "status-0")), result["error"]
    assert result["error"].split(":")[0] in page.read_text()
    return dict(result)


@pytest.mark.parametrize(("case", "fault", "encoding", "number"), ALL)
def test_one_altered_answer_ends_its_case(
    server: ThreadServer, tmp_path: Path, case: str, fault: str, encoding: str, number: int
) -> None:
    with proxy(server.url, fault, CASES[case][0], number) as between:
        found_wrong(tmp_path, between, case, f"--encoding={encoding}")


@pytest.mark.parametrize(("case", "encoding", "number"), PACKED)
def test_a_packed_list_that_is_cut_off(
    server: ThreadServer, tmp_path: Path, case: str, encoding: str, number: int
) -> None:
    with proxy(server.url, "truncated", CASES[case][0], number) as between:
        words = ("--gzip", "--objects=1200", "--size=2000")
        error = found_wrong(tmp_path, between, case, f"--encoding={encoding}", *words)["error"]
        assert "cut off" in error or "a packed list: " in error


@pytest.mark.parametrize("number", [0, 20])
@pytest.mark.parametrize("fault", ["page", "continue"])
def test_a_page_of_another_place(server: ThreadServer, tmp_path: Path, fault: str, number: int) -> None:
    with proxy(server.url, fault, CASES["pages"][0], number) as between:
        found_wrong(tmp_path, between, "pages", "--objects=1200")
