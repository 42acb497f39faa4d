"""Requests for the certificates of pods: what a signer may issue (`ValidatePodCertificateRequestStatusUpdate`)."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding

from tests.api.rights import Guarded, guarded, rule

REQUESTS = "/apis/certificates.k8s.io/v1beta1/namespaces/default/podcertificaterequests"
NAME = x509.Name([])
KEY = Ed25519PrivateKey.generate()
OTHER = Ed25519PrivateKey.generate()
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
Object = dict[str, Any]


def body() -> Object:
    """Return a request for a certificate of a day."""
    der = x509.CertificateSigningRequestBuilder().subject_name(NAME).sign(KEY, None).public_bytes(Encoding.DER)
    spec = {"signerName": "example.com/s", "stubPKCS10Request": base64.b64encode(der).decode()}
    for owner in ("pod", "serviceAccount", "node"):
        spec |= {f"{owner}Name": "n", f"{owner}UID": "u"}
    return {"metadata": {"name": "r"}, "spec": spec}


def issued(start: datetime, life: timedelta, key: Ed25519PrivateKey = KEY, *names: x509.GeneralName) -> Object:
    """Return a status with a certificate."""
    end = start + life
    made = x509.CertificateBuilder().subject_name(NAME).issuer_name(NAME).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(start).not_valid_after(end)
    if names:
        made = made.add_extension(x509.SubjectAlternativeName(names), critical=False)
    condition = {"type": "Issued", "status": "True", "reason": "r", "message": "m", "lastTransitionTime": shown(start)}
    return {
        "conditions": [condition],
        "certificateChain": made.sign(OTHER, None).public_bytes(Encoding.PEM).decode(),
        "notBefore": shown(start),
        "notAfter": shown(end),
        "beginRefreshAt": shown(start + life / 2),
    }


def shown(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Guarded]:
    gates = {"PodCertificateRequest": True}
    async with guarded(tmp_path, feature_gates=gates, runtime_config={"certificates.k8s.io/v1beta1": True}) as found:
        code, made = await found.ask("admin", "POST", REQUESTS, body())
        assert code == 201, made
        assert made["spec"]["maxExpirationSeconds"] == 86400
        yield found


async def write(server: Guarded, status: Object, user: str = "admin") -> list[tuple[str, str]]:
    """Write a status, and return field and detail of each fault."""
    _, stored = await server.ask("admin", "GET", f"{REQUESTS}/r")
    code, answer = await server.ask(user, "PUT", f"{REQUESTS}/r/status", stored | {"status": status})
    if code == 200:
        assert {k: v for k, v in answer["status"].items() if v} == {k: v for k, v in status.items() if v}
        return []
    assert code == 422, answer
    return [(c["field"], c["message"].rpartition(": ")[2]) for c in answer["details"]["causes"]]


async def test_a_certificate_is_issued_once(server: Guarded) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    status = issued(now, 10 * HOUR)
    assert await write(server, status) == []
    assert await write(server, status) == []
    why = "immutable after PodCertificateRequest is issued, denied, or failed"
    assert await write(server, issued(now, 9 * HOUR)) == [("status", why)]


@pytest.mark.parametrize(
    ("begun", "life", "field", "why"),
    [
        (-6, 10 * HOUR, "notBefore", "must be set to within 5 minutes of kube-apiserver's current time"),
        (6, 10 * HOUR, "notBefore", "must be set to within 5 minutes of kube-apiserver's current time"),
        (-4, 59 * MINUTE, "certificateChain", "leaf certificate lifetime must be >= 1 hour"),
        (
            4,
            25 * HOUR,
            "certificateChain",
            "leaf certificate lifetime must be <= spec.maxExpirationSeconds (86400)",
        ),
    ],
)
async def test_times_of_certificates(server: Guarded, begun: int, life: timedelta, field: str, why: str) -> None:
    start = datetime.now(UTC).replace(microsecond=0) + begun * MINUTE
    assert await write(server, issued(start, life)) == [(f"status.{field}", why)]


@pytest.mark.parametrize(
    ("refresh", "why"),
    [
        (timedelta(minutes=9), "must be at least 10 minutes after status.notBefore"),
        (10 * HOUR - 9 * MINUTE, "must be at least 10 minutes before status.notAfter"),
    ],
)
async def test_the_time_of_refresh_is_within_the_validity(server: Guarded, refresh: timedelta, why: str) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    status = issued(now, 10 * HOUR) | {"beginRefreshAt": shown(now + refresh)}
    assert await write(server, status) == [("status.beginRefreshAt", why)]


async def test_names_of_certificates(server: Guarded) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    names = [x509.DNSName(name) for name in ("a..b", ".c", "d.e")]
    mails = [x509.RFC822Name(name) for name in ("a@b", "none")]
    found = await write(server, issued(now, 10 * HOUR, KEY, *names, *mails))
    assert [why for _, why in found] == [
        "leaf certificate's DNSName should not contain '..'",
        "leaf certificate's DNSName should not start or end with '.'",
        "leaf certificate should not contain invalid EmailAddress",
    ]
    why = "leaf certificate was not issued to the requested public key"
    assert await write(server, issued(now, 10 * HOUR, OTHER)) == [("status.certificateChain", why)]


async def test_a_signer_needs_the_right_to_sign(server: Guarded) -> None:
    """`StatusStrategy.ValidateUpdate`; a right to all signers of a domain counts as well."""
    group = "certificates.k8s.io"
    await server.allow("bob", "writer", rule("*", "podcertificaterequests/status", group))
    status = issued(datetime.now(UTC).replace(microsecond=0), 10 * HOUR)
    why = 'User "bob" is not permitted to "sign" for signer "example.com/s"'
    assert await write(server, status, "bob") == [("spec.signerName", why)]
    # A write that changes nothing needs no right.
    assert await write(server, {}, "bob") == []
    assert await write(server, {"conditions": []}, "bob") == []
    await server.allow("bob", "signer", rule("sign", "signers", group, resourceNames=["example.com/*"]))
    assert await write(server, status, "bob") == []


async def test_requests_have_no_label_for_their_namespace(server: Guarded) -> None:
    """`pkg/apis/certificates/v1beta1/conversion.go`."""
    for selector, code in (("spec.nodeName=n", 200), ("spec.podName=n", 200), ("metadata.namespace=default", 400)):
        found, answer = await server.ask("admin", "GET", f"{REQUESTS}?fieldSelector={selector}")
        assert found == code, answer
        assert answer.get("message", "") == ("" if code == 200 else "field label not supported: metadata.namespace")
