"""Bodies without secrets."""

from __future__ import annotations

import gzip

from hydrofoil.controls.record import HIDDEN, Record, hide_secrets, truncate_body
from hydrofoil.request import parse


def record(method: str, path: str) -> Record:
    found = Record(method, path, {})
    found.identify(parse(method, path))
    return found


def test_data_and_tokens_are_hidden_wherever_they_are() -> None:
    secret = {"data": {"a": "x"}, "stringData": {"b": "y"}, "metadata": {"name": "s"}}
    want = {"data": {"a": HIDDEN}, "stringData": {"b": HIDDEN}, "metadata": {"name": "s"}}
    assert hide_secrets(secret) == want
    assert hide_secrets({"items": [secret], "object": secret}) == {"items": [want], "object": want}
    assert hide_secrets([{"op": "add", "path": "/data/a", "value": "x"}]) == [
        {"op": "add", "path": "/data/a", "value": HIDDEN}
    ]
    assert hide_secrets({"status": {"token": "t", "expires": "e"}}) == {"status": {"token": HIDDEN, "expires": "e"}}


def test_bodies_of_other_resources_stay() -> None:
    maps = record("GET", "/api/v1/configmaps")
    assert truncate_body(maps, b'{"data":{"a":"x"}}') == b'{"data":{"a":"x"}}'
    assert truncate_body(maps, gzip.compress(b"plain"), b"Content-Encoding: gzip\r\n") == b"plain"
    assert truncate_body(maps, b"no gzip", b"Content-Encoding: gzip\r\n") == b""


def test_what_cannot_be_read_of_a_secret_is_dropped() -> None:
    secrets = record("GET", "/api/v1/secrets")
    assert truncate_body(secrets, b'{"data":{"a":"x"}}') == b'{"data":{"a":"<hidden>"}}'
    assert truncate_body(secrets, b"k8s\0\n\x0c") == b""
    token = record("POST", "/api/v1/namespaces/n/serviceaccounts/a/token")
    assert truncate_body(token, b'{"status":{"token":"t"}}') == b'{"status":{"token":"<hidden>"}}'


def test_a_line_shows_the_outcome() -> None:
    found = record("GET", "/api/v1/pods")
    assert str(found) == "GET /api/v1/pods -> cut (, open)"
    found.code, found.duration, found.user, found.fault = 200, 0.0015, "ann", "delay seconds=1"
    assert str(found) == "GET /api/v1/pods -> 200 (ann, 1.5 ms) [delay seconds=1]"
