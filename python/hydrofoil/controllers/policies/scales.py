"""Objects with replicas, as their subresource `scale` shows them (client-go `scale`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import orjson

from hydrofoil import errors
from hydrofoil.apiextensions.scale import apply_scale as apply_to_object
from hydrofoil.apiextensions.scale import before as custom_before
from hydrofoil.apiextensions.scale import scale_of_draft
from hydrofoil.apis.catalog import Resource
from hydrofoil.controllers.runtime.client import MANAGER
from hydrofoil.endpoints.subresources import scale_fields
from hydrofoil.endpoints.subresources.scale import SCALE, scale_of_workload
from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.session import UNLIMITED
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Write


class Scale(NamedTuple):
    """The replicas of an object."""

    resource: Resource
    stored: Stored
    replicas: int
    """Those that are wanted."""
    present: int
    """Those that there are."""
    selector: str
    """That of its pods, as text; empty if it has none."""


def resources_of(registry: Objects, group: str, kind: str, version: str = "") -> Iterator[Resource]:
    """Yield the resources of a kind, in the served versions or in one of them (a RESTMapper)."""
    for name, served in registry.catalog.groups.get(group, {}).items():
        if version in ("", name):
            yield from (found for found in served.values() if found.kind == kind)


def has_scale(resource: Resource) -> bool:
    """Report whether objects of a resource have a scale."""
    return "scale" in resource.subresources


def group_resource(resource: Resource) -> str:
    """Return the name of a resource with its group (`GroupResource.String`)."""
    return errors.qualified_resource(resource.group, resource.plural)


def find_scale(registry: Objects, resource: Resource, namespace: str, name: str) -> Scale:
    """Return the scale of an object. Raise ApiError 404 without the object or a scale of its resource."""
    if not has_scale(resource):
        raise errors.no_such_resource()
    present = registry.catalog.find(resource.group, resource.version, resource.plural)
    stored = None if present is None else registry.collection(present).get(present.native, namespace, name)
    if present is None or stored is None:
        raise errors.not_found(resource.group, resource.plural, name)
    value = scale_of_draft(present, stored) if present.custom else scale_of_workload(stored)
    status = value["status"]
    wanted = int(value["spec"].get("replicas", 0))
    return Scale(present, stored, wanted, int(status.get("replicas", 0)), str(status.get("selector", "")))


def controller_of(stored: Stored) -> dict[str, str] | None:
    """Return the reference of the owner that manages an object."""
    metadata = orjson.loads(stored.member("metadata") or b"{}")
    owners: list[dict[str, str]] = metadata.get("ownerReferences") or []
    return next((owner for owner in owners if owner.get("controller")), None)


async def set_replicas(registry: Registry, write: Write, scale: Scale, replicas: int) -> None:
    """Set the replicas of an object as a write of its scale does, with its owner of the field. Raise ApiError."""
    resource, catalog = scale.resource, registry.catalog
    native = catalog.kind("autoscaling", "v1", "Scale", SCALE)
    known = scale_fields.paths(catalog, resource)

    def change(old: Stored) -> Draft:
        entries = orjson.loads(old.json)["metadata"].get("managedFields", [])
        value = custom_before(resource, old) if resource.custom else scale_of_workload(old)
        value["metadata"]["managedFields"] = scale_fields.of_scale(entries, known)
        present = native.decode(orjson.dumps(value), "json")[0].preview(old.revision)
        given = present.thaw()
        given.set(["spec", "replicas"], b"%d" % replicas)
        given.read_update(registry.clock.native, present, MANAGER, "scale").here(UNLIMITED)
        owners = orjson.loads(given.get(["metadata", "managedFields"]) or b"[]")
        draft = apply_to_object(resource, old, given) if resource.custom else old.thaw()
        if not resource.custom:
            draft.set(["spec", "replicas"], b"%d" % replicas)
        fields = scale_fields.of_object(entries, owners, known, resource.api_version)
        draft.set(["metadata", "managedFields"], orjson.dumps(fields))
        return draft

    await registry.update(resource, scale.stored.namespace, scale.stored.name, change, write)
