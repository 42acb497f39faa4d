"""Requests as a table: what happened, in the columns that differ."""

from __future__ import annotations

from collections.abc import Sequence

from hydrofoil.controls.record import Record

ALWAYS = ("TIME", "VERB", "RESOURCE", "CODE", "MS", "USER")
"""The columns that are there even if they are empty."""


def table_of(records: Sequence[Record]) -> str:
    """Return lines with a head; times are those of the server's clock, in UTC."""
    if not records:
        return "no requests"
    rows = [_row(record) for record in records]
    names = [name for name in rows[0] if name in ALWAYS or any(row[name] for row in rows)]
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in names}
    lines = [{name: name for name in names}, *rows]
    return "\n".join("  ".join(line[name].ljust(widths[name]) for name in names).rstrip() for line in lines)


def _row(record: Record) -> dict[str, str]:
    resource = f"{record.resource}.{record.group}" if record.group and record.resource else record.resource
    if record.subresource:
        resource = f"{resource}/{record.subresource}"
    query = "&".join(
        f"{key}={value}" for key, value in record.params.items() if (key, record.verb) != ("watch", "watch")
    )
    return {
        "TIME": record.started.strftime("%H:%M:%S.%f")[:-3],
        "VERB": record.verb or record.method.lower(),
        "RESOURCE": resource or record.path,
        "NAMESPACE": record.namespace,
        "NAME": record.name,
        "CODE": str(record.code) if record.code else "cut",
        "MS": "open" if record.duration is None else f"{record.duration * 1000:.1f}",
        "USER": record.user,
        "AGENT": record.agent,
        "QUERY": query,
        "FAULT": record.fault,
    }
