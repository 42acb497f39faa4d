"""Who asks for what: the types that filters, handlers and features share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import parse_qsl, unquote

LONG_RUNNING = frozenset(("attach", "exec", "proxy", "log", "portforward"))
"""Subresources that, like watches, last as long as their client wants (controlplane `apiserver/config.go`)."""
VERBS = {"GET": "get", "HEAD": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
COLLECTIVE = {"get": "list", "delete": "deletecollection"}


@dataclass(frozen=True, slots=True)
class User:
    """Who acts (apiserver `pkg/authentication/user`)."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


ADMIN = User("admin", "00000000-0000-4000-8000-000000000001", ("system:masters", "system:authenticated"))
"""Who every caller is as long as nobody asks for credentials."""


@dataclass(slots=True)
class RequestInfo:
    """What a method and a URL ask for (apiserver `pkg/endpoints/request/requestinfo.go`)."""

    path: str
    """Decoded: what is escaped is part of the path like everything else, slashes too, as in Go."""
    query: str
    """The raw query."""
    verb: str
    """As rights name it; of what is no resource the method in lower case."""
    resourceful: bool
    """Whether the path is that of a resource, served or not; all that follows is empty otherwise."""
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    watch_prefix: bool = False
    rest: tuple[str, ...] = ()
    """Segments after the subresource: the path of a proxy."""

    @property
    def lasting(self) -> bool:
        """Whether the request lasts as long as its client wants (`LongRunningFunc`)."""
        return self.verb == "watch" or (bool(self.subresource) and self.subresource in LONG_RUNNING)


class Authorizer(Protocol):
    """Decides who may do what."""

    async def authorize(self, user: User, info: RequestInfo) -> str | None:
        """Why it is refused; None when it is allowed."""


def parse(method: str, target: str) -> RequestInfo:
    """What a method and the target of a request line ask for; nothing but these is looked at."""
    path, _, query = target.partition("?")
    if "%" in path:
        path = unquote(path)
    segments = path.split("/")[1:]
    if segments and segments[-1] == "":
        segments.pop()
    root = segments[0] if segments else ""
    if root == "api" and len(segments) > 2:
        group, version, parts = "", segments[1], segments[2:]
    elif root == "apis" and len(segments) > 3 and segments[1]:
        group, version, parts = segments[1], segments[2], segments[3:]
    else:
        return RequestInfo(path, query, method.lower(), resourceful=False)
    watch_prefix = parts[0] == "watch" and len(parts) > 1
    if watch_prefix:
        parts = parts[1:]
    namespace = ""
    if parts[0] == "namespaces" and len(parts) > 2 and not (len(parts) == 3 and parts[2] in ("status", "finalize")):
        namespace, parts = parts[1], parts[2:]
    name = parts[1] if len(parts) > 1 else ""
    verb = VERBS.get(method, "")
    if watch_prefix:
        verb = "watch"
    elif not name:
        verb = COLLECTIVE.get(verb, verb)
        if verb == "list" and "watch" in query and _watches(query):
            verb = "watch"
    subresource = parts[2] if len(parts) > 2 else ""
    rest = tuple(parts[3:])
    return RequestInfo(
        path, query, verb, True, group, version, parts[0], subresource, namespace, name, watch_prefix, rest
    )


def _watches(query: str) -> bool:
    """Whether a query asks for a watch: by anything but `false` and `0`."""
    given = next((value for key, value in parse_qsl(query, keep_blank_values=True) if key == "watch"), "0")
    return given.lower() not in ("false", "0", "f")
