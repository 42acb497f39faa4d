"""Where audit events arrive: the file of --audit-log-path, or the webhook of --audit-webhook-config-file."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from tests.conformance.replay.paths import Object

LIMIT = 20
"""Seconds after which nothing more is waited for."""

KUBECONFIG = """apiVersion: v1
kind: Config
clusters: [{{name: sink, cluster: {{server: "http://127.0.0.1:{port}/audit"}}}}]
users: [{{name: sink, user: {{}}}}]
contexts: [{{name: sink, context: {{cluster: sink, user: sink}}}}]
current-context: sink
"""


class Sink(ThreadingHTTPServer):
    """The peer of an audit webhook; `port` is a free one if 0."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Receiver)
        self.events: list[Object] = []
        self.batches: list[Object] = []

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    @property
    def kubeconfig(self) -> str:
        """The configuration file of the webhook."""
        return KUBECONFIG.format(port=self.server_address[1])

    def kinds(self) -> list[Object]:
        """Return the batches without their events, each kind of them once."""
        return [json.loads(text) for text in sorted({json.dumps(batch, sort_keys=True) for batch in self.batches})]


class _Receiver(BaseHTTPRequestHandler):
    server: Sink

    def log_message(self, format: str, *args: Any) -> None:
        """Write no log."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        head = {"method": self.command, "path": self.path, "contentType": self.headers["Content-Type"]}
        self.server.batches.append(head | {k: v for k, v in body.items() if k != "items"})
        self.server.events += body["items"]
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


class Events:
    """The events so far, of a log file or of a sink."""

    def __init__(self, log: Path | None = None, sink: Sink | None = None) -> None:
        self.log = log
        self.sink = sink

    def read(self) -> list[Object]:
        """Return all of them; a line without its end is not one yet."""
        if self.sink:
            return list(self.sink.events)
        lines = self.log.read_text("utf-8").splitlines(keepends=True) if self.log and self.log.exists() else []
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def settle(self, quiet: float) -> list[Object]:
        """Wait until no event of a session has come for `quiet` seconds, and return those of sessions."""
        end, count, since = time.monotonic() + LIMIT, -1, time.monotonic()
        while True:
            ours = [event for event in self.read() if "." in event["auditID"]]
            if len(ours) != count:
                count, since = len(ours), time.monotonic()
            elif time.monotonic() - since > quiet:
                return ours
            if time.monotonic() > end:
                return ours
            time.sleep(0.2)
