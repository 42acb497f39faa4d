"""DELETE of an object and of a collection."""

from __future__ import annotations

import asyncio

import orjson

from hydrofoil import engine, errors
from hydrofoil.answer import Answer
from hydrofoil.apis import scheme
from hydrofoil.endpoints import params as query
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.handlers import body, feature_gates
from hydrofoil.endpoints.handlers.list import (
    check_transform,
    head,
    nothing_is_null,
    open_list,
    read_options,
    versions,
)
from hydrofoil.endpoints.negotiate import body_media
from hydrofoil.errors import Cause
from hydrofoil.headers import CONTENT_TYPE
from hydrofoil.pace.pacer import Pacer
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.objects import BATCH
from hydrofoil.registry.rights import decision
from hydrofoil.registry.write import Write
from hydrofoil.request import attributes

UNSAFE_VERB = "unsafe-delete-ignore-read-errors"
UNSAFE_ANNOTATION = "apiserver.k8s.io/unsafe-delete-ignore-read-error"
RBAC = "rbac.authorization.k8s.io"
RULES = ("roles", "rolebindings", "clusterroles", "clusterrolebindings")
KEPT = frozenset((("", "namespaces"), *((RBAC, plural) for plural in RULES)))
"""Resources whose storage upstream wraps without a way to this deletion."""
NO_DELETER = "no unsafe deleter provided, can not honor ignoreStoreReadErrorWithClusterBreakingPotential"


async def delete_corrupt(context: Context, write: Write) -> Answer | None:
    """Delete the object as it is; None for one that can be read, which is deleted as usual (DEL-09).

    Raise ApiError 403 without the right to that.
    """
    resource, info = context.resource, context.info
    if context.audit is not None:
        context.audit.annotate(UNSAFE_ANNOTATION, "")
    if resource.storage in KEPT:
        raise errors.log_failure(NO_DELETER)
    wanted = attributes(
        UNSAFE_VERB, resource.group, resource.plural, version=resource.version, namespace=info.namespace, name=info.name
    )
    verdict = await decision(write, wanted)
    if not verdict.allowed:
        why = f'not permitted to do "{UNSAFE_VERB}", reason: {verdict.reason}'
        if verdict.error:
            why = f'error while checking permission for "{UNSAFE_VERB}", {verdict.error}'
        raise errors.forbidden(resource.group, resource.plural, info.name, why)
    if not await context.registry.discard(resource, info.namespace, info.name):
        return None
    status: dict[str, object] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    status |= {"details": {"name": info.name, "kind": resource.kind}, "code": 200}
    return respond.json(context, orjson.dumps(status) + b"\n")


POLICIES = ("Foreground", "Background", "Orphan")
OPTIONS_TYPE = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"


def policy_causes(policy: str | None, orphan: bool | None) -> list[Cause]:
    """Return the errors in the propagation policy of a deletion."""
    causes: list[Cause] = []
    if orphan is not None and policy is not None:
        text = f'Invalid value: "{policy}": orphanDependents and deletionPropagation cannot be both set'
        causes.append(("FieldValueInvalid", text, "propagationPolicy"))
    if policy is not None and policy not in POLICIES:
        text = f'Unsupported value: "{policy}": supported values: "Foreground", "Background", "Orphan", "nil"'
        causes.append(("FieldValueNotSupported", text, "propagationPolicy"))
    return causes


def check_policy(policy: str | None, orphan: bool | None) -> None:
    """Raise ApiError 422 for an invalid propagation policy."""
    if causes := policy_causes(policy, orphan):
        raise errors.invalid("meta.k8s.io", "DeleteOptions", "", causes)


async def delete_options(context: Context) -> DeleteOptions:
    """Return the options in the body, or in the query of a request without body. Raise ApiError 400 and 422."""
    data = await context.body()
    options = DeleteOptions()
    dry: list[str] = []
    if data:
        dry = _from_body(context, data, options)
    else:
        given = context.params
        options.grace = query.integer(given, "gracePeriodSeconds")
        options.policy = given.get("propagationPolicy")
        if "orphanDependents" in given:
            options.orphan = query.truth(given, "orphanDependents")
        options.uid = given.get("uid") or None
        options.revision = given.get("resourceVersion") or None
        context.unsafe &= query.truth(given, feature_gates.UNSAFE)
        dry = query.split_list(given, "dryRun")
    causes = policy_causes(options.policy, options.orphan)
    causes += query.dry_run_causes(dry)
    causes += feature_gates.unsafe_causes(options, dry) if context.unsafe else ()
    if causes:
        raise errors.invalid("meta.k8s.io", "DeleteOptions", "", causes)
    options.dry_run = bool(dry)
    return options


