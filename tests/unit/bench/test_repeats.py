"""Repeats of a measurement: medians, intervals, merged histograms, and ratios that prove something."""

from __future__ import annotations

import random

import pytest

from hydrofoil.bench import compare
from hydrofoil.bench.metrics import interval, judge
from hydrofoil.bench.repeats import merge, merge_histograms
from hydrofoil.bench.result import FIGURES
from tests.unit.bench.results import document, measured


def test_figures_are_medians_and_counts_are_sums() -> None:
    made = merge([measured(90.0, 1.0), measured(100.0, 9.0), measured(130.0, 2.0)])
    assert (made["per_second"], made["ops"], made["seconds"]) == (100.0, 300, 3.0)
    assert (made["latency_ms"]["p99"], made["latency_ms"]["count"]) == (2.0, 300)
    assert made["histogram_us"] == [[1000, 300]] and [s["t"] for s in made["samples"]] == [1.0, 2.0, 3.0]
    low, high = made["intervals"]["per_second"]
    assert low < 90.0 and high > 130.0 and set(made) == set(measured(1.0))
    assert len(made["repeats"]) == 3 and "samples" not in made["repeats"][0]


def test_one_that_was_not_measured_stands_for_all() -> None:
    assert merge([measured(90.0), measured(1.0, status="wrong", error="x")])["status"] == "wrong"
    assert merge([measured(90.0)]) == measured(90.0)
    nothing = {**measured(1.0, status="stopped"), **dict.fromkeys(FIGURES)}
    stopped = merge([measured(90.0), nothing])
    assert stopped["per_second"] == 90.0 and stopped["intervals"] == {}


@pytest.mark.parametrize(
    ("statuses", "whole"),
    [(["ok", "overloaded", "ok"], "ok"), (["ok", "overloaded"], "overloaded"), (["ok", "stopped"], "stopped")],
)
def test_the_status_of_most_repeats_counts_and_a_stop_ends_them(statuses: list[str], whole: str) -> None:
    assert merge([measured(1.0, status=status) for status in statuses])["status"] == whole


def test_histograms_are_merged_by_adding_counts() -> None:
    assert merge_histograms([[[1, 2], [5, 1]], [[5, 3], [2, 1]]]) == [[1, 2], [2, 1], [5, 4]]


def test_an_interval_is_wider_the_fewer_the_repeats() -> None:
    assert interval([1.0]) is None
    widths = []
    for count in (2, 3, 5, 10):
        low, high = interval([1.0, 2.0] * (count // 2) + [1.5] * (count % 2)) or (0.0, 0.0)
        assert low <= 1.0 and high >= 2.0
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)


def test_a_ratio_is_coloured_only_where_the_intervals_are_apart() -> None:
    slow = merge([measured(rate, p99) for rate, p99 in ((99, 9.0), (100, 9.1), (101, 9.2), (100, 9.1), (99, 9.0))])
    fast = merge([measured(rate, p99) for rate, p99 in ((149, 3.0), (150, 3.1), (151, 3.2), (150, 3.1), (149, 3.0))])
    wild = merge([measured(rate, p99) for rate, p99 in ((40, 3.0), (150, 9.1), (260, 30.0), (150, 3.1), (149, 3.0))])
    assert judge("per_second", slow, fast) == judge("latency_p99_ms", slow, fast) == "better"
    assert judge("per_second", fast, slow) == judge("latency_p99_ms", fast, slow) == "worse"
    assert judge("per_second", slow, wild) == judge("latency_p99_ms", slow, wild) == "alike"
    assert judge("per_second", measured(1.0), measured(9.0)) == "alike", "one measurement each"
    assert judge("rss_mb_peak", slow, fast) == "alike"


def test_identical_servers_have_no_coloured_ratio() -> None:
    noise = random.Random(7)
    coloured = 0
    for _ in range(300):
        made = []
        for _server in range(2):
            busy = [noise.lognormvariate(0, 0.3) for _ in range(5)]
            made.append(merge([measured(100 / b, 3 * b * noise.lognormvariate(0, 0.2), ops=100) for b in busy]))
        coloured += any(judge(metric, *made) != "alike" for metric in ("per_second", "latency_p99_ms"))
    assert coloured < 6, "two in a hundred"


def test_a_comparison_of_single_measurements_says_that_it_proves_nothing() -> None:
    found = compare.compare_documents([document(measured(100.0)), document(measured(200.0))], ["a", "b"])
    assert found["notes"][0].startswith("each run has one measurement") and "--repeat 5" in found["notes"][0]
    assert {verdict for row in found["rows"] for verdict in row["verdicts"]} == {"alike"}
    twice = [document(merge([measured(rate), measured(rate + 0.1)])) for rate in (100.0, 200.0)]
    repeated = compare.compare_documents(twice, ["a", "b"])
    assert not any("one measurement" in note for note in repeated["notes"])
