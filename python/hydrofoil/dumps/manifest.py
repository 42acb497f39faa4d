"""`manifest.json`: what a dump has, and of which server it is."""

from __future__ import annotations

from typing import Any

import orjson
from msgspec import Struct

FORMAT = 1
NAME = "manifest.json"


class DumpError(Exception):
    """A dump that cannot be read at all: one line."""


class DumpedResource(Struct, frozen=True):
    """A resource, and the file of its objects."""

    group: str
    version: str
    resource: str
    kind: str
    namespaced: bool
    count: int
    file: str

    def json(self) -> dict[str, Any]:
        """Return it as in the manifest."""
        return {name: getattr(self, name) for name in self.__struct_fields__}


class Manifest(Struct, frozen=True):
    """The contents of a dump, in the order in which they can be created."""

    time: str
    """The moment of the export, in RFC 3339."""
    git_version: str
    resource_version: str
    """The highest version of its lists."""
    resources: tuple[DumpedResource, ...]

    def json(self) -> bytes:
        """Return the file."""
        content = {
            "format": FORMAT,
            "time": self.time,
            "server": {"gitVersion": self.git_version},
            "resourceVersion": self.resource_version,
            "resources": [resource.json() for resource in self.resources],
        }
        return orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n"


def file_name(group: str, resource: str) -> str:
    """Return the name of the file of a resource: `apps_deployments.jsonl`; `pods.jsonl` in the core group."""
    return f"{group}_{resource}.jsonl" if group else f"{resource}.jsonl"


def parse_manifest(data: bytes, origin: str) -> Manifest | None:
    """Return a manifest; None for a file of that name which is something else. Raise DumpError."""
    try:
        content = orjson.loads(data)
    except ValueError:
        return None
    if not isinstance(content, dict) or "format" not in content or "resources" not in content:
        return None
    if content["format"] != FORMAT or isinstance(content["format"], bool):
        raise DumpError(f"{origin}: format {content['format']!r} is unknown: this program reads format {FORMAT}")
    try:
        server = content.get("server") or {}
        resources = tuple(map(_resource, content["resources"]))
        version = str(content.get("resourceVersion") or "")
        found = Manifest(str(content.get("time") or ""), str(server.get("gitVersion") or ""), version, resources)
    except (TypeError, ValueError, KeyError, AttributeError) as e:
        raise DumpError(f"{origin}: it is no manifest of a dump: {e}") from None
    return found


def _resource(content: dict[str, Any]) -> DumpedResource:
    """Return a resource of a manifest. Raise KeyError, TypeError or ValueError."""
    texts = {name: content[name] for name in ("group", "version", "resource", "kind", "file")}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise TypeError(f"{name} is no text, but {text!r}")
    file = texts["file"]
    if "/" in file or file in ("", ".", "..") or "\\" in file or "\0" in file:
        raise ValueError(f"the file {file!r} is not beside it")
    return DumpedResource(namespaced=bool(content.get("namespaced")), count=int(content.get("count") or 0), **texts)
