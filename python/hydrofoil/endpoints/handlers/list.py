"""GET of a collection: whole, in pages, or at a past revision."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator

import orjson
from aiohttp import web

from hydrofoil import engine, errors
from hydrofoil.apis.scheme import package
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.handlers.get import reached
from hydrofoil.endpoints.params import ListOptions, list_options
from hydrofoil.endpoints.scope import Scope
from hydrofoil.engine import ListCursor
from hydrofoil.registry.pool import run
from hydrofoil.storage.errors import Expired, Future

LOG = logging.getLogger("hydrofoil")
CHUNK = 256 * 1024
"""Lists are put together and written in pieces of about this size."""

TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)


def selector(scope: Scope, labels: str, fields: str) -> engine.Selector:
    """What a request selects. Raises 400 with upstream's texts."""
    try:
        return engine.Selector(scope.resource.native, scope.info.namespace, labels, fields)
    except ValueError as e:
        raise errors.bad_request(str(e)) from None


def read_options(scope: Scope, *, watch: bool) -> ListOptions:
    """The options of a list or watch. Raises 400 and 422."""

    def readable(options: ListOptions) -> None:
        try:
            selector(scope, options.labels, options.fields)
        except errors.ApiError as e:
            # That a field is none to select by is found later.
            if "field" not in e.message or "invalid" in e.message:
                raise

    # The old form of a watch is one whatever its parameters say, and these are read as those of a list.
    return list_options(scope.params, watch=watch, selectors=readable)


async def open_list(scope: Scope, options: ListOptions, form: str) -> tuple[ListCursor, int]:
    """The cursor of a list and the limit that holds (RV-07 to RV-25)."""
    chosen = selector(scope, options.labels, options.fields)
    limit, revision, start = max(options.limit, 0), 0, ""
    resource, collection = scope.resource.native, scope.collection
    if options.token:
        try:
            at, start = engine.decode_continue(options.token)
        except ValueError as e:
            raise errors.bad_request(f"invalid continue token: {e}") from None
        revision = max(at, 0)
        if not (revision and collection.ready(revision)):
            await reached(scope, None)
        if options.revision == 0:
            limit = 0
    elif options.revision == 0:
        limit = 0
    elif options.revision is None:
        await reached(scope, None)
    else:
        await reached(scope, options.revision)
        if options.match == "Exact" or (limit and not options.match):
            revision = options.revision
    try:
        cursor = collection.list(resource, chosen, form, limit, revision, start)
        if scope.resource.webhook:
            # What is selected by its fields may only be known when it was converted: then there may be more.
            while pending := cursor.pending():
                await scope.registry.show(scope.resource, pending)
        return cursor, limit
    except Expired:
        if options.token:
            raise errors.gone(TOO_OLD, engine.encode_continue(-1, start)) from None
        raise errors.gone("The resourceVersion for the provided list is too old.") from None
    except Future as e:
        raise errors.too_large_version(e.asked, e.current) from None


def check_transform(scope: Scope) -> None:
    """Raises 406 when a client wants a list as one object."""
    if scope.accepted.transform == "PartialObjectMetadata":
        text = "you requested PartialObjectMetadata, but the requested object is a list "
        text += f"(*{package(scope.resource.group)}.{scope.resource.list_kind})"
        raise errors.ApiError(406, "NotAcceptable", text)


async def list_(scope: Scope) -> web.StreamResponse:
    """A list: small ones in one piece, large ones streamed as they are put together."""
    options = read_options(scope, watch=False)
    cursor, limit = await open_list(scope, options, scope.form())
    check_transform(scope)
    if scope.accepted.yaml or scope.pretty() or by_precedence(scope):
        return await rewritten(scope, cursor, limit)
    if respond.wants_gzip(scope.request) and await run(cursor.exceeds, respond.GZIP_ABOVE, pooled=not cursor.cheap()):
        cursor = cursor.packed()
    begin, end = await ends(scope, cursor, limit)
    parts = [cursor.open(begin)]
    size = 0
    while size <= CHUNK:
        more = await chunk(cursor)
        if more is None:
            if not size and nothing_is_null(scope) and not scope.accepted.binary:
                return scope.finished(b"%snull}\n" % begin[:-1])
            parts.append(cursor.close(end))
            return scope.finished(b"".join(parts), packed=cursor.is_packed)
        parts += more
        size += sum(map(len, more))
    return await stream(scope, cursor, parts, end)


async def chunk(cursor: ListCursor) -> list[bytes] | None:
    """The next parts; on a thread when they have yet to be encoded or packed."""
    if cursor.cheap():
        return cursor.chunk(CHUNK)
    return await asyncio.get_running_loop().run_in_executor(None, cursor.chunk, CHUNK)


async def ends(scope: Scope, cursor: ListCursor, limit: int) -> tuple[bytes, bytes]:
    """What stands before and after the items. The metadata comes first, and tells what follows the last item."""
    if scope.accepted.protobuf:
        # One message: its length stands before its content.
        ahead = cursor.ahead
        length, left = ahead() if cursor.short() else await asyncio.get_running_loop().run_in_executor(None, ahead)
        return cursor.envelope(length, *rest(cursor, left)), engine.ENVELOPE_TAIL
    if scope.accepted.cbor:
        count, left = cursor.ahead()
        return cursor.cbor_head(count, members(cursor, left)), b""
    return head(cursor, limit), b"]}\n"


