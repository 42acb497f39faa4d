"""OpenAPI v2 documents of services, merged into this server's (kube-openapi `pkg/aggregator`)."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]
PREFIX = "#/definitions/"


def merge_paths(document: Object, start: str, known: Object) -> tuple[Object, Object]:
    """Return the paths of a document that begin with `start`, and the definitions they need beside the `known` ones.

    A definition whose name is known with another schema is renamed.
    """
    paths = {path: item for path, item in document.get("paths", {}).items() if path.startswith(start)}
    given: Object = document.get("definitions", {})
    wanted, open_names = set[str](), references(paths)
    while open_names:
        name = open_names.pop()
        if name not in wanted and name in given:
            wanted.add(name)
            open_names |= references(given[name])
    names = {name: new_name(name, given[name], known) for name in wanted}
    definitions = {
        names[name]: rename_references(given[name], names) for name in sorted(wanted) if names[name] not in known
    }
    return rename_references(paths, names), definitions


def new_name(name: str, schema: Any, known: Object) -> str:
    """Return the name of an equal known definition, or a free one."""
    plain, found, number = essential(schema), name, 1
    while found in known and essential(known[found]) != plain:
        number += 1
        found = f"{name}_v{number}"
    return found


def essential(value: Any) -> Any:
    """Return a schema without descriptive members: descriptions, and its kinds."""
    if isinstance(value, dict):
        left_out = ("description", "x-kubernetes-group-version-kind")
        return {k: essential(v) for k, v in value.items() if k not in left_out or isinstance(v, dict)}
    return [essential(v) for v in value] if isinstance(value, list) else value


def references(value: Any) -> set[str]:
    """Return the names of the definitions that a part refers to."""
    if isinstance(value, list):
        return set().union(*map(references, value))
    if not isinstance(value, dict):
        return set()
    own = value.get("$ref")
    found = {own.removeprefix(PREFIX)} if isinstance(own, str) else set[str]()
    return found.union(*map(references, value.values()))


def rename_references(value: Any, names: dict[str, str]) -> Any:
    """Return a part with references to the new names of definitions."""
    if isinstance(value, list):
        return [rename_references(v, names) for v in value]
    if not isinstance(value, dict):
        return value
    out = {k: rename_references(v, names) for k, v in value.items()}
    if isinstance(own := out.get("$ref"), str) and own.startswith(PREFIX):
        name = own.removeprefix(PREFIX)
        out["$ref"] = PREFIX + names.get(name, name)
    return out
