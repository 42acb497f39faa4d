"""Binding of a pod to a node (registry `core/pod/storage`)."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.answer import Answer
from hydrofoil.apis.catalog import Resource
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.handlers import body
from hydrofoil.endpoints.subresources.admitted import admission_of_subresource
from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.preconditions import storage_error
from hydrofoil.registry.session import duplicate_owners
from hydrofoil.registry.write import Write

BINDING = "io.k8s.api.core.v1.Binding"
SUCCESS = b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201}\n'


def pods(context: Context) -> Resource:
    """Return the resource of pods."""
    found = context.registry.catalog.find("", "v1", "pods")
    assert found is not None
    return found


def check_target(target: dict[str, Any]) -> None:
    """Check the target of a binding. Raise ApiError 500."""
    causes = []
    if target.get("kind", "") not in ("", "Node"):
        text = f'Unsupported value: "{target["kind"]}": supported values: "Node", "<empty>"'
        causes.append(("FieldValueNotSupported", text, "target.kind"))
    if not target.get("name"):
        causes.append(("FieldValueRequired", "Required value", "target.name"))
    if causes:
        # Upstream loses the type of this error on its way.
        raise errors.ApiError(500, "", errors.aggregate([f"{field}: {message}" for _, message, field in causes]))


def assign(draft: Draft, name: str, node: str, moment: str) -> None:
    """Assign a pod to a node (`BindingREST.setPodHostAndAnnotations`). Raise ApiError 409."""
    hindrance = draft.assign_node(node, moment)
    if hindrance is None:
        return
    what, present = hindrance
    if what == "deletion":
        why = f"pod {name} is being deleted, cannot be assigned to a host"
    elif what == "node":
        why = f'pod {name} is already assigned to node "{present}"'
    else:
        why = f"pod {name} has non-empty .spec.schedulingGates"
    raise errors.conflict("", "pods/binding", name, why)


async def bind(context: Context) -> Answer:
    """Assign a pod to a node (URI-18)."""
    native = context.registry.catalog.kind("", "v1", "Binding", BINDING)
    received = await body.read(context, native, "CreateOptions")
    given, options = received.draft, received.options
    if duplicates := given.dedup_owners():
        context.warnings.append(duplicate_owners(duplicates))
    admission = admission_of_subresource(context, context.resource, dry_run=options.dry_run)
    given.set(["metadata", "namespace"], orjson.dumps(context.info.namespace))
    await admission.mutate(given)
    name = context.info.name or given.metadata().name
    if given.metadata().name != name:
        raise errors.bad_request("name in URL does not match name in Binding object")
    raw = orjson.loads(given.json())
    target = raw.get("target", {})
    check_target(target)
    await admission.validate(given)
    if not name:
        raise errors.bad_request("Name parameter required.")
    meta = given.metadata()
    uid, version = meta.uid, meta.resource_version
    if not context.info.subresource:
        uid = ""  # reset, as for every new object

    metadata = raw.get("metadata", {})

    def change(old: Stored) -> Draft:
        draft = old.thaw()
        own = draft.metadata().uid
        if uid and uid != own:
            why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {own}"
            raise errors.conflict("", "pods", name, storage_error(pods(context), old, why))
        if version and version != str(old.revision):
            why = f"Precondition failed: ResourceVersion in precondition: {version}, "
            why += f"ResourceVersion in object meta: {old.revision}"
            raise errors.conflict("", "pods", name, storage_error(pods(context), old, why))
        assign(draft, name, target["name"], context.parts.clock.text())
        for kind in ("annotations", "labels"):
            for key, value in metadata.get(kind, {}).items():
                draft.set(["metadata", kind, key], orjson.dumps(value))
        return draft

    await context.registry.update(
        pods(context),
        context.info.namespace,
        name,
        change,
        # Upstream assigns the node in the storage, without the rules of an update, and to whatever version is there.
        Write(subresource="binding", dry_run=options.dry_run, warnings=context.warnings, patch=True, validates=False),
    )
    return respond.json(context, SUCCESS, 201)
