"""The authority that signs requests (`pkg/controller/certificates/authority`)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography import x509

BACKDATE, SHORT = 300.0, 8 * 3600.0
"""How far a certificate begins in the past, in seconds; one of less than the second ends when it was asked to."""
KEY_USAGES = {
    "signing": "digital_signature",
    "digital signature": "digital_signature",
    "content commitment": "content_commitment",
    "key encipherment": "key_encipherment",
    "key agreement": "key_agreement",
    "data encipherment": "data_encipherment",
    "cert sign": "key_cert_sign",
    "crl sign": "crl_sign",
    "encipher only": "encipher_only",
    "decipher only": "decipher_only",
}
EXTENDED = {
    "any": "2.5.29.37.0",
    "server auth": "1.3.6.1.5.5.7.3.1",
    "client auth": "1.3.6.1.5.5.7.3.2",
    "code signing": "1.3.6.1.5.5.7.3.3",
    "email protection": "1.3.6.1.5.5.7.3.4",
    "s/mime": "1.3.6.1.5.5.7.3.4",
    "ipsec end system": "1.3.6.1.5.5.7.3.5",
    "ipsec tunnel": "1.3.6.1.5.5.7.3.6",
    "ipsec user": "1.3.6.1.5.5.7.3.7",
    "timestamping": "1.3.6.1.5.5.7.3.8",
    "ocsp signing": "1.3.6.1.5.5.7.3.9",
    "microsoft sgc": "1.3.6.1.4.1.311.10.3.3",
    "netscape sgc": "2.16.840.1.113730.4.1",
}


def sign(
    request: x509.CertificateSigningRequest, cert: Path, key: Path, usages: tuple[str, ...], seconds: float, now: float
) -> bytes:
    """Return a certificate in PEM for a request, by the authority in two files; `now` is in seconds since 1970.

    Raise OSError and ValueError for files that cannot be read, or an authority that has expired.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ed448, ed25519

    authority = x509.load_pem_x509_certificate(cert.read_bytes())
    private = serialization.load_pem_private_key(key.read_bytes(), None)
    begin = datetime.fromtimestamp(now - BACKDATE, UTC)
    end = datetime.fromtimestamp(now + seconds, UTC) - timedelta(seconds=0 if seconds < SHORT else BACKDATE)
    last = authority.not_valid_after_utc
    if datetime.fromtimestamp(now, UTC) >= last:
        raise ValueError(f"refusing to sign a certificate that expired in the past: NotAfter={last}")
    built = (
        x509.CertificateBuilder()
        .subject_name(request.subject)
        .issuer_name(authority.subject)
        .public_key(request.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(min(end, last))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(usages), critical=True)
    )
    identifiers = sorted({EXTENDED[usage] for usage in usages if usage in EXTENDED})
    if identifiers:
        built = built.add_extension(
            x509.ExtendedKeyUsage([x509.ObjectIdentifier(i) for i in identifiers]), critical=False
        )
    try:
        names = request.extensions.get_extension_for_class(x509.SubjectAlternativeName)
        built = built.add_extension(names.value, critical=names.critical)
    except x509.ExtensionNotFound:
        pass
    digest = None if isinstance(private, ed25519.Ed25519PrivateKey | ed448.Ed448PrivateKey) else hashes.SHA256()
    signed = built.sign(private, digest)  # type: ignore[arg-type] # the library refuses keys that cannot sign
    return signed.public_bytes(serialization.Encoding.PEM)


def _key_usage(usages: tuple[str, ...]) -> x509.KeyUsage:
    from cryptography import x509

    given = {KEY_USAGES[usage] for usage in usages if usage in KEY_USAGES}
    if "key_agreement" not in given:
        given -= {"encipher_only", "decipher_only"}
    return x509.KeyUsage(**{name: name in given for name in dict.fromkeys(KEY_USAGES.values())})
