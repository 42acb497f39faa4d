"""Facts to `catalog.json`, the compact form that the server loads."""

from __future__ import annotations

import re

from .model import RELEASE, VERSION, Facts, Json
from .paths import OTHER, checks
from .priorities import Priorities
from .reach import reachable, roots, type_of_kind
from .storage import stored_as

SCALARS = {
    ("string", None): "s",
    ("string", "byte"): "y",
    ("integer", "int32"): "i",
    ("integer", "int64"): "l",
    ("boolean", None): "b",
    ("number", "double"): "d",
}

# Facts key -> compact key; a flag becomes 1.
FLAGS = {"ptr": "p", "omitempty": "o", "omitzero": "z", "required": "r", "typeMeta": "tm"}
VALUES = {
    "enum": "e",
    "default": "d",
    "listType": "lt",
    "listMapKeys": "lk",
    "mapType": "mt",
    "patchStrategy": "ps",
    "patchMergeKey": "pk",
    "featureGate": "fg",
    "proto": "pb",
}
TYPE_VALUES = {
    "special": "sp",
    "mapType": "mt",
    "unions": "un",
    "inline": "inl",
    "protoFields": "pf",
}
ALWAYS_SELECTABLE = ("metadata.name", "metadata.namespace")


def shape(facts: Json) -> str:
    if "ref" in facts:
        return "#" + str(facts["ref"])
    if facts["type"] == "array":
        return "[]" + shape(facts["items"])
    if facts["type"] == "object":
        return "{}" + shape(facts["values"])
    return SCALARS[facts["type"], facts.get("format")]


def compact_field(field: Json) -> Json:
    out: Json = {"n": field["name"], "s": shape(field)}
    out.update({short: 1 for key, short in FLAGS.items() if field.get(key)})
    out.update({short: field[key] for key, short in VALUES.items() if key in field})
    return out


def group_version_kind(type_: Json) -> list[str] | None:
    """OpenAPI's single kind counts before the Go package's: Status is v1, not meta.k8s.io/v1."""
    declared = type_.get("gvk", [])
    if len(declared) == 1:
        return [declared[0][key] for key in ("group", "version", "kind")]
    own: list[str] | None = type_.get("groupVersionKind")
    return own


def compact_type(type_: Json) -> Json:
    out: Json = {"f": [compact_field(field) for field in type_["fields"]]}
    out.update({short: type_[key] for key, short in TYPE_VALUES.items() if key in type_})
    if gvk := group_version_kind(type_):
        out["gvk"] = gvk
    if type_.get("noProto"):
        out["np"] = 1
    return out


def served_by_default(version: str) -> bool:
    """Since 1.24 a server enables stable versions only (DefaultAPIResourceConfigSource)."""
    return re.fullmatch(r"v\d+", version) is not None


def selectors(resource: Json, facts: Facts) -> Json:
    """Return selectable fields besides name and namespace, and the names under which they are stored."""
    key = (resource["group"], resource["version"], resource["kind"])
    for entry in facts.field_selectors:
        if (entry["group"], entry["version"], entry["kind"]) == key:
            extra = [name for name in entry["fields"] if name not in ALWAYS_SELECTABLE]
            return {
                "fieldSelectors": sorted(extra),
                "fieldSelectorMap": {k: v for k, v in entry.get("map", {}).items() if k != v},
                # A conversion function of its own lists every label; some leave the namespace out.
                "noNamespaceSelector": "metadata.namespace" not in entry["fields"],
            }
    return {}


def compact_resource(resource: Json, facts: Facts, kinds: dict[tuple[str, str, str], str]) -> Json:
    columns = {(entry["group"], entry["kind"]): entry["columns"] for entry in facts.printer_columns}
    out = {key: resource[key] for key in ("group", "version", "plural", "singular", "kind")}
    optional = {
        "namespaced": resource["namespaced"],
        "served": served_by_default(resource["version"]),
        "retired": resource.get("retired"),
        "verbs": resource["verbs"],
        "type": resource["type"],
        "listKind": resource.get("listKind"),
        "listType": resource.get("listType"),
        "shortNames": resource["shortNames"],
        "categories": resource["categories"],
        "subresources": [
            {**sub, "type": kinds[sub["group"], sub["version"], sub["kind"]]} for sub in resource["subresources"]
        ],
        "columns": columns.get((resource["group"], resource["kind"])),
        **selectors(resource, facts),
        "storage": stored_as(resource, facts.resources, facts.lifecycle),
        "lifecycle": facts.lifecycle.get(resource["type"]),
    }
    return {**out, **{key: value for key, value in optional.items() if value}}


def known_priorities(resources: list[Json], priorities: Priorities) -> dict[str, list[int]]:
    """Group-version -> priority of the group, priority of the version in it."""
    found = {}
    for resource in resources:
        group, version = resource["group"], resource["version"]
        if (group, version) in priorities:
            name = f"{group}/{version}" if group else version
            found[name] = list(priorities[group, version])
    return found


def compact(facts: Facts, priorities: Priorities) -> Json:
    kept = reachable(facts.types, roots(facts.resources, facts.types))
    kinds = type_of_kind(facts.types)
    resources = [compact_resource(resource, facts, kinds) for resource in facts.resources]
    return {
        "version": VERSION,
        "release": f"v{RELEASE}",
        "groups": facts.group_order,
        "priorities": known_priorities(resources, priorities),
        "paths": list(OTHER),
        "checks": checks(),
        "resources": resources,
        "types": {name: compact_type(facts.types[name]) for name in sorted(kept)},
    }
