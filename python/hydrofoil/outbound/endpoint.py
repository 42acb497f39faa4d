"""The address of a webhook, as its clientConfig has it (apiserver `pkg/util/webhook/client.go`)."""

from __future__ import annotations

import posixpath
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from hydrofoil.outbound.services import Services

Object = dict[str, Any]


def clean(path: str) -> str:
    """Return a path as client-go requests it (`path.Join`): without empty parts, dots and a slash at the end."""
    return posixpath.normpath("/" + path.lstrip("/"))


class Endpoint:
    """The address of a webhook."""

    def __init__(self, client: Object, seconds: int) -> None:
        """`client`: the clientConfig; `seconds`: the timeout that the webhook learns from the query."""
        query = f"timeout={seconds}s"
        self.service: tuple[str, str, int] | None = None
        """Namespace, name and port of its service; None to connect to the URL."""
        self.host: str | None = None
        """The name that its certificate must have, if that is not the host of the URL."""
        if client.get("url"):
            parts = urlsplit(client["url"])
            self._parts = parts._replace(path=clean(parts.path), query=query)
        else:
            service = client["service"]
            self.service = service["namespace"], service["name"], service.get("port", 443)
            self.host = f"{self.service[1]}.{self.service[0]}.svc"
            self._parts = urlsplit(f"https://{self.host}:{self.service[2]}{clean(service.get('path', ''))}?{query}")

    @property
    def url(self) -> str:
        """Return the URL as errors show it."""
        return urlunsplit(self._parts)

    def connect(self, services: Services) -> str:
        """Return the URL to connect to. Raise Unreachable."""
        if self.service is None:
            return self.url
        return urlunsplit(self._parts._replace(netloc=services.locate(*self.service)))
