"""What an object of a dump may lack, since people wrote it, or since each server makes it for itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from hydrofoil.aggregation.apiservices import LOCAL
from hydrofoil.apiextensions.conditions import ESTABLISHED, Condition
from hydrofoil.apiextensions.name_conflicts import ACCEPTED
from hydrofoil.apis.catalog import Catalog
from hydrofoil.apis.registration import CUSTOM_PRIORITY, GROUP
from hydrofoil.clock import Chance, Clock
from hydrofoil.dumps.object import DumpedObject
from hydrofoil.engine import Draft

Object = dict[str, Any]


def complete_object(draft: Draft, clock: Clock, chance: Chance) -> None:
    """Set defaults, and the uid and the time of an object that has none."""
    draft.default(clock.native)
    if not draft.uid:
        draft.set(["metadata", "uid"], orjson.dumps(chance.uid()))
    if draft.get(["metadata", "creationTimestamp"]) in (None, b"null"):
        draft.set(["metadata", "creationTimestamp"], orjson.dumps(clock.text()))


def complete_definition(draft: Draft, content: Object, clock: Clock) -> None:
    """Accept the names of a definition that was never on a server: nothing else would do so on one without controllers.

    Raise ValueError for one whose spec has no names and versions.
    """
    present = (content.get("status") or {}).get("conditions") or ()
    if any(condition.get("type") == "Established" for condition in present):
        return
    try:
        names = dict(content["spec"]["names"])
        names.setdefault("singular", names["kind"].lower())
        names.setdefault("listKind", f"{names['kind']}List")
        stored = [version["name"] for version in content["spec"]["versions"] if version["storage"]]
    except (KeyError, TypeError, AttributeError):
        raise ValueError("the definition has no names and versions") from None
    conditions = [_condition(found, clock) for found in (ACCEPTED, ESTABLISHED)]
    status = {"conditions": conditions, "acceptedNames": names, "storedVersions": stored}
    draft.set(["spec", "names"], orjson.dumps(names))
    draft.set(["status"], orjson.dumps(status))


def _condition(found: Condition, clock: Clock) -> Object:
    kind, status, reason, message = found
    return {"type": kind, "status": status, "lastTransitionTime": clock.text(), "reason": reason, "message": message}


def missing_services(
    catalog: Catalog, objects: Iterable[DumpedObject], definitions: Iterable[DumpedObject]
) -> Iterator[Object]:
    """Yield the API services of what this server serves, as far as a dump lacks them: discovery is made of them."""
    wanted: dict[str, tuple[str, str, tuple[int, int]]] = {}
    for group, versions in catalog.groups.items():
        for version in versions:
            priorities = catalog.priorities.get(f"{group}/{version}" if group else version)
            if priorities is not None:
                wanted[f"{version}.{group}"] = group, version, priorities
    for definition in definitions:
        spec = definition.content().get("spec") or {}
        for version in spec.get("versions") or ():
            if version.get("served"):
                wanted[f"{version['name']}.{spec['group']}"] = spec["group"], version["name"], CUSTOM_PRIORITY
    present = {found.name for found in objects if (found.group, found.kind) == (GROUP, "APIService")}
    status, reason, message = LOCAL
    for name, (group, version, priorities) in wanted.items():
        if name not in present:
            spec = {"group": group} if group else {}
            spec |= {"version": version, "groupPriorityMinimum": priorities[0], "versionPriority": priorities[1]}
            condition = {"type": "Available", "status": status, "reason": reason, "message": message}
            head = {"apiVersion": f"{GROUP}/v1", "kind": "APIService", "metadata": {"name": name}}
            yield {**head, "spec": spec, "status": {"conditions": [condition]}}
