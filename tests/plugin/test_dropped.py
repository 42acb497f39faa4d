"""Faults that drop a connection: what was sent arrives, and nothing that looks like an end of the answer follows."""

from __future__ import annotations

import base64
import socket
from typing import Any

import pytest

from hydrofoil.testing.remote_server import RemoteServer
from tests.plugin.conftest import MAPS, make

WEBSOCKET = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    f"Sec-WebSocket-Key: {base64.b64encode(bytes(16)).decode()}\r\n"
)


def received(server: RemoteServer, *, version: str = "1.1", more: str = "") -> tuple[bytes, bool]:
    """Return all bytes of the answer to a watch, and whether the connection was reset."""
    head = f"GET {MAPS}?watch=1 HTTP/{version}\r\nHost: {server.host}:{server.port}\r\n{more}\r\n"
    found = b""
    with socket.create_connection((server.host, server.port), timeout=20) as connection:
        connection.sendall(head.encode())
        while True:
            try:
                data = connection.recv(65536)
            except ConnectionResetError:
                return found, True
            if not data:
                return found, False
            found += data


@pytest.mark.parametrize(
    ("given", "more", "events"),
    [
        ({"after": 2}, {}, 2),
        ({"after": 2}, {"version": "1.0"}, 2),
        ({"after": 2}, {"more": WEBSOCKET}, 2),
        ({"after": 0}, {}, 0),
        ({"after": 0}, {"version": "1.0"}, 0),
    ],
)
def test_a_watch_ends_behind_its_events(
    thread: RemoteServer, given: dict[str, Any], more: dict[str, Any], events: int
) -> None:
    for n in range(3):
        make(thread, f"m{n}")
    thread.faults.add("cut", verb="watch", **given)
    data, reset = received(thread, **more)
    assert data.count(b'"type":"ADDED"') == events
    # A chunk of nothing, and a message that closes, are ends.
    assert data.endswith(b"\n" if more else b"\r\n") is bool(events)
    assert not data.endswith(b"0\r\n\r\n")
    # In HTTP/1.0 the end of the connection is that of the body.
    assert reset is (more.get("version") == "1.0")


@pytest.mark.parametrize("more", [{}, {"version": "1.0"}, {"more": WEBSOCKET}])
def test_half_of_an_event_is_the_last_of_a_watch(thread: RemoteServer, more: dict[str, Any]) -> None:
    make(thread, "m")
    thread.faults.add("cut", verb="watch", when="body")
    data, reset = received(thread, **more)
    assert data.startswith(b"HTTP/%s " % more.get("version", "1.1").encode())
    assert not data.endswith(b"0\r\n\r\n")
    if WEBSOCKET not in more.values():
        assert not data.endswith(b"}\n\r\n" if not more else b"}\n")
    assert reset is ("version" in more)
