"""The ownership record (`managedFields`) of an object that one manager wrote at once."""

from __future__ import annotations

import json
from typing import Any

from .model import Json

# Never owned: they identify the object, or the server keeps them.
UNOWNED = {
    "": {"apiVersion", "kind"},
    "metadata": {"name", "namespace", "generation", "managedFields"},
}


class Owner:
    """Walks an object by its schema, as structured-merge-diff does."""

    def __init__(self, types: dict[str, Json], *, applied: bool) -> None:
        self.types = types
        # Update compares with the empty object, so it also owns a container that came with its
        # content; Apply owns a container only where no schema field names it.
        self.applied = applied

    def struct(self, value: Json, type_name: str, path: str = "", *, there: bool = True) -> Json:
        """Return the owned fields of a struct; `there`: the empty object has this struct as well."""
        fields = {field["name"]: field for field in self.types[type_name]["fields"]}
        owned = {}
        for key, item in value.items():
            if key in UNOWNED.get(path, ()) or item is None or item == "":
                continue
            inner = f"{path}.{key}".lstrip(".")
            below = self.field(item, fields[key], inner, there=there)
            # A struct that is always there and of which nothing is owned leaves no trace.
            if below or inner != "metadata":
                owned[f"f:{key}"] = below
        return owned

    def field(self, value: Any, field: Json, path: str, *, there: bool) -> Json:
        there = there and "ref" in field and not field.get("ptr")
        owned = self.content(value, field, path, there=there)
        if owned and not there and not self.applied:
            return {".": {}, **owned}
        return owned

    def content(self, value: Any, shape: Json, path: str, *, there: bool) -> Json:
        """Return the owned fields below a value; none if the value is owned as a whole."""
        if "ref" in shape:
            type_ = self.types[shape["ref"]]
            whole = "special" in type_ or "atomic" in (type_.get("mapType"), shape.get("mapType"))
            return {} if whole else self.struct(value, shape["ref"], path, there=there)
        if shape["type"] == "object":
            whole = shape.get("mapType") == "atomic"
            return {} if whole else {f"f:{key}": {} for key in value}
        if shape.get("listType") == "set":
            return {f"v:{compact_json(item)}": {} for item in value}
        if shape.get("listType") == "map":
            return self.entries(value, shape, path)
        return {}

    def entries(self, value: list[Json], shape: Json, path: str) -> Json:
        keys = sorted(shape["listMapKeys"])
        return {
            "k:" + compact_json({key: item[key] for key in keys if key in item}): {
                ".": {},
                **self.content(item, shape["items"], f"{path}[]", there=False),
            }
            for item in value
        }


def compact_json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def managed_entry(owned: Json, api_version: str, manager: str, operation: str, subresource: str | None = None) -> Json:
    entry = {
        "manager": manager,
        "operation": operation,
        "apiVersion": api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": in_order(owned),
    }
    return {**entry, "subresource": subresource} if subresource else entry


def in_order(owned: Json) -> Json:
    return {key: in_order(owned[key]) for key in sorted(owned)}
