"""One request: what filters and handlers know of it, and what they say about its answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from aiohttp import web

from hydrofoil.admission.chain import Chain
from hydrofoil.answer import Answer, Outcome
from hydrofoil.apis.catalog import Resource
from hydrofoil.apis.gates import Gates
from hydrofoil.clock import Chance, Clock
from hydrofoil.endpoints.negotiate import PLAIN, Accepted
from hydrofoil.endpoints.params import Params
from hydrofoil.errors import FAULTS, ApiError
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Write
from hydrofoil.request import ADMIN, RequestInfo, User
from hydrofoil.storage.collection import Collection
from hydrofoil.watch.hub import Hub

LOG = logging.getLogger("hydrofoil")
MAX_BODY = 3 * 1024 * 1024
"""The largest request body, in bytes."""
NOBODY = RequestInfo("", "", "", resourceful=False)


class Parts:
    """What the requests of one server share."""

    def __init__(
        self,
        registry: Registry,
        admission: Chain,
        hub: Hub,
        gates: Gates,
        clock: Clock,
        chance: Chance,
        request_timeout: float,
    ) -> None:
        self.registry = registry
        self.admission = admission
        """Who admits what is written."""
        self.hub = hub
        self.clock = clock
        self.chance = chance
        self.request_timeout = request_timeout
        """How long an answer may take, in seconds."""
        self.cbor = gates.enabled("CBORServingAndStorage")
        """Whether CBOR is served."""
        self.compresses = gates.enabled("APIResponseCompression")
        """Whether large answers are compressed for who accepts it (CP-02)."""
        self.streams = gates.enabled("WatchList")
        """Whether watches may begin with the state."""
        self.unsafe = gates.enabled("AllowUnsafeMalformedObjectDeletion")
        """Whether a deletion may ask for what cannot be read to go."""
        self.constant = b""
        """Header lines that are the same in all answers."""


class Context:
    """One request. What most requests leave as it is stands in the class: making one costs little."""

    info: RequestInfo = NOBODY
    """What is asked for; set by the filter `request_info`."""
    caller: User = ADMIN
    """Who came."""
    user: User = ADMIN
    """As whom it acts."""
    audit_id = ""
    common = b""
    """Header lines that every answer carries."""
    served: Resource | None = None
    """The resource under the path; set by the route, like all that follows."""
    resource: Resource
    """The same, for handlers, which all have one."""
    verb = ""
    """What is done with it."""
    counted = False
    """Whether the request came as far as a handler, so that it stands in the metrics."""
    accepted: Accepted = PLAIN
    params: Params = {}  # noqa: RUF012 - nobody changes it
    patch = ""
    """The kind of a patch, as `patch_kind` tells it."""
    sent = 0
    """How many bytes the body has, once it was read."""
    allowed: float | None = None
    """How many seconds the answer may take; None for what lasts as long as its client wants."""
    _ends: float | None = None
    _at_start: list[Callable[[Answer], None]] | None = None
    _at_end: list[Callable[[Outcome], None]] | None = None

    def __init__(self, request: web.BaseRequest, parts: Parts) -> None:
        self.request = request
        self.parts = parts
        self.registry = parts.registry
        self.hub = parts.hub
        self.unsafe = parts.unsafe
        """Whether a deletion may ask for what cannot be read to go; then, whether it does."""
        self.warnings: list[str] = []

    def ends(self) -> float | None:
        """When the answer has to be written, in the loop's time; what nobody asks for is not looked up."""
        if self._ends is None and self.allowed is not None:
            self._ends = asyncio.get_running_loop().time() + self.allowed
        return self._ends

    def lasts(self) -> None:
        """Let the answer take as long as its client wants."""
        self.allowed = self._ends = None

    @property
    def collection(self) -> Collection:
        """The objects of the resource."""
        return self.registry.collection(self.resource)

    @property
    def framed(self) -> bool:
        """Whether the client understands chunks, so that the end of a stream is not that of the connection."""
        return self.request.version >= (1, 1)

    def manager(self) -> str:
        """Who comes to own what the request sets: `fieldManager`, else the client's name (SSA-22)."""
        given = self.params.get("fieldManager")
        if given:
            return given
        agent = self.request.headers.get("User-Agent", "").partition("/")[0]
        return "".join(c for c in agent if c.isprintable()).encode()[:128].decode(errors="ignore") or "unknown"

    def write(
        self,
        *,
        dry_run: bool = False,
        manager: str = "",
        resource: Resource | None = None,
        subresource: str | None = None,
    ) -> Write:
        """What the request writes: its own resource and subresource where it is not told."""
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
        )
        if subresource is not None:
            write.subresource = subresource
        return write

    def at_start(self, call: Callable[[Answer], None]) -> None:
        """Have something called right before the first byte of the answer."""
        if self._at_start is None:
            self._at_start = []
        self._at_start.append(call)

    def at_end(self, call: Callable[[Outcome], None]) -> None:
        """Have something called once, before the last byte of the answer or when it broke off."""
        if self._at_end is None:
            self._at_end = []
        self._at_end.append(call)

    def starts(self, answer: Answer) -> None:
        """Call what waits for the start."""
        if self._at_start is not None:
            calls, self._at_start = self._at_start, None
            for call in calls:
                call(answer)

    def ended(self, status: int, whole: bool) -> None:
        """Call what waits for the end, the last who came first, each whatever others do; only the first end counts."""
        if self._at_end is not None:
            calls, self._at_end = self._at_end, None
            outcome = Outcome(status, whole)
            for call in reversed(calls):
                try:
                    call(outcome)
                except FAULTS:
                    LOG.exception("the end of a request failed")

    async def body(self) -> bytes:
        """Read the request body, once. Raises 413."""
        content = self.request.content
        # A small body is in aiohttp's buffer by now.
        data = content.read_nowait() if content.is_eof() else await self._arriving()
        if len(data) > MAX_BODY:
            raise too_large()
        self.sent = len(data)
        return data

    async def _arriving(self) -> bytes:
        """Read a body that is still to come. Raises 413 as soon as it is too large."""
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
"""Gives an answer of its own or has the inner handler give one. A refusal is an answer; what is raised is a fault."""


def too_large() -> ApiError:
    """413 of a body over the limit."""
    return ApiError(413, "RequestEntityTooLarge", f"Request entity too large: limit is {MAX_BODY}")
