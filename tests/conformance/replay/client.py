"""A client of one server, with a connection for each request, so that streams do not block."""

from __future__ import annotations

import contextlib
import http.client
import ssl
from typing import Any
from urllib.parse import urlsplit

from tests.conformance.replay.identity.helper import Helper
from tests.conformance.replay.paths import Object
from tests.conformance.replay.webhooks.server import Webhooks

TIMEOUT = 60


class Connection:
    """An answer that is read, its connection, and the certificate that the server presented (DER)."""

    def __init__(
        self, lower: http.client.HTTPConnection, response: http.client.HTTPResponse, peer: bytes | None = None
    ) -> None:
        self.lower = lower
        self.response = response
        self.peer = peer

    def limit(self, seconds: float) -> None:
        """Bound the wait for the next bytes."""
        if self.lower.sock:
            self.lower.sock.settimeout(seconds)

    def close(self) -> None:
        """Close it."""
        self.response.close()
        self.lower.close()


class Client:
    """The server, the credential that a step has without one of its own, and the peers that scenarios may need."""

    def __init__(
        self,
        server: str,
        token: str | None = None,
        certificate: tuple[str, str] | None = None,
        *,
        webhooks: Webhooks | None = None,
        helper: Helper | None = None,
    ) -> None:
        self.url = urlsplit(server)
        self.token = token
        self.webhooks = webhooks
        self.helper = helper
        self.context = unverified(certificate) if self.url.scheme == "https" else None

    def open(
        self, method: str, path: str, headers: Object, body: bytes | None = None, certificate: str = ""
    ) -> Connection:
        """Send a request; `https://` addresses another server.

        A header with a list is sent several times, one with None is left out.
        """
        if path.startswith("https://"):  # the webhooks or the helper
            url = urlsplit(path)
            other = http.client.HTTPSConnection(url.netloc, timeout=TIMEOUT, context=unverified())
            headers = {name: value for name, value in headers.items() if value is not None}
            other.request(method, path[len(f"https://{url.netloc}") :], body=body, headers=headers)
            return Connection(other, answer_of(other))
        lower = self._connection(certificate)
        if self.token:
            headers = {"Authorization": f"Bearer {self.token}", **headers}
        lines: Any = http.client.HTTPMessage()
        for name, value in headers.items():
            for one in value if isinstance(value, list) else [] if value is None else [value]:
                lines[name] = one
        # The server may answer before it has read a large body.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            lower.request(method, path, body=body, headers=lines)
        peer = lower.sock.getpeercert(binary_form=True) if isinstance(lower.sock, ssl.SSLSocket) else None
        return Connection(lower, answer_of(lower), peer)

    def _connection(self, certificate: str) -> http.client.HTTPConnection:
        host, port = self.url.hostname or "", self.url.port
        if not self.context:
            return http.client.HTTPConnection(host, port, timeout=TIMEOUT)
        context = self.context
        if certificate and self.helper:
            context = unverified(self.helper.certificate(certificate))
        return http.client.HTTPSConnection(host, port, timeout=TIMEOUT, context=context)


def answer_of(lower: http.client.HTTPConnection) -> http.client.HTTPResponse:
    """Return the answer to a request; a connection without one is closed."""
    try:
        return lower.getresponse()
    except BaseException:
        lower.close()
        raise


def unverified(certificate: tuple[str, str] | None = None) -> ssl.SSLContext:
    """Return a context that trusts every server, and presents a certificate (its files: certificate, key)."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if certificate:
        context.load_cert_chain(*certificate)
    return context
