"""One request as a test sees it."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from hydrofoil.request import RequestInfo

KEPT = 64 * 1024
"""The bytes of a body that are kept."""
GZIPPED = b"Content-Encoding: gzip"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
HIDDEN = "<hidden>"


@dataclass(slots=True)
class Record:
    """A request and its answer. Bodies are kept up to 64 KiB, without tokens and the data of secrets."""

    method: str
    path: str
    """Without the query."""
    params: dict[str, str]
    """The query; the first value of each parameter."""
    verb: str = ""
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    user: str = ""
    agent: str = ""
    code: int = 0
    """The status of the answer; 0 if the connection broke before it."""
    started: datetime = datetime.min
    """By the clock of the server."""
    duration: float | None = None
    """Seconds of real time; None while a watch is open."""
    request_bytes: int = 0
    response_bytes: int = 0
    body: bytes = b""
    answer: bytes = b""
    fault: str = ""
    """The faults that acted."""
    number: int = field(default=0, repr=False)
    """The number of the record in its journal."""
    stamp: int = field(default=0, repr=False)
    """The number of its last change."""

    def __str__(self) -> str:
        took = "open" if self.duration is None else f"{self.duration * 1000:.1f} ms"
        query = "&".join(f"{key}={value}" for key, value in self.params.items())
        target = f"{self.path}?{query}" if query else self.path
        fault = f" [{self.fault}]" if self.fault else ""
        agent = f", {self.agent}" if self.agent else ""
        return f"{self.method} {target} -> {self.code or 'cut'} ({self.user}, {took}{agent}){fault}"

    def identify(self, info: RequestInfo) -> None:
        """Set the attributes of the request."""
        self.verb, self.group, self.version = info.verb, info.group, info.version
        self.resource, self.subresource = info.resource, info.subresource
        self.namespace, self.name = info.namespace, info.name


def made_name(record: Record) -> str:
    """Return the name of an object that a request creates, which its path does not have; empty if it is unknown."""
    for data in (record.answer, record.body):
        try:
            found = orjson.loads(data)["metadata"]["name"]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            continue
        if isinstance(found, str):
            return found
    return ""


def truncate_body(record: Record, body: bytes, head: bytes = b"") -> bytes:
    """Return what is kept of a body of a request or, with its head, of an answer."""
    if GZIPPED in head:
        try:
            body = zlib.decompressobj(31).decompress(body, KEPT)
        except zlib.error:
            return b""
    if not secret(record):
        return body[:KEPT]
    try:
        return orjson.dumps(hide_secrets(orjson.loads(body)))[:KEPT]
    except orjson.JSONDecodeError:
        # Of another encoding, or only the beginning of it.
        return b""


def secret(record: Record) -> bool:
    """Report whether bodies of a request may have a token or the data of a secret."""
    return record.resource in ("secrets", "tokenreviews") or (
        record.resource == "serviceaccounts" and record.subresource == "token"
    )


def hide_secrets(value: Any) -> Any:
    """Replace the data of secrets and tokens in an object, a list, a table, an event or a patch."""
    if isinstance(value, list):
        return [hide_secrets(item) for item in value]
    if not isinstance(value, dict):
        return value
    out: dict[str, Any] = {}
    for key, item in value.items():
        if key in ("data", "stringData") and isinstance(item, dict):
            out[key] = dict.fromkeys(item, HIDDEN)
        elif key in ("token", LAST_APPLIED) and isinstance(item, str):
            out[key] = HIDDEN
        elif key == "value" and isinstance(item, str | dict):
            # An operation of a JSON patch.
            out[key] = HIDDEN
        else:
            out[key] = hide_secrets(item)
    return out
