"""`/openapi/v2` and `/openapi/v3` (apiserver `pkg/endpoints/openapi`, kube-openapi `pkg/handler3`)."""

from __future__ import annotations

from email.utils import formatdate
from typing import Any
from urllib.parse import parse_qs

import orjson

from hydrofoil.answer import TEXT, Answer
from hydrofoil.clock import Clock
from hydrofoil.openapi import packed
from hydrofoil.openapi.definitions import Definitions, Remote
from hydrofoil.openapi.enabled import Enabled
from hydrofoil.registry.objects import Objects
from hydrofoil.request import Incoming

PROTOBUF = "application/com.github.proto-openapi.spec.{}.v1.0+protobuf"
YEAR = 365 * 86400


class Documents:
    """The documents of one server."""

    def __init__(self, objects: Objects, remote: Remote, clock: Clock) -> None:
        """`remote`: documents published by services."""
        self._remote = remote
        self._clock = clock
        self._enabled = Enabled(objects.catalog, packed.document)
        self._definitions = Definitions(objects, remote, self._enabled.document, packed.document)

    def answer(self, request: Incoming, path: str) -> Answer:
        """Answer a path below `/openapi`. Documents of megabytes are made and hashed: call it off the loop."""
        if path == "/openapi/v3":
            hashes = self._enabled.hashes(packed.hashes()) | self._definitions.index()
            return _found(b"", _index(hashes, self._remote.openapi_index()), TEXT)
        name = path.removeprefix("/openapi/").removeprefix("v3/")
        protobuf = PROTOBUF.format("v2" if name == "v2" else "v3")
        media = _media(request.headers.get("Accept", ""), protobuf)
        found = self._definitions.document(name) or self._enabled.document(name)
        if found is None:
            return Answer(404, b"")
        if not media:
            return Answer(406, b"")
        body, etag = found
        given = next(iter(parse_qs(request.info.query, keep_blank_values=True).get("hash", ())), None)
        if given is not None and given != etag and name != "v2":
            return Answer(301, f"Location: /openapi/v3/{name}?hash={etag}\r\n".encode())
        lines = f'ETag: "{etag}"\r\nVary: Accept\r\n'.encode()
        if given and name != "v2":
            expires = formatdate(self._clock.seconds() + YEAR, usegmt=True)
            lines += f"Cache-Control: public, immutable\r\nExpires: {expires}\r\n".encode()
        if etag in request.headers.get("If-None-Match", ""):
            return Answer(304, lines)
        return _found(lines, packed.protobuf(body) if media == protobuf else body, media)


def _found(lines: bytes, body: bytes, media: str) -> Answer:
    return Answer(200, b"%sContent-Type: %s\r\n" % (lines, media.encode()), body)


def _media(accept: str, protobuf: str) -> str:
    """Return the media type of a document for an Accept header, empty if none matches.

    Clients name the protobuf form by the old spelling with `@` or the new one; both get the new one.
    """
    for clause in (accept or "*/*").split(","):
        media = clause.partition(";")[0].strip()
        if media in ("*/*", "application/*", "application/json"):
            return "application/json"
        if media.replace("@", ".") == protobuf:
            return protobuf
    return ""


def _index(hashes: dict[str, str], remote: dict[str, Any]) -> bytes:
    """Return `/openapi/v3`: the URL of each document with its hash; `remote`: the entries of services."""
    paths = {name: {"serverRelativeURL": f"/openapi/v3/{name}?hash={digest}"} for name, digest in hashes.items()}
    return orjson.dumps({"paths": paths | remote})
