"""The scale subresource: replicas of a workload, as autoscaling/v1 shows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.endpoints.handlers import body, custom_scale, scale_owners
from hydrofoil.endpoints.handlers.get import caught_up
from hydrofoil.endpoints.handlers.patch import applied, from_cbor, patched
from hydrofoil.endpoints.handlers.update import check_name
from hydrofoil.endpoints.params import WriteOptions, truth, write_options
from hydrofoil.endpoints.respond import Answer
from hydrofoil.endpoints.scope import Scope
from hydrofoil.engine import Draft, ResourceType, Stored
from hydrofoil.registry.preconditions import storage_error

SCALE = "io.k8s.api.autoscaling.v1.Scale"
COPIED = custom_scale.COPIED


def scale_type(scope: Scope) -> ResourceType:
    """The type of the subresource."""
    return scope.registry.catalog.kind("autoscaling", "v1", "Scale", SCALE)


def selector_text(selector: dict[str, Any]) -> str:
    """A selector as text (`metav1.FormatLabelSelector`)."""
    labels = (
        selector.get("matchLabels", {}) if "matchLabels" in selector or "matchExpressions" in selector else selector
    )
    parts = [f"{k}={v}" for k, v in sorted(labels.items())]
    for term in selector.get("matchExpressions", ()) if isinstance(selector, dict) else ():
        key, operator, values = term["key"], term["operator"], ",".join(sorted(term.get("values", ())))
        match operator:
            case "In":
                parts.append(f"{key} in ({values})")
            case "NotIn":
                parts.append(f"{key} notin ({values})")
            case "Exists":
                parts.append(key)
            case _:
                parts.append(f"!{key}")
    return ",".join(parts)


def shown(stored: Stored) -> dict[str, Any]:
    """A workload as a Scale."""
    raw = orjson.loads(stored.json)
    meta = raw["metadata"]
    status: dict[str, Any] = {"replicas": raw.get("status", {}).get("replicas", 0)}
    text = selector_text(raw["spec"].get("selector") or {})
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


def answer(scope: Scope, stored: Stored) -> Answer:
    """A Scale as an answer."""
    scale = custom_scale.shown(scope.resource, stored)[0] if scope.resource.custom else shown(stored)
    draft, _ = scale_type(scope).decode(orjson.dumps(scale), "json")
    return scope.object_answer(draft.preview(stored.revision))


async def get(scope: Scope) -> Answer:
    """The scale of a workload."""
    await caught_up(scope)
    stored = scope.registry.get(scope.resource, scope.info.namespace, scope.info.name)
    await scope.registry.show(scope.resource, [stored])
    if scope.resource.custom:
        custom_scale.wanted(scope.resource, stored)
    return answer(scope, stored)


async def update(scope: Scope) -> Answer:
    """Sets the replicas of a workload."""
    given, options = await body.read(scope, scale_type(scope), "UpdateOptions")
    body.check_namespace(scope, given)
    check_name(scope, given)
    uid = given.head()[5]

    def make(old: Stored, _: Stored) -> Draft:
        if uid and uid != old.uid:
            why = storage_error(scope.resource, old, _other_uid(uid, old))
            raise errors.conflict(scope.resource.group, scope.resource.plural, scope.info.name, why)
        return given.fork()

    return await _write(scope, make, options)


async def patch(scope: Scope) -> Answer:
    """Sets the replicas of a workload by a patch of its Scale."""
    kind = scope.patch
    data = await scope.body()
    options = write_options(scope.params, "PatchOptions", patch=kind)
    if kind == "apply-cbor":
        kind, data = "apply", from_cbor(data)
    if kind == "apply":
        return await apply(scope, data, options)
    native = scale_type(scope)

    def make(_: Stored, present: Stored) -> Draft:
        return patched(scope, present, kind, data, options, native)

    return await _write(scope, make, options)


def before(scope: Scope, old: Stored) -> dict[str, Any]:
    """The Scale that a change begins from."""
    return custom_scale.before(scope.resource, old) if scope.resource.custom else shown(old)


async def apply(scope: Scope, data: bytes, options: WriteOptions) -> Answer:
    """Sets the replicas of a workload by a configuration of its Scale (SSA-01)."""
    force = truth(scope.params, "force")
    native = scale_type(scope)

    def make(_: Stored, present: Stored) -> Draft:
        return applied(scope, native, present, data, options, force=force)

    return await _write(scope, make, options, patch=True)


def scaled(scope: Scope, old: Stored, given: Draft) -> Draft:
    """An object with the replicas of a Scale. Raises 409, 422 and, of custom resources, 400."""
    uid, version = given.head()[5:7]
    if scope.resource.custom:
        draft = custom_scale.scaled(scope.resource, old, given)
    else:
        replicas = int(given.get(["spec", "replicas"]) or b"0")
        if causes := given.validate():
            raise errors.invalid("autoscaling", "Scale", scope.info.name, causes)
        if uid and uid != old.uid:
            plural = f"{scope.resource.plural}/scale"
            raise errors.conflict(scope.resource.group, plural, scope.info.name, _other_uid(uid, old))
        draft = old.thaw()
        draft.set(["spec", "replicas"], b"%d" % replicas)
    draft.set(["metadata", "resourceVersion"], orjson.dumps(version or str(old.revision)))
    return draft


def _other_uid(uid: str, old: Stored) -> str:
    return f"Precondition failed: UID in precondition: {uid}, UID in object meta: {old.uid}"


async def _write(
    scope: Scope, make: Callable[[Stored, Stored], Draft], options: WriteOptions, *, patch: bool = False
) -> Answer:
    """Gives an object the replicas of what `make` makes of it and its Scale; `patch`: by an apply, with its owners."""
    native, known = scale_type(scope), scale_owners.paths(scope)

    def change(old: Stored) -> Draft:
        entries = orjson.loads(old.json)["metadata"].get("managedFields", [])
        scale = before(scope, old)
        scale["metadata"]["managedFields"] = scale_owners.of_scale(entries, known)
        present = native.decode(orjson.dumps(scale), "json")[0].preview(old.revision)
        given = make(old, present)
        if not patch:
            given.default()
            given.track(scope.manager(), present, "scale")
            given.keep_metadata(present)
        owners = orjson.loads(given.get(["metadata", "managedFields"]) or b"[]")
        draft = scaled(scope, old, given)
        new = scale_owners.of_object(entries, owners, known, scope.resource.api_version)
        draft.set(["metadata", "managedFields"], orjson.dumps(new))
        return draft

    stored = await scope.registry.update(
        scope.resource,
        scope.info.namespace,
        scope.info.name,
        change,
        scope.write(dry_run=options.dry_run, subresource=""),
        patch=patch,
    )
    return answer(scope, stored)


HANDLERS = {"get": get, "update": update, "patch": patch}
