"""GET of a collection: whole, in pages, or at a past revision."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial

import orjson

from hydrofoil import engine, errors
from hydrofoil.answer import Answer, Outcome, Piece, Sink
from hydrofoil.apis.scheme import package
from hydrofoil.audit.event import AuditEvent
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.handlers.get import wait_for_revision
from hydrofoil.endpoints.memos import describe_list
from hydrofoil.endpoints.params import ListOptions, list_options, place
from hydrofoil.engine import ListCursor, Stored
from hydrofoil.pace.pacer import AnswerPacer
from hydrofoil.pace.sizes import LARGE
from hydrofoil.pool import run
from hydrofoil.registry.strategy import RowOrder
from hydrofoil.storage.collection import Uses
from hydrofoil.storage.errors import Expired, Future
from hydrofoil.watch import expired

CHUNK = 256 * 1024
"""The approximate size of the pieces in which lists are assembled and written."""


def selector(context: Context, labels: str, fields: str) -> engine.Selector:
    """Return the selectors of a request. Raise ApiError 400 with upstream's messages."""
    try:
        return engine.Selector(context.resource.native, context.info.namespace, labels, fields)
    except ValueError as e:
        raise errors.bad_request(str(e)) from None


def read_options(context: Context, *, watch: bool) -> ListOptions:
    """Return the options of a list or watch. Raise ApiError 400 and 422."""

    def readable(options: ListOptions) -> None:
        try:
            selector(context, options.labels, options.fields)
        except errors.ApiError as e:
            # An unsupported field is found later.
            if "field" not in e.message or "invalid" in e.message:
                raise

    # The prefix form of a watch is a watch whatever its parameters are, and these are read as those of a list.
    return list_options(context.params, watch=watch, selectors=readable)


async def open_list(context: Context, options: ListOptions, form: str) -> tuple[ListCursor, int]:
    """Return the cursor of a list and the effective limit (RV-07 to RV-25)."""
    chosen = selector(context, options.labels, options.fields)
    limit, revision, start = max(options.limit, 0), 0, ""
    collection = context.collection
    if options.token:
        at, start = place(options.token)
        revision = max(at, 0)
        if not (revision and collection.ready(revision)):
            await wait_for_revision(context, None)
        if options.revision == 0:
            limit = 0
    elif options.revision == 0:
        limit = 0
    elif options.revision is None:
        try:
            if not collection.ready():
                await wait_for_revision(context, None)
        except errors.ApiError:
            collection.uses.lagged += 1
            raise
        collection.uses.consistent += 1
    else:
        await wait_for_revision(context, options.revision)
        if options.match == "Exact" or (limit and not options.match):
            revision = options.revision
    try:
        return await context.registry.select(context.resource, chosen, form, limit, revision, start), limit
    except Expired:
        if options.token:
            raise expired.continue_token(start) from None
        raise expired.list_version() from None
    except Future as e:
        raise errors.too_large_version(e.asked, e.current) from None


def check_transform(context: Context) -> None:
    """Raise ApiError 406 for a client that requests a list as a single object."""
    if context.accepted.transform == "PartialObjectMetadata":
        text = "you requested PartialObjectMetadata, but the requested object is a list "
        named = f"{package(context.resource.group)}.{context.resource.list_kind}"
        text += f"(*{'unstructured.UnstructuredList' if context.resource.custom else named})"
        raise errors.ApiError(406, "NotAcceptable", text)


async def list_(context: Context) -> Answer:
    """Return a list: small ones in one piece, large ones streamed as they are assembled."""
    options = read_options(context, watch=False)
    cursor, limit = await open_list(context, options, respond.form(context))
    check_transform(context)
    if context.audit is not None and context.audit.wants_response:
        await record(context, options, context.audit)
    if context.accepted.yaml or respond.pretty(context) or row_order(context) is not None:
        context.at_end(partial(count_list, context.collection.uses, cursor))
        return await answer_assembled_list(context, cursor, limit)
    if respond.wants_gzip(context) and await exceeds(cursor, respond.GZIP_ABOVE):
        cursor = cursor.packed()
    context.at_end(partial(count_list, context.collection.uses, cursor))
    begin, end = await ends(context, cursor, limit)
    parts = [cursor.open(begin)]
    size = 0
    while size <= CHUNK:
        more = await chunk(cursor)
        if more is None:
            if not size and nothing_is_null(context) and not context.accepted.binary:
                return respond.answer_body(context, b"%snull}\n" % begin[:-1])
            if context.memo is not None and not cursor.is_packed:
                empty = context.accepted.binary or not nothing_is_null(context)
                chosen = selector(context, options.labels, options.fields)
                describe_list(context, context.memo, options, (chosen, limit, empty))
            parts.append(cursor.close(end))
            return respond.answer_body(context, b"".join(parts), packed=cursor.is_packed)
        parts += more
        size += sum(map(len, more))
    return stream(context, cursor, parts, end)


def count_list(uses: Uses, cursor: ListCursor, _outcome: Outcome) -> None:
    """Count a list, and its objects."""
    uses.lists += 1
    uses.fetched += cursor.fetched
    uses.returned += cursor.returned


