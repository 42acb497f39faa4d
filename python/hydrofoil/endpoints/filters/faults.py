"""The faults of a test server."""

from __future__ import annotations

from collections.abc import Awaitable

from msgspec.structs import replace

from hydrofoil import engine, errors
from hydrofoil.answer import Answer, Dropped, Line, Outcome
from hydrofoil.clock import Chance, Clock
from hydrofoil.controls.fault import Fault, Subject
from hydrofoil.controls.faults import Faults, at_start, versioned
from hydrofoil.controls.journal import Journal
from hydrofoil.controls.watching import OpenWatch
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, Filter, Handler
from hydrofoil.endpoints.filters.journal import own
from hydrofoil.endpoints.negotiate import body_media
from hydrofoil.endpoints.watching import Watching
from hydrofoil.endpoints.wire import cut_off
from hydrofoil.headers import CONTENT_TYPE
from hydrofoil.outbound.review import GENERIC, server_error
from hydrofoil.request import RequestInfo, refusal

HEALTH = ("/healthz", "/livez", "/readyz")
OTHERS = {
    403: ("Forbidden", "the server does not allow access to the requested resource"),
    410: ("Expired", "the requested version is too old"),
    413: ("RequestEntityTooLarge", "the request is too large"),
    415: ("UnsupportedMediaType", "the body of the request was in an unknown format"),
}
"""Reasons and messages of codes for which client-go has no words of its own, or others than a server."""


def generic(code: int, name: str) -> tuple[str, str]:
    """Return the reason and the message of a code for a fault that names none."""
    known = OTHERS.get(code) or GENERIC.get(code)
    return known or ("InternalError" if code >= 500 else "Unknown", server_error(name))


def faults(present: Faults, journal: Journal, clock: Clock, chance: Chance) -> Filter:
    """Let the faults that match a request act on it; watches are open ones from here on."""

    def meet(context: Context, inner: Handler) -> Awaitable[Answer]:
        watching = context.info.verb == "watch"
        if own(context) or not (watching or len(present)) or context.info.path.startswith(HEALTH):
            return inner(context)
        return _apply_faults(context, inner, present, journal, clock, chance)

    return meet


def outage(present: Faults) -> Filter:
    """Break the connection of each request while the server is down by a fault, before anything looks at it."""

    def meet(context: Context, inner: Handler) -> Awaitable[Answer]:
        if not len(present) or own(context):
            return inner(context)
        fault = present.down(Subject(context.info, "", context.headers.get("User-Agent", "")))
        if fault is None or not fault.act():
            return inner(context)
        _name(context, fault)
        return _refuse(context)

    return meet


async def _refuse(context: Context) -> Answer:
    raise _break_connection(context)


async def _apply_faults(
    context: Context, inner: Handler, present: Faults, journal: Journal, clock: Clock, chance: Chance
) -> Answer:
    named = context.info.verb == "create" and not context.info.name and any("name" in fault.match for fault in present)
    info = await _of_body(context) if named else context.info
    subject = Subject(info, context.user.name, context.request.headers.get("User-Agent", ""))
    watch = None
    if context.info.verb == "watch":
        watch = OpenWatch(subject, clock.now())
        watch.acted = lambda fault: _name(context, fault)

        def began(answer: Answer) -> None:
            if answer.stream is not None:
                if isinstance(answer.stream, Watching) and answer.stream.watch is not None:
                    watch.begin(answer.stream.watch)
                journal.open[watch] = None
                context.at_end(ended)

        def ended(_: Outcome) -> None:
            journal.open.pop(watch, None)

        context.at_start(began)
    chosen = present.about(subject, watch)
    for fault in chosen:
        if fault.action == "delay" and fault.act():
            _name(context, fault)
            low, high = fault.parameters["seconds"]
            await fault.delay(low if low == high else chance.between(low, high))
    for fault in chosen:
        if fault.action != "delay" and applies(fault, subject) and fault.act():
            _name(context, fault)
            return await _act(context, inner, fault)
    return await inner(context)


async def _of_body(context: Context) -> RequestInfo:
    """Return the attributes of a creation with the name in its body, which its path does not have."""
    info, data = context.info, await context.early_body()
    resource = context.registry.catalog.find(info.group, info.version, info.resource)
    if resource is None:
        return info
    try:
        media = body_media(
            context.request.headers.get(CONTENT_TYPE, ""), custom=resource.custom, cbor=context.parts.cbor
        )
        draft, _ = resource.native.decode(data, media)
    except (engine.DecodeError, errors.ApiError):
        # The handler refuses it.
        return info
    return replace(info, name=draft.metadata().name)


def applies(fault: Fault, subject: Subject) -> bool:
    """Report whether a fault changes the answer to a request that it matches."""
    if fault.action == "expire":
        return (subject.info.verb == "list" and versioned(subject)) or at_start(fault, subject)
    return not fault.on_streams


def _name(context: Context, fault: Fault) -> None:
    record = context.record
    if record is not None:
        record.fault = f"{record.fault}; {fault.name}" if record.fault else fault.name


async def _act(context: Context, inner: Handler, fault: Fault) -> Answer:
    given = fault.parameters
    if fault.action == "status":
        code = given["code"]
        reason, message = generic(code, fault.name)
        reason, message = given.get("reason", reason), given.get("message", message)
        retry = given.get("retry_after", 0)
        return respond.answer_error(context, errors.ApiError(code, reason, message, retry_after=retry))
    if fault.action == "deny":
        return respond.answer_error(context, refusal(context.user, context.info, given.get("message", "")))
    if fault.action == "expire":
        text = "The provided continue parameter is too old" if "continue=" in context.info.query else "too old"
        return respond.answer_error(context, errors.ApiError(410, "Expired", f"{text} resource version"))
    when = given.get("when", "before")
    if when == "before":
        raise _break_connection(context)
    answer = await inner(context)
    if when == "after":
        raise _break_connection(context)
    return _half(context, answer)


def _break_connection(context: Context) -> ConnectionError:
    """Break the connection; return the error that ends the request."""
    if context.record is not None:
        context.record.code = 0
    cut_off(context)
    return ConnectionResetError("a fault has cut the connection")


def _half(context: Context, answer: Answer) -> Answer:
    """Return the answer with half of its body, or of the first piece of a stream, and no more."""
    if answer.stream is None and not answer.body:
        raise _break_connection(context)
    if answer.stream is None:
        head = answer.head if answer.sized else b"%sContent-Length: %d\r\n" % (answer.head, len(answer.body))
        return Answer(answer.status, head, stream=Half(answer.body), sized=True)
    answer.breaks = True
    return answer


class Half:
    """The first half of a body, behind which the connection breaks."""

    def __init__(self, body: bytes) -> None:
        self._body = body[: len(body) // 2]

    async def write(self, line: Line) -> None:
        """Write it. Raise Dropped."""
        line.write(self._body)
        raise Dropped
