"""The parameters of policies (apiserver `pkg/admission/plugin/policy/generic/policy_dispatcher.go CollectParams`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from msgspec import Struct

from hydrofoil.admission.matching.selectors import LabelSelector
from hydrofoil.apis.catalog import Resource
from hydrofoil.engine import Document, Selector, Stored
from hydrofoil.registry.store import Registry

Object = dict[str, Any]
KEPT = 256
"""The greatest number of parsed objects that are kept."""
NOT_FOUND = "no params found for policy binding with `Deny` parameterNotFoundAction"
CLUSTER = "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
NAMESPACE = "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"


class ConfigurationError(Exception):
    """A policy or binding that cannot be used for a request."""


class Param(Struct, frozen=True):
    """One parameter."""

    namespace: str
    name: str
    document: Document


class Params:
    """Parameters by reference; objects that did not change are parsed once."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._kept: dict[tuple[tuple[str, str], str, str], tuple[int, str, Document]] = {}

    def resource(self, kind: Object) -> Resource:
        """Return the resource of a kind of parameters. Raise ConfigurationError."""
        api_version: str = kind.get("apiVersion", "")
        group, _, version = api_version.rpartition("/")
        found = self._registry.catalog.by_kind.get((group, version, kind.get("kind", "")))
        if found is None:
            shown = f"{group}/{version}, Kind={kind.get('kind', '')}"
            raise ConfigurationError(f"failed to find resource referenced by paramKind: '{shown}'")
        return found

    async def collect(
        self, resource: Resource | None, reference: Object | None, namespace: str
    ) -> Sequence[Param | None]:
        """Return the parameters of a reference for a request in a namespace; one that is None without a reference.

        Raise ConfigurationError.
        """
        if resource is None or reference is None:
            return (None,)
        given: str = reference.get("namespace", "")
        if resource.namespaced:
            within = given or namespace
            if not within:
                raise ConfigurationError(CLUSTER)
        else:
            within = ""
            if given:
                raise ConfigurationError(NAMESPACE)
        found = self._found(resource, reference, within)
        if not found and reference.get("parameterNotFoundAction") == "Deny":
            raise ConfigurationError(NOT_FOUND)
        await self._registry.convert(resource, found)
        return [self._parsed(resource, stored) for stored in found]

    def _found(self, resource: Resource, reference: Object, within: str) -> list[Stored]:
        collection = self._registry.collection(resource)
        if name := reference.get("name"):
            stored = collection.get(resource.native, within, name)
            return [] if stored is None else [stored]
        selector = LabelSelector(reference.get("selector"))
        everything = Selector(resource.native, within, "", "")
        listed = collection.list(resource.native, everything, "json", 0, 0, "").versions(2**31)
        return listed if selector.empty else [each for each in listed if selector.matches(_labels(each))]

    def _parsed(self, resource: Resource, stored: Stored) -> Param:
        key = (resource.storage, stored.namespace, stored.name)
        found = self._kept.get(key)
        if found is None or found[:2] != (stored.revision, resource.api_version):
            if len(self._kept) >= KEPT:
                del self._kept[next(iter(self._kept))]
            found = self._kept[key] = (stored.revision, resource.api_version, Document(stored.json))
        return Param(stored.namespace, stored.name, found[2])


def _labels(stored: Stored) -> dict[str, str]:
    if b'"labels"' not in stored.json:
        return {}
    return orjson.loads(stored.member("metadata") or b"{}").get("labels") or {}
