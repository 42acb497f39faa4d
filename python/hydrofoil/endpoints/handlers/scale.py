"""The scale subresource: replicas of a workload, as autoscaling/v1 shows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.endpoints.handlers import body, custom_scale
from hydrofoil.endpoints.handlers.patch import applied, from_cbor, patch_options, patched
from hydrofoil.endpoints.handlers.update import check_name
from hydrofoil.endpoints.negotiate import patch_kind
from hydrofoil.endpoints.params import WriteOptions, write_options
from hydrofoil.endpoints.respond import Answer
from hydrofoil.endpoints.scope import Scope
from hydrofoil.engine import Draft, ResourceType, Stored
from hydrofoil.registry.store import storage_error

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
    stored = scope.registry.get(scope.resource, scope.info.namespace, scope.info.name)
    await scope.registry.show(scope.resource, [stored])
    if scope.resource.custom:
        custom_scale.wanted(scope.resource, stored)
    return answer(scope, stored)


async def update(scope: Scope) -> Answer:
    """Sets the replicas of a workload."""
    options = write_options(scope.params, "UpdateOptions")
    given = await body.read(scope, scale_type(scope), options)
    check_name(scope, given)
    body.check_namespace(scope, given)
    uid = given.head()[5]

    def make(old: Stored, present: Stored) -> Draft:
        if uid and uid != old.uid:
            why = storage_error(scope.resource, old, _other_uid(uid, old))
            raise errors.conflict(scope.resource.group, scope.resource.plural, scope.info.name, why)
        given.begin_update(present, "scale", scope.manager())
        return given

    return await _write(scope, make, options)


async def patch(scope: Scope) -> Answer:
    """Sets the replicas of a workload by a patch or a configuration of its Scale."""
    kind = patch_kind(scope.request.headers.get("Content-Type", ""), cbor=scope.cbor)
    options = patch_options(scope, kind)
    data = await scope.body()
    native = scale_type(scope)
    if kind == "apply-cbor":
        kind, data = "apply", from_cbor(data)

    def make(_: Stored, present: Stored) -> Draft:
        if kind == "apply":
            return applied(scope, present, data, options, native)
        draft = patched(scope, present, kind, data, options, native)
        draft.begin_update(present, "scale", scope.manager())
        return draft

    return await _write(scope, make, options)


def _other_uid(uid: str, old: Stored) -> str:
    return f"Precondition failed: UID in precondition: {uid}, UID in object meta: {old.uid}"


async def _write(scope: Scope, make: Callable[[Stored, Stored], Draft], options: WriteOptions) -> Answer:
    """Changes a workload by its Scale, which `make` makes of the workload and of its present Scale."""
    resource, name = scope.resource, scope.info.name
    native = scale_type(scope)

    def change(old: Stored) -> Draft:
        scale = custom_scale.before(resource, old) if resource.custom else shown(old)
        scale["metadata"]["managedFields"] = orjson.loads(old.scale_owners())
        present = native.decode(orjson.dumps(scale), "json")[0].preview(old.revision)
        given = make(old, present)
        uid, version = given.head()[5:7]
        if resource.custom:
            draft = custom_scale.scaled(resource, old, given)
        else:
            replicas = int(given.get(["spec", "replicas"]) or b"0")
            if replicas < 0:
                text = f"Invalid value: {replicas}: must be greater than or equal to 0"
                cause = ("FieldValueInvalid", text, "spec.replicas")
                raise errors.invalid("autoscaling", "Scale", name, [cause])
            if uid != old.uid:
                raise errors.conflict(resource.group, f"{resource.plural}/scale", name, _other_uid(uid, old))
            draft = old.thaw()
            draft.set(["spec", "replicas"], b"%d" % replicas)
        draft.set(["metadata", "resourceVersion"], orjson.dumps(version or str(old.revision)))
        draft.own_scaled(given)
        return draft

    stored = await scope.registry.update(
        resource, scope.info.namespace, name, change, dry_run=options.dry_run, warnings=scope.warnings
    )
    return answer(scope, stored)


HANDLERS = {"get": get, "update": update, "patch": patch}