def _from_body(context: Context, data: bytes, options: DeleteOptions) -> list[str]:
    media = body_media(context.request.headers.get(CONTENT_TYPE, ""), cbor=context.parts.cbor)
    if data.strip() == b"null":
        data = b"{}"
    native = context.registry.catalog.kind("meta.k8s.io", "v1", "DeleteOptions", OPTIONS_TYPE)
    try:
        draft, _ = native.decode(data, media)
    except engine.DecodeError as e:
        what, text = e.reason, e.message
        if what == "type" and (found := body.not_an_object(data)):
            what, text = "syntax", f"json: cannot unmarshal {found} into Go value of type {body.TYPE_META}"
        for member in ("kind", "apiVersion"):
            if what == "type" and f" field DeleteOptions.{member} " in text:
                # The type is read first, into a struct without a name.
                what, text = "syntax", text.replace("DeleteOptions.", ".", 1)
        prefix = body.NO_TYPE if what == "syntax" else ""
        raise errors.bad_request(prefix + text) from None
    meta = draft.metadata()
    version, kind = meta.api_version, meta.kind
    if kind in scheme.UNVERSIONED:
        raise errors.bad_request(f"converting (v1.{kind}) to (v1.DeleteOptions): unknown conversion")
    if kind and kind != "DeleteOptions":
        raise errors.bad_request(scheme.no_kind(kind, version or "meta.k8s.io/v1"))
    raw = orjson.loads(draft.json())
    if context.audit is not None and context.audit.wants_request:
        # The internal version is what upstream's encoder shows.
        context.audit.requested(orjson.dumps(raw | {"apiVersion": "meta.k8s.io/__internal", "kind": "DeleteOptions"}))
    context.unsafe &= raw.get(feature_gates.UNSAFE, False)
    preconditions = raw.get("preconditions", {})
    options.grace = raw.get("gracePeriodSeconds")
    options.uid = preconditions.get("uid")
    options.revision = preconditions.get("resourceVersion")
    options.policy = raw.get("propagationPolicy")
    options.orphan = raw.get("orphanDependents")
    dry: list[str] = raw.get("dryRun", [])
    return dry


async def delete(context: Context) -> Answer:
    """Delete an object, or begin its deletion."""
    options = await delete_options(context)
    resource, info = context.resource, context.info
    if context.unsafe:
        deleted = await delete_corrupt(context, context.write(dry_run=False, options=options))
        if deleted is not None:
            return deleted
    strategy = context.registry.strategy(resource)
    context.warnings += strategy.delete_warnings(options)
    strategy.check_removal(info.name)
    stored, gone = await context.registry.delete(
        resource, info.namespace, info.name, options, context.write(dry_run=options.dry_run, options=options)
    )
    if gone and "returns_deleted_object" not in context.registry.traits(resource):
        details = {"name": info.name, "group": resource.group, "kind": resource.plural, "uid": stored.uid}
        status: dict[str, object] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
        status["details"] = {k: v for k, v in details.items() if v}
        return respond.json(context, orjson.dumps(status) + b"\n")
    code = 202 if not gone and options.orphan is False else 200
    return await respond.answer_object(context, stored, code)


async def delete_collection(context: Context) -> Answer:
    """Delete the selected objects one by one and return their former state; skip those already deleted (SR-04)."""
    listing = read_options(context, watch=False)
    options = await delete_options(context)
    feature_gates.refuse_unsafe(context)
    context.warnings += context.registry.strategy(context.resource).delete_warnings(options)
    if listing.revision and not listing.match and not listing.limit:
        # Upstream lists in pages, and a page of a version is that of the version itself.
        listing.match = "Exact"
    # Shown as JSON items; the whole list is then encoded in its media type.
    form = respond.form(context).in_json
    cursor, limit = await open_list(context, listing, form)
    begin = await head(cursor, limit)
    shown: list[bytes] = []
    # Items omit the type that the list implies, except those of custom resources.
    head_length = len(f'"kind":"{context.resource.kind}","apiVersion":"{context.resource.api_version}",')
    head_length = 0 if context.resource.custom else head_length
    pacer, clock = Pacer(), context.parts.clock.native
    write = context.write(dry_run=options.dry_run, options=options)
    try:
        async with asyncio.timeout(context.parts.request_timeout):
            while batch := await versions(cursor, BATCH):
                for old in batch:
                    await pacer.pause()
                    try:
                        await context.registry.delete(context.resource, old.namespace, old.name, options, write)
                    except errors.ApiError as e:
                        if e.code == 404:
                            continue
                        raise
                    shown += b"," if shown else begin, _item(old.body(form, clock).rstrip(b"\n"), form, head_length)
            check_transform(context)
            if not shown and nothing_is_null(context):
                return await respond.answer_json_parts(context, [b"%snull}\n" % begin[:-1]])
            return await respond.answer_json_parts(context, [*(shown or [begin]), b"]}\n"])
    except TimeoutError:
        raise errors.timed_out() from None


def _item(text: bytes, form: respond.Form, head: int) -> bytes:
    """Return the item of a list for an object, whose type is the first `head` bytes."""
    if form.is_object:
        return b"{" + text[1 + head :]
    rows = b'"rows":['
    # A table of one object has one row.
    return text[text.index(rows) + len(rows) : -len(b"]}")] if form.is_table else text
