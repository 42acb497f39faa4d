"""The search for the highest rate that holds a bound, against servers that are formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hydrofoil.bench import find
from hydrofoil.bench.cases import Variant
from hydrofoil.bench.options import SearchOptions
from tests.unit.bench.results import measured


class FakeSession:
    """A session that nobody interrupts."""

    interrupted = False


class FakeRunner:
    """A runner whose server answers as a formula of the rate says."""

    def __init__(self, capacity: float, p99: Callable[[float], float]) -> None:
        self.options = SearchOptions()
        self.session = FakeSession()
        self.capacity = capacity
        self.p99 = p99
        self.tried: list[float] = []
        self.kept: list[dict[str, Any]] = []

    def measure(self, variant: Variant, _seconds: float = 0.0) -> dict[str, Any]:
        """Return the result of a rate."""
        rate = variant.rate or self.capacity
        self.tried.append(rate)
        done = min(rate, self.capacity)
        return measured(done, self.p99(rate), load_per_second=done, offered_per_second=rate)

    def keep(self, result: dict[str, Any]) -> None:
        """Take a result."""
        self.kept.append(result)


def search(runner: FakeRunner, **bounds: float) -> dict[str, Any]:
    """Search with bounds of percentiles."""
    made: Any = find.Search(runner, Variant("list", "json", 4, 0.0), bounds)  # type: ignore[arg-type]
    made.run()
    found: dict[str, Any] = made.found()
    return found


@pytest.mark.parametrize("edge", [0.3, 0.9, 1.0, 1.7])
def test_the_rate_is_within_five_per_cent_of_the_edge(edge: float) -> None:
    limit = 200 * edge
    runner = FakeRunner(200 if edge <= 1 else limit, lambda rate: 10.0 if rate <= limit else 400.0)
    found = search(runner, p99=50.0)
    assert limit / 1.06 < found["rate"] <= limit and found["times_ms"]["p99"] == 10.0
    assert [point["rate"] for point in found["curve"]] == sorted(point["rate"] for point in found["curve"])
    assert {point["verdict"] for point in found["curve"]} >= {"holds"}
    assert len(runner.tried) < 25


def test_no_rate_holds_an_impossible_bound() -> None:
    found = search(FakeRunner(200, lambda _: 400.0), p99=50.0)
    assert found["rate"] is None and found["per_second"] is None
    assert "no rate was found" in find.text(found)


def test_a_rate_that_is_not_achieved_does_not_hold() -> None:
    found = search(FakeRunner(100, lambda _: 1.0), p99=50.0)
    assert 95 <= found["rate"] <= 106
    assert "overloaded" in {point["verdict"] for point in found["curve"]}


def test_one_measurement_that_other_work_disturbed_does_not_decide() -> None:
    runner = FakeRunner(200, lambda _: 10.0)
    runner.p99 = lambda rate: 400.0 if rate > 150 or runner.tried.count(rate) == 1 else 10.0
    assert 142 < search(runner, p99=50.0)["rate"] <= 150


def test_the_text_has_the_curve_and_the_rate() -> None:
    text = find.text(search(FakeRunner(200, lambda rate: 10.0 if rate <= 100 else 400.0), p99=50.0))
    assert "holds" in text and "over" in text and "lists a second hold p99 <= 50 ms (p99 10.00 ms of " in text


def test_a_time_of_disturbance_does_not_end_the_search_too_low() -> None:
    runner = FakeRunner(200, lambda _: 10.0)
    runner.p99 = lambda rate: 400.0 if rate > 150 or 4 <= len(runner.tried) <= 6 else 10.0
    assert 130 < search(runner, p99=50.0)["rate"] <= 150