def head(cursor: ListCursor, limit: int) -> bytes:
    """What stands before the items of a list of JSON."""
    return cursor.head(members(cursor, cursor.ahead()[1] if limit else None))


def members(cursor: ListCursor, left: tuple[str, int | None] | None) -> str:
    """The members of the metadata after the resourceVersion."""
    token, remaining = rest(cursor, left)
    out = f',"continue":"{token}"' if token else ""
    return out + (f',"remainingItemCount":{remaining}' if remaining else "")


def rest(cursor: ListCursor, left: tuple[str, int | None] | None) -> tuple[str, int | None]:
    """The continue token and the number of objects that follow, of a list that goes on after this page."""
    if left is None:
        return "", None
    return engine.encode_continue(cursor.revision, left[0]), left[1] or None


def nothing_is_null(scope: Scope) -> bool:
    """Whether upstream leaves the items of an empty metadata list null, or the rows of a table that no printer made."""
    if scope.accepted.transform == "Table":
        return scope.resource.default_table
    return bool(scope.accepted.transform)


def by_precedence(scope: Scope) -> bool:
    """Whether rows come in the order in which flow schemas are matched, as upstream's printer has them."""
    return scope.accepted.transform == "Table" and scope.resource.plural == "flowschemas"


SORTED = 1 << 20
"""The largest table that is put into another order, in bytes: as many flow schemas as nobody has."""
PRECEDENCE = 2
"""The column of a flow schema's precedence."""


async def rewritten(scope: Scope, cursor: ListCursor, limit: int) -> web.StreamResponse:
    """A list for people: put together as JSON, then indented, made YAML or sorted."""
    begin, end = await ends(scope, cursor, limit)
    parts = [begin]
    while (more := await chunk(cursor)) is not None:
        parts += more
    if len(parts) == 1 and nothing_is_null(scope):
        return scope.json_answer(b"%snull}\n" % begin[:-1])
    parts.append(end)
    if by_precedence(scope) and sum(map(len, parts)) < SORTED:
        table = orjson.loads(b"".join(parts))
        table["rows"].sort(key=lambda row: (row["cells"][PRECEDENCE], row["cells"][0]))
        parts = [orjson.dumps(table) + b"\n"]
    return await scope.rewritten(parts)


async def stream(scope: Scope, cursor: ListCursor, begun: list[bytes], end: bytes) -> web.StreamResponse:
    """Writes a large list piece by piece, each when the reader has taken the one before."""
    request = scope.request
    transport = request.transport
    chunked = request.version >= (1, 1)
    close = not chunked or respond.closes(request)
    if transport is None:
        return respond.Streamed(200, close=True)
    head = b"HTTP/1.1 200 OK\r\n" + scope.common + respond.header_lines({}, scope.warnings) + respond.CLOCK.line()
    head += b"Content-Type: %s\r\n" % scope.accepted.media.encode()
    if cursor.is_packed:
        head += respond.GZIPPED
    if chunked:
        head += b"Transfer-Encoding: chunked\r\n"
    if close:
        head += b"Connection: close\r\n"
    transport.write(head + b"\r\n")
    try:
        async with asyncio.timeout(scope.request_timeout):
            return await written(scope, cursor, begun, end, chunked=chunked, close=close)
    except errors.FAULTS as e:
        # No Status can follow what has been begun: only a broken connection can tell.
        if not isinstance(e, TimeoutError | ConnectionError):
            LOG.exception("a list broke off")
        transport.abort()
        return respond.Streamed(200, close=True)
    except asyncio.CancelledError:
        # No Status can follow what has been begun: as upstream's, a list that takes too long is cut off.
        transport.abort()
        raise


async def written(
    scope: Scope, cursor: ListCursor, begun: list[bytes], end: bytes, *, chunked: bool, close: bool
) -> web.StreamResponse:
    """Writes the pieces of a list after its head."""
    request = scope.request
    transport = request.transport
    assert transport is not None
    parts: list[bytes] | None = begun
    while parts is not None:
        for piece in pieces(parts):
            transport.writelines((b"%x\r\n" % sum(map(len, piece)), *piece, b"\r\n") if chunked else piece)
            await request.protocol._drain_helper()
        if transport.is_closing():
            return respond.Streamed(200, close=True)
        parts = await chunk(cursor)
    end = cursor.close(end)
    if not chunked:
        transport.write(end)
    else:
        # An empty chunk is the end: what has nothing to say after its items says nothing.
        transport.write((b"%x\r\n%s\r\n" % (len(end), end) if end else b"") + b"0\r\n\r\n")
    return respond.Streamed(200, close=close)


def pieces(parts: list[bytes]) -> Iterator[list[bytes | memoryview]]:
    """Parts as what is written at a time: small ones together, a large one in slices."""
    if sum(map(len, parts)) <= 2 * CHUNK:
        yield list(parts)
        return
    for part in parts:
        if len(part) <= 2 * CHUNK:
            yield [part]
            continue
        view = memoryview(part)
        for at in range(0, len(part), CHUNK):
            yield [view[at : at + CHUNK]]
