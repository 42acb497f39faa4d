"""Requests for certificates as signers read them (`pkg/apis/certificates/helpers.go`)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography import x509

KUBELET_CLIENT, KUBELET_SERVING = "kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving"
API_CLIENT, LEGACY = "kubernetes.io/kube-apiserver-client", "kubernetes.io/legacy-unknown"
SIGNERS = (KUBELET_CLIENT, KUBELET_SERVING, API_CLIENT, LEGACY)
NODES, NODE = "system:nodes", "system:node:"
CLIENT, SERVER = "client auth", "server auth"
SIGNATURE, ENCIPHERMENT = "digital signature", "key encipherment"


class Unreadable(ValueError):
    """A request that cannot be read."""


def read_request(text: str) -> x509.CertificateSigningRequest:
    """Return a request in PEM, in base64 as objects have it. Raise Unreadable."""
    from cryptography import x509

    try:
        return x509.load_pem_x509_csr(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError) as e:
        raise Unreadable(str(e)) from None


def common_name(request: x509.CertificateSigningRequest) -> str:
    """Return the common name of the subject; empty if it has none."""
    from cryptography.x509.oid import NameOID

    names = request.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(names[-1].value) if names else ""


def _organizations(request: x509.CertificateSigningRequest) -> list[str]:
    from cryptography.x509.oid import NameOID

    return [str(each.value) for each in request.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]


def _alternative_names(request: x509.CertificateSigningRequest) -> dict[str, int]:
    """Return how many alternative names of each kind a request has."""
    from cryptography import x509

    try:
        names = request.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return {"DNS": 0, "IP": 0, "Email": 0, "URI": 0}
    return {
        "DNS": len(names.get_values_for_type(x509.DNSName)),
        "IP": len(names.get_values_for_type(x509.IPAddress)),
        "Email": len(names.get_values_for_type(x509.RFC822Name)),
        "URI": len(names.get_values_for_type(x509.UniformResourceIdentifier)),
    }


def why_no_kubelet_client(request: x509.CertificateSigningRequest, usages: Collection[str]) -> str:
    """Return why a request is none of a kubelet's client certificate; empty if it is (`ValidateKubeletClientCSR`)."""
    if _organizations(request) != [NODES]:
        return "subject organization is not system:nodes"
    for kind, count in _alternative_names(request).items():
        if count:
            return f"{kind} subjectAltNames are not allowed"
    if not common_name(request).startswith(NODE):
        return "subject common name does not begin with system:node:"
    wanted = {SIGNATURE, ENCIPHERMENT, CLIENT}
    if set(usages) not in (wanted, wanted - {ENCIPHERMENT}):
        return f"usages did not match [{' '.join(sorted(wanted))}]"
    return ""


def why_no_kubelet_server(request: x509.CertificateSigningRequest, usages: Collection[str]) -> str:
    """Return why a request is none of a kubelet's serving certificate (`ValidateKubeletServingCSR`)."""
    if _organizations(request) != [NODES]:
        return "subject organization is not system:nodes"
    names = _alternative_names(request)
    if not names["DNS"] and not names["IP"]:
        return "DNS or IP subjectAltName is required"
    for kind in ("Email", "URI"):
        if names[kind]:
            return f"{kind} subjectAltNames are not allowed"
    wanted = {SIGNATURE, ENCIPHERMENT, SERVER}
    if set(usages) not in (wanted, wanted - {ENCIPHERMENT}):
        return f"usages did not match [{' '.join(sorted(wanted))}]"
    return "" if common_name(request).startswith(NODE) else "subject common name does not begin with system:node:"


def why_no_client(usages: Collection[str]) -> str:
    """Return why usages are none of a client certificate (`validAPIServerClientUsages`)."""
    for usage in usages:
        if usage not in (SIGNATURE, ENCIPHERMENT, CLIENT):
            return f"invalid usage for client certificate: {usage}"
    return "" if CLIENT in usages else f"missing required usage for client certificate: {CLIENT}"


def why_not_signed(request: x509.CertificateSigningRequest, signer: str, usages: Collection[str]) -> str:
    """Return why a signer does not sign a request; empty if it does."""
    match signer:
        case "kubernetes.io/kube-apiserver-client-kubelet":
            return why_no_kubelet_client(request, usages)
        case "kubernetes.io/kubelet-serving":
            return why_no_kubelet_server(request, usages)
        case "kubernetes.io/kube-apiserver-client":
            return why_no_client(usages)
        case _:
            return ""
