"""Ownership of replicas in a Scale and its object (apimachinery `pkg/util/managedfields/scalehandler.go`)."""

from __future__ import annotations

from typing import Any

from hydrofoil.apis.catalog import Catalog, Resource

Entry = dict[str, Any]
Paths = dict[str, list[str] | None]
"""API version -> path of the replicas in its objects; None if they have none."""
SCALE = "autoscaling/v1"
REPLICAS = ["spec", "replicas"]


def paths(catalog: Catalog, resource: Resource) -> Paths:
    """Return the path of the replicas in each version of a resource."""
    out: Paths = {}
    for served in catalog.groups.get(resource.group, {}).values():
        if (found := served.get(resource.plural)) is None:
            continue
        if found.custom:
            given = found.raw["scale"]
            out[found.api_version] = given["specReplicasPath"].removeprefix(".").split(".") if given else None
        else:
            out[found.api_version] = REPLICAS
    return out


def key(entry: Entry) -> tuple[str, ...]:
    """Return the identity of an entry: one that applies is the same in any version."""
    version = entry.get("apiVersion", "") if entry.get("operation") == "Update" else ""
    return entry.get("manager", ""), entry.get("operation", ""), entry.get("subresource", ""), version


def distinct(entries: list[Entry]) -> list[Entry]:
    """Return the last of the entries with the same identity: a write through the Scale can add one twice."""
    return list({key(entry): entry for entry in entries}.values())


def has(fields: Any, path: list[str]) -> bool:
    """Report whether a set of fields has a path."""
    for name in path:
        if not isinstance(fields, dict) or f"f:{name}" not in fields:
            return False
        fields = fields[f"f:{name}"]
    return True


def entry_of_path(path: list[str]) -> Entry:
    """Return a set of one path."""
    out: Entry = {}
    for name in reversed(path):
        out = {f"f:{name}": out}
    return out


def without(fields: Entry, path: list[str]) -> Entry:
    """Return a set without a path."""
    name = f"f:{path[0]}"
    rest = {k: v for k, v in fields.items() if k != name}
    if len(path) > 1 and (inner := without(fields[name], path[1:])):
        rest[name] = {} if set(inner) == {"."} else inner
    return {k: rest[k] for k in fields if k in rest}


def of_scale(entries: list[Entry], known: Paths) -> list[Entry]:
    """Return the entries of a Scale: those of its object that own the replicas."""
    out = []
    for entry in distinct(entries):
        path = known.get(entry.get("apiVersion", ""))
        if path and has(entry.get("fieldsV1"), path):
            out.append({**entry, "apiVersion": SCALE, "fieldsV1": entry_of_path(REPLICAS)})
    return out


def of_object(entries: list[Entry], scale: list[Entry], known: Paths, version: str) -> list[Entry]:
    """Return the entries of an object after its Scale was written."""
    left = {key(entry): entry for entry in scale}
    entries = distinct(entries)
    times = {key(entry): entry.get("time") for entry in entries}
    out = []
    for entry in entries:
        if entry.get("apiVersion", "") not in known:
            continue
        path = known[entry["apiVersion"]]
        if not path or not has(entry.get("fieldsV1"), path):
            out.append(entry)
        elif key(entry) in left:
            del left[key(entry)]
            out.append(entry)
        elif fields := without(entry["fieldsV1"], path):
            out.append({**entry, "fieldsV1": fields})
    for entry in left.values():
        if (path := known.get(version)) and has(entry.get("fieldsV1"), REPLICAS):
            new = {k: v for k, v in entry.items() if k != "time"} | {
                "apiVersion": version,
                "fieldsV1": entry_of_path(path),
            }
            if (time := times.get(key(entry))) is not None:
                new["time"] = time
            out.append(new)
    return sorted(out, key=lambda e: (e["operation"], e.get("time", ""), e.get("manager", ""), e.get("apiVersion", "")))
