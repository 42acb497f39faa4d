"""The members of an object by which it is known, read without the rest: a tenth of the time for all of it."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct


class OwnerHead(Struct, gc=False, rename="camel"):
    """A reference to an owner."""

    api_version: str
    kind: str
    name: str
    uid: str


class MetadataHead(Struct, gc=False, rename="camel"):
    """The metadata of an object."""

    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    creation_timestamp: str | None = None
    owner_references: list[OwnerHead] = []


class ObjectHead(Struct, gc=False, rename="camel"):
    """An object."""

    api_version: str
    kind: str
    metadata: MetadataHead
    items: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_DECODER: Any = msgspec.json.Decoder(ObjectHead)


def read_head(line: bytes) -> ObjectHead | None:
    """Return what is known of an object in JSON; None for anything that is not plainly one."""
    try:
        found: ObjectHead = _DECODER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    is_plain = found.api_version and found.kind and found.metadata.name and found.items is msgspec.UNSET
    return found if is_plain else None
