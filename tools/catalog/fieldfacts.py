"""Facts about the fields of one struct: Go source, .proto and OpenAPI joined."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .gosource import GoField, GoPackage, Imports
from .gotypes import GoTypes
from .model import Json
from .protofile import Message, proto_name
from .schema import extensions, schema_shape

TYPE_META = (
    {"name": "kind", "type": "string", "typeMeta": True, "omitempty": True},
    {"name": "apiVersion", "type": "string", "typeMeta": True, "omitempty": True},
)


@dataclass(frozen=True)
class Join:
    """The three sources, for one definition."""

    go: GoTypes
    messages: dict[str, Message]
    definition: Json | None

    def struct_fields(self, package: GoPackage, name: str, type_name: str, via: tuple[int, ...] = ()) -> Iterator[Json]:
        """Fields in Go order; an embedded struct is flattened, `via` is its way in protobuf."""
        struct = package.structs[name]
        message = self.messages.get(proto_name(type_name))
        for field in struct.fields:
            if field.inline:
                yield from self.embedded(package, field, struct.imports, via)
            elif field.tags.get("json") not in (None, "", "-"):
                yield self.field(package, field, struct.imports, message, via)

    def embedded(self, package: GoPackage, field: GoField, imports: Imports, via: tuple[int, ...]) -> Iterator[Json]:
        found, name = self.go.embedded_struct(package, field.type, imports)
        if name == "TypeMeta":
            yield from (dict(item) for item in TYPE_META)
        elif found and name in found.structs:
            number = field.proto_number
            way = (*via, number) if number else via
            yield from self.struct_fields(found, name, found.name_of(name), way)

    def field(
        self,
        package: GoPackage,
        field: GoField,
        imports: Imports,
        message: Message | None,
        via: tuple[int, ...],
    ) -> Json:
        name = field.json[0] or field.name
        schema = (self.definition or {}).get("properties", {}).get(name)
        shape = self.go.shape(package, field.type, imports)
        enum = shape.pop("enum", None) or shape.get("items", {}).get("enum")
        without_enums(shape)
        if schema is not None:
            # Where both know the field, what OpenAPI publishes is what clients see.
            shape = schema_shape(schema)
        facts: Json = {"name": name, **shape}
        if enum:
            facts["enum"] = enum
        if self.required(name, field):
            facts["required"] = True
        if field.type.startswith("*"):
            facts["ptr"] = True
        facts.update({flag: True for flag in ("omitempty", "omitzero") if flag in field.json[1:]})
        if (default := default_value(package, field)) is not None:
            facts["default"] = default
        facts.update(extensions(schema) if schema is not None else markers(field))
        if gates := field.marked("featureGate"):
            facts["featureGate"] = gates
        if proto := proto_facts(name, field.proto_number, message, via):
            facts["proto"] = proto
        return facts

    def required(self, name: str, field: GoField) -> bool:
        if self.definition is not None and self.definition.get("properties") is not None:
            return name in self.definition.get("required", [])
        optional = any(item.startswith(("+optional", "+k8s:optional")) for item in field.markers)
        return not optional and not {"omitempty", "omitzero"} & set(field.json)


def without_enums(shape: Json) -> None:
    shape.pop("enum", None)
    for key in ("items", "values"):
        if key in shape:
            without_enums(shape[key])


def default_value(package: GoPackage, field: GoField) -> Any:
    for text in map(str.strip, field.marked("default")):
        if text.startswith("ref("):
            name = text[4:-1].split(".")[-1]
            for constants in package.constants.values():
                for constant, value in constants:
                    if constant == name:
                        return value
            return None
        return json.loads(text)
    return None


def markers(field: GoField) -> dict[str, Any]:
    """Return the same facts as OpenAPI's extensions, for a field that OpenAPI does not publish."""
    found: dict[str, Any] = {
        key: values[0]
        for key, values in (
            ("listType", field.marked("listType")),
            ("patchStrategy", [field.tags.get("patchStrategy")]),
            ("patchMergeKey", [field.tags.get("patchMergeKey")]),
        )
        if values and values[0]
    }
    if keys := field.marked("listMapKey"):
        found["listMapKeys"] = keys
    return found


def proto_facts(name: str, number: int | None, message: Message | None, via: tuple[int, ...]) -> Json | None:
    if number is None or message is None or number not in message.fields:
        return None
    proto = message.fields[number]
    facts: Json = {"n": number}
    if proto.map_key:
        facts["map"] = [proto.map_key, proto.type]
    else:
        facts["t"] = proto.type
        if proto.repeated:
            facts["rep"] = True
    if proto.name != name:
        facts["name"] = proto.name
    if via:
        facts["via"] = list(via)
    return facts
