"""Aggregated discovery: every group, version and resource in one document."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

import orjson

from hydrofoil.apis.catalog import Catalog, Resource, Subresource
from hydrofoil.apis.registration import CUSTOM_PRIORITY, GROUP, OWN_PRIORITY
from hydrofoil.apis.version import version_key
from hydrofoil.discovery.registered import Registered

API_GROUP, API_VERSION, KIND = "apidiscovery.k8s.io", "v2", "APIGroupDiscoveryList"
LIST_TYPE = f"io.k8s.api.apidiscovery.{API_VERSION}.{KIND}"
PARAMETERS = f"g={API_GROUP};v={API_VERSION};as={KIND}"
"""The parameters of a media type that ask for it."""


class Aggregated:
    """The two documents, made once for each state of the catalog and of the API services."""

    def __init__(self, catalog: Catalog, registered: Registered) -> None:
        self._catalog = catalog
        self._registered = registered
        self._made = (-1, -1)
        self.count = 0
        """The number of times that a document was made."""
        self._documents = lru_cache(maxsize=8)(self._make)

    def document(self, *, core: bool) -> tuple[bytes, str]:
        """Return the APIGroupDiscoveryList of `/api` or of `/apis` and its ETag, which all encodings share."""
        state = (self._catalog.changes, self._registered.changes)
        if self._made != state:
            self._made = state
            self._documents.cache_clear()
        return self._documents(core)

    def _make(self, core: bool) -> tuple[bytes, str]:
        self.count += 1
        items = []
        for group, versions in self._merged():
            if (group == "") == core:
                metadata: dict[str, Any] = {"name": group} if group else {}
                items.append({"metadata": metadata, "versions": versions})
        body = orjson.dumps(
            {
                "kind": KIND,
                "apiVersion": f"{API_GROUP}/{API_VERSION}",
                "metadata": {},
                "items": items,
            }
        )
        return body, f'"{hashlib.sha512(body).hexdigest().upper()}"'

    def _merged(self) -> list[tuple[str, list[dict[str, Any]]]]:
        """Return each group and its versions; those of services replace the server's own
        (apiserver `pkg/endpoints/discovery/aggregated` `calculateAPIGroupsLocked`)."""
        found: dict[str, dict[str, tuple[int, int, dict[str, Any]]]] = {}
        for group, served in self._catalog.groups.items():
            for v, resources in served.items():
                priority = self._catalog.priorities.get(f"{group}/{v}" if group else v, CUSTOM_PRIORITY)
                if group == GROUP:
                    priority = (OWN_PRIORITY, 0)
                entry = {"version": v, "resources": [self._aggregate(r) for r in resources.values()]}
                found.setdefault(group, {})[v] = (*priority, entry | {"freshness": "Current"})
        for (group, v), remote in self._registered.remote.items():
            if (known := self._registered.discovered.get(remote.name)) is not None:
                found.setdefault(group, {})[v] = (remote.group_priority, remote.version_priority, known)
        order = sorted(found, key=lambda g: (-max(v[0] for v in found[g].values()), g))
        return [
            (g, [found[g][v][2] for v in sorted(found[g], key=lambda v: (-found[g][v][1], version_key(v)))])
            for g in order
        ]

    def _aggregate(self, r: Resource) -> dict[str, Any]:
        # Upstream leaves group and version of built-in kinds empty if they are those of the list.
        kind = {"group": r.group, "version": r.version} if r.custom else {"group": "", "version": ""}
        kind["kind"] = r.kind
        entry: dict[str, Any] = {"resource": r.plural, "responseKind": kind}
        entry |= {
            "scope": "Namespaced" if r.namespaced else "Cluster",
            "singularResource": r.singular,
            "verbs": r.verbs,
        }
        if r.short_names:
            entry["shortNames"] = r.short_names
        if r.categories:
            entry["categories"] = r.categories
        if r.subresources:
            entry["subresources"] = [self._aggregate_sub(r, s) for s in r.subresources.values()]
        return entry

    @staticmethod
    def _aggregate_sub(r: Resource, s: Subresource) -> dict[str, Any]:
        own = (s.group, s.version) == (r.group, r.version) and not r.custom
        kind = {"group": "" if own else s.group, "version": "" if own else s.version, "kind": s.kind}
        return {"subresource": s.name, "responseKind": kind, "verbs": sorted(s.verbs)}


def plain_clauses(accept: str) -> str:
    """Return an Accept header without the clauses that only aggregated discovery matches."""
    return ",".join(c for c in accept.split(",") if "as=APIGroupDiscoveryList" not in c)
