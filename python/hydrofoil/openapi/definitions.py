"""OpenAPI documents of custom resources: made on request, kept while their definitions are unchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import orjson

from hydrofoil.apis.catalog import Resource
from hydrofoil.errors import ApiError
from hydrofoil.openapi.merge import merge_paths
from hydrofoil.openapi.packed import digest
from hydrofoil.openapi.paths import SCALE, Writer
from hydrofoil.openapi.schema import LIST_META, META, OBJECT_META, model_name, references, resource, resource_list
from hydrofoil.registry.objects import Objects

KEPT = 64
"""The number of documents of group versions that are kept."""
COMMON = (OBJECT_META, LIST_META, f"{META}.Status", f"{META}.DeleteOptions", f"{META}.Patch")
"""Schemas that the operations of every custom resource refer to; those with a scale refer to `SCALE`, too."""
KINDS = "x-kubernetes-group-version-kind"
ELSEWHERE = frozenset({"admission.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "imagepolicy.k8s.io"})
"""Groups whose types are not in the scheme of upstream's built-in kinds, by which it writes these documents."""
INFO = {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"}
Packed = Callable[[str], tuple[bytes, str] | None]


Spec = tuple[dict[str, Any], dict[str, dict[str, Any]]]
"""The spec of a definition, and its versions by name."""


class Remote(Protocol):
    """The OpenAPI documents of services."""

    @property
    def changes(self) -> int:
        """A count that grows with each change of these documents."""

    def openapi_index(self) -> dict[str, Any]:
        """Return the entries of their OpenAPI v3 documents: path below `/openapi/v3` -> entry of the index."""

    def swaggers(self) -> list[tuple[str, dict[str, Any]]]:
        """Return their OpenAPI v2 documents, each with its path prefix."""


class Definitions:
    """Documents of the definitions of a server; `packed` has those of its built-in kinds, `whole` those of all."""

    def __init__(self, objects: Objects, remote: Remote, packed: Packed, whole: Packed) -> None:
        self._objects = objects
        self._remote = remote
        self._packed = packed
        self._whole = whole
        self._documents: dict[str, tuple[str, bytes]] = {}
        self._v2: tuple[tuple[int, int], bytes, str] | None = None
        self._common: dict[bool, dict[str, Any]] = {}

    def index(self) -> dict[str, str]:
        """Return the documents of custom resources, and the hash of each."""
        out = {}
        for group, versions in self._objects.catalog.groups.items():
            for version, served in versions.items():
                if made := self._of(served):
                    out[f"apis/{group}/{version}"] = self._hash(made)
        return out

    def document(self, name: str) -> tuple[bytes, str] | None:
        """Return a document below `/openapi/v3`, or `v2`, with its hash; None if it has no custom resources."""
        if name == "v2":
            return self._swagger()
        _, _, rest = name.partition("apis/")
        group, _, version = rest.partition("/")
        made = self._of(self._objects.catalog.groups.get(group, {}).get(version, {}))
        if not made:
            return None
        hashed = self._hash(made)
        found = self._documents.get(name)
        if found is None or found[0] != hashed:
            if len(self._documents) >= KEPT:
                self._documents.pop(next(iter(self._documents)))
            found = self._documents[name] = (hashed, self._make(name, made))
        return found[1], hashed

    @staticmethod
    def _of(served: dict[str, Resource]) -> list[Resource]:
        return [r for _, r in sorted(served.items()) if r.custom and r.raw["digest"]]

    def _hash(self, made: list[Resource]) -> str:
        return digest(b"".join(r.raw["digest"] for r in made))

    def _spec(self, name: str) -> Spec | None:
        """Return the spec of a definition, and its versions by name; None if it was deleted."""
        definitions = self._objects.catalog.find("apiextensions.k8s.io", "v1", "customresourcedefinitions")
        assert definitions is not None
        try:
            spec = orjson.loads(self._objects.get(definitions, "", name).json)["spec"]
        except ApiError:
            return None
        return spec, {v["name"]: v for v in spec["versions"]}

    def _schema(self, r: Resource, known: dict[str, Spec | None], *, v2: bool) -> dict[str, Any]:
        """Return the models of a resource; `known` caches decoded definitions, each of which may have many versions."""
        name = r.raw["definition"]
        if name not in known:
            known[name] = self._spec(name)
        found = known[name]
        if found is None:
            return {}
        spec, versions = found
        version = versions.get(r.version, {})
        schema = version.get("schema", {}).get("openAPIV3Schema")
        preserve = spec.get("preserveUnknownFields", False)
        try:
            model = resource(schema, r.group, r.version, r.kind, v2=v2, preserve=preserve)
            orjson.dumps(model)
        except (orjson.JSONEncodeError, RecursionError):
            # Nested too deeply to be encoded: the kind is published without its properties.
            model = resource(None, r.group, r.version, r.kind, v2=v2)
        many = resource_list(r.group, r.version, r.kind, r.list_kind, r.plural, v2=v2)
        if fields := version.get("selectableFields"):
            selectable = [{"fieldPath": f["jsonPath"].removeprefix(".")} for f in fields]
            model["x-kubernetes-selectable-fields"] = many["x-kubernetes-selectable-fields"] = selectable
        return {
            model_name(r.group, r.version, r.kind): model,
            model_name(r.group, r.version, r.list_kind): many,
        }

    def _make(self, name: str, made: list[Resource]) -> bytes:
        schemas = dict(self._shared(any("scale" in r.subresources for r in made)))
        paths: dict[str, Any] = {}
        known: dict[str, Spec | None] = {}
        for r in made:
            schemas |= self._schema(r, known, v2=False)
            paths |= Writer(r, v2=False).paths()
        document = {"openapi": "3.0.0", "info": INFO, "paths": paths, "components": {"schemas": schemas}}
        base = self._packed(name)
        if base is not None:
            # A group that has built-in kinds too.
            own = orjson.loads(base[0])
            own["paths"] |= paths
            own["components"]["schemas"] |= schemas
            document = own
        return orjson.dumps(document)

    def _shared(self, scaled: bool) -> dict[str, Any]:
        """Return the common schemas and all that they refer to."""
        if scaled not in self._common:
            found = self._whole("apis/apps/v1")
            known = orjson.loads(found[0])["components"]["schemas"] if found else {}
            common: dict[str, Any] = {}
            wanted = [*COMMON, SCALE] if scaled else list(COMMON)
            while wanted:
                name = wanted.pop()
                if name in known and name not in common:
                    common[name] = known[name]
                    wanted += references(known[name])
            options = common.get(f"{META}.DeleteOptions")
            if options is not None and (every := self._kinds_of_options()):
                common[f"{META}.DeleteOptions"] = options | {KINDS: every}
            self._common[scaled] = common
        return self._common[scaled]

    def _kinds_of_options(self) -> list[dict[str, str]]:
        """Return the kinds of DeleteOptions of all groups: documents of built-in groups have their own alone."""
        found = self._whole("v2")
        options = orjson.loads(found[0])["definitions"].get(f"{META}.DeleteOptions", {}) if found else {}
        return [kind for kind in options.get(KINDS, ()) if kind["group"] not in ELSEWHERE]

    def _swagger(self) -> tuple[bytes, str] | None:
        catalog = self._objects.catalog
        state = (catalog.changes, self._remote.changes)
        if self._v2 is not None and self._v2[0] == state:
            return self._v2[1:]
        made = [r for r in catalog.resources() if r.custom and r.raw["digest"]]
        base = self._packed("v2")
        remote = self._remote.swaggers()
        if not (made or remote) or base is None:
            return None
        definitions: dict[str, Any] = {}
        paths: dict[str, Any] = {}
        specs: dict[str, Spec | None] = {}
        for r in made:
            definitions |= self._schema(r, specs, v2=True)
            paths |= Writer(r, v2=True).paths()
        if remote:
            known = orjson.loads(base[0])["definitions"] | definitions
            for start, swagger in remote:
                new_paths, new = merge_paths(swagger, start, known)
                paths |= {path: item for path, item in new_paths.items() if path not in paths}
                known |= new
                definitions |= new
        # The packed document is not decoded again: new members are inserted at the start of its two maps.
        body = base[0].replace(b'"definitions":{', b'"definitions":{' + members(definitions), 1)
        at = body.rindex(b',"paths":{"/') + len(b',"paths":{')
        body = body[:at] + members(paths) + body[at:]
        self._v2 = (state, body, digest(body))
        return body, self._v2[2]


def members(value: dict[str, Any]) -> bytes:
    """Return the members of an object as text to insert before others."""
    return orjson.dumps(value)[1:-1] + b"," if value else b""
