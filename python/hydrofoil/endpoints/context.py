"""The context of one request: its attributes for filters and handlers, and properties of its answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from aiohttp import web

from hydrofoil.admission.chain import Chain
from hydrofoil.answer import Answer, Outcome
from hydrofoil.apis.catalog import Resource
from hydrofoil.apis.gates import Gates
from hydrofoil.audit.event import AuditEvent
from hydrofoil.authentication.service import Authentication
from hydrofoil.clock import Chance, Clock
from hydrofoil.endpoints.negotiate import PLAIN, Accepted
from hydrofoil.endpoints.options_shown import shown_options
from hydrofoil.endpoints.params import Params
from hydrofoil.engine import Flow, Queues, Selector
from hydrofoil.errors import FAULTS, ApiError
from hydrofoil.headers import USER_AGENT
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Write
from hydrofoil.request import ADMIN, ALWAYS_ALLOW, Authorizer, Headers, RequestInfo, User
from hydrofoil.storage.collection import Collection
from hydrofoil.watch.hub import Hub

if TYPE_CHECKING:
    # Only servers of tests load these.
    from hydrofoil.controls.record import Record

LOG = logging.getLogger("hydrofoil")
MAX_BODY = 3 * 1024 * 1024
"""The largest request body, in bytes."""
NOBODY = RequestInfo("", "", "", resourceful=False)


class MemoDraft:
    """What is decided about a request that reads, for a memo of it (`endpoints/memos.py`)."""

    __slots__ = (
        "authorized",
        "collection",
        "count_items",
        "counts",
        "data",
        "generation",
        "holds",
        "identity",
        "list_of",
        "list_seats",
        "seats",
    )

    def __init__(self, identity: int, data: bytes, generation: int) -> None:
        self.identity = identity
        self.data = data
        """The whole request."""
        self.generation = generation
        """How often memos were ended before: one that rests on what has changed since is not kept."""
        self.counts: list[Callable[[int], None]] = []
        """What counts further requests of the kind."""
        self.holds: tuple[int, int] | None = None
        """From when until when the login holds, in nanoseconds since 1970; set by authentication."""
        self.seats: tuple[Queues, Flow] | None = None
        """The queues of the level, and the flow; set by priority and fairness."""
        self.list_seats = 0
        """The most seats of a list, one for each hundred objects of the resource; 0: it takes one."""
        self.authorized = False
        """Whether the right holds for every name; set by authorization."""
        self.collection: Collection | None = None
        """The objects; set by the handler if an answer depends on nothing else."""
        self.list_of: tuple[Selector, int, bool] | None = None
        """Of a list: its selection, its limit, and whether one without items is written like any other."""
        self.count_items: Callable[[int, int], None] | None = None
        """Count the objects that lists were taken from, and those in them."""


class Parts:
    """State shared by the requests of one server."""

    def __init__(
        self,
        registry: Registry,
        admission: Chain,
        hub: Hub,
        gates: Gates,
        clock: Clock,
        chance: Chance,
        request_timeout: float,
        authentication: Authentication,
        authorizer: Authorizer,
        others: Authorizer = ALWAYS_ALLOW,
    ) -> None:
        self.registry = registry
        self.authentication = authentication
        self.authorizer = authorizer
        """The decision on what callers may do."""
        self.others = others
        """The decision on users that callers act as or ask about."""
        self.admission = admission
        """The admission of writes."""
        self.hub = hub
        self.clock = clock
        self.chance = chance
        self.request_timeout = request_timeout
        """The time limit of an answer, in seconds."""
        self.cbor = gates.enabled("CBORServingAndStorage")
        """Whether CBOR is served."""
        self.compresses = gates.enabled("APIResponseCompression")
        """Whether large answers are compressed for clients that accept it (CP-02)."""
        self.streams = gates.enabled("WatchList")
        """Whether watches may begin with initial events."""
        self.unsafe = gates.enabled("AllowUnsafeMalformedObjectDeletion")
        """Whether a deletion may remove an unreadable object."""
        self.upgrades_create = gates.enabled("AuthorizePodWebsocketUpgradeCreatePermission")
        """Whether a WebSocket to a pod needs the right to create, too."""


class Context:
    """One request. Defaults are class attributes, so that making one is cheap."""

    info: RequestInfo = NOBODY
    """The attributes in method and URL; set by the filter `request_info`."""
    caller: User = ADMIN
    """The authenticated user."""
    user: User = ADMIN
    """The user it acts as."""
    certificates: Sequence[bytes] = ()
    """The certificates that the client presented, in DER, its own first; the handshake verifies none."""
    ask_for_body: Callable[[], None] | None = None
    """Ask a client that waits for it to send its body (RFC 9110, 10.1.1); set by the wire."""
    remote = ""
    """The address of the client; set by the wire."""
    audit_id = ""
    audit: AuditEvent | None = None
    """The record of an audited request."""
    common = b""
    """Header lines of every answer to this request."""
    served: Resource | None = None
    """The resource of the path; set by the route, like everything below."""
    resource: Resource
    """The same, for handlers, which always have one."""
    verb = ""
    """The verb of the request."""
    counted = False
    """Whether the request reached a handler, so that metrics count it."""
    accepted: Accepted = PLAIN
    params: Params = {}  # noqa: RUF012 - it is never changed
    patch = ""
    """The kind of a patch, as returned by `patch_kind`."""
    answered = 0
    """The number of bytes of the answer's body, once it is written."""
    sent = 0
    """The number of bytes of the body, once it is read."""
    keeps_body = False
    """Whether the body is kept once it is read."""
    received = b""
    """The body, if it is kept."""
    memo: MemoDraft | None = None
    """What later requests may rest on; None once a step decides anew for each of them."""
    record: Record | None = None
    """The record in the journal of a test server."""
    allowed: float | None = None
    """The time limit of the answer in seconds; None for a stream that lasts until its client disconnects."""
    _early: bytes | None = None
    """The body, if it was read before the handler asked for it."""
    _ends: float | None = None
    _at_start: list[Callable[[Answer], None]] | None = None

    def __init__(self, request: web.BaseRequest, parts: Parts) -> None:
        self.request = request
        self.method = request.method
        self.target = request.raw_path
        """The target of the request line: path and query as received."""
        self.headers: Headers = request.headers
        """The headers; authentication replaces them where it removes some."""
        self.parts = parts
        self.registry = parts.registry
        self.hub = parts.hub
        self.unsafe = parts.unsafe
        """Whether a deletion may remove an unreadable object; then, whether it requests to."""
        self.warnings: list[str] = []
        self._at_end: list[Callable[[Outcome], None]] = []
        self.at_end: Callable[[Callable[[Outcome], None]], None] = self._at_end.append
        """Register a call once, before the last byte of the answer or when it breaks off."""

    @property
    def authorizer(self) -> Authorizer:
        """Return the decision on what the user of this request may do."""
        return self.parts.authorizer if self.user is self.caller else self.parts.others

    @property
    def request_timeout(self) -> float:
        """Return the time limit in seconds of an answer without a deadline of its own."""
        return self.parts.request_timeout

    def fields(self) -> dict[str, str | int]:
        """Return the identity of the request for log lines: no header and no body."""
        return {
            "auditID": self.audit_id,
            "user": self.user.name,
            "method": self.method,
            "URI": self.target,
            "srcIP": self.remote,
            "userAgent": self.headers.get(USER_AGENT, ""),
        }

    def arriving(self) -> AsyncIterator[bytes] | None:
        """Return the pieces of the body as they arrive; None without a body."""
        if not self.request.can_read_body:
            return None
        if self.ask_for_body is not None:
            self.ask_for_body()
        return self.request.content.iter_any()

    def ends(self) -> float | None:
        """Return the deadline of the answer, in the loop's time; computed on first use."""
        if self._ends is None and self.allowed is not None:
            self._ends = asyncio.get_running_loop().time() + self.allowed
        return self._ends

    def lasts(self) -> None:
        """Remove the deadline: the answer lasts until its client disconnects."""
        self.allowed = self._ends = None

    @property
    def collection(self) -> Collection:
        """Return the objects of the resource."""
        return self.registry.collection(self.resource)

    @property
    def framed(self) -> bool:
        """Report whether the client understands chunks, so that the connection outlives the stream."""
        return self.request.version >= (1, 1)

    def manager(self) -> str:
        """Return the field manager of the request's changes: `fieldManager`, else the client's name (SSA-22)."""
        given = self.params.get("fieldManager")
        if given:
            return given
        agent = self.headers.get(USER_AGENT, "").partition("/")[0]
        if agent.isascii() and agent.isprintable():
            return agent[:128] or "unknown"
        return "".join(c for c in agent if c.isprintable()).encode()[:128].decode(errors="ignore") or "unknown"

    def write(
        self,
        *,
        dry_run: bool = False,
        manager: str = "",
        resource: Resource | None = None,
        subresource: str | None = None,
        options: DeleteOptions | None = None,
    ) -> Write:
        """Return the write of this request, by default on its own resource and subresource.

        `options` are those of a deletion; the others are in the query.
        """
        info = self.info
        write = self.parts.admission.write(
            resource or self.resource,
            info.namespace,
            info.name,
            subresource=info.subresource,
            manager=manager,
            dry_run=dry_run,
            user=self.user,
            warnings=self.warnings,
            authorizer=self.authorizer,
            audit=self.audit,
            asked=partial(shown_options, self.params if options is None else options),
        )
        if subresource is not None:
            write.subresource = subresource
        write.verb = info.verb
        write.sent = self.sent
        return write

    def at_start(self, call: Callable[[Answer], None]) -> None:
        """Register a call right before the first byte of the answer."""
        if self._at_start is None:
            self._at_start = []
        self._at_start.append(call)

    def starts(self, answer: Answer) -> None:
        """Run the calls registered for the start."""
        if self._at_start is not None:
            calls, self._at_start = self._at_start, None
            for call in calls:
                call(answer)

    def ended(self, status: int, whole: bool) -> None:
        """Run the calls for the end, last first, each in spite of errors of others; only the first end counts."""
        if self._at_end:
            calls = self._at_end[::-1]
            self._at_end.clear()
            outcome = Outcome(status, whole)
            for call in calls:
                try:
                    call(outcome)
                except FAULTS:
                    LOG.exception("the end of a request failed")

    async def early_body(self) -> bytes:
        """Read the request body before its handler, which has it as well. Raise ApiError 413."""
        self._early = await self.body()
        return self._early

    async def body(self) -> bytes:
        """Read the request body, once. Raise ApiError 413."""
        if self._early is not None:
            return self._early
        content = self.request.content
        if self.ask_for_body is not None:
            self.ask_for_body()
        # A small body is in aiohttp's buffer already.
        data = content.read_nowait() if content.is_eof() else await self._arriving()
        if len(data) > MAX_BODY:
            raise too_large()
        self.sent = len(data)
        if self.keeps_body:
            self.received = data
        return data

    async def _arriving(self) -> bytes:
        """Read a body that is still arriving. Raise ApiError 413 as soon as it is too large."""
        length = self.request.content_length
        if length is not None and length > MAX_BODY:
            raise too_large()
        data = bytearray()
        async for piece in self.request.content.iter_any():
            data += piece
            if len(data) > MAX_BODY:
                raise too_large()
        return bytes(data)


Handler = Callable[[Context], Awaitable[Answer]]
Filter = Callable[[Context, Handler], Awaitable[Answer]]
"""Return an answer, its own or the inner handler's. A refusal is an answer; an exception is a fault."""


def too_large() -> ApiError:
    """Return the 413 for a body over the limit."""
    return ApiError(413, "RequestEntityTooLarge", f"Request entity too large: limit is {MAX_BODY}")
