"""Schemas of custom resources as OpenAPI publishes them (apiextensions-apiserver `pkg/controller/openapi`)."""

from __future__ import annotations

from typing import Any

META = "io.k8s.apimachinery.pkg.apis.meta.v1"
OBJECT_META = f"{META}.ObjectMeta"
LIST_META = f"{META}.ListMeta"
TYPE_META = {
    "apiVersion": "APIVersion defines the versioned schema of this representation of an object. Servers should convert "
    "recognized schemas to the latest internal value, and may reject unrecognized values. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources",
    "kind": "Kind is a string value representing the REST resource this object represents. Servers may infer this from "
    "the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds",
}
EMBEDDED = {
    "apiVersion": "apiVersion defines the versioned schema of this representation of an object. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources",
    "kind": "kind is a string value representing the type of this object. In CamelCase. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds",
}
METADATA = (
    "Standard object's metadata. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
)
LIST_METADATA = (
    "Standard list metadata. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"
)
JUNCTORS = ("allOf", "oneOf", "anyOf", "not")
KEEP, EMBED = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"
Schema = dict[str, Any]


def model_name(group: str, version: str, kind: str) -> str:
    """Return `com.example.v1.Kind` for `example.com`."""
    return ".".join([*reversed(group.split(".")), version, kind])


def reference(name: str, *, v2: bool, description: str = "") -> Schema:
    """Return a reference to a definition; v3 keeps its siblings in `allOf`."""
    ref = {"$ref": f"#/definitions/{name}" if v2 else f"#/components/schemas/{name}"}
    if v2:
        return {**ref, "description": description} if description else ref
    return {"allOf": [ref], "description": description} if description else ref


def resource(schema: Schema | None, group: str, version: str, kind: str, *, v2: bool, preserve: bool = False) -> Schema:
    """Return the published schema of a kind."""
    if schema is None or (v2 and (preserve or schema.get(KEEP))):
        # With any further property, kubectl would refuse all others.
        out: Schema = {"type": "object"}
    else:
        out = _node(schema, v2=v2)
        properties = out.setdefault("properties", {})
        for key, text in TYPE_META.items():
            properties[key] = {"description": text, "type": "string"}
        properties["metadata"] = reference(OBJECT_META, v2=v2, description=METADATA)
    out["x-kubernetes-group-version-kind"] = [{"group": group, "kind": kind, "version": version}]
    return out


def resource_list(group: str, version: str, kind: str, list_kind: str, plural: str, *, v2: bool) -> Schema:
    """Return the published schema of a list kind."""
    text = f"List of {plural}. More info: "
    text += "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
    items = {"type": "array", "description": text, "items": reference(model_name(group, version, kind), v2=v2)}
    return {
        "description": f"{list_kind} is a list of {kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            **{key: {"description": text, "type": "string"} for key, text in TYPE_META.items()},
            "items": items,
            "metadata": reference(LIST_META, v2=v2, description=LIST_METADATA),
        },
        "x-kubernetes-group-version-kind": [{"group": group, "kind": list_kind, "version": version}],
    }


def _unfold(out: Schema) -> None:
    """Declare int-or-string in terms of OpenAPI too (`Structural.Unfold`)."""
    either = [{"type": "integer"}, {"type": "string"}]
    given = out.get("anyOf")
    if given == either or (out.get("allOf") or [{}])[0].get("anyOf") == either:
        return
    if given is None:
        out["anyOf"] = either
    else:
        out["allOf"] = [{"anyOf": either}, *out.get("allOf", ())]


def _node(schema: Schema, *, v2: bool) -> Schema:
    out = dict(schema)
    if out.get("x-kubernetes-int-or-string"):
        _unfold(out)
    if v2:
        _plain(out)
    if "properties" in out:
        out["properties"] = {key: _node(value, v2=v2) for key, value in out["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(out.get(key), dict):
            out[key] = _node(out[key], v2=v2)
    if out.get(EMBED) and not (v2 and out.get(KEEP)):
        properties = out.setdefault("properties", {})
        for key, text in EMBEDDED.items():
            properties[key] = {"description": text, "type": "string"}
        properties["metadata"] = reference(OBJECT_META, v2=v2, description=METADATA)
        required = list(out.get("required", ()))
        out["required"] = required + [key for key in ("kind", "apiVersion") if key not in required]
    return out


def _plain(out: Schema) -> None:
    """Remove members that OpenAPI v2, or kubectl's decoder of it, does not support (`v2/conversion.go`)."""
    for key in (*JUNCTORS, "default"):
        out.pop(key, None)
    if out.pop("nullable", False):
        for key in ("type", "items", "properties"):
            out.pop(key, None)
    if out.get(KEEP):
        out.pop("items", None)
        out.pop("properties", None)
        if out.get("type") == "object":
            del out["type"]
    if out.get("type") == "array" and "items" not in out:
        del out["type"]
    if "required" in out:
        nullable = {key for key, value in out.get("properties", {}).items() if value.get("nullable")}
        additional = out.get("additionalProperties")
        if isinstance(additional, dict) and additional.get("nullable"):
            nullable = set(out["required"])
        out["required"] = [key for key in out["required"] if key not in nullable]
        if not out["required"]:
            del out["required"]


def references(schema: Any) -> list[str]:
    """Return the names that a schema refers to."""
    if isinstance(schema, list):
        return [name for item in schema for name in references(item)]
    if not isinstance(schema, dict):
        return []
    own = [schema["$ref"].rpartition("/")[2]] if isinstance(schema.get("$ref"), str) else []
    return own + [name for value in schema.values() for name in references(value)]
