"""What a URL asks for (apiserver `pkg/endpoints/request/requestinfo.go`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class RequestInfo:
    """The parts of an API path: `/api/v1/...` or `/apis/GROUP/VERSION/...`."""

    group: str
    version: str
    resource: str
    subresource: str
    namespace: str
    name: str
    watch_prefix: bool
    rest: tuple[str, ...]
    """Segments after the subresource: the path of a proxy."""


def parse(path: str) -> RequestInfo | None:
    """The parts of a decoded API path, or None when it is none: then it is a document or nothing."""
    segments = path.split("/")[1:]
    if segments and segments[-1] == "":
        segments.pop()
    if len(segments) < 2:
        return None
    if segments[0] == "api":
        group, version, rest = "", segments[1], segments[2:]
    elif segments[0] == "apis" and len(segments) >= 3:
        group, version, rest = segments[1], segments[2], segments[3:]
    else:
        return None
    if not rest or (not group and segments[0] == "apis"):
        return None
    watch_prefix = rest[0] == "watch" and len(rest) > 1
    if watch_prefix:
        rest = rest[1:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and not (len(rest) == 3 and rest[2] in ("status", "finalize")):
        namespace, rest = rest[1], rest[2:]
    name = rest[1] if len(rest) > 1 else ""
    subresource = rest[2] if len(rest) > 2 else ""
    return RequestInfo(group, version, rest[0], subresource, namespace, name, watch_prefix, tuple(rest[3:]))
