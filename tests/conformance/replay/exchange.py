"""One step of a scenario on the wire: the request that it describes, and its answer as it came."""

from __future__ import annotations

import base64
import gzip
import json
import threading
import time
from typing import Any

from tests.conformance.replay import bodies, cbor, metrics
from tests.conformance.replay.client import Client, Connection
from tests.conformance.replay.paths import Object
from tests.conformance.replay.scenario import Step, fill

TYPES = {
    "json": "application/json",
    "yaml": "application/yaml",
    "protobuf": "application/vnd.kubernetes.protobuf",
    "cbor": "application/cbor",
    "json-patch": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
"""Short names of media types."""
HEADERS = ("content-type", "warning", "retry-after", "content-encoding", "allow")
"""The headers that are always compared."""


def exchange(client: Client, step: Step, values: Object, opened: threading.Event | None = None) -> Object:
    """Send a step and return {status, headers, body}; `opened` is set when the answer begins."""
    method, path = fill(step["do"], values).split(" ", 1)
    given = fill(step.get("headers", {}), values)
    headers: Object = {k: v if isinstance(v, list) else str(v) for k, v in given.items()}
    if "token" in step or "cert" in step:
        token = fill(step.get("token", ""), values)
        headers.setdefault("Authorization", f"Bearer {token}" if token else None)
    body = content(step, values)
    if body is not None:
        kind = step.get("type", "json")
        headers.setdefault("Content-Type", TYPES.get(kind, kind))
    connection = client.open(method, path, headers, body, step.get("cert", ""))
    if opened:
        opened.set()
    try:
        return answer(client, connection, step)
    finally:
        connection.close()


def content(step: Step, values: Object) -> bytes | None:
    """Return the body of a request; None: without one."""
    if "base64" in step:
        return base64.b64decode(fill(step["base64"], values))
    if "cbor" in step:
        return cbor.MARK + cbor.encode(fill(step["cbor"], values))
    if "body" in step:
        body = fill(step["body"], values)
        return body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return None


def answer(client: Client, connection: Connection, step: Step) -> Object:
    """Read the answer to a step."""
    response = connection.response
    content_type = response.getheader("content-type") or ""
    body: Any
    if step.get("watch") and response.status == 200:
        body = stream(connection, step["watch"], content_type)
    else:
        raw = response.read()
        compressed = response.getheader("content-encoding") == "gzip"
        body = bodies.decode(gzip.decompress(raw) if compressed else raw, content_type)
        if step.get("metrics") and "<text>" in body:
            body = metrics.families(body["<text>"])
    wanted = (*HEADERS, *(name.lower() for name in step.get("also", [])))
    headers: Object = {h: response.getheader(h) for h in wanted if response.getheader(h)}
    if step.get("peer") and client.helper:
        headers["peer"] = client.helper.presented(connection.peer)
    if len(warnings := response.headers.get_all("warning") or []) > 1:
        headers["warning"] = sorted(warnings)
    return {"status": response.status, "headers": headers, "body": body}


def stream(connection: Connection, wanted: Object, content_type: str) -> Any:
    """Return the events of a watch, `until` of them or those of some `seconds`; the whole answer if it is no stream."""
    events: list[Any] = []
    end = time.monotonic() + wanted.get("seconds", 5)
    connection.limit(wanted.get("seconds", 5))
    try:
        for event in bodies.events(connection.response, content_type):
            if "object" not in event:
                return event
            if event["type"] not in wanted.get("drop", []):
                events.append(event)
            left = end - time.monotonic()
            if len(events) >= wanted.get("until", 10**9) or left <= 0:
                break
            connection.limit(left)
    except OSError:
        pass  # time is up
    return events
