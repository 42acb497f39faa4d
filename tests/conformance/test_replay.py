"""The replayer: it records what it replays, and a server that answers otherwise fails by name."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.replay import cbor, golden, protobuf, scenarios
from tests.conformance.replay.checks import holds
from tests.conformance.replay.client import Client
from tests.conformance.replay.differences import differences
from tests.conformance.replay.paths import drop, lookup, split
from tests.conformance.replay.placeholders import normalise
from tests.conformance.replay.scenario import load
from tests.conformance.servers import plain, serve
from tests.conformance.suites import ANSWERS, SCENARIOS, expectations

ANSWER = {
    "status": 200,
    "headers": {},
    "body": {"metadata": {"resourceVersion": "12"}, "items": [1, 2], "message": "m"},
}


def test_a_recording_is_alike_and_a_changed_line_fails(tmp_path: Path) -> None:
    """Record a scenario from our server, find the golden file of kube-apiserver, and fail where a line differs."""
    path = SCENARIOS / "generate_name.yaml"
    with serve("--controllers=", *plain(tmp_path)) as url:
        count, wrong = scenarios.record(Client(url, "admin"), path, tmp_path)
    assert wrong == []
    lines = golden.read(golden.file_of(path, tmp_path))
    assert lines == golden.read(golden.file_of(path)) and len(lines) == count
    changed = list(lines)[3]
    lines[changed]["answer"]["status"] = 299
    golden.write_lines(golden.file_of(path, tmp_path), lines.values())
    with serve("--controllers=", *plain(tmp_path)) as url:
        outcome = scenarios.compare(Client(url, "admin"), path, against=tmp_path, show=1)
    assert outcome.failed == [f"generate_name/{changed}"]
    assert len(outcome.passed) == count - 1
    assert ".status: want 299, got " in outcome.lines[1]


def test_every_file_has_its_golden() -> None:
    """Each scenario has a golden line for each step with an id, and the floors name each of them."""
    suites = ("scenarios", "hooked", "admission", "secured", "audit", "settings")
    expected = {case.path: case for case in expectations(*suites)}
    for path in (path for suite in suites for path in (ANSWERS / suite).glob("*.yaml")):
        ids = [step["id"] for step in load(path) if "id" in step]
        assert set(ids) == set(golden.read(golden.file_of(path))), path.name
        assert expected.pop(path).total == len(ids), path.name
    assert expected == {}


@pytest.mark.parametrize(
    ("want", "got", "subset", "count"),
    [
        ({"a": 1}, {"a": 1}, False, 0),
        ({"a": 1}, {"a": True}, False, 1),
        ({"a": 1}, {"b": 1}, False, 2),
        ({"a": 1}, {"a": 1, "b": 1}, True, 0),
        ([1, 2], [2, 1], False, 2),
        ([1], [2, 1], False, 1),
        ([1], [2, 1], True, 0),
        ([3], [2, 1], True, 1),
    ],
)
def test_differences(want: Any, got: Any, subset: bool, count: int) -> None:
    assert len(differences(want, got, subset)) == count


@pytest.mark.parametrize(
    ("check", "outcome"),
    [
        ("metadata.resourceVersion > 9", True),
        ("metadata.resourceVersion > 12", False),
        ("len(items) == 2", True),
        ("message =~ ^m$", True),
        ("message !~ ^m$", False),
        ("status != 200", False),
    ],
)
def test_checks(check: str, outcome: bool) -> None:
    assert holds(check, ANSWER) is outcome


def test_paths() -> None:
    value = {"a.b": [{"n": "x", "v": 1}, {"n": "y", "v": 2}]}
    assert lookup(value, r"a\.b[n=y].v") == 2
    assert lookup(value, r"a\.b[n=z].v") is None
    assert lookup(value, r"a\.b.*.v") == [1, 2]
    drop(value, split(r"a\.b.0"))
    assert value == {"a.b": ["<ignored>", {"n": "y", "v": 2}]}


def test_placeholders() -> None:
    value = {
        "uid": "12345678-1234-1234-1234-123456789abc",
        "resourceVersion": "7",
        "host": "h:1",
        "time": "2001-01-01T00:00:00Z",
    }
    found = normalise(value, {"h:1": "<server>"})
    assert found == {"uid": "<uid>", "resourceVersion": "<rv>", "host": "<server>", "time": "2001-01-01T00:00:00Z"}


def test_binary_formats() -> None:
    value = {"a": [1, -2, 1.5, None, True, "t", 70000]}
    assert cbor.decode(io.BytesIO(cbor.MARK + cbor.encode(value))) == {"<cbor>": value}
    with pytest.raises(EOFError):
        cbor.decode(io.BytesIO(cbor.encode(value)[:-1]))
    assert protobuf.fields(b"\x08\x96\x01\x12\x02hi\x12\x02ho") == {"1": 150, "2": ["hi", "ho"]}
    with pytest.raises(ValueError, match="length"):
        protobuf.fields(b"\x12\x05hi")
