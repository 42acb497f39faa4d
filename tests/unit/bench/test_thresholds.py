"""`--fail-if`, `--csv`, and what has to be said of figures."""

from __future__ import annotations

import csv
import io

import pytest

from hydrofoil.bench import lines, runner
from hydrofoil.bench.compare import compare_documents
from hydrofoil.bench.repeats import merge
from hydrofoil.bench.thresholds import failures, regressions, threshold
from hydrofoil.cli.main import main
from hydrofoil.options import Refused
from tests.unit.bench.results import document, measured


@pytest.mark.parametrize(
    ("text", "fails"),
    [
        *(("p99>2ms", True), ("p99>3ms", False), ("p99>=3ms", True), ("p99 > 2", True), ("p99>0.002s", True)),
        *(("p99>2000us", True), ("p99.9>2ms", True), ("p999>2ms", True), ("max>5ms", False), ("rate<200", True)),
        *(("rate<50", False), ("list:p99>2ms", True), ("watch:p99>2ms", False), ("memory>60", True), ("cpu>1", False)),
    ],
)
def test_absolute_bounds(text: str, fails: bool) -> None:
    found = failures([threshold(text)], [measured(100.0)])
    assert bool(found) == fails
    assert all("list json readers=4: " in line and f"--fail-if {text}" in line for line in found)


@pytest.mark.parametrize(
    "text", ["", "p99", "p98>5ms", "p99>5min", "p99>ms", "rate<5ms", "p95>10%", "p99==5ms", "p99>1.2.3ms"]
)
def test_bounds_that_are_none(text: str) -> None:
    with pytest.raises(Refused):
        threshold(text)


def test_a_bound_in_per_cent_needs_a_change_that_is_proven() -> None:
    def rows(*rates: list[float]) -> list[dict[str, object]]:
        made = [document(merge([measured(rate) for rate in one])) for one in rates]
        return list(compare_documents(made, ["a", "b"])["rows"])

    fell = rows([100.0, 100.5, 99.5], [80.0, 80.5, 79.5])
    assert len(regressions([threshold("rate<10%")], fell)) == 1
    assert regressions([threshold("rate<30%")], fell) == regressions([threshold("rate>10%")], fell) == []
    noisy = rows([100.0, 60.0, 140.0], [80.0, 130.0, 20.0])
    assert regressions([threshold("rate<10%")], noisy) == []
    single = rows([100.0], [80.0])
    assert len(regressions([threshold("rate<10%")], single)) == 1, "without repeats the ratio is all there is"


def test_lines_of_figures_have_each_repeat() -> None:
    text = lines.lines(
        [document(merge([measured(90.0), measured(110.0)]), measured(1.0, status="wrong", error="a, b"))]
    )
    first, second, third = csv.DictReader(io.StringIO(text))
    assert (first["repeat"], first["per_second"], second["per_second"]) == ("1", "90.0", "110.0")
    assert (first["latency_p99.9_ms"], first["latency_count"], first["status"]) == ("3.0", "100", "ok")
    assert (third["status"], third["error"]) == ("wrong", "a, b")


def test_what_has_to_be_said_of_figures() -> None:
    assert runner.remarks(measured(1.0)) == []
    assert "the client was the limit" in runner.remarks(measured(1.0, client_busy=0.97))[0]
    assert "3.0 s behind" in runner.remarks(measured(1.0, status="overloaded", backlog_seconds=3.0))[0]
    assert "fewer than 100 operations" in runner.few([measured(1.0, ops=69), measured(1.0)])[0]
    assert runner.few([measured(1.0)]) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["list", "--server=http://127.0.0.1:1", "--fail-if=p99>10%"], "nothing is compared"),
        (["list", "--server=http://127.0.0.1:1", "--fail-if=latency"], "must be like p99>50ms"),
        (["list", "--server=http://127.0.0.1:1", "--csv=/absent/a.csv"], "no such folder"),
        (["list", "--server=http://127.0.0.1:1", "--readers=1,x"], "--readers"),
        (["find", "--p99=1s", "--server=http://127.0.0.1:1"], "one case is needed"),
        (["find", "lists", "--p99=1s", "--server=http://127.0.0.1:1"], "no case 'lists' (list?)"),
        (["find", "list", "--server=http://127.0.0.1:1"], "no bound is given (such as --p99 50ms)"),
        (["find", "list", "--p99=1s", "--rate=5", "--server=http://127.0.0.1:1"], "the rate is what is found"),
        (["compare", "list", "http://127.0.0.1:1"], "two servers are needed"),
        (["compare", "a.json", "b.json", "--repeat=5"], "--repeat belongs to servers"),
    ],
)
def test_refusals(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *words]) == 2
    out, err = capsys.readouterr()
    assert said in err and err.count("\n") == 1 and out == ""
