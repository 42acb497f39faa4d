"""Requests as authenticators see them, and certificates for them."""

from __future__ import annotations

import datetime
from typing import Any, cast

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from multidict import CIMultiDict

from hydrofoil.request import Incoming

NOW = datetime.datetime(2026, 5, 1, tzinfo=datetime.UTC)
DAY = datetime.timedelta(days=1)


class Request:
    """A request without a connection."""

    def __init__(self, *headers: tuple[str, str], certificates: tuple[bytes, ...] = ()) -> None:
        self.headers = CIMultiDict(headers)
        self.certificates = certificates
        self.warnings: list[str] = []


def request(*headers: tuple[str, str], certificates: tuple[bytes, ...] = ()) -> Incoming:
    """A request with these headers."""
    return cast(Incoming, Request(*headers, certificates=certificates))


class Authority:
    """A certificate authority."""

    def __init__(self, name: str = "ca") -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        made = self._builder(self._name, self._key, NOW - 1000 * DAY, NOW + 1000 * DAY)
        made = made.add_extension(constraints, critical=True)
        self.pem = made.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM)

    def issue(
        self,
        name: str,
        *groups: str,
        start: datetime.datetime = NOW - DAY,
        end: datetime.datetime = NOW + DAY,
        usage: Any = ExtendedKeyUsageOID.CLIENT_AUTH,
    ) -> bytes:
        """A certificate in DER."""
        subject = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
        if name:
            subject.append(x509.NameAttribute(NameOID.COMMON_NAME, name))
        builder = self._builder(x509.Name(subject), ec.generate_private_key(ec.SECP256R1()), start, end)
        made = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        return made.sign(self._key, hashes.SHA256()).public_bytes(Encoding.DER)

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, start: datetime.datetime, end: datetime.datetime
    ) -> x509.CertificateBuilder:
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(self._name)
        builder = builder.public_key(key.public_key()).serial_number(x509.random_serial_number())
        return builder.not_valid_before(start).not_valid_after(end)