async def record(context: Context, options: ListOptions, event: AuditEvent) -> None:
    """Add the whole list to the audit record, as JSON."""
    cursor, limit = await open_list(context, options, respond.form(context).in_json)
    begin = await head(cursor, limit)
    parts, pacer = [begin], AnswerPacer()
    while (more := await chunk(cursor)) is not None:
        parts += more
        await pacer.pause()
    empty = len(parts) == 1 and nothing_is_null(context)
    body = b"%snull}" % begin[:-1] if empty else b"".join([*parts, b"]}"])
    await run(event.responded, body, pooled=len(body) > LARGE)


async def chunk(cursor: ListCursor) -> list[bytes] | None:
    """Return the next parts; on a thread if they must be searched, encoded or compressed."""
    if cursor.cheap():
        return cursor.chunk(CHUNK, near=True)
    return await asyncio.get_running_loop().run_in_executor(None, cursor.chunk, CHUNK)


async def versions(cursor: ListCursor, most: int) -> list[Stored]:
    """Return the next objects; on a thread if they must be searched. Empty at the end."""
    if cursor.near():
        return cursor.versions(most, near=True)
    return await run(cursor.versions, most, pooled=True)


async def exceeds(cursor: ListCursor, size: int) -> bool:
    """Report whether the items are longer than a size in bytes."""
    known = cursor.exceeds(size, near=True) if cursor.cheap() else None
    return await run(cursor.exceeds, size, pooled=True) if known is None else known


async def ahead(cursor: ListCursor) -> tuple[int, tuple[str, int | None] | None]:
    """Return the length or number of all items of the page, and where the next one begins."""
    found = cursor.ahead(near=True)
    return await asyncio.get_running_loop().run_in_executor(None, cursor.ahead) if found is None else found


async def ends(context: Context, cursor: ListCursor, limit: int) -> tuple[bytes, bytes]:
    """Return the text before and after the items. The metadata is first, and describes what follows the last item."""
    if context.accepted.protobuf:
        # One protobuf message: its length precedes its content.
        length, left = await ahead(cursor)
        return cursor.envelope(length, *rest(cursor, left)), engine.ENVELOPE_TAIL
    if context.accepted.cbor:
        count, left = await ahead(cursor)
        return cursor.cbor_head(count, members(cursor, left)), b""
    return await head(cursor, limit), b"]}\n"


async def head(cursor: ListCursor, limit: int) -> bytes:
    """Return the text before the items of a JSON list."""
    return cursor.head(members(cursor, (await ahead(cursor))[1] if limit else None))


def members(cursor: ListCursor, left: tuple[str, int | None] | None) -> str:
    """Return the members of the metadata after the resourceVersion."""
    token, remaining = rest(cursor, left)
    out = f',"continue":"{token}"' if token else ""
    return out + (f',"remainingItemCount":{remaining}' if remaining else "")


def rest(cursor: ListCursor, left: tuple[str, int | None] | None) -> tuple[str, int | None]:
    """Return the continue token and the number of remaining objects, of a list that continues after this page."""
    if left is None:
        return "", None
    return engine.encode_continue(cursor.revision, left[0]), left[1] or None


def nothing_is_null(context: Context) -> bool:
    """Report whether upstream leaves the items of an empty metadata list, or the rows of an unprinted table, null."""
    if context.accepted.transform == "Table":
        return context.resource.default_table
    return bool(context.accepted.transform)


def row_order(context: Context) -> RowOrder | None:
    """Return the order of the rows of a table that are not in that of their names."""
    if context.accepted.transform != "Table":
        return None
    return context.registry.strategy(context.resource).row_order(context.resource)


SORTED = 1 << 20
"""The size in bytes above which a table is not sorted: more flow schemas than any cluster has."""


async def answer_assembled_list(context: Context, cursor: ListCursor, limit: int) -> Answer:
    """Return a list that is assembled as JSON, then indented, converted to YAML or sorted."""
    begin, end = await ends(context, cursor, limit)
    parts, pacer = [begin], AnswerPacer()
    while (more := await chunk(cursor)) is not None:
        parts += more
        await pacer.pause()
    if len(parts) == 1 and nothing_is_null(context):
        return respond.json(context, b"%snull}\n" % begin[:-1])
    parts.append(end)
    order = row_order(context)
    if order is not None and sum(map(len, parts)) < SORTED:
        table = orjson.loads(b"".join(parts))
        table["rows"].sort(key=order)
        parts = [orjson.dumps(table) + b"\n"]
    return await respond.answer_json_parts(context, parts)


def stream(context: Context, cursor: ListCursor, begun: list[bytes], end: bytes) -> Answer:
    """Return a large list as a stream."""
    return respond.answer_stream(context, Listing(cursor, begun, end), context.accepted.media, packed=cursor.is_packed)


class Listing:
    """The body of a large list: each piece is made when the reader has taken the last one."""

    def __init__(self, cursor: ListCursor, begun: list[bytes], end: bytes) -> None:
        self.cursor = cursor
        """The cursor, which counts the objects that were fetched and returned."""
        self._begun = begun
        """The first parts, which are made already."""
        self._end = end

    async def write(self, sink: Sink) -> None:
        """Write the list."""
        parts: list[bytes] | None = self._begun
        while parts is not None:
            for piece in pieces(parts):
                sink.write(*piece)
                await sink.drained()
            parts = await chunk(self.cursor)
        if end := self.cursor.close(self._end):
            sink.write(end)


def pieces(parts: list[bytes]) -> Iterator[list[Piece]]:
    """Yield parts in write sizes: small ones together, a large one in slices."""
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
