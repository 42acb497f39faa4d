"""Certificates of clients (apiserver `request/x509`)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from hydrofoil import engine
from hydrofoil.authentication.login import Rejected


class Subject(Struct, frozen=True):
    """The subject of a certificate as a user."""

    name: str
    """The common name."""
    groups: tuple[str, ...]
    """The organizations, in order."""
    uid: str


class ClientCa:
    """The authorities of one bundle."""

    def __init__(self, pem: bytes) -> None:
        """Raise ValueError if there is no certificate, or a malformed one."""
        self._native = engine.ClientCa(pem)
        self.names: tuple[bytes, ...] = tuple(self._native.names)
        """The names of the authorities in DER, without the outer tag."""

    def verify(self, chain: Sequence[bytes], now: float) -> Subject | None:
        """Return the subject of a chain in DER, the client's certificate first, at a time in seconds since 1970.

        Return None for a subject without a common name. Raise Rejected.
        """
        try:
            name, groups, uid = self._native.verify(list(chain), now)
        except engine.CertificateError as e:
            raise Rejected(str(e)) from None
        return Subject(name, tuple(groups), uid) if name else None
