"""Facts about every resource, from the published discovery documents (all versions enabled)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .model import Json, read_json


def version_rank(version: str) -> tuple[int, int, int]:
    """Stable before beta before alpha, newer before older."""
    match = re.fullmatch(r"v(\d+)(?:(alpha|beta)(\d+))?", version)
    if match is None:
        raise ValueError(f"not a version: {version}")
    stage = {None: 0, "beta": 1, "alpha": 2}[match[2]]
    return stage, -int(match[1]), -int(match[3] or 0)


def read_lists(discovery: Path) -> Iterator[Json]:
    """Every APIResourceList."""
    for file in sorted(discovery.glob("api*__*.json")):
        document = read_json(file)
        if document["kind"] == "APIResourceList":
            yield document


def resource_facts(discovery: Path, types: dict[str, Json]) -> list[Json]:
    """One entry a resource, in alphabetical order of groups."""
    kinds = {
        (kind["group"], kind["version"], kind["kind"]): name
        for name, type_ in types.items()
        # Meta types belong to every group; a kind's own type is first.
        for kind in type_.get("gvk", [])
        if kind["kind"] == name.rsplit(".", 1)[1]
    }
    found = []
    for document in read_lists(discovery):
        group, _, version = document["groupVersion"].rpartition("/")
        subresources: dict[str, list[Json]] = {}
        for entry in document["resources"]:
            plural, _, sub = entry["name"].partition("/")
            if sub:
                subresources.setdefault(plural, []).append(
                    {
                        "name": sub,
                        "group": entry.get("group", group),
                        "version": entry.get("version", version),
                        "kind": entry["kind"],
                        "verbs": entry["verbs"],
                    }
                )
        for entry in document["resources"]:
            if "/" not in entry["name"]:
                subs = subresources.get(entry["name"], [])
                found.append(resource(group, version, entry, kinds, subs))
    return found


def resource(
    group: str,
    version: str,
    entry: Json,
    kinds: dict[tuple[str, str, str], str],
    subresources: list[Json],
) -> Json:
    kind = entry["kind"]
    facts: Json = {
        "group": group,
        "version": version,
        "plural": entry["name"],
        "singular": entry["singularName"],
        "kind": kind,
        "namespaced": entry["namespaced"],
        "verbs": entry["verbs"],
        "type": kinds.get((group, version, kind)),
    }
    if "list" in entry["verbs"]:
        facts["listKind"] = f"{kind}List"
        facts["listType"] = kinds.get((group, version, f"{kind}List"))
    facts["shortNames"] = entry.get("shortNames", [])
    facts["categories"] = entry.get("categories", [])
    facts["subresources"] = subresources
    return facts


def in_order(resources: list[Json], groups: list[str]) -> list[Json]:
    """By priority of the group, then of the version, then by name."""
    return sorted(
        resources,
        key=lambda item: (
            groups.index(item["group"]),
            version_rank(item["version"]),
            item["plural"],
        ),
    )
