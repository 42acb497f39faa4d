"""The discovery documents of groups and versions (`/api`, `/apis`, `/apis/GROUP`, `/apis/GROUP/VERSION`)."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from functools import lru_cache
from typing import Any

import orjson

from hydrofoil.apis.catalog import Catalog, Resource, Subresource
from hydrofoil.apis.registration import GROUP
from hydrofoil.apis.version import version_key
from hydrofoil.discovery.registered import Registered


def storage_hash(resource: Resource) -> str:
    """Return `storageVersionHash`, by which clients detect a storage migration."""
    assert resource.storage_version is not None
    digest = hashlib.sha256("/".join(resource.storage_version).encode()).digest()
    return b64encode(digest[:8]).decode()


class Documents:
    """Discovery documents of a catalog, each made once."""

    def __init__(self, catalog: Catalog, registered: Registered, *, hashes: bool = True) -> None:
        self._catalog = catalog
        self._hashes = hashes
        self._registered = registered
        self._made = (-1, -1)
        self._documents = lru_cache(maxsize=256)(self._document)

    def _refresh(self) -> None:
        """Drop the documents of a former state of the catalog or of the API services."""
        state = (self._catalog.changes, self._registered.changes)
        if self._made != state:
            self._made = state
            self._documents.cache_clear()

    def document(self, path: str) -> bytes | None:
        """Return the document of a path; None if absent."""
        self._refresh()
        return self._documents(path)

    def versions(self, group: str) -> list[str]:
        """Return the versions of a group, the preferred one first."""
        return sorted(self._catalog.groups[group], key=version_key)

    def _document(self, path: str) -> bytes | None:
        segments = [s for s in path.split("/") if s]
        match segments:
            case ["apis"]:
                registered = self._registered.groups()
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
        """Return `/api`."""
        return orjson.dumps(
            {
                "kind": "APIVersions",
                "versions": self.versions(""),
                "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
            }
        )

    def _group_document(self, group: str) -> bytes | None:
        """Return `/apis/GROUP`: as registered, else as in the catalog (`apiGroupHandler`)."""
        versions = self._registered.groups().get(group)
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
