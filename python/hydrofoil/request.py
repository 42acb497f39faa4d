"""Request attributes: the types that filters, handlers and features share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, ItemsView, Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import parse_qsl, unquote

from hydrofoil.answer import Outcome

LONG_RUNNING = frozenset(("attach", "exec", "proxy", "log", "portforward"))
"""Subresources that, like watches, last until the client disconnects (controlplane `apiserver/config.go`)."""
VERBS = {"GET": "get", "HEAD": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
COLLECTIVE = {"get": "list", "delete": "deletecollection"}


@dataclass(frozen=True, slots=True)
class User:
    """A user (apiserver `pkg/authentication/user`)."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


ADMIN = User("admin", "00000000-0000-4000-8000-000000000001", ("system:masters", "system:authenticated"))
"""The user of every request as long as there is no authentication."""


@dataclass(slots=True)
class RequestInfo:
    """The attributes in a method and a URL (apiserver `pkg/endpoints/request/requestinfo.go`)."""

    path: str
    """Decoded: an escaped character, even a slash, is part of the path like any other, as in Go."""
    query: str
    """The raw query."""
    verb: str
    """As in authorization rules; for a non-resource path the method in lower case."""
    resourceful: bool
    """Whether the path is that of a resource, served or not; the fields below are empty otherwise."""
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    lasting: bool = False
    """Whether the request lasts until the client disconnects (`LongRunningFunc`)."""
    watch_prefix: bool = False
    rest: tuple[str, ...] = ()
    """Segments after the subresource: the path of a proxy."""


class Headers(Protocol):
    """The headers of a request; names are not case-sensitive."""

    def get(self, key: str, default: str, /) -> str:
        """Return the first value of a header."""

    def getall(self, key: str, default: list[str], /) -> list[str]:
        """Return the values of a header."""

    def items(self) -> ItemsView[str, str]:
        """Return names and values in their order."""


class Incoming(Protocol):
    """A request as lower layers see it: without its connection."""

    info: RequestInfo
    user: User
    """The user it acts as."""
    audit_id: str
    common: bytes
    """Header lines of every answer to this request."""

    @property
    def method(self) -> str:
        """Return the method."""

    @property
    def target(self) -> str:
        """Return the target of the request line: path and query as received."""

    @property
    def headers(self) -> Headers:
        """Return the headers."""

    @property
    def remote(self) -> str:
        """Return the address of the client."""

    @property
    def patience(self) -> float:
        """Return the time limit in seconds of an answer without a deadline of its own."""

    def arriving(self) -> AsyncIterator[bytes] | None:
        """Return the pieces of the body as they arrive; None without a body."""

    def ends(self) -> float | None:
        """Return the deadline of the answer, in the loop's time."""

    def lasts(self) -> None:
        """Remove the deadline: the answer lasts until its client disconnects."""

    def at_end(self, call: Callable[[Outcome], None]) -> None:
        """Register a call before the last byte, or when the connection breaks."""


class Authorizer(Protocol):
    """A decision on each request of a user."""

    async def authorize(self, user: User, info: RequestInfo) -> str | None:
        """Return the reason for a refusal; None if the request is allowed."""


def parse(method: str, target: str) -> RequestInfo:
    """Return the attributes of a method and the target of a request line, and of nothing else."""
    path, _, query = target.partition("?")
    if "%" in path:
        path = unquote(path)
    segments = path.split("/")
    if len(segments) > 1 and not segments[-1]:
        segments.pop()
    if len(segments) > 3 and segments[1] == "api":
        group, version, parts = "", segments[2], segments[3:]
    elif len(segments) > 4 and segments[1] == "apis" and segments[2]:
        group, version, parts = segments[2], segments[3], segments[4:]
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
    subresource = ""
    rest: tuple[str, ...] = ()
    lasting = verb == "watch"
    if len(parts) > 2:
        subresource, rest = parts[2], tuple(parts[3:])
        lasting = lasting or subresource in LONG_RUNNING
    return RequestInfo(
        path, query, verb, True, group, version, parts[0], subresource, namespace, name, lasting, watch_prefix, rest
    )


def _watches(query: str) -> bool:
    """Report whether a query requests a watch: by anything but `false` and `0`."""
    given = next((value for key, value in parse_qsl(query, keep_blank_values=True) if key == "watch"), "0")
    return given.lower() not in ("false", "0", "f")
