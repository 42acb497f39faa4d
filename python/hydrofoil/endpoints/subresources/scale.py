"""The scale subresource: replicas of a workload, as autoscaling/v1 shows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from hydrofoil import engine, errors
from hydrofoil.answer import Answer
from hydrofoil.apiextensions import scale as custom_scale
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.handlers import body
from hydrofoil.endpoints.handlers.get import caught_up
from hydrofoil.endpoints.handlers.patch import apply_configuration, apply_patch, read_patch
from hydrofoil.endpoints.handlers.update import check_name
from hydrofoil.endpoints.params import WriteOptions, truth
from hydrofoil.endpoints.subresources import scale_fields
from hydrofoil.endpoints.subresources.admitted import admission_of_subresource
from hydrofoil.engine import Draft, ResourceType, Stored
from hydrofoil.registry.label_selector import format_label_selector
from hydrofoil.registry.preconditions import storage_error
from hydrofoil.registry.session import UNLIMITED
from hydrofoil.registry.write import Write

SCALE = "io.k8s.api.autoscaling.v1.Scale"
COPIED = custom_scale.COPIED
REPLICAS = ["spec", "replicas"]


def scale_type(context: Context) -> ResourceType:
    """Return the type of the subresource."""
    return context.registry.catalog.kind("autoscaling", "v1", "Scale", SCALE)


def scale_of_workload(stored: Stored) -> dict[str, Any]:
    """Return a workload as a Scale."""
    raw = orjson.loads(stored.json)
    meta = raw["metadata"]
    status: dict[str, Any] = {"replicas": raw.get("status", {}).get("replicas", 0)}
    selector = raw["spec"].get("selector") or {}
    if "matchLabels" not in selector and "matchExpressions" not in selector:
        # That of a replication controller is a map of labels.
        selector = {"matchLabels": selector}
    text = format_label_selector(selector)
    if text:
        status["selector"] = text
    replicas = raw["spec"].get("replicas", 0)
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {k: meta[k] for k in COPIED if k in meta},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def answer(context: Context, stored: Stored) -> Answer:
    """Return the answer with a Scale."""
    scale = (
        custom_scale.scale_of_object(context.resource, stored)[0]
        if context.resource.custom
        else scale_of_workload(stored)
    )
    draft, _ = scale_type(context).decode(orjson.dumps(scale), "json")
    return respond.object_answer(context, draft.preview(stored.revision))


async def get(context: Context) -> Answer:
    """Return the Scale of a workload."""
    await caught_up(context)
    stored = await context.registry.read(context.resource, context.info.namespace, context.info.name)
    if context.resource.custom:
        custom_scale.scale_of_draft(context.resource, stored)
    return answer(context, stored)


async def update(context: Context) -> Answer:
    """Set the replicas of a workload."""
    given = await body.read(context, scale_type(context), "UpdateOptions")
    check_name(context, given.meta)
    uid = given.meta.uid

    def make(old: Stored, _: Stored) -> Draft:
        if uid and uid != old.uid:
            why = storage_error(context.resource, old, _other_uid(uid, old))
            raise errors.conflict(context.resource.group, context.resource.plural, context.info.name, why)
        return given.draft.fork()

    return await _write(context, make, given.options)


async def patch(context: Context) -> Answer:
    """Set the replicas of a workload by a patch of its Scale."""
    kind, data, options = await read_patch(context)
    if kind == "apply":
        return await apply(context, data, options)
    native = scale_type(context)

    def make(_: Stored, present: Stored) -> Draft:
        return apply_patch(context, present, kind, data, options, native)

    return await _write(context, make, options)


def before(context: Context, old: Stored) -> dict[str, Any]:
    """Return the Scale to be changed."""
    return custom_scale.before(context.resource, old) if context.resource.custom else scale_of_workload(old)


async def apply(context: Context, data: bytes, options: WriteOptions) -> Answer:
    """Set the replicas of a workload by a configuration of its Scale (SSA-01)."""
    force = truth(context.params, "force")
    native = scale_type(context)

    def make(_: Stored, present: Stored) -> Draft:
        given = apply_configuration(context, native, present, data, options, force=force)
        if context.resource.custom and given.get(REPLICAS) != present.thaw().get(REPLICAS):
            raise scale_not_convertible(context, data)
        return given

    return await _write(context, make, options, patch=True)


def scale_not_convertible(context: Context, data: bytes) -> errors.ApiError:
    """Return the 500 for an apply that changes the Scale of a custom resource, which no cluster can do.

    Upstream converts the Scale as if it were the custom resource (apiextensions `nopConverter`).
    """
    given = orjson.loads(engine.yaml_to_json(data)).get("metadata") or {}
    named = f"{given.get('namespace') or ''}/{context.info.name}; autoscaling/v1, Kind=Scale"
    why = "request to convert CR to an invalid group/version: autoscaling/v1"
    return errors.ApiError(500, "", f"failed to convert new object ({named}) to proper version: {why}")


def apply_scale(context: Context, old: Stored, given: Draft) -> Draft:
    """Return an object with the replicas of a Scale. Raise ApiError 409, 422 and, for custom resources, 400."""
    meta = given.metadata()
    uid, version = meta.uid, meta.resource_version
    if context.resource.custom:
        draft = custom_scale.apply_scale(context.resource, old, given)
    else:
        replicas = int(given.get(["spec", "replicas"]) or b"0")
        if causes := given.validate():
            raise errors.invalid("autoscaling", "Scale", context.info.name, causes)
        if uid and uid != old.uid:
            plural = f"{context.resource.plural}/scale"
            raise errors.conflict(context.resource.group, plural, context.info.name, _other_uid(uid, old))
        draft = old.thaw()
        draft.set(["spec", "replicas"], b"%d" % replicas)
    draft.set(["metadata", "resourceVersion"], orjson.dumps(version or str(old.revision)))
    return draft


def _other_uid(uid: str, old: Stored) -> str:
    return f"Precondition failed: UID in precondition: {uid}, UID in object meta: {old.uid}"


async def _write(
    context: Context, make: Callable[[Stored, Stored], Draft], options: WriteOptions, *, patch: bool = False
) -> Answer:
    """Set the replicas of an object to those `make` returns for its Scale; `patch`: by an apply, with its owners."""
    native, known = scale_type(context), scale_fields.paths(context.registry.catalog, context.resource)

    admission = admission_of_subresource(context, context.resource, dry_run=options.dry_run, operation="UPDATE")

    async def change(old: Stored) -> Draft:
        entries = orjson.loads(old.json)["metadata"].get("managedFields", [])
        scale = before(context, old)
        scale["metadata"]["managedFields"] = scale_fields.of_scale(entries, known)
        present = native.decode(orjson.dumps(scale), "json")[0].preview(old.revision)
        given = make(old, present)
        if not patch:
            given.read_update(context.parts.clock.native, present, context.manager(), "scale").here(UNLIMITED)
        await admission.mutate(given, present)
        if not patch:
            given.keep_metadata(present)
        owners = orjson.loads(given.get(["metadata", "managedFields"]) or b"[]")
        draft = apply_scale(context, old, given)
        new = scale_fields.of_object(entries, owners, known, context.resource.api_version)
        draft.set(["metadata", "managedFields"], orjson.dumps(new))
        # The Scale of the changed object is judged.
        outcome, _ = native.decode(orjson.dumps(before(context, draft.preview(old.revision))), "json")
        await admission.validate(outcome, present)
        return draft

    stored = await context.registry.update(
        context.resource,
        context.info.namespace,
        context.info.name,
        change,
        Write(dry_run=options.dry_run, user=context.user, warnings=context.warnings, patch=patch),
    )
    return answer(context, stored)


HANDLERS = {"get": get, "update": update, "patch": patch}
