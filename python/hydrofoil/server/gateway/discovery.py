"""The upstream's discovery: its resources, those of later releases than this server knows included."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

import orjson
from msgspec.structs import replace

from hydrofoil.apiextensions.resources import resources
from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.server.gateway.client import Upstream
from hydrofoil.server.gateway.mirrors import Key
from hydrofoil.storage.upstream.requests import Failed

SECONDS = 10.0
DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
READ = frozenset(("get", "list", "watch"))
Object = dict[str, Any]


class Discovery:
    """What the upstream says that it serves."""

    def __init__(self, catalog: Catalog, upstream: Upstream) -> None:
        self._catalog = catalog
        self._upstream = upstream
        self._later: dict[Key, Resource] = {}
        """The resources that only the upstream knows."""

    async def discover(self) -> dict[Key, Object] | None:
        """Return the resources that can be listed and watched; None if the upstream lists none. Raise Failed."""
        found: dict[Key, Object] = {}
        for root in ("/api", "/apis"):
            answer = await self._upstream.get(root, SECONDS, accept=f"{DISCOVERY},application/json")
            if answer.status in (429, 500, 502, 503, 504):
                raise Failed(f"the upstream answers {answer.status}")
            try:
                document = orjson.loads(answer.body)
            except orjson.JSONDecodeError:
                return None
            if answer.status != 200 or document.get("kind") != "APIGroupDiscoveryList":
                return None
            found.update(discovered(document))
        return found

    async def find_later(self, found: dict[Key, Object], known: Container[Key]) -> dict[Key, Resource]:
        """Return the resources that the upstream serves and only a later release knows; `known` are all others."""
        later = [key for key in found if key not in known]
        if not later:
            return {}
        try:
            answer = await self._upstream.get(SERVICES, SECONDS)
            items = orjson.loads(answer.body)["items"] if answer.status == 200 else []
        except (Failed, orjson.JSONDecodeError, KeyError):
            return self._later
        own = {
            (item["spec"].get("group", ""), item["spec"]["version"])
            for item in items
            # Those of definitions have no service either, and are followed by these.
            if not item["spec"].get("service") and is_builtin(item)
        }
        self._later = {k: self._later.get(k) or self._make(k, found[k]) for k in later if k[:2] in own}
        return self._later

    def _make(self, key: Key, entry: Object) -> Resource:
        """Return a resource of which only names are known: all members are kept, tables are the upstream's."""
        group, version, plural = key
        kind = entry.get("responseKind", {}).get("kind", "")
        names = {
            "plural": plural,
            "singular": entry.get("singularResource", ""),
            "kind": kind,
            "listKind": f"{kind}List",
        }
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        definition: Object = {
            "kind": "CustomResourceDefinition",
            "apiVersion": "apiextensions.k8s.io/v1",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {
                "group": group,
                "names": names,
                "scope": entry.get("scope", "Namespaced"),
                "versions": [{"name": version, "served": True, "storage": True, "schema": schema}],
            },
            "status": {"acceptedNames": names, "conditions": [{"type": "Established", "status": "True"}]},
        }
        natives = dict(self._catalog.native.custom_of(orjson.dumps(definition)))
        return replace(resources(definition, natives, None)[0], raw={"later": True})


def is_builtin(service: Object) -> bool:
    """Report whether an API service is that of the upstream's own resources, and not of definitions."""
    labels = service["metadata"].get("labels") or {}
    return bool(labels.get("kube-aggregator.kubernetes.io/automanaged") == "onstart")


def discovered(document: Object) -> Iterator[tuple[Key, Object]]:
    """Yield the resources of an aggregated discovery document that can be read in all ways."""
    for group in document.get("items") or ():
        for version in group.get("versions") or ():
            for resource in version.get("resources") or ():
                if READ.issubset(resource.get("verbs") or ()):
                    name = group.get("metadata", {}).get("name", "")
                    yield (name, version["version"], resource["resource"]), resource
