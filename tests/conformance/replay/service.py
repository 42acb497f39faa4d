"""An HTTPS service on 127.0.0.1 that keeps the calls which it got, for webhooks and issuers."""

from __future__ import annotations

import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from tests.conformance.replay.paths import Object


class Service(ThreadingHTTPServer):
    """The service; `calls` are the POSTs so far, in order."""

    daemon_threads = True

    def __init__(self, port: int, handler: type[Handler], certificate: tuple[Path, Path]) -> None:
        super().__init__(("127.0.0.1", port), handler)
        self.calls: list[Object] = []
        self.lock = threading.Lock()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.address = f"127.0.0.1:{self.server_address[1]}"
        self.url = f"https://{self.address}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore callers that hang up or do not trust the certificate: they are part of the scenarios."""

    def below(self, path: str) -> list[Object]:
        """Return the calls to a path and to those below it."""
        return [c for c in self.calls if c["path"] == path or c["path"].startswith(path.rstrip("/") + "/")]


class Handler(BaseHTTPRequestHandler):
    """One connection to a service."""

    protocol_version = "HTTP/1.1"
    server: Any

    def log_message(self, format: str, *args: Any) -> None:
        """Write no log."""

    def query(self, name: str, default: str | None = None) -> str | None:
        """Return a parameter of the query."""
        return parse_qs(urlsplit(self.path).query).get(name, [default])[0]

    def body(self) -> bytes:
        """Return the body of the request."""
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def send(self, body: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        """Answer with bytes, or a value as JSON."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {
            **(headers or {"Content-Type": "application/json"}),
            "Content-Length": str(len(raw)),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def forget(self, calls: list[Object]) -> None:
        """Remove calls and answer how many they were; the lock is held."""
        self.server.calls[:] = [call for call in self.server.calls if call not in calls]
        self.send({"count": len(calls)})
