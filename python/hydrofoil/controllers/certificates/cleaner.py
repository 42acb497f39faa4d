"""Old requests for certificates are removed (`pkg/controller/certificates/cleaner`)."""

from __future__ import annotations

import base64

from hydrofoil.controllers.certificates.signer import GROUP, PLURAL, RequestController
from hydrofoil.controllers.objects.signing_requests import CertificateSigningRequest
from hydrofoil.controllers.objects.times import parse_time

HOUR = 3600.0
PENDING = 24 * HOUR
"""How long a request without a decision, or without a certificate, is kept; others go after an hour."""


def end_of(pem: str) -> float:
    """Return when a certificate ends, in seconds since 1970."""
    from cryptography import x509

    found: float = x509.load_pem_x509_certificate(base64.b64decode(pem)).not_valid_after_utc.timestamp()
    return found


def due(request: CertificateSigningRequest) -> float:
    """Return when a request is to go, in seconds since 1970."""
    if not request.status.conditions:
        return parse_time(request.metadata.creation_timestamp) + PENDING
    times = []
    for condition in request.status.conditions:
        since = parse_time(condition.last_update_time or request.metadata.creation_timestamp)
        if condition.type in ("Denied", "Failed"):
            times.append(since + HOUR)
        elif condition.type == "Approved":
            times.append(since + (HOUR if request.status.certificate else PENDING))
    if request.status.certificate and request.condition("Approved") is not None:
        times.append(end_of(request.status.certificate))
    return min(times, default=float("inf"))


class Cleaner(RequestController):
    """Remove requests when their time has come."""

    name = "csrcleaner"

    async def sync(self, request: CertificateSigningRequest) -> None:
        left = due(request) - self.registry.clock.seconds()
        meta = request.metadata
        if left >= 0:
            if left < float("inf"):
                self.queue.after((meta.name,), left + 1)
            return
        await self.client.delete(self.resource(GROUP, PLURAL), "", meta.name, uid=meta.uid)
