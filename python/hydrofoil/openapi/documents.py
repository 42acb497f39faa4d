"""`/openapi/v2` and `/openapi/v3` (apiserver `pkg/endpoints/openapi`, kube-openapi `pkg/handler3`)."""

from __future__ import annotations

from email.utils import formatdate
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs

import orjson

from hydrofoil.answer import TEXT, Answer
from hydrofoil.clock import Clock
from hydrofoil.openapi import packed
from hydrofoil.openapi.content import Document, content
from hydrofoil.openapi.definitions import Definitions, Remote
from hydrofoil.openapi.enabled import Enabled
from hydrofoil.registry.objects import Objects
from hydrofoil.request import Incoming

PROTOBUF = "application/com.github.proto-openapi.spec.{}.v1.0+protobuf"
YEAR = 365 * 86400
VARY = b"Vary: Accept\r\n"


class Documents:
    """The documents of one server."""

    def __init__(self, objects: Objects, remote: Remote, clock: Clock) -> None:
        """`remote`: documents published by services."""
        self._remote = remote
        self._clock = clock
        self._enabled = Enabled(objects.catalog, packed.document)
        self._definitions = Definitions(objects, remote, self._enabled.document, packed.document)
        self._changed: dict[str, tuple[str, int]] = {}
        """The tag of each document, and when it was first served with it."""

    def answer(self, request: Incoming, path: str) -> Answer:
        """Answer a path below `/openapi`. Documents of megabytes are made and hashed: call it off the loop."""
        if path == "/openapi/v3":
            hashes = self._enabled.hashes(packed.hashes()) | self._definitions.index()
            index = _index(hashes, self._remote.openapi_index())
            changed = self._since(path, sha256(index).hexdigest())
            return content(Document(index, TEXT, changed), request.headers)
        name = path.removeprefix("/openapi/").removeprefix("v3/")
        protobuf = PROTOBUF.format("v2" if name == "v2" else "v3")
        media = _media(request.headers.get("Accept", ""), protobuf)
        found = self._definitions.document(name) or self._enabled.document(name)
        if found is None:
            return Answer(404, b"")
        packs = name == "v2"
        # The handler of version 2 packs what it can.
        vary = b"Vary: Accept-Encoding\r\n" if packs else b""
        if not media:
            return Answer(406, vary + VARY if packs else b"")
        body, etag = found
        given = next(iter(parse_qs(request.info.query, keep_blank_values=True).get("hash", ())), None)
        if given is not None and given != etag and name != "v2":
            location = f'Location: /openapi/v3/{name}?hash={etag}\r\nETag: "{etag}"\r\n'
            return Answer(301, b"%s%sContent-Type: %s\r\n" % (location.encode(), VARY, media.encode()))
        lines = vary + VARY
        if given and name != "v2":
            expires = formatdate(self._clock.seconds() + YEAR, usegmt=True)
            lines += f"Cache-Control: public, immutable\r\nExpires: {expires}\r\n".encode()
        shown = packed.protobuf(body) if media == protobuf else body
        changed = self._since(name, etag)
        return content(Document(shown, media, changed, f'"{etag}"', lines), request.headers)

    def _since(self, name: str, tag: str) -> int:
        """Return when a document was first served in its present state, in seconds."""
        found = self._changed.get(name)
        if found is None or found[0] != tag:
            found = self._changed[name] = tag, int(self._clock.seconds())
        return found[1]


def _media(accept: str, protobuf: str) -> str:
    """Return the media type of a document for an Accept header, empty if none matches.

    Clients name the protobuf form by the old spelling with `@` or the new one; both get the new one.
    """
    for clause in (accept or "*/*").split(","):
        media = clause.partition(";")[0].strip()
        if media in ("*", "*/*", "*/json", "application/*", "application/json"):
            return "application/json"
        if media.replace("@", ".") == protobuf:
            return protobuf
    return ""


def _index(hashes: dict[str, str], remote: dict[str, Any]) -> bytes:
    """Return `/openapi/v3`: the URL of each document with its hash; `remote`: the entries of services."""
    paths = {name: {"serverRelativeURL": f"/openapi/v3/{name}?hash={digest}"} for name, digest in hashes.items()}
    return orjson.dumps({"paths": paths | remote})
