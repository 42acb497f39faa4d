"""One server, with one connection kept open."""

from __future__ import annotations

import http.client
import json
import re
from typing import Any
from urllib.parse import urlsplit

from tests.conformance.replay.client import unverified

MANAGER = "corpus"
"""The user agent, which becomes the manager in managedFields."""
WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')


class Connection:
    """A client that sends one request after the other."""

    def __init__(self, url: str, token: str | None = None, timeout: float = 30) -> None:
        self.url, self.token, self.timeout = urlsplit(url), token, timeout
        self.context = unverified() if self.url.scheme == "https" else None
        self._lower: http.client.HTTPConnection | None = None

    def close(self) -> None:
        """Close the connection."""
        if self._lower:
            self._lower.close()
        self._lower = None

    def send(
        self,
        verb: str,
        path: str,
        body: bytes | None = None,
        content: str = "application/json",
        accept: str = "application/json",
    ) -> tuple[int, Any, list[str]]:
        """Return the code, the decoded body (text when it is not JSON) and the warning texts.

        A request on a connection that the server has closed is sent once more.
        """
        headers = {"Accept": accept, "User-Agent": MANAGER}
        if body is not None:
            headers["Content-Type"] = content
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        try:
            answer, data = self._exchange(verb, path, body, headers)
        except (http.client.HTTPException, OSError):
            answer, data = self._exchange(verb, path, body, headers)
        warnings = [
            re.sub(r"\\(.)", r"\1", text)
            for value in answer.headers.get_all("Warning") or []
            for text in WARNING.findall(value)
        ]
        try:
            return answer.status, json.loads(data), warnings
        except ValueError:
            return answer.status, data.decode("utf-8", "replace"), warnings

    def _exchange(
        self, verb: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        if self._lower is None:
            host, port = self.url.hostname or "", self.url.port
            if self.context:
                self._lower = http.client.HTTPSConnection(host, port, timeout=self.timeout, context=self.context)
            else:
                self._lower = http.client.HTTPConnection(host, port, timeout=self.timeout)
        try:
            self._lower.request(verb, path, body=body, headers=headers)
            answer = self._lower.getresponse()
            return answer, answer.read()
        except (http.client.HTTPException, OSError):
            self.close()
            raise

    def call(self, verb: str, path: str, body: Any = None, content: str = "application/json") -> tuple[int, Any]:
        """Send a value as JSON; return the code and the decoded body."""
        code, value, _ = self.send(verb, path, None if body is None else json.dumps(body).encode(), content)
        return code, value
