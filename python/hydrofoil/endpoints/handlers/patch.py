"""PATCH of an object."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import orjson

from hydrofoil import engine, errors
from hydrofoil.answer import Answer
from hydrofoil.apis import scheme
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.handlers import body
from hydrofoil.endpoints.handlers.get import absent
from hydrofoil.endpoints.handlers.update import UNNAMED, check_name
from hydrofoil.endpoints.params import WriteOptions, truth, write_options
from hydrofoil.engine import Draft, ResourceType, Stored
from hydrofoil.go_text import quote
from hydrofoil.pace.sizes import LARGE
from hydrofoil.pool import run
from hydrofoil.registry.objects import check_segment
from hydrofoil.registry.session import apply_here

BAD_PATCH = "Invalid JSON Patch"
"""The merging library's message for a document that is not an object."""


BEYOND = "json: cannot unmarshal number "
"""The beginning of Go's error of a number beyond the range of floats."""


async def patch(context: Context) -> Answer:
    """Apply a patch to the present version, again after a conflict (UP-10, UP-13, UP-14)."""
    kind, data, options = await read_patch(context)
    if kind == "apply":
        return await apply(context, data, options)

    def change(old: Stored) -> Draft:
        return apply_patch(context, old, kind, data, options, context.resource.native)

    write = context.write(dry_run=options.dry_run, manager=context.manager())
    write.patch = True
    stored = await context.registry.update(context.resource, context.info.namespace, context.info.name, change, write)
    return await respond.answer_object(context, stored)


async def read_patch(context: Context) -> tuple[str, bytes, WriteOptions]:
    """Return kind, body and options of a patch; a configuration in CBOR as JSON. Raise ApiError 400 and 413."""
    kind = context.patch
    data = await context.body()
    options = write_options(context.params, "PatchOptions", patch=kind)
    if kind == "apply-cbor":
        kind, data = "apply", from_cbor(data)
    if context.audit is not None and context.audit.wants_request:
        context.audit.requested(audit_text(kind, data))
    return kind, data, options


def audit_text(kind: str, data: bytes) -> bytes:
    """Return a patch as audit records have it: as JSON. Raise ApiError 400 for malformed text."""
    try:
        if kind == "apply":
            return data if data.lstrip().startswith(b"{") else engine.yaml_to_json(data)
        orjson.loads(data)
    except orjson.JSONDecodeError:
        return json.dumps(data.decode(errors="replace")).encode()
    except engine.DecodeError as e:
        raise errors.bad_request(f"error decoding YAML: {e.message}") from None
    return data


def from_cbor(data: bytes) -> bytes:
    """Convert a configuration in CBOR to JSON, which is YAML (MT-22). Raise ApiError 400."""
    try:
        return engine.cbor_to_json(data)
    except engine.DecodeError as e:
        raise errors.bad_request(f"error decoding CBOR: {e.message}") from None


def apply_patch(
    context: Context, old: Stored, kind: str, data: bytes, options: WriteOptions, native: ResourceType
) -> Draft:
    """Return the present version with a patch applied. Raise ApiError 400, 413, 422 and, as upstream, 500."""
    try:
        draft, strict = laid_over(old, native, kind, data)
    except engine.DecodeError as e:
        # Without validation upstream merges texts, and finds a number that no float holds in the outcome.
        beyond = kind != "strategic" and options.field_validation == "Ignore" and e.message.startswith(BEYOND)
        if e.reason == "syntax" and not beyond:
            raise errors.bad_request(malformed_patch_text(kind, e.message, options.field_validation)) from None
        raise patch_error(e, data) from None
    if strict and options.field_validation == "Strict":
        raise errors.bad_request(f"strict decoding error: {', '.join(strict)}")
    if options.field_validation == "Warn":
        context.warnings += [w for w in strict if w not in context.warnings]
    meta = draft.metadata()
    if native is context.resource.native and context.resource.custom and not meta.kind:
        # Another type is left to validation.
        raise wrong_patch(draft.json(), body.missing_kind(draft.json()))
    body.check_namespace(context, meta)
    check_name(context, meta)
    return draft


def laid_over(old: Stored, native: ResourceType, kind: str, data: bytes) -> tuple[Draft, list[str]]:
    """Return the present version with a patch applied, and the strict findings.

    Raise DecodeError, and ApiError 400 and 422 if the result has another type than the object.
    """
    try:
        return old.patch(native, kind, data)
    except engine.TypeMetaError as e:
        api_version, own, outcome = e.api_version, e.kind, e.outcome.encode()
    if not api_version:
        raise errors.bad_request(UNNAMED.format(old.name))
    if api_version.count("/") > 1:
        raise wrong_patch(outcome, f"unexpected GroupVersion string: {api_version}")
    if why := scheme.refusal((native.api_version.rpartition("/")[0], native.kind), api_version, own or native.kind):
        raise wrong_patch(outcome, why)
    return old.patch(native, kind, data, lenient=True)


