"""The journal of a test server: a record of each request."""

from __future__ import annotations

from collections.abc import Awaitable

from hydrofoil.answer import Answer, Outcome, Piece
from hydrofoil.clock import Clock, stopwatch
from hydrofoil.controls.journal import Journal
from hydrofoil.controls.record import KEPT, Record, made_name, truncate_body
from hydrofoil.endpoints.context import Context, Filter, Handler
from hydrofoil.endpoints.origin import CONTROLS
from hydrofoil.endpoints.params import parse
from hydrofoil.endpoints.wire import is_own


def own(context: Context) -> bool:
    """Report whether a request belongs to the test's controls, or to the server itself."""
    return context.target.startswith(CONTROLS) or is_own(context)


def journal(records: Journal, clock: Clock) -> Filter:
    """Record each request before the last byte of its answer is written; a watch with its head."""

    def note(context: Context, inner: Handler) -> Awaitable[Answer]:
        return inner(context) if own(context) else _record_request(context, inner, records, clock)

    return note


async def _record_request(context: Context, inner: Handler, records: Journal, clock: Clock) -> Answer:
    begun = stopwatch()
    path, _, query = context.target.partition("?")
    record = Record(context.method, path, parse(query), agent=context.headers.get("User-Agent", ""))
    record.started = clock.now()
    context.keeps_body = True
    context.record = record
    body = Body(record)

    def fill() -> None:
        record.identify(context.info)
        record.user = context.user.name
        record.request_bytes = context.sent
        if context.received:
            record.body = truncate_body(record, context.received)

    def started(answer: Answer) -> None:
        record.code = answer.status
        if context.info.verb == "watch":
            fill()
            records.add(record)

    def ended(_: Outcome) -> None:
        record.duration = stopwatch() - begun
        fill()
        if body.head is not None:
            record.answer = truncate_body(record, bytes(body.kept), body.head)
        if record.verb == "create" and not record.name and record.resource:
            record.name = made_name(record)
        if record.number:
            records.changed(record)
        else:
            records.add(record)

    context.at_start(started)
    context.at_end(ended)
    answer = await inner(context)
    body.of(answer)
    return answer


class Body:
    """The beginning of the body of an answer, and its size."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self.kept = bytearray()
        self.head: bytes | None = None
        """The head of the answer; None before there is one."""

    def of(self, answer: Answer) -> None:
        """Take the body of an answer; of a stream, while it is written."""
        self.head = answer.head
        if answer.stream is None:
            self.take(answer.body)
        elif not answer.takes_over:
            answer.tap = self.take

    def take(self, piece: Piece) -> None:
        """Count a piece."""
        self._record.response_bytes += len(piece)
        if (left := KEPT - len(self.kept)) > 0:
            self.kept += piece[:left]
