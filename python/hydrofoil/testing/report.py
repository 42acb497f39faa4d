"""The sections of a failed test's report about its server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

from hydrofoil.controls.explanation import BOOKKEEPING, changed_members, show_object
from hydrofoil.controls.record import Record, hide_secrets
from hydrofoil.controls.watching import WatchInfo

MOST = 50
"""The number of changed objects, and of changed members of one, that are shown."""
WIDE = 500
"""The characters of a body or a value that are shown."""
SHOWN = ("spec", "data", "status")
"""The members of a new object that are shown: what a controller has written."""


class Seen(NamedTuple):
    """The traces of a test in its server."""

    records: list[Record]
    dropped: int
    differences: list[tuple[str, bytes | None, bytes | None]]
    """Resource, object now, object at the start of the test."""
    watches: list[WatchInfo]


def sections(seen: Seen, count: int) -> list[tuple[str, str]]:
    """Return the titles and texts of a report."""
    return [
        ("hydrofoil requests", "\n".join(requests(seen, count)) or "none"),
        ("hydrofoil changes", "\n".join(changes(seen)) or "none"),
        ("hydrofoil watches", "\n".join(map(watch, seen.watches)) or "none"),
    ]


def requests(seen: Seen, count: int) -> Iterator[str]:
    """Return the last requests, with bodies and answers."""
    shown = seen.records[-count:] if count > 0 else []
    if left := len(seen.records) + seen.dropped - len(shown):
        yield f"... {left} before"
    for record in shown:
        yield str(record)
        if record.body:
            yield f"    sent     {_short(record.body)}"
        if record.answer:
            yield f"    answered {_short(record.answer)}"


def _short(body: bytes) -> str:
    text = "".join(c if c.isprintable() else " " for c in body[: 4 * WIDE].decode(errors="replace")).strip()
    return text if len(text) <= WIDE else f"{text[:WIDE]}..."


def changes(seen: Seen) -> Iterator[str]:
    """Return the objects that differ from the start of the test."""
    for name, now, before in seen.differences[:MOST]:
        group, _, plural = name.rpartition("/")
        resource = plural if "." in plural or not group else f"{plural}.{group}"
        one, other = _read(resource, now), _read(resource, before)
        metadata = (one or other or {}).get("metadata", {})
        place = "/".join(filter(None, (metadata.get("namespace"), metadata.get("name"))))
        if one is None:
            yield f"- {resource} {place}"
        elif other is None:
            yield f"+ {resource} {place}"
            written = {key: one[key] for key in SHOWN if key in one}
            for line in show_object(written, resource) if written else ():
                yield f"    {line}"
        else:
            yield f"~ {resource} {place}"
            for line in list(changed_members(other, one))[:MOST]:
                yield f"    {line}"
    if len(seen.differences) > MOST:
        yield f"... {len(seen.differences) - MOST} more"


def _read(resource: str, data: bytes | None) -> dict[str, Any] | None:
    if data is None:
        return None
    found: dict[str, Any] = orjson.loads(data)
    for member in BOOKKEEPING:
        found.get("metadata", {}).pop(member, None)
    return hide_secrets(found) if resource == "secrets" else found


def watch(info: WatchInfo) -> str:
    """Return the line of an open watch."""
    where = f" in {info.namespace}" if info.namespace else ""
    at = f"at version {info.resource_version}" if info.resource_version else "in its initial events"
    return f"{info.resource}{where} by {info.user} ({info.agent or 'no agent'}): {info.events} events, {at}"
