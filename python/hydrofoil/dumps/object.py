"""An object of a dump, and what of a dump could not be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from msgspec import Struct

from hydrofoil.dumps.head import ObjectHead


class Owner(Struct, frozen=True, gc=False):
    """A reference to an owner."""

    api_version: str
    kind: str
    name: str
    uid: str


class DumpedObject(Struct, gc=False):
    """An object, its place in the dump, and the members by which it is known."""

    source: str
    """The file, as seen from the dump."""
    line: int
    """The line where it, or the document that has it, begins."""
    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str
    """Empty if the dump does not say."""
    version: int
    """The resource version; 0 if the dump does not say, or it is no number."""
    owners: tuple[Owner, ...]
    json: bytes

    @property
    def group(self) -> str:
        """Return the group; empty for the core."""
        return self.api_version.rpartition("/")[0]

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Return what no two objects of a cluster share: group, kind, namespace, name."""
        return self.group, self.kind, self.namespace, self.name

    def content(self) -> dict[str, Any]:
        """Return the object."""
        found: dict[str, Any] = orjson.loads(self.json)
        return found

    def describe(self, reason: str) -> dict[str, Any]:
        """Return a line of a summary."""
        place = {"source": self.source, "line": self.line, "kind": self.kind}
        return {**place, "namespace": self.namespace, "name": self.name, "reason": reason}


class Broken(Struct):
    """What should be an object and cannot be read."""

    source: str
    line: int
    reason: str
    kind: str = ""
    namespace: str = ""
    name: str = ""

    def describe(self) -> dict[str, Any]:
        """Return a line of a summary."""
        return {name: getattr(self, name) for name in ("source", "line", "kind", "namespace", "name", "reason")}


def from_head(source: str, line: int, head: ObjectHead, json: bytes) -> DumpedObject:
    """Return an object of whose members the head is read."""
    metadata = head.metadata
    return DumpedObject(
        source,
        line,
        head.api_version,
        head.kind,
        metadata.namespace,
        metadata.name,
        metadata.uid,
        parse_version(metadata.resource_version),
        tuple(Owner(owner.api_version, owner.kind, owner.name, owner.uid) for owner in metadata.owner_references),
        json,
    )


def parse_version(text: Any) -> int:
    """Return a resource version as a number; 0 if it is none."""
    return int(text) if isinstance(text, str) and text.isascii() and text.isdecimal() and len(text) < 20 else 0


def read_object(source: str, line: int, content: Mapping[str, Any], json: bytes) -> DumpedObject | Broken | None:
    """Return an object of a document; None if it is something else, such as a configuration or a report."""
    kind, api_version, metadata = content.get("kind"), content.get("apiVersion"), content.get("metadata")
    known = [isinstance(text, str) and text != "" for text in (kind, api_version)]
    if not any(known) or not metadata or kind == "Status":
        # Neither reports of other programs nor their configurations are objects.
        return None
    shown = kind if isinstance(kind, str) else ""
    if not all(known):
        missing = "apiVersion" if known[0] else "kind"
        return Broken(source, line, f"the object has no {missing}", shown) if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict):
        return Broken(source, line, "metadata is no map", shown)
    name, namespace = metadata.get("name"), metadata.get("namespace", "")
    if not isinstance(name, str) or not name:
        return Broken(source, line, "metadata.name is missing", shown)
    if not isinstance(namespace, str | None):
        return Broken(source, line, "metadata.namespace is no text", shown, name=name)
    uid, version = metadata.get("uid"), metadata.get("resourceVersion")
    return DumpedObject(
        source,
        line,
        str(api_version),
        shown,
        namespace or "",
        name,
        uid if isinstance(uid, str) else "",
        parse_version(version),
        tuple(_owners(metadata.get("ownerReferences"))),
        json,
    )


def _owners(references: Any) -> list[Owner]:
    found = []
    for reference in references if isinstance(references, list) else ():
        if isinstance(reference, dict):
            texts = (reference.get(name) for name in ("apiVersion", "kind", "name", "uid"))
            found.append(Owner(*(text if isinstance(text, str) else "" for text in texts)))
    return found
