"""The discovery documents, old and aggregated."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from functools import lru_cache
from typing import Any

import orjson

from hydrofoil.apis.catalog import Catalog, Resource, Subresource
from hydrofoil.apis.registration import CUSTOM_PRIORITY, GROUP, OWN_PRIORITY, Registrations
from hydrofoil.apis.version import version_key


def storage_hash(resource: Resource) -> str:
    """`storageVersionHash`: what a client compares to learn of a storage migration."""
    assert resource.storage_version is not None
    digest = hashlib.sha256("/".join(resource.storage_version).encode()).digest()
    return b64encode(digest[:8]).decode()


class Discovery:
    """Documents over a catalog, made once each."""

    def __init__(self, catalog: Catalog, registrations: Registrations, *, hashes: bool = True) -> None:
        self._catalog = catalog
        self._hashes = hashes
        self._registrations = registrations
        self._made = (-1, -1)
        self._aggregates = lru_cache(maxsize=8)(self._aggregated)
        self._documents = lru_cache(maxsize=256)(self._document)

    def _refresh(self) -> None:
        """Forgets what was made of another state of the catalog or of the API services."""
        now = (self._catalog.changes, self._registrations.changes)
        if self._made != now:
            self._made = now
            self._aggregates.cache_clear()
            self._documents.cache_clear()

    def document(self, path: str) -> bytes | None:
        """The document of a path, None when there is none."""
        self._refresh()
        return self._documents(path)

    def aggregated(self, core: bool, version: str) -> tuple[bytes, str]:
        """APIGroupDiscoveryList and its ETag."""
        self._refresh()
        return self._aggregates(core, version)

    def versions(self, group: str) -> list[str]:
        """The versions of a group, the preferred one first."""
        return sorted(self._catalog.groups[group], key=version_key)

    def _document(self, path: str) -> bytes | None:
        segments = [s for s in path.split("/") if s]
        match segments:
            case ["apis"]:
                registered = self._registrations.groups()
                groups = [self._group(GROUP, self.versions(GROUP))] if GROUP in self._catalog.groups else []
                groups += [self._group(g, versions) for g, versions in registered.items() if g]
                return orjson.dumps({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
            case ["apis", group]:
                return self._group_document(group)
            case ["api", version] if version in self._catalog.groups.get("", {}):
                return self._list("", version)
            case ["apis", group, version] if group and version in self._catalog.groups.get(group, {}):
                return self._list(group, version)
        return None

    def core(self, address: str) -> bytes:
        """`/api`."""
        return orjson.dumps(
            {
                "kind": "APIVersions",
                "versions": self.versions(""),
                "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
            }
        )

    def _group_document(self, group: str) -> bytes | None:
        """`/apis/GROUP`: as registered, else as the catalog has it (`apiGroupHandler`)."""
        versions = self._registrations.groups().get(group)
        if versions is None and group in self._catalog.groups:
            versions = self.versions(group)
        if not group or versions is None:
            return None
        return orjson.dumps({"kind": "APIGroup", "apiVersion": "v1", **self._group(group, versions)})

    @staticmethod
    def _group(group: str, names: list[str]) -> dict[str, Any]:
        versions = [{"groupVersion": f"{group}/{v}", "version": v} for v in names]
        return {"name": group, "versions": versions, "preferredVersion": versions[0]}

    def _list(self, group: str, version: str) -> bytes:
        head: dict[str, Any] = {"kind": "APIResourceList"}
        if group:
            head["apiVersion"] = "v1"
        head["groupVersion"] = f"{group}/{version}" if group else version
        head["resources"] = [entry for r in self._catalog.groups[group][version].values() for entry in self._entries(r)]
        return orjson.dumps(head)

    def _entries(self, r: Resource) -> list[dict[str, Any]]:
        entry: dict[str, Any] = {"name": r.plural, "singularName": r.singular, "namespaced": r.namespaced}
        entry |= {"kind": r.kind, "verbs": r.verbs}
        if r.short_names:
            entry["shortNames"] = r.short_names
        if r.categories:
            entry["categories"] = r.categories
        if r.storage_version is not None and (self._hashes or r.custom):
            entry["storageVersionHash"] = storage_hash(r)
        return [entry, *(self._sub_entry(r, s) for s in r.subresources.values())]

    @staticmethod
    def _sub_entry(r: Resource, s: Subresource) -> dict[str, Any]:
        entry: dict[str, Any] = {"name": f"{r.plural}/{s.name}", "singularName": "", "namespaced": r.namespaced}
        if (s.group, s.version) != (r.group, r.version) and s.version:
            entry |= {"group": s.group, "version": s.version}
        return entry | {"kind": s.kind, "verbs": sorted(s.verbs)}

    def _aggregated(self, core: bool, version: str) -> tuple[bytes, str]:
        items = []
        for group, versions in self._merged():
            if (group == "") == core:
                metadata: dict[str, Any] = {"name": group} if group else {}
                items.append({"metadata": metadata, "versions": versions})
        body = orjson.dumps(
            {
                "kind": "APIGroupDiscoveryList",
                "apiVersion": f"apidiscovery.k8s.io/{version}",
                "metadata": {},
                "items": items,
            }
        )
        return body, f'"{hashlib.sha512(body).hexdigest().upper()}"'

    def _merged(self) -> list[tuple[str, list[dict[str, Any]]]]:
        """Each group and its versions, what services serve in the place of what is served here
        (apiserver `pkg/endpoints/discovery/aggregated` `calculateAPIGroupsLocked`)."""
        found: dict[str, dict[str, tuple[int, int, dict[str, Any]]]] = {}
        for group, served in self._catalog.groups.items():
            for v, resources in served.items():
                priority = self._catalog.priorities.get(f"{group}/{v}" if group else v, CUSTOM_PRIORITY)
                if group == GROUP:
                    priority = (OWN_PRIORITY, 0)
                entry = {"version": v, "resources": [self._aggregate(r) for r in resources.values()]}
                found.setdefault(group, {})[v] = (*priority, entry | {"freshness": "Current"})
        for (group, v), remote in self._registrations.remote.items():
            if (known := self._registrations.discovered.get(remote.name)) is not None:
                found.setdefault(group, {})[v] = (remote.group_priority, remote.version_priority, known)
        order = sorted(found, key=lambda g: (-max(v[0] for v in found[g].values()), g))
        return [
            (g, [found[g][v][2] for v in sorted(found[g], key=lambda v: (-found[g][v][1], version_key(v)))])
            for g in order
        ]

    def _aggregate(self, r: Resource) -> dict[str, Any]:
        # Upstream leaves group and version of built-in kinds empty where they are the list's own.
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
