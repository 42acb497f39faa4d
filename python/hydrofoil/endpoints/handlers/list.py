"""GET of a collection: whole, in pages, or at a past revision."""

from __future__ import annotations

import zlib

from aiohttp import web

from hydrofoil import engine, errors
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.handlers.get import reached
from hydrofoil.endpoints.params import ListOptions, list_options
from hydrofoil.endpoints.scope import Scope
from hydrofoil.engine import ListCursor
from hydrofoil.storage.backend import Expired, Future

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
        if options.revision == 0:
            limit = 0
    elif options.revision == 0:
        limit = 0
    elif options.revision is not None:
        if options.revision > scope.registry.backend.revision:
            await reached(scope, options.revision)
        if options.match == "Exact" or (limit and not options.match):
            revision = options.revision
    try:
        cursor = collection.list(resource, chosen, form, limit, revision, start)
        if scope.resource.webhook:
            await scope.registry.show(scope.resource, cursor.pending())
        return cursor, limit
    except Expired:
        if options.token:
            raise errors.gone(TOO_OLD, engine.encode_continue(-1, start)) from None
        raise errors.gone("The resourceVersion for the provided list is too old.") from None
    except Future as e:
        raise errors.too_large_version(e.asked, e.current) from None


def rest(cursor: ListCursor) -> str:
    """The members of the list's metadata after its resourceVersion."""
    left = cursor.rest()
    if left is None:
        return ""
    start, remaining = left
    out = f',"continue":"{engine.encode_continue(cursor.revision, start)}"'
    if remaining:
        out += f',"remainingItemCount":{remaining}'
    return out


async def list_(scope: Scope) -> web.StreamResponse:
    """A list: small ones in one piece, large ones streamed as they are put together."""
    if scope.accepted.transform == "PartialObjectMetadata":
        text = "you requested PartialObjectMetadata, but the requested object is a list "
        text += f"(*{scope.resource.group or 'core'}.{scope.resource.list_kind})"
        raise errors.ApiError(406, "NotAcceptable", text)
    options = list_options(scope.params, watch=False)
    cursor, limit = await open_list(scope, options, scope.form())
    if scope.accepted.protobuf:
        return scope.finished(protobuf(cursor))
    end = b"]}\n"
    first = cursor.chunk(CHUNK)
    if first is None:
        # Upstream's default table convertor leaves the rows of an empty table null; its printers make a list.
        head = cursor.head("")
        null = scope.accepted.transform == "Table" and scope.resource.default_table
        empty = head[:-1] + b"null}\n" if null else head + end
        return scope.json_answer(empty)
    pieces = [first]
    # The metadata comes first, and with a limit it tells what follows the last item.
    whole = bool(limit) or scope.accepted.yaml or scope.pretty()
    while whole or len(pieces) < 2:
        piece = cursor.chunk(CHUNK)
        if piece is None:
            return scope.json_answer(b"".join((cursor.head(rest(cursor)), *pieces, end)))
        pieces.append(piece)
    return await stream(scope, cursor, [cursor.head(""), *pieces], end)


def protobuf(cursor: ListCursor) -> bytes:
    """A list as one message: its length stands before its content."""
    pieces: list[bytes] = []
    while (piece := cursor.chunk(CHUNK)) is not None:
        pieces.append(piece)
    left = cursor.rest()
    token = engine.encode_continue(cursor.revision, left[0]) if left else ""
    remaining = left[1] or None if left else None
    return cursor.protobuf(b"".join(pieces), token, remaining)


async def stream(scope: Scope, cursor: ListCursor, begun: list[bytes], end: bytes) -> web.StreamResponse:
    """Writes a large list piece by piece, each when the reader has taken the one before."""
    request = scope.request
    transport = request.transport
    packer = zlib.compressobj(1, zlib.DEFLATED, 31) if respond.wants_gzip(request) else None
    chunked = request.version >= (1, 1)
    close = not chunked or respond.closes(request)
    if transport is None:
        return respond.Streamed(200, close=True)
    head = b"HTTP/1.1 200 OK\r\n" + scope.common + respond.header_lines({}, scope.warnings) + respond.CLOCK.line()
    head += b"Content-Type: %s\r\n" % scope.accepted.media.encode()
    if packer:
        head += b"Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n"
    if chunked:
        head += b"Transfer-Encoding: chunked\r\n"
    if close:
        head += b"Connection: close\r\n"
    transport.write(head + b"\r\n")

    async def write(piece: bytes) -> None:
        if packer:
            piece = packer.compress(piece)
        if piece:
            transport.writelines((b"%x\r\n" % len(piece), piece, b"\r\n") if chunked else (piece,))
            await request.protocol._drain_helper()

    for piece in begun:
        await write(piece)
    begun.clear()
    while (more := cursor.chunk(CHUNK)) is not None:
        await write(more)
        if transport.is_closing():
            return respond.Streamed(200, close=True)
    await write(end)
    if packer:
        tail = packer.flush()
        packer = None
        await write(tail)
    if chunked:
        transport.write(b"0\r\n\r\n")
    return respond.Streamed(200, close=close)
