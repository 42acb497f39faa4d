"""Options of a test server as Python values and as texts."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hydrofoil import StartError
from hydrofoil.testing.options import check, parse
from hydrofoil.testing.session_servers import flags_of


@pytest.mark.parametrize(
    ("given", "setting", "expected"),
    [
        ({}, "port", 0),
        ({"history_window": 5}, "history_window", 5.0),
        ({"history_window": "1m30s"}, "history_window", 90.0),
        ({"max_requests_inflight": 7}, "max_requests_inflight", 7),
        ({"controllers": []}, "controllers", ""),
        ({"controllers": ["namespace", "garbagecollector"]}, "controllers", "namespace,garbagecollector"),
        ({"client_ca_file": Path("/x/ca.crt")}, "client_ca_file", "/x/ca.crt"),
        ({"feature_gates": {"WatchList": False}}, "feature_gates", {"WatchList": False}),
        ({"service_account_issuer": ["https://a", "https://b"]}, "service_account_issuers", ("https://a", "https://b")),
        ({"test_controls": True}, "test_controls", "local"),
        ({"test_controls": "all"}, "test_controls", "all"),
        ({"test_controls": False}, "test_controls", ""),
        ({"client_ca_file": None}, "client_ca_file", ""),
    ],
)
def test_values(given: dict[str, Any], setting: str, expected: object) -> None:
    assert getattr(parse(given).config, setting) == expected


def test_options_of_their_own() -> None:
    found = parse({"seed": 7, "clock": "2026-01-01T01:00:00+01:00"})
    assert (found.seed, found.clock) == (7, datetime(2026, 1, 1, tzinfo=UTC))
    for wrong in ({"seed": "7"}, {"seed": True}, {"clock": "2026-01-01"}, {"clock": 5}, {"port": "many"}):
        with pytest.raises(StartError):
            parse(wrong)
    with pytest.raises(TypeError, match="'colour'"):
        check({"colour": "red"})


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"snapshot": 5}, "snapshot must be a path or a Snapshot, not 5"),
        ({"data_dir": "a", "etcd_servers": "http://b"}, "exclude each other"),
        ({"etcd_servers": "http://b", "etcd_certfile": "c"}, "are given together"),
        ({"data_dir": "a", "snapshot": "b"}, "keeps its objects in memory"),
        ({"config": "/nowhere/at/all"}, "^/nowhere/at/all: No such file or directory$"),
        ({"config": 5}, "^5: "),
    ],
)
def test_options_that_contradict_each_other_or_have_no_meaning(given: dict[str, Any], line: str) -> None:
    with pytest.raises(StartError, match=line) as e:
        parse(given)
    assert "\n" not in str(e.value)


def test_a_file_of_flags(tmp_path: Path) -> None:
    path = tmp_path / "server.yaml"
    path.write_text("history-window: 7s\ncontrollers: []\n")
    found = parse({"config": path, "controllers": "namespace"}).config
    assert (found.history_window, found.controllers) == (7.0, "namespace"), "an option wins over the file"
    for text, line in (("histroy-window: 7s", 'no flag "histroy-window"'), ("- a", "no map of flags")):
        path.write_text(text)
        with pytest.raises(StartError, match=line):
            parse({"config": path})


def test_flags_of_a_command_line() -> None:
    line = "--history-window=5s --allow-privileged --service-account-issuer a --service-account-issuer=b"
    assert flags_of(line) == {
        "history_window": "5s",
        "allow_privileged": "true",
        "service_account_issuer": ["a", "b"],
    }
    with pytest.raises(ValueError, match="'x' in hydrofoil_options is no flag"):
        flags_of("x")
