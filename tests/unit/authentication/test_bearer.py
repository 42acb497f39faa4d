"""Tokens in headers and subprotocols (apiserver `request/bearertoken`, `request/websocket`)."""

from __future__ import annotations

import base64

import pytest

from hydrofoil.authentication.bearer import EXTRA_SPACE, PREFIX, bearer, decode_base64url, is_websocket, subprotocols
from hydrofoil.authentication.login import Rejected
from tests.unit.authentication.requests import request


@pytest.mark.parametrize("value", ["Bearer t", "bearer t", "BEARER t", "  Bearer t ", "Bearer t more"])
def test_case_of_the_scheme_does_not_matter(value: str) -> None:
    warnings: list[str] = []
    assert bearer(value, warnings) == "t"
    assert warnings == []


@pytest.mark.parametrize("value", ["", "Bearer", "Bearer ", "t", "Token t", "Basic t", "Bearer\tt", "Bearer,t"])
def test_other_forms_are_no_token(value: str) -> None:
    warnings: list[str] = []
    assert bearer(value, warnings) == ""
    assert warnings == []


def test_a_second_space_is_warned_about() -> None:
    warnings: list[str] = []
    assert bearer("Bearer  t", warnings) == ""
    assert warnings == [EXTRA_SPACE]


def protocol(token: bytes) -> str:
    return PREFIX + base64.urlsafe_b64encode(token).rstrip(b"=").decode()


def test_a_token_among_subprotocols() -> None:
    found = subprotocols(request(("Sec-WebSocket-Protocol", f"{protocol(b'tok')}, v4.channel.k8s.io")).headers)
    assert found == ("tok", ["v4.channel.k8s.io"])


def test_subprotocols_of_several_headers_are_one_list() -> None:
    headers = request(("Sec-WebSocket-Protocol", "a"), ("sec-websocket-protocol", protocol(b"tok"))).headers
    assert subprotocols(headers) == ("tok", ["a"])


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (protocol(b"tok"), "missing additional subprotocol"),
        (f"{protocol(b'tok')}, {protocol(b'tok')}, a", "multiple bearer token protocols"),
        (f"{protocol(b'tok')}=, a", "invalid base64"),
        (f"{PREFIX}to+k, a", "invalid base64"),
        (f"{protocol(bytes([0xFF, 0xFE]))}, a", "invalid base64"),
    ],
)
def test_malformed_subprotocols_are_refused(value: str, why: str) -> None:
    with pytest.raises(Rejected, match=why):
        subprotocols(request(("Sec-WebSocket-Protocol", value)).headers)


@pytest.mark.parametrize(
    ("upgrade", "connection", "is_one"),
    [
        ("websocket", "Upgrade", True),
        ("WebSocket", "keep-alive, Upgrade", True),
        ("websocket", "keep-alive", False),
        ("h2c", "Upgrade", False),
        ("websocket", "upgraded", False),
    ],
)
def test_only_an_upgrade_to_websocket_has_subprotocols(upgrade: str, connection: str, is_one: bool) -> None:
    assert is_websocket(request(("Upgrade", upgrade), ("Connection", connection)).headers) is is_one


@pytest.mark.parametrize("text", ["a", "abc=", "ab cd", "é", "ab\n"])
def test_what_go_refuses_as_base64url(text: str) -> None:
    assert decode_base64url(text) is None
