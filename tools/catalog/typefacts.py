"""Facts about every type: its fields, its special forms, its place in protobuf."""

from __future__ import annotations

from collections.abc import Iterator

from .fieldfacts import Join
from .gosource import GoPackage
from .gotypes import GoTypes
from .model import Json
from .protofile import Message, proto_name
from .schema import schema_only_field, schema_shape

META = "io.k8s.apimachinery.pkg.apis.meta.v1"
EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions"

# Types whose JSON form is not the obvious mapping of their fields.
SPECIAL = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
    f"{META}.Time": "time",
    f"{META}.MicroTime": "micro-time",
    f"{META}.Duration": "duration",
    f"{META}.FieldsV1": "raw-json",
    f"{META}.Timestamp": "proto-only",
    f"{META}.Patch": "json-only",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": "raw-extension",
    "io.k8s.apimachinery.pkg.runtime.Unknown": "unknown-envelope",
    **{
        f"{EXTENSIONS}.{version}.{name}": special
        for version in ("v1", "v1beta1")
        for name, special in (
            ("JSON", "raw-json"),
            ("JSONSchemaPropsOrArray", "schema-or-array"),
            ("JSONSchemaPropsOrBool", "schema-or-bool"),
            ("JSONSchemaPropsOrStringArray", "schema-or-strings"),
        )
    },
}
# OpenAPI extension -> key of the type's facts.
TYPE_EXTENSIONS = {
    "x-kubernetes-group-version-kind": "gvk",
    "x-kubernetes-map-type": "mapType",
    "x-kubernetes-unions": "unions",
}


class TypeFacts:
    def __init__(self, go: GoTypes, messages: dict[str, Message], definitions: dict[str, Json]) -> None:
        self.go = go
        self.messages = messages
        self.definitions = definitions

    def all(self) -> dict[str, Json]:
        types: dict[str, Json] = {}
        for package in self.go.packages.values():
            types.update(self.structs(package))
            for name, facts in self.named(package):
                types.setdefault(name, facts)
        for name, definition in self.definitions.items():
            types.setdefault(name, self.schema_only(definition))
        for name in SPECIAL.keys() & types.keys():
            types[name].update(self.special(name))
        return types

    def structs(self, package: GoPackage) -> Iterator[tuple[str, Json]]:
        for bare in sorted(package.structs):
            name = package.name_of(bare)
            published = name in self.definitions or proto_name(name) in self.messages
            # Tables are neither in OpenAPI nor in protobuf, yet every server answers them.
            table = package.prefix == META and bare.startswith("Table")
            if bare[0].isupper() and (published or table):
                yield name, self.struct(package, bare, name)

    def struct(self, package: GoPackage, bare: str, name: str) -> Json:
        definition = self.definitions.get(name)
        join = Join(self.go, self.messages, definition)
        fields = [] if name in SPECIAL else list(join.struct_fields(package, bare, name))
        facts: Json = {"fields": fields}
        if proto_name(name) in self.messages:
            facts["proto"] = proto_name(name)
        else:
            facts["noProto"] = True
        if definition is None:
            facts["notInSwagger"] = True
        type_meta = any(field.get("typeMeta") for field in fields)
        if type_meta:
            facts["typeMeta"] = True
            if package.group is not None:
                version = package.path.rsplit("/", 1)[1]
                facts["groupVersionKind"] = [package.group, version, bare]
        if inlines := list(self.inlines(package, bare)):
            facts["inline"] = inlines
        for key, target in TYPE_EXTENSIONS.items():
            if definition and key in definition:
                facts[target] = definition[key]
        known = {field["name"] for field in fields}
        for property_name in (definition or {}).get("properties", {}):
            if property_name not in known:
                fields.append(schema_only_field(property_name, definition or {}))
        return facts

    def inlines(self, package: GoPackage, bare: str) -> Iterator[Json]:
        """Embedded structs that protobuf nests and JSON flattens."""
        struct = package.structs[bare]
        for field in struct.fields:
            if field.inline and (number := field.proto_number):
                found, name = self.go.locate(package, field.type.lstrip("*"), struct.imports)
                if found and name != "TypeMeta":
                    yield {
                        "n": number,
                        "ref": found.name_of(name),
                        "ptr": field.type.startswith("*"),
                    }

    def named(self, package: GoPackage) -> Iterator[tuple[str, Json]]:
        """Named types that are messages: copies of a struct, and wrapped lists."""
        for bare, named in package.named.items():
            name = package.name_of(bare)
            self.go.enum(package, bare)
            if source := self.go.struct_of_named(package, bare):
                found, source_name, _ = source
                join = Join(self.go, self.messages, self.definitions.get(name))
                yield (
                    name,
                    {
                        "fields": list(join.struct_fields(found, source_name, name)),
                        "proto": proto_name(name),
                        "sameAs": found.name_of(source_name),
                    },
                )
            elif proto_name(name) in self.messages:
                is_list = named.underlying.startswith("[]")
                proto = {"n": 1, "t": "string", "rep": True}
                yield (
                    name,
                    {
                        "special": "wrapped-list" if is_list else "wrapped",
                        "proto": proto_name(name),
                        "fields": [{"name": "", "proto": proto, "type": "string"}],
                        "go": named.underlying,
                    },
                )

    @staticmethod
    def schema_only(definition: Json) -> Json:
        names = definition.get("properties", {})
        return {
            "jsonOnly": True,
            "fields": [schema_only_field(name, definition) for name in names],
            **schema_shape(definition),
        }

    def special(self, name: str) -> Json:
        """Return a special type with its published scalar shape, and its message field by field."""
        facts: Json = {"special": SPECIAL[name]}
        if definition := self.definitions.get(name):
            shape = schema_shape(definition)
            facts.update({key: shape[key] for key in ("type", "format") if key in shape})
        if message := self.messages.get(proto_name(name)):
            facts["fields"] = []
            facts["protoFields"] = [
                {"n": number, "name": field.name, "t": field.type, "rep": field.repeated}
                for number, field in sorted(message.fields.items())
            ]
        return facts
