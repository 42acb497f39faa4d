"""The discovery documents that follow from `catalog.json`."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator

from .model import Json
from .paths import root_paths


def storage_version_hash(storage: list[str]) -> str:
    digest = hashlib.sha256("/".join(storage).encode()).digest()
    return base64.b64encode(digest[:8]).decode()


def served_versions(catalog: Json) -> dict[str, list[str]]:
    """Group -> versions, both in order of priority."""
    versions: dict[str, list[str]] = {}
    for group in catalog["groups"]:
        for resource in catalog["resources"]:
            known = versions.get(group, [])
            if resource["group"] != group or not resource.get("served"):
                continue
            if resource["version"] not in known:
                versions[group] = [*known, resource["version"]]
    return versions


def served(catalog: Json, group: str, version: str) -> list[Json]:
    found = [
        resource
        for resource in catalog["resources"]
        if resource.get("served") and (resource["group"], resource["version"]) == (group, version)
    ]
    return sorted(found, key=lambda resource: str(resource["plural"]))


def list_entries(resource: Json) -> Iterator[Json]:
    entry = {
        "name": resource["plural"],
        "singularName": resource["singular"],
        "namespaced": resource.get("namespaced", False),
        "kind": resource["kind"],
        "verbs": resource["verbs"],
    }
    entry.update({key: resource[key] for key in ("shortNames", "categories") if key in resource})
    if "storage" in resource:
        entry["storageVersionHash"] = storage_version_hash(resource["storage"])
    yield entry
    for sub in resource.get("subresources", ()):
        entry = {
            "name": f"{resource['plural']}/{sub['name']}",
            "singularName": "",
            "namespaced": resource.get("namespaced", False),
            "kind": sub["kind"],
            "verbs": sub["verbs"],
        }
        # The list names a group and version only where they are not its own.
        if (sub["group"], sub["version"]) != (resource["group"], resource["version"]):
            entry.update(group=sub["group"], version=sub["version"])
        yield entry


def resource_list(catalog: Json, group: str, version: str) -> Json:
    entries = [entry for resource in served(catalog, group, version) for entry in list_entries(resource)]
    return {
        "kind": "APIResourceList",
        # The core list alone is answered without this key.
        **({"apiVersion": "v1"} if group else {}),
        "groupVersion": f"{group}/{version}" if group else version,
        "resources": entries,
    }


def api_group(group: str, versions: list[str]) -> Json:
    names = [{"groupVersion": f"{group}/{version}", "version": version} for version in versions]
    return {"name": group, "versions": names, "preferredVersion": names[0]}


def discovery(catalog: Json) -> Json:
    """Return every unaggregated document, keyed by its path; the lists are below `resources`."""
    groups = served_versions(catalog)
    major, minor = catalog["version"].split(".")
    return {
        "/": {"paths": root_paths(catalog["resources"], catalog["checks"])},
        "/api": {"kind": "APIVersions", "versions": groups[""]},
        "/apis": {
            "kind": "APIGroupList",
            "apiVersion": "v1",
            "groups": [api_group(group, versions) for group, versions in groups.items() if group],
        },
        "resources": {
            f"/apis/{group}/{version}" if group else f"/api/{version}": resource_list(catalog, group, version)
            for group, versions in groups.items()
            for version in versions
        },
        "version": {"major": major, "minor": minor, "gitVersion": catalog["release"]},
    }


def response_kind(owner: Json, resource: Json) -> Json:
    """Return the kind of a response; one of the resource's own group and version is named without them."""
    own = (owner["group"], owner["version"]) == (resource["group"], resource["version"])
    group, version = ("", "") if own else (owner["group"], owner["version"])
    return {"group": group, "version": version, "kind": owner["kind"]}


def aggregated_resource(resource: Json) -> Json:
    out = {
        "resource": resource["plural"],
        "responseKind": response_kind(resource, resource),
        "scope": "Namespaced" if resource.get("namespaced") else "Cluster",
        "singularResource": resource["singular"],
        "verbs": resource["verbs"],
    }
    out.update({key: resource[key] for key in ("shortNames", "categories") if key in resource})
    if subresources := resource.get("subresources"):
        out["subresources"] = [
            {
                "subresource": sub["name"],
                "responseKind": response_kind(sub, resource),
                "verbs": sub["verbs"],
            }
            for sub in subresources
        ]
    return out


def aggregated_group(catalog: Json, group: str, versions: list[str]) -> Json:
    return {
        "metadata": {"name": group} if group else {},
        "versions": [
            {
                "version": version,
                "resources": [aggregated_resource(resource) for resource in served(catalog, group, version)],
                "freshness": "Current",
            }
            for version in versions
        ],
    }


def aggregated(catalog: Json) -> Json:
    groups = served_versions(catalog)
    core = {group: versions for group, versions in groups.items() if not group}
    named = {group: versions for group, versions in groups.items() if group}
    return {
        path: {
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2",
            "metadata": {},
            "items": [aggregated_group(catalog, group, versions) for group, versions in part.items()],
        }
        for path, part in (("/api", core), ("/apis", named))
    }
