"""Requests for certificates are approved, signed and removed (`pkg/controller/certificates`)."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from hydrofoil import Server
from hydrofoil.testing.remote_server import RemoteServer
from tests.cluster.conftest import BEGIN
from tests.cluster.objects import condition

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KEY = ec.generate_private_key(ec.SECP256R1())
CLIENT = "kubernetes.io/kube-apiserver-client"
KUBELET = "kubernetes.io/kube-apiserver-client-kubelet"


def subject(name: str, organization: str = "") -> x509.Name:
    """Return a subject."""
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization)] if organization else []
    return x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, name)])


def authority(folder: Path) -> dict[str, Any]:
    """Write an authority that is valid for a year; return the options of a server that signs with it."""
    name = subject("authority")
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(KEY.public_key())
        .serial_number(1)
        .not_valid_before(NOW - timedelta(days=1))
        .not_valid_after(NOW + timedelta(days=365))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(KEY, hashes.SHA256())
    )
    cert, key = folder / "ca.crt", folder / "ca.key"
    cert.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key.write_bytes(
        KEY.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return {"cluster_signing_cert_file": str(cert), "cluster_signing_key_file": str(key)}


def request(name: str, of: x509.Name, signer: str, usages: tuple[str, ...], **spec: Any) -> dict[str, Any]:
    """Return a request for a certificate."""
    pem = x509.CertificateSigningRequestBuilder().subject_name(of).sign(KEY, hashes.SHA256())
    text = base64.b64encode(pem.public_bytes(serialization.Encoding.PEM)).decode()
    given = {"request": text, "signerName": signer, "usages": list(usages), **spec}
    metadata = {"name": name}
    return {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": metadata,
        "spec": given,
    }


def approve(server: RemoteServer, name: str) -> None:
    """Approve a request, as kubectl does."""
    approval = {"type": "Approved", "status": "True", "reason": "Test", "lastUpdateTime": str(BEGIN)}
    server.patch(f"csr/{name}", {"status": {"conditions": [approval]}}, subresource="approval")


def test_an_approved_request_is_signed(tmp_path: Path) -> None:
    with Server.in_thread(cluster=1, clock=BEGIN, **authority(tmp_path)) as server:
        server.apply(request("a", subject("ada"), CLIENT, ("client auth",), expirationSeconds=3600))
        assert "certificate" not in server.get("csr/a")["status"]
        approve(server, "a")
        server.clock.advance(0)
        found = x509.load_pem_x509_certificate(base64.b64decode(server.get("csr/a")["status"]["certificate"]))
        assert found.subject == subject("ada") and found.issuer == subject("authority")
        assert found.not_valid_before_utc == NOW - timedelta(minutes=5)
        assert found.not_valid_after_utc == NOW + timedelta(hours=1)
        usages = found.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
        assert [usage.dotted_string for usage in usages] == ["1.3.6.1.5.5.7.3.2"]
        found.verify_directly_issued_by(x509.load_pem_x509_certificate((tmp_path / "ca.crt").read_bytes()))
        server.clock.advance("1h1m")
        assert server.list("csr") == [], "it goes with its certificate"


@pytest.mark.parametrize(
    ("of", "signer", "usages", "why"),
    [
        (subject("ada"), CLIENT, ("server auth",), "invalid usage for client certificate: server auth"),
        (subject("ada"), CLIENT, ("digital signature",), "missing required usage for client certificate: client auth"),
        (subject("system:node:a"), KUBELET, ("client auth",), "subject organization is not system:nodes"),
    ],
)
def test_a_request_that_its_signer_does_not_sign_has_failed(
    of: x509.Name, signer: str, usages: tuple[str, ...], why: str, tmp_path: Path
) -> None:
    with Server.in_thread(cluster=1, clock=BEGIN, **authority(tmp_path)) as server:
        server.apply(request("a", of, signer, usages))
        approve(server, "a")
        server.clock.advance(0)
        failed = condition(server.get("csr/a"), "Failed")
        assert (failed["reason"], failed["message"]) == ("SignerValidationFailure", why)


def test_a_request_of_a_kubelet_is_approved(cluster: RemoteServer) -> None:
    usages = ("digital signature", "client auth")
    cluster.apply(
        request("kubelet", subject("system:node:a", "system:nodes"), KUBELET, usages),
        request("other", subject("ada"), KUBELET, usages),
    )
    cluster.clock.advance(0)
    assert condition(cluster.get("csr/kubelet"), "Approved")["reason"] == "AutoApproved"
    assert "conditions" not in cluster.get("csr/other")["status"]
    cluster.clock.advance("23h")
    assert len(cluster.list("csr")) == 2
    cluster.clock.advance("2h")
    assert cluster.list("csr") == [], "nobody has decided on them, or signed them"
