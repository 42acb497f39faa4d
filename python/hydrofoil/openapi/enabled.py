"""The packed OpenAPI documents without resources that `--runtime-config` switches off (GR-03)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import orjson

from hydrofoil.apis.catalog import Catalog
from hydrofoil.openapi.packed import digest
from hydrofoil.openapi.schema import references

Packed = Callable[[str], tuple[bytes, str] | None]


class Enabled:
    """Documents of the built-in kinds that a server serves; `packed` has those of all."""

    def __init__(self, catalog: Catalog, packed: Packed) -> None:
        self._off = catalog.off
        self._kept = catalog.builtin
        self._packed = packed
        self._made: dict[str, tuple[bytes, str] | None] = {}

    def document(self, name: str) -> tuple[bytes, str] | None:
        """Return a document and its hash; None if absent, or if nothing of it is served."""
        if not self._off or not self._concerned(name):
            return self._packed(name)
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def hashes(self, all_hashes: dict[str, str]) -> dict[str, str]:
        """Return the hashes of the documents below `/openapi/v3`."""
        if not self._off:
            return all_hashes
        found = ((name, self.document(name)) for name in all_hashes)
        return {name: document[1] for name, document in found if document is not None}

    def _concerned(self, name: str) -> bool:
        group, version = _group_version(name)
        return name == "v2" or any(group == g and version in ("", v) for g, v, _ in self._off)

    def _make(self, name: str) -> tuple[bytes, str] | None:
        group, version = _group_version(name)
        if name != "v2" and not any(g == group and version in ("", v) for g, v, _ in self._kept):
            return None
        found = self._packed(name)
        if found is None or (name != "v2" and not version):
            return found
        document = orjson.loads(found[0])
        paths: dict[str, Any] = document["paths"]
        document["paths"] = {path: item for path, item in paths.items() if self._serves(path)}
        if len(document["paths"]) == len(paths):
            return found
        holder, key = (document, "definitions") if name == "v2" else (document["components"], "schemas")
        schemas: dict[str, Any] = holder[key]
        gone = reachable_names(references(paths), schemas) - reachable_names(references(document["paths"]), schemas)
        holder[key] = {n: schema for n, schema in schemas.items() if n not in gone}
        body = orjson.dumps(document)
        return body, digest(body)

    def _serves(self, path: str) -> bool:
        """Report whether a path of a document is served here."""
        _, root, *rest = path.rstrip("/").split("/")
        if root not in ("api", "apis"):
            return True
        group = "" if root == "api" else rest.pop(0) if rest else None
        if group is None:
            return True
        if not rest:
            return any(g == group for g, _, _ in self._kept)
        version, *rest = rest
        if not rest:
            return any((g, v) == (group, version) for g, v, _ in self._kept)
        if rest[0] == "watch":
            rest = rest[1:]
        if rest[:2] == ["namespaces", "{namespace}"] and len(rest) > 2:
            rest = rest[2:]
        return not rest or (group, version, rest[0]) not in self._off


def _group_version(name: str) -> tuple[str, str]:
    """Return group and version of a document: `api/v1`, `apis/apps`, `apis/apps/v1`."""
    root, _, rest = name.partition("/")
    if root == "api":
        return "", rest
    group, _, version = rest.partition("/")
    return group, version


def reachable_names(names: Iterable[str], schemas: dict[str, Any]) -> set[str]:
    """Return the names, and all that their schemas refer to."""
    seen, wanted = set[str](), list(names)
    while wanted:
        name = wanted.pop()
        if name not in seen and name in schemas:
            seen.add(name)
            wanted += references(schemas[name])
    return seen
