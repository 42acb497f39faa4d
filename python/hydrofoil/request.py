"""Request attributes: the types that filters, handlers and features share."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, ItemsView, Mapping, Sequence
from typing import Any, NamedTuple, Protocol
from urllib.parse import parse_qsl, unquote

from msgspec import Struct, field

from hydrofoil import engine, errors
from hydrofoil.answer import Outcome
from hydrofoil.go_text import HTML_ESCAPES, quote

LONG_RUNNING = frozenset(("attach", "exec", "proxy", "log", "portforward"))
"""Subresources that, like watches, last until the client disconnects (controlplane `apiserver/config.go`)."""
REVIEWS = frozenset(
    (
        ("authentication.k8s.io", "selfsubjectreviews"),
        ("authentication.k8s.io", "tokenreviews"),
        ("authorization.k8s.io", "localsubjectaccessreviews"),
        ("authorization.k8s.io", "selfsubjectaccessreviews"),
        ("authorization.k8s.io", "selfsubjectrulesreviews"),
        ("authorization.k8s.io", "subjectaccessreviews"),
    )
)
"""Questions about users and rights: they are sent as a create, and store nothing."""
ITEM = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
"""The verbs of the methods of one object."""
COLLECTION = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
"""The verbs of the methods of a collection."""
SUBRESOURCE = ITEM | {"POST": "create"}
VERBS = SUBRESOURCE | {"HEAD": "get"}
COLLECTIVE = {ITEM[method]: COLLECTION[method] for method in ITEM.keys() & COLLECTION}
"""The verbs of one object that have another name without one."""


class User(Struct, frozen=True):
    """A user (apiserver `pkg/authentication/user`)."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


ADMIN = User("admin", "admin", ("system:masters", "system:authenticated"))
"""The user of every request where no credential is configured."""
ANONYMOUS = User("system:anonymous", groups=("system:unauthenticated",))
"""The user of a request without credentials."""
NODE_PREFIX = "system:node:"
NODES = "system:nodes"
"""The group of kubelets."""


def node_of(user: User) -> str | None:
    """Return the name of the node whose kubelet a user is; None for another user (pkg/auth/nodeidentifier).

    It is empty where the user has the group and the prefix, but no name.
    """
    if not user.name.startswith(NODE_PREFIX) or NODES not in user.groups:
        return None
    return user.name[len(NODE_PREFIX) :]


class Requirement(Struct, frozen=True):
    """A requirement of a selector, as access reviews have them."""

    key: str
    operator: str
    """In, NotIn, Exists or DoesNotExist."""
    values: tuple[str, ...] = ()


class Selection(Struct, frozen=True):
    """The selectors of a request."""

    fields: tuple[Requirement, ...] = ()
    labels: tuple[Requirement, ...] = ()


NO_SELECTION = Selection()


class RequestInfo(Struct):
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
    selection: Selection | None = None
    """The selectors; None: those of the query (`authorization.selectors`)."""

    @property
    def scope(self) -> str:
        """Return the namespace as authorizers see it: a namespace is in itself."""
        return self.namespace or (self.name if self.resource == "namespaces" else "")

    @property
    def subject(self) -> str:
        """Return the name as authorizers see it: for a list or watch the one that its field selector requires."""
        if self.name or "fieldSelector" not in self.query or self.watch_prefix or self.verb not in ("list", "watch"):
            return self.name
        return _required_name(self.query)


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
    certificates: Sequence[bytes]
    """The certificates that the client presented, in DER, its own first; the handshake verifies none."""
    audit_id: str
    common: bytes
    """Header lines of every answer to this request."""
    headers: Headers
    """The headers; authentication replaces them where it removes some."""
    warnings: list[str]
    """Warnings for the client."""

    method: str
    target: str
    """The target of the request line: path and query as received."""
    remote: str
    """The address of the client."""

    @property
    def request_timeout(self) -> float:
        """Return the time limit in seconds of an answer without a deadline of its own."""

    def arriving(self) -> AsyncIterator[bytes] | None:
        """Return the pieces of the body as they arrive; None without a body."""

    def ends(self) -> float | None:
        """Return the deadline of the answer, in the loop's time."""

    def lasts(self) -> None:
        """Remove the deadline: the answer lasts until its client disconnects."""

    @property
    def at_end(self) -> Callable[[Callable[[Outcome], None]], None]:
        """Register a call before the last byte, or when the connection breaks."""


class Verdict(Struct, frozen=True):
    """The decision of an authorizer (apiserver `authorizer.Decision`): allowed, denied, or neither: no opinion."""

    allowed: bool = False
    denied: bool = False
    reason: str = ""
    error: str = ""
    """An error on the way to the decision; the decision holds in spite of it."""


class Annotated(Protocol):
    """The audit record of a request, for parts that add to it."""

    def annotate(self, key: str, value: str) -> None:
        """Add an annotation; the first value of a key stays."""


