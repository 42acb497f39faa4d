"""Facts on fields in the OpenAPI definitions."""

from __future__ import annotations

from typing import Any

from .model import Json

# OpenAPI extension -> facts key.
EXTENSIONS = {
    "x-kubernetes-list-type": "listType",
    "x-kubernetes-list-map-keys": "listMapKeys",
    "x-kubernetes-map-type": "mapType",
    "x-kubernetes-patch-strategy": "patchStrategy",
    "x-kubernetes-patch-merge-key": "patchMergeKey",
}


def schema_shape(schema: Json) -> Json:
    """Type, format, items, values and reference of a schema, nothing else."""
    if isinstance(target := schema.get("$ref"), str):
        return {"ref": target.split("/")[-1]}
    if isinstance(parts := schema.get("allOf"), list) and len(parts) == 1:
        return schema_shape(parts[0])
    shape = {key: schema[key] for key in ("type", "format") if isinstance(schema.get(key), str)}
    for key, name in (("items", "items"), ("additionalProperties", "values")):
        if isinstance(schema.get(key), dict):
            shape[name] = schema_shape(schema[key])
    return shape


def extensions(schema: Json) -> dict[str, Any]:
    return {name: schema[key] for key, name in EXTENSIONS.items() if key in schema}


def schema_only_field(name: str, definition: Json) -> Json:
    """Return a property that no Go source declares: no proto number, no pointer."""
    schema = definition["properties"][name]
    required = name in definition.get("required", [])
    return {
        "name": name,
        **schema_shape(schema),
        "noProto": True,
        "omitempty": not required,
        **({"required": True} if required else {}),
        **extensions(schema),
    }
