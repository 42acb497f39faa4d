"""The requests of audit logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydrofoil.cli.dumps.recording import Recorded, RecordError, Recording, parse_record, patch_type
from hydrofoil.cli.dumps.replay import parse_speed
from hydrofoil.cli.failure import Failure

EVENT: dict[str, Any] = {
    "kind": "Event",
    "apiVersion": "audit.k8s.io/v1",
    "level": "Metadata",
    "stage": "ResponseComplete",
    "requestURI": "/api/v1/pods?limit=5",
    "verb": "list",
    "user": {"username": "jane", "groups": ["a", "b"], "uid": "7", "extra": {"x/y": ["z"]}},
    "responseStatus": {"code": 200},
    "requestReceivedTimestamp": "2026-11-28T14:00:02.500000Z",
}


def test_a_record_is_a_request() -> None:
    found = parse_record(EVENT)
    assert found == Recorded(
        "GET",
        "list",
        "/api/v1/pods?limit=5",
        b"",
        "application/json",
        200,
        {
            "Impersonate-User": "jane",
            "Impersonate-Uid": "7",
            "Impersonate-Group": ["a", "b"],
            "Impersonate-Extra-x%2Fy": ["z"],
        },
        is_stream=False,
    )
    assert parse_record({**EVENT, "verb": "watch"}).is_stream
    assert parse_record({**EVENT, "impersonatedUser": {"username": "joe"}}).user == {"Impersonate-User": "joe"}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"verb": "create"}, "no requestObject for this create"),
        ({"verb": "patch"}, "no requestObject for this patch"),
        ({"verb": "delete"}, "no requestObject for this delete, as its level is Metadata"),
        ({"verb": "connect"}, "'connect' cannot be sent again"),
        ({"requestURI": "/x\r\nA: b"}, "no requestURI"),
        ({"requestURI": "http://elsewhere/"}, "no requestURI"),
        ({"responseStatus": {}}, "no responseStatus.code"),
        ({"responseStatus": {"code": 101}}, "upgraded"),
    ],
)
def test_what_cannot_be_sent_says_why(change: dict[str, Any], why: str) -> None:
    with pytest.raises(RecordError, match=why):
        parse_record({**EVENT, **change})


def test_a_delete_may_have_no_body_where_the_log_would_have_it() -> None:
    assert parse_record({**EVENT, "verb": "delete", "level": "Request"}).body == b""
    assert parse_record({**EVENT, "verb": "delete", "requestObject": {"a": 1}}).body == b'{"a":1}'


@pytest.mark.parametrize(
    ("uri", "patch", "media"),
    [
        ("/x", [], "application/json-patch+json"),
        ("/x", {"metadata": {"name": "a"}}, "application/strategic-merge-patch+json"),
        ("/x?fieldManager=a&force=true", {}, "application/apply-patch+yaml"),
        (
            "/x?fieldManager=a",
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}},
            "application/apply-patch+yaml",
        ),
    ],
)
def test_the_type_of_a_patch_is_found(uri: str, patch: Any, media: str) -> None:
    assert patch_type(uri, patch) == media


def test_each_request_is_sent_once_by_its_arrival(tmp_path: Path) -> None:
    later = {**EVENT, "requestReceivedTimestamp": "2026-11-28T14:00:03Z", "requestURI": "/b"}
    lines = [json.dumps(later), json.dumps({**EVENT, "stage": "RequestReceived"}), "", "{nope", json.dumps(EVENT), "{}"]
    (tmp_path / "log").write_text("\n".join(lines))
    recording = Recording(str(tmp_path / "log"))
    found = [(place.line, recorded.uri) for place, recorded in recording.records() if isinstance(recorded, Recorded)]
    recording.close()
    assert found == [(5, "/api/v1/pods?limit=5"), (1, "/b")]
    assert recording.problems == [(4, "it is no JSON"), (6, "it is no audit event")]


@settings(deadline=None)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            name: st.none()
            | st.text(max_size=4)
            | st.integers(-9, 999)
            | st.dictionaries(st.text(max_size=3), st.none())
            for name in (*EVENT, "requestObject", "impersonatedUser")
        },
    )
)
def test_any_record_is_a_request_or_an_error(change: dict[str, Any]) -> None:
    try:
        found = parse_record({**EVENT, **change})
    except RecordError as e:
        assert str(e)
    else:
        assert found.uri.startswith("/") and found.method.isupper()


def test_speeds() -> None:
    assert (parse_speed("1"), parse_speed("2.5"), parse_speed("max")) == (1, 2.5, 0)
    for text in ("0", "-1", "fast", "inf", "nan", ""):
        with pytest.raises(Failure):
            parse_speed(text)
