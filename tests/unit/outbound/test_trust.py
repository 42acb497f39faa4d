"""Go's texts for failed connections."""

from __future__ import annotations

import ssl

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from hydrofoil.outbound.trust import Trust, Unreachable, bundle_problem, reason

KEY = ConnectionKey("a.svc", 443, True, True, None, None, None)
FAILED = ssl.SSLCertVerificationError("certificate verify failed")


def connector(error: OSError) -> aiohttp.ClientConnectorError:
    """A failed connection."""
    return aiohttp.ClientConnectorError(KEY, error)


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        (connector(ConnectionRefusedError(111, "Connection refused")), "dial tcp a:1: connect: connection refused"),
        (connector(OSError(113, "No route to host")), "dial tcp a:1: connect: no route to host"),
        (aiohttp.ClientConnectorDNSError(KEY, OSError(-2, "x")), "dial tcp: lookup a: no such host"),
        (TimeoutError(), "context deadline exceeded"),
        (aiohttp.ServerDisconnectedError(), "EOF"),
        (FAILED, "tls: failed to verify certificate: x509: certificate signed by unknown authority"),
        (
            aiohttp.ClientConnectorCertificateError(KEY, Exception("certificate has expired")),
            "tls: failed to verify certificate: x509: certificate has expired or is not yet valid",
        ),
        (ValueError("as it is"), "as it is"),
    ],
)
def test_reasons_are_those_of_gos_client(error: BaseException, wanted: str) -> None:
    assert reason(error, "a:1") == wanted


@pytest.mark.parametrize(
    ("bundle", "wanted"),
    [
        (b"", ""),
        (b"nothing", "unable to load root certificates: unable to parse bytes as PEM block"),
        (
            b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "unable to load root certificates: failed to parse certificate: x509: malformed certificate",
        ),
        (
            b"-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n",
            "unable to load root certificates: unable to parse bytes as PEM block",
        ),
    ],
)
def test_why_a_bundle_is_invalid(bundle: bytes, wanted: str) -> None:
    assert bundle_problem(bundle) == wanted


def test_a_bundle_that_cannot_be_read_reaches_nobody() -> None:
    with pytest.raises(Unreachable, match="unable to parse bytes as PEM block"):
        Trust(b"nothing").context()


def test_any_certificate_is_accepted_on_demand_only() -> None:
    assert Trust(insecure=True).context().verify_mode is ssl.CERT_NONE
    strict = Trust().context()
    assert strict.verify_mode is ssl.CERT_REQUIRED and strict.check_hostname
