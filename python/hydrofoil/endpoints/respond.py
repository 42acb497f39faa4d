"""Answers with objects, lists, documents and errors, in the negotiated form."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Sequence

import orjson

from hydrofoil import engine
from hydrofoil.answer import NOSNIFF, Answer, Stream
from hydrofoil.apiextensions.review import ConversionFailed
from hydrofoil.apis.scheme import package
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.negotiate import PLAIN, PROTOBUF, Accepted, negotiate
from hydrofoil.endpoints.params import parse
from hydrofoil.engine import Stored
from hydrofoil.errors import ApiError, bad_request, internal
from hydrofoil.headers import ACCEPT, ACCEPT_ENCODING, USER_AGENT
from hydrofoil.options import TRUE
from hydrofoil.pace.sizes import LARGE
from hydrofoil.pool import run

LOG = logging.getLogger("hydrofoil")
GZIP_ABOVE = 131_072
"""The size in bytes above which bodies are compressed for clients that accept gzip (CP-01)."""
GZIPPED = b"Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n"


def warning_lines(warnings: list[str]) -> bytes:
    """Return a Warning line for each warning."""
    return "".join(f"Warning: {w}\r\n" for w in warning_values(warnings)).encode() if warnings else b""


def warning_values(warnings: list[str]) -> list[str]:
    """Return RFC 9110 warning values, each once (apiserver `filters/warning.go`).

    If all together exceed 4096 characters, each is cut to 256, and the list ends once the cut ones exceed 4096.
    """
    texts = list(dict.fromkeys("".join(c for c in w if c.isprintable()) for w in warnings))
    total = 0
    cut = False
    out: list[str] = []
    for text in texts:
        if cut and total >= 4096:
            break
        out.append(text)
        total += len(text)
        if cut or total > 4096:
            # The warning that exceeds the limit is still sent, like all before it.
            cut = True
            out = [o[:256] for o in out]
            total = sum(map(len, out))
    return ['299 - "' + o.replace("\\", "\\\\").replace('"', '\\"') + '"' for o in out]


def read_by_people(context: Context, given: str | None, accepted: Accepted) -> bool:
    """Report whether to indent: `given` is the parameter `pretty`; curl, Wget and browsers get indented text.

    A media type with `pretty=1` is indented in any case.
    """
    if given and not accepted.pretty:
        return given in TRUE
    return accepted.pretty or context.headers.get(USER_AGENT, "").startswith(("curl", "Wget", "Mozilla/5.0"))


def pretty(context: Context) -> bool:
    """Report whether to indent the answer of a handler."""
    return not context.accepted.binary and read_by_people(context, context.params.get("pretty"), context.accepted)


def wants_gzip(context: Context) -> bool:
    """Report whether the client accepts gzip, as upstream reads the header: the bare token."""
    value = context.headers.get(ACCEPT_ENCODING, "")
    if "gzip" not in [t.strip() for t in value.split(",")]:
        return False
    return context.parts.compresses or context.info.path.startswith("/openapi/")


def encode(data: bytes, accepted: Accepted, *, pretty: bool) -> bytes:
    """Encode a JSON body in the negotiated media type."""
    if accepted.yaml:
        return engine.json_to_yaml(data)
    if accepted.cbor:
        return engine.json_to_cbor(data)
    if pretty:
        return engine.pretty(data)
    return data if data.endswith(b"\n") else data + b"\n"


def answer(
    context: Context, status: int, body: bytes, media: str, head: bytes | None = None, *, packed: bool = False
) -> Answer:
    """Return an answer of a media type; compress a large body for a client that accepts it, unless it is `packed`."""
    head = b"%sContent-Type: %s\r\n" % (context.common if head is None else head, media.encode())
    if packed:
        return Answer(status, head + GZIPPED, body)
    return compress(context, Answer(status, head, body))


def compress(context: Context, made: Answer) -> Answer:
    """Compress a large body for a client that accepts gzip."""
    if len(made.body) > GZIP_ABOVE and wants_gzip(context):
        packer = zlib.compressobj(1, zlib.DEFLATED, 31)
        made.body = packer.compress(made.body) + packer.flush()
        made.head += GZIPPED
    return made


def answer_body(context: Context, body: bytes, status: int = 200, *, packed: bool = False) -> Answer:
    """Return a handler's answer with a finished body, in its media type and possibly compressed."""
    head = context.common
    if context.warnings:
        head += warning_lines(context.warnings)
    return answer(context, status, body, context.accepted.media, head, packed=packed)


def answer_stream(
    context: Context, stream: Stream, media: str, *, packed: bool = False, framed: bool = False
) -> Answer:
    """Return a handler's answer that is written in pieces; `framed`: the pieces are chunks already."""
    head = b"%s%sContent-Type: %s\r\n" % (context.common, warning_lines(context.warnings), media.encode())
    return Answer(200, head + GZIPPED if packed else head, stream=stream, framed=framed)


def json(context: Context, body: bytes, status: int = 200) -> Answer:
    """Return a handler's answer from JSON text, in the negotiated media type."""
    if context.audit is not None:
        context.audit.responded(body)
    accepted = context.accepted
    if accepted.protobuf:
        return answer_body(context, context.registry.catalog.protobuf(body), status)
    if accepted.cbor:
        return answer_body(context, engine.json_to_cbor(body), status)
    people = pretty(context)
    if accepted.yaml or people:
        body = encode(body, accepted, pretty=people)
    return answer_body(context, body, status)


async def answer_json_parts(context: Context, parts: Sequence[bytes]) -> Answer:
    """Return a handler's answer from JSON text in parts; encode a large one off the loop."""
    return await run(lambda: json(context, b"".join(parts)), pooled=sum(map(len, parts)) > LARGE)


