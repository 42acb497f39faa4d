"""The loads of `hydrofoil bench`: rates, sweeps, repeats, searches, and runs that end before their time."""

from __future__ import annotations

import json
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hydrofoil import Server
from hydrofoil.cli.main import main
from hydrofoil.testing.thread import ThreadServer
from tests.conftest import command

SMALL = ("--objects=40", "--size=100", "--watchers=3", "--readers=2", "--duration=300ms")


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadServer]:
    with Server.in_thread() as server:
        yield server


def bench(tmp_path: Path, url: str, *words: str) -> tuple[int, dict[str, Any]]:
    """Run benchmarks; return the exit code and the results."""
    file = tmp_path / "results.json"
    code = main(["bench", *words[:1], f"--server={url}", f"--json={file}", *SMALL, *words[1:]])
    return code, json.loads(file.read_text())


@pytest.mark.parametrize("case", ["list", "pages", "informers", "writes", "watch", "fanout", "mixed"])
def test_every_case_keeps_a_rate(server: ThreadServer, tmp_path: Path, case: str) -> None:
    code, found = bench(tmp_path, server.url, case, "--rate=20", "--duration=1s")
    result = found["results"][0]
    assert (code, result["error"]) == (0, None) and result["status"] in ("ok", "overloaded")
    assert result["offered_per_second"] == 20 and "rate=20/s" in result["name"]
    assert 5 < result["load_per_second"] < 25


def test_a_rate_that_is_too_high_is_called_overloaded(server: ThreadServer, tmp_path: Path) -> None:
    code, found = bench(tmp_path, server.url, "list", "--rate=100000")
    result = found["results"][0]
    assert (code, result["status"]) == (0, "overloaded") and result["backlog_seconds"] > 0.1
    # The latency counts from the time at which a list was due: the last were due a long time before.
    assert result["latency_ms"]["max"] > 80
    assert any("overloaded" in note for note in found["notes"])


def test_each_of_several_values_is_measured(server: ThreadServer, tmp_path: Path) -> None:
    _, found = bench(tmp_path, server.url, "list", "--readers=1,2", "--rate=10,max")
    names = [result["name"] for result in found["results"]]
    assert names == [f"list json readers={n}{rate}" for n in (1, 2) for rate in (" rate=10/s", "")]


def test_repeats_and_the_histogram(server: ThreadServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = tmp_path / "lines.csv"
    words = ("--repeat=3", "--warmup=100ms", f"--csv={lines}")
    code, found = bench(tmp_path, server.url, "list", *words)
    result = found["results"][0]
    assert code == 0 and len(result["repeats"]) == 3 and len(result["intervals"]["per_second"]) == 2
    counted = sum(count for _, count in result["histogram_us"])
    assert counted == result["ops"] == result["latency_ms"]["count"] == sum(one["ops"] for one in result["repeats"])
    assert list(result["latency_ms"]) == ["count", "p50", "p90", "p95", "p99", "p99.9", "max"]
    assert len(lines.read_text().splitlines()) == 4
    out = capsys.readouterr().out
    assert "ops" in out and "p99.9 ms" in out and "±" in out


def test_the_processes_of_the_port_are_found(server: ThreadServer, tmp_path: Path) -> None:
    _, found = bench(tmp_path, server.url, "list")
    assert found["results"][0]["cpu_us_per_op"] > 0 and not any("--pid" in note for note in found["notes"])


def test_an_exceeded_bound_ends_with_99(
    server: ThreadServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(tmp_path, server.url, "list", "--fail-if=p99>1us")[0] == 99
    assert "--fail-if p99>1us" in capsys.readouterr().err
    assert bench(tmp_path, server.url, "list", "--fail-if=p99>100s", "--fail-if=watch:p99>1us")[0] == 0


def test_a_search_has_a_rate_and_a_curve(
    server: ThreadServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "found.json"
    words = ["bench", "find", "list", "--p99=20s", f"--server={server.url}", f"--json={file}", *SMALL]
    assert main(words) == 0
    found = json.loads(file.read_text())["find"]
    assert found["rate"] > 0 and found["bounds_ms"] == {"p99": 20000.0} and len(found["curve"]) > 2
    assert "lists a second hold p99 <= 20000 ms" in capsys.readouterr().out
    assert main(["bench", "find", "list", "--p99=1us", f"--server={server.url}", *SMALL]) == 99


def test_two_servers_are_measured_in_turn(
    server: ThreadServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "compared.json"
    with Server.in_thread() as other:
        urls = [server.url, other.url]
        assert main(["bench", "compare", "list", *urls, "--repeat=2", f"--json={file}", *SMALL]) == 0
    found = json.loads(file.read_text())
    assert [run["name"] for run in found["runs"]] == urls
    assert all(len(interval) == 2 for row in found["rows"] for interval in row["intervals"])
    assert "~" in capsys.readouterr().out


def test_an_interrupt_shows_what_was_measured(server: ThreadServer, tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    line = command("bench", "list", "fanout", f"--server={server.url}", *SMALL, "--duration=1h", f"--json={file}")
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
        started = time.monotonic()
        while not measuring(running.pid) and time.monotonic() - started < 20:
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=20)
    found = json.loads(file.read_text())
    assert running.returncode == 130
    assert [(result["case"], result["status"]) for result in found["results"]] == [("list", "stopped")]
    assert found["results"][0]["ops"] > 0 and found["wrong"] == 0
    assert "stopped" in out and "WRONG" not in out


def measuring(pid: int) -> bool:
    """Report whether a client has spent so much time that it measures."""
    parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(parts[11]) + int(parts[12]) > 80


def test_a_server_that_is_lost_is_unreachable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "results.json"
    with Server.in_thread() as lost:
        line = command("bench", "list", f"--server={lost.url}", *SMALL, "--duration=1h", f"--json={file}")
        running = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started = time.monotonic()
        while not measuring(running.pid) and time.monotonic() - started < 20:
            time.sleep(0.05)
    out, err = running.communicate(timeout=60)
    found = json.loads(file.read_text())
    assert running.returncode == 1
    assert [result["status"] for result in found["results"]] == ["unreachable"]
    assert (found["wrong"], found["unreachable"]) == (0, 1)
    assert "unreachable" in out and "WRONG" not in out and "refused" in err.lower()


@pytest.mark.parametrize("resource", ["configmaps", "custom"])
def test_more_cases(server: ThreadServer, tmp_path: Path, resource: str) -> None:
    names = ("list", "selector", "cached", "namespaces", "manager", "watch", "writes")
    code, found = bench(tmp_path, server.url, *names, f"--resource={resource}", "--objects=120")
    assert [result["error"] for result in found["results"] if result["error"]] == []
    assert (code, found["left"]) == (0, 0)
    results = {result["case"]: result for result in found["results"]}
    assert set(results) == set(names) and all(result["ops"] and result["proof"] for result in found["results"])
    assert results["selector"]["objects"] == 12 * results["selector"]["ops"]
    assert results["namespaces"]["objects"] == 120 * results["namespaces"]["ops"]
    assert "informers=5" in results["manager"]["name"]
    for path in ("/api/v1/namespaces", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"):
        with urllib.request.urlopen(f"{server.url}{path}?labelSelector=hydrofoil.dev/bench") as answer:
            assert json.load(answer)["items"] == []
