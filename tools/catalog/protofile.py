"""Messages of the published .proto files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

SCALARS = {
    "string",
    "bytes",
    "bool",
    "int32",
    "int64",
    "uint32",
    "uint64",
    "double",
    "float",
}
MESSAGE = re.compile(r"^message (\w+) \{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
FIELD = re.compile(
    r"^\s+(optional|repeated|required)?\s*(map<(\w+), ([\w.]+)>|[\w.]+) (\w+) = (\d+)[^;]*;",
    re.MULTILINE,
)
# Module names with a dash are spelled with an underscore in .proto packages.
DASHED = {
    "apiextensions_apiserver": "apiextensions-apiserver",
    "kube_aggregator": "kube-aggregator",
}


@dataclass(frozen=True)
class ProtoField:
    name: str
    repeated: bool
    # A scalar or the name of a definition; of a map the type of its values.
    type: str
    map_key: str | None


@dataclass(frozen=True)
class Message:
    fields: dict[int, ProtoField]


def read_messages(roots: Iterable[Path]) -> dict[str, Message]:
    """Full message name -> message."""
    messages = {}
    for root in roots:
        for file in sorted(root.rglob("generated.proto")):
            if "testapigroup" in file.parts:
                continue
            text = file.read_text(encoding="utf-8")
            package = re.search(r"^package ([\w.]+);", text, re.MULTILINE)
            if package is None:
                raise ValueError(f"{file.name} has no package")
            text = re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)
            for name, body in MESSAGE.findall(text):
                messages[f"{package[1]}.{name}"] = message(body, package[1])
    return messages


def message(body: str, package: str) -> Message:
    fields = {}
    for label, type_, map_key, map_value, name, number in FIELD.findall(body):
        fields[int(number)] = ProtoField(
            name=name,
            repeated=label == "repeated",
            type=definition(map_value or type_, package),
            map_key=map_key or None,
        )
    return Message(fields)


def definition(type_name: str, package: str) -> str:
    """Return a proto type name as OpenAPI spells it."""
    if type_name in SCALARS:
        return type_name
    full = type_name.removeprefix(".")
    if full == type_name and not type_name.startswith("k8s.io."):
        full = f"{package}.{type_name}"
    full = "io." + full.replace("k8s.io.", "k8s.", 1)
    for plain, dashed in DASHED.items():
        full = full.replace(plain, dashed)
    return full


def proto_name(definition_name: str) -> str:
    """Return an OpenAPI definition name as .proto files spell it."""
    full = definition_name.replace("io.k8s.", "k8s.io.", 1)
    for plain, dashed in DASHED.items():
        full = full.replace(dashed, plain)
    return full
