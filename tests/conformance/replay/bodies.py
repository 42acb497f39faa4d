"""Bodies of answers: JSON as it is, any other format with a mark of its kind."""

from __future__ import annotations

import base64
import http.client
import io
import json
from collections.abc import Iterator
from typing import Any

import yaml

from tests.conformance.replay import cbor, protobuf


def decode(body: bytes, content_type: str) -> Any:
    """Return a body as goldens show it."""
    if "protobuf" in content_type and "vnd.kubernetes" in content_type:
        return protobuf.envelope(body)
    if "cbor" in content_type:
        source = io.BytesIO(body)
        try:
            value = cbor.decode(source)
            if source.tell() == len(body):
                return value if body.startswith(cbor.MARK) else {"<cbor without tag>": value}
        except (EOFError, ValueError):
            pass
    if "json" in content_type or body.startswith(b'{"paths"'):
        try:
            return json.loads(body)
        except ValueError:
            pass
    if "cbor" in content_type or "protobuf" in content_type or b"\x00" in body:
        return {"<base64>": base64.b64encode(body).decode()}
    if "yaml" in content_type:
        return {"<yaml>": yaml.load(body, Loader=yaml.BaseLoader)}
    return {"<text>": body.decode("utf-8", "replace")}


def events(response: http.client.HTTPResponse, content_type: str) -> Iterator[Any]:
    """Yield the events of a watch as they arrive: lines of JSON, protobuf frames (length, type and object), or CBOR."""
    while True:
        if "protobuf" in content_type:
            size = response.read(4)
            if len(size) < 4:
                return
            yield protobuf.watch_event(response.read(int.from_bytes(size, "big")))
        elif "cbor" in content_type:
            try:
                event = cbor.decode(response)
            except EOFError:
                return
            yield event.get("<cbor>", event)
        else:
            line = response.readline()
            if not line:
                return
            yield json.loads(line)