class Form(str):
    """What objects are written as: the text that native code parses, `encoding` or `encoding:shape:...`."""

    __slots__ = ()

    @property
    def in_json(self) -> Form:
        """Return the same form in JSON."""
        _, colon, shape = self.partition(":")
        return Form(f"json{colon}{shape}")

    @property
    def is_object(self) -> bool:
        """Report whether it is the whole object, in any encoding."""
        return ":" not in self

    @property
    def is_table(self) -> bool:
        """Report whether it is a row of a table."""
        return ":table:" in self


IN_JSON, IN_PROTOBUF, IN_CBOR = Form("json"), Form("protobuf"), Form("cbor")


def form(context: Context) -> Form:
    """Return the native form of an answer with one object."""
    accepted = context.accepted
    if accepted.transform == "Table":
        include = context.params.get("includeObject", "") or "Metadata"
        if include not in ("None", "Metadata", "Object"):
            text = f"includeObject: Invalid value: \"{include}\": must be 'Metadata', 'Object', 'None', or empty"
            raise bad_request(f"Unable to convert to Table as requested: {text}")
        return Form(f"json:table:{accepted.version}:{include}")
    encoding = IN_PROTOBUF if accepted.protobuf else IN_CBOR if accepted.cbor else IN_JSON
    return Form(f"{encoding}:metadata:{accepted.version}") if accepted.transform else encoding


def object_answer(context: Context, stored: Stored, status: int = 200) -> Answer:
    """Return a handler's answer with one object."""
    if context.accepted.transform == "PartialObjectMetadataList":
        text = (
            "you requested PartialObjectMetadataList, but the requested object is not a list "
            f"(*{package(context.resource.group)}.{context.resource.kind})"
        )
        raise ApiError(406, "NotAcceptable", text)
    shape, clock = form(context), context.parts.clock.native
    body = stored.body(shape, clock)
    if not context.accepted.binary:
        return json(context, body, status)
    if context.audit is not None and context.audit.wants_response:
        context.audit.responded(stored.body(shape.in_json, clock))
    return answer_body(context, body, status)


async def answer_object(context: Context, stored: Stored, status: int = 200) -> Answer:
    """Return a handler's answer with one object; encode a large one off the loop."""
    if stored.size <= LARGE:
        return object_answer(context, stored, status)
    return await run(object_answer, context, stored, status, pooled=True)


def status_body(error: ApiError) -> bytes:
    """Return the Status of an error as JSON."""
    body = orjson.dumps(error.status())
    # As Go's encoder writes strings.
    return body.replace(b"<", b"\\u003c").replace(b">", b"\\u003e").replace(b"&", b"\\u0026")


def answer_error(context: Context, error: ApiError) -> Answer:
    """Return the answer for an error, in the negotiated form; indented JSON if absent."""
    body = status_body(error)
    if context.audit is not None and not error.message.startswith("406"):
        # No route takes a request whose media types none produces: upstream's router answers without a Status.
        context.audit.refused(error)
    head = context.common
    if context.warnings:
        # Warnings added before the failure.
        head += warning_lines(context.warnings)
    accept = context.headers.get(ACCEPT, "")
    accepted = accepted_or_none(accept, cbor=context.parts.cbor and not error.foundation)
    if accepted is None:
        accepted, body = PLAIN, engine.pretty(body)
    elif accepted.protobuf:
        body = context.registry.catalog.protobuf(body)
    else:
        query = context.info.query
        given = parse(query).get("pretty") if "pretty" in query else None
        body = encode(body, accepted, pretty=read_by_people(context, given, accepted))
    media = PROTOBUF if accepted.protobuf else accepted.media
    return answer(context, error.code, body, media, head + error_lines(error))


def accepted_or_none(accept: str, *, cbor: bool = False) -> Accepted | None:
    """Return the form of an error; None if negotiation fails."""
    try:
        return negotiate(accept, cbor=cbor, untransformed=True, routed=False)
    except ApiError:
        return None


def error_lines(error: ApiError) -> bytes:
    """Return the header lines of an error."""
    lines = b"Retry-After: %d\r\n" % error.retry_after if error.retry_after else b""
    return lines + (NOSNIFF if error.unauthorized else b"")


def answer_fault(context: Context, fault: BaseException) -> Answer:
    """Return the 500 for a fault, and log it. Rely on nothing that could fail as well."""
    LOG.error("request failed", exc_info=fault, extra={"fields": context.fields()})
    if context.audit is not None:
        context.audit.panicked(fault)
    body = status_body(internal(fault)) + b"\n"
    return Answer(500, context.common + b"Content-Type: application/json\r\n", body)


def conversion_pending(context: Context, why: str) -> ApiError:
    """Return the error for stored objects that cannot be converted: upstream's cache of them is not ready then."""
    if context.verb not in ("list", "watch"):
        return ApiError(500, "", why)
    resource = context.resource
    listed = f"failed to list {resource.api_version}, Kind={resource.kind}"
    text = f"storage is (re)initializing: {listed}: {why}"
    return ApiError(429, "TooManyRequests", text, {}, retry_after=1)


def failure(context: Context, fault: BaseException) -> Answer:
    """Return the answer for an exception of a handler, or of a stream before its head."""
    reads = context.verb in ("list", "watch")
    if isinstance(fault, engine.ConversionError) or (reads and isinstance(fault, ConversionFailed)):
        fault = conversion_pending(context, fault.message)
    if isinstance(fault, ApiError):
        return answer_error(context, fault)
    return answer_fault(context, fault)
