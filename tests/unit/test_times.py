"""The times of layers."""

from __future__ import annotations

import pytest

from tests.times import layer_of, layers, table


def report(name: str, seconds: float, when: str = "call") -> pytest.TestReport:
    return pytest.TestReport(name, ("", 0, ""), {}, "passed", None, when, (), seconds)  # type: ignore[arg-type]


def test_the_layer_is_the_folder() -> None:
    assert layer_of("tests/unit/audit/test_event.py::test_a[x/y]") == "unit"
    assert layer_of("tests/api/test_watch.py::test_b") == "api"
    assert layer_of("tests/test_c.py::test_d") == layer_of("bench/test_codec.py::test_e") == ""


def test_seconds_add_up_by_layer() -> None:
    found = layers(
        [
            report("tests/unit/test_a.py::test_a", 1, "setup"),
            report("tests/unit/test_a.py::test_a", 2),
            report("tests/unit/test_a.py::test_b", 3),
            report("tests/api/test_a.py::test_a", 10),
        ]
    )
    assert [line.split() for line in table(found, 9)] == [
        ["layer", "tests", "seconds"],
        ["api", "1", "10"],
        ["unit", "2", "6"],
        ["wall", "time", "3", "9"],
    ]
