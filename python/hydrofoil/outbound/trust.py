"""Trust in other servers, and Go's messages for failed connections."""

from __future__ import annotations

import contextlib
import re
import ssl
import tempfile
from pathlib import Path

import aiohttp
from msgspec import Struct

CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)
NO_ROOTS = "unable to load root certificates: "
NO_PEM = "unable to parse bytes as PEM block"


class Unreachable(Exception):
    """A failed connection, with the message of Go's client."""


class Trust(Struct, frozen=True):
    """The certificate authorities that a server's certificate is checked against."""

    ca: bytes = b""
    """PEM certificates; empty for the system roots."""
    insecure: bool = False
    """Whether any certificate is accepted."""
    certificate: bytes = b""
    """The own certificate and its chain, in PEM; empty for none."""
    key: bytes = b""
    """Its private key, in PEM."""

    def __repr__(self) -> str:
        # Without the key.
        return f"Trust({self.ca!r}, {self.insecure}, {self.certificate!r})"

    def context(self) -> ssl.SSLContext:
        """Return the TLS settings; reading the system roots takes 20 ms. Raise Unreachable."""
        try:
            context = ssl.create_default_context(cadata=self.ca.decode() if self.ca else None)
        except (ssl.SSLError, ValueError):
            raise Unreachable(NO_ROOTS + NO_PEM) from None
        # As in Go, every trusted certificate ends a chain, the server's own as well; from Python 3.13 on that is the
        # default, and so are strict rules on key identifiers that Go does not have.
        context.verify_flags = (context.verify_flags | ssl.VERIFY_X509_PARTIAL_CHAIN) & ~ssl.VERIFY_X509_STRICT
        if self.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if self.certificate:
            self._present(context)
        return context

    def _present(self, context: ssl.SSLContext) -> None:
        """Present the own certificate. Raise Unreachable."""
        # The library reads a pair from a file only: this one is readable by its owner alone and is removed at once.
        with tempfile.NamedTemporaryFile(delete=False) as file:
            file.write(self.certificate + b"\n" + self.key + b"\n")
        try:
            context.load_cert_chain(file.name)
        except (ssl.SSLError, OSError):
            raise Unreachable("tls: failed to find or to match the certificate and its private key in PEM") from None
        finally:
            with contextlib.suppress(OSError):
                Path(file.name).unlink()


def bundle_problem(bundle: bytes) -> str:
    """Return why a caBundle is invalid, as Go's `transport.TLSConfigFor` reports it; empty for a valid or empty one."""
    if not bundle:
        return ""
    problem = NO_PEM if b"-----BEGIN " not in bundle else ""
    for block in CERTIFICATE.findall(bundle):
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=block.decode("ascii"))
        except (ssl.SSLError, ValueError):
            problem = problem or "failed to parse certificate: x509: malformed certificate"
        else:
            return ""
    return NO_ROOTS + (problem or NO_PEM)


def reason(error: BaseException, where: str) -> str:
    """Return Go's message for a failed connection to `host:port`."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"tls: failed to verify certificate: x509: {_certificate_reason(error.certificate_error)}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"tls: failed to verify certificate: x509: {_certificate_reason(error)}"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"dial tcp: lookup {where.rpartition(':')[0]}: no such host"
    if isinstance(error, aiohttp.ClientConnectorError | ConnectionRefusedError):
        text = (getattr(error, "os_error", error).strerror or "connection refused").lower()
        known = "errno" not in text and "call failed" not in text
        return f"dial tcp {where}: connect: {text if known else 'connection refused'}"
    if isinstance(error, TimeoutError):
        return "context deadline exceeded"
    if isinstance(error, aiohttp.ServerDisconnectedError | ConnectionResetError):
        return "EOF"
    return str(error) or type(error).__name__


def _certificate_reason(error: BaseException) -> str:
    text = getattr(error, "verify_message", "") or str(error)
    if "expired" in text:
        return "certificate has expired or is not yet valid"
    if "mismatch" in text or "not valid for" in text:
        return "certificate is not valid for any names"
    return "certificate signed by unknown authority"
