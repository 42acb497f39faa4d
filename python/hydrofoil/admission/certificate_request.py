"""The subject of a certificate signing request."""

from __future__ import annotations

import asyncio
import base64
import binascii
from typing import NamedTuple


class RequestError(ValueError):
    """A request that cannot be read."""


class Subject(NamedTuple):
    """The subject of a request."""

    name: str
    """The last common name, as Go takes it."""
    organizations: tuple[str, ...]


async def subject(request: str) -> Subject:
    """Return the subject of a request in PEM, in base64 as objects have it. Raise RequestError."""
    # The library takes 40 ms to load, and most servers never see a request.
    return await asyncio.to_thread(_subject, request)


def _subject(request: str) -> Subject:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    try:
        pem = base64.b64decode(request, validate=True)
    except binascii.Error:
        raise RequestError("illegal base64 data") from None
    if b"-----BEGIN CERTIFICATE REQUEST-----" not in pem:
        raise RequestError("PEM block type must be CERTIFICATE REQUEST")
    try:
        found = x509.load_pem_x509_csr(pem).subject
    except ValueError:
        raise RequestError("asn1: structure error") from None
    names = [str(each.value) for each in found.get_attributes_for_oid(NameOID.COMMON_NAME)]
    groups = tuple(str(each.value) for each in found.get_attributes_for_oid(NameOID.ORGANIZATION_NAME))
    return Subject(names[-1] if names else "", groups)
