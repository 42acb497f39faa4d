"""Protobuf without a schema: the fields of a message by number."""

from __future__ import annotations

import base64
from typing import Any

from tests.conformance.replay.paths import Object

MAGIC = b"k8s\x00"


class _Cursor:
    """A place in a message."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def varint(self) -> int:
        value = shift = 0
        while True:
            if self.at >= len(self.data) or shift > 63:
                raise ValueError("varint")
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def take(self, size: int, error: str) -> bytes:
        raw = self.data[self.at : self.at + size]
        if len(raw) < size:
            raise ValueError(error)
        self.at += size
        return raw


def fields(data: bytes) -> Object:
    """Return the fields of a message by number; raises ValueError if it is no message."""
    values: Object = {}
    cursor = _Cursor(data)
    while cursor.at < len(data):
        tag = cursor.varint()
        number, wire = tag >> 3, tag & 7
        if not number or number > 2000:
            raise ValueError("field number")
        value: Any
        if wire == 0:
            value = cursor.varint()
        elif wire == 2:
            value = _value(cursor.take(cursor.varint(), "length"))
        elif wire in (1, 5):
            value = cursor.take(8 if wire == 1 else 4, "fixed").hex()
        else:
            raise ValueError("wire type")
        key = str(number)
        if key in values:
            values[key] = [*values[key], value] if isinstance(values[key], list) else [values[key], value]
        else:
            values[key] = value
    return values


def _value(raw: bytes) -> Any:
    if all(32 <= b < 127 for b in raw):
        return raw.decode()
    try:
        return fields(raw)
    except ValueError:
        return {"<base64>": base64.b64encode(raw).decode()}


def envelope(data: bytes) -> Any:
    """Return an object of its envelope: magic, Unknown {1: typeMeta, 2: raw, 3: contentEncoding, 4: contentType}."""
    if not data.startswith(MAGIC):
        return {"<base64>": base64.b64encode(data).decode()}
    outer = fields(data[len(MAGIC) :])
    rest = {k: v for k, v in outer.items() if k > "2" and v}
    return {"<protobuf>": {"typeMeta": outer.get("1"), "raw": outer.get("2"), "rest": rest}}


def watch_event(frame: bytes) -> Object:
    """Return a WatchEvent {1: type, 2: RawExtension {1: an enveloped object}}."""
    size = frame[1]
    inner = frame[2 + size :]
    start = inner.find(MAGIC)
    return {"type": frame[2 : 2 + size].decode(), "object": envelope(inner[start:]) if start > 0 else None}
