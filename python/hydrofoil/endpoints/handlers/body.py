"""Request bodies: decoding, checks against the URL, strict findings."""

from __future__ import annotations

import orjson
from msgspec import Struct

from hydrofoil import engine, errors
from hydrofoil.apis import scheme
from hydrofoil.audit.event import AuditEvent
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.negotiate import body_media
from hydrofoil.endpoints.params import WriteOptions, write_options
from hydrofoil.engine import Draft, ObjectMeta, ResourceType
from hydrofoil.headers import CONTENT_TYPE
from hydrofoil.pace.sizes import LARGE
from hydrofoil.pool import run

TYPE_META = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
"""The type that upstream decodes a body into first."""
NO_TYPE = "couldn't get version/kind; json parse error: "
"""Upstream's message if that fails."""


class Body(Struct):
    """A body, as the object of its type."""

    draft: Draft
    meta: ObjectMeta
    """Its metadata as sent."""
    options: WriteOptions
    """The options of the write, in the query."""


def not_an_object(data: bytes) -> str:
    """Return Go's name for a JSON body that is not an object; empty for objects and for text that is not JSON."""
    first = data.lstrip()[:1]
    if first == b"[":
        return "array"
    if first == b'"':
        return "string"
    if first in (b"t", b"f"):
        return "bool"
    return "number" if first.isdigit() or first == b"-" else ""


def decode(
    context: Context, native: ResourceType, data: bytes, level: str, *, media: str, also: str = ""
) -> tuple[Draft, ObjectMeta]:
    """Decode a body as an object of a type; `also` is an older version of the same form. Raise ApiError 400."""
    sent = data
    if data.strip() == b"null":
        data = b"{}"
    try:
        draft, meta, strict = native.read(data, media)
    except engine.DecodeError as e:
        what, text = e.reason, e.message
        if what == "type" and (found := not_an_object(data)):
            text = f"json: cannot unmarshal {found} into Go value of type {TYPE_META}"
        elif what == "type":
            if media in ("json", "yaml"):
                named = check_named(native, data, media)
                if not also and not (native is context.resource.native and context.resource.custom):
                    check_type(native, named.get("apiVersion", ""), named.get("kind", ""))
            raise errors.bad_request(f"{unhandled(native)}: {text}") from None
        if media == "yaml" and what == "syntax":
            # The text is not yet JSON.
            raise unrecognized_type(native, data, text.removeprefix("error converting YAML to JSON: ")) from None
        prefix = "" if media == "protobuf" else NO_TYPE
        raise unrecognized_type(native, data, prefix + text) from None
    api_version, kind = meta.api_version, meta.kind
    if api_version.count("/") > 1:
        raise unrecognized_type(native, data, f"unexpected GroupVersion string: {api_version}")
    if context.resource.custom and native is context.resource.native:
        check_custom(native, meta, sent)
    elif (api_version or kind) and not (also and api_version == also):
        check_type(native, api_version, kind)
    if strict and level == "Strict":
        raise errors.bad_request(f"{unhandled(native)}: strict decoding error: {errors.strict_text(strict)}")
    if level == "Warn" and strict:
        context.warnings += strict
    return draft, meta


def unhandled(native: ResourceType) -> str:
    """Return the beginning of the message for a body that is no object of its type."""
    version = native.api_version.rpartition("/")[2]
    return f'{native.kind} in version "{version}" cannot be handled as a {native.kind}'


def unrecognized_type(native: ResourceType, data: bytes, why: str) -> errors.ApiError:
    """Return the 400 for a body of unknown type, with its beginning (`runtime.summarizeData`)."""
    begin, more = data[:30], " ..." if len(data) > 30 else ""
    shown = begin.decode(errors="replace") if data.startswith(b"{") else begin.hex() or "<empty>"
    return errors.bad_request(
        f"the object provided is unrecognized (must be of type {native.kind}): {why} ({shown}{more})"
    )


