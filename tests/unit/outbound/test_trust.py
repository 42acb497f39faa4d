"""Go's texts for failed connections."""

from __future__ import annotations

import contextlib
import ssl
from pathlib import Path

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from hydrofoil import engine
from hydrofoil.clock import Clock
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


def shaken(client: ssl.SSLContext, server: ssl.SSLContext) -> None:
    """Shake hands in memory. Raise SSLError."""
    pipes = [ssl.MemoryBIO() for _ in range(2)]
    sides = [client.wrap_bio(pipes[0], pipes[1], server_hostname="localhost")]
    sides.append(server.wrap_bio(pipes[1], pipes[0], server_side=True))
    for _ in range(4):
        for side in sides:
            with contextlib.suppress(ssl.SSLWantReadError):
                side.do_handshake()
    assert sides[0].getpeercert()


@pytest.mark.parametrize("anchor", ["authority", "own"])
def test_every_trusted_certificate_ends_a_chain(tmp_path: Path, anchor: str) -> None:
    """envtest gives its webhooks' own certificate as `caBundle`, which Go accepts."""
    now = int(Clock().seconds())
    authority, secret = engine.new_authority(now)
    own, key = engine.new_certificate(secret.encode(), ["localhost"], None, now)
    (tmp_path / "pair.pem").write_text(own + key)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(tmp_path / "pair.pem")
    shaken(Trust(ca=(authority if anchor == "authority" else own).encode()).context(), server)
    other, _ = engine.new_authority(now)
    with pytest.raises(ssl.SSLCertVerificationError):
        shaken(Trust(ca=other.encode()).context(), server)
