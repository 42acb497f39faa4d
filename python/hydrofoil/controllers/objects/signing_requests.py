"""Requests for certificates."""

from __future__ import annotations

from msgspec import Struct

from hydrofoil.controllers.objects.meta import Condition, ObjectMeta, find_condition


class CertificateSigningRequestSpec(Struct, frozen=True, gc=False, rename="camel"):
    """What is asked for, and by whom."""

    request: str = ""
    """The request in PEM, in base64."""
    signer_name: str = ""
    usages: tuple[str, ...] = ()
    expiration_seconds: int | None = None
    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = {}


class CertificateSigningRequestStatus(Struct, frozen=True, gc=False, rename="camel"):
    """What has become of it."""

    certificate: str = ""
    conditions: tuple[Condition, ...] = ()


class CertificateSigningRequest(Struct, frozen=True, gc=False):
    """A request for a certificate."""

    metadata: ObjectMeta
    spec: CertificateSigningRequestSpec = CertificateSigningRequestSpec()
    status: CertificateSigningRequestStatus = CertificateSigningRequestStatus()

    def condition(self, kind: str) -> Condition | None:
        """Return a condition by its type."""
        return find_condition(self.status.conditions, kind)