def check_named(native: ResourceType, data: bytes, media: str) -> dict[str, str]:
    """Return the type named by a body that is not an object of it, which upstream reads first. Raise ApiError 400."""
    try:
        given = orjson.loads(engine.yaml_to_json(data) if media == "yaml" else data)
    except (orjson.JSONDecodeError, engine.DecodeError):
        return {}
    if not isinstance(given, dict):
        return {}
    named = {name: value for name, value in given.items() if name in ("apiVersion", "kind") and value is not None}
    for name, value in named.items():
        if not isinstance(value, str):
            why = f"json: cannot unmarshal {not_an_object(orjson.dumps(value)) or 'object'} into Go struct field "
            why += f".{name} of type string"
            raise unrecognized_type(native, data, NO_TYPE + why)
    return named


def check_type(native: ResourceType, api_version: str, kind: str) -> None:
    """Check kind and version of a body; the URL supplies omitted ones."""
    if (not kind or kind == native.kind) and (not api_version or api_version == native.api_version):
        return
    kind, api_version = kind or native.kind, api_version or native.api_version
    group = native.api_version.rpartition("/")[0]
    if why := scheme.refusal((group, native.kind), api_version, kind):
        version = api_version.rpartition("/")[2]
        raise errors.bad_request(f'{kind} in version "{version}" cannot be handled as a {native.kind}: {why}')
    raise wrong_version(api_version, native)


def check_custom(native: ResourceType, meta: ObjectMeta, data: bytes) -> None:
    """Check the type of a custom resource, which must be present; a wrong kind is left to validation."""
    if not meta.kind:
        raise unrecognized_type(native, data, missing_kind(data))
    if meta.api_version != native.api_version:
        raise wrong_version(meta.api_version, native)


def missing_kind(data: bytes) -> str:
    """Return the error of a custom resource without a kind."""
    return f"Object 'Kind' is missing in '{data.decode(errors='replace')}'"


def wrong_version(given: str, native: ResourceType) -> errors.ApiError:
    """Return the 400 for a body of another version."""
    expected = native.api_version
    return errors.bad_request(
        f"the API version in the data ({given}) does not match the expected API version ({expected})"
    )


def check_namespace(context: Context, meta: ObjectMeta) -> None:
    """Check that the namespace of a body is that of the URL."""
    given = meta.namespace
    if given and context.resource.namespaced and given != context.info.namespace:
        raise errors.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )


def _media(context: Context, native: ResourceType) -> str:
    content_type = context.request.headers.get(CONTENT_TYPE, "")
    if content_type == "application/json":
        return "json"
    custom = context.resource.custom and native is context.resource.native
    return body_media(content_type, custom=custom, cbor=context.parts.cbor)


async def read(context: Context, native: ResourceType, kind: str, *, also: str = "") -> Body:
    """Return the body of a create or update in its namespace; `kind` is that of its options, `also` as in `decode`.

    Raise ApiError 400, 413 and 415.
    """
    media = "" if kind == "UpdateOptions" else _media(context, native)
    data = await context.body()
    options = write_options(context.params, kind)
    # An update checks its options before its body.
    media = media or _media(context, native)
    level = options.field_validation
    if len(data) <= LARGE:
        draft, meta = decode(context, native, data, level, media=media, also=also)
    else:
        draft, meta = await run(lambda: decode(context, native, data, level, media=media, also=also), pooled=True)
    if context.audit is not None:
        record(context, context.audit, draft, meta)
    check_namespace(context, meta)
    return Body(draft, meta, options)


def record(context: Context, event: AuditEvent, draft: Draft, meta: ObjectMeta) -> None:
    """Add a body to the audit record, with its defaults (`LogRequestObject`)."""
    event.sent(meta.name, meta.namespace, meta.uid, meta.resource_version)
    if event.wants_request:
        copy = draft.fork()
        copy.default(context.parts.clock.native)
        event.requested(copy.json())
