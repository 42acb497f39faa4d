"""The scale subresource of custom resources (apiextensions-apiserver `pkg/registry/customresource/etcd.go`)."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.apis.catalog import Resource
from hydrofoil.engine import Draft, Stored

COPIED = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
"""Members of the metadata that a Scale takes from its object."""
UNSET = -(2**31)
"""The replicas, during a change of a Scale, of an object that does not set them."""


def _value_at_path(raw: dict[str, Any], path: str, kind: type) -> Any:
    """Return the value at a path; None if absent. Raise ApiError 500 for a value of another type."""
    here: Any = raw
    walked = ""
    names = path.removeprefix(".").split(".")
    for name in names:
        if not isinstance(here, dict):
            raise _accessor(f"{walked}.{name}", here, "map[string]interface {}")
        walked += f".{name}"
        if name not in here:
            return None
        here = here[name]
    if isinstance(here, bool) or not isinstance(here, kind):
        raise _accessor(walked, here, "int64" if kind is int else "string")
    return here


GO = {bool: "bool", int: "int64", float: "float64", str: "string", list: "[]interface {}", type(None): "<nil>"}


def _accessor(path: str, value: Any, expected: str) -> errors.ApiError:
    found = GO.get(type(value), "map[string]interface {}")
    text = f"{path} accessor error: {value} is of the type {found}, expected {expected}"
    return errors.ApiError(500, "", text)


def scale_of_object(resource: Resource, stored: Stored) -> tuple[dict[str, Any], bool]:
    """Return a custom resource as a Scale, and whether it sets its replicas."""
    paths = resource.raw["scale"]
    raw = orjson.loads(stored.json)
    wanted = _value_at_path(raw, paths["specReplicasPath"], int)
    status: dict[str, Any] = {"replicas": _value_at_path(raw, paths["statusReplicasPath"], int) or 0}
    if paths.get("labelSelectorPath"):
        selector = _value_at_path(raw, paths["labelSelectorPath"], str)
        if selector:
            status["selector"] = selector
    scale = {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {k: raw["metadata"][k] for k in COPIED if k in raw["metadata"]},
        "spec": {"replicas": wanted} if wanted else {},
        "status": status,
    }
    return scale, wanted is not None


def scale_of_draft(resource: Resource, stored: Stored) -> dict[str, Any]:
    """Return the Scale of an object. Raise ApiError 500 if it sets no replicas."""
    scale, found = scale_of_object(resource, stored)
    if not found:
        why = f'the spec replicas field "{resource.raw["scale"]["specReplicasPath"]}" does not exist'
        raise errors.ApiError(500, "InternalError", f"Internal error occurred: {why}", {"causes": [{"message": why}]})
    return scale


def before(resource: Resource, stored: Stored) -> dict[str, Any]:
    """Return the Scale to be changed."""
    scale, found = scale_of_object(resource, stored)
    if not found:
        scale["spec"]["replicas"] = UNSET
    return scale


def apply_scale(resource: Resource, stored: Stored, given: Draft) -> Draft:
    """Return the object with the replicas of a Scale. Raise ApiError 400 if it sets none."""
    path = resource.raw["scale"]["specReplicasPath"]
    replicas = int(given.get(["spec", "replicas"]) or b"0")
    if replicas == UNSET:
        raise errors.bad_request(f'the spec replicas field "{path}" cannot be empty')
    draft = stored.thaw()
    draft.set(path.removeprefix(".").split("."), b"%d" % replicas)
    return draft
