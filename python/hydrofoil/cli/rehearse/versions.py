"""The versions of a definition: where its objects are stored, and in which version a rehearsal looks at them."""

from __future__ import annotations

from typing import Any

from hydrofoil.cli.rehearse.copy import Copy
from hydrofoil.controls.apply import path_of
from hydrofoil.errors import ApiError
from hydrofoil.server.dumped_log import Contents

Object = dict[str, Any]


def storage_version(definition: Object) -> str:
    """Return the storage version; empty if there is none."""
    return next((v["name"] for v in definition["spec"]["versions"] if v.get("storage")), "")


def served_versions(definition: Object) -> list[str]:
    """Return the versions that are served."""
    return [v["name"] for v in definition["spec"]["versions"] if v.get("served")]


def probe_version(definition: Object, wanted: str) -> str:
    """Return the version in which objects are read and written: the wanted one if it is served, or another one."""
    served = served_versions(definition)
    for name in (wanted, storage_version(definition)):
        if name in served:
            return name
    return served[0] if served else ""


NO_VERSIONS: Object = {"spec": {"versions": []}}


def describe_versions(old: Object | None, new: Object | None) -> Object:
    """Return which versions objects are stored in, and what becomes of these."""
    new = new or NO_VERSIONS
    stored = list(
        ((new.get("status") or {}).get("storedVersions")) or ((old or {}).get("status") or {}).get("storedVersions", ())
    )
    names, served = [v["name"] for v in new["spec"]["versions"]], served_versions(new)
    storage = storage_version(new)
    return {
        "stored": stored,
        "storage": storage,
        "old": [name for name in stored if name != storage],
        "unserved": [name for name in stored if name in names and name not in served],
        "removed": [name for name in stored if name not in names],
    }


async def to_storage_version(copy: Copy, contents: Contents, definition: Object | None) -> str:
    """Store all objects in the storage version, as a server has them; return why that fails, or nothing.

    A dump has them in the preferred version, which may be another one.
    """
    if definition is None:
        return ""
    spec, version = definition["spec"], storage_version(definition)
    resource = copy.find(f"{spec['group']}/{version}", spec["names"]["kind"])
    kind = spec["group"], spec["names"]["kind"]
    versions = {one.api_version for one in contents.objects.objects() if (one.group, one.kind) == kind}
    if resource is None or versions <= {f"{spec['group']}/{version}"}:
        return ""
    items: list[Object] = []
    try:
        async for page in copy.pages(path_of(resource, "")):
            head = {"apiVersion": f"{spec['group']}/{version}", "kind": spec["names"]["kind"]}
            items += [{**item, **head} for item in page["items"]]
    except ApiError as e:
        return e.message
    return next(filter(None, await copy.rewrite(items)), "")
