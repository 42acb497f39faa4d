"""What a test reads of an object: its last state, what changed, its events, and names that are near a wrong one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

import orjson
from msgspec import Struct

from hydrofoil import engine
from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.controls.record import hide_secrets
from hydrofoil.registry.objects import Objects

Object = dict[str, Any]
BOOKKEEPING = ("managedFields", "resourceVersion", "generation")
"""Members of metadata that change with each write."""
MOST_LINES = 60
"""The lines of an object that are shown."""
MOST_MEMBERS = 20
"""The changed members that are shown."""
MOST_EVENTS = 5
WIDE = 500
"""The characters of a value that are shown."""


class Hints(Struct):
    """What a server knows about an object that was waited for in vain."""

    resource: str = ""
    """The plural of the resource; empty if none of that name is served."""
    near: tuple[str, ...] = ()
    """Names that are served, or objects that exist, and are like the one that was asked for."""
    events: tuple[str, ...] = ()
    """The last Events about it."""
    why: tuple[str, ...] = ()
    """Why it is not ready, the most likely cause first; empty for kinds that are not followed."""


def is_secret(state: Object, resource: str) -> bool:
    """Report whether the data of an object is not to be shown."""
    return resource == "secrets" or state.get("kind") == "Secret"


def show_object(state: Object, resource: str = "") -> list[str]:
    """Return the lines of an object in YAML, without the record of managers and the data of secrets."""
    shown = dict(state)
    if isinstance(metadata := shown.get("metadata"), dict):
        shown["metadata"] = {key: value for key, value in metadata.items() if key != "managedFields"}
    if is_secret(state, resource):
        shown = hide_secrets(shown)
    lines = engine.json_to_yaml(orjson.dumps(shown)).decode().splitlines()
    if len(lines) > MOST_LINES:
        return [*lines[:MOST_LINES], f"... {len(lines) - MOST_LINES} more lines"]
    return lines


def changed_members(before: Any, now: Any, path: str = "") -> Iterator[str]:
    """Yield the members that differ, with both values."""
    if before == now:
        return
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted({*before, *now}):
            if path == "metadata" and key in BOOKKEEPING:
                continue
            yield from changed_members(before.get(key), now.get(key), f"{path}.{key}" if path else key)
        return
    yield f"{path}: {_value(before)} -> {_value(now)}"


def _value(value: Any) -> str:
    if value is None:
        return "absent"
    text = orjson.dumps(value).decode(errors="replace")
    return text if len(text) <= WIDE else f"{text[:WIDE]}..."


def find(catalog: Catalog, resource: str) -> Resource | None:
    """Return a resource by plural, singular, kind or short name, maybe with its group; None if none is served."""
    name, _, group = resource.lower().partition(".")
    found = [r for r in catalog.resources() if name in _names(r) and (not group or r.group == group)]
    core = [r for r in found if not r.group]
    stable = sorted(core or found, key=lambda r: ("alpha" in r.version, "beta" in r.version))
    return stable[0] if stable else None


def _names(resource: Resource) -> tuple[str, ...]:
    return (resource.plural, resource.singular, resource.kind.lower(), *resource.short_names)


def near_resources(catalog: Catalog, resource: str) -> tuple[str, ...]:
    """Return the resources whose names are like one that is not served, as `plural.group`."""
    name, _, _ = resource.lower().partition(".")
    known: dict[str, str] = {}
    for served in catalog.resources():
        full = f"{served.plural}.{served.group}" if served.group else served.plural
        for word in _names(served):
            known.setdefault(word, full)
    return tuple(dict.fromkeys(known[word] for word in get_close_matches(name, known, 3)))


def hints(objects: Objects, resource: str, name: str, namespace: str) -> Hints:
    """Return what the server knows about an object, or about the name of its resource."""
    found = find(objects.catalog, resource)
    if found is None:
        return Hints(near=near_resources(objects.catalog, resource))
    place = namespace if found.namespaced else ""
    events = tuple(map(_event_line, events_about(objects, found, name, place)[-MOST_EVENTS:]))
    if objects.collection(found).get(found.native, place, name) is not None:
        return Hints(found.plural, events=events)
    others = [(stored.namespace, stored.name) for stored in objects.all(found)]
    near = [f"{found.plural}/{n} in namespace {ns}" for ns, n in others if n == name and ns != place][:3]
    alike = get_close_matches(name, [n for ns, n in others if ns == place], 3)
    return Hints(found.plural, (*(f"{found.plural}/{n}" for n in alike), *near), events)


def events_about(objects: Objects, resource: Resource, name: str, namespace: str) -> list[Object]:
    """Return the Events about an object, the latest last."""
    events = objects.catalog.find("", "v1", "events")
    if events is None:
        return []
    about = []
    for stored in objects.all(events):
        if stored.namespace == (namespace or "default"):
            event: Object = orjson.loads(stored.json)
            regarding = event.get("involvedObject", {})
            if (regarding.get("kind"), regarding.get("name")) == (resource.kind, name):
                about.append((stored.revision, event))
    return [event for _, event in sorted(about, key=lambda pair: pair[0])]


def _event_line(event: Object) -> str:
    count = event.get("count") or event.get("series", {}).get("count") or 1
    by = event.get("source", {}).get("component") or event.get("reportingComponent") or "unknown"
    times = f" ({count} times)" if count > 1 else ""
    return f"{event.get('type', 'Normal')} {event.get('reason', '')}{times} by {by}: {event.get('message', '')}"


def section(title: str, lines: Sequence[str]) -> list[str]:
    """Return the lines of a section, indented below its title; nothing if there are none."""
    return [title, *(f"    {line}" for line in lines)] if lines else []
