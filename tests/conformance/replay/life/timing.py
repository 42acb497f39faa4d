"""The time by which a session waits: the machine's, or that of a server whose clock it moves."""

from __future__ import annotations

import json
import time

from tests.conformance.replay.client import Client


class Machine:
    """The time of the machine."""

    def now(self) -> float:
        """Return seconds from an arbitrary point."""
        return time.monotonic()

    def pass_by(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


class Moved(Machine):
    """The clock of a server with test controls, which stands still but for the waits of the session."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._now = 0.0
        self._send("PUT", "clock", {"frozen": True})

    def _send(self, method: str, path: str, body: dict[str, object]) -> None:
        headers = {"Content-Type": "application/json"}
        connection = self._client.open(method, f"/hydrofoil/v1/{path}", headers, json.dumps(body).encode())
        try:
            status = connection.response.status
            assert status == 200, f"{method} {path}: {status} {connection.response.read()!r}"
        finally:
            connection.close()

    def now(self) -> float:
        return self._now

    def pass_by(self, seconds: float) -> None:
        self._now += seconds
        self._send("POST", "clock/advance", {"duration": f"{round(seconds * 1000)}ms"})
