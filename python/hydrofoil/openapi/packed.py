"""The OpenAPI documents of all built-in kinds, from the package's data."""

from __future__ import annotations

import gzip
import hashlib
from functools import lru_cache
from importlib.resources import files

import orjson

from hydrofoil.engine import openapi_protobuf
from hydrofoil.openapi import descriptions

DATA = files("hydrofoil.apis") / "data" / "openapi"


def digest(data: bytes) -> str:
    """Return the hash of a document, as URLs and ETags carry it."""
    return hashlib.sha512(data).hexdigest().upper()


@lru_cache(maxsize=1)
def index() -> dict[str, str]:
    """Return the file of each document by its path below `/openapi/v3`, or `v2`."""
    found: dict[str, str] = orjson.loads((DATA / "index.json").read_bytes())
    return found


@lru_cache(maxsize=128)
def document(name: str) -> tuple[bytes, str] | None:
    """Return a document and its hash; None if absent."""
    file = index().get(name)
    if file is None:
        return None
    body = with_descriptions(gzip.decompress((DATA / file).read_bytes()), v2=name == "v2")
    return body, digest(body)


def without_descriptions(name: str) -> bytes | None:
    """Return a document without descriptions; None if absent. Call it off the loop: nothing is kept."""
    file = index().get(name)
    return None if file is None else gzip.decompress((DATA / file).read_bytes())


def with_descriptions(body: bytes, *, v2: bool) -> bytes:
    """Return a document with descriptions, if there are any."""
    if descriptions.folder() is None:
        return body
    document = orjson.loads(body)
    schemas = document["definitions"] if v2 else document.get("components", {}).get("schemas", {})
    return orjson.dumps(document) if descriptions.describe(schemas, v2=v2) else body


@lru_cache(maxsize=1)
def hashes() -> dict[str, str]:
    """Return the hash of each document below `/openapi/v3`."""
    found = ((name, document(name)) for name in index() if name != "v2")
    return {name: made[1] for name, made in found if made is not None}


@lru_cache(maxsize=64)
def protobuf(body: bytes) -> bytes:
    """Return a document as protobuf."""
    return openapi_protobuf(body)