def malformed_patch_text(kind: str, text: str, level: str) -> str:
    """Return the message for an unreadable patch: not every decoder names its input."""
    if kind == "merge" and (level == "Ignore" or text == BAD_PATCH):
        return BAD_PATCH
    return text if kind == "strategic" or level == "Ignore" else f"error decoding patch: {text}"


@contextmanager
def apply_errors() -> Iterator[None]:
    """Convert errors of an apply to ApiError 400, 409 and, as upstream, 500."""
    try:
        yield
    except engine.ApplyConflictError as e:
        causes = [{"reason": "FieldManagerConflict", "message": m, "field": f} for m, f in e.causes]
        raise errors.ApiError(409, "Conflict", e.message, {"causes": causes}) from None
    except engine.DecodeError as e:
        if e.reason == "internal":
            raise errors.ApiError(500, "", e.message) from None
        raise errors.bad_request(e.message) from None


def check_applied(context: Context, draft: Draft, strict: list[str], options: WriteOptions) -> Draft:
    """Return the result of an apply. Raise ApiError 400 for another name, and for strict errors if they matter."""
    if strict and options.field_validation == "Strict":
        why = f"error converting YAML to JSON: {errors.strict_text(strict)}"
        raise errors.bad_request(f"error strict decoding YAML: {why}")
    if options.field_validation == "Warn":
        context.warnings += [w for w in strict if w not in context.warnings]
    meta = draft.metadata()
    body.check_namespace(context, meta)
    check_name(context, meta)
    return draft


def apply_configuration(
    context: Context, native: ResourceType, live: Stored | None, data: bytes, options: WriteOptions, *, force: bool
) -> Draft:
    """Return an object with a configuration merged into it. Raise ApiError as `apply_errors` and `check_applied`."""
    clock, subresource = context.parts.clock.native, context.info.subresource
    with apply_errors():
        draft, strict = apply_here(native.apply(clock, live, data, options.field_manager, subresource, force))
    return check_applied(context, draft, strict, options)


async def apply(context: Context, data: bytes, options: WriteOptions) -> Answer:
    """Server-side apply: create the object or merge the configuration into it (SSA-01, SSA-02, UP-05)."""
    resource, info, registry = context.resource, context.info, context.registry
    force = truth(context.params, "force")

    def merge(live: Stored | None) -> Draft:
        return apply_configuration(context, resource.native, live, data, options, force=force)

    async def convert_and_merge(live: Stored) -> Draft:
        # Its owners in other versions are converted by a webhook, between attempts of the step.
        clock = context.parts.clock.native
        step = resource.native.apply(clock, live, data, options.field_manager, info.subresource, force)
        attempt = registry.attempt(resource, info.namespace, write, step.size)
        with apply_errors():
            draft, strict = registry.here(attempt, step) or await registry.take(attempt, step)
        return check_applied(context, draft, strict, options)

    creates = not info.subresource or (
        info.subresource == "status" and registry.strategy(resource).creates_through_status(resource)
    )

    write = context.write(dry_run=options.dry_run)
    if creates and await absent(context):
        check_segment(info.name)
        draft = await run(merge, None, pooled=len(data) > LARGE)
        if uid := draft.uid:
            text = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            raise errors.conflict(resource.group, resource.plural, info.name, text)
        # Another request may have created it while this one was off the loop.
        if await absent(context):
            write.creates = True
            stored = await registry.create(resource, info.namespace, draft, write)
            return await respond.answer_object(context, stored, 201)
    write.patch = True
    change = merge if resource.webhook is None else convert_and_merge
    stored = await registry.update(resource, info.namespace, info.name, change, write)
    return await respond.answer_object(context, stored)


def patch_error(why: engine.DecodeError, data: bytes) -> errors.ApiError:
    """Return the error for a patch that cannot be applied; `data` is the patch."""
    match why.reason:
        case "failed":
            message = "the server rejected our request due to an error in our request"
            return errors.ApiError(422, "Invalid", message, {})
        case "too many":
            return errors.ApiError(413, "RequestEntityTooLarge", f"Request entity too large: {why.message}")
        case "internal":
            return errors.ApiError(500, "", why.message)
    return wrong_patch(data if why.outcome is None else why.outcome.encode(), why.message)


def wrong_patch(shown: bytes, text: str) -> errors.ApiError:
    """Return the 422 for a patch whose result is not an object of the kind."""
    quoted = quote(shown.decode(errors="replace"))
    return errors.invalid("", "", "", [("FieldValueInvalid", f"Invalid value: {quoted}: {text}", "patch")])
