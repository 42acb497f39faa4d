"""Credentials for webhooks: the users of the kubeconfig that a plug-in's configuration names, by server (apiserver
`pkg/util/webhook/authentication.go`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct


class Known(Struct, frozen=True):
    """The credentials for a server; empty for none."""

    authorization: str = ""
    """The value of the header."""
    certificate: bytes = b""
    key: bytes = b""

    def __repr__(self) -> str:
        # Without what is secret.
        return f"Known({self.certificate!r})"


NOBODY = Known()


class Credentials:
    """Users by the names of servers: `host:port`, `name.namespace.svc`, patterns as `*.example.com`, or `*`."""

    def __init__(self, users: Mapping[str, Known] | None = None) -> None:
        self._users = dict(users or {})

    def of(self, client: dict[str, Any]) -> Known:
        """Return the credentials for the server of a clientConfig."""
        if not self._users:
            return NOBODY
        service = client.get("service")
        if service:
            host, port = f"{service['name']}.{service['namespace']}.svc", str(service.get("port", 443))
        else:
            parts = urlsplit(client.get("url", ""))
            host, port = parts.hostname or "", str(parts.port or 443)
        return self._named(host, port)

    def _named(self, host: str, port: str) -> Known:
        names = [f"{host}:{port}"] + ([host] if port == "443" else [])
        labels = host.split(".")
        wild = [".".join(["*", *labels[at:]]) for at in range(1, len(labels))]
        names += [name for each in wild for name in ([f"{each}:{port}"] + ([each] if port == "443" else []))]
        found = next((self._users[name] for name in names if name in self._users), None)
        return found or self._users.get("*", NOBODY)