class StandingVerdict(NamedTuple):
    """The decision on many requests."""

    allowed: bool
    """Whether they are allowed; else there is no opinion on any of them."""
    counts: Sequence[Callable[[int], None]] = ()
    """What counts so many more of such decisions."""


ALWAYS = StandingVerdict(allowed=True)


class Authorizer(Protocol):
    """Decide on requests of users."""

    def authorize(self, user: User, info: RequestInfo) -> Verdict | Awaitable[Verdict]:
        """Return the decision on a request; an awaitable only if it has to wait."""

    def standing(self, user: User, info: RequestInfo) -> StandingVerdict | None:
        """Return the decision on all requests that differ from one in the name of an object only, until a role changes.

        None if one of them may be decided otherwise, or if none is allowed.
        """

    def rules(self, user: User, namespace: str) -> Rules | Awaitable[Rules]:
        """Return the rules of a user in a namespace, as far as they can be listed."""


class Rules(Struct):
    """The rules of a user in a namespace, as the members of a SubjectRulesReviewStatus."""

    resources: list[dict[str, Any]] = field(default_factory=list)
    urls: list[dict[str, Any]] = field(default_factory=list)
    incomplete: bool = False
    error: str = ""


ALLOWED = Verdict(allowed=True)
NO_OPINION = Verdict()


class AlwaysAllow:
    """Allow everything (apiserver `authorizerfactory/builtin.go`)."""

    def authorize(self, user: User, info: RequestInfo) -> Verdict:
        """Return the same for every request."""
        return ALLOWED

    def standing(self, user: User, info: RequestInfo) -> StandingVerdict:
        """Return the same for every request."""
        return ALWAYS

    def rules(self, user: User, namespace: str) -> Rules:
        """Return one rule for everything."""
        every = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
        return Rules([every], [{"verbs": ["*"], "nonResourceURLs": ["*"]}])


ALWAYS_ALLOW = AlwaysAllow()


def parse(method: str, target: str) -> RequestInfo:
    """Return the attributes of a method and the target of a request line, and of nothing else."""
    path, _, query = target.partition("?")
    if "%" in path:
        path = unquote(path)
    segments = path.split("/")
    if not segments[-1] and len(segments) > 1:
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
    if parts[0] == "namespaces" and (len(parts) > 3 or (len(parts) == 3 and parts[2] not in ("status", "finalize"))):
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


def attributes(
    verb: str,
    group: str,
    resource: str,
    *,
    version: str = "*",
    subresource: str = "",
    namespace: str = "",
    name: str = "",
) -> RequestInfo:
    """Return the attributes of a right that is checked inside a verb (apiserver `authorizer.AttributesRecord`)."""
    return RequestInfo("", "", verb, True, group, version, resource, subresource, namespace, name)


async def decide(authorizer: Authorizer, user: User, info: RequestInfo) -> Verdict:
    """Return the decision on a right that is checked inside a request."""
    made = authorizer.authorize(user, info)
    return made if isinstance(made, Verdict) else await made


def refusal(user: User, info: RequestInfo, reason: str) -> errors.ApiError:
    """Return the 403 for a right that a user lacks (apiserver `responsewriters.ForbiddenStatusError`)."""
    who = f"User {quote(user.name)} cannot {info.verb}"
    if not info.resourceful:
        text = f"{who} path {quote(info.path)}"
    else:
        resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
        text = f"{who} resource {quote(resource)} in API group {quote(info.group)} "
        scope = info.scope
        text += f"in the namespace {quote(scope)}" if scope else "at the cluster scope"
    text = text.translate(HTML_ESCAPES)
    if reason:
        text += f": {reason}"
    if not info.group and not info.resource:
        found = errors.ApiError(403, "Forbidden", f"forbidden: {text}", {})
    else:
        found = errors.forbidden(info.group, info.resource, info.subject, text)
    found.unauthorized = True
    return found


def _required_name(query: str) -> str:
    """Return the name that a field selector requires; empty if it requires none or the options are not valid."""
    given: dict[str, str] = {}
    for key, value in parse_qsl(query, keep_blank_values=True):
        given.setdefault(key, value)
    for number in ("limit", "timeoutSeconds"):
        if given.get(number) and not re.fullmatch(r"[+-]?\d+", given[number]):
            return ""
    terms = engine.field_requirements(given.get("fieldSelector", "")) or ()
    found = next((values[0] for key, operator, values in terms if key == "metadata.name" and operator == "In"), "")
    return "" if found in (".", "..") or "/" in found or "%" in found else found


def _watches(query: str) -> bool:
    """Report whether a query requests a watch: by anything but `false` and `0`."""
    given = next((value for key, value in parse_qsl(query, keep_blank_values=True) if key == "watch"), "0")
    return given.lower() not in ("false", "0")
