"""TLS on the port of plain HTTP, for clients that send a token over TLS alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from hydrofoil import engine
from hydrofoil.clock import machine_seconds
from hydrofoil.server.identity import chain


class InMemoryCertificate:
    """A certificate in memory, made when it is first used.

    Kubeconfigs are loaded with credentials only if the server is https (client-go `tools/clientcmd`): over plain HTTP a
    user of a test would be anonymous, and have the rights of the administrator.
    """

    def __init__(self, names: Callable[[], list[str]]) -> None:
        """`names` returns the names and addresses of the server."""
        self._names = names

    @cached_property
    def _made(self) -> tuple[str, engine.TlsConfig]:
        now = machine_seconds()
        authority, secret = engine.new_authority(now)
        certificate, key = engine.new_certificate(secret.encode(), self._names(), None, now)
        return authority, engine.TlsConfig(chain(certificate, authority).encode(), key.encode(), [], False, [], None)

    @property
    def authority(self) -> str:
        """Return the certificate of the authority, in PEM."""
        return self._made[0]

    def settings(self) -> engine.TlsConfig:
        """Return the settings of new sessions."""
        return self._made[1]
