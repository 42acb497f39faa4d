"""The resources of custom resource definitions."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

from hydrofoil import engine
from hydrofoil.apis.catalog import Converter, Resource, Subresource
from hydrofoil.apis.version import version_key

VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
TERMINATING_VERBS = ("delete", "deletecollection", "get", "list", "watch")
WRITABLE = frozenset({"get", "patch", "update"})


def condition(definition: dict[str, Any], kind: str) -> dict[str, Any] | None:
    """Return a condition of a definition."""
    conditions = definition.get("status", {}).get("conditions") or ()
    return next((c for c in conditions if c["type"] == kind), None)


def holds(definition: dict[str, Any], kind: str) -> bool:
    """Report whether a condition of a definition is true."""
    found = condition(definition, kind)
    return found is not None and found["status"] == "True"


def resources(
    definition: dict[str, Any], natives: dict[str, engine.ResourceType], webhook: Converter | None
) -> list[Resource]:
    """Return one resource for each served version of a definition; none before its names are accepted."""
    if not (holds(definition, "NamesAccepted") or holds(definition, "Established")):
        return []
    served = (v for v in definition["spec"]["versions"] if v["served"])
    return [_resource(definition, v, natives[v["name"]], webhook) for v in served]


def stored_resource(
    definition: dict[str, Any], natives: dict[str, engine.ResourceType], webhook: Converter | None
) -> Resource:
    """Return the resource of the storage version, served or not."""
    storage = next(v for v in definition["spec"]["versions"] if v["storage"])
    return _resource(definition, storage, natives[storage["name"]], webhook)


def _resource(
    definition: dict[str, Any], version: dict[str, Any], native: engine.ResourceType, webhook: Converter | None
) -> Resource:
    spec, names = definition["spec"], definition["status"]["acceptedNames"]
    group, kind = spec["group"], names["kind"]
    storage = next(v["name"] for v in spec["versions"] if v["storage"])
    terminating = holds(definition, "Terminating")
    given = version.get("subresources", {})
    # The source of the published documents; nothing is published before a definition is established.
    digest = b""
    if holds(definition, "Established"):
        parts = [
            names,
            spec["scope"],
            spec.get("preserveUnknownFields"),
            version["name"],
            native.fingerprint.hex(),
            sorted(given),
        ]
        parts.append(version.get("selectableFields"))
        digest = hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).digest()
    subresources: dict[str, Subresource] = {}
    if "status" in given:
        subresources["status"] = Subresource("status", group, version["name"], kind, "", WRITABLE)
    if "scale" in given:
        subresources["scale"] = Subresource("scale", "autoscaling", "v1", "Scale", "", WRITABLE)
    return Resource(
        group=group,
        version=version["name"],
        plural=names["plural"],
        singular=names["singular"],
        kind=kind,
        list_kind=names["listKind"],
        namespaced=spec["scope"] == "Namespaced",
        verbs=TERMINATING_VERBS if terminating else VERBS,
        short_names=tuple(names.get("shortNames", ())),
        categories=tuple(names.get("categories", ())),
        storage_version=(group, storage, kind),
        native=native,
        subresources=subresources,
        deprecation=_deprecation(spec, version) if version.get("deprecated") else "",
        raw={"scale": given.get("scale"), "definition": definition["metadata"]["name"], "digest": digest},
        custom=True,
        terminating=terminating,
        webhook=webhook,
    )


def _deprecation(spec: dict[str, Any], version: dict[str, Any]) -> str:
    """Return the default warning (`defaultDeprecationWarning` of `pkg/apiserver/customresource_handler.go`)."""
    own = version.get("deprecationWarning")
    if own is not None:
        return str(own)
    group, kind, name = spec["group"], spec["names"]["kind"], version["name"]
    text = f"{group}/{name} {kind} is deprecated"
    served = (v["name"] for v in spec["versions"] if v["served"] and not v.get("deprecated"))
    newer = sorted((v for v in served if version_key(v) < version_key(name)), key=version_key)
    return f"{text}; use {group}/{newer[0]} {kind}" if newer else text
