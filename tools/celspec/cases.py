"""From cases of the specification to rules of a schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .textproto import Message, parse

ELSEWHERE = {"proto2", "proto2_ext", "proto3", "wrappers", "enums", "unknowns", "dynamic", "block_ext", "bindings_ext"}
"""Files about what Kubernetes has not: protocol buffers, unknown values, blocks, `cel.bind`."""
PROTO = re.compile(r"TestAllTypes|google\.protobuf|NestedTestAllTypes|proto\.|cel\.expr|GlobalEnum")


class NotForUs(Exception):
    """A case that cannot be a rule, with the reason."""


@dataclass(slots=True)
class Case:
    """A rule, the schema and value of its `self`, and whether it must hold (`true`) or fail (`error`)."""

    name: str
    rule: str
    schema: dict[str, Any]
    value: Any
    wanted: str


def literal(value: Message) -> str:
    """Return a `cel.expr.Value` as an expression."""
    ((kind, (given, *_)),) = value.items()
    match kind:
        case "int64_value":
            return str(given)
        case "uint64_value":
            return f"{given}u"
        case "bool_value":
            return str(given)
        case "null_value":
            return "null"
        case "string_value":
            return json.dumps(given.decode(), ensure_ascii=False)
        case "bytes_value":
            return 'b"' + "".join(f"\\x{byte:02x}" for byte in given) + '"'
        case "double_value":
            return double(given)
        case "list_value":
            return f"[{', '.join(literal(v) for v in given.get('values', ()))}]"
        case "map_value":
            entries = [f"{literal(e['key'][0])}: {literal(e['value'][0])}" for e in given.get("entries", ())]
            return "{" + ", ".join(entries) + "}"
        case "type_value":
            return TYPES.get(given.decode()) or unsupported(f"type {given.decode()}")
    return unsupported(kind)


TYPES = {name: name for name in ("bool", "bytes", "double", "int", "list", "map", "string", "type", "uint")} | {
    "null_type": "null_type",
    "google.protobuf.Duration": "type(duration('1s'))",
    "google.protobuf.Timestamp": "type(timestamp('2000-01-01T00:00:00Z'))",
}


def unsupported(what: str) -> str:
    """Raise NotForUs: there is no literal for it."""
    raise NotForUs(what)


def double(text: str) -> str:
    """Return a number with a point."""
    if text.lstrip("-") in ("inf", "nan"):
        return f"double('{text}')"
    return text if re.search(r"[.e]", text) else f"{text}.0"


def declared(value: Message) -> tuple[dict[str, Any], Any]:
    """Return the schema and the JSON of a bound value."""
    ((kind, (given, *_)),) = value.items()
    match kind:
        case "int64_value":
            return {"type": "integer"}, int(given)
        case "bool_value":
            return {"type": "boolean"}, given == "true"
        case "string_value":
            return {"type": "string"}, given.decode()
        case "double_value" if given.lstrip("-") not in ("inf", "nan"):
            return {"type": "number"}, float(given)
        case "list_value" if given.get("values"):
            made = [declared(v) for v in given["values"]]
            return {"type": "array", "items": made[0][0]}, [v for _, v in made]
        case "map_value" if all("string_value" in e["key"][0] for e in given.get("entries", ())) and given:
            made = [declared(e["value"][0]) for e in given["entries"]]
            keys = [e["key"][0]["string_value"][0].decode() for e in given["entries"]]
            values = {k: v for k, (_, v) in zip(keys, made, strict=True)}
            return {"type": "object", "additionalProperties": made[0][0]}, values
    raise NotForUs(f"a binding of {kind}")


def case(name: str, test: Message) -> Case:
    """Return a case as a rule. Raise NotForUs."""
    expression = test["expr"][0].decode()
    if "disable_check" in test or "container" in test or "disable_macros" in test:
        raise NotForUs("checks, macros or containers are switched")
    if "unknown" in test or "any_unknowns" in test or "any_eval_errors" in test:
        raise NotForUs("unknown values")
    if PROTO.search(expression):
        raise NotForUs("protocol buffers")
    schema: dict[str, Any] = {"type": "object", "properties": {"unused": {"type": "integer"}}}
    value: dict[str, Any] = {}
    for binding in test.get("bindings", ()):
        key = binding["key"][0].decode()
        if not re.fullmatch(r"[A-Za-z_]\w*", key) or key in ("true", "false", "null"):
            raise NotForUs("a binding of a qualified name")
        schema["properties"][key], value[key] = declared(binding["value"][0]["value"][0])
        expression = re.sub(rf"(?<![\w.'\"]){key}\b(?!['\"(])", f"self.{key}", expression)
    if "eval_error" in test:
        return Case(name, f"[dyn({expression})].size() == 1", schema, value, "error")
    if "type_env" in test and not value:
        raise NotForUs("declarations without values")
    wanted = test.get("value")
    if wanted is None and "typed_result" in test:
        wanted = test["typed_result"][0].get("result")
        if wanted is None:
            raise NotForUs("types without values")
    if wanted is None or wanted[0] == {"bool_value": ["true"]}:
        return Case(name, expression, schema, value, "true")
    return Case(name, f"({expression}) == {literal(wanted[0])}", schema, value, "true")


def cases(folder: Path, left_out: dict[str, int]) -> Iterator[Case]:
    """Yield every case that can be a rule; count the others by the reason."""
    for file in sorted(folder.glob("*.textproto")):
        for section in parse(file.read_text(encoding="utf-8")).get("section", ()):
            for test in section.get("test", ()):
                name = "/".join([file.stem, section["name"][0].decode(), test["name"][0].decode()])
                try:
                    if file.stem in ELSEWHERE:
                        raise NotForUs("a file about what Kubernetes has not")
                    yield case(name, test)
                except NotForUs as why:
                    left_out[str(why)] = left_out.get(str(why), 0) + 1
